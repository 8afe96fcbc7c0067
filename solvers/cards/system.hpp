// A system over several cards: what a factorization of it stands on, whatever their kind.
#pragma once

#include <functional>
#include <memory>

#include "solvers/driver/engine.hpp"

namespace lasolve {

template <class T>
class SystemOnCards {
 public:
  virtual ~SystemOnCards() = default;
  virtual const Recipes& recipes() const = 0;
  virtual SpreadMatrix<T, Cpu>& matrix() = 0;
  virtual std::unique_ptr<Decomposition<T, Cpu>> factors_by(const Recipe&, Scales&&) = 0;
  /// X ← what solve(x) makes of a copy of B on the host; B and X are on any device, and read and written after what a stream was given.
  virtual Report solve_in_copy(Columns<const T, Cuda> B, Columns<T, Cuda> X, CUstream_st* after,
                               const std::function<Report(MatrixView<T>)>& solve) = 0;
};
template <class T>
std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T>, const GemmBackend<Cpu>&, const Options&);
template <class T>
std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T>, const GemmBackend<Cuda>&, const Options&);

}  // namespace lasolve
