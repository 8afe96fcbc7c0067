#include "cli/compare/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "bench/others.hpp"
#include "bench/visits.hpp"
#include "cli/compare/meanwhile.hpp"
#include "cli/kernels.hpp"
#include "cli/problem.hpp"
#include "compare/attribution.hpp"
#include "compare/timed.hpp"
#include "compare/whole_matrix.hpp"
#include "core/choose.hpp"
#include "core/kernel_fault.hpp"
#include "core/range.hpp"
#include "io/generators.hpp"
#include "io/input_error.hpp"
#include "lasolve/context.hpp"
#include "lasolve/names.hpp"
#include "plugin/backends.hpp"

namespace lasolve::cli {

using compare::Row;
using compare::TaskTime;

namespace {

/// Takes the contestants through the runs of one size.
class RunsOfSize {
 public:
  RunsOfSize(const CompareRequest& request, const std::vector<Contestant>& all, const std::string& matrix,
             const Watch& watch)
      : request_(request),
        all_(all),
        watch_(watch),
        matrix_(matrix),
        meanwhile_(request, all),
        slowed_(all.size()),
        recordings_(all.size(), compare::Recording(request.tasks())),
        done_(all.size(), 0.0) {
    problem_.emplace(request_for(matrix));
    for (std::size_t c = 0; c < all.size(); ++c) runners_.push_back({c, false});
    for (std::size_t c = 0; c < all.size() && request.setting.copies; ++c)
      if (!all[c].baseline_solver) runners_.push_back({c, true});
    for (const Contestant& c : all) {
      Row row;
      row.key = c.key(problem_->n());
      row.is_baseline_solver = c.baseline_solver != nullptr;
      row.failure = c.fault;
      rows_.push_back(std::move(row));
    }
    runs_.resize(all.size());
    solutions_.resize(all.size());
  }

  std::vector<Row> run() {
    const compare::Setting& s = request_.setting;
    const bool rests_long = !request_.baseline_solvers.empty() &&
                            !request_.baseline_solvers.front()->on_cuda;  // OpenMP's threads spin after a run
    const bench::Visits visits{.most = s.visits,
                               .least = s.least_visits,
                               .runs = s.rounds / s.visits,
                               .warmup = s.warmup,
                               .noise = s.noise,
                               .enough_seconds = s.enough_seconds,
                               .few_runs = 3,
                               .rest = {rests_long ? 0.1 : 0, 0.1},
                               .seed = s.seed};
    const auto runs = bench::time_in_visits(
        visits, runners_.size(), [&](int visit) { begin(visit); },
        [&](std::size_t r, bool counts) { return run_once(runners_[r], counts); });
    meanwhile_.look_for_spinning();
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      rows_[c].visits = runs[c];
      finish(c);
    }
    return std::move(rows_);
  }
  /// The hash of the matrix; the rows get the errors of their solutions, for which all of it is seen once more.
  std::string see_matrix(std::vector<Row>& rows) {
    compare::MatrixHash hash(problem_->n(), problem_->n());
    std::vector<compare::ComponentwiseError> errors;
    std::vector<std::size_t> of_rows;
    const MatrixView<const double> b = problem_->rhs();
    for (std::size_t c = 0; c < rows.size(); ++c)
      if (!solutions_[c].empty()) errors.emplace_back(solutions_[c], b), of_rows.push_back(c);
    problem_->see_columns(request_.options.threads,
                          [&](const Queue<Cpu>& q, std::int64_t first, MatrixView<const double> columns) {
                            hash.add(q, columns);
                            for (auto& error : errors) error.add(q, first, columns);
                          });
    for (std::size_t e = 0; e < errors.size(); ++e) rows[of_rows[e]].componentwise_error = errors[e].largest();
    return hash.text();
  }
  const Problem& problem() const { return *problem_; }
  const Meanwhile& meanwhile() const { return meanwhile_; }

 private:
  /// Whose turn it is: a row's solves with copies run beside those without, and as often.
  struct Runner {
    std::size_t row;
    bool from_host;
  };
  struct Run {
    Report report;
    std::vector<TaskTime> tasks;
    std::string recipe;
    plugin::Cost adapter;
  };

