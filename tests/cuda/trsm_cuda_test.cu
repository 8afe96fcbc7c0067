// Triangular solves on CUDA, the kernels themselves.
#include "solvers/cuda/triangle.cuh"
//
#include "triangles.hpp"

namespace lasolve::test {
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, TriangularSolve, BothPrecisions<Cuda>);
}  // namespace lasolve::test
