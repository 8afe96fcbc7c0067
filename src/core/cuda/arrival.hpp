// A matrix on its way from the host to a CUDA device, of which the first columns can be used when they are there.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/cuda/staging.hpp"

namespace lasolve {

/// Copies columns in chunks from the left to the right, on a stream and a thread of their own, or on this thread
/// where no other can be had. Both memories must stay until this is destroyed.
class Arrival {
 public:
  template <class T>
  Arrival(const Queue<Cuda>& q, MatrixView<const T, Cpu> from, MatrixView<T, Cuda> to)
      : Arrival(q, {to.data(), std::size_t(to.ld()) * sizeof(T), from.data(), std::size_t(from.ld()) * sizeof(T),
                    std::size_t(to.rows()) * sizeof(T), to.cols()}) {}
  /// Waits for the copy.
  ~Arrival();
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  /// What is enqueued on q from now on waits for the first `columns` columns. Throws what the copy threw.
  void await(Queue<Cuda>& q, std::int64_t columns);
  /// How long the copy took; waits for it.
  double seconds();

 private:
  struct Copy {
    void* to;
    std::size_t to_pitch;
    const void* from;
    std::size_t from_pitch, bytes;
    std::int64_t columns;
  };
  Arrival(const Queue<Cuda>&, const Copy&);
  void run(const Copy&);
  void mark();
  void until_marked(std::size_t events);

  struct Line;
  static std::unique_ptr<Line> line_of(int device, std::size_t events);
  static void give_back(std::unique_ptr<Line>) noexcept;

  int device_;
  std::int64_t chunk_;      // columns
  std::size_t most_marks_;  // the start, and the end of each chunk
  std::unique_ptr<Line> line_;
  std::size_t marked_ = 0;  // events that have been recorded
  std::exception_ptr failed_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace lasolve
