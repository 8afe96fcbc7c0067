// A system over several cards of a kind. The solver is that of the host, for which the matrix and its factors are on the cards.
#pragma once

#include <memory>
#include <utility>

#include "solvers/cards/factors.hpp"
#include "solvers/cards/system.hpp"

namespace lasolve {

/// Whether all cards have room for their columns of A beside those of its factors.
template <class T, class Space>
bool have_room_for_both(CardGroup<Space>& cards, const Deal& deal, std::int64_t n, int bytes_of_factors) {
  constexpr double not_asked_for = 1 << 20, workspace = std::is_same_v<Space, Cuda> ? double(std::size_t(3) << 30) : 0;
  bool all = true;
  for (int card = 0; card < cards.count(); ++card) {
    const CardMemory its(deal, card);
    const double wanted = double(n) * (double(its.own()) * sizeof(T) + double(its.columns()) * bytes_of_factors);
    if (wanted > not_asked_for)
      cards.on(card, [&] { all = all && wanted + workspace <= double(Memory<Space>::available()); });
  }
  return all;
}

template <class T, class Space>
class SystemOnCardsOf : public SystemOnCards<T> {
 public:
  SystemOnCardsOf(Columnwise<T>&& A, Supply<T, Space>&& source, const GemmBackend<Space>& gemm, const Options& options)
      : cards_(options),
        gemm_(gemm),
        coarse_(coarse_backend<Space>(options, options.device.index)),
        recipes_(resolve(options, {.n = A.n, .element = precision_of<T>},
                         means_of(gemm, options, cards_.queue(0).tuning(), false))),
        A_(matrix_of(std::move(A), std::move(source))) {}

  const Recipes& recipes() const override { return recipes_; }
  SpreadMatrix<T, Cpu>& matrix() override { return A_; }
  std::unique_ptr<Decomposition<T, Cpu>> factors_by(const Recipe& by, Scales&& scales) override {
    const GemmBackend<Space>& backend = by.by_coarse ? *coarse_ : gemm_;
    if constexpr (std::is_same_v<T, double>)
      if (by.precision.storage == Precision::fp64)
        return std::make_unique<DecompositionOnCards<T, Space, double>>(cards_, A_, backend, by, std::move(scales));
    require(by.precision.storage == Precision::fp32, "over several cards factors are stored in fp64 or fp32");
    return std::make_unique<DecompositionOnCards<T, Space, float>>(cards_, A_, backend, by, std::move(scales));
  }

 protected:
  CardGroup<Space> cards_;

 private:
  MatrixOnCards<T, Space> matrix_of(Columnwise<T>&& A, Supply<T, Space>&& source) {
    const Recipe& first = recipes_.first();
    Deal deal = deal_of(cards_.queue(0), first, A.n);
    const bool keeps = A.keeps.value_or(first.reads_A_again() &&
                                        have_room_for_both<T>(cards_, deal, A.n, bytes_of(first.precision.storage)));
    return {cards_, std::move(source), A.n, std::move(deal), keeps};
  }

  const GemmBackend<Space>& gemm_;
  const GemmBackend<Space>* const coarse_;
  const Recipes recipes_;
  MatrixOnCards<T, Space> A_;
};

}  // namespace lasolve
