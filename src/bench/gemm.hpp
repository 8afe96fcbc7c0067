// GEMM backends in turns on the same product: verified, then timed.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/product.hpp"
#include "core/choose.hpp"

namespace lasolve::bench {

/// A backend that takes part, at its place.
struct Entrant {
  Choice choice;
  bool reference = false;  ///< what the others at its place are compared with

  std::string name() const;
  bool on_cuda() const { return choice.backend.index() == 1; }
};

struct Settings {
  int repeat = 5, warmup = 1, threads = 0;
  /// A backend that has run for so long on one product is left out of further rounds.
  double enough_seconds = std::numeric_limits<double>::infinity();
  /// Time on a device is from data on the host to the result on the host: allocation, copies and free count.
  bool with_copies = false;
};

/// One backend on one product.
struct Result {
  std::string backend, device;
  Precision precision = Precision::fp64;
  Product product;
  std::string fault;            ///< why it is wrong; it was not timed then
  std::optional<double> error;  ///< of the whole product, as a share of what the GEMM contract allows
  int runs = 0;
  Spread seconds;
  std::optional<double> of_reference, of_floor;  ///< shares of a rate: reference seconds / seconds, floor / seconds

  double gflops() const { return seconds.median > 0 ? product.flops() * 1e-9 / seconds.median : 0; }
};

class GemmBench {
 public:
  /// All entrants on CUDA are on the same device.
  GemmBench(std::vector<Entrant>, const Settings&);

  /// Those entrants that offer the precision, one run of each in each round. The shares are of the reference at the same
  /// place, and on CUDA of the floor.
  std::vector<Result> run(const Product&, Precision);

  int threads() const { return host_.threads(); }
  /// As measured on the CUDA device at first use: the reference's rate at a large square product, and the rate of a copy,
  /// reads and writes counted. Nothing without CUDA.
  std::optional<Roof> roof(Precision);

 private:
  template <Precision P>
  std::vector<Result> run_as(const Product&);
  template <Precision P>
  Roof measure_roof();

  std::vector<Entrant> entrants_;
  Settings settings_;
  Queue<Cpu> host_;
  std::optional<Queue<Cuda>> device_;
  std::map<std::string, std::string> small_faults_;  // by device, backend and precision
  std::map<Precision, Roof> roofs_;
};

}  // namespace lasolve::bench
