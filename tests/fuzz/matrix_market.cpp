#include "reading.hpp"

using namespace lasolve::io::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_in_two_ways(bytes);
  if (size % 16 == 0) read_in_two_ways(spread_out(bytes));
  return 0;
}
