// What a CUDA graph has of ours. A graph works in the memory that it was captured with, whenever it is launched. So calls on a stream
// that is being captured have queues and memory that no other call has, and the graph keeps them until it ends.
//
// CUDA could allocate within the graph (cudaMallocAsync). Such a graph cannot be instantiated twice, and memory that outlives a launch, as
// that of `failed_at()`, would have to be freed by the caller.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace lasolve {

/// While this lives, this thread may make memory, streams and events, whoever captures a stream (cudaStreamCaptureModeGlobal forbids it).
class WhileCapturing {
 public:
  WhileCapturing() noexcept { exchange(); }
  ~WhileCapturing() { exchange(); }
  WhileCapturing(const WhileCapturing&) = delete;
  WhileCapturing& operator=(const WhileCapturing&) = delete;

 private:
  void exchange() noexcept {
    if (cudaThreadExchangeStreamCaptureMode(&mode_) != cudaSuccess) cudaGetLastError();
  }
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Memory that is given back when this ends.
class GraphMemory {
 public:
  GraphMemory() = default;
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  /// Null where memory is short.
  void* allocate(int device, std::size_t bytes);

  std::shared_ptr<void> grids;  ///< those of the graph that wait for each other: see launch.cu

 private:
  std::vector<void*> all_;
};

/// While this lives, what this thread does on a device is for a graph. Null: it is not.
class InGraph {
 public:
  explicit InGraph(GraphMemory* graph) noexcept : before_(std::exchange(of_thread, graph)) {}
  ~InGraph() { of_thread = before_; }
  InGraph(const InGraph&) = delete;
  InGraph& operator=(const InGraph&) = delete;

  static GraphMemory* current() noexcept { return of_thread; }

 private:
  static inline thread_local constinit GraphMemory* of_thread = nullptr;
  GraphMemory* before_;
  WhileCapturing relaxed_;
};

/// Has the graph that a stream is being captured in keep something, until neither it nor what was instantiated of it can be launched.
void keep_with_graph(cudaStream_t, std::shared_ptr<void>);
/// Lets go of what was kept by graphs that have ended, which may not be done when they end: CUDA forbids calls of it then.
void let_go_of_graphs() noexcept;

}  // namespace lasolve
