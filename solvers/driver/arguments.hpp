// What the public entry points ask of their arguments before anything is done.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/choose.hpp"
#include "core/context_state.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/extent.hpp"

namespace lasolve {

inline void require_square(std::int64_t rows, std::int64_t cols) {
  if (rows == cols) return;
  const char* const advice =
      cols == 1 ? "; a vector or span alone is one column: lasolve::column_major(a, n, n) and row_major say more" : "";
  throw std::invalid_argument(fmt::format("lasolve: the matrix is not square, but {} × {}{}", rows, cols, advice));
}

template <class Enum>
void require_enumerator(Enum value, const char* what) {
  for (const auto& name : Names<Enum>::all)
    if (name.value == value) return;
  throw std::invalid_argument(fmt::format("lasolve: {} is {}, which is no enumerator", what, int(value)));
}
inline void require_enumerators(const Options& options) {
  require_enumerator(options.device.kind, "Options::device");
  require_enumerator(options.factorization, "Options::factorization");
  require_enumerator(options.triangle, "Options::triangle");
  require_enumerator(options.precision, "Options::precision");
  require_enumerator(options.refine, "Options::refine");
  require_enumerator(options.schedule, "Options::schedule");
}

/// The options on the device of a context.
inline Options on_its_device(const Context::State& context, Options options) {
  const int its = context.q->device();
  const Device& named = options.device;
  require_device(named);
  require(named.kind == Device::automatic || (named.kind == Device::cuda && named.index == its),
          ("the context is on cuda:" + std::to_string(its) + ", but another device is asked for").c_str());
  options.device = {Device::cuda, its};
  return options;
}

/// Where X is B itself: X is then solved for in place.
template <class T, class Space>
bool same(MatrixView<const T, Space> B, MatrixView<T, Space> X) {
  return B.data() == X.data() && (B.ld() == X.ld() || B.cols() <= 1);
}

template <class T, class Space>
void require_sides(std::int64_t n, MatrixView<const T, Space> B, MatrixView<T, Space> X) {
  if (B.rows() != n || X.rows() != n || B.cols() != X.cols())
    throw std::invalid_argument(fmt::format(
        "lasolve: the right-hand sides or the solutions have the wrong size: A is {} × {}, B {} × {} and X {} × {}; B "
        "and X have as many rows as A, and one column for each system",
        n, n, B.rows(), B.cols(), X.rows(), X.cols()));
  require(
      same(B, X) || !overlap(Extent(B), Extent(X)),
      "the right-hand sides and the solutions overlap, but are not the same memory with the same leading dimension");
}

inline void require_apart(const Extent& A, const Extent& X) {
  require(!overlap(A, X), "the solutions overlap the matrix, which they would overwrite: give X memory of its own");
}

template <class Engine>
Engine& not_moved(const std::unique_ptr<Engine>& engine) {
  require(engine != nullptr, "this factorization has been moved from");
  return *engine;
}

}  // namespace lasolve
