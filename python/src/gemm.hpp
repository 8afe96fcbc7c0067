// A function of Python's as a GEMM backend.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::python {

namespace nb = nanobind;

/// A backend that is no one of the library's: a function of Python's, or what a shared library has.
class Kernel {
 public:
  /// f(A, B, C, alpha, beta) on the host, f(A, B, C, alpha, beta, stream) on CUDA: C ← α A B + β C, of views with strides.
  Kernel(nb::object function, std::string name, bool fp64, bool fp32, bool on_cuda);
  /// lasolve::load_kernel().
  Kernel(const std::string& library, const std::string& name);
  Kernel(const Kernel&) = delete;

  const GemmChoice& choice() const { return choice_; }
  bool on_cuda() const { return std::holds_alternative<const GemmBackend<Cuda>*>(choice_); }
  std::string name() const;
  std::vector<std::string> precisions() const;
  nb::object function() const { return function_; }

 private:
  nb::object function_;
  std::string name_;
  GemmBackend<Cpu> cpu_{};
  GemmBackend<Cuda> cuda_{};
  GemmChoice choice_;
};

void bind_gemm(nb::module_&);

}  // namespace lasolve::python
