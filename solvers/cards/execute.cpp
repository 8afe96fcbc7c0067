#include "solvers/cards/execute.hpp"

#include <exception>
#include <thread>

namespace lasolve {

void on_each_card(int cards, const std::function<void(int)>& f, const std::function<void()>& give_up) {
  std::mutex mutex;
  std::exception_ptr first;
  const auto failed = [&] {
    {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
    give_up();
  };
  const auto work = [&](int card) {
    try {
      f(card);
    } catch (...) {
      failed();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int card = 1; card < cards; ++card) others.emplace_back(work, card);
      work(0);
    } catch (...) {  // no more threads are made
      failed();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace lasolve
