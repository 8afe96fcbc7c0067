// Factors in memory of their own, whatever the method and what they are stored in. What is stored narrowly is computed in the next wider
// type and rounded when it is finished: solvers/narrow.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/settled.hpp"
#include "solvers/apply.hpp"
#include "solvers/copy.hpp"
#include "solvers/factors.hpp"
#include "solvers/narrow.hpp"
#include "solvers/part_of_factors.hpp"
#include "solvers/prepare.hpp"
#include "solvers/refine/diagonal.hpp"
#include "solvers/refine/largest.hpp"
#include "solvers/scales_on_device.hpp"

namespace lasolve {

/// Of a matrix of T: computed in F, stored as S.
template <class T, class Space, class F = T, class S = F>
class DecompositionIn final : public Decomposition<T, Space> {
 public:
  /// Takes the memory of A, which factor() will factor in place. What it holds is then A, scaled.
  DecompositionIn(const GemmBackend<Space>& backend, Precision products, Method method, Matrix<F, Space>&& A,
                  Scales scales = {})
      : gemm_(backend, products),
        method_(record_of(method)),
        n_(A.rows()),
        scales_(std::move(scales)),
        notes_(std::max<std::int64_t>(1, method_.interchanges(n_)), Pivots<Space>::columns + 1),
        values_(std::move(A)) {
    if constexpr (is_narrow) narrow_ = Matrix<S, Space>(n_, n_);
  }

  void prepare(Queue<Space>& q, const Recipe& by) override { prepare_factorization(q, gemm_, by, n_); }
  void take(Queue<Space>& q, MatrixView<const T, Space> A) override {
    if (scales_.any()) {
      scales_there_ = ScalesOnDevice<Space>(q, scales_);
      return scales_there_.scale_columns(q, 0, A, values_.view());
    }
    has_begun_ = static_cast<const void*>(A.data()) != values_.data();
    if (has_begun_) copy_to_factor(q, A, values_.view(), status());
  }
  Fetched<MatrixFacts> take_speculatively(Queue<Space>& q, MatrixView<const T, Space> A) override {
    has_begun_ = is_speculative_ = true;
    return copy_and_measure(q, A, values_.view(), status());
  }
  void mirror_triangle(Queue<Space>& q, Uplo there) override { mirror(q, values_.view(), there); }

  void factor(Queue<Space>& q, const Recipe& by, const Arriving<T, Space>* arriving = nullptr,
              TaskClock<Space>* clock = nullptr) override {
    if (!has_begun_) fill(q, std::int64_t(-1), status());
    Supply<F, Space> supply;
    if (arriving)
      supply = [arriving](Queue<Space>& queue, std::int64_t first, MatrixView<F, Space> columns) {
        arriving->await(queue, first + columns.cols());
        queue.phase(Phase::other);
        convert(queue, arriving->A.columns(first, columns.cols()), columns);
      };
    const auto plan = plan_on<F>(q, by, n_);
    buffers_.emplace(plan->plan);
    execute(*plan, q,
            Workpiece<F, Space>{gemm_, values_.view(), pivots(), supply, *buffers_, by.pivoting, is_speculative_},
            clock);
    q.phase(Phase::other);
    if constexpr (is_narrow) convert<F>(q, values_.view(), narrow_.view());
  }
  Fetched<Ending> ending(Queue<Space>& q) override { return ending_of<F>(q, std::as_const(values_).view(), status()); }
  std::optional<SizesOfFactors> sizes(Queue<Space>& q) override {
    return sizes_of_factors(n_, [&](Factor which, const std::vector<double>& weights) {
      return *sizes_of_part(q, PartOfFactors<F, Space>{std::as_const(values_).view(), which}, weights);
    });
  }
  void release_workspace() override {
    if constexpr (is_narrow) values_ = {};
  }
  std::string backend() const override { return gemm_.backend().name; }
  std::vector<ProductsOf> products_of() const override {
    if (!gemm_.small()) return {};
    return {{gemm_.backend().name, gemm_.given()}, {gemm_.small()->name, gemm_.given_to_small()}};
  }

