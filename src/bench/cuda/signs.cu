#include "bench/signs.hpp"

#include "core/cuda/elementwise.cuh"
#include "lasolve/elements.hpp"

namespace lasolve::bench {

template <class T>
void change_signs(Queue<Cuda>& q, Signs rows, MatrixView<T, Cuda> A, Signs columns) {
  for_each_element(q, A, [=] __device__(T & a, std::int64_t i, std::int64_t j) { a = T(rows(i) * columns(j) * a); });
}

#define LASOLVE_INSTANTIATE(T) template void change_signs(Queue<Cuda>&, Signs, MatrixView<T, Cuda>, Signs);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE
template void change_signs(Queue<Cuda>&, Signs, MatrixView<fp16, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<bf16, Cuda>, Signs);

}  // namespace lasolve::bench
