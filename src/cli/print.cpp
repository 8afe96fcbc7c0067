#include "cli/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/choose.hpp"
#include "io/output_file.hpp"
#include "solvers/schedules.hpp"

namespace lasolve::cli {

const char* name_of(Method m) { return m == Method::lu ? "lu" : m == Method::cholesky ? "cholesky" : "auto"; }
const char* name_of(Refine r) { return r == Refine::none ? "none" : r == Refine::classical ? "classical" : "auto"; }

namespace {

double gflops(const PhaseTimes& phases, Phase p) {
  return phases.seconds_of(p) > 0 ? phases.flops_of(p) * 1e-9 / phases.seconds_of(p) : 0;
}

bool measured_at_all(Phase p, const PhaseTimes& phases) { return phases.seconds_of(p) > 0; }

/// Each phase with its seconds, its share of the total and its rate. Reading and checking are not part of the total.
std::string phase_table(const Report& r) {
  std::string text = fmt::format("{:<12}{:>12}{:>9}{:>12}\n", "phase", "busy s", "share", "GFLOP/s");
  double busy = 0;
  for (std::size_t i = 0; i < phase_count; ++i) {
    const Phase p = Phase(i);
    if (!measured_at_all(p, r.phases)) continue;
    const bool counted = p != Phase::read && p != Phase::check;
    const double rate = gflops(r.phases, p);
    if (counted) busy += r.phases.seconds_of(p);
    text += fmt::format("{:<12}{:>12.6f}{:>9}{:>12}\n", lasolve::name_of(p), r.phases.seconds_of(p),
                        counted ? fmt::format("{:.1f} %", 100 * r.phases.seconds_of(p) / r.total_seconds) : "",
                        rate > 0 ? fmt::format("{:.1f}", rate) : "");
  }
  return text + fmt::format("{:<12}{:>12.6f}   wall time without reading and checking{}\n", "total", r.total_seconds,
                            busy > 1.02 * r.total_seconds ? "; phases overlap" : "");
}

/// What was solved, and how.
std::string about(const Subject& subject, const Report& r) {
  std::string text =
      fmt::format("matrix      {}, {} x {}{}\n", subject.matrix, r.n, r.n, subject.transposed ? ", transposed" : "");
  text += fmt::format("rhs         {}, {} column{}\n", subject.rhs, r.nrhs, r.nrhs == 1 ? "" : "s");
  return text + fmt::format("method      {} in {}, {}, panels of at most {} columns, refinement {}{}\n",
                            r.method == Method::cholesky ? "Cholesky" : "LU with partial pivoting",
                            name_of(r.precision), name_of(r.schedule), r.block_size, name_of(r.refine),
                            r.refine_iterations > 0 ? fmt::format(" ({} updates)", r.refine_iterations) : "");
}

/// How far the solution may be from the true one.
std::string condition(const Report& r) {
  if (!r.rcond || !r.digits) return "";
  const std::string scaled =
      r.rcond_of_scaled_rows ? fmt::format(", {:.2e} with its rows scaled", *r.rcond_of_scaled_rows) : "";
  return fmt::format("rcond           {:.2e}{}: about {:.0f} digits of the solution may be trusted\n", *r.rcond, scaled,
                     std::floor(*r.digits));
}

std::string accuracy(const Report& r) {
  if (!r.backward_error) return "";
  std::string text = fmt::format("backward error  {:.2e}\n", *r.backward_error);
  const bool of_fp32 = r.precision == Precision::fp32 && r.refine == Refine::none;
  text += fmt::format("HPL check       {:.2e}, {} (the limit is {}, with the roundoff of {})\n", *r.hpl_residual,
                      *r.hpl_residual < hpl_threshold ? "passed" : "FAILED", hpl_threshold, of_fp32 ? "fp32" : "fp64");
  if (r.forward_error) text += fmt::format("forward error   {:.2e} (the true answer is 1)\n", *r.forward_error);
  return text;
}

}  // namespace

std::string for_people(const Subject& subject, const Measured& measured) {
  const Report& r = measured.report;
  std::string text = about(subject, r);
  text += fmt::format("backend     {} on {}{}\n", r.gemm, r.device,
                      r.device == "cpu"
                          ? fmt::format(" ({} threads)", r.threads)
                          : fmt::format(" ({})", cuda_devices().names.at(std::size_t(std::stoi(r.device.substr(5))))));
  for (const auto& note : r.notes) text += fmt::format("note        {}\n", note);
  text += "\n" + phase_table(r);
  text += fmt::format("{:<12}{:>12.6f}{:>21.1f}", "factor", r.factor_seconds, r.factor_gflops);
  if (measured.runs > 1)
    text += fmt::format("   median of {} runs, {:.6f} to {:.6f}", measured.runs, measured.least_factor_seconds,
                        measured.most_factor_seconds);
  text += fmt::format("\n\n{}{}", accuracy(r), condition(r));
  return text + fmt::format("outcome         {}\n", r.outcome.message());
}

std::string comparison(const Subject& subject, const std::vector<Measured>& all) {
  std::string text = about(subject, all[0].report) + "\n";
  text += fmt::format("{:<16}{:<9}{:>12}{:>12}{:>12}{:>12}{:>8}{:>14}{:>11}\n", "gemm", "device", "total s", "factor s",
                      "GFLOP/s", "gemm s", "share", "gemm GFLOP/s", "HPL");
  for (const Measured& m : all) {
    const Report& r = m.report;
    const double gemm_seconds = r.phases.seconds_of(Phase::gemm);
    text +=
        fmt::format("{:<16}{:<9}{:>12.6f}{:>12.6f}{:>12.1f}{:>12.6f}{:>6.0f} %{:>14.1f}{:>11}\n", r.gemm, r.device,
                    r.total_seconds, r.factor_seconds, r.factor_gflops, gemm_seconds,
                    r.factor_seconds > 0 ? 100 * gemm_seconds / r.factor_seconds : 0, gflops(r.phases, Phase::gemm),
                    r.outcome.ok() ? r.hpl_residual ? fmt::format("{:.2e}", *r.hpl_residual) : "-" : r.outcome.name());
  }
  text += "share: of the factorization's time that went into the backend's updates of the trailing matrix\n";
  for (const Measured& m : all)
    for (const auto& note : m.report.notes) text += fmt::format("note        {}: {}\n", m.report.gemm, note);
  return text;
}

void write_text(const std::string& path, const std::string& text) {
  io::OutputFile file(path, false);
  file.append(text);
  file.commit();
}

std::string list_of_backends() {
  std::string text = fmt::format("{:<16}{:<7}{:<26}{}\n", "backend", "place", "precisions", "what it is");
  const CudaDevices& devices = cuda_devices();
  auto lines = [&](const auto& backends, const char* place, const std::string& why_no_place, int index) {
    for (const auto* b : backends) {
      const std::string why = !why_no_place.empty() ? why_no_place : b->unavailable ? b->unavailable(index) : "";
      std::string precisions;
      for_each_precision([&](auto P) {
        if (b->template in<P>()) precisions += (precisions.empty() ? "" : " ") + std::string(Arithmetic<P>::name);
      });
      text += fmt::format("{:<16}{:<7}{:<26}{}{}\n", b->name, place, precisions, b->summary,
                          why.empty() ? "" : "; not here: " + why);
    }
  };
  const Device device = automatic_device();
  const bool on_cuda = device.kind == Device::cuda;
  lines(gemm_backends<Cpu>(), "cpu", "", 0);
  lines(gemm_backends<Cuda>(), "cuda",
        on_cuda                 ? ""
        : devices.names.empty() ? devices.why_none
                                : "no CUDA device can be used",
        device.index);
  for (const auto& b : missing_gemm_backends())
    text += fmt::format("{:<16}{:<7}{:<26}not in this build: it needs {}\n", b.name, b.place, "", b.needs);
  return text + "\n" + list_of_devices(devices, why_unusable);
}

std::string list_of_devices(const CudaDevices& cuda, const std::function<std::string(int)>& why_not) {
  std::string text = fmt::format("{:<9}{:<13}{}\ncpu\n", "device", "capability", "what it is");
  for (std::size_t i = 0; i < cuda.names.size(); ++i) {
    const std::string why = why_not(int(i));
    text += fmt::format("cuda:{:<4}{:<13}{}{}\n", i, fmt::format("{:.1f}", 0.1 * cuda.capabilities[i]), cuda.names[i],
                        why.empty() ? "" : "; not usable: it " + why);
  }
  if (cuda.names.empty()) text += fmt::format("no CUDA device: {}\n", cuda.why_none);
  if (!built_for().empty())
    text +=
        fmt::format("This build has code for CUDA devices of compute capability {}; lasolve needs {:.1f} or later.\n",
                    in_words(built_for()), 0.1 * least_capability);
  return text;
}

}  // namespace lasolve::cli
