#include "compare/whole_matrix.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <vector>

#include "core/cpu/parallel.hpp"

namespace lasolve::compare {

namespace {
constexpr std::uint64_t basis = 0xcbf29ce484222325u, prime = 0x100000001b3u;

constexpr std::uint64_t add(std::uint64_t hash, std::uint64_t bits) {
  hash = (hash ^ bits) * prime;
  return hash ^ (hash >> 32);  // a product moves bits up only, and here they are 64 at a time
}
}  // namespace

MatrixHash::MatrixHash(std::int64_t rows, std::int64_t columns)
    : hash_(lasolve::compare::add(lasolve::compare::add(basis, std::uint64_t(rows)), std::uint64_t(columns))) {}

void MatrixHash::add(const Queue<Cpu>& q, MatrixView<const double> A) {
  std::vector<std::uint64_t> of_columns(std::size_t(A.cols()), basis);
  on_shares(q, A.cols(), double(A.rows()) * double(A.cols()), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t j = first; j < first + count; ++j)
      for (std::int64_t i = 0; i < A.rows(); ++i) {
        std::uint64_t& hash = of_columns[std::size_t(j)];
        hash = lasolve::compare::add(hash, std::bit_cast<std::uint64_t>(A(i, j)));
      }
  });
  for (const std::uint64_t hash : of_columns) hash_ = lasolve::compare::add(hash_, hash);
}

std::string MatrixHash::text() const { return fmt::format("{:016x}", hash_); }

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
