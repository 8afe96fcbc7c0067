// What the public entry points ask of their arguments before anything is done.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "core/choose.hpp"
#include "core/context_state.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/columns.hpp"

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
  if (!options.cards.empty()) {
    require(options.device.kind != Device::automatic,
            "Options::cards are of a kind of device: name the first as device");
    require(std::all_of(options.cards.begin(), options.cards.end(), [](int card) { return card >= 0; }),
            "the index of a card is negative");
    require(options.device.kind == Device::cpu || options.device.index == options.cards[0],
            "Options::device is the first of Options::cards");
  }
  require(options.device_memory >= 0, "Options::device_memory is negative");
  require(options.device_memory == 0 || options.cards.size() < 2, "Options::device_memory is of one device");
  require_enumerator(options.factorization, "Options::factorization");
  require_enumerator(options.pivoting, "Options::pivoting");
  require_enumerator(options.triangle, "Options::triangle");
  require_enumerator(options.precision, "Options::precision");
  require_enumerator(options.storage, "Options::storage");
  require_enumerator(options.refine, "Options::refine");
  require_enumerator(options.residual, "Options::residual");
  require_enumerator(options.equilibrate.kind, "Options::equilibrate");
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

/// For a matrix whose transpose is factored.
inline Options mirrored(Options options) {
  if (options.triangle == Uplo::lower)
    options.triangle = Uplo::upper;
  else if (options.triangle == Uplo::upper)
    options.triangle = Uplo::lower;
  return options;
}

/// What `op` is of the matrix that was factored, which is real.
inline Op op_of_stored(Op stored, Op op) { return stored == Op::none ? of_real(op) : flipped(op); }

/// Where X is B itself: X is then solved for in place.
template <class B, class X>
bool same(const B& b, const X& x) {
  return b.data() == x.data() && (b.ld() == x.ld() || b.cols() <= 1);
}

/// B and X are n × nrhs, in one memory, and apart where X is solved for where it lies. In another order they are copied.
template <class T>
ColumnsOfSystem<T> require_rhs(std::int64_t n, const Borrowed<const T>& B, const Borrowed<T>& X) {
  if (B.rows() != n || X.rows() != n || B.cols() != X.cols())
    throw std::invalid_argument(fmt::format(
        "lasolve: the right-hand sides or the solutions have the wrong size: A is {} × {}, B {} × {} and X {} × {}; B "
        "and X have as many rows as A, and one column for each system",
        n, n, B.rows(), B.cols(), X.rows(), X.cols()));
  require(B.on_cuda() == X.on_cuda(),
          "of B and X one is on a device and the other on the host: give both on one device");
  ColumnsOfSystem<T> columns{columns_of<Cpu>(B), columns_of<Cpu>(X)};
  const auto& [b, x] = columns;
  if (!x)
    require(has_distinct_elements(X), "elements of X are in the same place, by its strides: give X memory of its own");
  if (b && x && b->is_view() && x->is_view())
    require(
        same(b->view, x->view) || !overlap(Extent(b->view), Extent(x->view)),
        "the right-hand sides and the solutions overlap, but are not the same memory with the same leading dimension");
  return columns;
}

inline void require_disjoint(const Extent& A, const Extent& X) {
  require(!overlap(A, X), "the solutions overlap the matrix, which they would overwrite: give X memory of its own");
}

template <class Engine>
Engine& not_moved(const std::unique_ptr<Engine>& engine) {
  require(engine != nullptr, "this factorization has been moved from");
  return *engine;
}

}  // namespace lasolve
