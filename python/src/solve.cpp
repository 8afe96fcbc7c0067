// solve(): one system, or a batch of them.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "parts.hpp"

namespace lasolve::python {
namespace {

std::string sizes(const Array& array) {
  std::string text;
  for (int i = 0; i < array.dimensions(); ++i) text += (i ? ", " : "") + std::to_string(array.size(i));
  return "(" + text + ")";
}

void require_sizes(const System& s) {
  const int d = s.A.dimensions();
  if (d < 2 || s.A.size(d - 1) != s.A.size(d - 2))
    throw std::invalid_argument("lasolve: a is to be square, and has the shape " + sizes(s.A));
  const int e = s.B.dimensions();
  if (e == 0 || s.B.size(s.column() ? 0 : e - 2) != s.A.size(d - 1))
    throw std::invalid_argument("lasolve: a and b do not go together: their shapes are " + sizes(s.A) + " and " +
                                sizes(s.B));
  if (s.A.device().kind != s.B.device().kind || s.A.device().index != s.B.device().index)
    throw std::invalid_argument("lasolve: a and b are on different devices");
}

/// What is to be told after a call, and returned.
struct Told {
  bool all;
  std::vector<std::pair<std::int64_t, Report>> reports;
  void add(std::int64_t number, Report&& report, bool is_double) {
    if (all || !is_clean(report, is_double)) reports.emplace_back(number, std::move(report));
  }
};

template <class T>
void solve_each(const System& s, Array& X, const Batches& batches, const Options& options, Op op, After after,
                Told& told) {
  const int core = s.column() ? 1 : 2;
  const std::int64_t count = batches.count();
  const auto a = [&](std::int64_t i) { return s.A.matrix<const T>(batches.offset(s.A, 2, i)); };
  const auto b = [&](std::int64_t i) {
    return s.B.matrix<const T>(s.column() ? 0 : batches.offset(s.B, 2, i), s.column());
  };
  const auto x = [&](std::int64_t i) { return X.matrix<T>(batches.offset(X, core, i), s.column()); };
  const bool is_double = std::is_same_v<T, double>;
  if (count > 1 && s.A.dimensions() == 2) {  // one A
    Factorization<T> factors(a(0), options, after);
    for (std::int64_t i = 0; i < count; ++i)
      told.add(i, together(factors.report(), factors.solve(b(i), x(i), op, after.stream)), is_double);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) told.add(i, solve(a(i), b(i), x(i), options, op, after), is_double);
}

nb::object solve_arrays(nb::handle a, nb::handle b, bool overwrite_b, bool check_finite, bool transposed,
                        nb::handle gemm, nb::handle precision, nb::handle accuracy, nb::handle device,
                        bool return_report, nb::handle options) {
  Asked asked;
  asked.options.allow_nonfinite = !check_finite;
  asked.set("device", device);
  asked.set("gemm", gemm);
  asked.set("precision", precision);
  asked.set("accuracy", accuracy);
  asked.set_all(options);

  const System s(a, b);
  require_sizes(s);
  Batches batches;
  batches.add(s.A, 2);
  if (!s.column()) batches.add(s.B, 2);
  std::vector<std::int64_t> shape = batches.shape();
  const std::int64_t n = s.A.size(s.A.dimensions() - 1);
  shape.push_back(n);
  if (!s.column()) shape.push_back(s.B.size(s.B.dimensions() - 1));
  watch(asked, n);

  nb::object x;
  Array X;
  const int last = s.B.dimensions() - 1;
  const bool in_place = overwrite_b && s.B.dimensions() == int(shape.size()) && batches.count() == 1 &&
                        (s.column() ? s.B.stride(0) == 1 : s.B.stride(last - 1) == 1 && s.B.stride(last) >= n);
  if (in_place && X.take(s.b, true)) {
    x = s.b;
  } else {
    x = empty_like(s.b, shape, s.A.is_double());
    X.require(x, true);
  }

  Told told{return_report, {}};
  if (n > 0 && shape.back() > 0 && batches.count() > 0) {
    const After order = after(s.a, s.A.device());
    const Op op = transposed ? Op::transpose : Op::none;
    const Unlocked unlocked(n);
    if (s.A.is_double())
      solve_each<double>(s, X, batches, asked.options, op, order, told);
    else
      solve_each<float>(s, X, batches, asked.options, op, order, told);
  }
  const bool is_batch = !batches.shape().empty();
  for (const auto& [number, report] : told.reports)
    if (!is_clean(report, s.A.is_double())) tell(report, is_batch ? number : -1);
  x = finished(s.b, std::move(x));
  if (!return_report) return x;
  if (!is_batch && told.reports.size() == 1) return nb::make_tuple(x, nb::cast(std::move(told.reports[0].second)));
  nb::list reports;
  for (auto& [number, report] : told.reports) reports.append(nb::cast(std::move(report)));
  return nb::make_tuple(x, reports);
}

}  // namespace

System::System(nb::handle given_a, nb::handle given_b) : a(nb::borrow(given_a)), b(nb::borrow(given_b)) {
  if (A.take(a) && A.dimensions() >= 2 && B.take(b) && B.dimensions() >= 1 && A.is_double() == B.is_double()) return;
  const nb::object both = function("_arrays", "prepare")(a, b);
  a = both[0], b = both[1];
  A.require(a);
  B.require(b);
}

bool is_clean(const Report& report, bool is_double) {
  return report.outcome.ok() && (!report.rcond || *report.rcond >= (is_double ? 0x1p-53 : 0x1p-24));
}

void tell(const Report& report, std::int64_t batch) {
  function("_errors", "tell")(nb::cast(report), batch < 0 ? nb::none() : nb::object(nb::int_(batch)));
}

void bind_solve(nb::module_& m) {
  m.def("solve", solve_arrays, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace lasolve::python
