// GEMM backends of kernels that are somebody's own. A backend is a function without data, so there is a fixed number of places.
#pragma once

#include <string>

#include "own/adapter.hpp"

namespace lasolve::own {

inline constexpr std::size_t most_kernels = 16;

/// The backend of a kernel, in the table (core/backend_table.hpp) from now on. Throws std::invalid_argument where the name is taken,
/// or most_kernels are there.
const GemmBackend<Cpu>& add_backend(const lasolve_kernel&, const std::string& name);

/// That of such a backend, by its name; null: it is no kernel of somebody's own.
Adapter* adapter_of(const std::string& name);

}  // namespace lasolve::own
