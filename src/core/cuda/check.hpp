// Errors of CUDA and its libraries become MachineError, with the expression, the file and the line.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "lasolve/matrix.hpp"

namespace lasolve {

[[noreturn]] inline void machine_error(const char* what, const char* expression, const char* file, int line) {
  throw MachineError(std::string("CUDA: ") + what + " in " + expression + " at " + file + ":" + std::to_string(line));
}
inline void check(cudaError_t e, const char* expression, const char* file, int line) {
  if (e != cudaSuccess) machine_error(cudaGetErrorString(e), expression, file, line);
}
inline void check(cublasStatus_t s, const char* expression, const char* file, int line) {
  if (s != CUBLAS_STATUS_SUCCESS) machine_error(cublasGetStatusString(s), expression, file, line);
}

}  // namespace lasolve

#define CUDA_CHECK(expression) ::lasolve::check((expression), #expression, __FILE__, __LINE__)
/// After each kernel launch.
#define CUDA_CHECK_LAUNCH() ::lasolve::check(cudaGetLastError(), "the kernel launch", __FILE__, __LINE__)

namespace lasolve {

/// Makes a device the current one of this thread, until the end of the scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    CUDA_CHECK(cudaGetDevice(&before_));
    CUDA_CHECK(cudaSetDevice(device));
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace lasolve
