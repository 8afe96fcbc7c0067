// A matrix that comes a few columns at a time.
#pragma once

#include <functional>

#include "lasolve/queue.hpp"

namespace lasolve {

/// Enqueues what writes columns first, first + 1, … of a matrix.
template <class T, class Space>
using Supply = std::function<void(Queue<Space>&, std::int64_t first, MatrixView<T, Space> columns)>;

}  // namespace lasolve
