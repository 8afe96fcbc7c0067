// A system over several cards, or more than one holds. The solver is that of the host, for which the matrix and its factors are
// elsewhere.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/cards/factors.hpp"
#include "solvers/cards/rates.hpp"
#include "solvers/cards/system.hpp"
#include "solvers/out_of_core/factors.hpp"

namespace lasolve {

/// Whether all cards have room for their columns of A beside its factors. Those that are one device share its memory.
template <class T, class Space>
bool have_room_for_both(CardGroup<Space>& cards, const Recipe& by, std::int64_t n) {
  const Deal deal = deal_of(cards.queue(0), by, n);
  constexpr double not_asked_for = 1 << 20, workspace = std::is_same_v<Space, Cuda> ? double(std::size_t(3) << 30) : 0;
  std::vector<double> wanted;
  for (int card = 0; card < cards.count(); ++card) {
    const double of_A = double(CardMemory(deal, card).own()) * sizeof(T),
                 of_factors = double(columns_in_memory(deal, card, by.schedule, n)) * bytes_of(by.precision.storage);
    wanted.push_back(double(n) * (of_A + of_factors));
  }
  bool all = true;
  for (int card = 0; card < cards.count(); ++card) {
    double together = 0;
    for (int other = 0; other < cards.count(); ++other)
      if (cards.device(other) == cards.device(card)) together += wanted[std::size_t(other)];
    if (together > not_asked_for)
      cards.on(card, [&] { all = all && together + workspace <= double(Memory<Space>::available()); });
  }
  return all;
}

template <class T, class Space>
class SystemOnCardsOf : public SystemOnCards<T> {
 public:
  SystemOnCardsOf(Columnwise<T>&& A, Supply<T, Space>&& source, const GemmBackend<Space>& gemm, const Options& options)
      : cards_(options),
        gemm_(gemm),
        coarse_(coarse_of_all(options)),
        source_(std::move(source)),
        recipes_(recipes_for(options, A)),
        A_(matrix_of(A)) {}

  const Recipes& recipes() const override { return recipes_; }
  SpreadMatrix<T, Cpu>& matrix() override { return A_; }
  std::unique_ptr<Decomposition<T, Cpu>> factors_by(const Recipe& by, Scales&& scales) override {
    const GemmBackend<Space>& backend = by.by_coarse ? *coarse_ : gemm_;
    if constexpr (std::is_same_v<T, double>)
      if (by.precision.storage == Precision::fp64) return factors_in<double>(backend, by, std::move(scales));
    require(by.precision.storage == Precision::fp32, "over several cards factors are stored in fp64 or fp32");
    return factors_in<float>(backend, by, std::move(scales));
  }

 protected:
  CardGroup<Space> cards_;

 private:
  /// Why the backend cannot run on one of the cards that are unlike the first, for which it was chosen.
  std::string why_not(const GemmBackend<Space>& backend, const Options& options) const {
    for (int card = 1; card < cards_.count() && !cards_.are_alike(); ++card)
      if (const std::string why = backend.unavailable ? backend.unavailable(options.cards[std::size_t(card)]) : "";
          !why.empty())
        return cards_.name(card) + ": the GEMM backend '" + backend.name + "' cannot run here: " + why;
    return "";
  }
  const GemmBackend<Space>* coarse_of_all(const Options& options) const {
    const auto* const coarse = coarse_backend<Space>(options, options.device.index);
    return coarse && why_not(*coarse, options).empty() ? coarse : nullptr;
  }
  /// Over unlike cards, whose shares nobody has given, in those of their rates.
  Recipes recipes_for(const Options& options, const Columnwise<T>& A) {
    if (const std::string why = why_not(gemm_, options); !why.empty()) throw MachineError(why);
    Means means = means_of(gemm_, options, cards_.queue(0).tuning(), false);
    means.device_bytes = A.device_bytes, means.coarse = coarse_ ? coarse_->name : nullptr;
    const Problem problem{.n = A.n, .element = precision_of<T>, .by_columns = true};
    Recipes recipes = resolve(options, problem, means);
    constexpr std::int64_t least = 4096;  // columns for which products are measured
    if (!cards_.are_alike() && options.card_shares.empty() && A.n >= least) {
      const Recipe& first = recipes.first();
      const auto rates = rates_of(cards_, first.by_coarse ? *coarse_ : gemm_, first.precision);
      means.cards = with_shares(means.cards, shares_for(rates));
      recipes = resolve(options, problem, means);
    }
    const auto has_room = [&](const Recipe& r) {
      return r.executor != Executor::cards || reads_few_columns(r.schedule) || have_room_for_both<T>(cards_, r, A.n);
    };
    means.has_room_for_L = std::all_of(recipes.begin(), recipes.end(), has_room);
    return means.has_room_for_L ? recipes : resolve(options, problem, means);
  }
  MatrixOnCards<T, Space> matrix_of(const Columnwise<T>& A) {
    const Recipe& first = recipes_.first();
    if (first.executor == Executor::out_of_core)
      return {cards_, source_, A.n, Deal({.n = A.n, .widths = {.panel = first.out_of_core.slice}}, 1), false};
    const bool keeps = A.keeps.value_or(first.reads_A_again() && have_room_for_both<T>(cards_, first, A.n));
    return {cards_, source_, A.n, deal_of(cards_.queue(0), first, A.n), keeps};
  }
  template <class F>
  std::unique_ptr<Decomposition<T, Cpu>> factors_in(const GemmBackend<Space>& backend, const Recipe& by,
                                                    Scales&& scales) {
    if (by.executor == Executor::out_of_core)
      return std::make_unique<FactorsOutOfCore<T, Space, F>>(cards_, source_, A_.order(), backend, by,
                                                             std::move(scales));
    return std::make_unique<DecompositionOnCards<T, Space, F>>(cards_, A_, backend, by, std::move(scales));
  }

  const GemmBackend<Space>& gemm_;
  const GemmBackend<Space>* const coarse_;
  const Supply<T, Space> source_;
  const Recipes recipes_;
  MatrixOnCards<T, Space> A_;
};

}  // namespace lasolve
