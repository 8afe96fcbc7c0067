// Eigen's PartialPivLU and LLT, with OpenMP where the compiler has it. With it Eigen's templates are others than in the rest of the
// program, and must not meet those: so this is a module, and needs nothing of the library but headers.
#include "baseline_solvers/module/eigen.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <optional>

#include "core/cpu/eigen.hpp"

namespace lasolve::baseline_solvers {

namespace {

template <class T>
class OfEigen final : public Solver<T, Cpu> {
 public:
  OfEigen(std::int64_t n, Method method, int threads)
      : cholesky_(method == Method::cholesky), threads_(threads), copy_(n, n) {}

  MatrixView<T> matrix() override { return copy_; }
  void copy(MatrixView<const T> X, MatrixView<T> Y) override { copy_on_host(X, Y); }
  void factor() override {
    Eigen::setNbThreads(threads_);  // Eigen's own number, in this module; OpenMP's settings stay as they are
    if (cholesky_)
      llt_.emplace(copy_);
    else
      lu_.emplace(copy_);
  }
  void solve(MatrixView<T> X) override {
    auto x = as_eigen(X);
    if (!cholesky_)
      x = lu_->solve(x);
    else if (finish())
      llt_->solveInPlace(x);
  }
  bool finish() override { return !cholesky_ || llt_->info() == Eigen::Success; }

 private:
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

  bool cholesky_;
  int threads_;
  Dense copy_;
  std::optional<Eigen::LLT<Eigen::Ref<Dense>>> llt_;
  std::optional<Eigen::PartialPivLU<Eigen::Ref<Dense>>> lu_;
};

template <class T>
std::unique_ptr<Solver<T, Cpu>> make(std::int64_t n, Method method, int threads) {
  return std::make_unique<OfEigen<T>>(n, method, threads);
}

/// Without OpenMP Eigen does not heed how many threads it is to take.
bool has_openmp() {
  Eigen::setNbThreads(2);
  return Eigen::nbThreads() == 2;
}

}  // namespace

}  // namespace lasolve::baseline_solvers

const lasolve::baseline_solvers::EigenModule* lasolve_baseline_eigen() {
  using namespace lasolve::baseline_solvers;
  static const EigenModule module{has_openmp(), {make<double>, make<float>}};
  return &module;
}
