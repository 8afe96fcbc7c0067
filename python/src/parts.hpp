// The parts of the module.
#pragma once

#include <cstdint>
#include <optional>

#include "arrays.hpp"
#include "lasolve/context.hpp"
#include "options.hpp"

namespace lasolve::python {

void bind_solve(nb::module_&);
void bind_factorization(nb::module_&);
void bind_report(nb::module_&);
void bind_there(nb::module_&);

/// A and B as arrays of one type, prepared by lasolve._arrays where they are not, in memory that lives as long as this.
struct System {
  System(nb::handle a, nb::handle b);
  nb::object a, b;
  Array A, B;
  bool column() const { return B.dimensions() == 1; }
};

/// The memory of A, which its factors may take the place of: by columns, or, of a matrix by rows, that of its transpose.
template <class T>
struct ToOverwrite {
  T* data;
  std::int64_t n, ld;
  bool by_rows, on_cuda;

  template <class Space>
  Matrix<T, Space> lent() const {
    return Matrix<T, Space>::lent({data, n, n, ld});
  }
};
/// Nothing where an array may not be written to, or neither its rows nor its columns lie in one piece, or where A is read again: to refine,
/// to bound errors, or because it is not known yet whether it is positive definite; or where another device than its own may solve.
template <class T>
std::optional<ToOverwrite<T>> to_overwrite(nb::handle a, const Options& options);
/// The factors in the place of A, which solutions are not checked with.
template <class T>
Factorization<T> factored_in_place(const ToOverwrite<T>&, Options options, After);

/// Throws LinAlgError, or warns, where a report says so: lasolve._errors is the one place that knows how.
void tell(const Report&, std::int64_t batch = -1);
/// Whether there is anything to tell.
bool is_clean(const Report&, bool is_double);

Op op_of(nb::handle trans);

/// The context of a device and a stream: made once.
const Context& context_of(int device, CUstream_st* stream);
/// Where a factorization on a device failed, as an array of the kind of `like`, whose memory has an owner.
nb::object info_of(nb::handle like, int device, const std::int64_t* failed_at, const nb::capsule& owner);

}  // namespace lasolve::python
