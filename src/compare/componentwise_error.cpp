#include "compare/componentwise_error.hpp"

#include <cmath>

#include "core/cpu/parallel.hpp"

namespace lasolve::compare {

ComponentwiseError::ComponentwiseError(std::vector<double> x, MatrixView<const double> b) : x_(std::move(x)) {
  for (std::int64_t i = 0; i < b.rows(); ++i) residuals_.push_back(b(i, 0)), sizes_.push_back(std::abs(b(i, 0)));
}

void ComponentwiseError::add(const Queue<Cpu>& q, std::int64_t first, MatrixView<const double> A) {
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()), [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t j = 0; j < A.cols(); ++j) {
      const long double x = x_[std::size_t(first + j)];
      for (std::int64_t i = begin; i < begin + count; ++i) {
        const long double product = A(i, j) * x;
        residuals_[std::size_t(i)] -= product, sizes_[std::size_t(i)] += std::abs(product);
      }
    }
  });
}

double ComponentwiseError::largest() const {
  double worst = 0;
  for (std::size_t i = 0; i < residuals_.size(); ++i) {
    const double error = residuals_[i] == 0 ? 0 : double(std::abs(residuals_[i]) / sizes_[i]);
    if (!(error <= worst) && worst == worst) worst = error;
  }
  return worst;
}

}  // namespace lasolve::compare
