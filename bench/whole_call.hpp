// Whole calls, from device memory to device memory, or from pageable memory of the host and back: the factors and the solution, by
// the wall clock.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

/// A X = B at a place. A and B are to stay as they are.
template <class T, class Place>
struct SystemAt {
  MatrixView<const T, Place> A, B;
  MatrixView<T, Place> X;
};

/// A system that is on a device, and on the host.
template <class T>
struct System {
  Method method;
  SystemAt<T, Cuda> there;
  SystemAt<T, Cpu> here;
  bool from_host;    ///< begins and ends on the host
  bool is_factored;  ///< beforehand
};

/// Makes what is made beforehand for a system, and returns what solves it once and waits for X.
template <class T>
using Begin = std::function<std::function<void()>(const System<T>&)>;

template <class T>
struct WholeCall {
  std::string name;
  Begin<T> begin;
};

/// Each file of peers adds those that it holds.
template <class T>
std::vector<WholeCall<T>>& whole_call_peers() {
  static std::vector<WholeCall<T>> all;
  return all;
}
struct EnterWholeCall {
  template <class T>
  explicit EnterWholeCall(WholeCall<T> peer) {
    whole_call_peers<T>().push_back(std::move(peer));
  }
};

/// What to solve.
struct WholeCalls {
  std::vector<std::int64_t> sizes, sides;  ///< orders of A, and numbers of right-hand sides
  std::vector<Method> methods;
  std::string backend;  ///< of our bare calls
  int rounds;
  bool from_host = false;    ///< A, B and X are in pageable memory of the host
  bool is_factored = false;  ///< beforehand: a call solves with the factors
  std::int64_t calls = 0;    ///< of each, for each system, in all rounds together; 0: as many as 10 ms a turn take
};

/// Ours, bare and with the library's defaults, and all solvers, in turns. The results are printed and added.
template <class T>
void whole_calls(const WholeCalls&, nlohmann::ordered_json& results);

}  // namespace lasolve::bench
