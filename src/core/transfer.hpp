// Copies between the host and a CUDA device, in the order of a queue.
#pragma once

#include "lasolve/queue.hpp"

namespace lasolve {

enum class Direction { to_device, to_host };

/// `columns` columns of `bytes` bytes each. From and to pinned memory the copy is enqueued, and the memory must stay until
/// the queue is finished. Pageable memory goes through pinned memory by the work of several cores, and has been read
/// or written when this returns.
void copy_columns(Queue<Cuda>& q, Direction, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t bytes, std::size_t columns);

template <class T>
void copy(Queue<Cuda>& q, MatrixView<const T, Cpu> from, MatrixView<T, Cuda> to) {
  require(from.rows() == to.rows() && from.cols() == to.cols(), "a copy between matrices of different sizes");
  copy_columns(q, Direction::to_device, to.data(), std::size_t(to.ld()) * sizeof(T), from.data(),
               std::size_t(from.ld()) * sizeof(T), std::size_t(to.rows()) * sizeof(T), std::size_t(to.cols()));
}
template <class T>
void copy(Queue<Cuda>& q, MatrixView<const T, Cuda> from, MatrixView<T, Cpu> to) {
  require(from.rows() == to.rows() && from.cols() == to.cols(), "a copy between matrices of different sizes");
  copy_columns(q, Direction::to_host, to.data(), std::size_t(to.ld()) * sizeof(T), from.data(),
               std::size_t(from.ld()) * sizeof(T), std::size_t(to.rows()) * sizeof(T), std::size_t(to.cols()));
}

}  // namespace lasolve
