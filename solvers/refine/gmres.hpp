// GMRES on M⁻¹A, where M is what the factors of A multiply to: corrections where A is too ill-conditioned for M⁻¹ alone.
// Source: Saad & Schultz, SIAM J. Sci. Stat. Comput. 7, 1986; as a step of refinement: Carson & Higham, "A new analysis of iterative
// refinement and its application to accurate solution of ill-conditioned sparse linear systems", SISC 39, 2017.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "core/settled.hpp"
#include "solvers/factors.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/refine/least_squares.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// Of one right-hand side. Vectors of its basis are orthogonal and have norms near 1.
struct Krylov {
  std::size_t column;                 ///< among the right-hand sides
  double tolerance;                   ///< of ‖M⁻¹(r − A d)‖₂ / ‖M⁻¹r‖₂
  int exponent;                       ///< 2^exponent times what is computed with is what was given
  std::vector<double> squared_norms;  ///< of its basis
  LeastSquares least_squares;
};

/// The corrections of some right-hand sides, each in a Krylov space of its own; each reading of A and of the factors serves all.
template <class T, class Space>
class Gmres {
 public:
  static constexpr int most_steps = 30;
  using Real = real_of<T>;

  /// `a_norm`: ‖op(A)‖∞. Factors are applied with `op`, in the arithmetic of T. Its time is that of `phase`.
  Gmres(Queue<Space>& q, Phase phase, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A, Op op,
        long double a_norm)
      : q_(q), phase_(phase), factors_(factors), A_(A), op_(op), exponent_(exponent_within_range<T>(a_norm, 2)) {}

  /// How many right-hand sides have room for their bases in a quarter of the memory of A, or in 64 MiB.
  std::int64_t at_once(std::int64_t nrhs) const {
    const double n = double(std::max<std::int64_t>(1, factors_.order()));
    const double elements = std::max(n * n, 4.0 * (64 << 20) / sizeof(T)) / 4;
    return std::clamp<std::int64_t>(std::int64_t(elements / (n * (most_steps + 1))), 1, nrhs);
  }

  /// D ← d with A d ≈ r, given D = M⁻¹r, until ‖M⁻¹(r − A d)‖₂ is so small a part of ‖M⁻¹r‖₂, or most_steps vectors were not enough. D:
  /// n × (at most at_once(…)). The steps of the column that took most.
  int correct(MatrixView<T, Space> D, const std::vector<double>& tolerances) {
    const std::int64_t n = D.rows(), c = D.cols();
    basis_ = Matrix<T, Space>(n, c * (most_steps + 1));
    next_ = Matrix<T, Space>(n, c), sums_ = Matrix<Real, Space>(most_steps + 1, c);
    const Settled settled(q_);
    std::vector<Krylov> open = begun(D, tolerances), all;
    int steps = 0;
    for (; !open.empty() && steps < most_steps; ++steps) {
      advance(open, steps);
      const auto goes_on = [&](const Krylov& k) {
        const double r = k.least_squares.residual(), beta = std::sqrt(k.squared_norms[0]);
        return r > k.tolerance * beta && k.squared_norms.back() > 0 && std::isfinite(k.squared_norms.back());
      };
      const auto done = std::stable_partition(open.begin(), open.end(), goes_on);
      std::move(done, open.end(), std::back_inserter(all));
      open.erase(done, open.end());
    }
    std::move(open.begin(), open.end(), std::back_inserter(all));
    combine(all, D);
    return steps;
  }

 private:
  /// Vector k of the basis of a right-hand side, and its first `count` vectors.
  MatrixView<T, Space> vector(std::size_t column, std::int64_t k) {
    return basis_.view().columns(k * next_.cols() + std::int64_t(column), 1);
  }
  MatrixView<T, Space> vectors(std::size_t column, std::int64_t count) {
    return {basis_.data() + std::int64_t(column) * basis_.ld(), basis_.rows(), count, basis_.ld() * next_.cols()};
  }

