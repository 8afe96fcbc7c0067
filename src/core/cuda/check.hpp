// Errors of CUDA and its libraries become MachineError, with the expression, the file and the line.
//
// An error is what a call returns. The last error of a thread (cudaGetLastError) is never asked whether we failed: what the
// caller left there is not ours. What a failing call of ours leaves there is taken away before we throw or go on. The caller's
// may go with it, since CUDA remembers one error only, and cudaFuncSetAttribute forgets it even when it succeeds. Errors that
// end a context stay, as CUDA gives them back from every call.
#pragma once

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include "core/current_device.hpp"
#include "core/device_error.hpp"

namespace lasolve {

/// These throw DeviceError. After an error that ends the context it says that the device is lost to this process.
[[noreturn]] void machine_error(const char* what, const char* expression, const char* file, int line);
[[noreturn]] void failed(cudaError_t, const char* expression, const char* file, int line);
[[noreturn]] void failed(cublasStatus_t, const char* expression, const char* file, int line);
[[noreturn]] void launch_failed(cudaError_t, const void* kernel);

/// Whether a call of ours succeeded, for those that may fail without harm; if not, its error is taken away.
inline bool succeeded(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return e == cudaSuccess;
}

inline void check(cudaError_t e, const char* expression, const char* file, int line) {
  if (!succeeded(e)) failed(e, expression, file, line);
}
inline void check(cublasStatus_t s, const char* expression, const char* file, int line) {
  if (s != CUBLAS_STATUS_SUCCESS) failed(s, expression, file, line);
}
void check(CUresult, const char* expression, const char* file, int line);

}  // namespace lasolve

#define CUDA_CHECK(expression) ::lasolve::check((expression), #expression, __FILE__, __LINE__)
