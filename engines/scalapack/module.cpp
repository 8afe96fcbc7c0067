// ScaLAPACK and MPI as an engine. A module with one name for others: it needs nothing of the library but headers.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "engines/mpi/ranks.hpp"
#include "engines/scalapack/fortran.hpp"

namespace lasolve::engines {

namespace {

using Descriptor = std::array<int, 9>;

template <class T>
Descriptor descriptor(int context, const Part<T>& part) {
  const BlockCyclic& layout = part.layout;
  constexpr int dense = 1;
  return {dense,
          context,
          int(layout.rows.length),
          int(layout.cols.length),
          int(layout.rows.block),
          int(layout.cols.block),
          0,
          0,
          int(std::max<std::int64_t>(1, part.local.ld()))};
}

/// Of the library, by the name of its file, as 2.2.1 of libscalapack.so.2.2.1: what it says of itself was 2.0.2 in 2.2.1.
std::string version_of_file() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(pdgetrf_), &info) || !info.dli_fname) return "(unknown)";
  std::error_code error;
  const std::string name = std::filesystem::canonical(info.dli_fname, error).filename().string(), mark = ".so.";
  const std::size_t at = name.find(mark);
  return at == name.npos ? "(unknown)" : name.substr(at + mark.size());
}

void require_arguments(int info) {
  if (info < 0) throw std::logic_error("ScaLAPACK refuses argument " + std::to_string(-info));
}

template <class T>
class ByLu final : public Factored<T> {
 public:
  ByLu(int context, Part<T> A)
      : context_(context), A_(A), pivots_(std::size_t(A.layout.rows.count() + A.layout.rows.block)) {
    const int n = int(A.layout.rows.length), one = 1;
    int info = 0;
    Fortran<T>::getrf(&n, &n, A.local.data(), &one, &one, descriptor(context, A).data(), pivots_.data(), &info);
    require_arguments(info);
    if (const int column = agreed(info); column > 0) outcome_ = {Outcome::singular, column - 1};
  }
  Outcome outcome() const override { return outcome_; }
  void solve(Op op, Part<T> X) override {
    const int n = int(A_.layout.rows.length), nrhs = int(X.layout.cols.length), one = 1;
    int info = 0;
    Fortran<T>::getrs(op == Op::none ? "N" : "T", &n, &nrhs, A_.local.data(), &one, &one,
                      descriptor(context_, A_).data(), pivots_.data(), X.local.data(), &one, &one,
                      descriptor(context_, X).data(), &info);
    require_arguments(info);
  }

 private:
  int context_;
  Part<T> A_;
  std::vector<int> pivots_;
  Outcome outcome_;
};

template <class T>
class ByCholesky final : public Factored<T> {
 public:
  ByCholesky(int context, Part<T> A) : context_(context), A_(A) {
    const int n = int(A.layout.rows.length), one = 1;
    int info = 0;
    Fortran<T>::potrf("L", &n, A.local.data(), &one, &one, descriptor(context, A).data(), &info);
    require_arguments(info);
    if (const int order = agreed(info); order > 0) outcome_ = {Outcome::not_positive_definite, order};
  }
  Outcome outcome() const override { return outcome_; }
  void solve(Op, Part<T> X) override {
    const int n = int(A_.layout.rows.length), nrhs = int(X.layout.cols.length), one = 1;
    int info = 0;
    Fortran<T>::potrs("L", &n, &nrhs, A_.local.data(), &one, &one, descriptor(context_, A_).data(), X.local.data(),
                      &one, &one, descriptor(context_, X).data(), &info);
    require_arguments(info);
  }

 private:
  int context_;
  Part<T> A_;
  Outcome outcome_;
};

template <class T>
std::unique_ptr<Factored<T>> factored(int context, Method method, Part<T> A) {
  if (method == Method::cholesky) return std::make_unique<ByCholesky<T>>(context, A);
  if (method == Method::lu) return std::make_unique<ByLu<T>>(context, A);
  throw std::invalid_argument("ScaLAPACK has LU and Cholesky only");
}

class Scalapack final : public MpiRanks {
 public:
  Scalapack() {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", ranks().grid_rows, ranks().grid_cols);
    int rows = 0, cols = 0, row = 0, col = 0;
    Cblacs_gridinfo(context_, &rows, &cols, &row, &col);
    if (row != ranks().row() || col != ranks().col()) abort(70);
  }
  ~Scalapack() override { Cblacs_gridexit(context_); }

  std::string version() const override { return "ScaLAPACK " + version_of_file() + " with " + mpi_version(); }
  /// It counts them in 32 bits.
  std::int64_t most_elements(std::size_t) const override { return std::numeric_limits<int>::max(); }
  /// Its panels are that wide, and products have that k.
  std::int64_t block_size() const override { return 64; }
  void use_threads(int count) override {
    if (openblas_set_num_threads) openblas_set_num_threads(count);
  }
  std::unique_ptr<Factored<double>> factor(Method method, Part<double> A) override {
    return factored(context_, method, A);
  }
  std::unique_ptr<Factored<float>> factor(Method method, Part<float> A) override {
    return factored(context_, method, A);
  }

 private:
  int context_ = -1;  // of BLACS, of which a process has one grid
};

}  // namespace

}  // namespace lasolve::engines

extern "C" lasolve::engines::Engine* lasolve_make_engine_4() { return new lasolve::engines::Scalapack; }
