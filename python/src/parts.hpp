// The parts of the module.
#pragma once

#include "arrays.hpp"
#include "options.hpp"

namespace lasolve::python {

void bind_solve(nb::module_&);
void bind_factorization(nb::module_&);
void bind_report(nb::module_&);

/// A and B as arrays of one type, prepared by lasolve._arrays where they are not, in memory that lives as long as this.
struct System {
  System(nb::handle a, nb::handle b);
  nb::object a, b;
  Array A, B;
  bool column() const { return B.dimensions() == 1; }
};

/// Throws LinAlgError, or warns, where a report says so: lasolve._errors is the one place that knows how.
void tell(const Report&, std::int64_t batch = -1);
/// Whether there is anything to tell.
bool is_clean(const Report&, bool is_double);

Op op_of(nb::handle trans);

}  // namespace lasolve::python
