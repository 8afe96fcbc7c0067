#include "cli/request.hpp"

#include <algorithm>
#include <sstream>

#include "cli/words.hpp"
#include "io/generators.hpp"

namespace lasolve::cli {

namespace {

po::options_description known_options() {
  po::options_description all("Options", 110, 60);
  // clang-format off
  all.add_options()
    ("matrix,m", po::value<std::string>(), "FILE (Matrix Market, .npy, FILE.npz:NAME, CSV, TSV, text; also .gz), - for standard input, or GENERATOR, such as uniform:n=1000,seed=1")
    ("rhs,b", po::value<std::string>(), "FILE with the right-hand sides; the solution is printed unless --output says where to; default b = A·1, whose answer is known")
    ("output,o", po::value<std::string>(), "write the solution to FILE (.mtx, .npy, .csv, .tsv, .txt; also .gz); - is standard output, in Matrix Market")
    ("format", po::value<std::string>()->default_value("auto"), "of a solution on standard output: mtx, npy, csv, tsv, txt (blanks between numbers); txt also takes tabs in input for blanks")
    ("gemm,g", po::value<std::string>()->default_value("auto"), "the GEMM backend; a,b,c or all compares several; see 'lasolve list'")
    ("device,d", po::value<std::string>()->default_value("auto"), "auto, cpu, cuda or cuda:INDEX")
    ("factorization,f", po::value<std::string>()->default_value("auto"), "auto (Cholesky if symmetric with a positive diagonal, else LU), lu, cholesky")
    ("triangle", po::value<std::string>()->default_value("both"), "that is there for --factorization cholesky: lower, upper, both")
    ("precision,p", po::value<std::string>()->default_value("fp64"), "of the factors: fp64, fp32")
    ("refine,r", po::value<std::string>()->default_value("auto"), "auto (classical for fp32 factors), none, classical")
    ("schedule,s", po::value<std::string>()->default_value("auto"), "auto, right-looking, left-looking, recursive")
    ("block-size,n", po::value<std::string>()->default_value("auto"), "columns of a panel at most, or auto")
    ("in-place", "overwrite a generated matrix with its factors: half the memory; it is made again for the check")
    ("transpose,t", "solve with the transpose of A")
    ("threads", po::value<std::string>()->default_value("all"), "cores of the host to use, or all")
    ("repeat", po::value<std::string>()->default_value("1"), "timed runs; the median one is reported")
    ("warmup", po::value<std::string>()->default_value("0"), "runs before them that are not counted")
    ("allow-nonfinite", "read NaN and infinities instead of refusing them")
    ("no-condition", "leave out the estimate of the condition number, which takes five more solves")
    ("allow-ill-conditioned", "write a solution of which no digit can be trusted, and return 0")
    ("json", po::value<std::string>(), "write the report as JSON to FILE; - is standard output")
    ("quiet,q", "no report for people; a solution is printed all the same")
    ("version", "print the version")
    ("help,h", "print this");
  // clang-format on
  return all;
}

/// The command, and where its options begin.
std::pair<Command, int> command(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {Command::solve, 1};
  const std::string word = argv[1];
  if (word == "solve") return {Command::solve, 2};
  if (word == "list") return {Command::list, 2};
  if (word == "generate") return {Command::generate, 2};
  if (word == "help") return {Command::help, 2};
  throw UsageError(
      fmt::format("there is no command '{}'{}; commands: solve (the default), list, generate, bench; a matrix "
                  "is given as --matrix {}",
                  word, did_you_mean(word, {"solve", "list", "generate", "bench", "help"}), word));
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
  const auto [which, skip] = command(argc, argv);
  const po::variables_map values =
      parse_options(argc - skip + 1, argv + skip - 1, known_options(), which == Command::generate ? "matrix" : nullptr);
  auto text = [&](const char* name) { return values.count(name) ? values[name].as<std::string>() : std::string(); };
  Request r;
  r.command = values.count("help") ? Command::help : values.count("version") ? Command::version : which;
  for (const char* name : {"matrix", "rhs", "output", "json"})
    if (values.count(name) && text(name).empty()) throw UsageError(fmt::format("--{} takes a name, not ''", name));
  r.matrix = text("matrix");
  r.rhs = text("rhs");
  r.output = text("output");
  r.json = text("json");
  if (r.matrix == "-" && r.rhs == "-") throw UsageError("--matrix - and --rhs - are both standard input");
  refuse_files_named_twice({{"matrix", r.matrix}, {"rhs", r.rhs}}, {{"output", r.output}, {"json", r.json}});
  r.format = one_of<io::FileFormat>("format", text("format"),
                                    {{"auto", io::FileFormat::automatic},
                                     {"mtx", io::FileFormat::matrix_market},
                                     {"npy", io::FileFormat::npy},
                                     {"csv", io::FileFormat::csv},
                                     {"tsv", io::FileFormat::tsv},
                                     {"txt", io::FileFormat::txt}});
  r.quiet = values.count("quiet") > 0;
  r.options.allow_nonfinite = values.count("allow-nonfinite") > 0;
  r.options.condition = values.count("no-condition") == 0;
  r.allow_ill_conditioned = values.count("allow-ill-conditioned") > 0;
  r.in_place = values.count("in-place") > 0;
  r.op = values.count("transpose") ? Op::transpose : Op::none;
  r.repeat = number("repeat", text("repeat"), 1);
  r.warmup = number("warmup", text("warmup"), 0);
  Options& o = r.options;
  o.device = device_of(text("device"));
  o.threads = threads_of(text("threads"));
  o.block_size = number<std::int64_t>("block-size", text("block-size"), 1, "auto");
  o.factorization = one_of<Method>("factorization", text("factorization"),
                                   {{"auto", Method::automatic}, {"lu", Method::lu}, {"cholesky", Method::cholesky}});
  o.triangle = one_of<Uplo>("triangle", text("triangle"),
                            {{"both", Uplo::both}, {"lower", Uplo::lower}, {"upper", Uplo::upper}});
  if (o.triangle != Uplo::both && o.factorization == Method::lu)
    throw UsageError("--triangle says what Cholesky reads: not with --factorization lu, which reads all of the matrix");
  o.precision =
      one_of<Precision>("precision", text("precision"), {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}});
  o.refine = one_of<Refine>("refine", text("refine"),
                            {{"auto", Refine::automatic}, {"none", Refine::none}, {"classical", Refine::classical}});
  o.schedule = one_of<Schedule>("schedule", text("schedule"),
                                {{"auto", Schedule::automatic},
                                 {"right-looking", Schedule::right_looking},
                                 {"left-looking", Schedule::left_looking},
                                 {"recursive", Schedule::recursive}});
  if (r.in_place && (o.precision == Precision::fp32 || o.refine == Refine::classical))
    throw UsageError("--in-place leaves nothing to refine with: not with --precision fp32 or --refine classical");
  const bool all = text("gemm") == "all";
  if (all &&
      o.device.kind == Device::automatic)  // where all of them are meant, none stands in for that of another place
    o.device = automatic_device();
  r.backends = all ? runnable_backends(o.device, r.factors_in()) : split(text("gemm"));
  if (r.backends.empty()) r.backends = {"auto"};  // no backend runs there: choose() says why
  if (r.backends.size() > 1 && std::count(r.backends.begin(), r.backends.end(), "all") > 0)
    throw UsageError("--gemm all stands alone: it means every backend that runs here");
  const bool needs_matrix = r.command == Command::solve || r.command == Command::generate;
  if (needs_matrix && r.matrix.empty())
    throw UsageError("no matrix; give --matrix FILE or --matrix GENERATOR, such as uniform:n=1000,seed=1");
  if (r.command == Command::generate && r.output.empty())
    throw UsageError("no output; give --output FILE (.mtx, .npy, .csv, .tsv or .txt, also .gz)");
  if (!r.output.empty() && r.backends.size() > 1) throw UsageError("--output with several backends: which solution?");
  return r;
}

std::string help() {
  std::ostringstream options;
  options << known_options();
  return fmt::format(
      "lasolve solves A X = B by blocked LU or Cholesky over a GEMM backend of your choice, checks the answer and\n"
      "reports where the time went.\n\n"
      "  lasolve [solve] --matrix data/A.mtx --gemm tiled\n"
      "  lasolve --matrix uniform:n=2000 --gemm all           one run each, and a table that compares them\n"
      "  lasolve list                                         the backends, and which run here\n"
      "  lasolve generate spd:n=100,seed=3 --output A.mtx\n"
      "  lasolve bench gemm                                   the backends alone, in turns; has a --help of its own\n\n"
      "{}\nGenerators:\n{}\n"
      "Exit codes: 0 solved, 2 usage, 3 bad input, 4 singular or not positive definite, 5 accuracy not reached\n"
      "or no digit of the solution to be trusted,\n"
      "6 device or memory, 70 internal, 130 interrupted.\n",
      options.str(), io::Generator::help());
}

}  // namespace lasolve::cli
