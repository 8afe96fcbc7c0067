// What is compared: one recipe at one size is a row. A recipe is a backend, a precision, and options that make it another one.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/change.hpp"
#include "bench/product.hpp"
#include "bench/throttle.hpp"
#include "bench/yardstick.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::compare {

/// A task of a plan, and when it ran: seconds after the first of its factorization began.
struct TaskTime {
  std::string what, block;  ///< "update"; the block that it writes, such as "A[192:1024, 192:1024]"
  Phase phase = Phase::other;
  double begin = 0, seconds = 0, flops = 0;
  /// Of an update, which is C ← C − L U with C m × n and L m × k; else 0. Cholesky's on and below the diagonal alone has m = n.
  std::int64_t m = 0, n = 0, k = 0;
  std::string lane = {};  ///< of the device: those of different lanes may run at the same time; "bulk" on the CPU
  /// Of an update's time in all runs: see bench::quartiles_of(). Zeros: only that of this run is known.
  std::array<double, 3> quartiles = {};

  double usual_seconds() const { return quartiles[1] > 0 ? quartiles[1] : seconds; }
  double gflops() const { return usual_seconds() > 0 ? flops * 1e-9 / usual_seconds() : 0; }
};

/// How a row is found again in another result.
struct Key {
  std::string gemm, precision, device;
  std::int64_t n = 0;
  /// What was asked for of a solve besides, each option by its name, such as {"schedule", "crout"}. Not here: its default.
  std::map<std::string, std::string> options = {};
  auto operator<=>(const Key&) const = default;
};

/// The word that an option has; that of its default is "auto".
std::string option_of(const Key&, const std::string& option);
/// "--schedule crout --refine none".
std::string options_in_words(const Key&);
/// "packed (block-size 64, crout) in fp64".
std::string in_words(const Key&);

struct Row {
  Key key;
  bool is_baseline_solver = false;   ///< the solver of another library, of which only times are known
  bool for_want_of_machine = false;  ///< it failed for memory or a device, not by its result
  std::string failure;               ///< why it is no result; empty: it passed
  /// Where others fail alike, or it was told before, so that a table has it in brief: in_validation, or what the matrix is, as an outcome.
  /// Empty: the failure is one of this row.
  std::string failure_kind;
  static constexpr const char* in_validation = "validation";
  /// Of all counted runs, in the order in which they were made: of the whole solve without reading and checking, of the factorization
  /// alone, and of the backend's updates: in which at least one ran, or the busy time of their phase where they were not timed.
  std::vector<double> seconds, factor_seconds, gemm_seconds_of_runs;
  /// As `seconds`, of runs with copies: A, too, begins in pageable memory of the host. Empty: not asked for.
  std::vector<double> seconds_from_host;
  /// As `seconds`: what the process had of processors, which is more where several threads run, and not where others run instead. With
  /// what belongs to no solve, such as the check. Empty: it is not known.
  std::vector<double> processor_seconds;
  std::vector<int> visits;  ///< how many of the runs each visit made: see bench::Visits. Empty: it is not known
  /// Of the run with the median of `seconds`: wall time, busy times, and the tasks where these could be timed.
  double total_seconds = 0;
  PhaseTimes phases;
  std::vector<TaskTime> tasks;

  std::string factorization, schedule;
  std::string recipe;  ///< of the run with the median, in words
  std::int64_t block_size = 0;
  int refine_iterations = 0;
  std::vector<double> refinement_residuals;  ///< of the run with the median: see Report
  std::optional<double> backward_error, hpl_residual;
  /// Of the first run, in fp64 on the host: see ComponentwiseError; and the largest error of an element of x, whose elements are ±1.
  std::optional<double> componentwise_error, forward_error;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;  ///< of its kernel: what the contract allows, and a user has to know
  /// Of a plugin kernel that does a part of the contract: what the rest has cost, as a sentence, as a share of the time in its products
  /// (nothing: not timed), and what it was. Empty: the kernel does all.
  std::string adapter, adapter_work;
  std::optional<double> adapter_share;
  /// The share of the time of its counted runs in which a clock was held down by heat or power. Nothing: the device does not tell.
  std::optional<double> slowed;
  /// The precision whose factors gave the answer, where that is not the one of the key: coarser factors did not do. Else empty.
  std::string fell_back_to;
  std::optional<bench::Change> against_baseline;
  std::string why_no_verdict;  ///< where there is a baseline

  bool is_slowed() const { return slowed.value_or(0) > 0.01; }

  bool passed() const { return failure.empty(); }
  bool timed() const { return passed() && !seconds.empty(); }
  double median() const { return bench::spread_of(seconds).median; }
  double median_from_host() const { return bench::spread_of(seconds_from_host).median; }
  double gemm_seconds() const { return bench::spread_of(gemm_seconds_of_runs).median; }
  double gemm_flops() const;
  double gemm_gflops() const { return gemm_seconds() > 0 ? gemm_flops() * 1e-9 / gemm_seconds() : 0; }
  double gemm_share() const { return timed() ? gemm_seconds() / median() : 0; }
};

/// A size of the sweep, and its matrix.
struct Size {
  std::int64_t n = 0;
  std::string matrix, hash;
  double other_processors = 0;      ///< that other programs kept busy while it was measured: see bench::Others
  bench::Yardstick yardstick = {};  ///< of the host and the device, in each visit
  bench::Clocks clocks = {};        ///< of the device: see bench::Throttle
  std::vector<std::string> notes = {};

  /// Whether other programs kept so many processors busy that most runs met them.
  bool is_loaded() const { return other_processors > 0.25; }
};

/// How it was measured: what has to be the same where a sweep is continued.
struct Setting {
  std::string matrix;
  int threads = 0, warmup = 1, least_visits = 10, visits = 80, rounds = 400;
  double noise = 0.003, enough_seconds = 10;
  std::uint64_t seed = 1;
  bool copies = false;  ///< whether solves from the host were timed, too
  bool operator==(const Setting&) const = default;
};

/// What products in a precision are held against.
struct Limit {
  std::string device, precision;  ///< as in Key
  bench::Roof roof;
};

struct Comparison {
  std::string date, command;  ///< when it was begun, in UTC, and by which command line. Empty: older files have none
  Setting setting;
  std::vector<Limit> limits;  ///< those that were measured
  std::vector<Size> sizes;
  std::vector<Row> rows;  ///< size after size, each in the order in which backends were named
  std::vector<std::string> remarks;

  const Row* find(const Key&) const;
  const Size* find_size(std::int64_t n) const;
  /// The options in which rows differ, but for baseline solvers: those that change most slowly from row to row first.
  std::vector<std::string> differing_options() const;
  /// What a row is called among those in its precision: "packed", "packed (crout, refine none)", or where all are of one backend
  /// "crout, refine none".
  std::string label_of(const Row&) const;
  /// What the updates of a row are held against: a limit, or the fastest of them where these are faster than its rate. Nothing where
  /// none was measured.
  std::optional<bench::Roof> roof_of(const Row&) const;
  /// The rows of a size.
  std::vector<const Row*> at(std::int64_t n) const;
};

}  // namespace lasolve::compare
