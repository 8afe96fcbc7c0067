// lasolve tune: which backend, block size and schedule are fastest here.
#include <fmt/format.h>

#include <cstdio>

#include "bench/product.hpp"
#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "cli/json.hpp"
#include "cli/print.hpp"
#include "cli/tune/run.hpp"
#include "cli/tuning.hpp"
#include "cli/words.hpp"
#include "compare/tables.hpp"
#include "core/range.hpp"
#include "io/destination.hpp"
#include "io/output_file.hpp"
#include "lasolve/names.hpp"
#include "tuned/kept.hpp"

namespace lasolve::cli {

namespace {

const Table<TuneRequest>& tune_table() {
  using R = TuneRequest;
  using O = OptionOf<R>;
  static const Table<R> all = {
      O("n", 'n', "SIZES", "auto", "1k,3000, or 1k:16k:x2; auto: 256:4k:x2 on the CPU and 1k:16k:x2 on CUDA")
          .to([](R& r, auto& word) {
            if (word != "auto") r.sizes = sizes_of(word);
          }),
      O("gemm", 'g', "NAMES", "all", "the GEMM backends that may be chosen beside the default: a,b,c or all"),
      device_option<R>(),
      O("precision", 'p', "TYPES", "auto", {"auto", "fp64", "fp32", "tf32", "fp16", "bf16"},
        "or a list of them; see solve; auto: fp64, and with --accuracy fp64,fp32")
          .to([](R& r, auto& word) {
            if (word != "auto") r.precisions = precisions_of(word);
          }),
      O("accuracy", 0, "ERROR", "hpl",
        "for solves with --accuracy ERROR: one of the precisions is chosen, and coarser factors are refined to it")
          .to([](R& r, auto& word) { r.options.accuracy = accuracy_of(word); }),
      O("factorization", 'f', "METHODS", "lu,cholesky", words_of_methods(), "or a list of them; see solve")
          .to([](R& r, auto& list) { r.methods = methods_of(list); }),
      threads_option<R>("cores of the host to use; what is found is for as many"),
      O("within", 0, "SECONDS", "300", "time for at most so long; of large sizes not all is tried then")
          .to([](R& r, auto& word) { r.within = positive("within", word); }),
      O("forget", 0, "remove what is kept, of all machines, and measure nothing").to(&R::forget),
      json_option<R>("write what was tried, with every run, as JSON to FILE; - is standard output"),
      quiet_option<R>("no table for people and no progress"),
      help_option<R>(),
  };
  return all;
}

TuneRequest parse_tune(int argc, const char* const* argv) {
  TuneRequest r;
  const Given given = parse_options(argc, argv, tune_table(), r);
  if (r.forget) return r;
  Options& o = r.options;
  if (r.precisions.empty()) {
    r.precisions = {Precision::fp64};
    if (o.accuracy > 0) r.precisions.push_back(Precision::fp32);
  }
  const auto fp64 = std::find(r.precisions.begin(), r.precisions.end(), Precision::fp64);
  if (o.accuracy > 0 && fp64 == r.precisions.end())
    throw UsageError("--accuracy: one --precision is fp64, whose factors reach it");
  if (o.accuracy > 0) std::rotate(r.precisions.begin(), fp64, fp64 + 1);
  o.condition = false;
  o.device = choose(o).device();
  if (r.sizes.empty()) r.sizes = sizes_of(o.device.kind == Device::cuda ? "1k:16k:x2" : "256:4k:x2");
  const std::string gemm = given.text("gemm");
  r.backends = gemm == "all" ? runnable_backends(o.device) : names_in(gemm);
  r.backends.insert(r.backends.begin(), "auto");
  return r;
}

std::string in_short(const tuned::Setting& s) {
  return fmt::format("{}{}, {}, {} columns{}", s.gemm, for_small(s), name_of(s.schedule), s.block_size, of_factors(s));
}

std::string method(const TuneResult& r) {
  if (r.key.accuracy > 0) return fmt::format("{} to {:.2g}", in_words(r.key.method), r.key.accuracy);
  const bool usual = r.key.precision == Precision::fp64;
  return in_words(r.key.method) + (usual ? "" : std::string(" in ") + name_of(r.key.precision));
}

std::string outcome(const TuneResult& r) {
  if (!r.found.failure.empty()) return "FAIL: " + r.found.failure;
  if (!r.found.is_known(r.space)) return "not known: the time ran out";
  return r.found.is_default(r.space) ? "the default: nothing else is faster by more than the noise"
                                     : in_short(r.found.chosen);
}

std::string for_people(const TuneResults& results) {
  compare::Table table{
      {{"n"}, {"method", true}, {"default", true}, {"solve"}, {"chosen", true}, {"solve"}, {"faster", true}}};
  for (const TuneResult& r : results.all) {
    const bool changed = r.found.is_known(r.space) && !r.found.is_default(r.space);
    const auto seconds = [](bool known, double s) { return known && s > 0 ? compare::short_seconds(s) : ""; };
    std::string faster;
    if (changed) {
      const tuned::Entry e = r.entry();
      faster = fmt::format("{:.2f} x ({:.2f} .. {:.2f})", e.speedup, e.speedup_low, e.speedup_high);
    }
    table.lines.push_back({std::to_string(r.key.n), method(r), in_short(r.space.by_default),
                           seconds(true, r.found.default_seconds), outcome(r), seconds(changed, r.found.seconds),
                           faster});
  }
  return compare::as_text(table) +
         "\nsolve: median wall time of a whole solve; faster: than the default, and the interval of the test at 99.5 "
         "%\n";
}

Json object(const TuneResult& r) {
  Json steps = Json::array();
  for (const tuned::Step& step : r.found.steps) {
    Json timed = Json::array();
    for (const tuned::TimedSetting& t : step.timed) {
      Json timed_setting = tuned::as_json(t.setting);
      timed_setting["seconds"] = t.seconds.empty() ? Json(nullptr) : Json(bench::spread_of(t.seconds).median);
      timed_setting["failure"] = or_null(t.failure);
      timed_setting["seconds_of_runs"] = t.seconds;
      timed.push_back(timed_setting);
    }
    steps.push_back({{"what", step.what}, {"winner", step.winner}, {"tried", timed}});
  }
  const bool known = r.found.is_known(r.space);
  return {{"n", r.key.n},
          {"factorization", name_of(r.key.method)},
          {"precision", name_of(r.key.precision)},
          {"accuracy", r.key.accuracy > 0 ? Json(r.key.accuracy) : Json(nullptr)},
          {"default", tuned::as_json(r.space.by_default)},
          {"chosen", known ? tuned::as_json(r.found.chosen) : Json(nullptr)},
          {"kept", known},
          {"speedup", known ? Json(r.entry().speedup) : Json(nullptr)},
          {"speedup_low", known ? Json(r.entry().speedup_low) : Json(nullptr)},
          {"speedup_high", known ? Json(r.entry().speedup_high) : Json(nullptr)},
          {"outcome", outcome(r)},
          {"ran_out_of_time", r.found.ran_out_of_time},
          {"other_processors", r.other_processors},
          {"steps", steps}};
}

std::string as_json(const TuneRequest& request, const TuneResults& results, const std::string& path) {
  Json all = Json::array();
  for (const TuneResult& r : results.all) all.push_back(object(r));
  return text_of({{"schema_version", 1},
                  {"device", name_of(request.options.device)},
                  {"within_seconds", request.within},
                  {"kept_in", path},
                  {"results", all},
                  {"remarks", results.remarks},
                  {"environment", environment(Queue<Cpu>(request.options.threads).threads())}});
}

/// The file in the cache, or an error that says what is wanting.
std::string path_to_keep() {
  std::string path = tuned::path_in_cache();
  if (path.empty()) throw io::OutputError("there is no place to keep results: neither XDG_CACHE_HOME nor HOME is set");
  return path;
}

int forget() {
  const std::string path = path_to_keep();
  fmt::print("{}\n", tuned::remove(path) ? path + " is removed" : "nothing is kept in " + path);
  return done;
}

int exit_code(const TuneResults& results) {
  bool wrong = results.a_backend_is_wrong, wanting = false;
  for (const TuneResult& r : results.all)
    if (!r.found.failure.empty()) (r.for_want_of_machine ? wanting : wrong) = true;
  return wrong ? not_accurate : wanting ? machine : done;
}

}  // namespace

std::vector<Option> tune_options() { return listed_in(tune_table()); }

int tune_command(int argc, const char* const* argv) {
  const TuneRequest request = parse_tune(argc, argv);
  if (request.forget) return forget();
  const std::string path = path_to_keep();
  tuned::require_writable_path(path);
  if (io::lead_to_one_file(request.json, path))
    throw UsageError(fmt::format("--json: {} is where results are kept", path));
  if (!request.json.empty()) io::require_writable(request.json);
  std::size_t kept = 0;
  const TuneResults results = tune(request, [&](const TuneResult& r) {
    if (!r.found.is_known(r.space)) return;
    if (const std::string complaint = tuned::add(path, r.entry()); !complaint.empty())
      fmt::print(stderr, "lasolve: {} and replaced\n", complaint);
    ++kept;
  });
  if (!request.quiet && !io::is_standard_output(request.json)) {
    fmt::print("{}\n", for_people(results));
    for (const std::string& remark : results.remarks) fmt::print("note: {}\n", remark);
    if (kept > 0)
      fmt::print(
          "kept in {}\nSolves of about these sizes take it where --gemm, --schedule, --block-size and --tune are left "
          "open.\n",
          path);
  }
  for (const TuneResult& r : results.all)
    if (!r.found.failure.empty())
      fmt::print(stderr, "lasolve: {} at n = {}: {}\n", in_words(r.key.method), r.key.n, r.found.failure);
  if (!request.json.empty()) write_text(request.json, as_json(request, results, path));
  return exit_code(results);
}

}  // namespace lasolve::cli
