#include "cli/bench/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/gemm.hpp"
#include "cli/json.hpp"
#include "cli/print.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "lasolve/names.hpp"

namespace lasolve::cli {

using bench::Result;

namespace {

std::string percent(std::optional<double> share) { return share ? fmt::format("{:.1f} %", 100 * *share) : "-"; }

std::vector<Precision> precisions_in(const std::vector<Result>& all) {
  std::vector<Precision> found;
  for (const Result& r : all)
    if (!std::count(found.begin(), found.end(), r.precision)) found.push_back(r.precision);
  return found;
}

std::string crossover_lines(const std::vector<Result>& all) {
  std::string text;
  for (const auto& c : bench::crossovers(all))
    text += fmt::format("{} {}{}: {}\n", name_of(c.precision), c.shape, c.k > 0 ? fmt::format(", K = {}", c.k) : "",
                        c.from ? fmt::format("CUDA with its copies is ahead of the CPU from N = {} on", *c.from)
                               : "the CPU is ahead of CUDA with its copies at the largest N");
  return text;
}

std::string csv_number(std::optional<double> x) { return x ? fmt::format("{}", *x) : ""; }

/// NaN and infinities are what some wrong elements are: as words, which JSON has.
Json element(double x) { return std::isfinite(x) ? Json(x) : Json(fmt::format("{}", x)); }

Json object(const bench::Fault& f) {
  const bench::Case& c = f.at;
  Json json = {{"kind", name_of(f.kind)},
               {"what", bench::what_is_wrong(f)},
               {"precision", name_of(f.precision)},
               {"op_a", name_of(c.op_a)},
               {"op_b", name_of(c.op_b)},
               {"alpha", c.alpha},
               {"beta", c.beta},
               {"m", c.m},
               {"n", c.n},
               {"k", c.k},
               {"lda", f.ld[0]},
               {"ldb", f.ld[1]},
               {"ldc", f.ld[2]},
               {"alignments", f.alignment}};
  if (f.kind == bench::Fault::wrong_element || f.kind == bench::Fault::wrote_outside ||
      f.kind == bench::Fault::changed_an_input)
    json.update({{"i", f.element.i}, {"j", f.element.j}, {"found", element(f.element.found)}});
  if (f.kind == bench::Fault::wrong_element)
    json.update({{"expected", element(f.element.expected)},
                 {"bound", element(f.element.bound)},
                 {"wrong", f.element.wrong},
                 {"of", f.element.of}});
  return json;
}

Json object(const Result& r) {
  const bool timed = r.runs > 0;
  const auto if_timed = [&](double x) { return timed ? or_null(x) : Json(nullptr); };
  return {{"shape", r.product.shape},
          {"m", r.product.m},
          {"n", r.product.n},
          {"k", r.product.k},
          {"alpha", r.product.alpha},
          {"beta", r.product.beta},
          {"precision", name_of(r.precision)},
          {"gemm", r.backend},
          {"device", r.device},
          {"right", !r.fault},
          {"fault", r.fault ? object(*r.fault) : Json(nullptr)},
          {"error_over_bound", or_null(r.error)},
          {"element_error_over_bound", r.fault ? Json(nullptr) : or_null(r.grade.worst)},
          {"runs", r.runs},
          {"seconds", if_timed(r.seconds.median)},
          {"seconds_least", if_timed(r.seconds.least)},
          {"seconds_most", if_timed(r.seconds.most)},
          {"gflops", if_timed(r.gflops())},
          {"share_of_reference", or_null(r.of_reference)},
          {"share_of_floor", or_null(r.of_floor)}};
}

/// Of the column of backends.
std::size_t wide_enough(std::size_t name) { return std::max<std::size_t>(16, name + 2); }

}  // namespace

std::string bench_header(bool with_copies, std::size_t name) {
  return fmt::format("{:<6}{:<10}{:>6}{:>7}{:>7}  {:<{}}{:<8}{:>12}{:>24}{:>11}{:>10}{:>10}{:>9}\n", "type", "shape",
                     "M", "N", "K", "backend", wide_enough(name), "on", with_copies ? "host ms" : "ms", "least .. most",
                     "GFLOP/s", "of ref.", "of floor", "error");
}

std::string bench_lines(const std::vector<Result>& results, std::size_t name) {
  std::string text;
  for (const Result& r : results) {
    const bench::Product& p = r.product;
    text += fmt::format("{:<6}{:<10}{:>6}{:>7}{:>7}  {:<{}}{:<8}", name_of(r.precision), p.shape, p.m, p.n, p.k,
                        r.backend, wide_enough(name), r.device);
    if (r.fault) {
      text += "    WRONG: " + bench::what_is_wrong(*r.fault) + "\n";
      continue;
    }
    text += fmt::format("{:>12.4f}{:>24}{:>11.1f}{:>10}{:>10}{:>9.0e}\n", 1e3 * r.seconds.median,
                        fmt::format("{:.4f} .. {:.4f}", 1e3 * r.seconds.least, 1e3 * r.seconds.most), r.gflops(),
                        percent(r.of_reference), percent(r.of_floor), *r.error);
  }
  return text;
}

std::string grade_lines(const std::vector<Result>& all) {
  std::string text;
  std::vector<std::string> said;
  for (const Result& r : all) {
    if (r.fault || r.grade.is_met()) continue;
    const std::string whose = fmt::format("{} on {} in {}", r.backend, r.device, name_of(r.precision));
    if (contains(said, whose)) continue;
    said.push_back(whose);
    text += fmt::format("warning: {} {}\n", whose, bench::what_is_lost(r.grade));
  }
  return text;
}

static bool runs_here(const char* backend) {
  const auto names = runnable_backends({Device::cpu, 0});
  return contains(names, backend);
}

std::string bench_legend(bench::GemmBench& gemms, const std::vector<Result>& all, const bench::Settings& settings) {
  std::string text = fmt::format(
      "\nmedian of {} rounds{}, in turns, after {} to warm up; {} thread{} of the host\n"
      "of ref.: cublas on CUDA, {} on the CPU; error: of the product, over what the GEMM contract allows\n",
      settings.repeat, std::isfinite(settings.enough_seconds) ? " (fewer where a run takes long)" : "", settings.warmup,
      gemms.threads(), gemms.threads() == 1 ? "" : "s", runs_here("blas") ? "blas" : "eigen");
  if (settings.with_copies)
    return text + (any_of(all, [](const Result& r) { return r.on_cuda(); })
                       ? "on CUDA with allocation, copies from and to the memory of the host, and free\n" +
                             crossover_lines(all)
                       : "no CUDA device took part: nothing was allocated or copied\n");
  for (const Precision p : precisions_in(all))
    if (const auto roof = gemms.roof(p))
      text += fmt::format(
          "floor of {}: the longer of flops at {:.1f} TFLOP/s (the best of cublas at 8192 x 8192 x 8192) and bytes at "
          "{:.2f} TB/s (the best of a copy), both measured now\n",
          name_of(p), 1e-12 * roof->flops_per_second, 1e-12 * roof->bytes_per_second);
  return text;
}

std::string bench_json(bench::GemmBench& gemms, const std::vector<Result>& all, const bench::Settings& settings) {
  Json results = Json::array(), roofs = Json::object();
  for (const Result& r : all) results.push_back(object(r));
  for (const Precision p : precisions_in(all)) {
    const auto roof = settings.with_copies ? std::nullopt : gemms.roof(p);
    if (roof)
      roofs[name_of(p)] = {{"flops_per_second", roof->flops_per_second}, {"bytes_per_second", roof->bytes_per_second}};
  }
  return text_of({{"schema_version", 1},
                  {"bench", "gemm"},
                  {"with_copies", settings.with_copies},
                  {"repeat", settings.repeat},
                  {"warmup", settings.warmup},
                  {"roofs", roofs},
                  {"results", results},
                  {"environment", environment(gemms.threads())}});
}

std::string bench_csv(const std::vector<Result>& all) {
  std::string text =
      "precision,shape,m,n,k,alpha,beta,gemm,device,right,error_over_bound,runs,seconds,seconds_least,seconds_most,"
      "gflops,share_of_reference,share_of_floor\n";
  for (const Result& r : all) {
    const bench::Product& p = r.product;
    const auto if_timed = [&](double x) { return r.runs > 0 ? csv_number(x) : ""; };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", name_of(r.precision), p.shape, p.m,
                        p.n, p.k, p.alpha, p.beta, r.backend, r.device, r.fault ? "no" : "yes", csv_number(r.error),
                        r.runs, if_timed(r.seconds.median), if_timed(r.seconds.least), if_timed(r.seconds.most),
                        if_timed(r.gflops()), csv_number(r.of_reference), csv_number(r.of_floor));
  }
  return text;
}

}  // namespace lasolve::cli
