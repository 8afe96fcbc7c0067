#include "baseline_solvers/openmp.hpp"

#include <future>
#include <thread>
#include <vector>

#include "core/cpu/openblas.hpp"

namespace lasolve::baseline_solvers {

int openmp_threads(int wanted, std::size_t bytes_of_each) {
  while (wanted > 0 && !address_space_is_left(std::size_t(wanted) * bytes_of_each)) --wanted;
  if (wanted == 0) return 0;
  std::vector<std::thread> others;
  std::promise<void> all_are_made;
  const std::shared_future<void> made = all_are_made.get_future().share();
  try {
    others.reserve(std::size_t(wanted));
    while (int(others.size()) < wanted - 1) others.emplace_back([made] { made.wait(); });
  } catch (const std::exception&) {  // no more
  }
  all_are_made.set_value();
  for (std::thread& other : others) other.join();
  return 1 + int(others.size());
}

}  // namespace lasolve::baseline_solvers
