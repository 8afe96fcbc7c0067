// α op(A) op(B) + β C of small shapes, however they lie, by every backend of the CPU, against sums in a wider type.
#include <cstdio>
#include <cstdlib>

#include "lasolve/names.hpp"
#include "reference.hpp"
#include "stored.hpp"

using namespace lasolve;
using fuzz::magnitudes, fuzz::Stored;

namespace {

template <class T>
void multiply(FuzzedDataProvider& in) {
  static Queue<Cpu> queues[] = {Queue<Cpu>(1), Queue<Cpu>(2)};
  const auto one_in = [&](int n) { return in.ConsumeIntegralInRange(1, n) == n; };
  const std::int64_t most = one_in(8) ? 40 : 9;
  const auto size = [&] { return in.ConsumeIntegralInRange<std::int64_t>(0, most); };
  const auto op = [&] { return in.ConsumeBool() ? Op::transpose : Op::none; };
  const auto scalar = [&] { return in.PickValueInArray<T>({1, -1, 0, T(0.5), T(-3.7), T(1e-3), 77}); };
  const std::int64_t m = size(), n = size(), k = size();
  const Op a = op(), b = op();
  const T alpha = scalar(), beta = scalar();
  Stored<T> A(in, a == Op::none ? m : k, a == Op::none ? k : m), B(in, b == Op::none ? k : n, b == Op::none ? n : k),
      C(in, m, n);
  const Operand<T> op_A(A.view(), a), op_B(B.view(), b);
  Queue<Cpu>& q = queues[one_in(64)];
  const auto right = test::product<T>(alpha, op_A, op_B, beta, C.view());
  const Matrix<T> of_A = magnitudes(op_A), of_B = magnitudes(op_B), of_C = magnitudes<T>(C.view());
  const auto scale = test::product<T>(std::abs(alpha), of_A.view(), of_B.view(), std::abs(beta), of_C.view());
  for (const GemmBackend<Cpu>* backend : gemm_backends<Cpu>()) {
    const auto kernel = backend->template in<precision_of<T>>();
    if (!kernel || (backend->unavailable && !backend->unavailable(0).empty())) continue;
    Stored<T> its = C;
    kernel(q, alpha, op_A, op_B, beta, its.view());
    const double roundoff = double(k + 4) * kernel.unit_roundoff;
    for (std::size_t at = 0; at < its.memory.size(); ++at) {
      const T x = its.memory[at], before = C.memory[at];
      const std::int64_t i = (std::int64_t(at) - C.first) % C.ld, j = (std::int64_t(at) - C.first) / C.ld;
      const auto y = C.has(at) ? right(i, j) : before;
      const auto bound = C.has(at) ? roundoff * scale(i, j) + std::numeric_limits<T>::min() : 0;
      if (x == y || (y != y && (x != x || alpha == 0)) || std::abs(x - y) <= bound)
        continue;  // α = 0 may leave out a NaN
      std::fprintf(stderr, "%s in %s: C(%ld, %ld) is %g, not %g\n", backend->name, name_of(precision_of<T>), long(i),
                   long(j), double(x), double(y));
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  FuzzedDataProvider in(data, size);
  in.ConsumeBool() ? multiply<float>(in) : multiply<double>(in);
  return 0;
}
