// Matrices made from a formula: deterministic in the seed, and the same bits on the CPU and on CUDA.
#pragma once

#include <string>
#include <vector>

#include "core/symmetric.hpp"

namespace lasolve::io {

/// A generator that was asked for wrongly. what() says where, and what is known.
struct GeneratorError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Element (i, j) as a function of i, j, the seed and O(n) numbers in tables that were made on the host: no libm on the
/// device, no contraction to fused multiply-adds on either side (see the compile options of these files).
struct Formula {
  enum Kind { uniform, spd, randsvd, diagdom, growth, graded, hilbert, bem } kind = uniform;
  std::int64_t n = 0;
  std::uint64_t seed = 1;
  const double* table = nullptr;

  /// Stafford's variant 13 of the finalizer of MurmurHash3, as in SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [−1, 1), a multiple of 2⁻⁵².
  constexpr double random(std::int64_t i, std::int64_t j) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
    const std::uint64_t row = mix(seed + golden * (std::uint64_t(i) + 1));
    return double(mix(row + golden * (std::uint64_t(j) + 1)) >> 11) * 0x1p-52 - 1.0;
  }
  /// (I − 2 u uᵀ) D (I − 2 v vᵀ) with u, v, d and uᵀ D v in the table.
  constexpr double reflected(std::int64_t i, std::int64_t j) const {
    const double *u = table, *v = table + n, *d = table + 2 * n, udv = table[3 * n];
    const double beside_d = (2.0 * u[i]) * ((2.0 * udv) * v[j] - u[j] * d[j]) - (2.0 * d[i] * v[i]) * v[j];
    return i == j ? d[i] + beside_d : beside_d;
  }
  constexpr double operator()(std::int64_t i, std::int64_t j) const {
    switch (kind) {
      case uniform:
        return random(i, j);
      case spd:
        return i == j ? double(n) : i > j ? random(i, j) : random(j, i);
      case diagdom:
        return i == j ? double(n) : random(i, j);
      case growth:
        return i == j || j == n - 1 ? 1.0 : i > j ? -1.0 : 0.0;
      case graded:
        return random(i, j) * table[i] * table[j];
      case hilbert:
        return 1.0 / double(i + j + 1);
      case randsvd:
        return reflected(i, j);
      case bem:
        break;
    }
    // The panels of bem are the same: only their distance counts.
    const std::int64_t m = std::int64_t(table[0]);
    const std::int64_t dx = i % m - j % m, dy = i / m - j / m;
    return table[1 + (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy) * m];
  }
};

/// A matrix by name and parameters, such as "uniform:n=8192,seed=1". It takes no memory until it is generated.
class Generator {
 public:
  /// Throws GeneratorError.
  explicit Generator(const std::string& text);
  /// Whether a text means a generator, rightly written or not: it begins with the name of one, or holds "n=".
  static bool is_meant_by(const std::string& text);
  static std::vector<std::string> names();
  /// A line for each generator.
  static std::string help();

  std::int64_t n() const { return formula_.n; }
  /// Without its table.
  const Formula& formula() const { return formula_; }
  /// Made when it is first asked for, on one thread.
  const std::vector<double>& table() const;

 private:
  Formula formula_;
  double parameter_ = 0;  // kappa or bits
  mutable std::vector<double> table_;
};

/// Throws OutOfMemory unless there is memory at the place for all of the matrix, at so many bytes an element. To be
/// called before anything else is done for it.
template <class Space>
void require_memory(const Generator& generator, int bytes_an_element) {
  const double wanted = double(generator.n()) * double(generator.n()) * bytes_an_element;
  if (const auto free = Memory<Space>::available(); wanted > double(free))
    throw OutOfMemory(std::is_same_v<Space, Cuda> ? "device" : "host", std::size_t(wanted), free);
}

/// A ← the matrix, or its columns first, first + 1, …; on the CPU also of a block, from a row on.
void generate(Queue<Cpu>& q, const Generator&, MatrixView<double, Cpu> A, std::int64_t first = 0,
              std::int64_t first_row = 0);
void generate(Queue<Cuda>& q, const Generator&, MatrixView<double, Cuda> A, std::int64_t first = 0);

/// A·1 (n × 1): the right-hand side whose answer is known.
Matrix<double> row_sums(Queue<Cpu>& q, const SystemMatrix<double, Cpu>& A);
Matrix<double> row_sums(Queue<Cuda>& q, const SystemMatrix<double, Cuda>& A);

}  // namespace lasolve::io