  std::vector<Krylov> begun(MatrixView<const T, Space> D, const std::vector<double>& tolerances) {
    const std::vector<double> most = *column_norms<T>(q_, D);
    std::vector<std::size_t> some;
    std::vector<int> exponents;
    for (std::size_t j = 0; j < most.size(); ++j) {
      if (!(most[j] > 0 && std::isfinite(most[j]))) continue;
      some.push_back(j), exponents.push_back(std::ilogb(most[j]) + std::ilogb(double(D.rows())) / 2 + 1);
      scale<T>(q_, -exponents.back(), D.columns(std::int64_t(j), 1), vector(j, 0));
    }
    const std::vector<double> squares = squared_norms_of(some, 0);
    std::vector<Krylov> all;
    for (std::size_t i = 0; i < some.size(); ++i)
      all.push_back({some[i], tolerances[some[i]], exponents[i], {squares[i]}, LeastSquares(std::sqrt(squares[i]))});
    return all;
  }

  std::vector<double> squared_norms_of(const std::vector<std::size_t>& some, std::int64_t k) {
    for (std::size_t i = 0; i < some.size(); ++i)
      multiply_into(std::int64_t(i), vector(some[i], k), vector(some[i], k));
    const Matrix<Real> sums = fetched(1, std::int64_t(some.size()));
    std::vector<double> squares;
    for (std::size_t i = 0; i < some.size(); ++i) squares.push_back(-double(sums(0, std::int64_t(i))));
    return squares;
  }
  /// The first of the sums.
  Matrix<Real> fetched(std::int64_t rows, std::int64_t columns) {
    Matrix<Real> sums = on_host<Real>(q_, MatrixView<const Real, Space>(sums_.view().block(0, 0, rows, columns)));
    q_.phase(phase_);  // which that wait has ended
    return sums;
  }
  /// sums(:, i) ← −Vᵀ w.
  void multiply_into(std::int64_t i, MatrixView<const T, Space> V, MatrixView<const T, Space> w) {
    const auto to = sums_.view().block(0, i, V.cols(), 1);
    fill(q_, Real(0), to);
    residual<Real>(q_, Operand<Real, Space>(as_real(V), Op::transpose), as_real(w), to, to);
  }

  /// A vector more for each: M⁻¹A times its last one, made orthogonal to the others twice.
  void advance(std::vector<Krylov>& open, std::int64_t k) {
    const auto some = next_.view().columns(0, std::int64_t(open.size()));
    for (std::size_t i = 0; i < open.size(); ++i)
      scale<T>(q_, -exponent_, vector(open[i].column, k), some.columns(std::int64_t(i), 1));
    const auto product = basis_.view().columns((k + 1) * next_.cols(), some.cols());  // of which nothing is there yet
    fill(q_, T(0), product);
    std::visit([&](const auto& a) { residual<T>(q_, a, some, product, product); }, A_);  // −A v
    factors_.apply_in_T(q_, product, some, op_);                                         // −M⁻¹A v
    if (exponent_ != 0) scale<T>(q_, exponent_, some, some);
    std::vector<std::vector<double>> h(open.size(), std::vector<double>(std::size_t(k + 2), 0));
    for (int turn = 0; turn < 2; ++turn) orthogonalize(open, k, h);
    for (std::size_t i = 0; i < open.size(); ++i)
      multiply_into(std::int64_t(i), some.columns(std::int64_t(i), 1), some.columns(std::int64_t(i), 1));
    const Matrix<Real> squares = fetched(1, some.cols());
    for (std::size_t i = 0; i < open.size(); ++i) append(open[i], h[i], -double(squares(0, std::int64_t(i))), k, i);
  }

