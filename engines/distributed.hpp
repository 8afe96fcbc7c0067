// Matrices of which each rank has a part.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "engines/engine.hpp"

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
    constexpr std::int64_t elements = 1 << 22;
    const std::int64_t rows = layout_.rows.count(), cols = layout_.cols.count();
    const std::int64_t width = std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, rows));
    Matrix<double> some(rows, std::min(width, cols));
    for (std::int64_t j = 0; j < cols; j += width) {
      const auto columns = some.view().columns(0, std::min(width, cols - j));
      make_(j, columns);
      f(j, MatrixView<const double>(columns));
    }
  }

 private:
  BlockCyclic layout_;
  Matrix<double> kept_;
  Make make_;
};

/// What is known of A, the same on all ranks.
struct FactsOfA {
  std::vector<double> product;  ///< op(A)·1
  long double norm = 0;         ///< ‖op(A)‖∞
  long double one_norm = 0;     ///< ‖A‖₁
  bool is_finite = true;
  bool is_symmetric = false;  ///< but for roundoff, with probability 1; and its diagonal is positive
};
/// Reads A once, or twice where sums overflow.
FactsOfA measured(Engine&, const PartOfA& A, Op op);

/// R ← R − op(A) X, where R, given by rank 0 alone and zero elsewhere, and X are whole on each rank.
void subtract_product(Engine&, const Queue<Cpu>&, const PartOfA& A, Op op, MatrixView<const double> X,
                      MatrixView<double> R);

}  // namespace lasolve::engines
