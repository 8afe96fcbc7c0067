// ‖M‖₁ and ‖M‖∞ of a matrix that is not there, but can be applied to vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "core/ceil_div.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve {

/// A column of ±1: which of its elements are negative, a bit each, the first in the lowest bit of a word.
class Signs {
 public:
  using Word = std::uint64_t;
  static constexpr std::int64_t bits = 64;

  explicit Signs(std::int64_t n) : n_(n), words_(std::size_t(ceil_div(n, bits)), 0) {}
  /// negative(i): whether element i is.
  template <class Negative>
  static Signs of(std::int64_t n, Negative negative) {
    Signs its(n);
    for (std::int64_t i = 0; i < n; ++i) its.words_[std::size_t(i / bits)] |= Word(negative(i)) << (i % bits);
    return its;
  }
  static Signs at_random(std::int64_t n, std::mt19937_64&);
  /// Bits of the last word that belong to no element are 0.
  std::span<const Word> words() const { return words_; }
  std::span<Word> words() { return words_; }
  bool is_negative(std::int64_t i) const { return (words_[std::size_t(i / bits)] >> (i % bits) & 1) != 0; }
  /// Whether this column, or its negative, is one of `others`.
  bool is_among(std::span<const Signs> others) const;

 private:
  std::int64_t n_;
  std::vector<Word> words_;
};

/// At most four columns of n elements, wherever they are.
class ColumnsOfEstimate {
 public:
  static constexpr std::int64_t most = 4;
  ColumnsOfEstimate() = default;
  ColumnsOfEstimate(const ColumnsOfEstimate&) = delete;
  ColumnsOfEstimate& operator=(const ColumnsOfEstimate&) = delete;
  virtual ~ColumnsOfEstimate() = default;

  virtual std::int64_t rows() const = 0;
  /// Column j ← factor times signs[j]; columns beyond these stay.
  virtual void set_signs(double factor, const std::vector<Signs>& signs) = 0;
  /// Column j ← 2/(3n) times 1, −(1 + 1/(n−1)), 1 + 2/(n−1), … ±2.
  virtual void set_growing(std::int64_t j) = 0;
  /// Column first + j ← unit vector units[j].
  virtual void set_units(std::int64_t first, const std::vector<std::int64_t>& units) = 0;

  /// The sum of the magnitudes of each column.
  virtual std::vector<double> sums() = 0;
  /// NaN counts as negative.
  virtual std::vector<Signs> signs() = 0;
  /// The largest magnitude of each row; NaN is the largest.
  virtual std::vector<double> largest_of_rows() = 0;
};

/// Lower bounds of the largest sum of magnitudes in a column of M, and in a row.
struct EstimatedNorms {
  double one = 0, infinity = 0;
};

/// Lower bounds of ‖M‖₁ and ‖M‖∞ for M (n × n). They are nearly always within a factor of three, mostly close, and exact for n ≤ 4.
/// apply(op): X ← op(M) X, three times at most. Infinite or NaN if a product has such elements.
/// Of the first products M X, the columns with the largest sums tell which columns of M to try, and the largest rows which rows of M.
/// Source, for ‖M‖₁: Higham & Tisseur, "A block algorithm for matrix 1-norm estimation, with an application to 1-norm
/// pseudospectra", SIMAX 21, 2000, algorithm 2.4; one of the first vectors is that of LAPACK's dlacn2.
EstimatedNorms estimated_norms(ColumnsOfEstimate& X, const std::function<void(Op)>& apply);

/// The same on the host. apply(X, op): X ← op(M) X.
EstimatedNorms estimated_norms(std::int64_t n, const std::function<void(MatrixView<double> X, Op)>& apply);

}  // namespace lasolve
