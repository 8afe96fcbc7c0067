// Matrices of which each rank has a part.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engines/engine.hpp"
#include "solvers/scales.hpp"

namespace lasolve::engines {

/// Of a rows × cols matrix in square blocks.
inline BlockCyclic layout_of(const Ranks& ranks, std::int64_t rows, std::int64_t cols, std::int64_t block) {
  return {{rows, block, ranks.grid_rows, ranks.row()}, {cols, block, ranks.grid_cols, ranks.col()}};
}

/// The memory that a part takes, and where it is.
template <class T>
class Distributed {
 public:
  Distributed() = default;
  explicit Distributed(const BlockCyclic& layout) : layout_(layout), local_(layout.rows.count(), layout.cols.count()) {}
  Distributed(const BlockCyclic& layout, Matrix<T>&& local) : layout_(layout), local_(std::move(local)) {}

  const BlockCyclic& layout() const { return layout_; }
  std::int64_t rows() const { return layout_.rows.length; }
  std::int64_t cols() const { return layout_.cols.length; }
  MatrixView<T> local() { return local_.view(); }
  MatrixView<const T> local() const { return local_.view(); }
  Part<T> part() { return {layout_, local_.view()}; }

 private:
  BlockCyclic layout_;
  Matrix<T> local_;
};

/// Columns first, first + 1, … of X, whole on each rank.
Matrix<double> gathered(Engine&, const Distributed<double>& X, std::int64_t first, std::int64_t count);
/// The same columns of X ← those of a matrix that is whole on each rank.
void keep_own(MatrixView<const double> whole, std::int64_t first, Distributed<double>& X);

/// f(first, count) for strips of an n × cols matrix, of which each rank may hold a few whole.
template <class F>
void for_strips(std::int64_t n, std::int64_t cols, F f) {
  constexpr std::int64_t elements = 1 << 22;
  const std::int64_t width = std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, n));
  for (std::int64_t j = 0; j < cols; j += width) f(j, std::min(width, cols - j));
}

/// A rank's part of A: kept, or made again a few columns at a time, where only its factors are to take memory.
class PartOfA {
 public:
  /// Makes columns first, first + 1, … of the part.
  using Make = std::function<void(std::int64_t first, MatrixView<double> columns)>;

  PartOfA(const BlockCyclic& layout, Matrix<double>&& kept) : layout_(layout), kept_(std::move(kept)) {}
  PartOfA(const BlockCyclic& layout, Make make) : layout_(layout), make_(std::move(make)) {}

  const BlockCyclic& layout() const { return layout_; }
  std::int64_t n() const { return layout_.rows.length; }

  /// f(first, columns) until all columns of the part have come.
  template <class F>
  void for_columns(F f) const {
    if (!make_) return f(std::int64_t(0), kept_.view());
    Matrix<double> some;
    for_strips(layout_.rows.count(), layout_.cols.count(), [&](std::int64_t j, std::int64_t count) {
      if (j == 0) some = Matrix<double>(layout_.rows.count(), count);
      const auto columns = some.view().columns(0, count);
      make_(j, columns);
      f(j, MatrixView<const double>(columns));
    });
  }

 private:
  BlockCyclic layout_;
  Matrix<double> kept_;
  Make make_;
};

/// f(i, j, |aᵢⱼ|) for the elements of op(A) that this rank has.
template <class F>
void for_each_magnitude(const PartOfA& A, Op op, F f) {
  const Dealt &rows = A.layout().rows, &cols = A.layout().cols;
  A.for_columns([&](std::int64_t first, MatrixView<const double> columns) {
    for (std::int64_t j = 0; j < columns.cols(); ++j)
      for (std::int64_t i = 0; i < columns.rows(); ++i) {
        const std::int64_t row = rows.index_at(i), column = cols.index_at(first + j);
        f(op == Op::none ? row : column, op == Op::none ? column : row, std::abs(columns(i, j)));
      }
  });
}

/// What each rank sees of A, put together: see SeenHere in solvers/refine/scaling.hpp.
class SeenByAll {
 public:
  explicit SeenByAll(Engine& engine) : engine_(engine) {}
  void largest(std::vector<std::int64_t>& numbers) const;
  void sum(std::vector<long double>& numbers) const;

 private:
  Engine& engine_;
};

/// What is known of A, the same on all ranks.
struct FactsOfA {
  std::vector<double> product;        ///< op(A)·1
  std::vector<long double> row_sums;  ///< of |op(A)|
  long double norm = 0;               ///< ‖op(A)‖∞
  long double one_norm = 0;           ///< ‖A‖₁
  bool is_finite = true;
  bool is_symmetric = false;  ///< but for roundoff, with probability 1; and its diagonal is positive
};
/// By what A is scaled before it is factored, symmetrically or not; nothing where that does not help, unless it is done `always`.
std::optional<Scales> scales_of(Engine&, const PartOfA& A, bool symmetrically, bool always);
/// Reads A once, or twice where sums overflow.
FactsOfA measured(Engine&, const PartOfA& A, Op op);

/// R ← R − op(A) X, where R, given by rank 0 alone and zero elsewhere, and X are whole on each rank.
void subtract_product(Engine&, const Queue<Cpu>&, const PartOfA& A, Op op, MatrixView<const double> X,
                      MatrixView<double> R);

}  // namespace lasolve::engines
