// OpenBLAS, loaded when it is first needed. It must be the OpenMP variant: for it, how many threads to use is a setting of each
// calling thread; the variant with threads of its own has one setting for the whole program, and the one without threads cannot
// be called by several. Even where the program around us has an OpenBLAS, ours binds to nothing of it, and nothing to ours. Where
// the program's malloc, or a sanitizer's, leaves no way to do that, ours is not loaded beside it.
#pragma once

#include <cstddef>

#include "core/shared_library.hpp"

namespace lasolve {

/// Of each thread that is in OpenBLAS.
constexpr std::size_t openblas_buffer_bytes = std::size_t(128) << 20;
/// It has room for the buffers of at least so many threads, and crashes where there are many more.
constexpr int most_openblas_threads = 64;

/// The library. Throws OutOfMemory where limits leave less than it makes as it is loaded: it would ask for that for ever. Throws
/// MachineError where it is not there, or is another variant.
void* openblas();

template <class Function>
Function openblas_function(const char* name) {
  return function_of<Function>(openblas(), "OpenBLAS", name);
}

/// Whether limits of address space leave so much.
bool address_space_is_left(std::size_t bytes);

}  // namespace lasolve
