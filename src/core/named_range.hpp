// Names of what the host gives a device, for Nsight.
#pragma once

#include "lasolve/queue.hpp"

#if defined(__CUDACC__) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define LASOLVE_HAS_NVTX
#endif

namespace lasolve {

/// What this thread gives a device while this lives has a name, where a tool listens. On the CPU it has none.
template <class Space>
struct NamedRange {
  explicit NamedRange(const char*) {}
};

#ifdef LASOLVE_HAS_NVTX
template <>
struct NamedRange<Cuda> {
  explicit NamedRange(const char* name) { nvtxRangePushA(name); }
  ~NamedRange() { nvtxRangePop(); }
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
};
#undef LASOLVE_HAS_NVTX
#endif

}  // namespace lasolve
