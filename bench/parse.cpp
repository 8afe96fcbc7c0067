// How fast a dense Matrix Market file is read.   parse [N [FILE.mtx]]
// Writes a random N x N file, reads it with 1, 2, 4 ... threads, and prints medians.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/product.hpp"
#include "core/stopwatch.hpp"
#include "io/io.hpp"

namespace {

using namespace lasolve;

Matrix<double> random_matrix(std::int64_t n) {
  Matrix<double> A(n, n);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> entry(-1, 1);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) A(i, j) = entry(random);
  return A;
}

/// As C's %.17g and Fortran's write it: 17 digits and an exponent each.
void write_with_exponents(const std::string& path, MatrixView<const double> A) {
  io::OutputFile file(path, false);
  file.append(fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", A.rows(), A.cols()));
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) file.append(fmt::format("{:.16e}\n", A(i, j)));
  file.commit();
}

double median_seconds(const std::string& path, int threads) {
  std::vector<double> seconds;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const Stopwatch watch;
    const io::MatrixFile read = io::read_matrix(path, {threads});
    seconds.push_back(watch.seconds());
  }
  return bench::spread_of(seconds).median;
}

void report(const char* form, const std::string& path) {
  const double megabytes = double(std::filesystem::file_size(path)) * 1e-6;
  const int most = int(std::max(1u, std::thread::hardware_concurrency()));
  for (int threads = 1; threads <= most; threads *= 2) {
    const double seconds = median_seconds(path, threads);
    fmt::print("{:<9} {:6.1f} MB  {:2} threads  {:6.0f} ms  {:6.0f} MB/s\n", form, megabytes, threads, seconds * 1e3,
               megabytes / seconds);
  }
}

void run(std::int64_t n, const std::string& path) {
  const Matrix<double> A = random_matrix(n);
  io::write_matrix(path, A);
  report("shortest", path);
  write_with_exponents(path, A);
  report("exponents", path);
  std::filesystem::remove(path);
}

}  // namespace

int main(int argc, char** argv) try {
  run(argc > 1 ? std::stoll(argv[1]) : 3000,
      argc > 2 ? argv[2] : (std::filesystem::temp_directory_path() / "lasolve-parse.mtx").string());
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
