// How fast matrices travel between the host and a CUDA device.   transfer [MIB ...]
// Prints the median of several copies of 8192 rows: pageable and pinned memory of the host, both ways, of a contiguous
// matrix and of one whose columns lie apart on the device.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "bench/product.hpp"
#include "core/cuda/check.hpp"
#include "core/stopwatch.hpp"
#include "core/transfer.hpp"
#include "io/generators.hpp"

namespace {

using namespace lasolve;

constexpr std::int64_t rows = 8192;

template <class Copy>
double median_seconds(Queue<Cuda>& q, Copy copy_once) {
  std::vector<double> seconds;
  for (int repeat = -2; repeat < 7; ++repeat) {
    const Stopwatch watch;
    copy_once();
    q.finish();
    if (repeat >= 0) seconds.push_back(watch.seconds());
  }
  return bench::spread_of(seconds).median;
}

void report(Queue<Cuda>& q, const char* kind, MatrixView<double> host, std::int64_t ld) {
  Matrix<double, Cuda> device(rows, host.cols(), ld);
  const double gigabytes = double(rows) * double(host.cols()) * 8e-9;
  const double down = median_seconds(q, [&] { copy<double>(q, host, device); });
  const double up = median_seconds(q, [&] { copy<double>(q, device, host); });
  fmt::print("{:9.1f} MiB  {:<9} {:<11} {:6.1f} GB/s to the device {:6.1f} GB/s to the host\n",
             gigabytes * 1e9 / 1048576, kind, ld == rows ? "contiguous" : "apart", gigabytes / down, gigabytes / up);
}

void run(std::int64_t mebibytes) {
  Queue<Cuda> q;
  Queue<Cpu> host;
  const io::Generator random("uniform:n=" + std::to_string(rows));
  const std::int64_t columns = std::max<std::int64_t>(1, mebibytes * 1048576 / 8 / rows);
  Matrix<double> pageable(rows, columns, rows);
  io::generate(host, random, pageable);  // memory that nobody has touched is not there yet
  void* memory = nullptr;
  CUDA_CHECK(cudaMallocHost(&memory, pageable.bytes()));
  const MatrixView<double> pinned(static_cast<double*>(memory), rows, columns, rows);
  io::generate(host, random, pinned);
  for (const std::int64_t ld : {rows, rows + 8}) {
    report(q, "pageable", pageable, ld);
    report(q, "pinned", pinned, ld);
  }
  CUDA_CHECK(cudaFreeHost(memory));
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::int64_t> sizes = {1, 4, 16, 64, 256, 1024, 4096};
  if (argc > 1) sizes.clear();
  for (int i = 1; i < argc; ++i) sizes.push_back(std::stoll(argv[i]));
  for (const std::int64_t mebibytes : sizes) run(mebibytes);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
