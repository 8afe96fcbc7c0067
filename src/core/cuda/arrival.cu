#include "core/ceil_div.hpp"
#include "core/cuda/arrival.hpp"

#include "core/cuda/check.hpp"

namespace lasolve {

namespace {
constexpr std::size_t chunk_bytes = std::size_t(32) << 20;
}

Arrival::Arrival(int device, const Copy& copy)
    : device_(device),
      chunk_(std::int64_t(std::max<std::size_t>(1, chunk_bytes / std::max<std::size_t>(1, copy.bytes)))),
      events_(std::size_t(ceil_div(copy.columns, chunk_) + 1)) {
  const CurrentDevice current(device_);
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream_.is, cudaStreamNonBlocking));
  for (Event& event : events_) CUDA_CHECK(cudaEventCreate(&event.is));
  try {
    thread_ = std::thread([this, copy] { run(copy); });
  } catch (const std::system_error&) {  // no more threads can be had: the copy comes first, then the work
    run(copy);
  }
}

Arrival::~Arrival() {
  if (thread_.joinable()) thread_.join();
  succeeded(cudaStreamSynchronize(stream_.is));
}
Arrival::Stream::~Stream() {
  if (is) succeeded(cudaStreamDestroy(is));
}
Arrival::Event::~Event() {
  if (is) succeeded(cudaEventDestroy(is));
}

void Arrival::run(const Copy& copy) try {
  const CurrentDevice current(device_);
  mark();
  for (std::int64_t j = 0; j < copy.columns; j += chunk_) {
    const auto place = std::size_t(j);
    copy_columns(stream_.is, Direction::to_device, static_cast<char*>(copy.to) + place * copy.to_pitch, copy.to_pitch,
                 static_cast<const char*>(copy.from) + place * copy.from_pitch, copy.from_pitch, copy.bytes,
                 std::size_t(std::min(chunk_, copy.columns - j)));
    mark();
  }
} catch (...) {
  const std::lock_guard lock(guard_);
  failed_ = std::current_exception();
  changed_.notify_all();
}

void Arrival::mark() {
  CUDA_CHECK(cudaEventRecord(events_[marked_].is, stream_.is));
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
  q.wait(events_[chunks].is);
}

double Arrival::seconds() {
  until_marked(events_.size());
  CUDA_CHECK(cudaEventSynchronize(events_.back().is));
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events_.front().is, events_.back().is));
  return 1e-3 * double(milliseconds);
}

}  // namespace lasolve
