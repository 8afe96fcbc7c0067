#include "core/cuda/wait_limit.hpp"

#include <cmath>
#include <mutex>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

std::mutex wait_guard;
std::vector<WaitLimit*>& unused() {
  constinit static NeverDestroyed<std::vector<WaitLimit*>> all;
  return all.get();
}

}  // namespace

std::string WaitLimit::complaint() const {
  const auto part = [&](int shift) { return std::to_string(expired >> shift & 0xfffffff); };
  const std::string which = part(28), of = part(0);
  const auto [kernel, what] = [&]() -> std::pair<const char*, std::string> {
    switch (Awaited(expired >> 56)) {
      case Awaited::candidate:
        return {"the LU panel", "block " + which + " of " + of};
      case Awaited::rest_of_candidate:
        return {"the LU panel", "the candidate of step " + which + " from one of " + of + " blocks"};
      case Awaited::pivot_row:
        return {"the LU panel", "the pivot row of step " + which + " from one of " + of + " blocks"};
      case Awaited::panel:
        return {"the LU panel", "all of its " + of + " blocks"};
      case Awaited::unknowns:
        return {"the triangular solve", "block " + which + " of " + of + " of its unknowns"};
      case Awaited::part_of_U:
        return {"the kernel between two panels", "part " + which + " of U from " + of + " blocks"};
      default:
        return {"a kernel", "packet " + which + " of " + of};
    }
  }();
  const double seconds = double(ticks) * seconds_a_tick;
  const std::string time =
      seconds < 1 ? std::to_string(std::lround(1e3 * seconds)) + " ms" : std::to_string(std::lround(seconds)) + " s";
  return std::string("CUDA: ") + kernel + " waited " + time + " for " + what +
         ": another program, or another kernel, may hold the device";
}

OwnedWaitLimit::OwnedWaitLimit() {
  const std::lock_guard lock(wait_guard);
  if (unused().empty()) {
    void* memory = nullptr;
    count_made();
    CUDA_CHECK(cudaHostAlloc(&memory, sizeof(WaitLimit), cudaHostAllocPortable | cudaHostAllocMapped));
    limit_ = static_cast<WaitLimit*>(memory);
  } else {
    limit_ = unused().back();
    unused().pop_back();
  }
  reset();
}

OwnedWaitLimit::~OwnedWaitLimit() {
  const std::lock_guard lock(wait_guard);
  if (!limit_->has_expired()) unused().push_back(limit_);  // else a kernel that is not done may write once more
}

}  // namespace lasolve
