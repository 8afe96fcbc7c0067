// Factors in the place of A.
#include <algorithm>

#include "parts.hpp"

namespace lasolve::python {
namespace {

bool reads_again(const Options& o, Precision of_a) {
  const auto is_own = [=](Precision p) { return p == Precision::automatic || p == of_a; };
  const bool refines = o.refine != Refine::automatic && o.refine != Refine::none;
  const bool picks = o.factorization == Method::automatic && o.triangle != Uplo::both;
  return !is_own(o.precision) || !is_own(o.storage) || refines || picks || o.residual != Residual::working ||
         o.equilibrate == Wanted::on || o.accuracy != 0 || o.bounds || o.history || o.cards.size() > 1 ||
         o.device_memory > 0;
}

/// To another device A would be copied.
bool stays(const Device& of_a, const Device& asked) {
  if (of_a.kind == Device::cuda)
    return asked.kind == Device::automatic || (asked.kind == Device::cuda && asked.index == of_a.index);
  return asked.kind == Device::cpu || (asked.kind == Device::automatic && cuda_devices().names.empty());
}

}  // namespace

template <class T>
std::optional<ToOverwrite<T>> to_overwrite(nb::handle a, const Options& options) {
  Array A;
  if (reads_again(options, precision_of<T>) || !A.take(a, true) || !stays(A.device(), options.device)) return {};
  const int d = A.dimensions();
  const std::int64_t n = A.size(d - 1), by_row = A.stride(d - 2), by_column = A.stride(d - 1);
  const auto is_in_one_piece = [n](std::int64_t one, std::int64_t other) { return n == 1 || (one == 1 && other >= n); };
  const bool by_columns = is_in_one_piece(by_row, by_column);
  if (n == 0 || (!by_columns && !is_in_one_piece(by_column, by_row))) return {};
  const std::int64_t ld = n == 1 ? 1 : std::max(by_row, by_column);
  return ToOverwrite<T>{A.matrix<T>().data(), n, ld, !by_columns, A.device().kind == Device::cuda};
}

template <class T>
Factorization<T> factored_in_place(const ToOverwrite<T>& A, Options options, After after) {
  if (options.factorization == Method::automatic)
    options.factorization = Method::lu;  // Cholesky that fails leaves nothing
  if (A.by_rows && options.triangle != Uplo::both)
    options.triangle = options.triangle == Uplo::lower ? Uplo::upper : Uplo::lower;
  if (A.on_cuda) return Factorization<T>(A.template lent<Cuda>(), options, after);
  return Factorization<T>(A.template lent<Cpu>(), options);
}

#define LASOLVE_PYTHON_IN_PLACE(T)                                                 \
  template std::optional<ToOverwrite<T>> to_overwrite(nb::handle, const Options&); \
  template Factorization<T> factored_in_place(const ToOverwrite<T>&, Options, After);
LASOLVE_ELEMENTS(LASOLVE_PYTHON_IN_PLACE)

}  // namespace lasolve::python
