// OpenBLAS's getrf and potrf.
#include <cblas.h>
#include <f77blas.h>

#include "bench/peers.hpp"
#include "core/by_type.hpp"
#include "core/cpu/eigen.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::bench {

template <class T>
static double openblas(MatrixView<const T> A, Method method) {
  Matrix<T> copy(A.rows(), A.cols(), A.rows());
  as_eigen(copy.view()) = as_eigen(A);
  blasint n = blasint(A.rows()), info = 0;
  std::vector<blasint> pivots(std::size_t(n), 0);
  char lower = 'L';
  openblas_set_num_threads(Queue<Cpu>().threads());
  const Stopwatch factoring;
  if (method == Method::lu)
    by_type<T>(dgetrf_, sgetrf_)(&n, &n, copy.data(), &n, pivots.data(), &info);
  else
    by_type<T>(dpotrf_, spotrf_)(&lower, &n, copy.data(), &n, &info);
  require(info == 0, "OpenBLAS could not factor the matrix");
  return factoring.seconds();
}

static const Enter f64(Contestant<double>{"OpenBLAS", false, openblas<double>, {}});
static const Enter f32(Contestant<float>{"OpenBLAS", false, openblas<float>, {}});

}  // namespace lasolve::bench
