// Columns of bytes, packed one after the other and unpacked again, on the cores of a queue.
#pragma once

#include <cstddef>

#include "lasolve/queue.hpp"

namespace lasolve {

/// Whether what is written is in the caches afterwards.
enum class Stores { cached, past_caches };

/// packed[0, bytes·columns) ← columns of `bytes` bytes that begin `pitch` bytes apart.
void pack(const Queue<Cpu>&, const char* first, std::size_t pitch, std::size_t bytes, std::size_t columns, char* packed,
          Stores = Stores::cached);
/// The reverse.
void unpack(const Queue<Cpu>&, const char* packed, char* first, std::size_t pitch, std::size_t bytes,
            std::size_t columns, Stores = Stores::cached);

}  // namespace lasolve
