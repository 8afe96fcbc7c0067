#include "bench/whole_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <random>

#include "bench/baseline_solvers_on.hpp"
#include "bench/product.hpp"
#include "bench/turns.hpp"
#include "core/cpu/eigen.hpp"
#include "core/stopwatch.hpp"
#include "core/traffic.hpp"
#include "core/transfer.hpp"
#include "io/generators.hpp"
#include "lasolve/names.hpp"
#include "solvers/method.hpp"

namespace lasolve::bench {

using Json = nlohmann::ordered_json;

/// A system that is on a device, and on the host. A and B are to stay as they are.
template <class T>
struct System {
  Method method;
  baseline_solvers::System<T, Cuda> there;
  baseline_solvers::System<T> here;
  bool from_host;    ///< begins and ends on the host
  bool is_factored;  ///< beforehand
};

/// Makes what is made beforehand for a system, and returns what solves it once and waits for X.
template <class T>
using Begin = std::function<std::function<void()>(const System<T>&)>;

template <class T>
struct WholeCall {
  std::string name;
  Begin<T> begin;
};

/// Small systems are solved again and again in one turn, for so long.
constexpr double least_seconds_of_a_turn = 0.01;

template <class T>
static Begin<T> ours(Options options) {
  return [=](const System<T>& s) -> std::function<void()> {
    const auto solve = [=](const auto& at) {
      Factorization<T> factors(at.A, options);
      require(factors.solve(at.B, at.X).outcome.ok(), "the system could not be solved");
    };
    if (s.is_factored)
      return [factors = std::make_shared<Factorization<T>>(s.there.A, options), at = s.there] {
        require(factors->solve(at.B, at.X).outcome.ok(), "the system could not be solved");
      };
    if (s.from_host) return [=] { solve(s.here); };
    return [=] { solve(s.there); };
  };
}

/// As everybody copies: pageable memory, one call.
template <class T, class From, class To>
static void copy_plainly(Queue<Cuda>& q, MatrixView<const T, From> from, MatrixView<T, To> to) {
  lasolve::copy_plainly(q, to.data(), std::size_t(to.ld()) * sizeof(T), from.data(), std::size_t(from.ld()) * sizeof(T),
                        std::size_t(from.rows()) * sizeof(T), std::size_t(from.cols()));
}

/// A and B are copied in each call: both libraries leave them as they were.
template <class T>
static Begin<T> call_of(const baseline_solvers::Library& library) {
  return [&library](const System<T>& s) -> std::function<void()> {
    static Queue<Cuda> made_once(0);
    Queue<Cuda>& q = made_once;
    const std::shared_ptr<baseline_solvers::Solver<T, Cuda>> solver = library.solver<T>(q, s.here.A.rows(), s.method);
    const auto factor = [=, &q] {
      s.from_host ? copy_plainly<T>(q, s.here.A, solver->matrix()) : solver->copy(s.there.A, solver->matrix());
      solver->factor();
    };
    if (s.is_factored) factor();
    return [=, &library, &q] {
      if (!s.is_factored) factor();
      s.from_host ? copy_plainly<T>(q, s.here.B, s.there.X) : solver->copy(s.there.B, s.there.X);
      solver->solve(s.there.X);
      if (s.from_host) copy_plainly<T>(q, MatrixView<const T, Cuda>(s.there.X), s.here.X);
      require(solver->finish(), (library.title + " could not solve the system").c_str());
    };
  };
}

static Options on_cuda() {
  Options options;
  options.device = {Device::cuda, 0};
  return options;
}

/// The method and the backend named, and nothing done but to factor and solve.
static Options bare(Method method, const std::string& backend) {
  Options options = on_cuda();
  options.gemm = backend;
  options.factorization = method;
  options.check = false;
  options.refine = Refine::none;
  return options;
}

/// The cheapest factors that are expected to do for that backward error, refined.
static Options accurate(Method method, double accuracy, bool bounds) {
  Options options = on_cuda();
  options.factorization = method;
  options.accuracy = accuracy;
  options.bounds = bounds;
  return options;
}

/// A matrix of a method, on the host.
template <class T>
static Matrix<T> matrix_for(Method method, std::int64_t n) {
  const io::Generator generator(fmt::format("{}:n={},seed=1", record_of(method).example, n));
  Queue<Cpu> q;
  Matrix<double> made(n, n);
  io::generate(q, generator, made);
  if constexpr (std::is_same_v<T, double>) return made;
  Matrix<T> A(n, n);
  as_eigen(A.view()) = as_eigen(made.view()).template cast<T>();
  return A;
}

template <class T>
static Matrix<T> random_rhs(std::int64_t n, std::int64_t nrhs) {
  std::mt19937_64 bits(1);
  Matrix<T> B(n, nrhs);
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) B(i, j) = T(double(bits() >> 11) * 0x1p-52 - 1);
  return B;
}

