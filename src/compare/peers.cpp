#include "compare/peers.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "core/cpu/eigen.hpp"
#include "core/cpu/openblas.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::compare {

std::optional<Peer> openblas();  // in a file of its own

namespace {

/// Eigen's PartialPivLU and LLT, compiled as we are.
double solve_with_eigen(const System& s, Method method, int) {
  using Dense = Eigen::MatrixXd;
  Dense copy = as_eigen(s.A);
  const Stopwatch watch;
  if (method == Method::cholesky)
    as_eigen(s.X) = Eigen::LLT<Eigen::Ref<Dense>>(copy).solve(as_eigen(s.B));
  else
    as_eigen(s.X) = Eigen::PartialPivLU<Eigen::Ref<Dense>>(copy).solve(as_eigen(s.B));
  return watch.seconds();
}

/// Empty also where memory is short: the row says that, and how much was wanted.
std::string why_no_openblas() try {
  lasolve::openblas();
  return "";
} catch (const OutOfMemory&) {
  return "";
} catch (const MachineError& e) {
  return e.what();
}

}  // namespace

const std::vector<Peer>& peers() {
  static const std::vector<Peer> all = [] {
    std::vector<Peer> found;
    if (auto peer = openblas()) {
      found.push_back(std::move(*peer));
      found.back().unavailable = why_no_openblas;
    }
    found.push_back({"eigen", false, "Eigen's own LU and Cholesky run on one thread", solve_with_eigen});
    found.push_back(cusolver().value_or(Peer{"cusolver", true, "", {}, [] { return "this build has no CUDA"; }}));
    return found;
  }();
  return all;
}

double backward_error(const System& s) {
  const auto A = as_eigen(s.A);
  const Eigen::MatrixXd R = as_eigen(s.B) - A * as_eigen(s.X);
  const double norm = A.rows() > 0 ? A.cwiseAbs().rowwise().sum().maxCoeff() : 0;
  double worst = 0;
  for (std::int64_t j = 0; j < R.cols(); ++j) {
    const double scale =
        norm * as_eigen(s.X).col(j).lpNorm<Eigen::Infinity>() + as_eigen(s.B).col(j).lpNorm<Eigen::Infinity>();
    const double error = scale > 0 ? R.col(j).lpNorm<Eigen::Infinity>() / scale : 0;
    if (!(error <= worst)) worst = error;  // a NaN stays
  }
  return worst;
}

}  // namespace lasolve::compare
