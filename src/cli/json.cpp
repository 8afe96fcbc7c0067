#include "cli/json.hpp"

#include <cmath>
#include <fstream>

#include "cli/kernels.hpp"
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

Json object(const Subject& subject, const Measured& measured) {
  const Report& r = measured.report;
  Json phases = Json::object(), flops = Json::object();
  for (std::size_t p = 0; p < phase_count; ++p) {
    if (r.phases.seconds[p] <= 0) continue;
    phases[name_of(Phase(p))] = r.phases.seconds[p];
    if (r.phases.flops[p] > 0) flops[name_of(Phase(p))] = r.phases.flops[p];
  }
  return {{"schema_version", 1},
          {"outcome", r.outcome.name()},
          {"outcome_at",
           r.outcome.ok() || r.outcome.kind == Outcome::inaccurate || r.outcome.kind == Outcome::ill_conditioned
               ? Json(nullptr)
               : Json(r.outcome.at)},
          {"message", r.outcome.message()},
          {"matrix", subject.matrix},
          {"rhs", subject.rhs},
          {"transposed", subject.transposed},
          {"n", r.n},
          {"nrhs", r.nrhs},
          {"device", r.device},
          {"gemm", r.gemm},
          {"small_below_flops", r.products_of.empty() ? Json(nullptr) : Json(r.small_below)},
          {"products_of", products_of(r)},
          {"factorization", name_of(r.method)},
          {"precision", name_of(r.precision)},
          {"storage", name_of(r.storage)},
          {"products", name_of(r.products)},
          {"residual", name_of(r.residual)},
          {"refine", name_of(r.refine)},
          {"schedule", name_of(r.schedule)},
          {"block_size", r.block_size},
          {"phases", phases},
          {"phase_flops", flops},
          {"factor_seconds", r.factor_seconds},
          {"solve_seconds", r.solve_seconds},
          {"total_seconds", r.total_seconds},
          {"factor_gflops", number_or_null(r.factor_gflops)},
          {"runs", measured.runs},
          {"factor_seconds_least", measured.least_factor_seconds},
          {"factor_seconds_most", measured.most_factor_seconds},
          {"factor_seconds_of_runs", measured.factor_seconds},
          {"seed", measured.seed},
          {"backward_error", number_or_null(r.backward_error)},
          {"hpl_residual", number_or_null(r.hpl_residual)},
          {"forward_error", number_or_null(r.forward_error)},
          {"rcond", number_or_null(r.rcond)},
          {"rcond_of_scaled_rows", number_or_null(r.rcond_of_scaled_rows)},
          {"digits", number_or_null(r.digits)},
          {"refine_iterations", r.refine_iterations},
          {"refinement_residuals", r.refinement_residuals},
          {"notes", r.notes},
          {"environment", environment(r.threads)}};
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

std::string as_json(const Subject& subject, const std::vector<Measured>& all) {
  if (all.size() == 1) return text_of(object(subject, all[0]));
  Json list = Json::array();
  for (const Measured& m : all) list.push_back(object(subject, m));
  return text_of(list);
}

}  // namespace lasolve::cli
