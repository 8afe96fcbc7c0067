// Scales where a device reads them.
#pragma once

#include <vector>

#include "core/settled.hpp"
#include "solvers/copy.hpp"
#include "solvers/scales.hpp"

namespace lasolve {

template <class Space>
class ScalesOnDevice {
 public:
  ScalesOnDevice() = default;
  ScalesOnDevice(Queue<Space>& q, const Scales& scales)
      : exponent_(scales.exponent), rows_(there(q, scales.rows)), columns_(there(q, scales.columns)) {}

  /// to ← 2^exponent R A C, rounded; both hold the columns from `first` on. They may be the same memory.
  template <class From, class To>
  void scale_columns(Queue<Space>& q, std::int64_t first, MatrixView<const From, Space> A,
                     MatrixView<To, Space> to) const {
    if (exponent_ == 0 && rows_.bytes() == 0 && columns_.bytes() == 0) return convert(q, A, to);
    const auto its = columns_.bytes() == 0 ? Exponents() : columns_.view().block(first, 0, to.cols(), 1);
    scale_to(q, exponent_, rows_.view(), its, A, to);
  }
  /// A⁻¹ = C (2^e R A C)⁻¹ 2^e R, and A⁻ᵀ = R (2^e R A C)⁻ᵀ 2^e C. Both may be the same memory.
  template <class From, class To>
  void scale_before(Queue<Space>& q, Op op, MatrixView<const From, Space> B, MatrixView<To, Space> X) const {
    scale_to(q, exponent_, op == Op::none ? rows_.view() : columns_.view(), Exponents(), B, X);
  }
  template <class From, class To>
  void scale_after(Queue<Space>& q, Op op, MatrixView<const From, Space> X, MatrixView<To, Space> Y) const {
    scale_to(q, 0, op == Op::none ? columns_.view() : rows_.view(), Exponents(), X, Y);
  }

 private:
  using Exponents = MatrixView<const std::int64_t, Space>;

  static Matrix<std::int64_t, Space> there(Queue<Space>& q, const std::vector<std::int64_t>& exponents) {
    const auto n = std::int64_t(exponents.size());
    Matrix<std::int64_t, Space> its(n, n > 0);
    const Settled settled(q);
    if (n > 0) copy<std::int64_t>(q, MatrixView<const std::int64_t>(exponents.data(), n, 1, n), its.view());
    return its;
  }

  int exponent_ = 0;
  Matrix<std::int64_t, Space> rows_, columns_;  // empty: zeros
};

}  // namespace lasolve
