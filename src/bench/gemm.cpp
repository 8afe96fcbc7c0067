#include "bench/gemm.hpp"

#include <fmt/format.h>

#include "bench/oracle.hpp"
#include "core/stopwatch.hpp"
#include "core/traffic.hpp"
#include "core/transfer.hpp"

namespace lasolve::bench {

namespace {

template <class T>
constexpr const char* type_name = std::is_same_v<T, double> ? "fp64" : "fp32";

template <class T, class Place>
double unit_roundoff(const GemmBackend<Place>& backend) {
  return backend.template in<precision_of<T>>().unit_roundoff;
}

template <class T>
void move(Queue<Cpu>&, MatrixView<const T> from, MatrixView<T> to) {
  for (std::int64_t j = 0; j < from.cols(); ++j) std::copy_n(&from(0, j), from.rows(), &to(0, j));
}
template <class T, class From, class To>
void move(Queue<Cuda>& q, MatrixView<const T, From> from, MatrixView<T, To> to) {
  copy<T>(q, from, to);
}

/// The operands of a product at a place.
template <class T, class Place>
struct Operands {
  Matrix<T, Place> A, B, C;

  explicit Operands(const Product& p) : A(p.m, p.k), B(p.k, p.n), C(p.m, p.n) {}
  Operands(Queue<Place>& q, const Inputs<T>& in) : Operands(in.p) {
    move<T>(q, in.A.view(), A.view());
    move<T>(q, in.B.view(), B.view());
    move<T>(q, in.C.view(), C.view());
    q.finish();
  }
  void multiply(Queue<Place>& q, const GemmBackend<Place>& backend, const Product& p) {
    backend(q, T(p.alpha), A.view(), B.view(), T(p.beta), C.view());
  }
};

template <class T, class Place>
Matrix<T> result(Queue<Place>& q, const GemmBackend<Place>& backend, const Inputs<T>& in) {
  Operands<T, Place> there(q, in);
  there.multiply(q, backend, in.p);
  Matrix<T> C(in.p.m, in.p.n);
  move<T>(q, std::as_const(there.C).view(), C.view());
  q.finish();
  return C;
}

/// What is wrong with small products, each element checked: some that fit tiles and some that do not, then integers, whose
/// products are exact. Empty: nothing.
template <class T, class Place>
std::string fault_at_small_sizes(Queue<Place>& q, const GemmBackend<Place>& backend) {
  const Queue<Cpu> host;
  for (const Product& p :
       {Product{"", 67, 45, 129, -1, 1}, Product{"", 128, 128, 64, -1, 1}, Product{"", 33, 70, 31}}) {
    const Inputs<T> in(host, p, Values::uniform);
    const double error = full_error<T>(in, result<T>(q, backend, in), unit_roundoff<T>(backend));
    if (!(error <= 1)) return fmt::format("{} x {} x {} is off by {:.3g} times what is allowed", p.m, p.n, p.k, error);
    const Inputs<T> integers(host, p, Values::integers);
    if (const auto wrong = differences<T>(integers, result<T>(q, backend, integers)))
      return fmt::format("{} x {} x {} of small integers: {} elements are not exact", p.m, p.n, p.k, wrong);
  }
  return "";
}

/// What runs before a product, so that it finds no operand in a cache. On the host they stay where they are.
class Flush {
 public:
  void operator()(Queue<Cpu>&) {}
  void operator()(Queue<Cuda>& q) {
    constexpr std::int64_t more_than_any_cache = 256 << 20;
    if (memory_.rows() == 0) memory_ = Matrix<char, Cuda>(more_than_any_cache, 1);
    q.phase(Phase::other);
    fill_zero(q, memory_.data(), memory_.bytes());
  }

