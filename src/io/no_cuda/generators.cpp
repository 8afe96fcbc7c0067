// What the CUDA side answers in a build without it.
#include "io/generators.hpp"

#include "core/no_cuda/refuse.hpp"

namespace lasolve {

void io::generate(Queue<Cuda>&, const Generator&, MatrixView<double, Cuda>, std::int64_t) { refuse(); }
Matrix<double> io::row_sums(Queue<Cuda>&, const SystemMatrix<double, Cuda>&) { refuse(); }

}  // namespace lasolve
