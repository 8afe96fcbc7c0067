#include "solvers/cards/execute.hpp"

#include <exception>
#include <thread>

namespace lasolve {

void on_each_card(int cards, const std::function<void(int)>& f) {
  std::vector<std::exception_ptr> failures(std::size_t(cards), nullptr);
  const auto work = [&](int card) {
    try {
      f(card);
    } catch (...) {
      failures[std::size_t(card)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int card = 1; card < cards; ++card) others.emplace_back(work, card);
    work(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lasolve
