// What an engine gives: processes that hold parts of one matrix, and factors of it. A module has one name for others, make_engine_name,
// and needs nothing of the library but headers. Products and norms are not asked of an engine, which would then vouch for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/block_cyclic.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::engines {

/// The processes that solve a system together, as one of them sees them. Ranks stand in the grid row by row.
struct Ranks {
  int rank = 0, count = 1;
  int on_this_machine = 1;
  bool has_own_cores = false;  ///< it is bound to some that no other rank on this machine is bound to
  int grid_rows = 1, grid_cols = 1;

  int row() const { return rank / grid_cols; }
  int col() const { return rank % grid_cols; }
};

/// The grid of so many ranks, as nearly square as their number is: no more rows than columns.
inline Ranks nearly_square(int count) {
  Ranks ranks{.count = count, .grid_cols = count};
  for (int rows = 1; rows * rows <= count; ++rows)
    if (count % rows == 0) ranks.grid_rows = rows, ranks.grid_cols = count / rows;
  return ranks;
}

/// What a rank has of a matrix.
template <class T>
struct Part {
  BlockCyclic layout;
  MatrixView<T> local;
};

/// Finished factors, in the memory of the matrix that was factored.
template <class T>
class Factored {
 public:
  virtual ~Factored() = default;
  /// solved, singular or not_positive_definite, the same on all ranks.
  virtual Outcome outcome() const = 0;
  /// X ← op(A)⁻¹ X. X is dealt out over the same grid in blocks of the same size.
  virtual void solve(Op op, Part<T> X) = 0;
};

/// Thrown on all ranks at once, with the same words.
struct FailedTogether : MachineError {
  using MachineError::MachineError;
};

/// All ranks call each function but the first five, in the same order.
class Engine {
 public:
  virtual ~Engine() = default;
  /// "ScaLAPACK 2.2.1 with Open MPI 4.1.4".
  virtual std::string version() const = 0;
  virtual Ranks ranks() const = 0;
  /// How many elements of so many bytes this rank's part may have.
  virtual std::int64_t most_elements(std::size_t bytes_each) const = 0;
  /// Of the blocks in which A is dealt out, where nobody says: a size in which the library does well.
  virtual std::int64_t block_size() const = 0;
  /// The smallest that its library takes.
  virtual std::int64_t least_block_size() const { return 1; }
  /// Ends all ranks at once, with this exit code.
  virtual void abort(int exit_code) noexcept = 0;

  /// How many cores each rank computes with.
  virtual void use_threads(int) = 0;
  /// numbers[i] ← the sum over all ranks: the same bits on each.
  virtual void sum(std::span<double> numbers) = 0;
  /// Returns when all are here.
  void meet() {
    double nothing = 0;
    sum({&nothing, 1});
  }
  /// numbers[i] ← the largest of all ranks.
  virtual void largest(std::span<double> numbers) = 0;
  /// What one rank has, all have.
  virtual void broadcast(std::span<std::byte> bytes, int from) = 0;
  using Bytes = std::vector<std::byte>;
  /// for_ranks[r] goes to rank r. Returns what came from each.
  virtual std::vector<Bytes> exchanged(std::vector<Bytes> for_ranks) = 0;

  /// Overwrites A, n × n in square blocks, with its factors. The lower triangle counts where the method is for symmetric matrices.
  virtual std::unique_ptr<Factored<double>> factor(Method, Part<double> A) = 0;
  virtual std::unique_ptr<Factored<float>> factor(Method, Part<float> A) = 0;
};

/// The function of a module that makes its engine, once in a process. The number is raised when the class changes.
using MakeEngine = Engine* (*)();
inline constexpr const char* make_engine_name = "lasolve_make_engine_4";

}  // namespace lasolve::engines
