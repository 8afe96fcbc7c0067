#include "solvers/cards/card_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/range.hpp"

namespace lasolve {

namespace {

void require_shares(const Options& o) {
  require(o.cards.size() > 1,
          "shares are those of several cards, but one device computes: name the cards, as in cuda:0,1");
  if (o.card_shares.size() != o.cards.size())
    throw std::invalid_argument(fmt::format("lasolve: there are {} cards, and shares for {}: give one for each",
                                            o.cards.size(), o.card_shares.size()));
  for (const int share : o.card_shares)
    if (share < 1 || share > CardList::largest_share)
      throw std::invalid_argument(fmt::format("lasolve: a card has a share of {}, but shares are from 1 to {}", share,
                                              CardList::largest_share));
}

/// The card that is next, of shares or rates, after so many turns of each.
template <class Share>
std::size_t next_card(const std::vector<int>& turns, std::span<const Share> of) {
  std::size_t next = 0;
  const auto due = [&](std::size_t card) { return (turns[card] + 0.5) / double(of[card]); };
  for (std::size_t card = 1; card < of.size(); ++card)
    if (due(card) < due(next)) next = card;
  return next;
}

/// The time of a round over that of cards which all end at the same time.
double stretch_of(const std::vector<int>& shares, std::span<const double> rates) {
  double longest = 0;
  for (std::size_t card = 0; card < rates.size(); ++card) longest = std::max(longest, shares[card] / rates[card]);
  const int columns = std::accumulate(shares.begin(), shares.end(), 0);
  return longest * std::accumulate(rates.begin(), rates.end(), 0.0) / columns;
}

}  // namespace

CardList cards_of(const Options& o) {
  CardList list;
  if (!o.card_shares.empty()) require_shares(o);
  if (o.cards.size() < 2) return list;
  require(o.cards.size() <= CardList::most, "a system is spread over 16 cards at most");
  const auto does_not_fit = [](int index) { return !std::in_range<std::uint8_t>(index); };
  require(!any_of(o.cards, does_not_fit), "the index of a card is 255 at most");
  list.count = o.cards.size();
  std::copy(o.cards.begin(), o.cards.end(), list.indices.begin());
  return with_shares(list, o.card_shares);
}

CardList with_shares(CardList cards, std::span<const int> shares) {
  int divisor = 0;
  for (const int share : shares) divisor = std::gcd(divisor, share);
  const bool are_equal = std::all_of(shares.begin(), shares.end(), [&](int share) { return share == divisor; });
  cards.shares = {};
  if (!are_equal)
    for (std::size_t card = 0; card < shares.size(); ++card) cards.shares[card] = std::uint8_t(shares[card] / divisor);
  return cards;
}

std::vector<int> shares_for(std::span<const double> rates) {
  constexpr double good = 1.04;
  constexpr int longest_round = 32;
  std::vector<int> turns(rates.size(), 0), best;
  for (int round = 1; round <= longest_round; ++round) {
    ++turns[next_card(turns, rates)];
    if (round < int(rates.size())) continue;
    std::vector<int> shares = turns;
    for (int& share : shares) share = std::clamp(share, 1, CardList::largest_share);
    if (best.empty() || stretch_of(shares, rates) < stretch_of(best, rates)) best = shares;
    if (stretch_of(best, rates) < good) break;
  }
  return best;
}

std::string text_of_shares(const CardList& cards) {
  if (cards.has_equal_shares()) return "";
  return fmt::format("{}", fmt::join(cards.shares.begin(), cards.shares.begin() + cards.count, ","));
}

std::vector<int> turns_of(const CardList& cards) {
  std::vector<int> shares, turns(cards.count, 0), round;
  for (std::size_t card = 0; card < cards.count; ++card) shares.push_back(cards.share(card));
  for (int columns = std::accumulate(shares.begin(), shares.end(), 0); columns > 0; --columns) {
    round.push_back(int(next_card(turns, std::span<const int>(shares))));
    ++turns[std::size_t(round.back())];
  }
  return round;
}

}  // namespace lasolve
