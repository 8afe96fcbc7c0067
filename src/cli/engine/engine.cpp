#include "cli/engine/engine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "cli/engine/collective.hpp"
#include "cli/engine/parts.hpp"
#include "core/cpu/copy_on_host.hpp"
#include "core/cpu/limits.hpp"
#include "core/module.hpp"
#include "core/stopwatch.hpp"
#include "engines/load.hpp"
#include "engines/solve.hpp"
#include "plugin/program.hpp"
#include "solvers/watch.hpp"

namespace lasolve::cli {

namespace {

/// This process becomes mpirun, with the same command line but for --ranks.
[[noreturn]] void become_mpirun(const Request& request) {
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(request.ranks), this_program().string()};
  for (std::size_t k = 0; k < request.words.size(); ++k) {
    if (request.words[k] == "--ranks")
      ++k;  // and its value
    else if (!request.words[k].starts_with("--ranks="))
      words.push_back(request.words[k]);
  }
  execvp("mpirun", plugin::argv_of(words).data());
  throw MachineError(
      fmt::format("mpirun cannot be started: {}; on Debian it is in the package openmpi-bin", std::strerror(errno)));
}

/// For each rank, a thread on each of its own cores; where ranks may run on the same ones, its share of them.
int threads_for(const engines::Ranks& ranks, int asked) {
  if (asked > 0) return asked;
  return std::max(1, usable_processors() / (ranks.has_own_cores ? 1 : ranks.on_this_machine));
}

/// Else each process would solve all of the system alone.
void require_common_mpi(const engines::Engine& engine) {
  const int started = engines::ranks_of_this_process();
  if (started > 1 && engine.ranks().count == 1)
    throw MachineError(fmt::format("{} processes were started, and {} knows of one: take the mpirun of that MPI",
                                   started, engine.version()));
}

int solve_on(engines::Engine& engine, Request request) {
  const Collective collective(engine);
  const engines::Ranks ranks = engine.ranks();
  request.options.threads = threads_for(ranks, request.options.threads);
  engine.use_threads(request.options.threads);
  collective.run_on_first([&] { require_outputs_writable(request); });
  Facts facts{.gemm = request.engine};
  const Stopwatch reading;
  std::unique_ptr<const engines::PartOfA> A;
  collective.run([&] { A = std::make_unique<engines::PartOfA>(part_of_A(engine, collective, request, facts.notes)); });
  const RightHandSides rhs = right_hand_sides(engine, collective, request, A->layout(), facts.notes);
  facts.times.phases.seconds_of(Phase::read) = reading.seconds();

  engines::Distributed<double> X(engines::layout_of(ranks, A->n(), rhs.count, A->layout().rows.block));
  const engines::System system{engine, *A, request.op, rhs.B ? &*rhs.B : nullptr, request.options};
  Measured measured;
  const RecipeWatch recipes({measured.decided.emplace()});
  const Report& report = measured.report = engines::solve(system, X, std::move(facts));
  measured.least_factor_seconds = measured.most_factor_seconds = report.factor_seconds;
  measured.factor_seconds = {report.factor_seconds};
  measured.engine = {request.engine, engine.version(), ranks.count, ranks.grid_rows, ranks.grid_cols};

  const int code = exit_code(report.outcome, request);
  Solutions solutions;
  const bool is_first = ranks.rank == 0;
  if (code == 0 && !(request.rhs.empty() && request.output.empty())) {
    collective.run_on_first([&] { solutions.X = Matrix<double>(A->n(), rhs.count); });
    engines::for_strips(A->n(), rhs.count, [&](std::int64_t first, std::int64_t count) {
      const Matrix<double> strip = engines::gathered(engine, X, first, count);
      if (is_first) copy_on_host<double>(strip, solutions.X.view().columns(first, count));
    });
  }
  collective.run_on_first([&] { say_and_write(request, {measured}, solutions, rhs.is_vector, code); });
  return code;
}

}  // namespace

void say_where_others_solve_the_same(const Request& request) {
  const int count = engines::ranks_of_this_process();
  if (count < 2 || request.quiet || engines::rank_of_this_process() > 0) return;
  fmt::print(stderr,
             "lasolve: {} processes were started, and each solves all of the system; with --engine scalapack they "
             "share it\n",
             count);
}

int solve_with_engine(const Request& request) {
  if (request.ranks > 0 && engines::ranks_of_this_process() > 1)
    throw UsageError("--ranks starts mpirun, and several processes were started already: leave --ranks out");
  if (request.ranks > 0) become_mpirun(request);
  const std::unique_ptr<engines::Engine> engine = engines::load(request.engine);
  require_common_mpi(*engine);
  // All ranks end with the same code; mpirun would interrupt those that are not quite as fast as the first.
  const auto ended = [](int code) {
    if (code != 0) std::signal(SIGTERM, SIG_IGN);
    return code;
  };
  try {
    return ended(solve_on(*engine, request));
  } catch (const Ended& early) {
    return ended(early.code);
  } catch (const engines::FailedTogether&) {
    const Failure failure = current_failure("solve");
    if (engine->ranks().rank == 0) fmt::print(stderr, "{}\n", failure.message());
    return ended(failure.code);
  } catch (...) {  // the other ranks may wait for this one
    const Failure failure = current_failure("solve");
    fmt::print(stderr, "{}\n", failure.message());
    engine->abort(failure.code);
    return failure.code;
  }
}

bool is_said_by_another_rank(int argc, const char* const* argv) {
  const bool has_engine =
      std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word).starts_with("--engine"); });
  return has_engine && engines::rank_of_this_process() > 0;
}

void wait_for_first_rank() { std::this_thread::sleep_for(std::chrono::seconds(10)); }

}  // namespace lasolve::cli
