// A system over several cards: what a factorization of it stands on, whatever their kind.
#pragma once

#include "solvers/driver/engine.hpp"

namespace lasolve {

template <class T>
class SystemOnCards {
 public:
  virtual ~SystemOnCards() = default;
  virtual const Recipes& recipes() const = 0;
  virtual SpreadMatrix<T, Cpu>& matrix() = 0;
  virtual std::unique_ptr<Decomposition<T, Cpu>> factors_by(const Recipe&, Scales&&) = 0;
  /// Right-hand sides and solutions on a device.
  virtual void copy_to_host(Columns<const T, Cuda> B, CUstream_st* after, MatrixView<T> b) = 0;
  virtual void copy_from_host(MatrixView<const T> x, Columns<T, Cuda> X) = 0;
};
template <class T>
std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T>, const GemmBackend<Cpu>&, const Options&);
template <class T>
std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T>, const GemmBackend<Cuda>&, const Options&);

}  // namespace lasolve
