// Streams of a caller's that are being captured in a CUDA graph.
#pragma once

#include <cstdint>
#include <optional>

struct CUstream_st;

namespace lasolve {

/// The number of the capture that a stream is in; none: it is not being captured.
std::optional<std::uint64_t> capture_of(CUstream_st*);

}  // namespace lasolve
