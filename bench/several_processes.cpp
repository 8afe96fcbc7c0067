// A system that several processes solve by an engine, beside a direct call of ScaLAPACK's pdgesv, in turns.
//
//   mpirun -n 2 several_processes [--n 8000] [--block-size 64] [--rounds 5]
//
// Both solve the same system on the same grid, in the same blocks, one right-hand side. Wall times of rank 0, from where all ranks are
// ready to where all are done: pdgesv, which overwrites a copy that is made before; ours without reading and checking, as in its
// report, which makes that copy itself; and ours with the check and the estimate of the condition.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "core/cpu/limits.hpp"
#include "core/shared_library.hpp"
#include "core/stopwatch.hpp"
#include "engines/load.hpp"
#include "engines/solve.hpp"
#include "io/generators.hpp"

namespace lasolve::bench {
namespace {

using engines::Distributed;

/// Of libraries that the engine's module has loaded.
template <class Function>
Function of_scalapack(const char* name) {
  return function_of<Function>(RTLD_DEFAULT, "what was loaded", name);
}

std::array<int, 9> descriptor(int context, const BlockCyclic& layout, std::int64_t ld) {
  return {1,
          context,
          int(layout.rows.length),
          int(layout.cols.length),
          int(layout.rows.block),
          int(layout.cols.block),
          0,
          0,
          int(std::max<std::int64_t>(1, ld))};
}

class Contest {
 public:
  Contest(engines::Engine& engine, std::int64_t n, std::int64_t block)
      : engine_(engine),
        layout_(layout_of(engine.ranks(), n, n, block)),
        kept_(layout_),
        copy_(layout_),
        B_(layout_of(engine.ranks(), n, 1, block)),
        X_(B_.layout()) {
    Queue<Cpu> q(1);
    const io::Generator generator(fmt::format("uniform:n={}", n));
    layout_.for_each_block([&](auto i, auto j, auto m, auto k, auto at_i, auto at_j) {
      io::generate(q, generator, kept_.local().block(at_i, at_j, m, k), j, i);
    });
    std::fill_n(B_.local().data(), B_.local().rows() * B_.local().cols(), 1.0);
    const engines::Ranks ranks = engine.ranks();
    of_scalapack<void (*)(int, int, int*)>("Cblacs_get")(-1, 0, &context_);
    of_scalapack<void (*)(int*, const char*, int, int)>("Cblacs_gridinit")(&context_, "Row", ranks.grid_rows,
                                                                           ranks.grid_cols);
  }

  double directly() {
    copy_on_host<double>(std::as_const(kept_).local(), copy_.local());
    copy_on_host<double>(std::as_const(B_).local(), X_.local());
    const int n = int(copy_.rows()), one = 1;
    int info = 0;
    std::vector<int> pivots(std::size_t(layout_.rows.count() + layout_.rows.block));
    const auto of_A = descriptor(context_, layout_, copy_.local().ld());
    const auto of_X = descriptor(context_, X_.layout(), X_.local().ld());
    using Pdgesv = void (*)(const int*, const int*, double*, const int*, const int*, const int*, int*, double*,
                            const int*, const int*, const int*, int*);
    meet();
    const Stopwatch watch;
    of_scalapack<Pdgesv>("pdgesv_")(&n, &one, copy_.local().data(), &one, &one, of_A.data(), pivots.data(),
                                    X_.local().data(), &one, &one, of_X.data(), &info);
    meet();
    require(info == 0, "pdgesv failed");
    return watch.seconds();
  }

  /// Without reading and checking, and with.
  std::array<double, 2> by_engine() {
    if (!A_) A_.emplace(layout_, kept_as_matrix());
    meet();
    const Stopwatch watch;
    const Report report = engines::solve({engine_, *A_, Op::none, &B_, {.threads = 1, .condition = true}}, X_);
    meet();
    require(report.outcome.ok(), "the engine's answer is wrong");
    return {report.total_seconds, watch.seconds()};
  }

 private:
  Matrix<double> kept_as_matrix() const {
    Matrix<double> A(layout_.rows.count(), layout_.cols.count());
    copy_on_host<double>(kept_.local(), A.view());
    return A;
  }
  void meet() {
    double nothing = 0;
    engine_.sum({&nothing, 1});
  }

  engines::Engine& engine_;
  BlockCyclic layout_;
  Distributed<double> kept_, copy_, B_, X_;
  std::optional<engines::PartOfA> A_;
  int context_ = -1;
};

void print(const char* name, std::vector<double> seconds, double flops, double least_of_first) {
  std::sort(seconds.begin(), seconds.end());
  fmt::print("{:<34}{:>10.3f}{:>10.3f}{:>12.1f}{:>10.3f}\n", name, seconds.front(), seconds[seconds.size() / 2],
             flops * 1e-9 / seconds.front(), seconds.front() / least_of_first);
}

int run(int argc, char** argv) {
  namespace po = boost::program_options;
  std::int64_t n = 8000, block = 64;
  int rounds = 5;
  po::options_description options;
  options.add_options()("n", po::value(&n))("block-size", po::value(&block))("rounds", po::value(&rounds));
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  po::notify(given);
  const std::unique_ptr<engines::Engine> engine = engines::load("scalapack");
  engine->use_threads(std::max(1, usable_processors() / engine->ranks().on_this_machine));
  Contest contest(*engine, n, block);
  std::vector<double> direct, ours, checked;
  for (int round = 0; round < rounds; ++round) {
    const auto take_ours = [&] {
      const auto [without, with] = contest.by_engine();
      ours.push_back(without), checked.push_back(with);
    };
    if (round % 2 == 0) take_ours();
    direct.push_back(contest.directly());
    if (round % 2 == 1) take_ours();
  }
  if (engine->ranks().rank != 0) return 0;
  const double flops = 2.0 / 3.0 * double(n) * double(n) * double(n),
               first = *std::min_element(direct.begin(), direct.end());
  fmt::print("{}, n = {}, {} ranks, blocks of {}, {} rounds\n", engine->version(), n, engine->ranks().count, block,
             rounds);
  fmt::print("{:<34}{:>10}{:>10}{:>12}{:>10}\n", "", "least s", "median s", "GFLOP/s", "ratio");
  print("pdgesv", direct, flops, first);
  print("ours, without reading and checking", ours, flops, first);
  print("ours, checked, with condition", checked, flops, first);
  return 0;
}

}  // namespace
}  // namespace lasolve::bench

int main(int argc, char** argv) {
  try {
    return lasolve::bench::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "several_processes: {}\n", e.what());
    return 1;
  }
}
