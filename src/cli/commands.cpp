#include "cli/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/answer.hpp"
#include "cli/engine/engine.hpp"
#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/tuning.hpp"
#include "core/choose.hpp"
#include "io/input_file.hpp"
#include "lasolve/names.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

/// Before a long file is read: throws where a backend cannot run, or a place cannot be written.
void require_possible(const Request& request) {
  for (const auto& backend : request.backends) {
    Options options = request.options;
    options.gemm = backend;
    tuning_asked_for(request, options);
    const Choice choice = choose(options);
    if (!choice.offers(request.products_in()))
      throw UsageError(does_not_offer(choice.name(), choice.device(), request.products_in()) + what_it_offers(choice));
  }
  require_outputs_writable(request);
}

int watch_solves(const Request& request) {
  worker::Watched what{.words = request.words, .backends = request.backends, .patience = request.patience};
  for (const std::string& file : {request.matrix, request.rhs})
    what.comes_again &= file.empty() || io::Generator::is_meant_by(file) || io::is_regular_file(file);
  return worker::watch(what);
}

}  // namespace

int solve_command(int argc, const char* const* argv) {
  const Request asked = parse_solve(argc, argv);
  if (asked.version) {
    fmt::print("lasolve {}\n", version());
    return done;
  }
  if (!asked.engine.empty()) return solve_with_engine(asked);
  say_where_others_solve_the_same(asked);
  require_possible(asked);
  if (worker::has_to_watch(asked.backends)) return watch_solves(asked);
  Problem problem(asked, true);
  Request request = asked;
  request.backends = those_that_are_right(asked.backends, asked.options, asked.patience, problem.n());
  const bool all_are_right = request.backends.size() == asked.backends.size();
  if (request.backends.empty()) {
    fmt::print(stderr, "lasolve: nothing was solved\n");
    return not_accurate;
  }
  Solutions solutions;
  const std::vector<Measured> all = [&] {
    const worker::RedirectedOutput what_kernels_print;
    return measure(request, problem, solutions);
  }();
  return say_and_write(request, all, solutions, problem.is_vector(),
                       all_are_right ? code_of_what_is_left_out() : not_accurate);
}

int list_command(int argc, const char* const* argv) {
  const Request request = parse_list(argc, argv);
  const bool as_text = request.json.empty() || !io::is_standard_output(request.json);
  if (!request.list_tuning && !request.list_tuned && !request.json.empty())
    throw UsageError("--json is for list --tuning and list --tuned, not for list alone");
  if (as_text)
    fmt::print("{}", request.list_tuning  ? list_of_tuning(request)
                     : request.list_tuned ? list_of_tuned(request)
                                          : list_of_backends());
  if (!request.json.empty()) write_text(request.json, request.list_tuning ? tuning_as_json(request) : tuned_as_json());
  return done;
}

int generate_command(int argc, const char* const* argv) {
  const Request request = parse_generate(argc, argv);
  const io::Generator generator(request.matrix);
  io::require_matrix_writable(request.output);
  io::require_memory<Cpu>(generator, sizeof(double));
  Queue<Cpu> q(request.options.threads);
  const std::int64_t n = generator.n(), at_once = std::max<std::int64_t>(1, (1 << 24) / n);
  Matrix<double> A(n, n);
  {
    Progress progress("making " + request.matrix, request.quiet);
    for (std::int64_t j = 0; j < n; j += at_once) {
      progress(double(j) / double(n));
      io::generate(q, generator, A.view().columns(j, std::min(at_once, n - j)), j);
    }
  }
  Progress progress("writing " + request.output, request.quiet || shows_itself(request.output));
  io::write_matrix(request.output, A, {request.matrix},
                   {request.format, false, [&](double share) { progress(share); }});
  return done;
}

int convert_command(int argc, const char* const* argv) {
  const Request request = parse_convert(argc, argv);
  if (!shows_itself(request.output)) io::require_matrix_writable(request.output);
  io::MatrixFile file;
  {
    Progress progress("reading " + request.matrix, request.quiet);
    file = io::read_matrix(request.matrix, {.threads = Queue<Cpu>(request.options.threads).threads(),
                                            .allow_nonfinite = request.options.allow_nonfinite,
                                            .progress = [&](double share) { progress(share); },
                                            .decimal_comma = request.decimal_comma});
  }
  for (const std::string& note : file.notes) fmt::print(stderr, "lasolve: {}\n", note);
  Progress progress("writing " + request.output, request.quiet || shows_itself(request.output));
  io::write_matrix(request.output, file.matrix, {},
                   {request.format, file.is_vector, [&](double share) { progress(share); }});
  return done;
}

int help_command(int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "", of = argc > 2 ? argv[2] : "";
  const bool is_asked_for_all = word.empty() || word == "--help" || word == "-h";
  fmt::print("{}", is_asked_for_all ? overview() : word.starts_with("--") ? page_of(word, of) : help_about(word));
  return done;
}

}  // namespace lasolve::cli
