#include "cli/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <map>

#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "cli/print.hpp"
#include "cli/words.hpp"
#include "core/range.hpp"
#include "plugin/backends.hpp"
#include "plugin/source.hpp"
#include "worker/verify.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

/// What a kernel that is somebody's own may declare, so that the tool does the rest; empty: nothing that would help.
std::string advice_on(const bench::Fault& fault) {
  if (fault.only_concurrent)
    return "  static memory or threads of its own? kernel.limits with LASOLVE_KERNEL_ONE_CALL has one call at a time\n";
  if (fault.misaligned) return "  kernel.alignment says at multiples of how many bytes its operands begin\n";
  if (fault.has_read_c())
    return "  kernel.limits with LASOLVE_KERNEL_ADDS is for one that makes C + A B, with LASOLVE_KERNEL_ASSIGNS for A "
           "B\n";
  return "";
}

std::map<std::string, std::string>& grade_notes() {
  static std::map<std::string, std::string> all;
  return all;
}

struct NewKernelRequest {
  std::string file;
};

const Table<NewKernelRequest>& new_kernel_table() {
  static const Table<NewKernelRequest> all = {
      OptionOf<NewKernelRequest>("file", 0, "FILE", "the same as the word FILE; it ends in .c, .cpp or .cu")
          .to([](NewKernelRequest& r, const std::string& word) { r.file = word; }),
      help_option<NewKernelRequest>(),
  };
  return all;
}

}  // namespace

std::vector<std::string> backends_named(const std::string& list, int patience, Device asked) {
  const std::size_t before = kernels_left_out().size();
  const auto note = [](const std::string& what) {
    if (!worker::is_watched()) fmt::print(stderr, "lasolve: note: {}\n", what);
  };
  std::vector<std::string> names = plugin::backends_named(names_in(list), patience, asked, note);
  if (kernels_left_out().size() > before)
    for (const plugin::LeftOut& l : kernels_left_out())
      fmt::print(stderr, "{}{}\nlasolve: {} is left out\n", l.for_want_of_machine ? "lasolve: " : "", l.why, l.word);
  return names;
}

int code_of_what_is_left_out() {
  const auto& all = kernels_left_out();
  return all.empty() ? done : all.front().for_want_of_machine ? machine : bad_input;
}

Json plugin_kernels() {
  Json all = Json::array();
  for (const std::string& about : plugin::loaded_kernels()) all.push_back(Json::parse(about));
  return all;
}

void say_what_is_wrong(const Choice& choice, const bench::Fault& fault) {
  fmt::print(stderr, "lasolve: {} on {} is wrong in {}: {}\n{}{}", choice.name(), choice.device_name(),
             name_of(fault.precision), bench::what_is_wrong(fault), bench::where_it_is_wrong(fault, "  "),
             is_plugin(choice.name()) ? advice_on(fault) : "");
}

std::string grade_note(const std::string& backend) {
  const auto found = grade_notes().find(backend);
  return found == grade_notes().end() ? "" : found->second;
}

std::vector<std::string> those_that_are_right(const std::vector<std::string>& backends, const Options& options,
                                              int patience, std::int64_t n) {
  std::vector<std::string> right;
  const bool again = !worker::lost_kernels().empty();  // what is wrong was said before
  for (const auto& backend : backends) {
    bool is_right = worker::lost_kernels().count(backend) == 0;
    if (is_right && is_plugin(backend)) {
      Options its = options;
      its.gemm = backend;
      bench::Task task{choose(its), {}, bench::products_of_a_solve(n), options.threads};
      const Precision products = solve_precision_of(options).products;
      for (const Precision p : {products, Precision::fp64})  // which takes the place of a coarser one that does not do
        if (task.choice.offers(p) && !contains(task.precisions, p)) task.precisions.push_back(p);
      for (const auto& verdict : worker::verify(task, patience)) {
        if (!verdict.grade.is_met())
          grade_notes().emplace(backend, fmt::format("warning: {} in {} {}", backend, name_of(verdict.grade.precision),
                                                     bench::what_is_lost(verdict.grade)));
        if (verdict.fault) {
          if (!again) say_what_is_wrong(task.choice, *verdict.fault);
          is_right = false;
        }
      }
    }
    if (is_right) right.push_back(backend);
  }
  return right;
}

std::string what_it_offers(const Choice& choice) {
  std::vector<std::string> words;
  for (const SolvePrecision& p : solve_precisions)
    if (choice.offers(p.products)) words.push_back(fmt::format("--precision {}", name_of(p.name)));
  return words.empty() ? "" : fmt::format("; {} has {}", choice.name(), fmt::join(words, ", "));
}

std::string adapter_note(const std::string& backend) { return plugin::take_cost(backend).in_words(); }

std::vector<Option> new_kernel_options() { return listed_in(new_kernel_table()); }

int new_kernel_command(int argc, const char* const* argv) {
  NewKernelRequest request;
  parse_options(argc, argv, new_kernel_table(), request, "file");
  const std::string& file = request.file;
  const plugin::Language language = plugin::language_of(file);
  if (language == plugin::Language::none)
    throw UsageError(fmt::format("new-kernel takes a file that ends in .c, .cpp or .cu, not '{}'", file));
  if (file.find_first_of(",\"\\") != file.npos)
    throw UsageError(fmt::format("{}: --gemm takes no file with a comma, a quote or a backslash in its name", file));
  if (access(file.c_str(), F_OK) == 0) throw UsageError(fmt::format("{} is there, and is not overwritten", file));
  write_text(file, plugin::starting_point(file));
  const std::string word = file.find('/') == file.npos ? "./" + file : file;
  const bool cuda = language == plugin::Language::cuda;
  fmt::print("{} has {}. See what {} worth: lasolve compare --gemm naive,{} --n {}\n", file,
             cuda ? "a tiled kernel" : "three loops", cuda ? "it is" : "they are", word, cuda ? "1k,4k" : "512,1k");
  return done;
}

}  // namespace lasolve::cli
