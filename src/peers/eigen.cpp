// Eigen's PartialPivLU and LLT, compiled as we are.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <optional>

#include "core/cpu/eigen.hpp"
#include "peers/peers.hpp"

namespace lasolve::peers {

namespace {

template <class T>
class OfEigen final : public Solver<T, Cpu> {
 public:
  OfEigen(std::int64_t n, Method method) : cholesky_(method == Method::cholesky), copy_(n, n) {}

  MatrixView<T> matrix() override { return copy_; }
  void copy(MatrixView<const T> X, MatrixView<T> Y) override { copy_on_host(X, Y); }
  void factor() override {
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
  Dense copy_;
  std::optional<Eigen::LLT<Eigen::Ref<Dense>>> llt_;
  std::optional<Eigen::PartialPivLU<Eigen::Ref<Dense>>> lu_;
};

template <class T>
std::unique_ptr<Solver<T, Cpu>> make(Queue<Cpu>&, std::int64_t n, Method method) {
  return std::make_unique<OfEigen<T>>(n, method);
}

std::string note(Method) { return "Eigen's own LU and Cholesky run on one thread"; }

}  // namespace

Peer eigen() {
  return {"eigen", "Eigen", false, note, [] {}, {make<double>, make<float>, nullptr, nullptr}};
}

}  // namespace lasolve::peers
