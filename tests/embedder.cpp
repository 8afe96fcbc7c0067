// A program that solves a system with the library, as embedder.sh does with the tool.
// Usage: embedder DEVICE METHOD N NRHS A.npy B.npy X: X has the bytes of its elements.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"

static std::streamsize bytes_of_column(const lasolve::Matrix<double>& A) {
  return std::streamsize(sizeof(double)) * A.rows();
}

/// From the end of a file, column after column.
static lasolve::Matrix<double> read(const char* path, std::int64_t rows, std::int64_t columns) {
  lasolve::Matrix<double> A(rows, columns);
  std::ifstream file(path, std::ios::binary);
  file.seekg(-bytes_of_column(A) * columns, std::ios::end);
  for (std::int64_t j = 0; j < columns; ++j) file.read(reinterpret_cast<char*>(&A(0, j)), bytes_of_column(A));
  if (!file) std::exit(2);
  return A;
}

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  lasolve::Options options;
  options.device = lasolve::parse_device(argv[1]).value();
  options.factorization = lasolve::parse<lasolve::Method>(argv[2]).value();
  const std::int64_t n = std::atoll(argv[3]), nrhs = std::atoll(argv[4]);
  const lasolve::Matrix<double> A = read(argv[5], n, n), B = read(argv[6], n, nrhs);
  lasolve::Matrix<double> X(n, nrhs);
  if (const auto report = lasolve::solve(A, B, X, options); !report.outcome.ok()) {
    std::puts(report.outcome.message().c_str());
    return 1;
  }
  std::ofstream file(argv[7], std::ios::binary);
  for (std::int64_t j = 0; j < nrhs; ++j) file.write(reinterpret_cast<const char*>(&X(0, j)), bytes_of_column(X));
  return file.flush() ? 0 : 1;
}