 private:
  Matrix<char, Cuda> memory_;
};

/// Seconds of one product whose operands are in place. On a device they are taken there, behind the flush, so that what
/// a launch costs the host is not counted.
template <class T, class Place>
double seconds_in_place(Queue<Place>& q, Flush& flush, const GemmBackend<Place>& backend, const Product& p,
                        Operands<T, Place>& there) {
  q.finish();
  q.take_times();
  flush(q);
  q.phase(Phase::gemm, p.flops());
  there.multiply(q, backend, p);
  q.finish();
  return q.take_times().seconds_of(Phase::gemm);
}

/// Seconds of one product from the host's memory to the host's memory. C there is overwritten.
template <class T>
double seconds_with_copies(Queue<Cuda>& q, const GemmBackend<Cuda>& backend, Inputs<T>& in, Matrix<T>& C) {
  q.finish();
  Stopwatch watch;
  {
    Operands<T, Cuda> there(in.p);
    move<T>(q, std::as_const(in.A).view(), there.A.view());
    move<T>(q, std::as_const(in.B).view(), there.B.view());
    if (in.p.beta != 0) move<T>(q, std::as_const(in.C).view(), there.C.view());
    there.multiply(q, backend, in.p);
    move<T>(q, std::as_const(there.C).view(), C.view());
    q.finish();
  }
  return watch.seconds();
}

/// The product at one place, for all entrants there.
template <class T, class Place>
struct Stage {
  Queue<Place>& q;
  Flush& flush;
  Inputs<T>& in;
  const Projection<T>& expected;
  Matrix<T>& C;  // on the host
  bool with_copies;
  Operands<T, Place> there{q, in};

  double error(const GemmBackend<Place>& backend) {
    move<T>(q, std::as_const(in.C).view(), there.C.view());
    there.multiply(q, backend, in.p);
    move<T>(q, std::as_const(there.C).view(), C.view());
    q.finish();
    return expected.error(C.view(), unit_roundoff<T>(backend));
  }
  double seconds(const GemmBackend<Place>& backend) {
    if constexpr (std::is_same_v<Place, Cuda>)
      if (with_copies) return seconds_with_copies<T>(q, backend, in, C);
    return seconds_in_place<T>(q, flush, backend, in.p, there);
  }
};

/// One product at every place where an entrant needs it.
template <class T>
class Contest {
 public:
  Contest(Queue<Cpu>& host, std::optional<Queue<Cuda>>& device, const Product& p, bool with_copies)
      : host_(host),
        device_(device),
        with_copies_(with_copies),
        in_(host, p, Values::uniform),
        expected_(host, in_),
        C_(p.m, p.n) {}

  /// f(backend, stage) at the place of an entrant.
  template <class F>
  auto at_place(const Entrant& e, F f) {
    if (!e.on_cuda()) return f(*std::get<const GemmBackend<Cpu>*>(e.choice.backend), stage(host_, on_host_));
    return f(*std::get<const GemmBackend<Cuda>*>(e.choice.backend), stage(*device_, on_device_));
  }

 private:
  template <class Place>
  Stage<T, Place>& stage(Queue<Place>& q, std::optional<Stage<T, Place>>& made) {
    if (!made) made.emplace(Stage<T, Place>{q, flush_, in_, expected_, C_, with_copies_});
    return *made;
  }

  Queue<Cpu>& host_;
  std::optional<Queue<Cuda>>& device_;
  bool with_copies_;
  Inputs<T> in_;
  Projection<T> expected_;
  Matrix<T> C_;
  Flush flush_;
  std::optional<Stage<T, Cpu>> on_host_;
  std::optional<Stage<T, Cuda>> on_device_;
};

template <class T>
bool offers(const Entrant& e) {
  return std::visit([](const auto* backend) { return bool(backend->template in<precision_of<T>>()); },
                    e.choice.backend);
}

/// Warm-up rounds and timed rounds, one run of each that is right in each.
template <class T>
void time_in_turns(Contest<T>& contest, const std::vector<Entrant>& entrants, const Settings& settings,
                   std::vector<Result>& results) {
  std::vector<std::vector<double>> seconds(results.size());
  for (int round = -settings.warmup; round < settings.repeat; ++round)
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].fault.empty()) continue;
      const double s =
          contest.at_place(entrants[i], [](const auto& backend, auto& stage) { return stage.seconds(backend); });
      if (round >= 0) seconds[i].push_back(s);
    }
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].runs = int(seconds[i].size());
    results[i].seconds = spread_of(seconds[i]);
  }
}

