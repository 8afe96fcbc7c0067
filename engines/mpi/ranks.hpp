// What engines have of MPI: ranks, sums and messages. For modules, which need nothing of the library but headers.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engines/engine.hpp"

namespace lasolve::engines {

/// The least number above 0 that any rank has; 0: none has. So all know the first column at which factoring failed.
inline int agreed(int info) {
  constexpr int none = std::numeric_limits<int>::max();
  int mine = info > 0 ? info : none, first = none;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return first == none ? 0 : first;
}

class MpiRanks : public Engine {
 public:
  MpiRanks() {
    MPI_Init(nullptr, nullptr);
    int rank = 0, count = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    ranks_ = nearly_square(count);
    ranks_.rank = rank;
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks_.on_this_machine);
    MPI_Comm_rank(here, &rank_here_);
    ranks_.has_own_cores = has_own_cores(here);
    MPI_Comm_free(&here);
  }
  ~MpiRanks() override { MPI_Finalize(); }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  Ranks ranks() const override { return ranks_; }
  void abort(int exit_code) noexcept override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

  void sum(std::span<double> numbers) override {
    // On one rank, and sent from there: the order of a sum may differ from rank to rank otherwise.
    for_pieces(numbers, [&](double* piece, int size) {
      MPI_Reduce(ranks_.rank == 0 ? MPI_IN_PLACE : piece, piece, size, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      MPI_Bcast(piece, size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    });
  }
  void largest(std::span<double> numbers) override {
    for_pieces(numbers, [](double* piece, int size) {
      MPI_Allreduce(MPI_IN_PLACE, piece, size, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    });
  }
  void broadcast(std::span<std::byte> bytes, int from) override {
    for_pieces(bytes, [&](std::byte* piece, int size) { MPI_Bcast(piece, size, MPI_BYTE, from, MPI_COMM_WORLD); });
  }
  std::vector<Bytes> exchanged(std::vector<Bytes> for_ranks) override {
    std::vector<std::uint64_t> lengths(for_ranks.size()), its(for_ranks.size());
    for (std::size_t r = 0; r < lengths.size(); ++r) lengths[r] = for_ranks[r].size();
    MPI_Alltoall(lengths.data(), 1, MPI_UINT64_T, its.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<Bytes> came(its.size());
    std::vector<MPI_Request> open;
    for (std::size_t r = 0; r < its.size(); ++r) {
      came[r].resize(its[r]);
      for_pieces(std::span(came[r]), [&](std::byte* piece, int size) {
        MPI_Irecv(piece, size, MPI_BYTE, int(r), 0, MPI_COMM_WORLD, &open.emplace_back());
      });
    }
    for (std::size_t r = 0; r < lengths.size(); ++r)
      for_pieces(std::span(for_ranks[r]), [&](std::byte* piece, int size) {
        MPI_Isend(piece, size, MPI_BYTE, int(r), 0, MPI_COMM_WORLD, &open.emplace_back());
      });
    MPI_Waitall(int(open.size()), open.data(), MPI_STATUSES_IGNORE);
    return came;
  }

  /// f() on each rank, which waits for no other there. Where it throws on some, FailedTogether is thrown on all, with the words of the first.
  template <class F>
  void together(F f) {
    std::string said;
    int failed = ranks_.count, first = ranks_.count;
    try {
      f();
    } catch (const std::exception& e) {
      said = e.what(), failed = ranks_.rank;
    }
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks_.count) return;
    std::uint64_t length = said.size();
    broadcast(std::as_writable_bytes(std::span(&length, 1)), first);
    said.resize(length);
    broadcast(std::as_writable_bytes(std::span(said)), first);
    throw FailedTogether(first > 0 ? said + " (rank " + std::to_string(first) + ")" : said);
  }

 protected:
  /// Where others may wait for this rank for ever, and no engine is there yet that could be asked to abort: says why, and ends all.
  [[noreturn]] void end_all(const std::string& why) {
    std::fprintf(stderr, "lasolve: %s (rank %d)\n", why.c_str(), ranks_.rank);
    abort(6);
    std::abort();
  }
  /// Among those on this machine.
  int rank_here() const { return rank_here_; }

  /// "Open MPI v4.1.4".
  static std::string mpi_version() {
    int length = 0;
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    MPI_Get_library_version(text.data(), &length);
    const std::string all(text.data(), std::size_t(length));  // "Open MPI v4.1.4, package: …"
    return all.substr(0, all.find_first_of(",\n"));
  }

 private:
  template <class T, class F>
  static void for_pieces(std::span<T> all, F f) {
    constexpr std::size_t most = std::size_t(1) << 28;
    for (std::size_t at = 0; at < all.size(); at += most) f(all.data() + at, int(std::min(most, all.size() - at)));
  }

  /// Whether no two ranks on a machine may run on the same core.
  static bool has_own_cores(MPI_Comm here) {
    cpu_set_t mine, all;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    int count = CPU_COUNT(&mine), sum = 0;
    MPI_Allreduce(&mine, &all, int(sizeof mine), MPI_BYTE, MPI_BOR, here);
    MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, here);
    return sum == CPU_COUNT(&all);
  }

  Ranks ranks_;
  int rank_here_ = 0;
};

}  // namespace lasolve::engines
