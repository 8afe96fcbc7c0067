// How many threads the OpenMP of a peer can have.
#pragma once

#include <cstddef>

namespace lasolve::peers {

/// Of so many that are wanted, how many can be made now, each with so much address space of its own. libgomp ends the process where
/// one cannot be made. Throws OutOfMemory where there is not room for one.
int openmp_threads(int wanted, std::size_t bytes_of_each);

}  // namespace lasolve::peers
