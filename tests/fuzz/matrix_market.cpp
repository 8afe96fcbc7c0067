#include "reading.hpp"

using namespace lasolve::io::fuzz;

namespace {

/// Some of the blank space made long enough that several threads get a part of the file.
std::string spread_out(std::string_view bytes) {
  constexpr std::size_t worth_threads = 4 << 16;
  std::string longer;
  for (const char c : bytes) {
    longer += c;
    if (c == '\n' && longer.size() > 40 && longer.size() < worth_threads) longer.append(worth_threads / 8, '\n');
  }
  return longer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_in_two_ways(bytes);
  if (size % 16 == 0) read_in_two_ways(spread_out(bytes));
  return 0;
}
