// What a caller has, as the columns that solvers take: of itself, or of its transpose, or of a copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "lasolve/lasolve.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve {

/// In bytes. Nowhere, if it has no elements.
struct Extent {
  std::uintptr_t first = 0, end = 0;  // of all of it, with the gaps between its columns
  std::uintptr_t column = 0;
  std::uintptr_t step = 0;  // from each column to the next; 0: there is no next

  Extent() = default;
  template <class T, class Space>
  explicit Extent(MatrixView<T, Space> M) {
    if (M.empty()) return;
    column = std::uintptr_t(M.rows()) * sizeof(T);
    if (M.cols() > 1) step = std::uintptr_t(M.ld()) * sizeof(T);
    first = reinterpret_cast<std::uintptr_t>(M.data());
    end = first + std::uintptr_t(M.cols() - 1) * step + column;
  }
};

/// Whether two matrices that lie in the same stretch of memory have an element in common. Where both have several columns, and their
/// leading dimensions differ, the answer is yes also for some that are interleaved.
[[gnu::noinline]] inline bool overlap_between_columns(const Extent& M, const Extent& N) {
  if (M.step != N.step && M.step != 0 && N.step != 0) return true;
  const std::uintptr_t step = std::max(M.step, N.step);
  if (step == 0) return true;
  const bool N_is_behind = M.first < N.first;
  const Extent &before = N_is_behind ? M : N, &behind = N_is_behind ? N : M;
  const std::uintptr_t shift =
      (behind.first - before.first) % step;  // from a column of the one to the next of the other
  return shift < before.column || step - shift < behind.column;
}

inline bool overlap(const Extent& M, const Extent& N) {
  return M.first < N.end && N.first < M.end && overlap_between_columns(M, N);
}

/// A matrix, op(view).
template <class T, class Space>
struct Columns {
  MatrixView<T, Space> view;
  Op op = Op::none;

  bool is_view() const { return op == Op::none; }
};

/// Nothing where neither its columns nor its rows lie in one piece each.
template <class Space, class T>
std::optional<Columns<T, Space>> columns_of(const Borrowed<T>& M) {
  const auto lie_in = [](std::int64_t m, std::int64_t n, std::int64_t inner, std::int64_t outer) {
    return (m <= 1 || inner == 1) && (n <= 1 || outer >= std::max<std::int64_t>(m, 1));
  };
  const auto view = [&](std::int64_t m, std::int64_t n, std::int64_t ld) {
    return MatrixView<T, Space>(M.data(), m, n, n <= 1 ? m : ld);
  };
  if (M.empty() || lie_in(M.rows(), M.cols(), M.row_stride(), M.column_stride()))
    return Columns<T, Space>{view(M.rows(), M.cols(), std::max(M.rows(), M.column_stride()))};
  if (lie_in(M.cols(), M.rows(), M.column_stride(), M.row_stride()))
    return Columns<T, Space>{view(M.cols(), M.rows(), M.row_stride()), Op::transpose};
  return {};
}

template <class T>
Columns<T, Cuda> columns_on_device(const char* name, const Borrowed<T>& M) {
  require(
      M.on_cuda(),
      (std::string(name) + " is in memory of the host, but is to be in that of a CUDA device: copy it there").c_str());
  const auto columns = columns_of<Cuda>(M);
  require(columns.has_value(),
          (std::string(name) + " is on a CUDA device, and neither its rows nor its columns lie in one piece: copy it "
                               "into a matrix of its own")
              .c_str());
  return *columns;
}

/// Where it lies, with the gaps between its elements where these are in no other order. `columns`: what columns_of() gives.
template <class T>
Extent extent_of(const Borrowed<T>& M, const std::optional<Columns<T, Cpu>>& columns) {
  if (columns) return Extent(columns->view);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return reinterpret_cast<std::uintptr_t>(M.data()) +
           std::uintptr_t(row * M.row_stride() + column * M.column_stride()) * sizeof(T);
  };
  const auto [first, last] =
      std::minmax({at(0, 0), at(M.rows() - 1, 0), at(0, M.cols() - 1), at(M.rows() - 1, M.cols() - 1)});
  Extent extent;
  extent.first = first, extent.end = last + sizeof(T), extent.column = extent.end - first;
  return extent;
}

template <class T>
Extent extent_of(const Borrowed<T>& M) {
  return extent_of(M, columns_of<Cpu>(M));
}

/// Whether no two of its elements are the same, as far as strides tell.
template <class T>
bool has_distinct_elements(const Borrowed<T>& M) {
  std::int64_t inner = std::abs(M.row_stride()), outer = std::abs(M.column_stride()), count = M.rows();
  if (M.empty() || M.rows() == 1) return M.cols() <= 1 || outer > 0;
  if (M.cols() == 1) return inner > 0;
  if (inner > outer) std::swap(inner, outer), count = M.cols();
  return inner > 0 && outer > inner * (count - 1);
}

/// To ← from, on the host.
template <class From, class To>
void copy_elements(const From& from, const To& to) {
  for (std::int64_t i = 0; i < from.rows(); ++i)
    for (std::int64_t j = 0; j < from.cols(); ++j) to(i, j) = from(i, j);
}

/// Right-hand sides and solutions, where they lie in columns or rows.
template <class T>
struct ColumnsOfSystem {
  std::optional<Columns<const T, Cpu>> b;
  std::optional<Columns<T, Cpu>> x;
};

/// f(B, X) of columns on the host: in place where they are, else of copies.
template <class T, class F>
auto on_columns(const Borrowed<const T>& B, const Borrowed<T>& X, const ColumnsOfSystem<T>& columns, F f) {
  const auto& [its_b, its_x] = columns;
  const bool takes_b = its_b && its_b->is_view(), takes_x = its_x && its_x->is_view();
  if (takes_b && takes_x) return f(its_b->view, its_x->view);
  Matrix<T> b, x;
  if (!takes_b) copy_elements(B, (b = Matrix<T>(B.rows(), B.cols())).view());
  if (!takes_x) x = Matrix<T>(X.rows(), X.cols());
  auto result = f(takes_b ? its_b->view : std::as_const(b).view(), takes_x ? its_x->view : x.view());
  if (!takes_x) copy_elements(std::as_const(x).view(), X);
  return result;
}

}  // namespace lasolve
