// The sources of memory that a thread was given.
#pragma once

#include "lasolve/memory.hpp"

namespace lasolve {

struct MemorySources {
  const MemorySource *host = nullptr, *device = nullptr;  ///< null: our own
};
inline thread_local constinit MemorySources sources_of_thread;

}  // namespace lasolve
