// How long a factorization would take at the rate of its own updates.
#pragma once

#include <cmath>
#include <variant>

#include "core/choose.hpp"
#include "core/cpu/eigen.hpp"
#include "core/traffic.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

template <class T>
void copy_all(Queue<Cpu>&, MatrixView<const T, Cpu> from, MatrixView<T, Cpu> to) {
  as_eigen(to) = as_eigen(from);
}
template <class T>
void copy_all(Queue<Cuda>& q, MatrixView<const T, Cuda> from, MatrixView<T, Cuda> to) {
  require(from.ld() == to.ld(), "columns that are not equally far apart");
  copy_within(q, to.data(), from.data(), std::size_t(from.ld() * from.cols()) * sizeof(T));
}

/// The seconds for `flops` operations by the largest update of a factorization, made again and again:
///
///   right-looking, recursive  C ← C − L U    C n × n, k = nb
///   left-looking              C ← C − L L1ᵀ  C n × nb, k = n
///
/// with the backend, the schedule and the block size nb of `factored`, on the numbers of A, n × n.
template <class T, class Space>
double products_alone(const Options& options, const Report& factored, MatrixView<const T, Space> A, double flops) {
  static Queue<Space> q;
  const auto& gemm = *std::get<const GemmBackend<Space>*>(choose(options).backend);
  const std::int64_t n = A.rows(), nb = factored.block_size;
  const bool left_looking = factored.schedule == Schedule::left_looking;
  const auto given = A.columns(0, left_looking ? nb : n);
  Matrix<T, Space> C(n, given.cols());
  copy_all<T>(q, given, C);
  const auto L = A.columns(0, left_looking ? n : nb), top = A.block(0, 0, nb, n);
  const Operand<T, Space> B = left_looking ? transposed(top) : Operand<T, Space>(top);
  const double each = 2.0 * double(n) * double(C.cols()) * double(L.cols()), products = std::ceil(flops / each);
  q.finish();
  q.take_times();
  q.phase(Phase::gemm);
  for (double i = 0; i < products; ++i) gemm(q, T(-1), L, B, T(1), C.view());
  q.finish();
  return q.take_times().seconds_of(Phase::gemm) * flops / (products * each);
}

}  // namespace lasolve::bench
