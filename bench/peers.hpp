// Whole factorizations, ours and others', behind one face.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

/// One way to factor a matrix. factor() is given A untouched, factors a copy of it that was made before the clock
/// started, and returns the seconds of the factorization alone.
template <class T>
struct Contestant {
  std::string name;
  bool cuda = false;
  std::function<double(MatrixView<const T, Cpu> A, Method)> on_host;
  std::function<double(MatrixView<const T, Cuda> A, Method)> on_device;
};

/// Each file of peers adds the contestants that it holds.
template <class T>
std::vector<Contestant<T>>& contestants() {
  static std::vector<Contestant<T>> all;
  return all;
}

struct Enter {
  template <class T>
  explicit Enter(Contestant<T> contestant) {
    contestants<T>().push_back(std::move(contestant));
  }
};

}  // namespace lasolve::bench
