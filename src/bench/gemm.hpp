// GEMM backends, verified, and then in turns on the same product.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/verify.hpp"
#include "core/current_device.hpp"

namespace lasolve::bench {

/// A backend that takes part, on its device.
struct Entrant {
  Choice choice;
  bool reference = false;  ///< what the others on its device are compared with
  /// A stranger's: its product is tried again after it was timed, in this process.
  bool is_plugin = false;

  std::string name() const;
  bool on_cuda() const { return choice.backend.index() == 1; }
};

struct Settings {
  int repeat = 5, warmup = 1, threads = 0;
  /// A backend that has run for so long on one product is left out of further rounds.
  double enough_seconds = std::numeric_limits<double>::infinity();
  /// Time on a device is from data on the host to the result on the host: allocation, copies and free count.
  bool with_copies = false;
  /// How a backend is verified. None: in this process, which a crash ends.
  std::function<std::vector<Verdict>(const Task&)> verify = {};
  AfterCall after_call = {};  ///< where plugin kernels are tried again
  /// Backends that are out, each with what they did, such as "crashed": they are neither tried nor timed.
  std::map<std::string, std::string> lost = {};
  /// Called before each run of an entrant, at its end, and with what it did that no kernel may. May end the process.
  std::function<void(const Entrant&, const Product&)> begins = {};
  std::function<void()> ends = {};
  std::function<void(const Entrant&, const std::string& how)> spoilt = {};
  std::function<void(double)> progress = {};  ///< is called with the share of the runs of a product that is done
};

/// One backend on one product.
struct Result {
  std::string backend, device;
  Precision precision = Precision::fp64;
  Product product;
  std::optional<Fault> fault;   ///< what is wrong with the backend in this precision; it was not timed then
  std::optional<double> error;  ///< of the whole product, as a share of what the GEMM contract allows
  Grade grade;  ///< of its elements, over all products of the validation; that of a backend that is right
  int runs = 0;
  Spread seconds;
  std::optional<double> of_reference, of_floor;  ///< shares of a rate: reference seconds / seconds, floor / seconds

  bool on_cuda() const {
    const auto where = parse_device(device);
    return where && where->kind == Device::cuda;
  }
  double gflops() const { return seconds.median > 0 ? product.flops() * 1e-9 / seconds.median : 0; }
};

/// Of a sweep over n that was measured on both devices.
struct Crossover {
  std::string shape;
  std::int64_t k = 0;  ///< of trailing; 0 where it is n
  Precision precision = Precision::fp64;
  /// The least n from which on the fastest backend on CUDA is always ahead of the fastest on the CPU; nothing when it is
  /// not at the largest n.
  std::optional<std::int64_t> from;
};
std::vector<Crossover> crossovers(const std::vector<Result>&);

class GemmBench {
 public:
  /// All entrants on CUDA are on the same device. Throws std::invalid_argument when two on a device have the same name.
  GemmBench(std::vector<Entrant>, const Settings&);

  /// Tries all entrants with the conformance list and with these products, in those of the precisions that they offer, before
  /// this process takes memory of a device. `on_entrant` is called with each verdict as it is made.
  using OnEntrant = std::function<void(const Entrant&, Precision, const Verdict&)>;
  void verify(const std::vector<Product>&, const std::vector<Precision>&, const OnEntrant& on_entrant = {});

  /// Those entrants that offer the precision, one run of each in each round, but for those that are wrong. The shares are of
  /// the reference on the same device, and on CUDA of the floor. Throws std::invalid_argument when the product was not verified.
  std::vector<Result> run(const Product&, Precision);

  int threads() const { return host_.threads(); }
  /// As measured on the CUDA device at first use: the reference's rate at a large square product, and the rate of a copy,
  /// reads and writes counted. Nothing without CUDA, or where the
  /// reference is wrong.
  std::optional<Roof> roof(Precision);

 private:
  template <Precision P>
  std::vector<Result> run_as(const Product&);
  template <Precision P>
  Roof measure_roof(const Entrant& reference);
  Result verified(const Entrant&, const Product&, Precision) const;
  Queue<Cuda>& device(int index);

  std::vector<Entrant> entrants_;
  Settings settings_;
  Queue<Cpu> host_;
  std::optional<Queue<Cuda>> device_;
  std::optional<CurrentDevice> current_;  // that of the queue
  std::vector<Product> verified_;
  std::map<std::pair<std::string, Precision>, Verdict> verdicts_;  // by id_of(entrant)
  std::map<Precision, std::optional<Roof>> roofs_;
};

}  // namespace lasolve::bench
