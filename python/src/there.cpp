// Factors that are arrays on a CUDA device: made there, and solved with, in the order of the current stream of their library.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "lasolve/async.hpp"
#include "parts.hpp"

namespace lasolve::python {
namespace {

using Numbers = nb::ndarray<std::int64_t, nb::device::cuda, nb::ndim<1>, nb::c_contig>;

/// The options of what nobody waits for.
Options decided(const std::string& method) {
  Options options;
  options.factorization = method == "lu" ? Method::lu : Method::cholesky;
  if (method != "lu") options.triangle = Uplo::lower;
  options.check = false, options.condition = false, options.allow_nonfinite = true;
  return options;
}

const Context& current_context(nb::handle array, const Array& its) {
  return context_of(its.device().index, after(array, its.device()).stream);
}

/// A square matrix on a device by columns.
template <class T>
MatrixView<T, Cuda> columns(const Array& A) {
  const std::int64_t n = A.dimensions() == 2 ? A.size(0) : -1;
  if (A.device().kind != Device::cuda || n != A.size(1) || (n > 1 && (A.stride(0) != 1 || A.stride(1) < n)))
    throw std::invalid_argument("lasolve: factors on a device are a square matrix by columns");
  return {A.matrix<T>().data(), n, n, n > 1 ? A.stride(1) : std::max<std::int64_t>(n, 1)};
}

/// a ← its factors; pivots, where they are not None. Returns `info`, which solve_ex has, too.
template <class T>
nb::object factor(nb::handle a, const Array& A, const std::string& method, const std::optional<Numbers>& pivots) {
  auto* const factors =
      new AsyncFactorization<T>(Matrix<T, Cuda>::lent(columns<T>(A)), decided(method), current_context(a, A));
  const nb::capsule owner(factors, [](void* p) noexcept { delete static_cast<AsyncFactorization<T>*>(p); });
  if (pivots) factors->pivots_async(pivots->data());
  return info_of(a, A.device().index, factors->failed_at(), owner);
}

nb::object factor_there(nb::handle a, const std::string& method, const std::optional<Numbers>& pivots) {
  Array A;
  A.require(a, true);
  if (pivots && std::int64_t(pivots->shape(0)) != A.size(0))
    throw std::invalid_argument("lasolve: pivots are n numbers");
  return A.is_double() ? factor<double>(a, A, method, pivots) : factor<float>(a, A, method, pivots);
}

/// x ← op(A)⁻¹ b with the factors that factor_there() made, or others of the same form.
void solve_there(nb::handle lu, const std::string& method, const std::optional<Numbers>& pivots, nb::handle b,
                 nb::handle x, nb::handle trans) {
  Array A, B, X;
  A.require(lu), B.require(b), X.require(x, true);
  if (A.is_double() != B.is_double() || A.is_double() != X.is_double())
    throw nb::type_error("lasolve: factors and right-hand sides are of different types");
  if (pivots && std::int64_t(pivots->shape(0)) != A.size(0))
    throw std::invalid_argument("lasolve: pivots are n numbers");
  const auto with = [&]<class T>(T) {
    const std::int64_t* const given = pivots ? pivots->data() : nullptr;
    auto factors =
        AsyncFactorization<T>::of_factors(columns<const T>(A), given, decided(method), current_context(lu, A));
    factors.solve_async(B.matrix<const T>(), X.matrix<T>(), op_of(trans));
  };
  A.is_double() ? with(double()) : with(float());
}

}  // namespace

const Context& context_of(int device, CUstream_st* stream) {
  static auto* const known = new std::map<std::pair<int, CUstream_st*>, Context>();
  const auto found = known->find({device, stream});
  return found != known->end() ? found->second
                               : known->emplace(std::pair(device, stream), Context(device, stream)).first->second;
}

nb::object info_of(nb::handle like, int device, const std::int64_t* failed_at, const nb::capsule& owner) {
  const nb::ndarray<const std::int64_t> info(failed_at, 0, nullptr, owner, nullptr, nb::dtype<std::int64_t>(),
                                             nb::device::cuda::value, device);
  return function("_arrays", "of_kind")(like, nb::cast(info));
}

void bind_there(nb::module_& m) {
  m.def("message", [](const std::string& method, std::int64_t info) {
    return Outcome{method == "lu" ? Outcome::singular : Outcome::not_positive_definite, info}.message();
  });
  m.def("factor_there", factor_there, nb::arg(), nb::arg(), nb::arg().none());
  m.def("solve_there", solve_there, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace lasolve::python
