// Systems whose condition is known.
#pragma once

#include <Eigen/LU>

#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
Exact exact(const Matrix<T>& A) {
  return as_eigen(A.view()).template cast<long double>();
}
inline long double one_norm_of(const Exact& A) { return A.cwiseAbs().colwise().sum().maxCoeff(); }

/// ‖A‖₁‖A⁻¹‖₁, from the inverse.
template <class T>
long double true_condition(const Matrix<T>& A) {
  return one_norm_of(exact(A)) * one_norm_of(exact(A).inverse());
}

/// ‖ |A⁻¹| |A| ‖∞, from the inverse.
template <class T>
double scaled_condition(const Matrix<T>& A) {
  const Exact products = exact(A).inverse().cwiseAbs() * exact(A).cwiseAbs();
  return double(products.rowwise().sum().maxCoeff());
}

/// The product of two random matrices, n × k and k × n.
inline Matrix<double> of_rank(std::int64_t n, std::int64_t k, std::uint64_t seed) {
  const Matrix<double> U = random_matrix(n, k, seed), V = random_matrix(k, n, seed + 100);
  return rounded<double>(Exact(exact(U) * exact(V)));
}

class Condition : public OnTarget {
 protected:
  Options judged(Method method = Method::lu) const {
    Options o = options(32);
    o.factorization = method;
    o.condition = true;
    return o;
  }
};

}  // namespace lasolve::test
