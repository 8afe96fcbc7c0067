#include "bench/roof.hpp"

#include "core/cpu/parallel.hpp"
#include "core/current_device.hpp"
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

template <class Space>
std::optional<Roof> measured(Queue<Space>& q, const Queue<Cpu>& host, const Choice& choice, Precision products) {
  const auto& backend = *std::get<const GemmBackend<Space>*>(choice.backend);
  std::optional<Roof> roof;
  for_precision(products, [&](auto P) {
    if (const auto& kernel = backend.template in<P>()) roof = measure_roof<P>(q, host, kernel);
  });
  return roof;
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

std::optional<Roof> roof_of(Device device, Precision products, int threads) {
  Options options;
  options.device = device;
  const Choice choice = choose(options);
  Queue<Cpu> host(threads);
  if (choice.device().kind == Device::cpu) return measured(host, host, choice, products);
  Queue<Cuda> q(choice.cuda_device);
  const CurrentDevice current(q);
  return measured(q, host, choice, products);
}

}  // namespace lasolve::bench
