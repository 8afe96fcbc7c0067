// Cards in the memory of the host, of which each has its columns and NaN where the others have theirs: a plan that is run over them, and what
// comes of it.
#pragma once

#include "solvers/cards/lower_cards.hpp"
//
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
#include "solvers/lu/cpu/panel.hpp"
//
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/backend_table.hpp"
#include "lasolve/names.hpp"
#include "plans.hpp"
#include "solvers/cards/execute.hpp"
#include "systems.hpp"

namespace lasolve::test::virtual_cards {

inline const GemmBackend<Cpu>* backend(std::string_view name) {
  for (const auto* one : backend_table<Cpu>().records())
    if (one->name == name) return one;
  return nullptr;
}

struct Way {
  Method method;
  Schedule schedule;
};
inline constexpr Way ways[] = {{Method::lu, Schedule::right_looking},
                               {Method::lu, Schedule::left_looking},
                               {Method::lu, Schedule::crout},
                               {Method::lu, Schedule::recursive},
                               {Method::cholesky, Schedule::right_looking},
                               {Method::cholesky, Schedule::left_looking},
                               {Method::lu_nopivot, Schedule::right_looking},
                               {Method::lu_nopivot, Schedule::left_looking}};
inline constexpr Method methods[] = {Method::lu, Method::cholesky, Method::lu_nopivot};

inline std::string text_of(const Way& way, const Blocking& by, int cards) {
  return std::string(lasolve::name_of(way.method)) + ", " + lasolve::name_of(way.schedule) +
         ", n = " + std::to_string(by.n) + ", panels of " + std::to_string(by.widths.panel) + ", " +
         std::to_string(by.lanes.single() ? 1 : 4) + " lanes, " + std::to_string(cards) + " cards";
}

/// Whether a way reads one block column of L at a time, so that a card has room for some of others, and no more.
inline bool is_compact(const Way& way) { return way.schedule == Schedule::right_looking; }

/// A card in the memory of the host. Else it has room for all of A.
template <class T>
struct Virtual {
  Virtual(const Plan& plan, const Deal& deal, const Matrix<T>& A, int card, bool compact)
      : q(1), pivots(plan.n, Pivots<Cpu>::columns), status(1, 1), buffers(plan) {
    const CardMemory memory(deal, card);
    own = matrix_of<T>(A.rows(), compact ? memory.columns() : A.cols(),
                       [](auto, auto) { return std::numeric_limits<T>::quiet_NaN(); });
    for (const Range block : deal.columns_of_card(card))
      for (std::int64_t j = block.begin; j < block.end; ++j)
        local[j] = compact ? memory.local(block).begin + j - block.begin : j;
    for (const auto& [j, at] : local)
      for (std::int64_t i = 0; i < A.rows(); ++i) own(i, at) = A(i, j);
    status(0, 0) = -1;
  }
  Workpiece<T, Cpu> of(const Gemm<T, Cpu>& gemm) { return {gemm, own, Pivots<Cpu>::in(pivots, status), none, buffers}; }

  Queue<Cpu> q;
  Matrix<T> own;
  std::map<std::int64_t, std::int64_t> local;  // where it has its own columns
  Matrix<std::int64_t> pivots, status;
  const Supply<T, Cpu> none;
  Buffers<T, Cpu> buffers;
};

template <class T>
void execute(const OrderedPlan& ordered, const std::vector<std::unique_ptr<Virtual<T>>>& cards,
             const Gemm<T, Cpu>& gemm) {
  std::vector<Queue<Cpu>*> queues;
  std::vector<Workpiece<T, Cpu>> of;
  for (const auto& card : cards) queues.push_back(&card->q), of.push_back(card->of(gemm));
  const std::vector<Workpiece<T, Cpu>> all = of;
  for (auto& its : of) its.cards = all;
  execute_on_cards<T, Cpu>(ordered, queues, of, [](int, const auto& work) { work(); });
}

/// Factors, pivots, and where it failed: those of columns j from the card that has them.
template <class T>
struct Outcomes {
  Matrix<T> factors;
  std::vector<std::int64_t> pivots;
  std::int64_t failed_at = -1;
};

template <class T>
Outcomes<T> factored(const Way& way, const Blocking& by, const CardList& cards, const Matrix<T>& A,
                     const Gemm<T, Cpu>& gemm) {
  const Deal deal(by, cards);
  Plan plan = lower_cards(plan_of(way.method, way.schedule, by), deal);
  if (is_compact(way)) plan = in_memory_of_cards(plan, deal);
  std::vector<std::unique_ptr<Virtual<T>>> all;
  for (int card = 0; card < deal.cards(); ++card)
    all.push_back(std::make_unique<Virtual<T>>(plan, deal, A, card, is_compact(way)));
  execute<T>({plan, waits_of(plan)}, all, gemm);
  Outcomes<T> got{Matrix<T>(A.rows(), A.cols()), {}, -1};
  const MethodRecord& method = record_of(way.method);
  for (std::int64_t j = 0; j < A.cols(); ++j) {
    const Virtual<T>& its = *all[std::size_t(deal.card_of(j))];
    for (std::int64_t i = 0; i < A.rows(); ++i)
      got.factors(i, j) = !method.is_in_lower_triangle() || i >= j ? its.own(i, its.local.at(j)) : T(0);
    got.pivots.push_back(method.interchanges(1) > 0 ? its.pivots(j, 0) : j);
  }
  for (const auto& its : all)
    if (const std::int64_t at = its->status(0, 0); at >= 0)
      got.failed_at = got.failed_at < 0 ? at : std::min(got.failed_at, at);
  return got;
}
template <class T>
Outcomes<T> factored(const Way& way, const Blocking& by, int cards, const Matrix<T>& A, const Gemm<T, Cpu>& gemm) {
  return factored<T>(way, by, CardList{.count = std::uint8_t(cards)}, A, gemm);
}

}  // namespace lasolve::test::virtual_cards
