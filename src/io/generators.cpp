#include "io/generators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/choose.hpp"
#include "core/cpu/parallel.hpp"
#include "core/range.hpp"
#include "core/sizes.hpp"

namespace lasolve::io {

namespace {

struct Kind {
  const char* name;
  Formula::Kind kind;
  const char* parameter;  // beside n and seed; or null
  double value;           // its default
  const char* summary;
};

constexpr Kind kinds[] = {
    {"uniform", Formula::uniform, nullptr, 0, "uniform random in [-1, 1)"},
    {"spd", Formula::spd, nullptr, 0, "symmetric positive definite: uniform random, n on the diagonal"},
    {"randsvd", Formula::randsvd, "kappa", 1e6, "condition number kappa, singular values 1 ... 1/kappa, geometric"},
    {"diagdom", Formula::diagdom, nullptr, 0, "diagonally dominant: uniform random, n on the diagonal"},
    {"growth", Formula::growth, nullptr, 0, "Wilkinson's: partial pivoting lets the last column grow to 2^(n-1)"},
    {"graded", Formula::graded, "bits", 40, "uniform random; rows, and columns, fall from 1 to 2^-(bits/2)"},
    {"hilbert", Formula::hilbert, nullptr, 0, "1 / (i + j + 1)"},
    {"bem", Formula::bem, nullptr, 0, "boundary elements: a unit square plate of sqrt(n) x sqrt(n) panels"},
};

const Kind* find_kind(const std::string& name) {
  for (const Kind& k : kinds)
    if (k.name == name) return &k;
  return nullptr;
}

[[noreturn]] void fail(const std::string& text, std::size_t at, const std::string& what) {
  throw GeneratorError(fmt::format("error: {}\n  {}\n  {:>{}}", what, text, '^', at + 1));
}

/// The whole of text[at, end) as a number.
template <class Number>
Number parse(const std::string& text, std::size_t at, std::size_t end, const char* what) {
  Number value{};
  const auto [stop, e] = std::from_chars(text.data() + at, text.data() + end, value);
  if (e != std::errc() || stop != text.data() + end || at == end)
    fail(text, at, fmt::format("expected {}, found '{}'", what, text.substr(at, end - at)));
  return value;
}

std::int64_t size_in(const std::string& text, std::size_t at, std::size_t end) {
  const std::string size = text.substr(at, end - at);
  if (const auto n = whole_number(size)) return *n;
  fail(text, at, fmt::format("expected a size after n=, found '{}'; 8192, 8k and 1e4 are sizes", size));
}

/// 2^(−bits·i/(2n)): powers of two, so that scaling is exact.
std::vector<double> graded_table(std::int64_t n, double bits) {
  std::vector<double> t(std::size_t(n), 1.0);
  for (std::int64_t i = 0; i < n; ++i) t[std::size_t(i)] = std::ldexp(1.0, -int(bits * double(i) / double(n) / 2));
  return t;
}

/// Unit vectors u and v, singular values d, and uᵀ D v. Source: Fasi & Higham, "Generating extreme-scale matrices with
/// specified singular values or condition number", SISC 2021: a diagonal between two random reflections.
std::vector<double> randsvd_table(const Formula& f, double kappa) {
  const std::int64_t n = f.n;
  std::vector<double> t(std::size_t(3 * n + 1), 0.0);
  double *u = t.data(), *v = u + n, *d = v + n;
  double uu = 0, vv = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    u[i] = f.random(i, -1), v[i] = f.random(i, -2);
    d[i] = std::pow(kappa, n > 1 ? -double(i) / double(n - 1) : 0.0);
    uu += u[i] * u[i], vv += v[i] * v[i];
  }
  for (std::int64_t i = 0; i < n; ++i) {
    u[i] /= std::sqrt(uu), v[i] /= std::sqrt(vv);
    t[std::size_t(3 * n)] += u[i] * d[i] * v[i];
  }
  return t;
}

/// ∫ 1/r over the rectangle [x0, x1] × [y0, y1] in the plane of the point at the origin, from the antiderivative
/// x·asinh(y/|x|) + y·asinh(x/|y|).
double potential_of_rectangle(double x0, double x1, double y0, double y1) {
  auto corner = [](double x, double y) {
    return (x == 0 ? 0 : x * std::asinh(y / std::abs(x))) + (y == 0 ? 0 : y * std::asinh(x / std::abs(y)));
  };
  return corner(x1, y1) - corner(x0, y1) - corner(x1, y0) + corner(x0, y0);
}

/// Of a plate of n panels, where n is a square.
std::int64_t panels_a_side(std::int64_t n) { return std::llround(std::sqrt(double(n))); }

/// m, then the potential at a panel's centre of a unit charge density on the panel dx columns and dy rows away.
std::vector<double> bem_table(std::int64_t m) {
  const double h = 1.0 / double(m);
  std::vector<double> t = {double(m)};
  for (std::int64_t dy = 0; dy < m; ++dy)
    for (std::int64_t dx = 0; dx < m; ++dx)
      t.push_back(potential_of_rectangle((double(dx) - 0.5) * h, (double(dx) + 0.5) * h, (double(dy) - 0.5) * h,
                                         (double(dy) + 0.5) * h));
  return t;
}

}  // namespace

