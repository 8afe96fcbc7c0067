#include "core/cuda/graph.hpp"

#include <mutex>

#include "core/capture.hpp"
#include "core/cuda/check.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

struct Capture {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
};

Capture asked(cudaStream_t stream) {
  Capture its;
#if CUDART_VERSION >= 13000
  CUDA_CHECK(cudaStreamGetCaptureInfo(stream, &its.status, &its.id, &its.graph, nullptr, nullptr, nullptr));
#else
  CUDA_CHECK(cudaStreamGetCaptureInfo_v2(stream, &its.status, &its.id, &its.graph, nullptr, nullptr));
#endif
  return its;
}

using Kept = std::shared_ptr<void>;

struct Ended {
  std::mutex guard;
  std::vector<Kept> all;
};
Ended& ended() {
  constinit static NeverDestroyed<Ended> those;
  return those.get();
}

void CUDART_CB ends(void* kept) { delete static_cast<Kept*>(kept); }

}  // namespace

std::optional<std::uint64_t> capture_of(CUstream_st* stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) return {};  // which cannot be
  const Capture its = asked(stream);
  if (its.status == cudaStreamCaptureStatusNone) return {};
  return its.id;
}

void keep_with_graph(cudaStream_t stream, std::shared_ptr<void> what) {
  const cudaGraph_t graph = asked(stream).graph;
  auto kept = std::make_unique<Kept>(std::move(what));
  cudaUserObject_t object = nullptr;
  CUDA_CHECK(cudaUserObjectCreate(&object, kept.get(), ends, 1, cudaUserObjectNoDestructorSync));
  kept.release();
  const cudaError_t e = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  if (e != cudaSuccess) succeeded(cudaUserObjectRelease(object));
  check(e, "cudaGraphRetainUserObject", __FILE__, __LINE__);
}

void let_go_later(std::shared_ptr<void> what) {
  Ended& those = ended();
  const std::lock_guard lock(those.guard);
  those.all.push_back(std::move(what));
}

void let_go_of_graphs() noexcept {
  std::vector<Kept> all;
  Ended& those = ended();
  {
    const std::lock_guard lock(those.guard);
    all.swap(those.all);
  }
  if (all.empty()) return;
  const WhileCapturing relaxed;
  all.clear();
}

}  // namespace lasolve
