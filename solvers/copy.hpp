// Copies between the host and a device, also where that is the host.
#pragma once

#include "core/transfer.hpp"

namespace lasolve {

/// Copies in the order of a queue to memory of the host, and back. On a device they are in core/transfer.hpp.
template <class T>
void copy(Queue<Cpu>& q, MatrixView<const T> from, MatrixView<T> to) {
  convert(q, from, to);
}

}  // namespace lasolve
