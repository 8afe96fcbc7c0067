// A line for each word of a command line: the command, and what it is given. It is parsed, and nothing is done.
#include "cli/compare/request.hpp"
#include "words.hpp"

using namespace lasolve::cli;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::vector<std::string> words = fuzz::words_of_bytes(data, size);
  if (words.empty()) return 0;
  fuzz::try_command(words, [&](int argc, char** argv) {
    const std::string& command = words[0];
    if (command == "list") return void(parse_list(argc, argv));
    if (command == "generate") return void(parse_generate(argc, argv));
    if (command == "convert") return void(parse_convert(argc, argv));
    if (command == "compare") return void(parse_compare(argc, argv));
    parse_solve(argc, argv);
  });
  return 0;
}
