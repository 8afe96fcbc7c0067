// What a build without CUDA answers. Nobody asks: it has no device.
#include "lapack/device.hpp"

#include "core/no_cuda/refuse.hpp"

namespace lasolve::lapack::there {

template <class T>
std::int64_t factor_lu(const OnDevice&, MatrixView<T>, std::int64_t*, MatrixView<T>) {
  refuse();
}
template <class T>
std::int64_t factor_cholesky(const OnDevice&, Half<T>, MatrixView<T>) {
  refuse();
}
template <class T>
void solve_lu(const OnDevice&, MatrixView<T>, const std::int64_t*, MatrixView<T>, Op) {
  refuse();
}
template <class T>
void solve_cholesky(const OnDevice&, Half<T>, MatrixView<T>) {
  refuse();
}

LASOLVE_ELEMENTS(LASOLVE_ON_DEVICE)

}  // namespace lasolve::lapack::there
