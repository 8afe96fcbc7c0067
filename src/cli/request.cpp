#include "cli/request.hpp"

#include <unistd.h>

#include <algorithm>

#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/tuning.hpp"
#include "cli/words.hpp"
#include "io/file_format.hpp"
#include "io/generators.hpp"

namespace lasolve::cli {

namespace {

/// In which systems are solved.
std::vector<Precision> precisions() {
  std::vector<Precision> names;
  for (const SolvePrecision& p : solve_precisions) names.push_back(p.name);
  return names;
}

std::vector<io::FileFormat> formats_of_streams() {
  using enum io::FileFormat;
  return {automatic, matrix_market, npy, csv, tsv, txt};
}

const Option tune_option{
    "tune",  0,  "NAME=VALUE",
    nullptr, {}, "set one of the sizes that decide between ways to compute; 'lasolve list --tuning' has them",
    true};

}  // namespace

const std::vector<Option>& solve_options() {
  static const std::vector<Option> all = {
      {"matrix",
       'm',
       "FILE",
       nullptr,
       {},
       "A: Matrix Market, .npy, FILE.npz:NAME, CSV, TSV or text, also .gz; - is standard input; or a GENERATOR, such "
       "as uniform:n=1000,seed=1"},
      {"rhs", 'b', "FILE", nullptr, {}, "right-hand sides B; without it b = A·1, whose answer is known"},
      {"output",
       'o',
       "FILE",
       nullptr,
       {},
       "write X to FILE (.mtx, .npy, .csv, .tsv, .txt, also .gz); - is standard output; without it X of --rhs is "
       "printed"},
      {"format", 0, "FORMAT", "auto", words_of(formats_of_streams()),
       "of X on standard output; auto: txt, and mtx with --output -; txt also takes tabs in input for blanks"},
      {"decimal-comma",
       0,
       nullptr,
       nullptr,
       {},
       "read 1,5 as 1.5 in tables of text, where semicolons, tabs or blanks separate numbers"},
      {"gemm",
       'g',
       "NAMES",
       "auto",
       {},
       "the GEMM backend, a,b,c, or all: several are timed in turns and compared; 'lasolve list' has the names; "
       "./mine.c, ./mine.cpp, ./mine.cu or ./libmine.so is a kernel of your own, which is tried first"},
      {"device", 'd', "DEVICE", "auto", {"auto", "cpu", "cuda", "cuda:INDEX"}, ""},
      {"factorization", 'f', "METHOD", "auto", words_of<Method>(),
       "auto: Cholesky if symmetric with a positive diagonal, else LU"},
      {"triangle", 0, "PART", "both", words_of<Uplo>(),
       "which part of A is there; with one of them A is symmetric, and the other is not read"},
      {"precision", 'p', "TYPE", "fp64", words_of(precisions()),
       "of factors and products; with refinement to the accuracy of fp64. tf32, fp16 and bf16: products in that, "
       "factors in fp32"},
      {"refine", 'r', "METHOD", "auto", words_of<Refine>(),
       "auto: classical for factors coarser than fp64, and where elements grew so that a check fails"},
      {"schedule", 's', "NAME", "auto", words_of<Schedule>(), "the order of the steps; 'lasolve plan' draws them"},
      {"block-size", 0, "SIZE", "auto", {}, "columns of a panel at most", false, {"-n"}},
      tune_option,
      {"no-tuned", 0, nullptr, nullptr, {}, "do not take what 'lasolve tune' has found to be faster"},
      {"in-place",
       0,
       nullptr,
       nullptr,
       {},
       "overwrite a generated matrix with its factors: half the memory; it is made again for the check"},
      {"transpose", 't', nullptr, nullptr, {}, "solve with the transpose of A"},
      {"threads", 0, "COUNT", "all", {}, "cores of the host to use"},
      {"repeat",
       0,
       "COUNT",
       "auto",
       {},
       "timed runs, of which the median one is reported; auto: 5 where several backends are compared, else 1"},
      {"warmup",
       0,
       "COUNT",
       "auto",
       {},
       "runs before them that are not counted; auto: 1 where several backends are compared, else 0"},
      patience_option,
      {"allow-nonfinite", 0, nullptr, nullptr, {}, "read NaN and infinities instead of refusing them"},
      {"no-condition",
       0,
       nullptr,
       nullptr,
       {},
       "leave out the estimate of the condition number, which takes five more solves"},
      {"allow-ill-conditioned",
       0,
       nullptr,
       nullptr,
       {},
       "write a solution of which no digit can be trusted, and return 0"},
      {"json", 0, "FILE", nullptr, {}, "write the report as JSON to FILE; - is standard output"},
      {"quiet", 'q', nullptr, nullptr, {}, "no report and no progress; a solution is printed all the same"},
      {"version", 0, nullptr, nullptr, {}, "print the version"},
      {"help", 'h', nullptr, nullptr, {}, "print this"},
  };
  return all;
}

const std::vector<Option>& list_options() {
  static const std::vector<Option> all = {
      {"tuning", 0, nullptr, nullptr, {}, "list the sizes that decide between ways to compute instead"},
      {"tuned", 0, nullptr, nullptr, {}, "list what 'lasolve tune' has kept instead"},
      {"device", 'd', "DEVICE", "auto", {"auto", "cpu", "cuda", "cuda:INDEX"}, "whose tuning"},
      {"threads", 0, "COUNT", "all", {}, "with --tuned: of the solves that may use it"},
      tune_option,
      {"json", 0, "FILE", nullptr, {}, "with --tuning or --tuned: write it as JSON to FILE; - is standard output"},
      {"help", 'h', nullptr, nullptr, {}, "print this"},
  };
  return all;
}

const std::vector<Option>& generate_options() {
  static const std::vector<Option> all = {
      {"matrix", 'm', "GENERATOR", nullptr, {}, "the same as the word GENERATOR"},
      {"output", 'o', "FILE", nullptr, {}, ".mtx, .npy, .csv, .tsv or .txt, also .gz; - is standard output"},
      {"format", 0, "FORMAT", "auto", words_of(formats_of_streams()), "on standard output; auto: mtx"},
      {"threads", 0, "COUNT", "all", {}, "cores to use"},
      {"quiet", 'q', nullptr, nullptr, {}, "no progress"},
      {"help", 'h', nullptr, nullptr, {}, "print this"},
  };
  return all;
}

const std::vector<Option>& help_options() {
  static const std::vector<Option> all = {
      {"man", 0, nullptr, nullptr, {}, "print the manual page, for man(1)"},
      {"completion", 0, "SHELL", nullptr, {"bash", "zsh"}, "print the completion of lasolve for a shell"},
      {"usable", 0, "OPTION", nullptr, {"gemm", "device", "peers"}, "print the words that an option can take here"},
  };
  return all;
}

namespace {

/// A word that is no command and looks like a matrix.
bool is_matrix(const std::string& word) {
  return word.find_first_of("./:") != word.npos || io::Generator::is_meant_by(word) || access(word.c_str(), F_OK) == 0;
}

/// The command, and where its options begin.
std::pair<Command, int> command(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {Command::solve, 1};
  const std::string word = argv[1];
  for (const auto& [name, command] : {std::pair{"solve", Command::solve},
                                      {"list", Command::list},
                                      {"generate", Command::generate},
                                      {"help", Command::help}})
    if (word == name) return {command, 2};
  if (is_matrix(word)) return {Command::solve, 1};
  throw UsageError(fmt::format(
      "there is no command and no file '{}'{}; 'lasolve help' lists the commands", word,
      did_you_mean(word, {"solve", "compare", "tune", "list", "generate", "plan", "bench", "new-kernel", "help"})));
}

/// What the options of a command line say, and whether it asks for help instead.
class Words {
 public:
  Words(int argc, const char* const* argv, const std::vector<Option>& options, const char* word)
      : values_(parse_options(argc, argv, options, word)) {
    for (const char* name : {"matrix", "rhs", "output", "json"})
      if (has(name) && text(name).empty()) throw UsageError(fmt::format("--{} takes a name, not ''", name));
  }
  bool has(const char* name) const { return values_.count(name) > 0; }
  std::string text(const char* name) const { return has(name) ? values_[name].as<std::string>() : std::string(); }
  std::vector<std::string> texts(const char* name) const {
    return has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>();
  }
  io::FileFormat format() const { return one_of("format", text("format"), formats_of_streams()); }

