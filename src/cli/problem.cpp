#include "cli/problem.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "core/choose.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::cli {

namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

/// Of A and its factors.
int bytes_an_element(Precision factors) { return 8 + (factors == Precision::fp32 ? 4 : 8); }

/// ‖X − 1‖∞ / ‖1‖∞.
double distance_from_ones(MatrixView<const double> X) {
  double worst = 0;
  for (std::int64_t i = 0; i < X.rows(); ++i) {
    const double d = std::abs(X(i, 0) - 1);
    if (!(d <= worst) && worst == worst) worst = d;  // a NaN stays
  }
  return worst;
}

}  // namespace

Problem::Problem(const Request& request) : name_(request.matrix), op_(request.op) {
  auto read = [&](const std::string& path, int bytes_an_element) {
    const Stopwatch reading_time;
    io::MatrixFile file = io::read_matrix(
        path, {Queue<Cpu>(request.options.threads).threads(), request.options.allow_nonfinite, bytes_an_element});
    notes_.insert(notes_.end(), file.notes.begin(), file.notes.end());
    read_seconds_ += reading_time.seconds();
    return std::move(file.matrix);
  };
  if (!exists(request.matrix) && io::Generator::is_meant_by(request.matrix)) {
    generator_.emplace(request.matrix);
    n_ = generator_->n();
  } else {
    host_ = read(request.matrix, bytes_an_element(request.options.precision));
    n_ = host_->rows();
    if (host_->rows() != host_->cols())
      throw io::InputError(fmt::format("{}: error: expected a square matrix, found {} x {}", request.matrix,
                                       host_->rows(), host_->cols()));
  }
  if (!request.rhs.empty()) {
    B_ = read(request.rhs, 8);
    has_rhs_ = true;
    if (B_.rows() != n_)
      throw io::InputError(fmt::format("{}: error: expected right-hand sides of {} rows, as the matrix has, found {}",
                                       request.rhs, n_, B_.rows()));
  }
}

template <class Place>
MatrixView<const double, Place> Problem::at(int queue, std::optional<Matrix<double, Place>>& A, Precision factors) {
  if (A && (has_rhs_ || B_.cols() > 0)) return *A;
  const Stopwatch making;
  Queue<Place> q(queue);
  if (!A) {
    // Refused now, not when A has been made.
    const double wanted = double(n_) * double(n_) * bytes_an_element(factors);
    if (const auto free = Memory<Place>::available(); wanted > double(free))
      throw OutOfMemory(std::is_same_v<Place, Cuda> ? "device" : "host", std::size_t(wanted), free);
    A.emplace(n_, n_);
    io::generate(q, *generator_, *A);
    read_seconds_ += making.seconds();
  }
  if (!has_rhs_ && B_.cols() == 0) B_ = io::row_sums(q, {*A, op_});
  return *A;
}

Report Problem::solve(const Options& options, Matrix<double>& X) {
  X = Matrix<double>(n_, nrhs());
  const Choice choice = choose(options);
  const bool on_device = generator_ && choice.backend.index() == 1;
  Factorization<double> factors =
      on_device ? Factorization<double>(at(choice.cuda_device, device_, options.precision), options)
                : Factorization<double>(at(options.threads, host_, options.precision), options);
  Report solved = factors.solve(B_, X, op_);
  Report report = together(factors.report(), std::move(solved));
  report.phases.seconds_of(Phase::read) = read_seconds_;
  if (!has_rhs_ && report.backward_error) report.forward_error = distance_from_ones(X);
  return report;
}

}  // namespace lasolve::cli
