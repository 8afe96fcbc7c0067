// Right-hand sides while they are refined.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/settled.hpp"
#include "lasolve/matrix.hpp"
#include "solvers/copy.hpp"
#include "solvers/refine/excess_of_inverse.hpp"

namespace lasolve {

/// Right-hand sides that are still refined, side by side: those that are done cost nothing more. Behind them there may be random errors: right-hand
/// sides of zeros whose solutions begin with random elements.
template <class T, class Space>
class OpenRightHandSides {
 public:
  /// R is workspace, as wide as B. `in_two`: X gets a tail, which is zero.
  OpenRightHandSides(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<T, Space> X, MatrixView<T, Space> R,
                     bool in_two, std::vector<std::size_t> which)
      : q_(q), all_X_(X), tail_(B.rows(), in_two ? B.cols() : 0), B_(B), X_(X), R_(R) {
    if (in_two) fill(q_, T(0), tail_.view());
    std::vector<std::size_t> all(std::size_t(B.cols()));
    std::iota(all.begin(), all.end(), 0);
    which_ = all;
    keep(which);
  }

  /// To be called before the first update, while all columns are open.
  void add_errors() {
    const std::int64_t n = B_.rows(), count = B_.cols(), all = count + ExcessOfInverse::columns;
    Matrix<T, Space> B(n, all), X(n, all), R(n, all);
    errors_ = random_errors<T>(n);
    const Settled settled(q_);
    convert<T>(q_, B_, B.view().columns(0, count));
    convert<T>(q_, MatrixView<const T, Space>(X_), X.view().columns(0, count));
    fill(q_, T(0), B.view().columns(count, all - count));
    copy<T>(q_, std::as_const(errors_).view(), X.view().columns(count, all - count));
    for (std::int64_t j = count; j < all; ++j) which_.push_back(std::size_t(all_X_.cols() + j - count));
    own_B_ = std::move(B), own_X_ = std::move(X), own_R_ = std::move(R);
    B_ = own_B_.view(), X_ = own_X_.view(), R_ = own_R_.view();
  }
  /// How many are right-hand sides, and no errors.
  std::size_t count() const {
    return std::size_t(std::lower_bound(which_.begin(), which_.end(), std::size_t(all_X_.cols())) - which_.begin());
  }

  MatrixView<const T, Space> B() const { return B_; }
  MatrixView<T, Space> X() const { return X_; }
  MatrixView<T, Space> R() const { return R_; }
  /// What X has below its last digits, or nothing.
  MatrixView<const T, Space> tail() const {
    return tail_.cols() == 0 ? MatrixView<const T, Space>() : tail_.view().columns(0, X_.cols());
  }
  /// X ← X + D.
  void update(MatrixView<const T, Space> D) {
    tail_.cols() == 0 ? add(q_, D, X_) : add_in_two(q_, D, X_, tail_.view().columns(0, X_.cols()));
  }
  /// Which they are of all.
  const std::vector<std::size_t>& which() const { return which_; }

  /// `positions`: of those that stay, among those that are left, in order. The others are where they were given.
  void keep(const std::vector<std::size_t>& positions) {
    if (positions.size() == which_.size()) return;
    const auto count = std::int64_t(positions.size());
    if (own_X_.cols() > 0)
      put_back();
    else
      own_B_ = Matrix<T, Space>(B_.rows(), count), own_X_ = Matrix<T, Space>(B_.rows(), count);
    const auto move_column = [&](MatrixView<const T, Space> from, MatrixView<T, Space> to) {
      if (from.data() != to.data()) convert<T>(q_, from, to);
    };
    std::vector<std::size_t> which;
    for (std::int64_t j = 0; j < count; ++j) {
      const auto from = std::int64_t(positions[std::size_t(j)]);
      move_column(B_.columns(from, 1), own_B_.view().columns(j, 1));
      move_column(X_.columns(from, 1), own_X_.view().columns(j, 1));
      for (const MatrixView<T, Space> own : {R_, tail_.view()})
        if (own.cols() > 0) move_column(own.columns(from, 1), own.columns(j, 1));
      which.push_back(which_[std::size_t(from)]);
    }
    B_ = own_B_.view().columns(0, count), X_ = own_X_.view().columns(0, count), R_ = R_.columns(0, count);
    which_ = std::move(which);
  }

  /// Solutions go where they were given.
  void leave() {
    if (own_X_.cols() == 0) return;
    put_back();
    q_.finish();
  }

 private:
  void put_back() {
    for (std::size_t j = 0; j < count(); ++j)
      convert<T>(q_, std::as_const(own_X_).view().columns(std::int64_t(j), 1),
                 all_X_.columns(std::int64_t(which_[j]), 1));
  }

  Queue<Space>& q_;
  const MatrixView<T, Space> all_X_;
  Matrix<T, Space> own_B_, own_X_, own_R_;  // once some were left out, or errors added
  Matrix<T> errors_;                        // on their way until something is computed of X
  Matrix<T, Space> tail_;
  MatrixView<const T, Space> B_;
  MatrixView<T, Space> X_, R_;
  std::vector<std::size_t> which_;
};

}  // namespace lasolve
