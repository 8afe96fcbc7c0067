#include "core/cuda/staging.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "core/cpu/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

constexpr std::size_t worth_staging = std::size_t(1) << 19;
constexpr std::size_t slot_bytes = std::size_t(8) << 20;
constexpr std::size_t slot_count = 4;

/// What goes through a slot: some whole columns, or a part of one.
struct Piece {
  std::size_t column, row, bytes, columns;
};

std::vector<Piece> pieces_of(std::size_t bytes, std::size_t columns) {
  std::vector<Piece> pieces;
  const std::size_t fit = std::max<std::size_t>(1, slot_bytes / bytes);
  for (std::size_t c = 0; c < columns; c += fit)
    for (std::size_t r = 0; r < bytes; r += slot_bytes)
      pieces.push_back({c, r, std::min(slot_bytes, bytes - r), std::min(fit, columns - c)});
  return pieces;
}

void enqueue(cudaStream_t stream, cudaMemcpyKind kind, void* to, std::size_t to_pitch, const void* from,
             std::size_t from_pitch, std::size_t bytes, std::size_t columns) {
  if (columns == 1)
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
  else
    CUDA_CHECK(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, columns, kind, stream));
}

/// Where an exception leaves, copies that were enqueued are done: whoever has their slots next knows nothing of them.
class SettledCopies {
 public:
  explicit SettledCopies(cudaStream_t stream) : stream_(stream) {}
  ~SettledCopies() {
    if (std::uncaught_exceptions() > before_) succeeded(cudaStreamSynchronize(stream_));
  }
  SettledCopies(const SettledCopies&) = delete;
  SettledCopies& operator=(const SettledCopies&) = delete;

 private:
  cudaStream_t stream_;
  int before_ = std::uncaught_exceptions();
};

/// Pinned memory through which pageable memory reaches a device and comes back: cores fill or empty one slot while others
/// are under way. Half of the cores are as fast as the bus, and leave one to the thread that gives the device its work.
/// Made at first use and kept until the process ends.
class Staging {
 public:
  static Staging& of_current_device() {
    static std::mutex guard;
    constinit static NeverDestroyed<std::map<int, Staging>> all;
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    const std::lock_guard lock(guard);
    return all.get()[device];
  }

  /// Returns when `from` has been read. What fits the slots goes past the caches, where work begins behind it. Where slots are filled while
  /// others are read, the device reads them sooner from the cache.
  void to_device(cudaStream_t stream, char* to, std::size_t to_pitch, const char* from, std::size_t from_pitch,
                 std::size_t bytes, std::size_t columns, Haste haste) {
    const std::lock_guard lock(one_at_a_time_);
    const SettledCopies settled(stream);
    const std::vector<Piece> pieces = pieces_of(bytes, columns);
    const bool is_short = haste == Haste::before_work && pieces.size() <= slot_count;
    const Stores stores = is_short ? Stores::past_caches : Stores::cached;
    for (const Piece& p : pieces) {
      Slot& slot = pieces.size() == 1 ? idle_slot() : next_slot();
      CUDA_CHECK(cudaEventSynchronize(slot.done));
      pack(host_, from + p.column * from_pitch + p.row, from_pitch, p.bytes, p.columns, slot.memory, stores);
      enqueue(stream, cudaMemcpyHostToDevice, to + p.column * to_pitch + p.row, to_pitch, slot.memory, p.bytes, p.bytes,
              p.columns);
      CUDA_CHECK(cudaEventRecord(slot.done, stream));
    }
  }

