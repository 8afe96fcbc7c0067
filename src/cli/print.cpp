#include "cli/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/change.hpp"
#include "cli/options.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "core/sizes.hpp"
#include "io/output_file.hpp"
#include "lasolve/names.hpp"
#include "lasolve/report_fields.hpp"
#include "solvers/method.hpp"

namespace lasolve::cli {

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
    text += fmt::format("{:<12}{:>12.6f}{:>9}{:>12}\n", name_of(p), r.phases.seconds_of(p),
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
  if (r.block_size == 0 && !r.outcome.has_solution()) return text;  // nothing was factored
  const std::string steps = r.gmres_steps > 0 ? fmt::format(", {} steps", r.gmres_steps) : "";
  const std::string pivoting =
      r.pivoting == Pivoting::none ? "" : fmt::format(" with {} pivoting", name_of(r.pivoting));
  text += fmt::format("method      {}{} in {}, {}, panels of at most {} columns, refinement {}{}\n",
                      record_of(r.method).name, pivoting, name_of(r.precision), name_of(r.schedule), r.block_size,
                      name_of(r.refine),
                      r.refine_iterations > 0 ? fmt::format(" ({} updates{})", r.refine_iterations, steps) : "");
  if (r.storage != r.products || r.storage != r.residual || r.extra_residuals)
    text += fmt::format("precision   {}: factors in {}, products in {}, residuals in {}\n", name_of(r.precision),
                        name_of(r.storage), name_of(r.products), std::get<std::string>(report_field("residual").of(r)));
  if (r.equilibration != Equilibration::none)
    text += fmt::format("scaled      {} of A, by powers of two\n",
                        r.equilibration == Equilibration::both ? "rows and columns" : name_of(r.equilibration));
  if (!r.residual_history.empty()) {
    text += "residuals  ";
    for (const double residual : r.refinement_residuals) text += fmt::format(" {:.1e}", residual);
    text += fmt::format(" (the largest of {} column{}, before the first update and after each)\n", r.nrhs,
                        r.nrhs == 1 ? "" : "s");
  }
  return text;
}

/// The line of a number; none where it is not known.
std::string line_of(const Report& r, const std::string& name, const std::string& more = "", std::string label = "") {
  const FieldValue value = report_field(name).of(r);
  const double* const number = std::get_if<double>(&value);
  if (label.empty()) label = name;
  std::replace(label.begin(), label.end(), '_', ' ');
  return number ? fmt::format("{:<16}{:.2e}{}\n", label, *number, more) : "";
}

/// How far the solution may be from the true one.
std::string condition(const Report& r) {
  const std::string scaled =
      r.rcond_of_scaled_rows      ? fmt::format(", {:.2e} with its rows scaled", *r.rcond_of_scaled_rows)
      : r.rcond_of_scaled_columns ? fmt::format(", {:.2e} with rows and columns scaled", *r.rcond_of_scaled_columns)
                                  : "";
  const char* const of_what =
      r.rcond_of_scaled_columns ? "each component, in the scale of its column," : "the solution";
  return line_of(r, "rcond",
                 scaled + (r.digits ? fmt::format(": about {:.0f} digit{} of {} may be trusted", std::floor(*r.digits),
                                                  std::floor(*r.digits) == 1 ? "" : "s", of_what)
                                    : ": it tells nothing of a solution that is not accurate"));
}

std::string accuracy(const Report& r) {
  if (!r.backward_error) return "";
  return line_of(r, "backward_error") +
         fmt::format("HPL check       {:.2e}, {} (the limit is {}, with the roundoff of {})\n", *r.hpl_residual,
                     *r.hpl_residual < hpl_threshold ? "passed" : "FAILED", hpl_threshold,
                     name_of(r.refine == Refine::none ? r.precision : r.residual)) +
         line_of(r, "componentwise_backward_error", " (|b - A x| over |A||x| + |b|, element by element)",
                 "componentwise") +
         line_of(r, "growth", " (the largest element of U over that of A)") +
         line_of(r, "norm_growth", " (|L||U| over A, infinity norms)", "growth of norms") +
         line_of(r, "largest_multiplier", " (the largest element of L)", "multipliers") +
         line_of(r, "forward_error", " (the true answer is 1)") +
         line_of(r, "forward_error_bound", " (the forward error is at most that)", "error bound");
}

/// Where the backend leaves small products to another: how many either made.
std::string products(const Report& r) {
  double calls = 0, flops = 0;
  for (const ProductsOf& of : r.products_of) calls += double(of.count.calls), flops += of.count.flops;
  std::string text;
  for (const ProductsOf& of : r.products_of)
    text +=
        fmt::format("{:<12}{}: {} of {:.0f} products, {:.1f} % of their operations{}\n", text.empty() ? "products" : "",
                    of.gemm, of.count.calls, calls, flops > 0 ? 100 * of.count.flops / flops : 0,
                    text.empty() ? "" : fmt::format("; those below {:.2g} Mflop", 1e-6 * r.small_below));
  return text;
}

/// What each of several cards did: busy seconds, which overlap.
std::string cards(const Report& r) {
  std::string text;
  for (const CardReport& card : r.cards) {
    const auto seconds = [&](Phase p) { return card.phases.seconds_of(p); };
    text += fmt::format(
        "{:<12}{} columns in {}, received {}; panels {:.3f} s, swaps {:.3f}, solves {:.3f}, products {:.3f} ({:.0f} "
        "%)\n",
        card.device, card.columns, in_bytes(card.bytes), in_bytes(card.received_bytes), seconds(Phase::panel),
        seconds(Phase::swap), seconds(Phase::trsm), seconds(Phase::gemm),
        r.factor_seconds > 0 ? 100 * seconds(Phase::gemm) / r.factor_seconds : 0);
  }
  return text;
}

/// The fastest first; those without a solution last.
std::vector<const Measured*> sorted(const std::vector<Measured>& all) {
  std::vector<const Measured*> by_time;
  for (const Measured& m : all) by_time.push_back(&m);
  std::stable_sort(by_time.begin(), by_time.end(), [](const Measured* a, const Measured* b) {
    const bool a_ok = a->report.outcome.has_solution(), b_ok = b->report.outcome.has_solution();
    return a_ok != b_ok ? a_ok : a->report.factor_seconds < b->report.factor_seconds;
  });
  return by_time;
}

/// A sentence where the fastest and the slowest cannot be told apart; empty where they can.
std::string why_indistinguishable(const std::vector<const Measured*>& by_time) {
  const std::int64_t n = by_time[0]->report.n;
  const bool no_products =
      all_of(by_time, [](const Measured* m) { return m->report.phases.flops_of(Phase::gemm) == 0; });
  if (no_products && by_time[0]->report.outcome.has_solution())
    return fmt::format("n = {} is too small to tell them apart: one panel holds the matrix.\n", n);
  const Measured &fastest = *by_time.front(), &slowest = *by_time.back();
  if (fastest.runs < 2 || fastest.most_factor_seconds < slowest.least_factor_seconds) return "";
  double most = 0;
  for (const Measured* m : by_time)
    most = std::max(most, m->report.phases.seconds_of(Phase::gemm) / m->report.factor_seconds);
  constexpr double least_share = 0.5;
  if (most < least_share)
    return fmt::format("n = {} is too small to tell them apart: at most {:.0f} % of the time is theirs.\n", n,
                       100 * most);
  return fmt::format("They are not told apart: runs of {} and {} overlap; --repeat has more of them.\n",
                     fastest.report.gemm, slowest.report.gemm);
}

/// With the least and the largest ratio of any two runs.
std::string times_faster(const Measured& m, const Measured& slowest) {
  const double seconds = m.report.factor_seconds;
  if (!(seconds > 0)) return "";
  std::string text = fmt::format("{:.2f} x", slowest.report.factor_seconds / seconds);
  if (&m != &slowest && m.runs > 1 && m.least_factor_seconds > 0)
    text += fmt::format(" ({:.2f} .. {:.2f})", slowest.least_factor_seconds / m.most_factor_seconds,
                        slowest.most_factor_seconds / m.least_factor_seconds);
  return text;
}

std::string line_of(const Measured& m, const Measured& slowest) {
  const Report& r = m.report;
  const double seconds = r.factor_seconds;
  const auto per_cent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
  return fmt::format("{:<16}{:<8}{:>11.6f}{:>25}{:>9}{:>10.1f}{:>8}{:>14.1f}{:>11.6f} {:>10}\n", r.gemm, r.device,
                     seconds, times_faster(m, slowest),
                     m.runs > 1 && seconds > 0 ? per_cent(bench::interquartile_range(m.factor_seconds) / seconds) : "-",
                     r.factor_gflops, seconds > 0 ? per_cent(r.phases.seconds_of(Phase::gemm) / seconds) : "",
                     gflops(r.phases, Phase::gemm), r.total_seconds,
                     r.outcome.ok() ? r.hpl_residual ? fmt::format("{:.2e}", *r.hpl_residual) : "-" : r.outcome.name());
}

/// Each note once, with the backend where it is not that of all.
std::string notes_of(const std::vector<const Measured*>& all) {
  std::string text;
  std::vector<std::string> said;
  for (const Measured* m : all)
    for (const auto& note : m->report.notes) {
      if (contains(said, note)) continue;
      const bool of_all = all_of(all, [&](const Measured* other) { return contains(other->report.notes, note); });
      if (of_all) said.push_back(note);
      text +=
          of_all ? fmt::format("note        {}\n", note) : fmt::format("note        {}: {}\n", m->report.gemm, note);
    }
  return text;
}

/// The backends of a device. What each alone lacks is said in its line; what the device lacks is said by its line.
template <class Space>
std::string list_of(const char* device, int index, bool is_there) {
  std::string text;
  for (const auto* b : gemm_backends<Space>()) {
    const std::string why = !is_there ? "" : b->unavailable ? b->unavailable(index) : "";
    std::string precisions;
    for_each_precision([&](auto P) {
      if (b->template in<P>()) precisions += (precisions.empty() ? "" : " ") + std::string(name_of(P()));
    });
    text += fmt::format("{:<16}{:<7}{:<26}{}{}\n", b->name, device, precisions, b->summary,
                        why.empty() ? "" : "; not here: " + why);
  }
  return text;
}

/// The backends that this build lacks: one line for all that lack the same.
std::string list_of_missing() {
  std::string text;
  std::vector<std::string> said;
  const auto& missing = missing_gemm_backends();
  for (const auto& b : missing) {
    const std::string need = std::string(b.device) + b.needs;
    if (contains(said, need)) continue;
    said.push_back(need);
    std::string names;
    for (const auto& other : missing)
      if (std::string(other.device) + other.needs == need)
        names += (names.empty() ? "" : ", ") + std::string(other.name);
    // What keeps CUDA out of a build altogether is said where the devices are.
    const bool no_cuda = b.device == std::string("cuda") && gemm_backends<Cuda>().empty();
    text += wrapped(fmt::format("not in this build, for {}: {}{}", b.device, names,
                                no_cuda ? "" : fmt::format("; needed: {}", b.needs)),
                    98, 2) +
            "\n";
  }
  return text;
}

}  // namespace

