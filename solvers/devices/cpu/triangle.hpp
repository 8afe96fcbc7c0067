// Leaves of the triangular solves on the CPU: substitution.
#pragma once

#include <algorithm>

#include "core/cpu/by_eigen.hpp"
#include "core/cpu/parallel.hpp"
#include "solvers/devices/cpu/leaves.hpp"
#include "solvers/lower.hpp"
#include "solvers/recipe.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// What stays in the first cache is not halved for the sake of memory traffic: the calls would cost more.
inline std::int64_t panel_leaf_columns(const Tuning& t, std::int64_t rows) {
  return std::max(t.lu_leaf, t.lu_leaf_elements / std::max<std::int64_t>(1, rows) / 8 * 8);
}

template <class T>
std::int64_t leaf_order(const Queue<Cpu>& q, std::int64_t nrhs) {
  return solve_limits(q.tuning()).leaf_order(nrhs);
}
template <class T>
Capabilities capabilities_of(const Queue<Cpu>& q, std::int64_t, const Recipe&) {
  return capabilities_of_cpu(q.tuning());
}

/// b ← inv(T) b, column after column of T, which is stored as it is read. As in LAPACK, an unknown that is zero takes nothing from
/// the others.
template <class T>
void substitute_by_columns(const Triangle<T, Cpu>& tri, T* b) {
  const std::int64_t n = tri.order();
  const auto eliminate = [&](std::int64_t j, std::int64_t begin, std::int64_t end) {
    if (b[j] == T(0)) return;
    const T* const t = tri.values.data() + j * tri.values.ld();
    const T x = tri.unit ? b[j] : b[j] /= t[j];
    for (std::int64_t i = begin; i < end; ++i) b[i] -= x * t[i];
  };
  if (tri.lower)
    for (std::int64_t j = 0; j < n; ++j) eliminate(j, j + 1, n);
  else
    for (std::int64_t j = n - 1; j >= 0; --j) eliminate(j, 0, j);
}

/// solve() with B: where that is with the adjoint of a triangle, which leaves read as its transpose, with the conjugate of B.
template <class T, class Solve>
void with_conjugate(const Triangle<T, Cpu>& tri, MatrixView<T> B, Solve solve) {
  if constexpr (ComplexElement<T>) {
    if (!tri.values.is_conjugated()) return solve();
    conjugate_elements(B);
    solve();
    conjugate_elements(B);
  } else {
    solve();
  }
}

/// B ← inv(T) B by substitution on the calling thread. A tiny triangle is done before a call of what has vectors begins.
template <class T>
void substitute(const Triangle<T, Cpu>& tri, MatrixView<T> B) {
  if (B.empty()) return;
  if (B.cols() == 1 && tri.order() <= 4 && tri.values.op() == Op::none) return substitute_by_columns(tri, B.data());
  if (B.cols() == 1) return substitution<T>().solve_one(as_leaf(tri), B.data());
  if (tri.order() <= most_order_with_many)
    return substitution<T>().solve_left(as_leaf(tri), B.cols(), B.data(), B.ld());
  solve_by_eigen<T>(tri.values, tri.lower, tri.unit, B);
}
template <ComplexElement T>
void substitute(const Triangle<T, Cpu>& tri, MatrixView<T> B) {
  with_conjugate(tri, B, [&] { substitution<T>().solve_left(as_leaf(tri), B.cols(), B.data(), B.ld()); });
}

/// B ← inv(T) B by substitution. T: n × n, B: n × nrhs.
template <class T>
void solve_leaf(Queue<Cpu>& q, Triangle<T, Cpu> tri, MatrixView<T> B) {
  on_shares(q, B.cols(), double(B.rows()) * double(B.rows()) * double(B.cols()),
            [&](std::int64_t j, std::int64_t n) { substitute(tri, B.columns(j, n)); });
}

/// B ← B inv(T) by substitution. T: n × n, B: m × n.
template <class T>
void solve_leaf_right(Queue<Cpu>& q, Triangle<T, Cpu> tri, MatrixView<T> B) {
  if (B.empty()) return;
  on_shares(q, B.rows(), double(B.rows()) * double(B.cols()) * double(B.cols()), [&](std::int64_t i, std::int64_t m) {
    const auto rows = B.block(i, 0, m, B.cols());
    with_conjugate(tri, rows, [&] { substitution<T>().solve_right(as_leaf(tri), m, rows.data(), B.ld()); });
  });
}

}  // namespace lasolve
