// solve(): one system, or a batch of them.
#include <nanobind/stl/vector.h>

#include <string>
#include <variant>

#include "lasolve/async.hpp"
#include "parts.hpp"

namespace lasolve::python {
namespace {

std::string sizes(const Array& array) {
  std::string text;
  for (int i = 0; i < array.dimensions(); ++i) text += (i ? ", " : "") + std::to_string(array.size(i));
  return "(" + text + (array.dimensions() == 1 ? ",)" : ")");
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

/// A system, the batches that it is, and x, which is not written to yet.
struct Call : System {
  Call(nb::handle given_a, nb::handle given_b, bool overwrite_b) : System(given_a, given_b) {
    require_sizes(*this);
    batches.add(A, 2);
    if (!column()) batches.add(B, 2);
    std::vector<std::int64_t> shape = batches.shape();
    shape.push_back(order());
    if (!column()) shape.push_back(B.size(B.dimensions() - 1));
    is_empty = order() == 0 || shape.back() == 0 || batches.count() == 0;
    if (overwrite_b && B.dimensions() == int(shape.size()) && batches.count() == 1 && by_columns(B) &&
        X.take(b, true)) {
      x = b;
      return;
    }
    x = empty_like(b, shape, A.is_double());
    X.require(x, true);
  }
  /// Where that can be made use of: one system, whose right-hand sides are no part of A.
  void may_overwrite_a(const Options& options) {
    if (batches.count() != 1 || is_empty || A.may_share_memory(B)) return;
    const auto found = [&]<class T>(T) {
      if (auto its = python::to_overwrite<T>(a, options)) to_overwrite = *its;
    };
    A.is_double() ? found(double()) : found(float());
  }
  std::int64_t order() const { return A.size(A.dimensions() - 1); }
  bool is_batch() const { return !batches.shape().empty(); }
  /// By LU, at most.
  double flops() const {
    const double n = double(order()), nrhs = column() ? 1 : double(B.size(B.dimensions() - 1));
    return double(batches.count()) * (n * n * n * 2 / 3 + n * n * 2 * nrhs);
  }
  bool by_columns(const Array& array) const {
    const int last = array.dimensions() - 1;
    return column() ? array.stride(0) == 1 : array.stride(last - 1) == 1 && array.stride(last) >= order();
  }
  template <class T>
  Borrowed<const T> a_of(std::int64_t i) const {
    return A.matrix<const T>(batches.offset(A, 2, i));
  }
  template <class T>
  Borrowed<const T> b_of(std::int64_t i) const {
    return B.matrix<const T>(column() ? 0 : batches.offset(B, 2, i), column());
  }
  template <class T>
  Borrowed<T> x_of(std::int64_t i) const {
    return X.matrix<T>(batches.offset(X, column() ? 1 : 2, i), column());
  }

  Batches batches;
  bool is_empty;
  std::variant<std::monostate, ToOverwrite<double>, ToOverwrite<float>> to_overwrite;
  nb::object x;
  Array X;
};

/// What is to be told after a call, and returned.
struct Reported {
  bool all;
  std::vector<std::pair<std::int64_t, Report>> reports;
  void add(std::int64_t number, Report&& report, bool is_double) {
    if (all || !is_clean(report, is_double)) reports.emplace_back(number, std::move(report));
  }
};

/// Of one system whose A is no more needed. What of A was factored by rows is its transpose.
template <class T>
Report solve_overwriting(const Call& call, const ToOverwrite<T>& A, const Options& options, Op op, After after) {
  Factorization<T> factors = factored_in_place(A, options, after);
  const Op op_of_stored = A.by_rows == (op == Op::none) ? Op::transpose : Op::none;
  Report report =
      combined(factors.report(), factors.solve(call.b_of<T>(0), call.x_of<T>(0), op_of_stored, after.stream));
  report.outcome.of_rows = A.by_rows;
  return report;
}

template <class T>
void solve_each(const Call& call, const Options& options, Op op, After after, Reported& reported) {
  const std::int64_t count = call.batches.count();
  const bool is_double = call.A.is_double();
  if (const auto* const A = std::get_if<ToOverwrite<T>>(&call.to_overwrite))
    return reported.add(0, solve_overwriting(call, *A, options, op, after), is_double);
  if (count > 1 && call.A.dimensions() == 2) {  // one A
    Factorization<T> factors(call.a_of<T>(0), options, after);
    for (std::int64_t i = 0; i < count; ++i)
      reported.add(i, combined(factors.report(), factors.solve(call.b_of<T>(i), call.x_of<T>(i), op, after.stream)),
                   is_double);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    reported.add(i, solve(call.a_of<T>(i), call.b_of<T>(i), call.x_of<T>(i), options, op, after), is_double);
}

void solve_each(const Call& call, const Options& options, bool transposed, Reported& reported) {
  if (call.is_empty) return;
  const After order = after(call.a, call.A.device());
  const Op op = transposed ? Op::transpose : Op::none;
  const Unlocked unlocked(call.order() * call.batches.count());
  call.A.is_double() ? solve_each<double>(call, options, op, order, reported)
                     : solve_each<float>(call, options, op, order, reported);
}

nb::object solve_arrays(nb::handle a, nb::handle b, bool overwrite_a, bool overwrite_b, bool check_finite,
                        bool transposed, nb::handle gemm, nb::handle precision, nb::handle accuracy, nb::handle device,
                        bool return_report, nb::handle options) {
  Asked asked;
  asked.options.allow_nonfinite = !check_finite;
  asked.set("device", device);
  asked.set("gemm", gemm);
  asked.set("precision", precision);
  asked.set("accuracy", accuracy);
  asked.set_all(options);
  Call call(a, b, overwrite_b);
  if (overwrite_a) call.may_overwrite_a(asked.options);
  watch(asked, call.flops(), call.A.device().kind == Device::cuda);
  Reported reported{return_report, {}};
  solve_each(call, asked.options, transposed, reported);
  for (const auto& [number, report] : reported.reports)
    if (!is_clean(report, call.A.is_double())) tell(report, call.is_batch() ? number : -1);
  const nb::object x = finished(call.b, std::move(call.x));
  if (!return_report) return x;
  if (!call.is_batch() && reported.reports.size() == 1)
    return nb::make_tuple(x, nb::cast(std::move(reported.reports[0].second)));
  nb::list reports;
  for (auto& [number, report] : reported.reports) reports.append(nb::cast(std::move(report)));
  return nb::make_tuple(x, reports);
}

/// x, and info in the memory of the factorization, which lives as long as info.
template <class T>
nb::object solve_async(Call& call, const Options& options, Op op) {
  if (call.is_batch()) throw std::invalid_argument("lasolve: solve_ex takes one matrix on CUDA, and no batch");
  const int device = call.A.device().index;
  auto* const factors =
      new AsyncFactorization<T>(call.a_of<T>(0), options, context_of(device, after(call.a, call.A.device()).stream));
  const nb::capsule owner(factors, [](void* p) noexcept { delete static_cast<AsyncFactorization<T>*>(p); });
  factors->solve_async(call.b_of<T>(0), call.x_of<T>(0), op);
  return nb::make_tuple(finished(call.b, std::move(call.x)), info_of(call.b, device, factors->failed_at(), owner));
}

nb::object solve_ex(nb::handle a, nb::handle b, bool transposed, nb::handle options) {
  Asked asked;
  asked.options.check = false;
  asked.options.allow_nonfinite = true;
  asked.options.condition = false;
  asked.set_all(options);
  Call call(a, b, false);
  if (call.A.device().kind == Device::cuda) {
    const Op op = transposed ? Op::transpose : Op::none;
    return call.A.is_double() ? solve_async<double>(call, asked.options, op)
                              : solve_async<float>(call, asked.options, op);
  }
  Reported reported{false, {}};
  solve_each(call, asked.options, transposed, reported);
  const nb::object info = nb::module_::import_("numpy").attr("full")(nb::cast(call.batches.shape()), -1, "int64");
  for (const auto& [number, report] : reported.reports)
    if (!report.outcome.has_solution()) info.attr("flat")[nb::int_(number)] = report.outcome.at;
  return nb::make_tuple(finished(call.b, std::move(call.x)), finished(call.b, info));
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
  m.def("solve_ex", solve_ex);
  m.def("solve", solve_arrays, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace lasolve::python
