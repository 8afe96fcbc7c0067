// Views as Eigen maps.
#pragma once

#include <Eigen/Core>

#include "lasolve/matrix.hpp"

namespace lasolve {

template <class T>
auto as_eigen(MatrixView<T> x) {
  using Dense = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic>;
  using Target = std::conditional_t<std::is_const_v<T>, const Dense, Dense>;
  return Eigen::Map<Target, Eigen::Unaligned, Eigen::OuterStride<>>(x.data(), x.rows(), x.cols(),
                                                                    Eigen::OuterStride<>(x.ld()));
}

}  // namespace lasolve
