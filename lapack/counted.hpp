// A backend whose products are counted.
#pragma once

#include <atomic>

#include "lapack/tally.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve::lapack {

template <class T, class Space, bool beside>
void counted_product(const void* self, Queue<Space>& q, T alpha, Operand<T, Space> A, Operand<T, Space> B, T beta,
                     MatrixView<T, Space> C) {
  tally().products_on<Space>().fetch_add(1, std::memory_order_relaxed);
  static_cast<const GemmBackend<Space>*>(self)->template in<precision_of<T>>(beside)(q, alpha, A, B, beta, C);
}

template <class T, class Space>
GemmKernel<precision_of<T>, Space> counted_kernel(const GemmBackend<Space>& backend) {
  const auto its = backend.template in<precision_of<T>>();
  if (!its) return {};
  return {counted_product<T, Space, false>, its.unit_roundoff, counted_product<T, Space, true>};
}

/// `backend` must stay.
template <class Space>
GemmBackend<Space> counted(const GemmBackend<Space>& backend) {
  GemmBackend<Space> its = backend;
  its.kernels = {counted_kernel<double>(backend), counted_kernel<float>(backend)};
  its.self = &backend;
  if (its.prepare)
    its.prepare = [](const void* self, Queue<Space>& q, const ProductShape& shape) {
      const auto& known = *static_cast<const GemmBackend<Space>*>(self);
      known.prepare(known.self, q, shape);
    };
  return its;
}

}  // namespace lasolve::lapack
