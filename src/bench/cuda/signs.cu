#include "bench/signs.hpp"

#include "core/cuda/elementwise.cuh"

namespace lasolve::bench {

template <class T>
void change_signs(Queue<Cuda>& q, Signs rows, MatrixView<T, Cuda> A, Signs columns) {
  for_each_element(q, A, [=] __device__(T & a, std::int64_t i, std::int64_t j) { a = T(rows(i) * columns(j) * a); });
}

template void change_signs(Queue<Cuda>&, Signs, MatrixView<double, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<float, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<fp16, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<bf16, Cuda>, Signs);

}  // namespace lasolve::bench
