#include "bench/signs.hpp"

#include "core/no_cuda/refuse.hpp"
#include "lasolve/elements.hpp"

namespace lasolve::bench {

template <class T>
void change_signs(Queue<Cuda>&, Signs, MatrixView<T, Cuda>, Signs) {
  refuse();
}

#define LASOLVE_INSTANTIATE(T) template void change_signs(Queue<Cuda>&, Signs, MatrixView<T, Cuda>, Signs);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE
template void change_signs(Queue<Cuda>&, Signs, MatrixView<fp16, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<bf16, Cuda>, Signs);

}  // namespace lasolve::bench
