// Row interchanges on the CPU.
#pragma once

#include <algorithm>

#include "core/cpu/parallel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/lu/pivots.hpp"
#include "solvers/plan.hpp"

namespace lasolve {

/// On the host, interchanges are made one after the other.
template <>
struct Interchanges<Cpu> {
  static constexpr std::int64_t columns = 0;
  explicit Interchanges(MatrixView<std::int64_t>) {}
  Interchanges block(std::int64_t) const { return *this; }
};

/// Each core takes chunks of columns, and makes all interchanges in one chunk while it is in cache.
template <class T, class Interchanges>
void on_column_chunks(Queue<Cpu>& q, MatrixView<T> A, std::int64_t count, Interchanges interchanges) {
  constexpr std::int64_t most = 16, cached = 1 << 18;  // columns, bytes
  const std::int64_t chunk =
      std::clamp<std::int64_t>(cached / std::int64_t(sizeof(T)) / std::max<std::int64_t>(1, A.rows()), 1, most);
  constexpr double work_of_an_interchange = 32;  // two cache misses
  on_shares(q, A.cols(), work_of_an_interchange * double(A.cols()) * double(count),
            [&](std::int64_t j, std::int64_t n) {
              for (std::int64_t c = j; c < j + n; c += chunk) interchanges(A.columns(c, std::min(chunk, j + n - c)));
            });
}

template <class T>
void interchange_rows(MatrixView<T> A, std::int64_t i, std::int64_t p) {
  if (i == p) return;
  for (std::int64_t j = 0; j < A.cols(); ++j) std::swap(A(i, j), A(p, j));
}

/// A ← P A: the interchanges in their order. Row 0 of A is row pivots.start. On the host none are combined.
template <class T>
void interchange_rows(Queue<Cpu>& q, MatrixView<T> A, Pivots<Cpu> pivots, Resource = Resource::pivots) {
  on_column_chunks(q, A, pivots.count(), [&](MatrixView<T> columns) {
    for (std::int64_t i = 0; i < pivots.count(); ++i) interchange_rows(columns, i, pivots.p(i, 0) - pivots.start);
  });
}

/// X ← P B, or Pᵀ B: the interchanges in reverse order.
template <class T>
void permute_rows(Queue<Cpu>& q, MatrixView<const T> B, MatrixView<T> X, Pivots<Cpu> pivots, bool backward) {
  convert(q, B, X);
  if (!backward) return interchange_rows(q, X, pivots);
  on_column_chunks(q, X, pivots.count(), [&](MatrixView<T> columns) {
    for (std::int64_t i = pivots.count() - 1; i >= 0; --i) interchange_rows(columns, i, pivots.p(i, 0) - pivots.start);
  });
}

inline bool known_to_have_failed(const Queue<Cpu>&, MatrixView<std::int64_t> at) { return at(0, 0) >= 0; }

}  // namespace lasolve
