#include "io/generators.hpp"

#include <cmath>
#include <cstdlib>

using namespace lasolve;

/// What is understood is made, and is finite.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static Queue<Cpu> q(1);
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const io::Generator generator(text);
    if (!io::Generator::is_meant_by(text)) std::abort();
    if (generator.n() > 24) return 0;
    Matrix<double> A(generator.n(), generator.n());
    io::generate(q, generator, A);
    for (std::int64_t j = 0; j < A.cols(); ++j)
      for (std::int64_t i = 0; i < A.rows(); ++i)
        if (!std::isfinite(A(i, j))) std::abort();
  } catch (const io::GeneratorError&) {
  }
  return 0;
}
