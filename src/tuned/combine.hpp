// A setting's backends as one.
#pragma once

#include "tuned/setting.hpp"

namespace lasolve::tuned {

/// The setting's backend for a device; where it has one for small products, as one record that leaves those to it, which is there until
/// the program ends. Throws UnknownName and MachineError as choose() does.
GemmChoice gemm_of(const Setting&, const Device&);

}  // namespace lasolve::tuned
