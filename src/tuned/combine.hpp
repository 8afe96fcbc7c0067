// A setting's backends as one.
#pragma once

#include <variant>

#include "tuned/setting.hpp"

namespace lasolve::tuned {

/// A record of the caller's.
using Record = std::variant<std::monostate, GemmBackend<Cpu>, GemmBackend<Cuda>>;

/// The setting's backend for a device; where it has one for small products, `record`, which leaves those to it. Throws UnknownName
/// and MachineError as choose() does.
GemmChoice gemm_of(const Setting&, const Device&, Record& record);

}  // namespace lasolve::tuned