  /// w ← w − V D⁻¹Vᵀw, with the squared norms of V in D; h ← h − D⁻¹Vᵀw, as w is −M⁻¹A v.
  void orthogonalize(const std::vector<Krylov>& open, std::int64_t k, std::vector<std::vector<double>>& h) {
    for (std::size_t i = 0; i < open.size(); ++i)
      multiply_into(std::int64_t(i), vectors(open[i].column, k + 1), next_.view().columns(std::int64_t(i), 1));
    const auto there = sums_.view().block(0, 0, k + 1, std::int64_t(open.size()));
    Matrix<Real> here = fetched(there.rows(), there.cols());
    for (std::size_t i = 0; i < open.size(); ++i)
      for (std::int64_t row = 0; row <= k; ++row) {
        Real& sum = here(row, std::int64_t(i));
        h[i][std::size_t(row)] += double(sum) / open[i].squared_norms[std::size_t(row)];
        sum = Real(-double(sum) / open[i].squared_norms[std::size_t(row)]);
      }
    copy<Real>(q_, here, there);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto w = as_real(next_.view().columns(std::int64_t(i), 1));
      residual<Real>(q_, Operand<Real, Space>(as_real(vectors(open[i].column, k + 1))),
                     there.columns(std::int64_t(i), 1), w, w);
    }
  }

  /// Of a basis of orthonormal vectors vᵢ/‖vᵢ‖.
  void append(Krylov& its, std::vector<double> h, double square, std::int64_t k, std::size_t i) {
    const double of_last = std::sqrt(its.squared_norms.back()), norm = std::sqrt(std::max(0.0, square));
    for (std::int64_t row = 0; row <= k; ++row)
      h[std::size_t(row)] *= std::sqrt(its.squared_norms[std::size_t(row)]) / of_last;
    h.back() = -norm / of_last;
    its.least_squares.append(std::move(h));
    const bool goes_on = norm > 0 && std::isfinite(norm);
    const int e = goes_on ? std::ilogb(norm) + 1 : 0;
    if (goes_on) scale<T>(q_, -e, next_.view().columns(std::int64_t(i), 1), vector(its.column, k + 1));
    its.squared_norms.push_back(std::isnan(norm) ? norm : std::ldexp(square, -2 * e));
  }

  /// D ← Σ yₖ vₖ/‖vₖ‖, times the powers of two that were taken out.
  void combine(const std::vector<Krylov>& all, MatrixView<T, Space> D) {
    for (const Krylov& its : all) {
      const std::vector<double> y = its.least_squares.solution();
      const auto count = std::int64_t(y.size());
      if (count == 0) continue;
      Matrix<Real> here(count, 1);
      for (std::int64_t k = 0; k < count; ++k)
        here(k, 0) = Real(-y[std::size_t(k)] / std::sqrt(its.squared_norms[std::size_t(k)]));
      const auto there = sums_.view().block(0, 0, count, 1);
      copy<Real>(q_, here, there);
      const auto d = D.columns(std::int64_t(its.column), 1);
      fill(q_, T(0), d);
      residual<Real>(q_, Operand<Real, Space>(as_real(vectors(its.column, count))), there, as_real(d), as_real(d));
      scale<T>(q_, its.exponent, d, d);
    }
  }

  Queue<Space>& q_;
  const Phase phase_;
  Factors<T, Space>& factors_;
  const SystemMatrix<T, Space>& A_;
  const Op op_;
  const int exponent_;  // of vectors before they are multiplied by A
  Matrix<T, Space> basis_, next_;
  Matrix<Real, Space> sums_;
};

/// D ← M⁻¹D, corrected. D: n × nrhs. The steps that the slowest took.
template <class T, class Space>
int correct_by_gmres(Queue<Space>& q, Phase phase, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A, Op op,
                     long double a_norm, MatrixView<T, Space> D, const std::vector<double>& tolerances) {
  Gmres<T, Space> gmres(q, phase, factors, A, op, a_norm);
  const std::int64_t at_once = gmres.at_once(D.cols());
  int steps = 0;
  for (std::int64_t j = 0; j < D.cols(); j += at_once) {
    const std::int64_t some = std::min(at_once, D.cols() - j);
    const MatrixView<T, Space> d = D.columns(j, some);
    q.phase(phase);
    factors.apply_in_T(q, d, d, op);
    steps = std::max(steps, gmres.correct(d, {tolerances.begin() + j, tolerances.begin() + j + some}));
  }
  return steps;
}

}  // namespace lasolve
