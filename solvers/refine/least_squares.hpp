// The small least-squares problem of GMRES.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace lasolve {

/// min ‖g − H y‖₂ of one right-hand side, with H upper Hessenberg and g = β e₁: a column more at a time, by Givens rotations.
class LeastSquares {
 public:
  explicit LeastSquares(double beta) : g_{beta} {}

  /// `h`: the next column of H, with one element more than the last one had.
  void append(std::vector<double> h) {
    const std::size_t k = columns_.size();
    for (std::size_t i = 0; i < k; ++i) rotate(rotations_[i], h[i], h[i + 1]);
    const double r = std::hypot(h[k], h[k + 1]);
    rotations_.push_back(r == 0 ? Rotation{1, 0} : Rotation{h[k] / r, h[k + 1] / r});
    rotate(rotations_[k], h[k], h[k + 1]);
    g_.push_back(0);
    rotate(rotations_[k], g_[k], g_[k + 1]);
    h.pop_back();
    columns_.push_back(std::move(h));
  }
  double residual() const { return std::abs(g_.back()); }
  /// y. A column that depends on those before is left out.
  std::vector<double> solution() const {
    std::vector<double> y(g_.begin(), g_.end() - 1);
    for (std::size_t k = y.size(); k-- > 0;) {
      const double pivot = columns_[k][k];
      y[k] = pivot == 0 ? 0 : y[k] / pivot;
      for (std::size_t i = 0; i < k; ++i) y[i] -= columns_[k][i] * y[k];
    }
    return y;
  }

 private:
  struct Rotation {
    double c, s;
  };
  static void rotate(const Rotation& by, double& a, double& b) {
    const double top = by.c * a + by.s * b;
    b = by.c * b - by.s * a, a = top;
  }
  std::vector<Rotation> rotations_;
  std::vector<std::vector<double>> columns_;  // of R
  std::vector<double> g_;
};

}  // namespace lasolve
