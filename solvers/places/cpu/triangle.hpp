// Leaves of the triangular solves on the CPU: substitution, by Eigen.
#pragma once

#include <limits>

#include "core/cpu/eigen.hpp"
#include "core/cpu/parallel.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// With few right-hand sides the triangle is read once from memory, whatever its order: halving would gain nothing.
template <class T>
std::int64_t leaf_order(const Queue<Cpu>& q, std::int64_t nrhs) {
  return nrhs <= q.tuning().solve_few_rhs ? std::numeric_limits<std::int64_t>::max() : q.tuning().solve_order;
}

inline std::int64_t sides_at_once(const Queue<Cpu>&, std::int64_t, std::int64_t nrhs) { return nrhs; }

/// f(stored values as Eigen, Eigen's name of the triangle), for each way a triangle can be stored.
template <class T, class Solve>
void with_eigen_triangle(Triangle<T, Cpu> tri, Solve solve) {
  const auto x = as_eigen(tri.values.stored());
  const bool transposed = tri.values.op() == Op::transpose;
  auto go = [&](const auto& values) {
    if (tri.lower && tri.unit) solve(values.template triangularView<Eigen::UnitLower>());
    if (tri.lower && !tri.unit) solve(values.template triangularView<Eigen::Lower>());
    if (!tri.lower && tri.unit) solve(values.template triangularView<Eigen::UnitUpper>());
    if (!tri.lower && !tri.unit) solve(values.template triangularView<Eigen::Upper>());
  };
  transposed ? go(x.transpose()) : go(x);
}

/// B ← inv(T) B by substitution. T: n × n, B: n × nrhs.
template <class T>
void solve_leaf(Queue<Cpu>& q, Triangle<T, Cpu> tri, MatrixView<T> B) {
  on_shares(q, B.cols(), double(B.rows()) * double(B.rows()) * double(B.cols()), [&](std::int64_t j, std::int64_t n) {
    auto b = as_eigen(B.columns(j, n));
    with_eigen_triangle(tri, [&](const auto& triangle) {
      if (n == 1) {
        auto column = b.col(0);
        triangle.solveInPlace(column);
      } else {
        triangle.solveInPlace(b);
      }
    });
  });
}

/// B ← B inv(T) by substitution. T: n × n, B: m × n.
template <class T>
void solve_leaf_right(Queue<Cpu>& q, Triangle<T, Cpu> tri, MatrixView<T> B) {
  on_shares(q, B.rows(), double(B.rows()) * double(B.cols()) * double(B.cols()), [&](std::int64_t i, std::int64_t m) {
    auto b = as_eigen(B.block(i, 0, m, B.cols()));
    with_eigen_triangle(tri, [&](const auto& triangle) { triangle.template solveInPlace<Eigen::OnTheRight>(b); });
  });
}

}  // namespace lasolve
