// Copies between the host and a CUDA device, in the order of a queue.
#pragma once

#include <span>
#include <type_traits>

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

/// From memory of any CUDA device to that of the device of q, in its order: by the links between them where there are peers, else through
/// the host.
void copy_columns_between(Queue<Cuda>& q, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t bytes, std::size_t columns);
/// Lets some devices read each other's memory, as far as they can.
void let_read_each_other(std::span<const int> devices);

template <class T>
void copy_from_card(Queue<Cuda>& q, std::type_identity_t<MatrixView<const T, Cuda>> from,
                    std::type_identity_t<MatrixView<T, Cuda>> to) {
  require(from.rows() == to.rows() && from.cols() == to.cols(), "a copy between matrices of different sizes");
  copy_columns_between(q, to.data(), std::size_t(to.ld()) * sizeof(T), from.data(), std::size_t(from.ld()) * sizeof(T),
                       std::size_t(to.rows()) * sizeof(T), std::size_t(to.cols()));
}

}  // namespace lasolve