template <class T>
static Matrix<T, Cuda> on_device(MatrixView<const T> X) {
  Queue<Cuda> q(0);
  Matrix<T, Cuda> there(X.rows(), X.cols());
  copy<T>(q, X, there);
  q.finish();
  return there;
}

/// Throws unless the last column of X is right, as in the HPL benchmark: computed on the host.
template <class T>
static void require_right(const std::string& name, const System<T>& s) {
  const auto [A, B, X] = s.here;
  const std::int64_t last = B.cols() - 1;
  if (!s.from_host) {
    Queue<Cuda> q(0);
    copy<T>(q, MatrixView<const T, Cuda>(s.there.X.columns(last, 1)), X.columns(last, 1));
    q.finish();
  }
  const double error = baseline_solvers::backward_error<T>({A, B.columns(last, 1), X.columns(last, 1)});
  const double scaled = error / (unit_roundoff_of(precision_of<T>) * double(A.rows()));
  require(scaled < hpl_threshold, (name + ": the solution is not accurate").c_str());
}

/// The seconds of one call, of so many, or, of 0, as many as a turn takes.
static double seconds_of(const std::function<void()>& call, std::int64_t calls) {
  const Stopwatch turn;
  std::int64_t made = 0;
  do {
    call();
    ++made;
  } while (calls > 0 ? made < calls : turn.seconds() < least_seconds_of_a_turn);
  return turn.seconds() / double(made);
}

template <class T>
static void compete(const WholeCalls& wanted, Method method, std::int64_t n, Json& results) {
  const Matrix<T> A = matrix_for<T>(method, n);
  const Matrix<T, Cuda> dA = on_device<T>(A);
  std::vector<WholeCall<T>> all{
      {fmt::format("lasolve {}, bare", wanted.backend), ours<T>(bare(method, wanted.backend))},
      {"lasolve, defaults", ours<T>(on_cuda())}};
  for (const bool bounds : {false, true})
    if (wanted.accuracy > 0)
      all.push_back({fmt::format("lasolve, {:.0e}{}", wanted.accuracy, bounds ? ", bounds" : ""),
                     ours<T>(accurate(method, wanted.accuracy, bounds))});
  for (const auto* library : baseline_solvers_on(Device::cuda)) all.push_back({library->title, call_of<T>(*library)});
  for (const std::int64_t nrhs : wanted.rhs) {
    const Matrix<T> B = random_rhs<T>(n, nrhs);
    const Matrix<T, Cuda> dB = on_device<T>(B);
    Matrix<T, Cuda> dX(n, nrhs);
    Matrix<T> X(n, nrhs);
    const auto spoil = [&] {  // no solution of the one before is left
      Queue<Cuda> q(0);
      std::fill_n(X.data(), X.ld() * nrhs, std::numeric_limits<T>::quiet_NaN());
      copy<T>(q, std::as_const(X).view(), dX.view());
      q.finish();
    };
    const System<T> system{method, {dA, dB, dX}, {A, B, X}, wanted.from_host, wanted.is_factored};
    std::vector<std::function<void()>> calls;
    for (const auto& one : all) {
      spoil();
      calls.push_back(one.begin(system));
      calls.back()();
      require_right<T>(one.name, system);
    }
    const Turns turns{1, wanted.rounds, {0, 0.1}};
    const std::int64_t each = wanted.calls > 0 ? std::max<std::int64_t>(1, wanted.calls / wanted.rounds) : 0;
    const auto seconds =
        time_in_turns(turns, all.size(), [&](std::size_t c, bool) { return seconds_of(calls[c], each); });
    const double scale = each > 0 ? 1e6 : 1e3;
    const double first = spread_of(seconds[0]).median;
    for (std::size_t c = 0; c < all.size(); ++c) {
      const auto [least, median, most] = spread_of(seconds[c]);
      fmt::print("{:>7} {:<9}{:<5} {:>4} rhs  {:<24}{:>11.4f} {}   {:>10.4f} to {:>10.4f}  ratio {:.2f}\n", n,
                 name_of(method), name_of(precision_of<T>), nrhs, all[c].name, scale * median, each > 0 ? "µs" : "ms",
                 scale * least, scale * most, median / first);
      results.push_back({{"n", n},
                         {"nrhs", nrhs},
                         {"method", name_of(method)},
                         {"precision", name_of(precision_of<T>)},
                         {"name", all[c].name},
                         {"seconds", seconds[c]},
                         {"median_seconds", median},
                         {"ratio", median / first}});
    }
    std::cout << std::flush;
  }
}

template <class T>
void whole_calls(const WholeCalls& wanted, Json& results) {
  for (const Method method : wanted.methods)
    for (const std::int64_t n : wanted.sizes) compete<T>(wanted, method, n, results);
}

template void whole_calls<double>(const WholeCalls&, Json&);
template void whole_calls<float>(const WholeCalls&, Json&);

}  // namespace lasolve::bench
