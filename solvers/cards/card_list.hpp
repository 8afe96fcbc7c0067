// Devices of one kind, over which a system may be spread, and in what shares.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve {

struct CardList {
  static constexpr std::size_t most = 16;
  static constexpr int largest_share = 16;
  std::array<std::uint8_t, most> indices = {};  // a small system has no time to copy many bytes
  std::array<std::uint8_t, most> shares = {};   // of the block columns; all 0: equal ones
  std::uint8_t count = 1;

  bool has_equal_shares() const { return shares[0] == 0; }
  int share(std::size_t card) const { return has_equal_shares() ? 1 : shares[card]; }
  bool operator==(const CardList&) const = default;
};

/// Those that are asked for; one of index 0 where there is no list. Throws std::invalid_argument for too many, and for shares that are not
/// one for each, or not from 1 to 16.
CardList cards_of(const Options&);

/// The same cards with these shares. 2 : 2 is 1 : 1.
CardList with_shares(CardList, std::span<const int>);
/// For cards of different rates: the shares of the shortest round of block columns with which none takes 4 % longer than if all ended at the
/// same time, and else the best of some. Of a card 16 times slower than another: 1 to 16.
std::vector<int> shares_for(std::span<const double> rates);
/// "2,1"; empty for equal ones.
std::string text_of_shares(const CardList&);

/// Whose turn it is: a round of block columns, which is repeated, in which the turns of a card are as even as they can be. Of equal shares
/// 0, 1, …, P − 1; of 2 : 1 it is 0, 1, 0.
/// Source: Webster's method of apportionment: next comes the card with the least (turns + ½) / share.
std::vector<int> turns_of(const CardList&);

}  // namespace lasolve
