// Triangular solves on the CPU.
#include "solvers/devices/cpu/triangle.hpp"
//
#include "triangles.hpp"

namespace lasolve::test {
INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, TriangularSolve, BothPrecisions<Cpu>);
}  // namespace lasolve::test
