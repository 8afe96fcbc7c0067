#include "bench/roof.hpp"

#include "core/cpu/parallel.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::bench {

namespace {

/// f(column) for all columns, shared by the cores.
template <class F>
void for_columns(Queue<Cpu>& q, const Matrix<char>& memory, F f) {
  on_shares(q, memory.cols(), double(memory.rows()) * double(memory.cols()),
            [&](std::int64_t first, std::int64_t columns) {
              for (std::int64_t j = first; j < first + columns; ++j) f(j);
            });
}

}  // namespace

void fill(Queue<Cpu>& q, Matrix<char>& memory) {
  for_columns(q, memory, [&](std::int64_t j) { std::fill_n(&memory.view()(0, j), memory.rows(), char(j)); });
}

double seconds_of_copy(Queue<Cpu>& q, Matrix<char>& to, const Matrix<char>& from) {
  const Stopwatch watch;
  for_columns(q, from, [&](std::int64_t j) { std::copy_n(&from.view()(0, j), from.rows(), &to.view()(0, j)); });
  return watch.seconds();
}

std::optional<Roof> roof_of_host(Precision products, int threads) {
  Options options;
  options.device = {Device::cpu, 0};
  const auto& backend = *std::get<const GemmBackend<Cpu>*>(choose(options).backend);
  Queue<Cpu> q(threads);
  std::optional<Roof> roof;
  for_precision(products, [&](auto P) {
    if (const auto& kernel = backend.in<P>()) roof = measure_roof<P>(q, q, kernel);
  });
  return roof;
}

}  // namespace lasolve::bench