  Request request_for(const std::string& matrix) const {
    Request r;
    r.matrix = matrix;
    r.quiet = request_.quiet;
    r.options = request_.options;
    r.options.precision = Precision::fp64;
    return r;
  }

  /// The solves of a visit have other memory than those of the visit before. A solve may take some percent more or less by where its memory
  /// is, and a session would have it in one place, by chance.
  void begin(int visit) {
    if (visit > 0) meanwhile_.look_for_spinning();
    meanwhile_.measure_yardstick();
    if (visit == 0) return;
    const bool makes_again = problem_->is_generated();
    X_ = Matrix<double>();
    if (makes_again) problem_.reset();
    release_memory_of_device();
    if (makes_again) problem_.emplace(request_for(matrix_));
  }

  /// Not where a row takes long: it is not warmed up in this visit, and its memory is in many places.
  void release_memory_of_device() {
    const Device& device = request_.options.device;
    const bool any_long = any_of(
        rows_, [](const Row& row) { return !row.seconds.empty() && row.seconds.back() > bench::Visits().long_run; });
    if (device.kind != Device::cuda || any_long) return;
    try {
      release_unused_memory(device.index);
    } catch (const MachineError&) {  // a backend has spoilt the device, which its row says
    }
  }

  /// The seconds of a run; nothing, and the row says why, where it failed.
  std::optional<double> run_once(const Runner& runner, bool counts) {
    const std::size_t c = runner.row;
    if (!rows_[c].passed()) return {};
    say(c, 0);
    problem_->draw_signs(++runs_made_);
    return meanwhile_.around_run(all_[c].name, [&] { return counted_run(runner, counts); });
  }

  std::optional<double> counted_run(const Runner& runner, bool counts) {
    const std::size_t c = runner.row;
    Row& row = rows_[c];
    const std::string with = runner.from_host ? "with copies: " : "";
    if (watch_.begins) watch_.begins(c, problem_->n());
    try {
      if (runner.from_host) return run_from_host(c, counts);
      if (counts) meanwhile_.throttle.begin();
      const double seconds = row.is_baseline_solver ? run_baseline_solver(c, counts) : run_backend(c, counts);
      if (counts) meanwhile_.throttle.end(slowed_[c]);
      if (!row.passed()) return {};
      if (counts) row.seconds.push_back(seconds);
      say(c, 1);
      return seconds;
    } catch (const io::InputError&) {  // of the matrix, so of all
      throw;
    } catch (const io::GeneratorError&) {
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const std::bad_alloc&) {
      row.failure = with + "not enough host memory", row.for_want_of_machine = true;
      return {};
    } catch (const OutOfMemory& e) {
      row.failure = with + e.what(), row.for_want_of_machine = true;
      return {};
    } catch (const MachineError& e) {
      row.failure = with + e.what(), row.for_want_of_machine = true;
    } catch (const KernelFault& e) {
      row.failure = fmt::format("{}in a timed solve it {}", with, e.what());
    } catch (const std::exception& e) {
      row.failure = with + e.what();
    }
    if (watch_.failed) watch_.failed(c, row.failure);
    return {};
  }

  double run_backend(std::size_t c, bool counts) {
    Row& row = rows_[c];
    compare::Recording& recording = recordings_[c];
    Options options = all_[c].options;
    if (recording.progress(counts)) options.progress = [&](double fraction) { say(c, fraction); };
    plugin::take_cost(row.key.gemm);  // of what ran before
    compare::TimedSolve solve = compare::timed(recording.tasks(), [&] { return problem_->solve(options, X_); });
    recording.learn(solve);
    plugin::require_intact(row.key.gemm);
    Run run{std::move(solve.report), std::move(solve.tasks), std::move(solve.recipe), plugin::take_cost(row.key.gemm)};
    const Report& report = run.report;
    if (options.factorization == Method::automatic) method_ = report.method;
    if (report.outcome.has_solution()) keep_solution(c, X_);
    row.backward_error = report.backward_error, row.hpl_residual = report.hpl_residual;
    row.failure = why_no_result(report);
    if (is_of_matrix(report.outcome.kind)) row.failure_kind = name_of(report.outcome.kind);
    const double seconds = report.total_seconds;
    if (counts && row.passed()) {
      row.factor_seconds.push_back(report.factor_seconds);
      row.processor_seconds.push_back(solve.processor_seconds);
      row.gemm_seconds_of_runs.push_back(run.tasks.empty() ? report.phases.seconds_of(Phase::gemm)
                                                           : compare::seconds_of_updates(run.tasks));
      runs_[c].push_back(std::move(run));
    }
    return seconds;
  }

