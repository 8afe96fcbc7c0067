// Copies between memory of the host of any kind and a CUDA device, on a stream.
#pragma once

#include <cuda_runtime.h>

#include "core/transfer.hpp"

namespace lasolve {

/// Whether the work that follows takes all of a copy, or it goes on beside that work and is followed by others like it.
enum class Haste { before_work, beside_work };

/// As copy_columns of core/transfer.hpp, on any stream of a device, which is the current one.
void copy_columns(cudaStream_t, Direction, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t bytes, std::size_t columns, Haste);

}  // namespace lasolve
