// lasolve try-kernel: whether a kernel of one's own is right.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/words.hpp"

namespace lasolve::cli {

namespace {

struct TryKernelRequest {
  std::string file, output;
  std::int64_t n = 512;
  int patience = 60;  // seconds
};

const Table<TryKernelRequest>& try_kernel_table() {
  using O = OptionOf<TryKernelRequest>;
  static const Table<TryKernelRequest> all = {
      O("file", 0, "FILE", "the same as the word FILE: a source in C, C++ or CUDA, or a library")
          .to(&TryKernelRequest::file),
      O("output", 'o', "FILE", "keep the library that a source was compiled to").to(&TryKernelRequest::output),
      O("n", 0, "SIZE", "512", "try products as large as those of a system of so many unknowns, too")
          .to([](TryKernelRequest& r, auto& word) { r.n = number("n", word, 1); }),
      patience_option<TryKernelRequest>(),
      help_option<TryKernelRequest>(),
  };
  return all;
}

std::string bytes_of(const std::string& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

}  // namespace

std::vector<Option> try_kernel_options() { return listed_in(try_kernel_table()); }

int try_kernel_command(int argc, const char* const* argv) {
  TryKernelRequest request;
  parse_options(argc, argv, try_kernel_table(), request, "file");
  if (request.file.empty()) throw UsageError("try-kernel takes a file: lasolve try-kernel mine.c");
  const std::vector<std::string> backends = backends_named(request.file, request.patience, {});
  if (backends.size() != 1 || !is_plugin(backends.front()))
    throw UsageError(fmt::format("try-kernel takes a source, or a library, not '{}'", request.file));
  Options options;
  options.device = device_for(backends, {});
  options.precision = Precision::fp32;  // and fp64, which is always tried
  const std::string& name = backends.front();
  if (those_that_are_right(backends, options, request.patience, request.n).empty()) return not_accurate;
  if (!request.output.empty()) write_text(request.output, bytes_of(plugin::library_of(name)));
  options.gemm = name;
  fmt::print("{} is right{}\n", name, what_it_offers(choose(options)));
  if (const std::string note = grade_note(name); !note.empty()) fmt::print(stderr, "{}\n", note);
  return done;
}

}  // namespace lasolve::cli