/// Of the reference at the same place, and of the floor on a device.
void add_shares(const std::vector<Entrant>& entrants, const std::optional<Roof>& roof, std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    Result& r = results[i];
    if (r.runs == 0) continue;
    for (std::size_t j = 0; j < results.size(); ++j)
      if (entrants[j].reference && results[j].device == r.device && results[j].runs > 0)
        r.of_reference = results[j].seconds.median / r.seconds.median;
    const std::size_t element = r.precision == Precision::fp32 ? sizeof(float) : sizeof(double);
    if (roof && entrants[i].on_cuda()) r.of_floor = roof->floor_seconds(r.product, element) / r.seconds.median;
  }
}

}  // namespace

std::string Entrant::name() const {
  return std::visit([](const auto* backend) { return std::string(backend->name); }, choice.backend);
}

GemmBench::GemmBench(std::vector<Entrant> entrants, const Settings& settings)
    : entrants_(std::move(entrants)), settings_(settings), host_(settings.threads) {
  for (const Entrant& e : entrants_)
    if (e.on_cuda() && !device_) device_.emplace(e.choice.cuda_device);
}

std::vector<Result> GemmBench::run(const Product& p, Precision precision) {
  return precision == Precision::fp32 ? run_as<float>(p, precision) : run_as<double>(p, precision);
}

template <class T>
std::vector<Result> GemmBench::run_as(const Product& p, Precision precision) {
  // Before the operands take memory; with copies, the memory of a device is not what binds.
  const std::optional<Roof> top = settings_.with_copies ? std::nullopt : roof(precision);
  Contest<T> contest(host_, device_, p, settings_.with_copies);
  std::vector<Entrant> entrants;
  std::vector<Result> results;
  for (const Entrant& e : entrants_) {
    if (!offers<T>(e)) continue;
    Result r;
    r.backend = e.name(), r.device = e.choice.device(), r.precision = precision, r.product = p;
    contest.at_place(e, [&](const auto& backend, auto& stage) {
      const auto [small, is_new] = small_faults_.try_emplace(r.device + " " + r.backend + " " + type_name<T>);
      if (is_new) small->second = fault_at_small_sizes<T>(stage.q, backend);
      r.fault = small->second;
      if (!r.fault.empty()) return;
      r.error = stage.error(backend);
      if (!(*r.error <= 1)) r.fault = fmt::format("the product is off by {:.3g} times what is allowed", *r.error);
    });
    entrants.push_back(e);
    results.push_back(std::move(r));
  }
  time_in_turns(contest, entrants, settings_, results);
  add_shares(entrants, top, results);
  return results;
}

std::optional<Roof> GemmBench::roof(Precision precision) {
  if (!device_) return std::nullopt;
  const auto found = roofs_.find(precision);
  if (found != roofs_.end()) return found->second;
  const Roof measured = precision == Precision::fp32 ? measure_roof<float>() : measure_roof<double>();
  return roofs_[precision] = measured;
}

template <class T>
Roof GemmBench::measure_roof() {
  constexpr int runs = 5;
  Queue<Cuda>& q = *device_;
  const Product large = square(8192);
  std::vector<double> products, copies;
  Flush flush;
  for (const Entrant& e : entrants_) {
    if (!e.on_cuda() || !e.reference) continue;
    const auto& backend = *std::get<const GemmBackend<Cuda>*>(e.choice.backend);
    Operands<T, Cuda> there(q, Inputs<T>(host_, large, Values::uniform));
    for (int run = -1; run < runs; ++run) {
      const double s = seconds_in_place<T>(q, flush, backend, large, there);
      if (run >= 0) products.push_back(s);
    }
  }
  constexpr std::int64_t bytes = 1 << 30;
  Matrix<char, Cuda> from(bytes, 1), to(bytes, 1);
  fill_zero(q, from.data(), from.bytes());
  for (int run = -1; run < runs; ++run) {
    q.phase(Phase::other);
    copy_within(q, to.data(), from.data(), from.bytes());
    q.finish();
    const double s = q.take_times().seconds_of(Phase::other);
    if (run >= 0) copies.push_back(s);
  }
  return {large.flops() / spread_of(products).least, 2.0 * double(bytes) / spread_of(copies).least};
}

}  // namespace lasolve::bench
