// A function of Python's as a GEMM backend.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "lasolve/lasolve.hpp"

namespace lasolve::python {

namespace nb = nanobind;

/// f(A, B, C, alpha, beta) on the host, f(A, B, C, alpha, beta, stream) on CUDA: C ← α A B + β C, of views with strides.
class Kernel {
 public:
  Kernel(nb::object function, std::string name, bool fp64, bool fp32, bool on_cuda);
  Kernel(const Kernel&) = delete;

  GemmChoice choice() const;
  const std::string& name() const { return name_; }
  nb::object function() const { return function_; }

 private:
  nb::object function_;
  std::string name_;
  bool on_cuda_;
  GemmBackend<Cpu> cpu_{};
  GemmBackend<Cuda> cuda_{};
};

void bind_gemm(nb::module_&);

}  // namespace lasolve::python