const char* in_words(Method m) { return record_of(m).name; }

std::string for_people(const Subject& subject, const Measured& measured) {
  const Report& r = measured.report;
  const Device where = parse_devices(r.device).value().first;
  std::string text = about(subject, r);
  if (const auto& e = measured.engine)
    text += fmt::format("engine      {}: {} rank{} in a grid of {} x {}, {} thread{} each\n", e->version, e->ranks,
                        e->ranks == 1 ? "" : "s", e->grid_rows, e->grid_cols, r.threads, r.threads == 1 ? "" : "s");
  else
    text += fmt::format("backend     {} on {}{}\n", r.gemm, r.device,
                        where.kind == Device::cpu
                            ? fmt::format(" ({} thread{})", r.threads, r.threads == 1 ? "" : "s")
                            : fmt::format(" ({})", cuda_devices().names.at(std::size_t(where.index))));
  text += products(r);
  text += cards(r);
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
  const std::vector<const Measured*> by_time = sorted(all);
  const auto& slowest = *std::max_element(all.begin(), all.end(), [](const Measured& a, const Measured& b) {
    return a.report.factor_seconds < b.report.factor_seconds;
  });
  int runs = 0;
  for (const Measured& m : all) runs = std::max(runs, m.runs);
  std::string text = about(subject, all[0].report) + "\n";
  text += fmt::format("{:<16}{:<8}{:>11}{:>25}{:>9}{:>10}{:>8}{:>14}{:>11}{:>11}\n", "gemm", "device", "factor s",
                      "faster", "spread", "GFLOP/s", "share", "gemm GFLOP/s", "total s", "HPL");
  for (const Measured* m : by_time) text += line_of(*m, slowest);
  text += fmt::format(
      "factor s: {}; faster: than the slowest, and by any two runs; spread: of the middle half of the runs\n",
      runs > 1 ? fmt::format("the median of {} runs in turns", runs) : "one run");
  text += "share: of the factorization's time that went into the backend's updates\n";
  return text + why_indistinguishable(by_time) + notes_of(by_time);
}

void write_text(const std::string& path, const std::string& text) {
  io::OutputFile file(path, false);
  file.append(text);
  file.commit();
}

std::string list_of_backends() {
  const CudaDevices& devices = cuda_devices();
  const Device device = automatic_device();
  const bool on_cuda = device.kind == Device::cuda;
  std::string text = fmt::format("{:<16}{:<7}{:<26}{}\n", "backend", "device", "precisions", "what it is");
  text += list_of<Cpu>("cpu", 0, true);
  text += list_of<Cuda>("cuda", device.index, on_cuda);
  if (!gemm_backends<Cuda>().empty() && !on_cuda)
    text += "those for cuda cannot be used here; the lines about devices say why\n";
  return text + list_of_missing() + "\n" + list_of_devices(devices, why_unusable);
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
