#include "core/cuda/launch.cuh"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/cuda/count_for_tests.hpp"
#include "core/cuda/graph.hpp"
#include "core/process.hpp"

namespace lasolve {

bool has_room_for_cluster(const Queue<Cuda>& q, const void* kernel, unsigned blocks, unsigned threads,
                          std::size_t shared) {
  if (blocks <= 1) return true;
  if (!q.properties().has_clusters_of(int(blocks)) || shared > q.shared_memory()) return false;
  if (int(blocks) > q.multiprocessors())
    return false;  // parts of a device were made to have room for the largest clusters
  static std::mutex guard;
  constinit static NeverDestroyed<std::map<std::tuple<int, const void*, unsigned, unsigned, std::size_t>, bool>> kept;
  const std::lock_guard lock(guard);
  auto& known = kept.get();
  const std::tuple question{q.device(), kernel, blocks, threads, shared};
  if (const auto found = known.find(question); found != known.end()) return found->second;
  allow(q.device(), kernel, shared, true);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int at_once = 0;
  const bool asked = succeeded(cudaOccupancyMaxActiveClusters(&at_once, kernel, &config));
  return known[question] = asked && at_once > 0;  // not where there are too many blocks for any cluster
}

namespace {

/// What a kernel is allowed on a device.
struct Allowed {
  std::size_t shared = 0;
  bool cluster = false;
};

}  // namespace

void allow(int device, const void* kernel, std::size_t shared, bool cluster) {
  static std::mutex guard;
  constinit static NeverDestroyed<std::map<std::pair<const void*, int>, Allowed>> all;
  const std::lock_guard lock(guard);
  Allowed& allowed = all.get()[{kernel, device}];
  if (shared > allowed.shared) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
    allowed.shared = shared;
  }
  if (cluster && !allowed.cluster) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    allowed.cluster = true;
  }
}

namespace {

/// The grids of a device, or of a graph, whose blocks all wait for each other.
struct GridsOfDevice {
  ~GridsOfDevice() {
    if (ended) count_made(), succeeded(cudaEventDestroy(ended));
  }

  std::mutex guard;
  cudaStream_t last = nullptr;  // to which such a grid was given
  cudaEvent_t ended = nullptr;  // made when first needed
  bool waited_for = true;       // whether what `ended` was recorded for needs no wait

  void record() {
    if (!ended) count_made(), CUDA_CHECK(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventRecord(ended, last));
    waited_for = false;
  }
};

/// A graph's are not in order with any others: nobody knows beside what it is launched.
GridsOfDevice& grids_of(int device) {
  if (GraphMemory* const graph = InGraph::current()) {
    if (!graph->grids) graph->grids = std::make_shared<GridsOfDevice>();
    return *static_cast<GridsOfDevice*>(graph->grids.get());
  }
  static std::mutex guard;
  constinit static NeverDestroyed<std::map<int, GridsOfDevice>> all;
  const std::lock_guard lock(guard);
  return all.get()[device];
}

}  // namespace

std::unique_lock<std::mutex> wait_for_grids_of_others(const Queue<Cuda>& q) {
  GridsOfDevice& grids = grids_of(q.device());
  std::unique_lock lock(grids.guard);
  if (grids.last == q.stream()) return lock;
  if (grids.last) grids.record();
  if (!grids.waited_for) CUDA_CHECK(cudaStreamWaitEvent(q.stream(), grids.ended));
  grids.waited_for = true;
  grids.last = q.stream();
  return lock;
}

void forget_grids_of(int device, CUstream_st* stream) {
  GridsOfDevice& grids = grids_of(device);
  const std::lock_guard lock(grids.guard);
  if (grids.last != stream) return;
  try {
    grids.record();
  } catch (const MachineError&) {  // who uses the device next will hear of it
  }
  grids.last = nullptr;
}

}  // namespace lasolve
