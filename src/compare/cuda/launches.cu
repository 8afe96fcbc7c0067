// Its own streams and events, not those of a queue: what becomes slower in a queue must show beside the yardstick.
#include "compare/launches.hpp"

#include <memory>
#include <new>
#include <vector>

#include "bench/product.hpp"
#include "core/cuda/check.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::compare {

namespace {

constexpr int rounds = 6, links_of_a_round = 16, streams = 2, loads = 4, repeats = 5;
static_assert(rounds * links_of_a_round * streams == launches_of_a_chain);
constexpr std::int64_t words = 1 << 20;

/// next[i] is the number that comes after i in a linear congruential generator of period `words` (Knuth, TAOCP 2, 3.2.1.2), so that
/// those who follow it are sent through all of the memory.
__global__ void lay(unsigned* next) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < unsigned(words)) next[i] = (1664525u * i + 1013904223u) & unsigned(words - 1);
}

__global__ void follow(const unsigned* next, unsigned* at) {
  unsigned i = *at;
  for (int step = 0; step < loads; ++step) i = __ldcg(next + i);
  *at = i;
}

/// Enqueues a kernel; a launch that fails is known by what it returns.
template <class... Parameters, class... Arguments>
void launch_on(cudaStream_t stream, unsigned blocks, unsigned threads, void (*kernel)(Parameters...),
               Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

struct Destroy {
  void operator()(CUstream_st* s) const noexcept { succeeded(cudaStreamDestroy(s)); }
  void operator()(CUevent_st* e) const noexcept { succeeded(cudaEventDestroy(e)); }
  void operator()(unsigned* pinned) const noexcept { succeeded(cudaFreeHost(pinned)); }
};

class Chain {
 public:
  explicit Chain(int device) : device_(device) {
    const CurrentDevice current(device);
    next_ = Matrix<unsigned, Cuda>(words, 1), at_ = Matrix<unsigned, Cuda>(1, 1);
    unsigned* host = nullptr;
    CUDA_CHECK(cudaMallocHost(&host, sizeof(unsigned)));
    host_.reset(host);
    for (int i = 0; i < streams; ++i) {
      cudaStream_t stream = nullptr;
      CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      stream_[i].reset(stream);
      cudaEvent_t event = nullptr;
      CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      event_[i].reset(event);
    }
    constexpr unsigned threads = 256;
    launch_on(stream_[0].get(), unsigned(words) / threads, threads, lay, next_.data());
    CUDA_CHECK(cudaMemsetAsync(at_.data(), 0, sizeof(unsigned), stream_[0].get()));
    CUDA_CHECK(cudaStreamSynchronize(stream_[0].get()));
  }
  ~Chain() {
    const CurrentDevice current(device_, std::nothrow);
    for (auto& stream : stream_) stream.reset();
    for (auto& event : event_) event.reset();
    host_.reset();
    next_ = Matrix<unsigned, Cuda>(), at_ = Matrix<unsigned, Cuda>();
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  double seconds() {
    const CurrentDevice current(device_);
    run();  // what ran before has driven it from the caches
    std::vector<double> all;
    for (int i = 0; i < repeats; ++i) {
      const Stopwatch watch;
      run();
      all.push_back(watch.seconds());
    }
    return bench::spread_of(all).median;
  }

 private:
  void run() {
    for (int round = 0; round < rounds; ++round) {
      for (int link = 0; link < links_of_a_round; ++link)
        for (int i = 0; i < streams; ++i) {
          launch_on(stream_[i].get(), 1, 1, follow, next_.data(), at_.data());
          CUDA_CHECK(cudaEventRecord(event_[i].get(), stream_[i].get()));
          CUDA_CHECK(cudaStreamWaitEvent(stream_[(i + 1) % streams].get(), event_[i].get()));
        }
      CUDA_CHECK(cudaMemcpyAsync(host_.get(), at_.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream_[0].get()));
      CUDA_CHECK(cudaStreamSynchronize(stream_[0].get()));
    }
  }

  int device_;
  Matrix<unsigned, Cuda> next_, at_;
  std::unique_ptr<unsigned, Destroy> host_;
  std::unique_ptr<CUstream_st, Destroy> stream_[streams];
  std::unique_ptr<CUevent_st, Destroy> event_[streams];
};

}  // namespace

std::function<double()> make_chain_of_launches(int device) {
  return [chain = std::make_shared<Chain>(device)] { return chain->seconds(); };
}

}  // namespace lasolve::compare
