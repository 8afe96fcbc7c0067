// lasolve new-kernel: a kernel of one's own to begin with.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "cli/print.hpp"
#include "cli/words.hpp"
#include "plugin/source.hpp"

namespace lasolve::cli {

namespace {

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
