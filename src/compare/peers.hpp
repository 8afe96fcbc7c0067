// Whole solvers of others, which people would call instead.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::compare {

/// A system on the host, n × n, and where its solution goes.
struct System {
  MatrixView<const double> A, B;
  MatrixView<double> X;
};

struct Peer {
  std::string name;       ///< as --peers says it
  bool on_cuda = false;   ///< cuda:0, else the host
  std::string note = {};  ///< what a person has to know about its times
  /// Solves in fp64 by LU or Cholesky, and returns the seconds without the copy of A that it overwrites, nor copies to a device and
  /// back. Throws MachineError where it is not there.
  std::function<double(const System&, Method, int threads)> solve;
  /// Why it cannot run here; empty: it can, as far as is known before it has run. Without the function it can.
  std::function<std::string()> unavailable = {};
};

/// OpenBLAS's, Eigen's and cuSOLVER's: all that this project knows, also where they cannot run.
const std::vector<Peer>& peers();
/// Nothing in a build without CUDA.
std::optional<Peer> cusolver();

/// max over columns of ‖b − A x‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞), by a product that no backend makes.
double backward_error(const System&);

}  // namespace lasolve::compare
