// The card that others are pretended on.
#pragma once

#include "core/device_properties.hpp"

namespace lasolve::test {

inline DeviceProperties h200() { return card("h200"); }

}  // namespace lasolve::test
