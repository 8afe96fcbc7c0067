#include "cli/compare/request.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/problem.hpp"
#include "cli/words.hpp"
#include "core/range.hpp"
#include "io/foreign.hpp"

namespace lasolve::cli {

namespace {

OptionOf<CompareRequest> file_option(const char* name, std::string CompareRequest::*member, const char* meaning) {
  return OptionOf<CompareRequest>(name, 0, "FILE", meaning).to(member);
}

/// An option of a solve that takes a list.
OptionOf<CompareRequest> list_option(const char* name, const char* value,
                                     const char* meaning = "or a list of them, each word a row; see solve") {
  OptionOf<CompareRequest> option = {name,   solve_option(name).letter,  value,
                                     "auto", solve_option(name).choices, meaning};
  if (!option.choices.empty() && !contains(option.choices, "auto"))
    option.choices.insert(option.choices.begin(), "auto");
  option.to([=](CompareRequest& r, auto& list) { r.lists.push_back(alternatives_of(name, list)); });
  return option;
}

const Table<CompareRequest>& compare_table() {
  using R = CompareRequest;
  using O = OptionOf<R>;
  static const Table<R> all = {
      O("matrix", 'm', "MATRIX", "uniform",
        "the same as the word MATRIX: a file, or a GENERATOR without its n where --n says it")
          .to(&R::matrix),
      O("n", 'n', "SIZES", "auto",
        "sizes of a generated matrix: 1k,3000, or 1k:16k:x2, or 1000:5000:1000; auto: that of the matrix, else "
        "256:2k:x2 on the CPU and 1k:16k:x2 on CUDA"),
      O("gemm", 'g', "NAMES", "all",
        "the GEMM backends: a,b,c or all; speed-ups are over the first, which of all is naive; ./mine.c, ./mine.cpp, "
        "./mine.cu or ./libmine.so is a kernel of your own"),
      O("baseline-solvers", 0, "NAMES", nullptr, {"openblas", "eigen", "cusolver"},
        "or a list of them: solvers of other libraries beside ours, in fp64; those that cannot run here are left out")
          .to(&R::baseline_solver_names)
          .was("--peers"),
      device_option<R>(),
      list_option(
          "precision", "TYPES",
          "or a list of them, of factors and products; see solve; auto: fp64, or what all backends have that are "
          "named"),
      list_option("factorization", "METHODS"),
      assume_suitable_option<R>(),
      list_option("pivoting", "KINDS"),
      list_option("schedule", "NAMES"),
      list_option("block-size", "SIZES", "columns of a panel at most, or a list of such sizes, each a row"),
      list_option("storage", "TYPES"),
      list_option("refine", "METHODS"),
      threads_option<R>(),
      O("noise", 0, "PERCENT", "0.3",
        "a backend has run enough when the standard error of its median is at most this, and a change of 2.3 % could "
        "be "
        "seen")
          .to([](R& r, auto& word) { r.setting.noise = 0.01 * positive("noise", word); }),
      O("repeat", 0, "COUNT", "400", "timed runs at most, in up to 80 visits; the noise is looked at from 10 visits on")
          .to([](R& r, auto& word) { r.setting.rounds = number("repeat", word, 1); }),
      O("seconds", 0, "SECONDS", "10",
        "a backend that has run for so long at a size runs no more, but three times at least")
          .to([](R& r, auto& word) { r.setting.enough_seconds = positive("seconds", word); }),
      O("warmup", 0, "COUNT", "1", "runs before them that are not counted").to([](R& r, auto& word) {
        r.setting.warmup = number("warmup", word, 0);
      }),
      O("seed", 0, "NUMBER", "1", "from which the random order of the runs follows").to([](R& r, auto& word) {
        r.setting.seed = std::uint64_t(number<std::int64_t>("seed", word, 0));
      }),
      O("unverified", 0, "skip the validation of the backends, each in a process of its own").to([](R& r, auto&) {
        r.verify = false;
      }),
      patience_option<R>(),
      O("baseline", 0, "FILE,...", "an earlier --json, or several: each row is SAME, FASTER, SLOWER or UNKNOWN")
          .to([](R& r, auto& word) {
            if (word.empty()) throw UsageError("--baseline takes a name, not ''");
            r.baselines = split(word);
          }),
      O("fail-on", 0, "WORD", nullptr, {"slower"}, "return 7 where a row is slower than the baseline")
          .to([](R& r, auto& word) {
            if (word.empty()) throw UsageError("--fail-on takes a name, not ''");
            if (word != "slower") throw UsageError(fmt::format("--fail-on takes slower, not '{}'", word));
            r.fail_on_slower = true;
          }),
      O("copies", 0,
        "on CUDA, time each solve also with A in pageable memory of the host; else a generated A begins on the device")
          .to(&R::copies),
      file_option(
          "beside", &R::beside,
          "an earlier --json, of the CPU beside CUDA or of CUDA beside the CPU: the report draws it, and where the GPU "
          "passes the CPU"),
      json_option<R>("write all, with every run, as JSON to FILE, after each size; - is standard output"),
      O("resume", 0, "leave out the sizes that --json FILE has").to(&R::resume),
      file_option("csv", &R::csv, "write the rows as CSV to FILE; - is standard output"),
      O("markdown", 0, "print the tables as Markdown").to(&R::markdown),
      O("attribution", 'a', "print where the time went: phases, and updates by their shape").to(&R::attribution),
      file_option("trace", &R::trace, "write the tasks of the median runs to FILE, for chrome://tracing or Perfetto"),
      file_option("report", &R::report, "write a page with pictures, tables and data to FILE, which needs no network"),
      quiet_option<R>("no table for people and no progress"),
      help_option<R>(),
  };
  return all;
}

/// Whether the size of a generator is written in its name.
bool has_size(const std::string& matrix) {
  const std::size_t colon = std::min(matrix.find(':'), matrix.size());
  for (const auto& parameter : split(matrix.substr(std::min(colon + 1, matrix.size()))))
    if (parameter.starts_with("n=")) return true;
  return false;
}

std::vector<std::int64_t> sizes_asked_for(const std::string& text, const std::string& matrix, bool cuda) {
  const bool is_file = !is_generated(matrix);
  if (text == "auto")
    return is_file || has_size(matrix) ? std::vector<std::int64_t>() : sizes_of(cuda ? "1k:16k:x2" : "256:2k:x2");
  if (is_file) throw UsageError("--n is for generators: the matrix of a file has its size");
  if (has_size(matrix)) throw UsageError(fmt::format("the size is said twice, by --n and by '{}'", matrix));
  return sizes_of(text);
}

const baseline_solvers::Library& baseline_solver_named(const std::string& word) {
  std::vector<std::string> known;
  for (const auto& library : baseline_solvers::all()) {
    if (library.name == word) return library;
    known.push_back(library.name);
  }
  refuse_word("baseline-solvers", known, word);
}

/// Why a baseline solver has no part in a comparison on a device; empty: it has.
std::string why_left_out(const baseline_solvers::Library& library, const Device& device) {
  if (std::string why = baseline_solvers::why_unavailable(library); !why.empty()) return why;
  const bool cuda = device.kind == Device::cuda;
  if (library.on_cuda != cuda)
    return fmt::format("it runs on {}, and this on {}", library.on_cuda ? "CUDA" : "the CPU",
                       cuda ? "CUDA" : "the CPU");
  return library.on_cuda && device.index != 0 ? fmt::format("it runs on cuda:0, and this on {}", name_of(device)) : "";
}

/// The baseline solvers of a list that have a part, and why the others have none.
struct BaselineSolvers {
  std::vector<const baseline_solvers::Library*> found;
  std::vector<std::string> left_out;
};

/// Throws UsageError where a name is not known, or none has a part.
BaselineSolvers baseline_solvers_of(const std::string& list, const Device& device) {
  std::vector<const baseline_solvers::Library*> named;
  for (const auto& word : split(list))
    if (const auto* library = &baseline_solver_named(word); !contains(named, library)) named.push_back(library);
  BaselineSolvers baseline_solvers;
  for (const auto* library : named) {
    if (const std::string why = why_left_out(*library, device); !why.empty())
      baseline_solvers.left_out.push_back(fmt::format("{}: {}", library->name, why));
    else
      baseline_solvers.found.push_back(library);
  }
  if (baseline_solvers.found.empty())
    throw UsageError(fmt::format("--baseline-solvers: none can run: {}", fmt::join(baseline_solvers.left_out, "; ")));
  return baseline_solvers;
}

std::vector<std::string> backends_of(const std::string& names, const Device& device, int patience) {
  if (names != "all") return backends_named(names, patience, device);
  std::vector<std::string> all = runnable_backends(device);
  std::stable_partition(all.begin(), all.end(), [](const std::string& name) { return name == "naive"; });
  return all.empty() ? std::vector<std::string>{"auto"} : all;  // choose() says why none runs there
}

/// The first in which all backends that are named have products; fp64 where there is none.
Precision precision_of_all(CompareRequest& r) {
  const auto lacks = [&](const std::string& backend, const SolvePrecision& p) {
    Options options = r.options;
    options.gemm = backend;
    return !choose(options).offers(p.products);
  };
  if (!r.are_named) return Precision::fp64;
  std::string without;  // fp64
  for (const SolvePrecision& p : solve_precisions) {
    const auto* const one = find_in(r.backends, [&](const auto& b) { return lacks(b, p); });
    if (p.name == Precision::fp64 && one) without = *one;
    if (one) continue;
    if (p.name != Precision::fp64)
      r.why_precision = fmt::format("in {}, since {} has no products in fp64", name_of(p.name), without);
    return p.name;
  }
  return Precision::fp64;
}

void take_automatic_precision(CompareRequest& r) {
  auto& words = find_in(r.lists, [](const Alternatives& a) { return a.option == "precision"; })->words;
  const auto open = std::find(words.begin(), words.end(), "auto");
  if (open == words.end()) return;
  const std::string taken = name_of(precision_of_all(r));
  if (contains(words, taken))
    words.erase(open);
  else
    *open = taken;
}

/// What has to be true of several options at once.
void require_sense(const CompareRequest& r) {
  if (r.fail_on_slower && r.baselines.empty())
    throw UsageError("--fail-on slower takes --baseline FILE: slower than what?");
  if (r.resume && (r.json.empty() || r.json == "-"))
    throw UsageError("--resume takes --json FILE, which has what was measured");
  if (!r.beside.empty() && r.report.empty() && r.json.empty())
    throw UsageError("--beside FILE is drawn by --report, and kept in --json: give one of them");
  if (r.matrix.empty()) throw UsageError("no matrix; give a FILE, or a GENERATOR such as uniform");
  if (r.matrix == "-") throw UsageError("--matrix takes a file or a generator: the matrix is read several times");
  if ((r.copies || !r.beside.empty()) && !is_generated(r.matrix))
    throw UsageError(fmt::format("--{} takes a generated matrix: that of a file begins on the host in any case",
                                 r.copies ? "copies" : "beside"));
}

void require_files_of_their_own(const CompareRequest& r) {
  std::vector<NamedFile> read = {{"matrix", r.matrix}};
  if (!r.beside.empty()) read.push_back({"beside", r.beside});
  for (const std::string& baseline : r.baselines) {
    if (std::count(r.baselines.begin(), r.baselines.end(), baseline) > 1)
      throw UsageError(fmt::format("--baseline has {} twice", baseline));
    read.push_back({"baseline", baseline});
  }
  refuse_files_named_twice(read, {{"json", r.json}, {"csv", r.csv}, {"trace", r.trace}, {"report", r.report}});
}

}  // namespace

std::vector<Option> compare_options() { return listed_in(compare_table()); }

std::string CompareRequest::matrix_of(std::int64_t n) const {
  if (sizes.empty()) return matrix;
  const std::size_t colon = std::min(matrix.find(':'), matrix.size());
  const std::string rest = colon < matrix.size() ? matrix.substr(colon + 1) : "";
  return fmt::format("{}:n={}{}{}", matrix.substr(0, colon), n, rest.empty() ? "" : ",", rest);
}

std::string CompareRequest::command() const {
  std::string line = "lasolve";
  for (const std::string& word : words) line += " " + io::shell_quoted(word);
  return line;
}

CompareRequest parse_compare(int argc, const char* const* argv) {
  CompareRequest r;
  r.words.assign(argv, argv + argc);
  const Given given = parse_options(argc, argv, compare_table(), r, "matrix");
  require_files_of_their_own(r);
  Options& o = r.options;
  o.condition = false;  // what is timed is the same for all
  const std::string gemm = given.text("gemm");
  r.are_named = gemm != "all";
  if (o.device.kind == Device::automatic && !r.are_named) o.device = automatic_device();
  r.backends = backends_of(gemm, o.device, r.patience);
  o.device = device_for(r.backends, o.device);
  if (o.device.kind == Device::automatic) {  // one device for all: that of the first
    Options first = o;
    first.gemm = r.backends.front();
    o.device = choose(first).device();
  }
  take_automatic_precision(r);
  const BaselineSolvers baseline_solvers =
      given.has("baseline-solvers") ? baseline_solvers_of(r.baseline_solver_names, o.device) : BaselineSolvers();
  r.baseline_solvers = baseline_solvers.found, r.left_out = baseline_solvers.left_out;
  r.sizes = sizes_asked_for(given.text("n"), r.matrix, o.device.kind == Device::cuda);
  compare::Setting& s = r.setting;
  s.matrix = r.matrix, s.threads = Queue<Cpu>(o.threads).threads();
  s.visits = std::min(s.visits, s.rounds), s.least_visits = std::min(s.least_visits, s.visits);
  s.copies = r.copies && o.device.kind == Device::cuda;
  require_sense(r);
  return r;
}

}  // namespace lasolve::cli
