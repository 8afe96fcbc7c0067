// GEMM backends of kernels that are somebody's own.
#pragma once

#include <optional>
#include <string>

#include "lasolve/lasolve.hpp"
#include "plugin/adapter.hpp"

namespace lasolve::plugin {

/// The backend of a kernel where its memory is, in the table (core/backend_table.hpp) from now on; lasolve/plugin.hpp makes those that are
/// not. Throws std::invalid_argument where the name is taken.
void add_backend(const lasolve_kernel&, const std::string& name, WhyFailed = nullptr);

/// Where the kernel of such a backend computes; none: it is no kernel of somebody's own.
std::optional<Device::Kind> device_kind_of(const std::string& name);

/// What the adapter of such a backend has cost since this was last asked.
Cost take_cost(const std::string& name);
/// Of such a backend, or of all: throws KernelFault where a kernel wrote beside a matrix, see Adapter::require_intact().
void require_intact(const std::string& name = {});

}  // namespace lasolve::plugin
