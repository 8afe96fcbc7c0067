// What the public entry points ask of their arguments before anything is done.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/context_state.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve {

inline void require_square(std::int64_t rows, std::int64_t cols) {
  if (rows == cols) return;
  const char* const advice =
      cols == 1 ? "; a vector or span alone is one column: lasolve::column_major(a, n, n) and row_major say more" : "";
  throw std::invalid_argument(fmt::format("lasolve: the matrix is not square, but {} × {}{}", rows, cols, advice));
}

/// The options on the device of a context.
inline Options on_its_device(const Context::State& context, Options options) {
  const int its = context.q->device();
  const Device& named = options.device;
  require(named.kind == Device::automatic || (named.kind == Device::cuda && named.index == its),
          ("the context is on cuda:" + std::to_string(its) + ", but another device is asked for").c_str());
  options.device = {Device::cuda, its};
  return options;
}

/// Where X is B itself: X is then solved for in place.
template <class T, class Place>
bool same(MatrixView<const T, Place> B, MatrixView<T, Place> X) {
  return B.data() == X.data() && (B.ld() == X.ld() || B.cols() <= 1);
}

/// Whether two matrices of one size have an element in common. Where the strides differ, it is enough that the memory from
/// the first to the last element of both has: the answer is then yes also for some that are interleaved.
template <class T, class Place>
bool overlap(MatrixView<const T, Place> B, MatrixView<T, Place> X) {
  if (B.empty()) return false;
  const auto first = [](auto M) { return reinterpret_cast<std::uintptr_t>(M.data()); };
  const auto end = [&](auto M) { return first(M) + std::uintptr_t((M.cols() - 1) * M.ld() + M.rows()) * sizeof(T); };
  if (end(B) <= first(X) || end(X) <= first(B)) return false;
  if (B.ld() != X.ld()) return true;
  // Rows of X, counted from those of B around a column of ld elements, are all behind those of B.
  const std::uintptr_t column = std::uintptr_t(B.ld()) * sizeof(T), rows = std::uintptr_t(B.rows()) * sizeof(T);
  const std::uintptr_t before = first(B) < first(X) ? first(X) - first(B) : first(B) - first(X);
  const std::uintptr_t shift = before % column;
  return shift < rows || column - shift < rows;
}

template <class T, class Place>
void require_sides(std::int64_t n, MatrixView<const T, Place> B, MatrixView<T, Place> X) {
  if (B.rows() != n || X.rows() != n || B.cols() != X.cols())
    throw std::invalid_argument(fmt::format(
        "lasolve: the right-hand sides or the solutions have the wrong size: A is {} × {}, B {} × {} and X {} × {}; B "
        "and X have as many rows as A, and one column for each system",
        n, n, B.rows(), B.cols(), X.rows(), X.cols()));
  require(
      same(B, X) || !overlap(B, X),
      "the right-hand sides and the solutions overlap, but are not the same memory with the same leading dimension");
}

template <class Engine>
Engine& not_moved(const std::unique_ptr<Engine>& engine) {
  require(engine != nullptr, "this factorization has been moved from");
  return *engine;
}

}  // namespace lasolve
