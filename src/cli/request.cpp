#include "cli/request.hpp"

#include <unistd.h>

#include <algorithm>

#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/tuning.hpp"
#include "cli/words.hpp"
#include "core/cpu/limits.hpp"
#include "core/range.hpp"
#include "engines/load.hpp"
#include "engines/solve.hpp"
#include "io/file_format.hpp"
#include "io/generators.hpp"
#include "solvers/method.hpp"

namespace lasolve::cli {

namespace {

/// What finished factors are stored in.
std::vector<Precision> storages() {
  std::vector<Precision> names = {Precision::automatic};
  for (const Precision p : storage_precisions) names.push_back(p);
  return names;
}

std::vector<io::FileFormat> formats_of_streams() {
  using enum io::FileFormat;
  return {automatic, matrix_market, npy, csv, tsv, txt};
}

OptionOf<Request> matrix_option(const char* value, const char* meaning) {
  return OptionOf<Request>("matrix", 'm', value, meaning).to(&Request::matrix);
}
OptionOf<Request> output_option(const char* meaning) {
  return OptionOf<Request>("output", 'o', "FILE", meaning).to(&Request::output);
}
OptionOf<Request> format_option(const char* meaning) {
  return OptionOf<Request>("format", 0, "FORMAT", "auto", words_of(formats_of_streams()), meaning)
      .to([](Request& r, auto& word) {
        r.format = enumerator_of<io::FileFormat>("format", words_of(formats_of_streams()), word);
      });
}
OptionOf<Request> tune_option() {
  return OptionOf<Request>("tune", 0, "NAME=VALUE", "set one of the thresholds that 'lasolve list --tuning' lists")
      .again()
      .to([](Request& r, auto& word) { r.tune.push_back(tuning_change(word)); });
}

OptionOf<Request> decimal_comma_option() {
  return OptionOf<Request>("decimal-comma", 0,
                           "read 1,5 as 1.5 in tables of text, where semicolons, tabs or blanks separate numbers")
      .to(&Request::decimal_comma);
}

OptionOf<Request> max_memory_option() {
  return OptionOf<Request>(
             "max-memory", 0, "BYTES",
             "of the memory of the host that may be taken in all, such as 512m; what needs more is refused")
      .to([](Request&, auto& word) { limit_memory(std::size_t(number<std::int64_t>("max-memory", word, 1))); });
}

OptionOf<Request> allow_nonfinite_option() {
  return OptionOf<Request>("allow-nonfinite", 0, "read NaN and infinities instead of refusing them")
      .to(&Options::allow_nonfinite);
}

const Table<Request>& solve_table() {
  using O = OptionOf<Request>;
  static const Table<Request> all = {
      matrix_option("FILE",
                    "A: Matrix Market, .npy, FILE.npz:NAME, CSV, TSV or text, also .gz; - is standard input; or a "
                    "GENERATOR, such "
                    "as uniform:n=1000,seed=1"),
      O("rhs", 'b', "FILE", "right-hand sides B; without it b = A·1, whose answer is known").to(&Request::rhs),
      output_option(
          "write X to FILE (.mtx, .npy, .csv, .tsv, .txt, also .gz); - is standard output; without it X of --rhs is "
          "printed"),
      format_option(
          "of X on standard output; auto: txt, and mtx with --output -; txt also takes tabs in input for blanks"),
      decimal_comma_option(),
      O("gemm", 'g', "NAMES", "auto",
        "the GEMM backend, a,b,c, or all: several are timed in turns and compared; 'lasolve list' has the names; "
        "./mine.c, ./mine.cpp, ./mine.cu or ./libmine.so is a kernel of your own, which is tried first"),
      O("device", 'd', "DEVICE", "auto", words_of_devices,
        "cuda:0,1 and cuda:all: several cards share one system; those of the CPU, cpu:0,1, are virtual")
          .to([](Request& r, auto& word) { take_devices(word, r.options); }),
      O("card-shares", 0, "COUNTS", "auto",
        "of several cards, the block columns of each in a round, from 1 to 16: 2,1; auto: equal, and of unlike cards "
        "by "
        "their measured rates")
          .to([](Request& r, auto& word) {
            if (word != "auto") take_shares(word, r.options);
          }),
      O("device-memory", 0, "BYTES", "free",
        "of the device's memory that A and its factors may take, such as 16g; what does not fit stays on the host, and "
        "passes the device in block columns")
          .to([](Request& r, auto& word) {
            if (word != "free") r.options.device_memory = number<std::int64_t>("device-memory", word, 1);
          }),
      factorization_option<Request>("auto: Cholesky if symmetric with a positive diagonal, else LU"),
      pivoting_option<Request>(
          "of LU; auto: partial; tournament: bands of rows name candidates, which play for the pivots of some columns "
          "at a time"),
      O("triangle", 0, "PART", "both", words_of<Uplo>(),
        "which part of A is there; with one of them A is symmetric, and the other is not read")
          .to(&Options::triangle),
      O("precision", 'p', "TYPE", "fp64", words_of_precisions(),
        "of factors and products; with refinement to the accuracy of fp64. tf32, fp16 and bf16: products in that, "
        "factors in fp32")
          .to(&Options::precision),
      O("storage", 0, "TYPE", "auto", words_of(storages()),
        "of finished factors; auto: what they were computed in. fp16 and bf16, with --precision fp32, tf32, fp16 or "
        "bf16, take half of the memory")
          .to(&Options::storage),
      O("refine", 'r', "METHOD", "auto", words_of<Refine>(),
        "auto: classical for factors coarser than fp64, and where elements grew so that a check fails; gmres where "
        "that stalls")
          .to(&Options::refine),
      O("residual", 0, "PRECISION", "working", words_of<Residual>(),
        "what refinement computes residuals in; extra: double-double, which makes x itself accurate to the last digits")
          .to(&Options::residual),
      O("equilibrate", 0, "WHEN", "auto", words_of<Wanted::Kind>(),
        "scale rows and columns by powers of two before A is factored; auto: where a solution fails without it")
          .to([](Request& r, auto& word) {
            r.options.equilibrate = enumerator_of<Wanted::Kind>("equilibrate", words_of<Wanted::Kind>(), word);
          }),
      schedule_option<Request>("the order of the steps; 'lasolve plan' draws them"),
      block_size_option<Request>().was("-n"),
      tune_option(),
      O("no-tuned", 0, "do not take what 'lasolve tune' has found to be faster").to([](Request& r, auto&) {
        r.use_tuned = false;
      }),
      O("in-place", 0, "overwrite a generated matrix with its factors: half the memory; it is made again for the check")
          .to(&Request::in_place),
      O("accuracy", 0, "ERROR", "hpl",
        "the backward error that the solution must have, such as 1e-15: factors are coarse and refined where that "
        "takes "
        "less time; hpl: what the HPL check allows")
          .to([](Request& r, auto& word) { r.options.accuracy = accuracy_of(word); }),
      O("bounds", 0, "bound the error of the solution, as LAPACK's gesvx does").to(&Options::bounds),
      O("history", 0, "report the residuals of each right-hand side as it is refined").to(&Options::history),
      O("transpose", 't', "solve with the transpose of A").to([](Request& r, auto&) { r.op = Op::transpose; }),
      threads_option<Request>(),
      O("repeat", 0, "COUNT", "auto",
        "timed runs, of which the median one is reported; auto: 5 where several backends are compared, else 1"),
      O("warmup", 0, "COUNT", "auto",
        "runs before them that are not counted; auto: 1 where several backends are compared, else 0"),
      patience_option<Request>(),
      O("engine", 0, "NAME", nullptr, engines::names(),
        "solve with several processes, each with its part of A: mpirun -n 4 lasolve --engine scalapack ...")
          .to([](Request& r, auto& word) {
            if (!contains(engines::names(), word)) refuse_word("engine", engines::names(), word);
            r.engine = word;
          }),
      O("ranks", 0, "COUNT", "with --engine: start mpirun with so many processes").to([](Request& r, auto& word) {
        r.ranks = number("ranks", word, 1);
      }),
      assume_suitable_option<Request>(),
      allow_nonfinite_option(),
      max_memory_option(),
      O("no-condition", 0, "leave out the estimate of the condition number, which takes three more solves")
          .to([](Request& r, auto&) { r.options.condition = false; }),
      O("allow-ill-conditioned", 0, "write a solution of which no digit can be trusted, and return 0")
          .to(&Request::allow_ill_conditioned),
      json_option<Request>("write the report as JSON to FILE; - is standard output"),
      quiet_option<Request>("no report and no progress; a solution is printed all the same"),
      O("version", 0, "print the version").to(&Request::version),
      help_option<Request>(),
  };
  return all;
}

const Table<Request>& list_table() {
  using O = OptionOf<Request>;
  static const Table<Request> all = {
      O("tuning", 0, "list the thresholds between ways to compute instead").to(&Request::list_tuning),
      O("tuned", 0, "list what 'lasolve tune' has kept instead").to(&Request::list_tuned),
      device_option<Request>("whose tuning"),
      threads_option<Request>("with --tuned: of the solves that may use it"),
      tune_option(),
      json_option<Request>("with --tuning or --tuned: write it as JSON to FILE; - is standard output"),
      help_option<Request>(),
  };
  return all;
}

const Table<Request>& generate_table() {
  static const Table<Request> all = {
      matrix_option("GENERATOR", "the same as the word GENERATOR"),
      output_option(".mtx, .npy, .csv, .tsv or .txt, also .gz; - is standard output"),
      format_option("on standard output; auto: mtx"),
      threads_option<Request>("cores to use"),
      quiet_option<Request>("no progress"),
      help_option<Request>(),
  };
  return all;
}

const Table<Request>& convert_table() {
  static const Table<Request> all = {
      matrix_option("FILE", "the same as the word FILE; - is standard input"),
      output_option(".mtx, .npy, .csv, .tsv or .txt, also .gz; - is standard output"),
      format_option("on standard output; auto: mtx"),
      decimal_comma_option(),
      allow_nonfinite_option(),
      max_memory_option(),
      threads_option<Request>("cores to use"),
      quiet_option<Request>("no progress"),
      help_option<Request>(),
  };
  return all;
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

/// What is said by the suffix of a file and otherwise by --format, which may be `another` all the same.
void require_one_format(const Request& r, io::FileFormat another) {
  const io::FileFormat suffix = io::format_of_suffix(r.output);
  if (r.format == io::FileFormat::automatic || r.format == another) return;
  if (suffix == io::FileFormat::automatic || r.format == suffix) return;
  throw UsageError(fmt::format("--format {} and --output {}: the suffix says {}; --format is for standard output",
                               name_of(r.format), r.output, name_of(suffix)));
}

void require_output(const Request& r) {
  if (r.output.empty()) throw UsageError("no output; give --output FILE (.mtx, .npy, .csv, .tsv or .txt, also .gz)");
  require_one_format(r, io::FileFormat::automatic);
}

void require_size(const Request& r) {
  if (r.matrix.find(':') != r.matrix.npos || access(r.matrix.c_str(), F_OK) == 0) return;
  if (io::Generator::is_meant_by(r.matrix))
    throw UsageError(fmt::format("a generator takes a size: {}:n=1000", r.matrix));
}

/// What an engine leaves as it is by default. Throws UsageError where something else is asked for.
void complete_for_engine(Request& r, const Given& given) {
  static const std::vector<std::string> taken = {
      "matrix",        "rhs",       "output",          "format",       "decimal-comma",
      "factorization", "precision", "refine",          "equilibrate",  "engine",
      "block-size",    "in-place",  "accuracy",        "transpose",    "threads",
      "ranks",         "json",      "allow-nonfinite", "no-condition", "allow-ill-conditioned",
      "quiet",         "no-tuned"};
  for (const Option& option : solve_options())
    if (given.has(option.name) && !given.is_by_default(option.name) && !contains(taken, option.name))
      throw UsageError(fmt::format("--engine {} does not take --{}", r.engine, option.name));
  const auto takes = [&](const char* option, const auto& values, auto value) {
    if (contains(values, value)) return;
    const std::vector all(std::begin(values), std::end(values));
    throw UsageError(fmt::format("--engine {} takes --{} {}, not {}", r.engine, option,
                                 fmt::join(words_of(all), " or "), name_of(value)));
  };
  std::vector<Method> methods(std::begin(automatic_methods), std::end(automatic_methods));
  methods.push_back(Method::automatic);
  takes("precision", engines::precisions, r.options.precision);
  takes("refine", engines::refinements, r.options.refine);
  takes("factorization", methods, r.options.factorization);
  r.backends = {r.engine};
}

/// What is said by several options at once, or depends on others.
void complete(Request& r, const Given& given) {
  if (r.matrix.empty()) throw UsageError("no matrix; give a FILE, or a GENERATOR such as uniform:n=1000,seed=1");
  if (r.matrix == "-" && r.rhs == "-") throw UsageError("--matrix - and --rhs - are both standard input");
  refuse_files_named_twice({{"matrix", r.matrix}, {"rhs", r.rhs}}, {{"output", r.output}, {"json", r.json}});
  require_one_format(r, io::FileFormat::txt);  // which may be meant for the input
  require_size(r);
  if (r.ranks > 0 && r.engine.empty()) throw UsageError("--ranks are of an engine, as in --engine scalapack");
  if (!r.engine.empty()) return complete_for_engine(r, given);
  complete_recipe(r, given);
  if (!r.output.empty() && r.backends.size() > 1) throw UsageError("--output with several backends: which solution?");
  const auto runs = [&](const char* option, int of_one, int of_several, int least) {
    const std::string word = given.text(option);
    if (word == "auto") return r.backends.size() > 1 ? of_several : of_one;
    return number(option, word, least);
  };
  r.repeat = runs("repeat", 1, 5, 1);
  r.warmup = runs("warmup", 0, 1, 0);
}

}  // namespace

const OptionOf<Request>& solve_option(const std::string& name) {
  return *find_in(solve_table(), [&](const Option& option) { return option.name == name; });
}

void complete_recipe(Request& r, const Given& given) {
  if (r.in_place && (is_coarser_than<double>(r.options.precision, r.options.storage) ||
                     is_asked_for(r.options.refine) || r.options.residual == Residual::extra))
    throw UsageError(
        fmt::format("--in-place leaves nothing to refine with: not with --precision {}, --refine {} or "
                    "--residual {}",
                    name_of(r.options.precision), name_of(r.options.refine), name_of(r.options.residual)));
  if (r.in_place && r.options.cards.size() > 1)
    throw UsageError(
        "--in-place is of one device: several cards make a matrix again by themselves where it does not fit");
  if (r.in_place && r.options.device_memory > 0)
    throw UsageError(
        "--in-place has A and its factors on the device: not with --device-memory, which lets them pass it");
  if (r.options.residual == Residual::extra && r.options.refine == Refine::none)
    throw UsageError("--residual extra is of a refinement, and --refine none leaves that out");
  if (r.options.accuracy > 0 && given.is_by_default("precision")) r.options.precision = Precision::automatic;
  if (r.options.accuracy > 0 && r.in_place)
    throw UsageError("--in-place leaves nothing to reach an accuracy with: not with --accuracy");
  r.backends = backends_of(given.text("gemm"), r);
  r.options.device = device_for(r.backends, r.options.device);
}

SolvePrecision solve_precision_of(const Options& o) {
  const bool open = o.precision == Precision::automatic && o.storage == Precision::automatic;
  return find_solve_precision(open ? Precision::fp64 : o.precision, o.storage)
      .value_or(*find_solve_precision(Precision::fp64));
}

std::vector<Option> solve_options() { return listed_in(solve_table()); }
std::vector<Option> list_options() { return listed_in(list_table()); }
std::vector<Option> generate_options() { return listed_in(generate_table()); }
std::vector<Option> convert_options() { return listed_in(convert_table()); }

bool is_matrix(const std::string& word) {
  return word.find_first_of("./:") != word.npos || io::Generator::is_meant_by(word) || access(word.c_str(), F_OK) == 0;
}

Request parse_solve(int argc, const char* const* argv) {
  Request r;
  r.options.condition = true;
  const Given given = parse_options(argc, argv, solve_table(), r, "matrix");
  r.words = {"solve"};
  r.words.insert(r.words.end(), argv + std::min(argc, 1), argv + argc);
  if (!r.version) complete(r, given);
  return r;
}

Request parse_list(int argc, const char* const* argv) {
  Request r;
  parse_options(argc, argv, list_table(), r);
  if (r.list_tuning && r.list_tuned) throw UsageError("--tuning and --tuned are two lists: give one of them");
  return r;
}

Request parse_generate(int argc, const char* const* argv) {
  Request r;
  parse_options(argc, argv, generate_table(), r, "matrix");
  if (r.matrix.empty()) throw UsageError("no generator; give one, such as uniform:n=1000,seed=1");
  require_output(r);
  require_size(r);
  return r;
}

Request parse_convert(int argc, const char* const* argv) {
  Request r;
  parse_options(argc, argv, convert_table(), r, "matrix");
  if (r.matrix.empty()) throw UsageError("no file; give one, or - for standard input");
  refuse_files_named_twice({{"matrix", r.matrix}}, {{"output", r.output}});
  require_output(r);
  return r;
}

}  // namespace lasolve::cli
