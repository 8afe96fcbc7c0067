// What preload/nvml.cpp tells, as a test sets it.
#pragma once

struct PlantedNvml {
  unsigned long long power_nanoseconds = 0, thermal_nanoseconds = 0;
  unsigned long long reasons = 0;
  unsigned mhz = 0;
  bool counts = true, tells_reasons = true;  // whether it answers when it is asked for times and for reasons
};