bool Generator::is_meant_by(const std::string& text) {
  const std::size_t colon = text.find(':');
  return find_kind(text.substr(0, colon)) != nullptr ||
         (colon != std::string::npos && text.find("n=", colon) == colon + 1);
}

std::vector<std::string> Generator::names() {
  std::vector<std::string> all;
  for (const Kind& k : kinds) all.push_back(k.name);
  return all;
}

std::string Generator::help() {
  std::string lines;
  for (const Kind& k : kinds)
    lines += fmt::format(
        "  {:<34}{}\n",
        fmt::format("{}:n=N[,seed=S]{}", k.name, k.parameter ? fmt::format("[,{}=..]", k.parameter) : ""), k.summary);
  return lines;
}

Generator::Generator(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  const Kind* kind = find_kind(name);
  if (!kind)
    fail(text, 0,
         fmt::format("there is no generator '{}'{}; generators: {}", name, did_you_mean(name, names()),
                     fmt::join(names(), ", ")));
  formula_.kind = kind->kind;
  parameter_ = kind->value;
  std::vector<std::string> given;
  for (std::size_t at = colon + 1; at < text.size() || text.ends_with(',');) {
    const std::size_t end = std::min(text.find(',', at), text.size()), equals = std::min(text.find('=', at), end);
    const std::string key = text.substr(at, equals - at);
    const std::size_t number = std::min(equals + 1, end);
    if (contains(given, key)) fail(text, at, fmt::format("{} is given twice", key));
    given.push_back(key);
    if (key == "n")
      formula_.n = size_in(text, number, end);
    else if (key == "seed")
      formula_.seed = parse<std::uint64_t>(text, number, end, "a whole number after seed=");
    else if (kind->parameter && key == kind->parameter)
      parameter_ = parse<double>(text, number, end, "a number");
    else
      fail(text, at,
           fmt::format("'{}' is not a parameter of {}; known: n, seed{}{}", key, name, kind->parameter ? ", " : "",
                       kind->parameter ? kind->parameter : ""));
    at = end + 1;
  }
  const std::int64_t n = formula_.n;
  if (n <= 0) fail(text, text.size(), "expected a positive size, as in " + name + ":n=1000");
  if (n > 1'000'000'000) fail(text, colon, "n² elements of 8 bytes overflow 64 bits");
  if (formula_.kind == Formula::randsvd && !(parameter_ >= 1 && std::isfinite(parameter_)))
    fail(text, colon, "expected kappa of 1 or more");
  if (formula_.kind == Formula::graded && !(parameter_ >= 0 && parameter_ <= 1000))
    fail(text, colon, "expected bits from 0 to 1000");
  if (const std::int64_t m = panels_a_side(n); formula_.kind == Formula::bem && m * m != n)
    fail(text, colon, fmt::format("bem needs a square number of panels: n={} or n={}", m * m, (m + 1) * (m + 1)));
}

const std::vector<double>& Generator::table() const {
  if (!table_.empty()) return table_;
  if (formula_.kind == Formula::randsvd) table_ = randsvd_table(formula_, parameter_);
  if (formula_.kind == Formula::graded) table_ = graded_table(n(), parameter_);
  if (formula_.kind == Formula::bem) table_ = bem_table(panels_a_side(n()));
  return table_;
}

void generate(Queue<Cpu>& q, const Generator& generator, MatrixView<double, Cpu> A, std::int64_t first,
              std::int64_t first_row) {
  if (A.empty()) return;
  constexpr double work_of_an_element = 16;
  Formula f = generator.formula();
  f.table = generator.table().data();
  on_shares(q, A.cols(), work_of_an_element * double(A.rows()) * double(A.cols()),
            [&](std::int64_t j0, std::int64_t n) {
              for (std::int64_t j = j0; j < j0 + n; ++j)
                for (std::int64_t i = 0; i < A.rows(); ++i) A(i, j) = f(first_row + i, first + j);
            });
}

/// A.rows() and A.cols(), and A(i, j).
template <class AnyMatrix>
static Matrix<double> row_sums_of(Queue<Cpu>& q, const AnyMatrix& A) {
  Matrix<double> b(A.rows(), 1);
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()), [&](std::int64_t first, std::int64_t m) {
    for (std::int64_t i0 = first; i0 < first + m; i0 += 256) {
      const std::int64_t end = std::min(i0 + 256, first + m);
      for (std::int64_t i = i0; i < end; ++i) b(i, 0) = 0;
      for (std::int64_t j = 0; j < A.cols(); ++j)
        for (std::int64_t i = i0; i < end; ++i) b(i, 0) += A(i, j);
    }
  });
  return b;
}

Matrix<double> row_sums(Queue<Cpu>& q, const SystemMatrix<double, Cpu>& A) {
  return std::visit(
      [&]<class M>(const M& a) -> Matrix<double> {
        if constexpr (is_spread<M>)
          throw std::logic_error("lasolve: row sums are asked of what is in no memory as a whole");
        else
          return row_sums_of(q, a);
      },
      A);
}

}  // namespace lasolve::io
