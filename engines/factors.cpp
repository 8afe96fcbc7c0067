#include "engines/factors.hpp"

#include <cmath>
#include <vector>

#include "core/stopwatch.hpp"
#include "solvers/refine/largest.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve::engines {

namespace {

/// Exponents that take each column of X to about 1, so that it is in the range of fp32.
std::vector<int> exponents_of_columns(Engine& engine, const Distributed<double>& X) {
  const Dealt& cols = X.layout().cols;
  std::vector<double> sums(std::size_t(X.cols()), 0.0);
  for (std::int64_t j = 0; j < X.local().cols(); ++j) {
    double& sum = sums[std::size_t(cols.index_at(j))];
    for (std::int64_t i = 0; i < X.local().rows(); ++i) sum = larger(sum, std::abs(X.local()(i, j)));
  }
  engine.sum(sums);  // of the largest of each row of the grid: no less than the largest, and at most so many times that
  std::vector<int> exponents;
  for (const double sum : sums) exponents.push_back(sum > 0 && std::isfinite(sum) ? std::ilogb(sum) : 0);
  return exponents;
}

/// Whether X is solved for as it is, without a copy: by factors of its own type.
bool solved_as_it_is(Factored<double>& factored, Op op, Distributed<double>& X) {
  factored.solve(op, X.part());
  return true;
}
bool solved_as_it_is(Factored<float>&, Op, Distributed<double>&) { return false; }

/// X ← op(A)⁻¹ X by factors of 2^e A.
template <class T>
void solve_by(Engine& engine, Factored<T>& factored, int e, Op op, Distributed<double>& X) {
  if (e == 0 && solved_as_it_is(factored, op, X)) return;
  const std::vector<int> of = exponents_of_columns(engine, X);
  const Dealt& cols = X.layout().cols;
  Distributed<T> copy(X.layout());
  const auto for_each = [&](auto f) {
    for (std::int64_t j = 0; j < X.local().cols(); ++j)
      for (std::int64_t i = 0; i < X.local().rows(); ++i)
        f(copy.local()(i, j), X.local()(i, j), of[std::size_t(cols.index_at(j))]);
  };
  for_each([&](T& y, double x, int its) { y = T(std::ldexp(x, -its)); });
  factored.solve(op, copy.part());
  for_each([&](T y, double& x, int its) { x = std::ldexp(double(y), its + e); });
}

}  // namespace

template <class T>
void Factors::make(Engine& engine, const PartOfA& A, Method method, int e) {
  struct Made {
    Distributed<T> matrix;
    std::unique_ptr<Factored<T>> factored;
  };
  const auto made = std::make_shared<Made>();
  made->matrix = Distributed<T>(A.layout());
  const MatrixView<T> to = made->matrix.local();
  A.for_columns([&](std::int64_t first, MatrixView<const double> columns) {
    for (std::int64_t j = 0; j < columns.cols(); ++j)
      for (std::int64_t i = 0; i < columns.rows(); ++i)
        to(i, first + j) = e == 0 ? T(columns(i, j)) : T(std::ldexp(columns(i, j), e));
  });
  double nothing = 0;
  engine.sum({&nothing, 1});  // all are ready
  const Stopwatch watch;
  made->factored = engine.factor(method, made->matrix.part());
  engine.sum({&nothing, 1});
  seconds_ = watch.seconds();
  outcome_ = made->factored->outcome();
  apply_ = [&engine, made, e](Op op, Distributed<double>& X) { solve_by(engine, *made->factored, e, op, X); };
}

Factors::Factors(Engine& engine, const PartOfA& A, Method method, Precision precision, long double norm) {
  const bool has_size = norm > 0 && std::isfinite(norm);
  if (precision == Precision::fp32)
    make<float>(engine, A, method, has_size ? -std::ilogb(norm) : 0);
  else
    make<double>(engine, A, method, exponent_of_subnormal<double>(norm));
}

}  // namespace lasolve::engines
