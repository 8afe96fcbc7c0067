#include "cli/json.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>

#include "cli/kernels.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "core/build.hpp"
#include "core/cpu/limits.hpp"
#include "lasolve/names.hpp"

namespace lasolve::cli {

namespace {

/// An empty list where one backend makes all.
Json products_of(const Report& r) {
  Json all = Json::array();
  for (const ProductsOf& of : r.products_of)
    all.push_back({{"gemm", of.gemm}, {"calls", of.count.calls}, {"flops", of.count.flops}});
  return all;
}

/// Of the phases that have any.
Json of_phases(const std::array<double, phase_count>& values) {
  Json all = Json::object();
  for (std::size_t p = 0; p < phase_count; ++p)
    if (values[p] > 0) all[name_of(Phase(p))] = values[p];
  return all;
}

Json outcome_at(const Outcome& outcome) {
  return !outcome.has_solution() || outcome.kind == Outcome::not_converged ? Json(outcome.at) : Json(nullptr);
}

struct Solved {
  const Subject& subject;
  const Measured& measured;
  const Report& report;
};
using In = const Solved&;

struct Field {
  const char* name;
  const char* meaning;
  Json (*of)(In);
};

const Field fields[] = {
    {"schema_version", "1; a field that goes or changes its meaning raises it", [](In) -> Json { return 1; }},
    {"outcome", "solved, singular, not_positive_definite, not_converged, inaccurate, ill_conditioned, not_symmetric",
     [](In s) -> Json { return s.report.outcome.name(); }},
    {"outcome_at",
     "singular: the column of the zero pivot, from 0; not_positive_definite: the order of the leading minor; "
     "not_converged: the iterations",
     [](In s) -> Json { return outcome_at(s.report.outcome); }},
    {"message", "the outcome in a sentence", [](In s) -> Json { return s.report.outcome.message(); }},
    {"matrix", "A: the file or the generator", [](In s) -> Json { return s.subject.matrix; }},
    {"rhs", "B: the file, or how it was made", [](In s) -> Json { return s.subject.rhs; }},
    {"transposed", "whether the system is with the transpose of A", [](In s) -> Json { return s.subject.transposed; }},
    {"n", "the order of A", [](In s) -> Json { return s.report.n; }},
    {"nrhs", "the columns of B", [](In s) -> Json { return s.report.nrhs; }},
    {"device", "cpu, or cuda:INDEX", [](In s) -> Json { return s.report.device; }},
    {"gemm", "the backend that made the updates", [](In s) -> Json { return s.report.gemm; }},
    {"small_below_flops", "below how many operations a product is another backend's; null: one makes all",
     [](In s) -> Json { return s.report.products_of.empty() ? Json(nullptr) : Json(s.report.small_below); }},
    {"products_of", "with two backends: the calls and the operations of each",
     [](In s) -> Json { return products_of(s.report); }},
    {"factorization", "lu or cholesky", [](In s) -> Json { return name_of(s.report.method); }},
    {"precision", "in which the system was solved", [](In s) -> Json { return name_of(s.report.precision); }},
    {"storage", "what the factors are stored in", [](In s) -> Json { return name_of(s.report.storage); }},
    {"products", "what products are computed in", [](In s) -> Json { return name_of(s.report.products); }},
    {"residual", "what residuals are computed in", [](In s) -> Json { return name_of(s.report.residual); }},
    {"refine", "none or classical", [](In s) -> Json { return name_of(s.report.refine); }},
    {"schedule", "the order of the steps", [](In s) -> Json { return name_of(s.report.schedule); }},
    {"block_size", "columns of a panel at most", [](In s) -> Json { return s.report.block_size; }},
    {"phases", "busy seconds of each phase; on CUDA phases overlap",
     [](In s) -> Json { return of_phases(s.report.phases.seconds); }},
    {"phase_flops", "floating-point operations of each phase",
     [](In s) -> Json { return of_phases(s.report.phases.flops); }},
    {"factor_seconds", "wall time of the factorization, of the median run",
     [](In s) -> Json { return s.report.factor_seconds; }},
    {"solve_seconds", "wall time of the triangular solves", [](In s) -> Json { return s.report.solve_seconds; }},
    {"total_seconds", "wall time of the whole solve, with copies and refinement, without reading and checking",
     [](In s) -> Json { return s.report.total_seconds; }},
    {"factor_gflops", "10^9 operations a second: 2/3 n^3 (LU) or 1/3 n^3 (Cholesky) over factor_seconds",
     [](In s) -> Json { return number_or_null(s.report.factor_gflops); }},
    {"runs", "how many were timed", [](In s) -> Json { return s.measured.runs; }},
    {"factor_seconds_least", "of these, the shortest factorization",
     [](In s) -> Json { return s.measured.least_factor_seconds; }},
    {"factor_seconds_most", "the longest", [](In s) -> Json { return s.measured.most_factor_seconds; }},
    {"factor_seconds_of_runs", "of each run", [](In s) -> Json { return s.measured.factor_seconds; }},
    {"seed", "of the random order in which several backends ran", [](In s) -> Json { return s.measured.seed; }},
    {"backward_error", "max over columns of |b - A x| / (|A| |x| + |b|), infinity norms",
     [](In s) -> Json { return number_or_null(s.report.backward_error); }},
    {"hpl_residual", "that over n times the roundoff; passes below 16",
     [](In s) -> Json { return number_or_null(s.report.hpl_residual); }},
    {"forward_error", "|x - x*| / |x*|, largest entries, where the true answer x* is known",
     [](In s) -> Json { return number_or_null(s.report.forward_error); }},
    {"rcond", "an estimate of 1 / (|A| |A^-1|), 1-norm", [](In s) -> Json { return number_or_null(s.report.rcond); }},
    {"rcond_of_scaled_rows", "the same with rows scaled, where only their sizes make rcond small",
     [](In s) -> Json { return number_or_null(s.report.rcond_of_scaled_rows); }},
    {"rcond_of_scaled_columns", "the same with columns scaled, too",
     [](In s) -> Json { return number_or_null(s.report.rcond_of_scaled_columns); }},
    {"digits", "of the solution that may be trusted, about; null where the solution is not accurate",
     [](In s) -> Json { return number_or_null(s.report.digits); }},
    {"growth", "max|U| / max|A| of an LU, where a solution failed its check, if only before it was refined",
     [](In s) -> Json { return number_or_null(s.report.growth); }},
    {"refine_iterations", "updates of the refinement", [](In s) -> Json { return s.report.refine_iterations; }},
    {"refinement_residuals", "|B - A X| / (|A| |X|) before the first update, and after each",
     [](In s) -> Json { return s.report.refinement_residuals; }},
    {"notes", "what a person should know: fallbacks, substitutions", [](In s) -> Json { return s.report.notes; }},
    {"environment",
     "version, compiler, flags, processor, cores, threads, CUDA devices, toolkit, driver; own kernels with a hash",
     [](In s) -> Json { return environment(s.report.threads); }},
};

Json object(const Subject& subject, const Measured& measured) {
  Json json = Json::object();
  for (const Field& field : fields) json[field.name] = field.of({subject, measured, measured.report});
  return json;
}

}  // namespace

std::string processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

Json number_or_null(std::optional<double> x) { return x && std::isfinite(*x) ? Json(*x) : Json(nullptr); }

Json environment(int threads) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json json = {{"lasolve", version()},
               {"compiler", compiler()},
               {"flags", build_flags()},
               {"processor", processor()},
               {"cores", usable_processors()},
               {"threads", threads > 0 ? Json(threads) : Json(nullptr)},
               {"cuda_devices", cuda_devices().names},
               {"cuda_toolkit", or_null(cuda_toolkit())},
               {"driver", or_null(driver())}};
  if (Json kernels = own_kernels(); !kernels.empty()) json["own_kernels"] = std::move(kernels);
  return json;
}

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string json_fields() {
  std::string text =
      "What --json has of a solve; of several backends it is a list. Times are in seconds, null is unknown:\n\n";
  for (const Field& f : fields) text += fmt::format("  {:<24}{}\n", f.name, wrapped(f.meaning, 72, 26));
  return text;
}

std::string as_json(const Subject& subject, const std::vector<Measured>& all) {
  if (all.size() == 1) return text_of(object(subject, all[0]));
  Json list = Json::array();
  for (const Measured& m : all) list.push_back(object(subject, m));
  return text_of(list);
}

}  // namespace lasolve::cli