  /// Returns when `to` has been written: past the caches, where it does not fit them anyway.
  void to_host(cudaStream_t stream, char* to, std::size_t to_pitch, const char* from, std::size_t from_pitch,
               std::size_t bytes, std::size_t columns) {
    const std::lock_guard lock(one_at_a_time_);
    const SettledCopies settled(stream);
    const std::vector<Piece> pieces = pieces_of(bytes, columns);
    const Stores stores = pieces.size() > slot_count ? Stores::past_caches : Stores::cached;
    std::array<Slot*, slot_count> under_way{};
    const auto empty = [&](std::size_t i) {
      const Piece& p = pieces[i];
      const Slot& slot = *under_way[i % slot_count];
      CUDA_CHECK(cudaEventSynchronize(slot.done));
      unpack(host_, slot.memory, to + p.column * to_pitch + p.row, to_pitch, p.bytes, p.columns, stores);
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i >= slot_count) empty(i - slot_count);
      const Piece& p = pieces[i];
      Slot& slot = *(under_way[i % slot_count] = &next_slot());
      CUDA_CHECK(cudaEventSynchronize(slot.done));
      enqueue(stream, cudaMemcpyDeviceToHost, slot.memory, p.bytes, from + p.column * from_pitch + p.row, from_pitch,
              p.bytes, p.columns);
      CUDA_CHECK(cudaEventRecord(slot.done, stream));
    }
    for (std::size_t i = pieces.size() - std::min(pieces.size(), slot_count); i < pieces.size(); ++i) empty(i);
  }

 private:
  struct Slot {
    char* memory = nullptr;
    cudaEvent_t done = nullptr;  // its last use
  };

  Slot& next_slot() { return made(slots_[next_++ % slot_count]); }

  /// The first that is idle, so that small matrices do with one; else the next.
  Slot& idle_slot() {
    for (Slot& slot : slots_)
      if (!slot.done || succeeded(cudaEventQuery(slot.done))) return made(slot);
    return next_slot();
  }

  static Slot& made(Slot& slot) {
    if (!slot.done) count_made(), CUDA_CHECK(cudaEventCreateWithFlags(&slot.done, cudaEventDisableTiming));
    if (!slot.memory) count_made(), CUDA_CHECK(cudaHostAlloc(&slot.memory, slot_bytes, cudaHostAllocDefault));
    return slot;
  }

  std::mutex one_at_a_time_;
  Queue<Cpu> host_{std::max(1, Queue<Cpu>().threads() / 2)};
  std::array<Slot, slot_count> slots_;
  std::size_t next_ = 0;
};

bool is_pageable(const char* memory) {
  cudaPointerAttributes attributes{};
  CUDA_CHECK(cudaPointerGetAttributes(&attributes, memory));
  return attributes.type == cudaMemoryTypeUnregistered;
}

}  // namespace

void copy_columns(cudaStream_t stream, Direction direction, void* to, std::size_t to_pitch, const void* from,
                  std::size_t from_pitch, std::size_t bytes, std::size_t columns, Haste haste) {
  if (bytes == 0 || columns == 0) return;
  if (to_pitch == bytes && from_pitch == bytes) bytes *= std::exchange(columns, 1);
  const bool down = direction == Direction::to_device;
  const auto* host = static_cast<const char*>(down ? from : to);
  const std::size_t last = (columns - 1) * (down ? from_pitch : to_pitch) + bytes - 1;
  auto* const there = static_cast<char*>(to);
  const auto* const here = static_cast<const char*>(from);
  if (bytes * columns < worth_staging || !(is_pageable(host) || is_pageable(host + last)))
    enqueue(stream, down ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, to, to_pitch, from, from_pitch, bytes,
            columns);
  else if (down)
    Staging::of_current_device().to_device(stream, there, to_pitch, here, from_pitch, bytes, columns, haste);
  else
    Staging::of_current_device().to_host(stream, there, to_pitch, here, from_pitch, bytes, columns);
}

void copy_columns(Queue<Cuda>& q, Direction direction, void* to, std::size_t to_pitch, const void* from,
                  std::size_t from_pitch, std::size_t bytes, std::size_t columns) {
  const CurrentDevice current(q);
  copy_columns(q.stream(), direction, to, to_pitch, from, from_pitch, bytes, columns, Haste::before_work);
}

}  // namespace lasolve
