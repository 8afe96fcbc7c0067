#include "engines/distributed.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/cpu/by_eigen.hpp"
#include "core/cpu/parallel.hpp"
#include "io/generators.hpp"
#include "lasolve/precision.hpp"
#include "solvers/refine/equilibration.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve::engines {

Matrix<double> gathered(Engine& engine, const Distributed<double>& X, std::int64_t first, std::int64_t count) {
  const Dealt &rows = X.layout().rows, &cols = X.layout().cols;
  Matrix<double> whole(X.rows(), count, std::max<std::int64_t>(1, X.rows()));
  std::fill_n(whole.data(), X.rows() * count, 0.0);
  for (std::int64_t j = 0; j < count; ++j) {
    if (!cols.has(first + j)) continue;
    const std::int64_t at = cols.place_of(first + j);
    for (std::int64_t i = 0; i < rows.count(); ++i) whole(rows.index_at(i), j) = X.local()(i, at);
  }
  engine.sum({whole.data(), std::size_t(X.rows() * count)});
  return whole;
}

void keep_own(MatrixView<const double> whole, std::int64_t first, Distributed<double>& X) {
  const Dealt &rows = X.layout().rows, &cols = X.layout().cols;
  for (std::int64_t j = 0; j < whole.cols(); ++j) {
    if (!cols.has(first + j)) continue;
    const std::int64_t at = cols.place_of(first + j);
    for (std::int64_t i = 0; i < rows.count(); ++i) X.local()(i, at) = whole(rows.index_at(i), j);
  }
}

namespace {

/// Sums over rows and columns of A, each of n numbers, and what else a reading of A gives: in one piece, to be summed over the ranks.
class Sums {
 public:
  enum Which { rows, cols, magnitudes_of_rows, magnitudes_of_cols, probe_of_rows, probe_of_cols, which_count };

  explicit Sums(std::int64_t n) : n_(n), all_(std::size_t(n * which_count + 1), 0.0) {}
  double* of(Which which) { return all_.data() + which * n_; }
  std::vector<double> copy_of(Which which) { return {of(which), of(which) + n_}; }
  /// Elements of the diagonal that are not positive.
  double& not_positive() { return all_.back(); }
  std::span<double> all() { return all_; }

 private:
  std::int64_t n_;
  std::vector<double> all_;
};

/// A vector without pattern, between 1/2 and 3/2.
double probe(std::int64_t i) { return 1 + io::Formula{}.random(i, -1) / 2; }

/// Of `scale` times A.
Sums sums_of(Engine& engine, const PartOfA& A, double scale) {
  const Dealt &rows = A.layout().rows, &cols = A.layout().cols;
  Sums sums(A.n());
  const auto m = std::size_t(rows.count());
  std::vector<double> sum(m, 0.0), magnitudes(m, 0.0), probed(m, 0.0), probes(m);
  for (std::size_t i = 0; i < m; ++i) probes[i] = probe(rows.index_at(std::int64_t(i)));
  A.for_columns([&](std::int64_t first, MatrixView<const double> columns) {
    for (std::int64_t j = 0; j < columns.cols(); ++j) {
      const std::int64_t column = cols.index_at(first + j);
      const double* const a = columns.data() + j * columns.ld();
      const double probe_of_column = probe(column);
      double of_column = 0, magnitude = 0, probe_of_rows = 0;
      for (std::size_t i = 0; i < m; ++i) {
        const double x = scale * a[i];
        sum[i] += x, magnitudes[i] += std::abs(x), probed[i] += x * probe_of_column;
        of_column += x, magnitude += std::abs(x), probe_of_rows += x * probes[i];
      }
      sums.of(Sums::cols)[column] = of_column;
      sums.of(Sums::magnitudes_of_cols)[column] = magnitude;
      sums.of(Sums::probe_of_cols)[column] = probe_of_rows;
      if (rows.has(column) && !(a[rows.place_of(column)] > 0)) ++sums.not_positive();
    }
  });
  for (std::size_t i = 0; i < m; ++i) {
    const std::int64_t row = rows.index_at(std::int64_t(i));
    sums.of(Sums::rows)[row] = sum[i];
    sums.of(Sums::magnitudes_of_rows)[row] = magnitudes[i];
    sums.of(Sums::probe_of_rows)[row] = probed[i];
  }
  engine.sum(sums.all());
  return sums;
}

/// Whether A v and Aᵀ v are the same but for roundoff. Where A has another triangle, that a v without pattern hides it has probability 0.
bool is_symmetric(std::int64_t n, Sums& sums) {
  const double roundoff = double(n) * unit_roundoff_of(Precision::fp64);
  for (std::int64_t i = 0; i < n; ++i) {
    const double most = roundoff * (sums.of(Sums::magnitudes_of_rows)[i] + sums.of(Sums::magnitudes_of_cols)[i]);
    if (!(std::abs(sums.of(Sums::probe_of_rows)[i] - sums.of(Sums::probe_of_cols)[i]) <= most)) return false;
  }
  return true;
}

}  // namespace

