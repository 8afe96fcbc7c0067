#include "core/cuda/check.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

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

/// Without what it returns and its parameters, whose parentheses are the last: (anonymous namespace) has some, too.
std::string bare_name(std::string_view whole) {
  if (whole.starts_with("void ")) whole.remove_prefix(5);
  std::size_t end = whole.size();
  if (whole.ends_with(')'))
    for (int open = 0; end > 0;) {
      --end;
      open += (whole[end] == ')') - (whole[end] == '(');
      if (open == 0) break;
    }
  return std::string(whole.substr(0, end));
}

std::string name_of_kernel(const void* kernel) {
  const char* name = nullptr;
  if (!succeeded(cudaFuncGetName(&name, kernel)) || !name) return "a kernel";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> words(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return bare_name(words ? words.get() : name);
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
