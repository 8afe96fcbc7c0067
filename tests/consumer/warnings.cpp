// What programs do with the headers. tests/refused.sh compiles it with warnings that people turn on, as errors.
#include <lasolve/async.hpp>
#include <lasolve/names.hpp>
#include <lasolve/pieces.hpp>
#include <lasolve/report_fields.hpp>

#include <vector>

using namespace lasolve;

static void product(const void*, Queue<Cpu>&, double, Operand<double>, Operand<double>, double, MatrixView<double>) {}
static constexpr GemmBackend<Cpu> one_function{.name = "one", .summary = "no more", .kernels = product};
static constexpr GemmBackend<Cpu> two_functions{
    .name = "two", .summary = "both", .kernels = GemmKernel(product, 1e-9, product)};

int main() {
  std::vector<double> a = {2, 1, 1, 3}, b = {3, 5}, x(2);
  const MatrixView<double> A = column_major(a, 2, 2);
  Factorization<double> factors(row_major(a, 2, 2), {.gemm = "tiled"});
  Factorization<double> more(A, {.gemm = &one_function, .device = {Device::cpu}, .check = false});
  Factorization<double> in_place(Matrix<double>(2, 2), {.gemm = &two_functions, .tuning = tuning_of({Device::cpu, 0})});
  Report report = factors.solve(b, x);
  report = solve(A, b, x, {.device = {.kind = Device::cpu}, .progress = [](double) {}});
  report.outcome = {.kind = Outcome::singular};
  AsyncFactorization<double> later =
      factor_async(Matrix<double, Cuda>(2, 2), {.factorization = Method::lu}, Context(0));
  report.outcome = later.wait();
  const std::vector<Borrowed<const double>> pieces = {A};
  report = factor_pieces(pieces, {.cards = {0, 1}}).report();
  report.n = std::get<std::int64_t>(report_field("nrhs").of(report));
  Queue<Cpu> queue;
  const Gemm<double, Cpu> gemm(one_function);
  gemm(queue, 1, transposed(A), A, 0, A);
  return parse_device("cpu")->index + int(words_of<Schedule>().size()) + int(fp16(1.0f).bits) + int(bf16(2.0f).bits);
}