void SeenByAll::largest(std::vector<std::int64_t>& numbers) const {
  std::vector<double> all(numbers.begin(), numbers.end());
  engine_.largest(all);
  for (std::size_t i = 0; i < all.size(); ++i) numbers[i] = std::int64_t(all[i]);
}

void SeenByAll::sum(std::vector<long double>& numbers) const {
  std::vector<std::int64_t> exponents;  // so that they are in the range of fp64
  for (const long double number : numbers) exponents.push_back(number > 0 ? std::ilogb(number) : -(1 << 20));
  largest(exponents);
  std::vector<double> all;
  for (std::size_t i = 0; i < numbers.size(); ++i) all.push_back(double(std::ldexp(numbers[i], int(-exponents[i]))));
  engine_.sum(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    numbers[i] = std::ldexp(static_cast<long double>(all[i]), int(exponents[i]));
}

std::optional<Scales> scales_of(Engine& engine, const PartOfA& A, bool symmetrically, bool always) {
  using namespace equilibration;
  const SeenByAll seen(engine);
  const auto for_each = [&](Alone, auto f) { for_each_magnitude(A, Op::none, f); };
  Scales scales;
  if (symmetrically) {
    Largest diagonal(A.n());
    for_each_magnitude(A, Op::none, [&](std::int64_t i, std::int64_t j, double a) {
      if (i == j) diagonal.add(i, a);
    });
    diagonal.be_of_all(seen);
    scales = of_diagonal(diagonal, always);
  } else if (A.n() > 0) {
    scales = of_rows_and_columns(A.n(), for_each, seen, always);
  }
  return scales.any() ? std::optional(std::move(scales)) : std::nullopt;
}

FactsOfA measured(Engine& engine, const PartOfA& A, Op op) {
  constexpr double less = 0x1p-64;  // no row has more entries than 1/less
  const auto norm_of = [](Sums& sums, Sums::Which which) { return largest(sums.copy_of(which)); };
  FactsOfA facts;
  Sums sums = sums_of(engine, A, 1);
  facts.product = sums.copy_of(op == Op::none ? Sums::rows : Sums::cols);
  long double unit = 1;
  if (!std::isfinite(norm_of(sums, Sums::magnitudes_of_rows) + norm_of(sums, Sums::magnitudes_of_cols)))
    sums = sums_of(engine, A, less), unit = 1 / less;
  const long double infinity_norm = unit * norm_of(sums, Sums::magnitudes_of_rows);
  facts.one_norm = unit * norm_of(sums, Sums::magnitudes_of_cols);
  facts.norm = op == Op::none ? infinity_norm : facts.one_norm;
  for (const double sum : sums.copy_of(op == Op::none ? Sums::magnitudes_of_rows : Sums::magnitudes_of_cols))
    facts.row_sums.push_back(unit * sum);
  facts.is_finite = std::isfinite(facts.norm);
  facts.is_symmetric = sums.not_positive() == 0 && is_symmetric(A.n(), sums);
  return facts;
}

void subtract_product(Engine& engine, const Queue<Cpu>& q, const PartOfA& A, Op op, MatrixView<const double> X,
                      MatrixView<double> R) {
  const BlockCyclic& layout = A.layout();
  const bool plain = op == Op::none;
  const Dealt &given = plain ? layout.cols : layout.rows, &wanted = plain ? layout.rows : layout.cols;
  Matrix<double> x(given.count(), X.cols()), r(wanted.count(), X.cols());
  std::fill_n(r.data(), r.ld() * r.cols(), 0.0);
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < given.count(); ++i) x(i, j) = X(given.index_at(i), j);
  A.for_columns([&](std::int64_t first, MatrixView<const double> columns) {
    const Operand<double, Cpu> a(columns, op);
    on_shares(q, a.rows(), double(a.rows()) * double(a.cols()), [&](std::int64_t i, std::int64_t m) {
      const auto of_x = plain ? x.view().block(first, 0, columns.cols(), X.cols()) : x.view();
      const auto of_r = r.view().block(plain ? i : first + i, 0, m, X.cols());
      add_product_by_eigen<double>(-1, a.block(i, 0, m, a.cols()), MatrixView<const double>(of_x), of_r);
    });
  });
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < wanted.count(); ++i) R(wanted.index_at(i), j) += r(i, j);
  require(R.ld() == std::max<std::int64_t>(1, R.rows()), "a matrix that is summed lies in one piece");
  engine.sum({R.data(), std::size_t(R.rows() * R.cols())});
}

}  // namespace lasolve::engines
