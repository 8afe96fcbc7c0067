#include "io/generators.hpp"

#include "core/cuda/blas.hpp"
#include "core/cuda/elementwise.cuh"
#include "core/transfer.hpp"

namespace lasolve::io {

void generate(Queue<Cuda>& q, const Generator& generator, MatrixView<double, Cuda> A, std::int64_t first) {
  const auto count = std::int64_t(generator.table().size());
  Matrix<double, Cuda> table(count, 1);
  copy<double>(q, MatrixView<const double>(generator.table().data(), count, 1, count), table);
  Formula f = generator.formula();
  f.table = table.data();
  for_each_element(q, A, [=] __device__(double& a, std::int64_t i, std::int64_t j) { a = f(i, first + j); });
  q.finish();
}

Matrix<double> row_sums(Queue<Cuda>& q, const SystemMatrix<double, Cuda>& A) {
  const auto [rows, cols] = std::visit([](const auto& a) { return std::pair(a.rows(), a.cols()); }, A);
  Matrix<double, Cuda> ones(cols, 1), sums(rows, 1);
  Matrix<double> b(rows, 1);
  fill(q, 1.0, ones.view());
  std::visit(
      [&](const auto& a) {
        if constexpr (!is_spread<std::remove_cvref_t<decltype(a)>>)
          cublas_gemm<double>(q, 1.0, a, ones.view(), 0.0, sums);
      },
      A);
  copy<double>(q, sums, b);
  q.finish();
  return b;
}

}  // namespace lasolve::io
