// Processes that read one file together, each for its part of the matrix.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/block_cyclic.hpp"

namespace lasolve::io {

/// All of them call each function but the first three, in the same order.
class Sharing {
 public:
  using Bytes = std::vector<std::byte>;

  virtual ~Sharing() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  /// Bytes of text that a thread parses before what is in it is sent on: memory that reading takes is a small multiple.
  virtual std::int64_t bytes_at_once() const = 0;

  /// Which part of the matrix this process gets. It gets the sizes, and where the file gives them, before memory is taken. It may
  /// refuse them.
  virtual BlockCyclic part(std::int64_t rows, std::int64_t cols, const std::string& place) = 0;
  /// Returns where all are here. It throws where one of them has thrown something since the last time.
  virtual void meet() = 0;
  /// numbers[i] ← the sum over all.
  virtual void sum(std::span<double> numbers) = 0;
  /// for_ranks[r] goes to rank r. Returns what came from each.
  virtual std::vector<Bytes> exchanged(std::vector<Bytes> for_ranks) = 0;

  /// What each rank has to say, by ranks.
  std::vector<double> gathered(double mine) {
    std::vector<double> all(std::size_t(count()), 0.0);
    all[std::size_t(rank())] = mine;
    sum(all);
    return all;
  }

  /// Why a number is not the same on all ranks, such as "3 rows for rank 0 and 4 for rank 2"; empty: it is.
  std::string difference(std::int64_t mine, const char* what) {
    const std::vector<double> all = gathered(double(mine));
    for (std::size_t r = 1; r < all.size(); ++r)
      if (all[r] != all[0])
        return fmt::format("{} {} for rank 0 and {} for rank {}", std::int64_t(all[0]), what, std::int64_t(all[r]), r);
    return "";
  }
};

}  // namespace lasolve::io
