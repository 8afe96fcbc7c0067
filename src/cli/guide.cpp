#include "cli/guide.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/plan/plan.hpp"
#include "cli/request.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "io/generators.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::cli {

namespace {

constexpr std::pair<Phase, const char*> meanings_of_phases[] = {
    {Phase::read, "reading files, or making the matrix and its right-hand side; not part of the total"},
    {Phase::to_device, "copying the matrix and right-hand sides to the device"},
    {Phase::panel, "factoring block columns: pivot search and elimination, little arithmetic on much memory"},
    {Phase::swap, "row interchanges outside of the panels"},
    {Phase::trsm, "triangular solves for blocks of U (LU) or L (Cholesky)"},
    {Phase::gemm,
     "updates by the GEMM backend, on the CPU also those within triangular solves: nearly all arithmetic of a large "
     "system"},
    {Phase::solve, "forward and back substitution with the factors"},
    {Phase::refine, "residuals in fp64, and corrections from them; with --bounds also the test of coarse factors"},
    {Phase::check, "the residual of the HPL check and the condition estimate; not part of the total"},
    {Phase::to_host, "copying the solution to the host"},
    {Phase::other, "what is none of these, such as conversions, norms and waiting"},
};
static_assert(std::size(meanings_of_phases) == phase_count);

std::string phases() {
  std::string text =
      "The phases of a solve, as the report shows them. On CUDA they overlap: then their busy times\n"
      "add up to more than the total, which is wall time.\n\n";
  for (const auto& [phase, meaning] : meanings_of_phases)
    text += fmt::format("  {:<11}{}\n", name_of(phase), wrapped(meaning, 86, 13));
  return text;
}

std::string generators() {
  return "Generators, as GENERATOR:n=SIZE; the same bits on every device:\n\n" + io::Generator::help();
}

std::string formats() {
  return "Files that are read. The content says the format, gzip or not, and - is standard input:\n\n"
         "  Matrix Market   array or coordinate; real, integer or pattern; array files are column by column\n"
         "  .npy            floats, integers and bools of up to 8 bytes, of one or two dimensions\n"
         "  .npz            an array of several by name: FILE.npz:NAME, or -:NAME\n"
         "  CSV             commas or semicolons between numbers, no header row and no index; a point as decimal\n"
         "                  mark, or a comma by --decimal-comma, as in TSV and text\n"
         "  TSV, text       a tab, or blanks of any length, between numbers; # begins a comment, and % a line of it\n\n"
         "Files that are written, by their suffix: .mtx, .npy, .csv, .tsv, .txt, and .gz after it or not.\n"
         "Without --output a solution for --rhs is printed, the report then goes to standard error.\n";
}

std::string exit_codes() {
  return "Exit codes:\n\n"
         "    0  solved, and checked\n"
         "    2  the command line\n"
         "    3  bad input, with its place\n"
         "    4  singular, not positive definite or not diagonally dominant, where that is required; no solution is "
         "written\n"
         "    5  the accuracy was not reached, or no digit can be trusted; bench, compare: a backend is wrong\n"
         "    6  device or memory, or a file that cannot be written\n"
         "    7  compare --fail-on slower: a row is slower than the baseline\n"
         "    8  compare --fail-on slower: of a row it is not known: not in the baseline, few runs, noise\n"
         "    9  run: the program ended well, but none of its systems was solved here\n"
         "   70  internal error\n"
         "  130  interrupted\n";
}

std::string sizes() {
  return "Sizes are whole numbers: 8192, also written 8k (k is 1024, m is 1024 times that), 1e4 (10000)\n"
         "or 2^13.\n";
}

struct Topic {
  const char* name;
  const char* summary;
  std::string (*text)();
};
constexpr Topic topics[] = {
    {"phases", "what the lines of the report's table mean", phases},
    {"generators", "matrices made from a formula", generators},
    {"formats", "the files that are read and written", formats},
    {"sizes", "how sizes may be written", sizes},
    {"json", "the fields of --json", json_fields},
    {"exit-codes", "what the tool returns", exit_codes},
};

std::string list_of_topics() {
  std::string text;
  for (const Topic& t : topics) text += fmt::format("  lasolve help {:<29}{}\n", t.name, t.summary);
  return text;
}

}  // namespace

