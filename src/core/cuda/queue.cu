#include <optional>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/transfer.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

struct Queue<Cuda>::State {
  struct Mark {
    Phase phase;
    double flops;
  };
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  std::vector<Mark> marks;          // phases since finish(); phase i runs from events[i] to events[i + 1]
  std::vector<cudaEvent_t> events;  // made once, used again
  PhaseTimes times;
  double flops_done = 0;
  std::function<void(double)> progress;
  Matrix<char, Cuda> scratch;

  ~State() {
    for (cudaEvent_t e : events) cudaEventDestroy(e);
    if (solver) cusolverDnDestroy(solver);
    if (blas) cublasDestroy(blas);
    if (stream) cudaStreamDestroy(stream);
  }
  void record(std::size_t i) {
    if (i == events.size()) CUDA_CHECK(cudaEventCreate(&events.emplace_back()));
    CUDA_CHECK(cudaEventRecord(events[i], stream));
  }
};

Queue<Cuda>::Queue(int device) : state_(std::make_unique<State>()) {
  state_->device = device;
  CUDA_CHECK(cudaSetDevice(device));
  CUDA_CHECK(cudaStreamCreateWithFlags(&state_->stream, cudaStreamNonBlocking));
  CUDA_CHECK(cublasCreate(&state_->blas));
  CUDA_CHECK(cublasSetStream(state_->blas, state_->stream));
  CUDA_CHECK(cusolverDnCreate(&state_->solver));
  CUDA_CHECK(cusolverDnSetStream(state_->solver, state_->stream));
}
Queue<Cuda>::~Queue() = default;

int Queue<Cuda>::device() const { return state_->device; }
CUstream_st* Queue<Cuda>::stream() const { return state_->stream; }
cublasContext* Queue<Cuda>::blas() const { return state_->blas; }
cusolverDnContext* Queue<Cuda>::solver() const { return state_->solver; }

void Queue<Cuda>::phase(Phase p, double flops) {
  state_->record(state_->marks.size());
  state_->marks.push_back({p, flops});
}

void Queue<Cuda>::finish() {
  State& s = *state_;
  if (!s.marks.empty()) s.record(s.marks.size());
  for (std::size_t i = 0; i < s.marks.size(); ++i) {
    CUDA_CHECK(cudaEventSynchronize(s.events[i + 1]));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, s.events[i], s.events[i + 1]));
    s.times.seconds_of(s.marks[i].phase) += 1e-3 * double(milliseconds);
    s.times.flops[std::size_t(s.marks[i].phase)] += s.marks[i].flops;
    s.flops_done += s.marks[i].flops;
    if (s.progress) s.progress(s.flops_done);
  }
  s.marks.clear();
  CUDA_CHECK(cudaStreamSynchronize(s.stream));
}

PhaseTimes Queue<Cuda>::take_times() {
  state_->flops_done = 0;
  return std::exchange(state_->times, {});
}

void Queue<Cuda>::on_progress(std::function<void(double)> progress) { state_->progress = std::move(progress); }

void* Queue<Cuda>::scratch_bytes(std::size_t bytes) {
  if (bytes > state_->scratch.bytes()) {
    CUDA_CHECK(cudaStreamSynchronize(state_->stream));
    state_->scratch = {};
    state_->scratch = Matrix<char, Cuda>(std::int64_t(bytes), 1);
  }
  return state_->scratch.data();
}

void copy_columns(Queue<Cuda>& q, Direction direction, void* to, std::size_t to_pitch, const void* from,
                  std::size_t from_pitch, std::size_t bytes, std::size_t columns) {
  if (bytes == 0 || columns == 0) return;
  const auto kind = direction == Direction::to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (columns == 1 || (to_pitch == bytes && from_pitch == bytes))
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes * columns, kind, q.stream()));
  else
    CUDA_CHECK(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, columns, kind, q.stream()));
}

}  // namespace lasolve
