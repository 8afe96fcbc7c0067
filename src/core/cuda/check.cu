#include "core/cuda/check.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/cuda/driver.hpp"

namespace lasolve {

namespace {

/// CUDA gives such an error back from every later call of the process, too.
bool ends_context(cudaError_t e) {
  switch (e) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

std::string with_outlook(std::string where, cudaError_t e) {
  if (!ends_context(e)) return where;
  return where + "; this call or an earlier one has lost the device to this process: another process can use it";
}

/// Without its parameters.
std::string name_of_kernel(const void* kernel) {
  const char* name = nullptr;
  if (!succeeded(cudaFuncGetName(&name, kernel)) || !name) return "a kernel";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> words(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  const std::string whole = words ? words.get() : name;
  const std::size_t parameters = whole.rfind(">(");
  return parameters == std::string::npos ? whole.substr(0, whole.find('(')) : whole.substr(0, parameters + 1);
}

std::string at(const char* expression, const char* file, int line) {
  return std::string(expression) + " at " + file + ":" + std::to_string(line);
}

}  // namespace

void machine_error(const char* what, const char* expression, const char* file, int line) {
  throw DeviceError(what, at(expression, file, line));
}

void failed(cudaError_t e, const char* expression, const char* file, int line) {
  throw DeviceError(cudaGetErrorString(e), with_outlook(at(expression, file, line), e));
}

void failed(cublasStatus_t s, const char* expression, const char* file, int line) {
  throw DeviceError(cublasGetStatusString(s), with_outlook(at(expression, file, line), cudaGetLastError()));
}

void check(CUresult result, const char* expression, const char* file, int line) {
  if (result == CUDA_SUCCESS) return;
  const Driver* d = loaded_driver();
  const char* text = nullptr;
  if (!d || d->error_string(result, &text) != CUDA_SUCCESS || !text) text = "an error of the driver";
  throw DeviceError(text, with_outlook(at(expression, file, line), cudaError_t(result)));  // whose numbers are the same
}

void launch_failed(cudaError_t e, const void* kernel) {
  throw DeviceError(cudaGetErrorString(e), with_outlook("the launch of " + name_of_kernel(kernel), e));
}

}  // namespace lasolve