const CommandGuide* find_guide(const std::string& name) {
  const auto& all = guides();
  return find_in(all, [&](const CommandGuide& g) { return g.name == name; });
}

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names;
  for (const CommandGuide& g : guides()) names.push_back(g.name);
  return names;
}

const std::vector<CommandGuide>& guides() {
  static const std::vector<CommandGuide> all = {
      {solve_command,
       "solve",
       "lasolve [solve] MATRIX [options]",
       "solve A X = B, check the answer, report the time",
       "Solves A X = B by blocked LU or Cholesky over a GEMM backend of your choice, checks the answer and reports "
       "where the time went.",
       {"lasolve A.mtx --rhs b.mtx --output x.mtx", "lasolve uniform:n=2k --gemm all"},
       solve_options(),
       "'lasolve --help' lists the other commands, and topics such as phases.\n"},
      {compare_command,
       "compare",
       "lasolve compare [MATRIX] [options]",
       "what each GEMM backend, or another recipe, is worth in a whole solve",
       "Solves the same systems with each GEMM backend and shows what its products are worth in the whole solve. "
       "Options that take a list, such as --schedule right-looking,crout, make other recipes, each of them a row. "
       "Backends are tried first, each in a process of its own. Then they run in turns, in random order, until their "
       "medians are known.",
       {"lasolve compare", "lasolve compare --gemm tiled,packed,blas --n 512:4k:x2 --report report.html",
        "lasolve compare spd:n=3000 --baseline-solvers openblas,eigen --attribution",
        "lasolve compare -n 2k --gemm eigen,packed --schedule right-looking,crout --block-size 64,128",
        "lasolve compare --json today.json --baseline yesterday.json --fail-on slower",
        "lasolve compare --device cuda --copies --beside cpu.json --report gpu.html"},
       compare_options(),
       "Backends that fail are named and the others are measured. See docs/compare.md.\n"},
      {tune_command,
       "tune",
       "lasolve tune [options]",
       "find the fastest backend, block size and schedule here",
       "Times whole solves with each backend, with other block sizes, with other schedules, and with a second backend "
       "for small products, and keeps for each size and method what is faster than the default by more than the noise. "
       "Later solves that leave these open take it, and say so.",
       {"lasolve tune", "lasolve tune --n 1k:8k:x2 --factorization cholesky --within 60", "lasolve tune --forget"},
       tune_options(),
       "It is kept in $XDG_CACHE_HOME/lasolve/tuned.json, else in ~/.cache/lasolve/tuned.json, for this\n"
       "device, these threads and this version. 'lasolve list --tuned' shows it, and solve --no-tuned leaves\n"
       "it out. See docs/tune.md.\n"},
      {list_command,
       "list",
       "lasolve list [options]",
       "the backends and devices, and which can be used",
       "Lists the GEMM backends and the devices, and says which can be used.",
       {},
       list_options(),
       ""},
      {generate_command,
       "generate",
       "lasolve generate GENERATOR --output FILE",
       "write a matrix that is made from a formula",
       "Writes a matrix that is made from a formula.",
       {"lasolve generate spd:n=100,seed=3 --output A.mtx"},
       generate_options(),
       "Generators:\n" + io::Generator::help()},
      {convert_command,
       "convert",
       "lasolve convert FILE --output FILE",
       "write a matrix of a file to another format",
       "Reads a matrix, which need not be square, and writes it to another format.",
       {"lasolve convert A.mtx.gz --output A.npy", "lasolve convert all.npz:A --output A.csv"},
       convert_options(),
       ""},
      {plan_command,
       "plan",
       "lasolve plan MATRIX [options]",
       "show a schedule as a table or a picture",
       "Shows a schedule before anything is computed: its tasks, the blocks that they read and write, and what waits "
       "for what.",
       {"lasolve plan uniform:n=4096 --block-size 512 --svg plan.svg",
        "lasolve plan spd:n=1000 --factorization cholesky --schedule left-looking --json -"},
       plan_options(),
       ""},
      {bench_command,
       "bench",
       "lasolve bench gemm [options]",
       "verify and time the backends alone",
       "Measures GEMM backends alone. Each is verified first, in a process of its own; one that is wrong, crashes or "
       "hangs is named with the product. The others are timed in turns, each run after a rest.",
       {"lasolve bench gemm --shape trailing --n 16k --k 128,256,512",
        "lasolve bench gemm --gemm tiled --shape square,4096x512x64 --precision fp32 --json results.json",
        "lasolve bench gemm --copies --shape square --n 128:2k:x2"},
       bench_options(),
       "The reference, cublas on CUDA and blas or eigen on the CPU, always takes part.\n"},
      {new_kernel_command,
       "new-kernel",
       "lasolve new-kernel FILE",
       "write a kernel of your own to begin with",
       "Writes a GEMM kernel to begin with, and a record that says what of the contract it meets. In C or C++ it is "
       "three loops, in CUDA a kernel with tiles in shared memory. Give the file to --gemm.",
       {"lasolve new-kernel mine.c", "lasolve compare --gemm naive,./mine.c --n 512,1k", "lasolve new-kernel mine.cu"},
       new_kernel_options(),
       "A file that is there is not overwritten. See docs/bring-your-own-kernel.md.\n"},
      {try_kernel_command,
       "try-kernel",
       "lasolve try-kernel FILE",
       "say whether a kernel of your own is right",
       "Compiles a GEMM kernel, and tries it in a process of its own, in each precision that it has, with the products "
       "that all kernels are tried with. Where it is wrong, the first wrong element is told, and what the kernel was "
       "called with.",
       {"lasolve try-kernel mine.c", "lasolve try-kernel mine.c --output libmine.so"},
       try_kernel_options(),
       "The exit code is 5 where the kernel is wrong. See docs/bring-your-own-kernel.md.\n"},
      {run_program_command,
       "run",
       "lasolve run [options] -- PROGRAM …",
       "run a program, whose LAPACK calls are solved here",
       "Runs a program with the drop-in for LAPACK loaded before its own, and says afterwards which calls were caught. "
       "Their systems are solved here, with the products of a backend of your choice.",
       {"lasolve run -- python3 program.py", "lasolve run --gemm tiled --crossover 0 -- ./program"},
       run_options(),
       "The exit code is that of the program; 9 where that is 0 and nothing was solved here. "
       "See\ndocs/lapack-drop-in.md.\n"},
      {help_command,
       "help",
       "lasolve help [COMMAND or TOPIC]",
       "explain a command or a topic",
       "Explains a command or a topic.",
       {},
       help_options(),
       ""},
  };
  return all;
}

