#include "engines/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/stopwatch.hpp"

namespace lasolve::engines {

namespace {

/// Exponents that take each column of D X to about 1, so that it is in the range of fp32. D: by(i), exponents on a diagonal.
template <class By>
std::vector<int> exponents_of_columns(Engine& engine, const Distributed<double>& X, By by) {
  constexpr double none = std::numeric_limits<int>::min();
  const Dealt& cols = X.layout().cols;
  std::vector<double> most(std::size_t(X.cols()), none);
  for (std::int64_t j = 0; j < X.local().cols(); ++j) {
    double& its = most[std::size_t(cols.index_at(j))];
    for (std::int64_t i = 0; i < X.local().rows(); ++i)
      if (const double x = X.local()(i, j); x != 0 && std::isfinite(x))
        its = std::max(its, double(std::ilogb(x) + by(i)));
  }
  engine.largest(most);
  std::vector<int> exponents;
  for (const double e : most) exponents.push_back(e == none ? 0 : int(e));
  return exponents;
}

/// Whether X is solved for as it is, without a copy: by factors of its own type.
bool solved_as_it_is(Factored<double>& factored, Op op, Distributed<double>& X) {
  factored.solve(op, X.part());
  return true;
}
bool solved_as_it_is(Factored<float>&, Op, Distributed<double>&) { return false; }

/// X ← op(A)⁻¹ X by factors of R A C.
template <class T>
void solve_by(Engine& engine, Factored<T>& factored, const Scales& scales, Op op, Distributed<double>& X) {
  if (!scales.any() && solved_as_it_is(factored, op, X)) return;
  const Dealt &rows = X.layout().rows, &cols = X.layout().cols;
  const auto at = [&](const std::vector<std::int64_t>& all, std::int64_t i) {
    return all.empty() ? 0 : int(all[std::size_t(rows.index_at(i))]);
  };
  const bool plain = op == Op::none;
  const auto &before = plain ? scales.rows : scales.columns, &after = plain ? scales.columns : scales.rows;
  const std::vector<int> of = exponents_of_columns(engine, X, [&](std::int64_t i) { return at(before, i); });
  Distributed<T> copy(X.layout());
  const auto for_each = [&](auto f) {
    for (std::int64_t j = 0; j < X.local().cols(); ++j)
      for (std::int64_t i = 0; i < X.local().rows(); ++i)
        f(copy.local()(i, j), X.local()(i, j), i, of[std::size_t(cols.index_at(j))]);
  };
  for_each([&](T& y, double x, std::int64_t i, int its) { y = T(std::ldexp(x, at(before, i) - its)); });
  factored.solve(op, copy.part());
  for_each([&](T y, double& x, std::int64_t i, int its) {
    x = std::ldexp(double(y), its + scales.exponent + at(after, i));
  });
}

}  // namespace

template <class T>
void Factors::make(Engine& engine, const PartOfA& A, Method method, Scales scales) {
  struct Made {
    Distributed<T> matrix;
    std::unique_ptr<Factored<T>> factored;
  };
  const auto made = std::make_shared<Made>();
  made->matrix = Distributed<T>(A.layout());
  const MatrixView<T> to = made->matrix.local();
  const bool is_scaled = scales.any();
  const auto by = [&](std::int64_t i, std::int64_t j) {
    return int(scales.of(A.layout().rows.index_at(i), A.layout().cols.index_at(j)));
  };
  A.for_columns([&](std::int64_t first, MatrixView<const double> columns) {
    for (std::int64_t j = 0; j < columns.cols(); ++j)
      for (std::int64_t i = 0; i < columns.rows(); ++i)
        to(i, first + j) = !is_scaled ? T(columns(i, j)) : T(std::ldexp(columns(i, j), by(i, first + j)));
  });
  engine.meet();
  const Stopwatch watch;
  made->factored = engine.factor(method, made->matrix.part());
  engine.meet();
  seconds_ = watch.seconds();
  outcome_ = made->factored->outcome();
  apply_ = [&engine, made, scales = std::move(scales)](Op op, Distributed<double>& X) {
    solve_by(engine, *made->factored, scales, op, X);
  };
}

Factors::Factors(Engine& engine, const PartOfA& A, const Recipe& by, Scales scales) {
  by.is_coarse() ? make<float>(engine, A, by.method, std::move(scales))
                 : make<double>(engine, A, by.method, std::move(scales));
}

}  // namespace lasolve::engines
