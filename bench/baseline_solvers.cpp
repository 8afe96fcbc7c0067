// Whole factorizations against the libraries that people would call instead: in turns, in one process, medians.
//
//   baseline_solvers [--device cpu|cuda] [--n 1024,4096] [--method lu,cholesky] [--precision fp64,fp32] [--gemm NAMES|all]
//         [--tune NAME=VALUE] [--rounds 5] [--json FILE]
//   baseline_solvers --whole-call [--from-host] [--n 64,256] [--nrhs 1,100] [--method …] [--precision …] [--gemm NAME] [--rounds 5] [--json FILE]
//
// The ratio of a baseline solver is its median time over ours with the first backend named: above 1, we are faster. The products of that
// backend alone run beside them: their ratio is the share of their rate that the whole factorization reaches. With --tune that
// backend runs once more, with a value of its tuning changed.
//
// With --whole-call: factors and solution from device memory to device memory, or with --from-host from pageable memory of the host
// and back, by the wall clock, ours bare (method and backend
// named, nothing checked) and with the library's defaults, beside cuSOLVER with its handle and workspace made beforehand.
#include "bench/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/baseline_solvers_on.hpp"
#include "bench/product.hpp"
#include "bench/products_alone.hpp"
#include "bench/turns.hpp"
#include "bench/whole_call.hpp"
#include "core/transfer.hpp"
#include "io/generators.hpp"
#include "lasolve/names.hpp"
#include "solvers/decomposition.hpp"
#include "solvers/method.hpp"

namespace lasolve::bench {

using Json = nlohmann::ordered_json;

/// One way to factor a matrix. It is given A untouched, factors a copy of it that was made before the clock started, and returns the
/// seconds of the factorization alone.
template <class T>
struct Contestant {
  std::string name;
  std::function<double(MatrixView<const T, Cpu> A, Method)> on_host;
  std::function<double(MatrixView<const T, Cuda> A, Method)> on_device;
};

static Options with(const std::string& backend, bool cuda) {
  Options options;
  options.gemm = backend;
  options.device.kind = cuda ? Device::cuda : Device::cpu;
  return options;
}

static double flops_of(Method method, std::int64_t n) { return record_of(method).flops(double(n)); }

/// `run` on the host and on a device.
template <class T, class Run>
static Contestant<T> on_both(const std::string& name, Run run) {
  return {name, [=](MatrixView<const T, Cpu> A, Method m) { return run(A, m); },
          [=](MatrixView<const T, Cuda> A, Method m) { return run(A, m); }};
}

/// Whether the solution is right is checked as in the HPL benchmark. `last` is told what was done.
template <class T>
static Contestant<T> ours(const std::string& name, Options options, std::shared_ptr<Report> last) {
  return on_both<T>("lasolve " + name, [=]<class Space>(MatrixView<const T, Space> A, Method method) {
    Options by_method = options;
    by_method.factorization = method;
    Factorization<T> factors(A, by_method);
    require(factors.report().outcome.ok(), "the matrix could not be factored");
    Matrix<T, Space> X(A.rows(), 1);
    require(factors.solve(A.columns(0, 1), X).hpl_residual < hpl_threshold, "the solution is not accurate");
    *last = factors.report();
    return last->factor_seconds;
  });
}

template <class T>
static Contestant<T> products_of(const std::string& backend, bool cuda, std::shared_ptr<Report> last) {
  return on_both<T>("products of " + backend + " alone", [=](auto A, Method method) {
    return products_alone(with(backend, cuda), *last, A, flops_of(method, A.rows()));
  });
}

template <class T>
static Contestant<T> of(const baseline_solvers::Library& library) {
  return on_both<T>(library.title, [&library]<class Space>(MatrixView<const T, Space> A, Method method) {
    return baseline_solvers::solve<T, Space>(library, {A, {}, {}}, method).factor;
  });
}

/// Of ours, all that run there, the one that is used when none is named before the others.
template <class T>
static std::vector<std::string> all_of_ours(bool cuda) {
  const Options automatic = with("auto", cuda);
  const std::string first = std::visit([](const auto* b) { return std::string(b->name); }, choose(automatic).backend);
  std::vector<std::string> names = runnable_backends(automatic.device, precision_of<T>);
  std::stable_partition(names.begin(), names.end(), [&](const auto& name) { return name == first; });
  return names;
}

/// All contestants on one matrix, in turns. The first round, which is not counted, goes forwards: the products alone are those
/// of the run before.
template <class T>
static void compete(std::int64_t n, Method method, const std::vector<Contestant<T>>& all, bool cuda, int rounds,
                    Json& results) {
  const io::Generator generator(fmt::format("{}:n={},seed=1", record_of(method).example, n));
  Queue<Cpu> q;
  Matrix<double> made(n, n);
  io::generate(q, generator, made);
  Matrix<T> A(n, n);
  as_eigen(A.view()) = as_eigen(made.view()).template cast<T>();
  made = {};
  Matrix<T, Cuda> dA;
  if (cuda) {
    Queue<Cuda> transfer(0);
    dA = Matrix<T, Cuda>(n, n);
    copy<T>(transfer, A, dA);
    transfer.finish();
  }
  // After a short run a device is not hot, and a pause would only let its host cool.
  const Turns turns{1, rounds, {cuda ? 0 : 0.1, 0.1}};
  const auto seconds = time_in_turns(turns, all.size(), [&](std::size_t c, bool) {
    return cuda ? all[c].on_device(dA, method) : all[c].on_host(A, method);
  });
  const double flops = flops_of(method, n), first = spread_of(seconds[0]).median;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const auto [least, median, most] = spread_of(seconds[c]);
    fmt::print("{:>7} {:<9}{:<5} {:<28}{:>11.3f} ms {:>9.1f} GFLOP/s   {:>9.3f} to {:>9.3f}  ratio {:.2f}\n", n,
               name_of(method), name_of(precision_of<T>), all[c].name, 1e3 * median, flops * 1e-9 / median, 1e3 * least,
               1e3 * most, median / first);
    results.push_back({{"n", n},
                       {"method", name_of(method)},
                       {"precision", name_of(precision_of<T>)},
                       {"name", all[c].name},
                       {"seconds", seconds[c]},
                       {"median_seconds", median},
                       {"gflops", flops * 1e-9 / median},
                       {"ratio", median / first}});
  }
  std::cout << std::flush;
}