std::string help_of(const std::string& command) {
  const CommandGuide& guide = *find_guide(command);
  std::string text = fmt::format("{}\n\n{}\n", guide.usage, wrapped(guide.summary, 98, 0));
  if (!guide.examples.empty()) text += fmt::format("\n  {}\n", fmt::join(guide.examples, "\n  "));
  if (!guide.options.empty()) text += "\nOptions:\n" + listed(guide.options);
  if (!guide.more.empty()) text += "\n" + guide.more;
  return text;
}

std::string overview() {
  std::string text =
      "lasolve solves dense systems A X = B, and shows what one GEMM kernel is worth in that.\n\nCommands:\n";
  for (const CommandGuide& g : guides()) text += fmt::format("  {:<42}{}\n", g.usage, g.in_short);
  return text + "\n'lasolve COMMAND --help' has its options.\n\nTopics:\n" + list_of_topics();
}

std::vector<std::string> topics_of_help() {
  std::vector<std::string> names;
  for (const Topic& t : topics) names.push_back(t.name);
  return names;
}

std::string help_about(const std::string& word) {
  for (const Topic& t : topics)
    if (word == t.name) return t.text();
  if (find_guide(word)) return help_of(word);
  std::vector<std::string> known = topics_of_help();
  for (const std::string& name : names_of_commands()) known.push_back(name);
  throw UsageError(fmt::format("there is no help about '{}'{}; there is about {}", word, did_you_mean(word, known),
                               fmt::join(known, ", ")));
}

}  // namespace lasolve::cli