  std::int64_t order() const override { return n_; }
  void apply(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op) override {
    const std::int64_t nrhs = X.cols(), at_once = columns_at_once(q, nrhs);
    if constexpr (!std::is_same_v<F, T>)
      if (converted_.cols() < std::min(nrhs, at_once)) converted_ = Matrix<F, Space>(n_, std::min(nrhs, at_once));
    for (std::int64_t j = 0; j < nrhs; j += at_once) {
      const std::int64_t some = std::min(at_once, nrhs - j);
      const auto b = B.columns(j, some);
      const auto x = X.columns(j, some);
      if constexpr (std::is_same_v<F, T>) {
        if (!scales_.any()) {
          apply_to_some(q, b, x, op);
          continue;
        }
        scale_before(q, b, x, op);
        apply_to_some(q, x, x, op);
        scale_after(q, x, x, op);
      } else {
        const auto between = converted_.view().columns(0, some);
        if (is_far_) {
          apply_far(q, b, between, x, op);
          continue;
        }
        scale_before(q, b, between, op);
        apply_to_some(q, between, between, op);
        scale_after(q, between, x, op);
      }
    }
  }
  void apply_in_T(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op) override {
    if constexpr (std::is_same_v<S, T>) {
      apply(q, B, X, op);
    } else {
      const auto stored = [&] {
        if constexpr (is_narrow)
          return narrow_.view();
        else
          return values_.view();
      }();
      if (room_in_T_.cols() == 0) room_in_T_ = room_for<T>();
      if (scales_.any()) scale_before(q, B, X, op);
      apply_factors<T>(q, BySubtraction<T, Space>(), method_, Narrow<T, S, Space>{stored, room_in_T_.view()}, pivots(),
                       scales_.any() ? X : B, X, op);
      if (scales_.any()) scale_after(q, X, X, op);
    }
  }
  Exponents exponents() const override { return is_far_ ? exponents_of<T> : exponents_of<F>; }
  const Scales& scales() const override { return scales_; }
  const MethodRecord& method() const override { return method_; }
  MatrixView<const T, Space> values() const override {
    if constexpr (std::is_same_v<S, T>)
      return values_;
    else
      return {};
  }
  std::vector<T> diagonal_on_host(Queue<Space>& q) override { return diagonal_of<T>(q, values()); }
  std::vector<std::int64_t> pivots_on_host(Queue<Space>& q) override {
    const Matrix<std::int64_t> p = on_host<std::int64_t>(q, MatrixView<const std::int64_t, Space>(pivots().p));
    return std::vector<std::int64_t>(p.data(), p.data() + p.rows());
  }
  Pivots<Space> pivots() {
    return Pivots<Space>::in(notes_.view().block(0, 0, method_.interchanges(n_), Pivots<Space>::columns), status());
  }
  const std::int64_t* failed_at() const override { return notes_.data() + (notes_.cols() - 1) * notes_.ld(); }
  std::size_t bytes() const override {
    return values_.bytes() + narrow_.bytes() + notes_.bytes() + converted_.bytes() + room_.bytes() + room_in_T_.bytes();
  }

 private:
  static constexpr bool is_narrow = !std::is_same_v<S, F>;
  /// For the columns that are widened at once: on a device few launches count, and on the host that they stay in its caches.
  template <class E>
  Matrix<E, Space> room_for() const {
    constexpr std::int64_t columns = std::is_same_v<Space, Cuda> ? 512 : 64;
    return Matrix<E, Space>(n_, std::min(n_, columns), n_);
  }

