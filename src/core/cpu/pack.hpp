// Columns of bytes, packed one after the other and unpacked again, on the cores of a queue.
#pragma once

#include <cstddef>

#include "lasolve/queue.hpp"

namespace lasolve {

/// packed[0, bytes·columns) ← columns of `bytes` bytes that begin `pitch` bytes apart.
void pack(const Queue<Cpu>&, const char* first, std::size_t pitch, std::size_t bytes, std::size_t columns,
          char* packed);
/// The reverse.
void unpack(const Queue<Cpu>&, const char* packed, char* first, std::size_t pitch, std::size_t bytes,
            std::size_t columns);

}  // namespace lasolve
