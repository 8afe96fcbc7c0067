#include "cli/compare/request.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/words.hpp"
#include "io/generators.hpp"

namespace lasolve::cli {

const std::vector<Option>& compare_options() {
  static const std::vector<Option> all = {
      {"matrix",
       'm',
       "MATRIX",
       "uniform",
       {},
       "the same as the word MATRIX: a file, or a GENERATOR without its n where --n says it"},
      {"n",
       'n',
       "SIZES",
       "auto",
       {},
       "sizes of a generated matrix: 1k,3000, or 1k:16k:x2, or 1000:5000:1000; auto: that of the matrix, else "
       "256:2k:x2 on the CPU "
       "and 1k:16k:x2 on CUDA"},
      {"gemm",
       'g',
       "NAMES",
       "all",
       {},
       "the GEMM backends: a,b,c or all; speed-ups are over the first, which of all is naive; ./mine.c, ./mine.cpp, "
       "./mine.cu or ./libmine.so is a kernel of your own"},
      {"peers",
       0,
       "NAMES",
       nullptr,
       {"openblas", "eigen", "cusolver"},
       "or a list of them: whole solvers of others beside ours, in fp64; those that cannot run here are left out"},
      {"device", 'd', "DEVICE", "auto", {"auto", "cpu", "cuda", "cuda:INDEX"}, ""},
      {"precision",
       'p',
       "TYPES",
       "auto",
       {"auto", "fp64", "fp32", "tf32", "fp16", "bf16"},
       "or a list of them, of factors and products; see solve; auto: fp64, or what all backends have that are named"},
      {"factorization", 'f', "METHOD", "auto", words_of<Method>(), "see solve"},
      {"schedule", 's', "NAME", "auto", words_of<Schedule>(), "see solve"},
      {"block-size", 0, "SIZE", "auto", {}, "columns of a panel at most"},
      {"threads", 0, "COUNT", "all", {}, "cores of the host to use"},
      {"noise",
       0,
       "PERCENT",
       "0.3",
       {},
       "a backend has run enough when the standard error of its median is at most this, and a change of 2.3 % could be "
       "seen"},
      {"repeat",
       0,
       "COUNT",
       "400",
       {},
       "timed runs at most, in up to 80 visits; the noise is looked at from 10 visits on"},
      {"seconds",
       0,
       "SECONDS",
       "10",
       {},
       "a backend that has run for so long at a size runs no more, but three times at least"},
      {"warmup", 0, "COUNT", "1", {}, "runs before them that are not counted"},
      {"seed", 0, "NUMBER", "1", {}, "of the random order of the runs"},
      {"unverified", 0, nullptr, nullptr, {}, "do not try the backends first, each in a process of its own"},
      patience_option,
      {"baseline",
       0,
       "FILE,...",
       nullptr,
       {},
       "an earlier --json, or several: each row is SAME, FASTER, SLOWER or UNKNOWN"},
      {"fail-on", 0, "WORD", nullptr, {"slower"}, "return 7 where a row is slower than the baseline"},
      {"copies",
       0,
       nullptr,
       nullptr,
       {},
       "on CUDA, time each solve also with A in pageable memory of the host; else a generated A begins on the device"},
      {"beside",
       0,
       "FILE",
       nullptr,
       {},
       "an earlier --json, of the CPU beside CUDA or of CUDA beside the CPU: the report draws it, and where the GPU "
       "passes "
       "the CPU"},
      {"json",
       0,
       "FILE",
       nullptr,
       {},
       "write all, with every run, as JSON to FILE, after each size; - is standard output"},
      {"resume", 0, nullptr, nullptr, {}, "leave out the sizes that --json FILE has"},
      {"csv", 0, "FILE", nullptr, {}, "write the rows as CSV to FILE; - is standard output"},
      {"markdown", 0, nullptr, nullptr, {}, "print the tables as Markdown"},
      {"attribution", 'a', nullptr, nullptr, {}, "print where the time went: phases, and updates by their shape"},
      {"trace", 0, "FILE", nullptr, {}, "write the tasks of the median runs to FILE, for chrome://tracing or Perfetto"},
      {"report", 0, "FILE", nullptr, {}, "write a page with pictures, tables and data to FILE, which needs no network"},
      {"quiet", 'q', nullptr, nullptr, {}, "no table for people and no progress"},
      {"help", 'h', nullptr, nullptr, {}, "print this"},
  };
  return all;
}

namespace {

/// Whether the size of a generator is written in its name.
bool has_size(const std::string& matrix) {
  const std::size_t colon = std::min(matrix.find(':'), matrix.size());
  for (const auto& parameter : split(matrix.substr(std::min(colon + 1, matrix.size()))))
    if (parameter.starts_with("n=")) return true;
  return false;
}

bool is_generated(const std::string& matrix) {
  return access(matrix.c_str(), F_OK) != 0 && io::Generator::is_meant_by(matrix);
}

std::vector<std::int64_t> sizes_asked_for(const std::string& text, const std::string& matrix, bool cuda) {
  const bool is_file = !is_generated(matrix);
  if (text == "auto")
    return is_file || has_size(matrix) ? std::vector<std::int64_t>() : sizes_of(cuda ? "1k:16k:x2" : "256:2k:x2");
  if (is_file) throw UsageError("--n is for generators: the matrix of a file has its size");
  if (has_size(matrix)) throw UsageError(fmt::format("the size is said twice, by --n and by '{}'", matrix));
  return sizes_of(text);
}

const peers::Peer& peer_named(const std::string& word) {
  std::vector<std::string> known;
  for (const auto& peer : peers::all()) {
    if (peer.name == word) return peer;
    known.push_back(peer.name);
  }
  throw UsageError(
      fmt::format("--peers takes {}, not '{}'{}", fmt::join(known, ", "), word, did_you_mean(word, known)));
}

/// Why a peer has no part in a comparison on a device; empty: it has.
std::string why_left_out(const peers::Peer& peer, const Device& device) {
  if (std::string why = peers::why_unavailable(peer); !why.empty()) return why;
  const bool cuda = device.kind == Device::cuda;
  if (peer.on_cuda != cuda)
    return fmt::format("it runs on {}, and this on {}", peer.on_cuda ? "CUDA" : "the CPU", cuda ? "CUDA" : "the CPU");
  return peer.on_cuda && device.index != 0 ? fmt::format("it runs on cuda:0, and this on {}", name_of(device)) : "";
}

/// The peers of a list that have a part, and why the others have none.
struct Peers {
  std::vector<const peers::Peer*> found;
  std::vector<std::string> left_out;
};

/// Throws UsageError where a name is not known, or none has a part.
Peers peers_of(const std::string& list, const Device& device) {
  std::vector<const peers::Peer*> named;
  for (const auto& word : split(list))
    if (const auto* peer = &peer_named(word); std::count(named.begin(), named.end(), peer) == 0) named.push_back(peer);
  Peers peers;
  for (const auto* peer : named) {
    if (const std::string why = why_left_out(*peer, device); !why.empty())
      peers.left_out.push_back(fmt::format("{}: {}", peer->name, why));
    else
      peers.found.push_back(peer);
  }
  if (peers.found.empty()) throw UsageError(fmt::format("--peers: none can run: {}", fmt::join(peers.left_out, "; ")));
  return peers;
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
    const auto one = std::find_if(r.backends.begin(), r.backends.end(), [&](const auto& b) { return lacks(b, p); });
    if (p.name == Precision::fp64 && one != r.backends.end()) without = *one;
    if (one != r.backends.end()) continue;
    if (p.name != Precision::fp64)
      r.why_precision = fmt::format("in {}, since {} has no products in fp64", name_of(p.name), without);
    return p.name;
  }
  return Precision::fp64;
}

/// What has to be true of several options at once.
void require_sense(const CompareRequest& r, const std::string& fail_on) {
  if (!fail_on.empty() && fail_on != "slower")
    throw UsageError(fmt::format("--fail-on takes slower, not '{}'", fail_on));
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

std::string CompareRequest::matrix_of(std::int64_t n) const {
  if (sizes.empty()) return matrix;
  const std::size_t colon = std::min(matrix.find(':'), matrix.size());
  const std::string rest = colon < matrix.size() ? matrix.substr(colon + 1) : "";
  return fmt::format("{}:n={}{}{}", matrix.substr(0, colon), n, rest.empty() ? "" : ",", rest);
}

std::string CompareRequest::command() const {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-+=./,:@%", c);
  };
  std::string line = "lasolve";
  for (const std::string& word : words) {
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    line += !word.empty() && std::all_of(word.begin(), word.end(), is_plain) ? " " + word : " '" + quoted + "'";
  }
  return line;
}

CompareRequest parse_compare(int argc, const char* const* argv) {
  const po::variables_map values = parse_options(argc, argv, compare_options(), "matrix");
  const auto text = [&](const char* name) {
    return values.count(name) ? values[name].as<std::string>() : std::string();
  };
  const auto has = [&](const char* name) { return values.count(name) > 0; };
  CompareRequest r;
  r.words.assign(argv, argv + argc);
  r.help = has("help");
  if (r.help) return r;
  for (const char* name : {"matrix", "json", "csv", "trace", "report", "baseline", "beside", "peers", "fail-on"})
    if (has(name) && text(name).empty()) throw UsageError(fmt::format("--{} takes a name, not ''", name));
  r.quiet = has("quiet"), r.markdown = has("markdown"), r.attribution = has("attribution"), r.resume = has("resume");
  r.verify = !has("unverified"), r.fail_on_slower = has("fail-on");
  r.matrix = text("matrix"), r.json = text("json"), r.csv = text("csv"), r.trace = text("trace"),
  r.report = text("report");
  if (has("baseline")) r.baselines = split(text("baseline"));
  r.beside = text("beside");
  require_files_of_their_own(r);
  Options& o = r.options;
  o.device = device_of(text("device"));
  if (o.device.kind == Device::automatic && text("gemm") == "all") o.device = automatic_device();
  o.threads = threads_of(text("threads"));
  o.block_size = number<std::int64_t>("block-size", text("block-size"), 1, "auto");
  o.factorization = one_of<Method>("factorization", text("factorization"));
  o.schedule = one_of<Schedule>("schedule", text("schedule"));
  r.patience = number("patience", text("patience"), 1);
  r.backends = backends_of(text("gemm"), o.device, r.patience);
  r.are_named = text("gemm") != "all";
  o.device = place_of(r.backends, o.device);
  if (o.device.kind == Device::automatic) {  // one device for all: that of the first
    Options first = o;
    first.gemm = r.backends.front();
    o.device = choose(first).device();
  }
  r.precisions = text("precision") == "auto" ? std::vector{precision_of_all(r)} : precisions_of(text("precision"));
  const Peers peers = has("peers") ? peers_of(text("peers"), o.device) : Peers();
  r.peers = peers.found, r.left_out = peers.left_out;
  r.sizes = sizes_asked_for(text("n"), r.matrix, o.device.kind == Device::cuda);
  r.copies = has("copies");
  compare::Setting& s = r.setting;
  s.matrix = r.matrix, s.factorization = text("factorization"), s.schedule = text("schedule");
  s.block_size = o.block_size, s.threads = Queue<Cpu>(o.threads).threads();
  s.rounds = number("repeat", text("repeat"), 1);
  s.visits = std::min(s.visits, s.rounds), s.least_visits = std::min(s.least_visits, s.visits);
  s.warmup = number("warmup", text("warmup"), 0);
  s.noise = 0.01 * positive("noise", text("noise"));
  s.enough_seconds = positive("seconds", text("seconds"));
  s.copies = r.copies && o.device.kind == Device::cuda;
  s.seed = std::uint64_t(number<std::int64_t>("seed", text("seed"), 0));
  require_sense(r, text("fail-on"));
  return r;
}

}  // namespace lasolve::cli
