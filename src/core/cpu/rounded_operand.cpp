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

}  // namespace LASOLVE_ABI

}  // namespace lasolve