  /// That of the first run: x is known, since b = A·1.
  void keep_solution(std::size_t c, const Matrix<double>& X) {
    if (!solutions_[c].empty()) return;
    solutions_[c] = problem_->without_signs(X);
    double worst = 0;
    for (const double x : solutions_[c])
      if (const double error = std::abs(x - 1); !(error <= worst) && worst == worst) worst = error;  // a NaN stays
    rows_[c].forward_error = worst;
  }

  /// Recorded as the runs without copies are. Nothing, and the row says why, where it failed.
  std::optional<double> run_from_host(std::size_t c, bool counts) {
    Row& row = rows_[c];
    const compare::TimedSolve solve =
        compare::timed(recordings_[c].tasks(), [&] { return problem_->solve(all_[c].options, X_, true); });
    plugin::require_intact(row.key.gemm);
    const std::string why = why_no_result(solve.report);
    if (!why.empty()) {
      row.failure = "with copies: " + why;
      return {};
    }
    if (counts) row.seconds_from_host.push_back(solve.report.total_seconds);
    return solve.report.total_seconds;
  }

  /// Whether another kernel would meet it, too.
  static bool is_of_matrix(Outcome::Kind kind) {
    return kind == Outcome::singular || kind == Outcome::not_positive_definite || kind == Outcome::not_symmetric ||
           kind == Outcome::unsuitable;
  }

  /// Empty: it is one.
  static std::string why_no_result(const Report& report) {
    const Outcome::Kind kind = report.outcome.kind;
    const bool wants_another = kind == Outcome::not_positive_definite || kind == Outcome::not_symmetric;
    const char* const hint = wants_another                 ? "; --matrix spd is for Cholesky"
                             : kind == Outcome::unsuitable ? "; --matrix diagdom is so"
                                                           : "";
    return report.outcome.ok() ? "" : report.outcome.message() + hint;
  }

  double run_baseline_solver(std::size_t c, bool counts) {
    Row& row = rows_[c];
    const auto [A, B] = problem_->on_host(request_.options.threads);
    Method method = all_[c].options.factorization;
    if (method == Method::automatic) method = method_;
    Matrix<double> X(A.rows(), B.cols());
    const baseline_solvers::Library& library = *all_[c].baseline_solver;
    const baseline_solvers::System<double> system{A, B, X.view()};
    const double before = compare::processor_seconds();
    const double seconds = baseline_solvers::solve(library, system, method, request_.options.threads).whole;
    if (counts) row.processor_seconds.push_back(compare::processor_seconds() - before);
    keep_solution(c, X);
    if (!row.backward_error) {
      if (const std::string note = library.note(method); !note.empty()) row.notes.push_back(note);
      row.backward_error = baseline_solvers::backward_error(system);
      row.hpl_residual = *row.backward_error / (unit_roundoff_of(Precision::fp64) * double(A.rows()));
      if (!(*row.hpl_residual < hpl_threshold))
        row.failure = fmt::format("its backward error is {:.1e}", *row.backward_error);
    }
    row.factorization = name_of(method);
    return seconds;
  }

