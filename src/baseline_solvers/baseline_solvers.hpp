// Baseline solvers: the solvers of other libraries, which people would call instead. One file each.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "baseline_solvers/solver.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::baseline_solvers {

/// A solver for matrices of order n. It gives its work to the queue, which outlives it; on the CPU it takes as many threads.
template <class T, class Space>
using Make = std::unique_ptr<Solver<T, Space>> (*)(Queue<Space>&, std::int64_t n, Method);

/// A library that has a baseline solver.
struct Library {
  std::string name;             ///< as --baseline-solvers says it
  std::string title;            ///< as its makers write it
  bool on_cuda;                 ///< cuda:0, else the host
  std::string (*note)(Method);  ///< what a person has to know about its times, or nothing
  void (*load)();               ///< throws MachineError where it is not there
  std::tuple<Make<double, Cpu>, Make<float, Cpu>, Make<double, Cuda>, Make<float, Cuda>> make;

  /// on its own device, after load().
  template <class T, class Space>
  std::unique_ptr<Solver<T, Space>> solver(Queue<Space>& q, std::int64_t n, Method method) const {
    return std::get<Make<T, Space>>(make)(q, n, method);
  }
};

Library openblas();
Library eigen();
Library cusolver();
/// All that this project knows, also where they cannot run.
const std::vector<Library>& all();

/// Why it cannot run here; empty: it can, as far as is known before it has run.
std::string why_unavailable(const Library&);

/// A X = B, n × n. A and B stay as they are.
template <class T, class Space = Cpu>
struct System {
  MatrixView<const T, Space> A, B;
  MatrixView<T, Space> X;
};

struct Seconds {
  double factor, whole;
};

/// Solves a system of the host, or of the library's device. Without B it only factors A. The seconds are without copies of A
/// and B, and without those to a device and back. Throws MachineError where the baseline solver is not there, and std::runtime_error where A
/// could not be factored. `threads` as of Queue<Cpu>.
template <class T, class Space = Cpu>
Seconds solve(const Library&, const System<T, Space>&, Method, int threads = 0);

/// max over columns of ‖b − A x‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞), by Eigen's product; NaN where one is.
template <class T>
double backward_error(const System<T>&);

}  // namespace lasolve::baseline_solvers
