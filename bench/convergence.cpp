// Who converges, in how many updates, and how far the answer is from the true one: systems of growing condition, each precision of factors
// beside each refinement, and LAPACK's dgesvx. No clock. The true solution is that of residuals in double-double, where these converge.
// Usage: convergence [--n 1000] [--kappas 1e1,1e2,…] [--generator randsvd] [--device cpu] [--json FILE]
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/expert.hpp"
#include "bench/program.hpp"
#include "io/generators.hpp"

namespace lasolve::bench {

namespace {

using Json = nlohmann::ordered_json;

struct System {
  Matrix<double> A, B;
  std::optional<Matrix<double>> truth;
};

/// ‖x − x*‖∞ / ‖x*‖∞.
Json forward_error(const System& system, const Matrix<double>& X) {
  if (!system.truth) return nullptr;
  double most = 0, difference = 0;
  for (std::int64_t i = 0; i < X.rows(); ++i) {
    const double x = (*system.truth)(i, 0);
    most = std::max(most, std::abs(x)), difference = std::max(difference, std::abs(x - X(i, 0)));
  }
  return difference / most;
}

template <class T>
Json or_null(const std::optional<T>& x) {
  return x ? Json(*x) : Json();
}

/// A backend that has the products.
std::string backend_for(Precision precision, Device::Kind device) {
  const bool coarse = bytes_of(precision) < 4 || precision == Precision::tf32;
  return !coarse ? "auto" : device == Device::cuda ? "tensor" : precision == Precision::tf32 ? "tiled" : "naive";
}

Options options_for(Device::Kind device, Precision precision, Refine refine) {
  Options o;
  o.device.kind = device, o.precision = precision, o.refine = refine;
  o.factorization = Method::lu, o.bounds = true;
  o.gemm = backend_for(precision, device);
  return o;
}

System made(const std::string& generator, Device::Kind device) {
  const io::Generator of(generator);
  Queue<Cpu> q(0);
  System system{Matrix<double>(of.n(), of.n()), Matrix<double>(of.n(), 1), {}};
  io::generate(q, of, system.A.view());
  const io::Formula right{.n = of.n(), .seed = 77};
  for (std::int64_t i = 0; i < of.n(); ++i) system.B(i, 0) = right.random(i, 0);
  Matrix<double> X(of.n(), 1);
  Options o = options_for(device, Precision::fp64, Refine::automatic);
  o.residual = Residual::extra;
  const Report report = solve(system.A.view(), system.B.view(), X.view(), o);
  const bool converged = std::none_of(report.notes.begin(), report.notes.end(),
                                      [](auto& note) { return note.find("refinement ended") != note.npos; });
  if (converged && report.outcome.has_solution() && report.outcome.kind != Outcome::not_converged)
    system.truth = std::move(X);
  return system;
}

Json solved(const System& system, double kappa, const Options& o) {
  Matrix<double> X(system.A.rows(), 1);
  const Report r = solve(system.A.view(), system.B.view(), X.view(), o);
  return {{"kappa", kappa},
          {"precision", name_of(o.precision)},
          {"refine", name_of(o.refine)},
          {"residual", name_of(o.residual)},
          {"outcome", r.outcome.name()},
          {"precision_used", name_of(r.precision)},
          {"refine_used", name_of(r.refine)},
          {"updates", r.refine_iterations},
          {"gmres_steps", r.gmres_steps},
          {"backward_error", or_null(r.backward_error)},
          {"componentwise_backward_error", or_null(r.componentwise_backward_error)},
          {"forward_error", forward_error(system, X)},
          {"forward_error_bound", or_null(r.forward_error_bound)},
          {"rcond", or_null(r.rcond)}};
}

Json by_expert(const System& system, double kappa) {
  try {
    const Expert its = solve_by_expert(system.A.view(), system.B.view());
    return {{"kappa", kappa},
            {"precision", "dgesvx"},
            {"forward_error", forward_error(system, its.X)},
            {"forward_error_bound", its.forward_error_bounds[0]},
            {"componentwise_backward_error", its.componentwise_backward_errors[0]},
            {"rcond", its.rcond}};
  } catch (const MachineError&) {
    return nullptr;
  }
}

void print(const Json& row) {
  const auto number = [&](const char* name) {
    return row.value(name, Json()).is_number() ? fmt::format("{:.1e}", row[name].get<double>()) : std::string("-");
  };
  const auto word = [&](const char* name) { return row.value(name, std::string("-")); };
  fmt::print("{:>8.0e}  {:<7} {:<10} {:<8} {:<20} {:<5} {:>3} {:>4}  {:>8} {:>8} {:>8}\n", row["kappa"].get<double>(),
             word("precision"), word("refine"), word("residual"), word("outcome"), word("precision_used"),
             row.value("updates", 0), row.value("gmres_steps", 0), number("backward_error"), number("forward_error"),
             number("forward_error_bound"));
}

}  // namespace

}  // namespace lasolve::bench

int main(int argc, char** argv) {
  using namespace lasolve;
  using namespace lasolve::bench;
  namespace po = boost::program_options;
  std::int64_t n = 1000;
  std::string kappas, generator, device, json;
  po::options_description known("convergence");
  known.add_options()("n", po::value(&n)->default_value(1000), "order of the systems")(
      "kappas",
      po::value(&kappas)->default_value("1e1,1e2,1e3,1e4,1e5,1e6,1e7,1e8,1e9,1e10,1e11,1e12,1e13,1e14,1e15,1e16"),
      "condition numbers")("generator", po::value(&generator)->default_value("randsvd"), "that takes n and kappa")(
      "device", po::value(&device)->default_value("cpu"), "cpu or cuda")("json", po::value(&json), "write JSON");
  return run_program("convergence", known, argc, argv, [&](const auto&) {
    const auto where = named<Device::Kind>(device);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    fmt::print("{:>8}  {:<7} {:<10} {:<8} {:<20} {:<5} {:>3} {:>4}  {:>8} {:>8} {:>8}\n", "kappa", "factors", "refine",
               "residual", "outcome", "used", "it", "step", "backward", "forward", "bound");
    for (const std::string& kappa : words(kappas)) {
      const auto system = made(fmt::format("{}:n={},kappa={}", generator, n, kappa), where);
      const auto add = [&](nlohmann::ordered_json row) {
        if (row.is_null()) return;
        print(row), rows.push_back(std::move(row));
      };
      for (const SolvePrecision& precision : solve_precisions)
        for (const Refine refine : {Refine::none, Refine::classical, Refine::gmres, Refine::automatic}) {
          Options o = options_for(where, precision.name, refine);
          add(solved(system, std::stod(kappa), o));
          o.residual = Residual::extra;
          if (refine == Refine::automatic) add(solved(system, std::stod(kappa), o));
        }
      add(by_expert(system, std::stod(kappa)));
    }
    if (json.empty()) return;
    std::ofstream out(json);  // a row a line
    out << fmt::format(R"({{"generator": "{}", "n": {}, "device": "{}", "rows": [)", generator, n, device) << "\n";
    for (std::size_t k = 0; k < rows.size(); ++k) out << rows[k].dump() << (k + 1 < rows.size() ? ",\n" : "\n]}\n");
  });
}
