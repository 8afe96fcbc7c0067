// A backend whose products are counted.
#pragma once

#include <atomic>

#include "lapack/tally.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve::lapack {

template <class T, class Space, Use use>
void counted_product(const void* self, Queue<Space>& q, T alpha, Operand<T, Space> A, Operand<T, Space> B, T beta,
                     MatrixView<T, Space> C) {
  tally().products_on<Space>().fetch_add(1, std::memory_order_relaxed);
  static_cast<const GemmBackend<Space>*>(self)->template in<precision_of<T>>(use)(q, alpha, A, B, beta, C);
}

template <class T, class Space>
GemmKernel<precision_of<T>, Space> counted_kernel(const GemmBackend<Space>& backend) {
  const auto its = backend.template in<precision_of<T>>();
  if (!its) return {};
  const GemmKernel<precision_of<T>, Space> counts(counted_product<T, Space, Use::alone>, its.unit_roundoff,
                                                  counted_product<T, Space, Use::beside>);
  return its.lower ? counts.with_lower(counted_product<T, Space, Use::lower>) : counts;
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
