// A leaf of a panel of LU with tournament pivoting. Bands of rows, each eliminated alone with partial pivoting, name as many candidates as
// the leaf has columns. Candidates play on, as they were before, until one band holds them all: its pivots are those of the leaf.
// Source: Grigori, Demmel & Xiang, "CALU: a communication optimal LU factorization algorithm", SIMAX 2011.
#pragma once

#include <numeric>
#include <vector>

#include "core/ceil_div.hpp"
#include "core/cpu/parallel.hpp"
#include "solvers/devices/cpu/leaves.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/lu/method.hpp"

namespace lasolve {

/// rows[0], … ← those of some rows of A that partial pivoting takes for pivots, in that order.
template <class T>
void elect(MatrixView<const T> A, std::span<std::int64_t> rows) {
  const auto m = std::int64_t(rows.size()), n = A.cols();
  Matrix<T> alone(m, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) alone(i, j) = A(rows[std::size_t(i)], j);
  std::vector<std::int64_t> pivots(std::size_t(n), 0);
  elimination<T>().factor(m, n, alone.data(), alone.ld(), pivots.data(), 0);
  for (std::size_t j = 0; j < pivots.size(); ++j) std::swap(rows[j], rows[std::size_t(pivots[j])]);
}

/// The rows of A, m × n, that win the tournament, in the order of their pivots. A band has at most so many rows, and twice as many as A has
/// columns.
template <class T>
std::vector<std::int64_t> winners(Queue<Cpu>& q, MatrixView<const T> A, std::int64_t most_rows) {
  const std::int64_t n = A.cols(), most = std::max(most_rows, 2 * n);
  std::vector<std::int64_t> rows(std::size_t(A.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  for (bool one_is_left = false; !one_is_left;) {
    const auto m = std::int64_t(rows.size()), bands = ceil_div(m, most);
    const auto begin = [&](std::int64_t band) { return m * band / bands; };
    const double work = 2 * double(m) * double(n) * double(n);
    const std::int64_t parts = std::min(bands, parts_for(q, work));
    on_cores(parts, work, [&](std::int64_t t) {
      for (std::int64_t band = bands * t / parts; band < bands * (t + 1) / parts; ++band)
        elect(A, std::span(rows).subspan(std::size_t(begin(band)), std::size_t(begin(band + 1) - begin(band))));
    });
    for (std::int64_t band = 0; band < bands; ++band)
      std::copy_n(rows.begin() + begin(band), n, rows.begin() + band * n);
    rows.resize(std::size_t(bands * n));
    one_is_left = bands == 1;
  }
  return rows;
}

/// P A = L U of a leaf, m × n with m ≥ n, whose bands have at most so many rows.
template <class T>
void panel_lu_leaf_by_tournament(Queue<Cpu>& q, MatrixView<T> A, Pivots<Cpu> pivots, std::int64_t most_rows) {
  const std::int64_t m = A.rows(), n = A.cols();
  std::vector<std::int64_t> won = winners<T>(q, A, most_rows);
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t row = won[std::size_t(j)];
    pivots.p(j, 0) = pivots.start + row;
    interchange_rows(A, j, row);
    std::replace(won.begin() + j + 1, won.end(), j, row);
  }
  const auto eliminate = [&](std::int64_t j, std::int64_t begin, std::int64_t end) {
    elimination<T>().eliminate(n, A.data(), A.ld(), j, begin, end);
  };
  for (std::int64_t j = 0; j < n; ++j) {
    if (A(j, j) == T(0) && pivots.zero(0, 0) < 0) pivots.zero(0, 0) = pivots.start + j;
    eliminate(j, j + 1, n);
  }
  on_shares(q, m - n, double(m) * double(n) * double(n), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t j = 0; j < n; ++j) eliminate(j, n + first, n + first + count);
  });
}

}  // namespace lasolve
