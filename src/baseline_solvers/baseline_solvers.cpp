#include "baseline_solvers/baseline_solvers.hpp"

#include <cmath>
#include <numeric>

#include "core/cpu/by_eigen.hpp"
#include "core/current_device.hpp"
#include "core/transfer.hpp"

namespace lasolve::baseline_solvers {

namespace {

/// Factors the matrix that the solver has, and solves.
template <class T, class Space>
Seconds timed(const Library& library, Queue<Space>& q, Solver<T, Space>& solver, MatrixView<T, Space> X) {
  q.finish();
  q.take_times();
  q.phase(Phase::panel);
  solver.factor();
  q.phase(Phase::solve);
  if (!X.empty()) solver.solve(X);
  q.finish();
  const PhaseTimes times = q.take_times();
  if (!solver.finish()) throw std::runtime_error(library.title + " could not factor the matrix");
  const double factor = times.seconds_of(Phase::panel);
  return {factor, factor + times.seconds_of(Phase::solve)};
}

template <class T, class Space>
Seconds solve_there(const Library& library, Queue<Space>& q, const System<T, Space>& s, Method method) {
  const auto solver = library.solver<T>(q, s.A.rows(), method);
  solver->copy(s.A, solver->matrix());
  solver->copy(s.B, s.X);
  return timed<T>(library, q, *solver, s.X);
}

template <class T>
Seconds solve_from_host(const Library& library, Queue<Cuda>& q, const System<T>& s, Method method) {
  const auto solver = library.solver<T>(q, s.A.rows(), method);
  Matrix<T, Cuda> X(s.X.rows(), s.X.cols());
  copy<T>(q, s.A, solver->matrix());
  copy<T>(q, s.B, X);
  const Seconds seconds = timed<T>(library, q, *solver, X.view());
  copy<T>(q, X, s.X);
  q.finish();
  return seconds;
}

/// Made once.
Queue<Cuda>& first_device() {
  static Queue<Cuda> q(0);
  return q;
}

}  // namespace

const std::vector<Library>& all() {
  static const std::vector<Library> baseline_solvers = {openblas(), eigen(), cusolver()};
  return baseline_solvers;
}

/// Empty also where memory is short: a run says that, and how much was wanted.
std::string why_unavailable(const Library& library) try {
  library.load();
  return "";
} catch (const OutOfMemory&) {
  return "";
} catch (const MachineError& e) {
  return e.what();
}

template <class T, class Space>
Seconds solve(const Library& library, const System<T, Space>& s, Method method, int threads) {
  constexpr bool on_host = std::is_same_v<Space, Cpu>;
  require(on_host || library.on_cuda, "a library that runs on the host is given a system of a device");
  library.load();
  if (library.on_cuda) {
    Queue<Cuda>& q = first_device();
    const CurrentDevice current(q);
    if constexpr (on_host)
      return solve_from_host(library, q, s, method);
    else
      return solve_there(library, q, s, method);
  }
  if constexpr (on_host) {
    Queue<Cpu> q(threads);
    return solve_there(library, q, s, method);
  }
  return {};
}

template <class T>
double backward_error(const System<T>& s) {
  const std::int64_t n = s.A.rows();
  const auto larger = [](double a, double b) { return a >= b || std::isnan(a) ? a : b; };
  const auto norm = [&](MatrixView<const T> X, std::int64_t j) {
    double most = 0;
    for (std::int64_t i = 0; i < n; ++i) most = larger(most, std::abs(double(X(i, j))));
    return most;
  };
  std::vector<double> sums(std::size_t(n), 0.0);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) sums[std::size_t(i)] += std::abs(double(s.A(i, j)));
  Matrix<T> R(n, s.B.cols());
  copy_on_host<T>(s.B, R.view());
  add_product_by_eigen<T>(-1, s.A, s.X, R.view());
  double worst = 0;
  for (std::int64_t j = 0; j < R.cols(); ++j) {
    const double scale = std::accumulate(sums.begin(), sums.end(), 0.0, larger) * norm(s.X, j) + norm(s.B, j);
    if (scale != 0) worst = larger(worst, norm(R.view(), j) / scale);
  }
  return worst;
}

#define LASOLVE_INSTANTIATE(T)                                                    \
  template Seconds solve<T>(const Library&, const System<T>&, Method, int);       \
  template Seconds solve<T>(const Library&, const System<T, Cuda>&, Method, int); \
  template double backward_error(const System<T>&);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::baseline_solvers
