#include "bench/signs.hpp"

#include "core/no_cuda/refuse.hpp"

namespace lasolve::bench {

template <class T>
void change_signs(Queue<Cuda>&, Signs, MatrixView<T, Cuda>, Signs) {
  refuse();
}

template void change_signs(Queue<Cuda>&, Signs, MatrixView<double, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<float, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<fp16, Cuda>, Signs);
template void change_signs(Queue<Cuda>&, Signs, MatrixView<bf16, Cuda>, Signs);

}  // namespace lasolve::bench
