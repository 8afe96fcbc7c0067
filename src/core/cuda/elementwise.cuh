// Elementwise work on device matrices.
#pragma once

#include <algorithm>

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"

namespace lasolve {

constexpr unsigned threads_a_block = 256;

/// Elementwise work on m × n: one thread a row, blockIdx.y strides over the columns.
template <class T>
dim3 elementwise_grid(MatrixView<T, Cuda> X) {
  return dim3(unsigned(ceil_div(X.rows(), threads_a_block)), unsigned(std::min<std::int64_t>(X.cols(), 65535)));
}

template <class T, class F>
__global__ void elementwise(MatrixView<T, Cuda> X, F f) {
  launch_dependents();
  const std::int64_t i = threadIdx.x + std::int64_t(blockIdx.x) * blockDim.x;
  if (i >= X.rows()) return;
  for (std::int64_t j = blockIdx.y; j < X.cols(); j += gridDim.y) f(X.data()[i + j * X.ld()], i, j);
}

/// f(element, i, j) for each element of X.
template <class T, class F>
void for_each_element(Queue<Cuda>& q, MatrixView<T, Cuda> X, F f) {
  if (X.empty()) return;
  launch(q, elementwise<T, F>, elementwise_grid(X), threads_a_block, X, f);
}

/// Y ← X, rounded to the type of Y.
template <class From, class To>
void convert(Queue<Cuda>& q, MatrixView<const From, Cuda> X, MatrixView<To, Cuda> Y) {
  if (static_cast<const void*>(X.data()) == static_cast<void*>(Y.data())) return;
  for_each_element(q, Y, [X] __device__(To & y, std::int64_t i, std::int64_t j) { y = To(X.data()[i + j * X.ld()]); });
}

/// Every element of X ← value.
template <class T>
void fill(Queue<Cuda>& q, T value, MatrixView<T, Cuda> X) {
  for_each_element(q, X, [value] __device__(T & x, std::int64_t, std::int64_t) { x = value; });
}

/// The same where *failed_at, which the device reads, is not negative.
template <class T>
void fill_if_failed(Queue<Cuda>& q, const std::int64_t* failed_at, T value, MatrixView<T, Cuda> X) {
  for_each_element(q, X, [value, failed_at] __device__(T & x, std::int64_t, std::int64_t) {
    if (*failed_at >= 0) x = value;
  });
}

/// X ← X + D.
template <class From, class To>
void add(Queue<Cuda>& q, MatrixView<From, Cuda> D, MatrixView<To, Cuda> X) {
  for_each_element(q, X, [D] __device__(To & x, std::int64_t i, std::int64_t j) { x += To(D.data()[i + j * D.ld()]); });
}

}  // namespace lasolve