 private:
  po::variables_map values_;
};

Options options_of(const Words& words) {
  Options o;
  o.allow_nonfinite = words.has("allow-nonfinite");
  o.condition = !words.has("no-condition");
  o.device = device_of(words.text("device"));
  o.threads = threads_of(words.text("threads"));
  o.block_size = number<std::int64_t>("block-size", words.text("block-size"), 1, "auto");
  o.factorization = one_of<Method>("factorization", words.text("factorization"));
  o.triangle = one_of<Uplo>("triangle", words.text("triangle"));
  o.precision = one_of("precision", words.text("precision"), precisions());
  o.refine = one_of<Refine>("refine", words.text("refine"));
  o.schedule = one_of<Schedule>("schedule", words.text("schedule"));
  return o;
}

/// The names of the backends. Where all of them are meant, none stands in for that of another device.
std::vector<std::string> backends_of(const std::string& names, Request& r) {
  const bool all = names == "all";
  if (all && r.options.device.kind == Device::automatic) r.options.device = automatic_device();
  std::vector<std::string> backends =
      all ? runnable_backends(r.options.device, r.products_in()) : backends_named(names, r.patience, r.options.device);
  if (backends.empty()) backends = {"auto"};  // no backend runs there: choose() says why
  return backends;
}

/// What is said by the suffix of a file and otherwise by --format. As txt it may be meant for the input.
void require_one_format(const Request& r) {
  const io::FileFormat suffix = io::format_of_suffix(r.output);
  if (r.format == io::FileFormat::automatic || suffix == io::FileFormat::automatic || r.format == suffix) return;
  if (r.format == io::FileFormat::txt && r.command == Command::solve) return;
  throw UsageError(fmt::format("--format {} and --output {}: the suffix says {}; --format is for standard output",
                               name_of(r.format), r.output, name_of(suffix)));
}

void require_size(const Request& r) {
  if (r.matrix.find(':') != r.matrix.npos || access(r.matrix.c_str(), F_OK) == 0) return;
  if (io::Generator::is_meant_by(r.matrix))
    throw UsageError(fmt::format("a generator takes a size: {}:n=1000", r.matrix));
}

Request parse_solve(const Words& words) {
  Request r;
  r.matrix = words.text("matrix");
  r.rhs = words.text("rhs");
  r.output = words.text("output");
  r.json = words.text("json");
  if (r.matrix.empty()) throw UsageError("no matrix; give a FILE, or a GENERATOR such as uniform:n=1000,seed=1");
  if (r.matrix == "-" && r.rhs == "-") throw UsageError("--matrix - and --rhs - are both standard input");
  refuse_files_named_twice({{"matrix", r.matrix}, {"rhs", r.rhs}}, {{"output", r.output}, {"json", r.json}});
  r.format = words.format();
  r.decimal_comma = words.has("decimal-comma");
  r.quiet = words.has("quiet");
  r.allow_ill_conditioned = words.has("allow-ill-conditioned");
  r.in_place = words.has("in-place");
  r.use_tuned = !words.has("no-tuned");
  r.op = words.has("transpose") ? Op::transpose : Op::none;
  r.options = options_of(words);
  require_one_format(r);
  require_size(r);
  for (const std::string& text : words.texts("tune")) r.tune.push_back(tuning_change(text));
  if (r.in_place && (is_coarser_than<double>(r.options.precision) || r.options.refine == Refine::classical))
    throw UsageError(fmt::format("--in-place leaves nothing to refine with: not with --precision {} or --refine {}",
                                 name_of(r.options.precision), name_of(r.options.refine)));
  r.patience = number("patience", words.text("patience"), 1);
  r.backends = backends_of(words.text("gemm"), r);
  r.options.device = place_of(r.backends, r.options.device);
  if (!r.output.empty() && r.backends.size() > 1) throw UsageError("--output with several backends: which solution?");
  const bool compared = r.backends.size() > 1;
  r.repeat = words.text("repeat") == "auto" ? (compared ? 5 : 1) : number("repeat", words.text("repeat"), 1);
  r.warmup = words.text("warmup") == "auto" ? (compared ? 1 : 0) : number("warmup", words.text("warmup"), 0);
  return r;
}

Request parse_list(const Words& words) {
  Request r;
  r.command = Command::list;
  r.list_tuning = words.has("tuning");
  r.list_tuned = words.has("tuned");
  if (r.list_tuning && r.list_tuned) throw UsageError("--tuning and --tuned are two lists: give one of them");
  r.options.threads = threads_of(words.text("threads"));
  r.json = words.text("json");
  r.options.device = device_of(words.text("device"));
  for (const std::string& text : words.texts("tune")) r.tune.push_back(tuning_change(text));
  return r;
}

Request parse_generate(const Words& words) {
  Request r;
  r.command = Command::generate;
  r.matrix = words.text("matrix");
  r.output = words.text("output");
  if (r.matrix.empty()) throw UsageError("no generator; give one, such as uniform:n=1000,seed=1");
  if (r.output.empty()) throw UsageError("no output; give --output FILE (.mtx, .npy, .csv, .tsv or .txt, also .gz)");
  r.format = words.format();
  r.quiet = words.has("quiet");
  r.options.threads = threads_of(words.text("threads"));
  require_one_format(r);
  require_size(r);
  return r;
}

Request helping(std::string text) {
  Request r;
  r.command = Command::help;
  r.help = std::move(text);
  return r;
}

/// argv[0] is the word help.
Request parse_help(int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "--man") return helping(manual_page());
  if (word == "--completion") return helping(completion(argc > 2 ? argv[2] : ""));
  if (word == "--usable") return helping(usable(argc > 2 ? argv[2] : ""));
  return helping(word.empty() || word == "--help" || word == "-h" ? overview() : help_about(word));
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
  if (argc == 2 && (argv[1] == std::string("--help") || argv[1] == std::string("-h"))) return helping(overview());
  const auto [which, skip] = command(argc, argv);
  const std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
  argc -= skip - 1;
  argv += skip - 1;
  if (which == Command::help) return parse_help(argc, argv);
  const bool listing = which == Command::list, generating = which == Command::generate;
  const Words words(argc, argv,
                    listing      ? list_options()
                    : generating ? generate_options()
                                 : solve_options(),
                    listing ? nullptr : "matrix");
  if (words.has("help")) return helping(help_of(listing ? "list" : generating ? "generate" : "solve"));
  Request r;
  r.command = words.has("version") ? Command::version : which;
  if (r.command == Command::generate) return parse_generate(words);
  if (r.command == Command::list) return parse_list(words);
  if (r.command == Command::solve) r = parse_solve(words);
  r.words = all;
  return r;
}

}  // namespace lasolve::cli
