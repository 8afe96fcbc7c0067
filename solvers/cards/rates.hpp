// How quick cards are beside each other, where they are unlike: so their shares are measured, not looked up.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "core/process.hpp"
#include "lasolve/precision.hpp"
#include "solvers/cards/group.hpp"
#include "solvers/devices/primitives.hpp"

namespace lasolve {

/// Seconds of C ← C − A B with C n × n and some columns in A, on a card: the best of some. Elements of A and B are random, since
/// constant ones take less power, and are quicker.
template <class F, class Space>
double seconds_of_product(Queue<Space>& q, const Gemm<F, Space>& gemm, std::int64_t n) {
  constexpr int rounds = 4;
  const std::int64_t k = std::min<std::int64_t>(n, 512);
  Matrix<F> random(n, k);
  std::minstd_rand next;
  std::generate_n(random.data(), n * k, [&] { return F(next()) / F(next.max()) - F(0.5); });
  Matrix<F, Space> A(n, k), B(k, n), C(n, n);
  copy<F>(q, random.view(), A.view());
  copy<F>(q, MatrixView<const F>(random.data(), k, n, k), B.view());
  fill(q, F(1), C.view());
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    q.finish();
    const auto begin = std::chrono::steady_clock::now();
    gemm(q, F(-1), Operand<F, Space>(A.view()), std::as_const(B).view(), F(1), C.view());
    q.finish();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (round > 0) best = round == 1 ? seconds : std::min(best, seconds);  // the first one warms up
  }
  return best;
}

/// Of each card, products a second. Measured once in a process for the same cards, backend and precision.
template <class Space>
std::vector<double> rates_of(CardGroup<Space>& cards, const GemmBackend<Space>& backend, const SolvePrecision& in,
                             std::int64_t n = 4096) {
  struct Known {
    std::mutex mutex;
    std::map<std::tuple<std::string, Precision, std::vector<std::string>, std::int64_t>, std::vector<double>> rates;
  };
  constinit static NeverDestroyed<Known> known_ones;
  Known& known = known_ones.get();
  std::vector<std::string> names;
  for (int card = 0; card < cards.count(); ++card) names.push_back(cards.name(card));
  const std::lock_guard lock(known.mutex);
  std::vector<double>& rates = known.rates[{backend.name, in.products, names, n}];
  if (!rates.empty()) return rates;
  std::vector<double> measured(names.size());
  on_all(cards, [&](int card, Queue<Space>& q) {
    const auto seconds = [&](auto element) {
      using F = decltype(element);
      return seconds_of_product<F, Space>(q, Gemm<F, Space>(backend, in.products), n);
    };
    const double its = computed_in(in.storage) == Precision::fp64 ? seconds(double()) : seconds(float());
    measured[std::size_t(card)] = 1 / std::max(its, 1e-9);
    q.take_times();
  });
  return rates = measured;
}

}  // namespace lasolve
