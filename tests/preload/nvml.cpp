// In the place of NVIDIA's Management Library: it has one device, and tells what a test sets.
#include <cstring>

#include "planted_nvml.hpp"

namespace {
constexpr int success = 0, not_supported = 3, not_found = 6;
}

extern "C" {
PlantedNvml planted;

int nvmlInit_v2() { return success; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = &planted;
  return std::strcmp(id, "0000:1b:00.0") == 0 ? success : not_found;
}
int nvmlDeviceGetViolationStatus(void*, int policy, unsigned long long* times) {
  if (!planted.counts || policy > 1) return not_supported;
  times[0] = 1, times[1] = policy == 0 ? planted.power_nanoseconds : planted.thermal_nanoseconds;
  return success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* why) {
  *why = planted.reasons;
  return planted.tells_reasons ? success : not_supported;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = planted.mhz;
  return type == 1 ? success : not_supported;
}
}
