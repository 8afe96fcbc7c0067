// How many threads the OpenMP of a baseline solver can have.
#pragma once

#include <cstddef>

namespace lasolve::baseline_solvers {

/// Of so many that are wanted, the caller counted, how many there can be now, each with so much address space of its own. libgomp ends
/// the process where one cannot be made. 0: the caller has not so much either.
int openmp_threads(int wanted, std::size_t bytes_of_each);

}  // namespace lasolve::baseline_solvers