  /// Takes over the run with the median time.
  void finish(std::size_t c) {
    Row& row = rows_[c];
    if (!row.passed())
      row.seconds.clear(), row.factor_seconds.clear(), row.processor_seconds.clear(), row.gemm_seconds_of_runs.clear(),
          row.seconds_from_host.clear(), row.visits.clear();
    if (meanwhile_.throttle.is_known() && row.timed()) row.slowed = slowed_[c].share();
    row.notes.insert(row.notes.end(), problem_->notes().begin(), problem_->notes().end());
    if (runs_[c].empty()) return;
    auto& runs = runs_[c];
    const auto middle = runs.begin() + std::ptrdiff_t((runs.size() - 1) / 2);
    std::nth_element(runs.begin(), middle, runs.end(),
                     [](const Run& a, const Run& b) { return a.report.total_seconds < b.report.total_seconds; });
    const Report& report = middle->report;
    row.total_seconds = report.total_seconds;
    row.phases = report.phases;
    row.phases.seconds_of(Phase::read) = row.phases.seconds_of(Phase::check) = 0;  // no part of the total
    row.tasks = middle->tasks;
    std::vector<const std::vector<TaskTime>*> of_runs;
    for (const Run& run : runs) of_runs.push_back(&run.tasks);
    compare::add_quartiles(row.tasks, of_runs);
    row.adapter = middle->adapter.in_words(), row.adapter_work = middle->adapter.work_in_words();
    if (!row.adapter.empty()) row.adapter_share = middle->adapter.share();
    row.factorization = name_of(report.method), row.schedule = name_of(report.schedule);
    row.block_size = report.block_size, row.recipe = middle->recipe;
    if (const std::string used = name_of(report.precision); used != row.key.precision) row.fell_back_to = used;
    row.refine_iterations = report.refine_iterations, row.refinement_residuals = report.refinement_residuals;
    for (const auto& note : report.notes) row.notes.push_back(note);
  }

  /// The share of this size that is done: each contestant's by its runs or its time, whichever ends it.
  void say(std::size_t c, double fraction_of_run) {
    if (!watch_.progress) return;
    const compare::Setting& s = request_.setting;
    const double runs = double(rows_[c].seconds.size()) + fraction_of_run;
    const int runs_of_a_visit = s.rounds / s.visits;
    const double by_runs = runs / (double(s.least_visits) * double(runs_of_a_visit) + 1);
    done_[c] = std::max(done_[c], std::min(0.95, by_runs));
    double sum = 0;
    for (std::size_t i = 0; i < done_.size(); ++i) sum += rows_[i].passed() ? done_[i] : 1;
    watch_.progress(sum / double(done_.size()));
  }

  const CompareRequest& request_;
  const std::vector<Contestant>& all_;
  const Watch& watch_;
  const std::string matrix_;
  std::optional<Problem> problem_;
  Meanwhile meanwhile_;
  std::vector<bench::Slowed> slowed_;
  std::vector<compare::Recording> recordings_;
  std::vector<Row> rows_;
  std::vector<Runner> runners_;  // rows without copies come first, in their order
  std::vector<std::vector<Run>> runs_;
  std::vector<std::vector<double>> solutions_;  // of each row, without signs
  std::vector<double> done_;
  Matrix<double> X_;
  std::uint64_t runs_made_ = 0;  // each has signs of its own, so that no product is one of a run before
  Method method_ = Method::lu;   // of the last run of ours that left it open
};

}  // namespace

std::vector<Row> run_size(const CompareRequest& request, const std::vector<Contestant>& all, const std::string& matrix,
                          compare::Size& size, const Watch& watch) {
  const bench::Others others;
  RunsOfSize of_size(request, all, matrix, watch);
  std::vector<Row> rows = of_size.run();
  size = {of_size.problem().n(),      of_size.problem().name(),        "",
          others.processors(),        of_size.meanwhile().yardstick(), of_size.meanwhile().throttle.clocks(),
          of_size.meanwhile().notes()};
  constexpr std::int64_t worth_making_again = 32768;
  const bool ran = any_of(rows, [](const Row& r) { return r.timed(); });
  if (!ran || size.n > worth_making_again) return rows;
  try {
    size.hash = of_size.see_matrix(rows);
  } catch (const std::bad_alloc&) {  // the rows are whole without it
  } catch (const OutOfMemory&) {
  }
  return rows;
}

}  // namespace lasolve::cli
