#include "core/cuda/arrival.hpp"

#include <map>

#include "core/ceil_div.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {
constexpr std::size_t chunk_bytes = std::size_t(32) << 20;
constexpr std::size_t most_idle_lines = 2;
}  // namespace

/// A stream and its events, which are made once and used again.
struct Arrival::Line {
  explicit Line(int device) : device(device) {
    count_made();
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~Line() {
    for (cudaEvent_t event : events) count_made(), succeeded(cudaEventDestroy(event));
    if (stream) count_made(), succeeded(cudaStreamDestroy(stream));
  }
  /// The idle ones of all devices.
  static std::map<int, std::vector<std::unique_ptr<Line>>>& idle() {
    constinit static NeverDestroyed<std::map<int, std::vector<std::unique_ptr<Line>>>> all;
    return all.get();
  }
  static std::mutex& guard() {
    static std::mutex one;
    return one;
  }

  int device;
  cudaStream_t stream = nullptr;
  std::vector<cudaEvent_t> events;  // [0]: the start, [i]: chunks before i are there
};

std::unique_ptr<Arrival::Line> Arrival::line_of(int device, std::size_t events) {
  std::unique_ptr<Line> line;
  {
    const std::lock_guard lock(Line::guard());
    if (auto& idle = Line::idle()[device]; !idle.empty()) line = std::move(idle.back()), idle.pop_back();
  }
  if (!line) line = std::make_unique<Line>(device);
  while (line->events.size() < events) {
    cudaEvent_t& event = line->events.emplace_back();
    count_made();
    CUDA_CHECK(cudaEventCreate(&event));
  }
  return line;
}

void Arrival::give_back(std::unique_ptr<Line> line) noexcept {
  const CurrentDevice current(line->device, std::nothrow);
  if (!succeeded(cudaStreamSynchronize(line->stream))) return;
  try {
    const std::lock_guard lock(Line::guard());
    if (auto& idle = Line::idle()[line->device]; idle.size() < most_idle_lines) idle.push_back(std::move(line));
  } catch (const std::bad_alloc&) {  // then it is not kept
  }
}

Arrival::Arrival(const Queue<Cuda>& q, const Copy& copy)
    : device_(q.device()),
      chunk_(std::int64_t(std::max<std::size_t>(1, chunk_bytes / std::max<std::size_t>(1, copy.bytes)))),
      most_marks_(std::size_t(ceil_div(copy.columns, chunk_) + 1)) {
  const CurrentDevice current(device_);
  line_ = line_of(device_, most_marks_);
  // After the queue, in whose order the memory was taken.
  CUDA_CHECK(cudaEventRecord(line_->events[0], q.stream()));
  CUDA_CHECK(cudaStreamWaitEvent(line_->stream, line_->events[0]));
  try {
    thread_ = std::thread([this, copy] { run(copy); });
  } catch (const std::system_error&) {  // no more threads can be had: the copy comes first, then the work
    run(copy);
  }
}

Arrival::~Arrival() {
  if (thread_.joinable()) thread_.join();
  give_back(std::move(line_));
}

void Arrival::run(const Copy& copy) try {
  const CurrentDevice current(device_);
  mark();
  for (std::int64_t j = 0; j < copy.columns; j += chunk_) {
    const auto place = std::size_t(j);
    copy_columns(line_->stream, Direction::to_device, static_cast<char*>(copy.to) + place * copy.to_pitch,
                 copy.to_pitch, static_cast<const char*>(copy.from) + place * copy.from_pitch, copy.from_pitch,
                 copy.bytes, std::size_t(std::min(chunk_, copy.columns - j)), Haste::beside_work);
    mark();
  }
} catch (...) {
  const std::lock_guard lock(guard_);
  failed_ = std::current_exception();
  changed_.notify_all();
}

void Arrival::mark() {
  CUDA_CHECK(cudaEventRecord(line_->events[marked_], line_->stream));
  const std::lock_guard lock(guard_);
  ++marked_;
  changed_.notify_all();
}

void Arrival::until_marked(std::size_t events) {
  std::unique_lock lock(guard_);
  changed_.wait(lock, [&] { return marked_ >= events || failed_; });
  if (failed_) std::rethrow_exception(failed_);
}

void Arrival::await(Queue<Cuda>& q, std::int64_t columns) {
  const auto chunks = std::size_t(ceil_div(columns, chunk_));
  until_marked(chunks + 1);
  q.wait(line_->events[chunks]);
}

double Arrival::seconds() {
  until_marked(most_marks_);
  const cudaEvent_t first = line_->events[0], last = line_->events[most_marks_ - 1];
  count_wait();
  CUDA_CHECK(cudaEventSynchronize(last));
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, first, last));
  return 1e-3 * double(milliseconds);
}

}  // namespace lasolve