/// `options` with one value changed. Throws std::invalid_argument for what is no NAME=VALUE.
static Options tuned(Options options, const std::string& change) {
  const auto equals = change.find('=');
  if (equals == std::string::npos) throw std::invalid_argument(fmt::format("'{}' is no NAME=VALUE", change));
  options.tuning = tuning_of(options.device);
  tune(*options.tuning, change.substr(0, equals), std::stoll(change.substr(equals + 1)));
  return options;
}

template <class T>
static void compete_all(const std::string& sizes, const std::string& methods, const std::string& backends,
                        const std::string& change, bool cuda, int rounds, Json& results) {
  const auto names = backends == "all" ? all_of_ours<T>(cuda) : words(backends);
  const auto first = std::make_shared<Report>(), other = std::make_shared<Report>();
  std::vector<Contestant<T>> all;
  for (const auto& backend : names)
    all.push_back(ours<T>(backend, with(backend, cuda), &backend == &names[0] ? first : other));
  if (!change.empty()) all.push_back(ours<T>(change, tuned(with(names[0], cuda), change), other));
  all.push_back(products_of<T>(names[0], cuda, first));
  for (const auto* library : baseline_solvers_on(cuda ? Device::cuda : Device::cpu)) all.push_back(of<T>(*library));
  for (const auto& method : words(methods))
    for (const auto& n : words(sizes)) compete<T>(std::stoll(n), named<Method>(method), all, cuda, rounds, results);
}

/// whole_calls of each element type that is named.
static Json whole_calls_of(const std::string& precisions, const std::string& methods, WholeCalls wanted) {
  for (const auto& method : words(methods)) wanted.methods.push_back(named<Method>(method));
  Json results = Json::array();
  for (const auto& precision : words(precisions)) {
    const Precision type = named<Precision>(precision);
    require(type == Precision::fp64 || type == Precision::fp32,
            (precision + " is no element type of a matrix").c_str());
    type == Precision::fp64 ? whole_calls<double>(wanted, results) : whole_calls<float>(wanted, results);
  }
  return results;
}

static int run(int argc, char** argv) {
  namespace po = boost::program_options;
  std::string device, sizes, rhs, methods, precisions, backends, change, json;
  int rounds = 0;
  double accuracy = 0;
  po::options_description known("baseline_solvers");
  known.add_options()("device", po::value(&device)->default_value("cpu"), "cpu or cuda")(
      "n", po::value(&sizes)->default_value("1024,2048,4096"), "sizes; default of whole calls: 64, 128, … 32768")(
      "whole-call", "factor and solve on a CUDA device, by the wall clock")(
      "from-host", "whole calls begin and end in pageable memory of the host")(
      "solve", "only the solve of whole calls: with factors that are on the device")(
      "accuracy", po::value(&accuracy)->default_value(0, "0"),
      "whole calls of ours to that backward error, too, as 1e-15: with bounds of the error, and without")(
      "nrhs", po::value(&rhs)->default_value("1,100"), "right-hand sides of whole calls")(
      "method", po::value(&methods)->default_value("lu,cholesky"), "lu, cholesky")(
      "precision", po::value(&precisions)->default_value("fp64"), "fp64, fp32")(
      "gemm", po::value(&backends)->default_value(""), "our backends, or all; default blas,eigen or cublas")(
      "tune", po::value(&change), "NAME=VALUE: the first backend with this beside it")(
      "rounds", po::value(&rounds)->default_value(5), "counted runs of each")("json", po::value(&json), "write JSON");
  return run_program("baseline_solvers", known, argc, argv, [&](const po::variables_map& values) {
    if (values.count("whole-call")) {
      if (values.count("from-host") && values.count("solve"))
        throw std::invalid_argument("--from-host and --solve do not go together");
      if (values["n"].defaulted()) sizes = "64,128,256,512,1024,2048,4096,8192,16384,32768";
      if (backends.empty()) backends = "cublas";
      const Json results = whole_calls_of(precisions, methods,
                                          {numbers(sizes),
                                           numbers(rhs),
                                           {},
                                           backends,
                                           rounds,
                                           values.count("from-host") > 0,
                                           values.count("solve") > 0,
                                           0,
                                           accuracy});
      if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";
      return;
    }
    const bool cuda = named<Device::Kind>(device) == Device::cuda;
    if (backends.empty()) backends = cuda ? "cublas" : "blas,eigen";
    Json results = Json::array();
    for (const auto& precision : words(precisions)) {
      switch (named<Precision>(precision)) {
        case Precision::fp64:
          compete_all<double>(sizes, methods, backends, change, cuda, rounds, results);
          break;
        case Precision::fp32:
          compete_all<float>(sizes, methods, backends, change, cuda, rounds, results);
          break;
        default:
          throw std::invalid_argument(precision + " is no element type of a matrix");
      }
    }
    if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";
  });
}

}  // namespace lasolve::bench

int main(int argc, char** argv) { return lasolve::bench::run(argc, argv); }
