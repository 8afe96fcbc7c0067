// Operands of products, made of others.
#include "core/cpu/elements.hpp"
#include "core/cpu/parallel.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve {

inline namespace LASOLVE_ABI {

template <class Half>
void round_elements(Queue<Cpu>& q, MatrixView<const float, Cpu> X, MatrixView<Half, Cpu> Y) {
  on_shares(q, X.cols(), double(X.rows()) * double(X.cols()), [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t j = first; j < first + n; ++j)
      for (std::int64_t i = 0; i < X.rows(); ++i) Y(i, j) = Half(X(i, j));
  });
}

template void round_elements(Queue<Cpu>&, MatrixView<const float, Cpu>, MatrixView<fp16, Cpu>);
template void round_elements(Queue<Cpu>&, MatrixView<const float, Cpu>, MatrixView<bf16, Cpu>);

template <ComplexElement T>
void multiply_elements(Queue<Cpu>& q, T alpha, Operand<T, Cpu> X, MatrixView<T, Cpu> Y) {
  const auto re = alpha.real(), im = alpha.imag();
  on_shares(q, Y.cols(), 2 * double(Y.rows()) * double(Y.cols()), [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t j = first; j < first + n; ++j)
      for (std::int64_t i = 0; i < Y.rows(); ++i) {
        const T x = X(i, j);
        Y(i, j) = T(x.real() * re - x.imag() * im, x.real() * im + x.imag() * re);
      }
  });
}

#define LASOLVE_INSTANTIATE(T) template void multiply_elements(Queue<Cpu>&, T, Operand<T, Cpu>, MatrixView<T, Cpu>);
LASOLVE_COMPLEX_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace LASOLVE_ABI

}  // namespace lasolve