  std::int64_t columns_at_once(Queue<Space>& q, std::int64_t nrhs) const {
    std::int64_t most = rhs_at_once(q, n_, nrhs);
    if constexpr (!std::is_same_v<F, T>)
      most = std::min(most, std::max<std::int64_t>(512, (1 << 24) / std::max<std::int64_t>(1, n_)));
    return most;
  }
  /// In F.
  void apply_to_some(Queue<Space>& q, MatrixView<const F, Space> B, MatrixView<F, Space> X, Op op) {
    if constexpr (is_narrow) {
      if (room_.cols() == 0) room_ = room_for<F>();
      apply_factors<F>(q, gemm_, method_, Narrow<F, S, Space>{narrow_.view(), room_.view()}, pivots(), B, X, op);
    } else {
      apply_factors<F>(q, gemm_, method_, values_.view(), pivots(), B, X, op);
    }
  }
  /// The same with scales that F has no exponents for: each column is brought into its range when it has been scaled, and back.
  void apply_far(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<F, Space> between, MatrixView<T, Space> X,
                 Op op) {
    Matrix<T, Space> scaled(n_, B.cols());
    ScalesOnDevice<Space> there, home;
    const Settled settled(q);
    scale_before(q, B, scaled.view(), op);
    Scales to_range, back;
    const std::vector<double> sizes = *column_norms<T>(q, std::as_const(scaled).view());
    for (const double most : sizes) {
      back.columns.push_back(most > 0 && std::isfinite(most) ? std::ilogb(most) : 0);
      to_range.columns.push_back(-back.columns.back());
    }
    there = ScalesOnDevice<Space>(q, to_range), home = ScalesOnDevice<Space>(q, back);
    there.scale_columns(q, 0, std::as_const(scaled).view(), between);
    apply_to_some(q, between, between, op);
    home.scale_columns(q, 0, MatrixView<const F, Space>(between), scaled.view());
    scale_after(q, scaled.view(), X, op);
    q.finish();
  }
  template <class To>
  void scale_before(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<To, Space> X, Op op) {
    if (!scales_.any()) return convert(q, B, X);
    scales_there_.scale_before(q, op, B, X);
  }
  template <class From>
  void scale_after(Queue<Space>& q, MatrixView<From, Space> X, MatrixView<T, Space> Y, Op op) {
    const MatrixView<const From, Space> from = X;
    if (!scales_.any()) return convert(q, from, Y);
    scales_there_.scale_after(q, op, from, Y);
  }
  MatrixView<std::int64_t, Space> status() { return notes_.view().block(0, notes_.cols() - 1, 1, 1); }

  const Gemm<F, Space> gemm_;
  const MethodRecord& method_;
  const std::int64_t n_;
  const Scales scales_;
  const bool is_far_ = leave_range<F, T>(scales_);
  bool has_begun_ = false, is_speculative_ = false;
  Matrix<std::int64_t, Space> notes_;  // the pivots, and in the last column where it failed
  Matrix<F, Space> values_;            // empty when they are stored narrowly
  Matrix<S, Space> narrow_;            // empty unless they are
  Matrix<F, Space> converted_, room_;  // right-hand sides in F, and block columns that were widened
  Matrix<T, Space> room_in_T_;
  ScalesOnDevice<Space> scales_there_;
  std::optional<Buffers<F, Space>> buffers_;
};

/// Elements of T with parts of another type.
template <class T, class Part>
struct WithParts {
  using Type = Part;
};
template <template <class> class Complex, class Old, class Part>
requires ComplexElement<Complex<Old>>
struct WithParts<Complex<Old>, Part> {
  using Type = Complex<Part>;
};

/// As a recipe has it. `memory`: that of A where the factors overwrite it, which only those stored as T can; else null.
template <class T, class Space>
std::unique_ptr<Decomposition<T, Space>> decomposition_by(const Recipe& by, const GemmBackend<Space>& backend,
                                                          std::int64_t n, Matrix<T, Space>* memory,
                                                          Scales scales = {}) {
  std::unique_ptr<Decomposition<T, Space>> made;
  for_storage(by.precision.storage, [&](auto P) {
    using Stored = typename Arithmetic<P>::Operand;
    using Computed = typename Arithmetic<P>::Result;
    constexpr bool can_be =
        !ComplexElement<T> || std::is_same_v<Stored, Computed>;  // no complex numbers of 16-bit parts
    if constexpr (can_be && sizeof(Computed) <= sizeof(real_of<T>)) {
      using S = typename WithParts<T, Stored>::Type;
      using F = typename WithParts<T, Computed>::Type;
      const auto of = [&](Matrix<F, Space>&& A) {
        made = std::make_unique<DecompositionIn<T, Space, F, S>>(backend, by.precision.products, by.method,
                                                                 std::move(A), std::move(scales));
      };
      if constexpr (std::is_same_v<S, T>)
        if (memory) return of(std::move(*memory));
      of(Matrix<F, Space>(n, n));
    }
  });
  return made;
}

}  // namespace lasolve
