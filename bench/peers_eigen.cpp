// Eigen's PartialPivLU and LLT, compiled as we are.
#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "bench/peers.hpp"
#include "core/cpu/eigen.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::bench {

template <class T>
static double eigen(MatrixView<const T> A, Method method) {
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  Dense copy = as_eigen(A);
  const Stopwatch factoring;
  if (method == Method::lu)
    Eigen::PartialPivLU<Eigen::Ref<Dense>> lu(copy);
  else
    Eigen::LLT<Eigen::Ref<Dense>> llt(copy);
  return factoring.seconds();
}

static const Enter f64(Contestant<double>{"Eigen", false, eigen<double>, {}});
static const Enter f32(Contestant<float>{"Eigen", false, eigen<float>, {}});

}  // namespace lasolve::bench
