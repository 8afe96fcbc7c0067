#include "reading.hpp"

using namespace lasolve::io::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  read_in_two_ways({reinterpret_cast<const char*>(data), size});
  return 0;
}
