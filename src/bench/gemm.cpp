#include "bench/gemm.hpp"

#include <fmt/format.h>

#include "bench/oracle.hpp"
#include "bench/turns.hpp"
#include "core/stopwatch.hpp"
#include "core/traffic.hpp"
#include "core/transfer.hpp"

namespace lasolve::bench {

namespace {

template <class T>
void move(Queue<Cpu>&, MatrixView<const T> from, MatrixView<T> to) {
  for (std::int64_t j = 0; j < from.cols(); ++j) std::copy_n(&from(0, j), from.rows(), &to(0, j));
}
template <class T, class From, class To>
void move(Queue<Cuda>& q, MatrixView<const T, From> from, MatrixView<T, To> to) {
  copy<T>(q, from, to);
}

/// The operands of a product at a place.
template <Precision P, class Place>
struct Operands {
  using In = typename Arithmetic<P>::Operand;
  using T = typename Arithmetic<P>::Result;
  Matrix<In, Place> A, B;
  Matrix<T, Place> C;

  explicit Operands(const Product& p) : A(p.m, p.k), B(p.k, p.n), C(p.m, p.n) {}
  Operands(Queue<Place>& q, const Inputs<P>& in) : Operands(in.p) {
    move<In>(q, in.A.view(), A.view());
    move<In>(q, in.B.view(), B.view());
    move<T>(q, in.C.view(), C.view());
    q.finish();
  }
  void multiply(Queue<Place>& q, const GemmKernel<P, Place>& kernel, const Product& p) {
    kernel(q, T(p.alpha), A.view(), B.view(), T(p.beta), C.view());
  }
};

template <Precision P, class Place, class T = typename Arithmetic<P>::Result>
Matrix<T> result(Queue<Place>& q, const GemmKernel<P, Place>& kernel, const Inputs<P>& in) {
  Operands<P, Place> there(q, in);
  there.multiply(q, kernel, in.p);
  Matrix<T> C(in.p.m, in.p.n);
  move<T>(q, std::as_const(there.C).view(), C.view());
  q.finish();
  return C;
}

/// What is wrong with small products, each element checked: some that fit tiles and some that do not, then integers, whose
/// products are exact. Empty: nothing.
template <Precision P, class Place>
std::string fault_at_small_sizes(Queue<Place>& q, const GemmKernel<P, Place>& kernel) {
  const Queue<Cpu> host;
  for (const Product& p :
       {Product{"", 67, 45, 129, -1, 1}, Product{"", 128, 128, 64, -1, 1}, Product{"", 33, 70, 31}}) {
    const Inputs<P> in(host, p, Values::uniform);
    const double error = full_error(in, result(q, kernel, in), kernel.unit_roundoff);
    if (!(error <= 1)) return fmt::format("{} x {} x {} is off by {:.3g} times what is allowed", p.m, p.n, p.k, error);
    const Inputs<P> integers(host, p, Values::integers);
    if (const auto wrong = differences(integers, result(q, kernel, integers)))
      return fmt::format("{} x {} x {} of small integers: {} elements are not exact", p.m, p.n, p.k, wrong);
  }
  return "";
}

/// What runs before a product, so that it finds no operand in a cache, and so long that the host is done with its launches: some
/// take 0.1 ms. On the host operands stay where they are.
class Flush {
 public:
  void operator()(Queue<Cpu>&) {}
  void operator()(Queue<Cuda>& q) {
    constexpr std::int64_t more_than_any_cache = 1 << 30;
    if (memory_.rows() == 0) memory_ = Matrix<char, Cuda>(more_than_any_cache, 1);
    q.phase(Phase::other);
    fill_zero(q, memory_.data(), memory_.bytes());
  }

 private:
  Matrix<char, Cuda> memory_;
};

/// Seconds of one product whose operands are in place. On a device they are taken there, behind the flush, so that what
/// a launch costs the host is not counted.
template <Precision P, class Place>
double seconds_in_place(Queue<Place>& q, Flush& flush, const GemmKernel<P, Place>& kernel, const Product& p,
                        Operands<P, Place>& there) {
  q.finish();
  q.take_times();
  flush(q);
  q.phase(Phase::gemm, p.flops());
  there.multiply(q, kernel, p);
  q.finish();
  return q.take_times().seconds_of(Phase::gemm);
}

/// Seconds of one product from the host's memory to the host's memory. C there is overwritten.
template <Precision P, class In = typename Arithmetic<P>::Operand, class T = typename Arithmetic<P>::Result>
double seconds_with_copies(Queue<Cuda>& q, const GemmKernel<P, Cuda>& kernel, Inputs<P>& in, Matrix<T>& C) {
  q.finish();
  Stopwatch watch;
  {
    Operands<P, Cuda> there(in.p);
    move<In>(q, std::as_const(in.A).view(), there.A.view());
    move<In>(q, std::as_const(in.B).view(), there.B.view());
    if (in.p.beta != 0) move<T>(q, std::as_const(in.C).view(), there.C.view());
    there.multiply(q, kernel, in.p);
    move<T>(q, std::as_const(there.C).view(), C.view());
    q.finish();
  }
  return watch.seconds();
}

/// The product at one place, for all entrants there.
template <Precision P, class Place>
struct Stage {
  using T = typename Arithmetic<P>::Result;
  Queue<Place>& q;
  Flush& flush;
  Inputs<P>& in;
  const Projection<P>& expected;
  Matrix<T>& C;  // on the host
  bool with_copies;
  Operands<P, Place> there{q, in};

  double error(const GemmKernel<P, Place>& kernel) {
    move<T>(q, std::as_const(in.C).view(), there.C.view());
    there.multiply(q, kernel, in.p);
    move<T>(q, std::as_const(there.C).view(), C.view());
    q.finish();
    return expected.error(C.view(), kernel.unit_roundoff);
  }
  double seconds(const GemmKernel<P, Place>& kernel) {
    if constexpr (std::is_same_v<Place, Cuda>)
      if (with_copies) return seconds_with_copies(q, kernel, in, C);
    return seconds_in_place(q, flush, kernel, in.p, there);
  }
};

/// One product at every place where an entrant needs it.
template <Precision P>
class Contest {
 public:
  Contest(Queue<Cpu>& host, std::optional<Queue<Cuda>>& device, const Product& p, bool with_copies)
      : host_(host),
        device_(device),
        with_copies_(with_copies),
        in_(host, p, Values::uniform),
        expected_(host, in_),
        C_(p.m, p.n) {}

  /// f(kernel, stage) at the place of an entrant.
  template <class F>
  auto at_place(const Entrant& e, F f) {
    if (!e.on_cuda()) return f(std::get<const GemmBackend<Cpu>*>(e.choice.backend)->in<P>(), stage(host_, on_host_));
    return f(std::get<const GemmBackend<Cuda>*>(e.choice.backend)->in<P>(), stage(*device_, on_device_));
  }

 private:
  template <class Place>
  Stage<P, Place>& stage(Queue<Place>& q, std::optional<Stage<P, Place>>& made) {
    if (!made) made.emplace(Stage<P, Place>{q, flush_, in_, expected_, C_, with_copies_});
    return *made;
  }

  Queue<Cpu>& host_;
  std::optional<Queue<Cuda>>& device_;
  bool with_copies_;
  Inputs<P> in_;
  Projection<P> expected_;
  Matrix<typename Arithmetic<P>::Result> C_;
  Flush flush_;
  std::optional<Stage<P, Cpu>> on_host_;
  std::optional<Stage<P, Cuda>> on_device_;
};

/// Those that are right, in turns.
template <Precision P>
void time_all(Contest<P>& contest, const std::vector<Entrant>& entrants, const Settings& settings,
              std::vector<Result>& results) {
  std::vector<std::size_t> right;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].fault.empty()) right.push_back(i);
  const Turns turns{settings.warmup, settings.repeat, {0.02, 0.1}, settings.enough_seconds};
  const auto seconds = time_in_turns(turns, right.size(), [&](std::size_t c) {
    return contest.at_place(entrants[right[c]], [](const auto& kernel, auto& stage) { return stage.seconds(kernel); });
  });
  for (std::size_t c = 0; c < right.size(); ++c) {
    results[right[c]].runs = int(seconds[c].size());
    results[right[c]].seconds = spread_of(seconds[c]);
  }
}

/// Of the reference at the same place, and of the floor on a device.
void add_shares(const std::vector<Entrant>& entrants, const std::optional<Roof>& roof, ElementSizes size,
                std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    Result& r = results[i];
    if (r.runs == 0) continue;
    for (std::size_t j = 0; j < results.size(); ++j)
      if (entrants[j].reference && results[j].device == r.device && results[j].runs > 0)
        r.of_reference = results[j].seconds.median / r.seconds.median;
    if (roof && entrants[i].on_cuda()) r.of_floor = roof->floor_seconds(r.product, size) / r.seconds.median;
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
  std::vector<Result> results;
  for_precision(precision, [&](auto P) { results = run_as<P>(p); });
  return results;
}

template <Precision P>
std::vector<Result> GemmBench::run_as(const Product& p) {
  std::vector<Entrant> entrants;
  for (const Entrant& e : entrants_)
    if (e.choice.offers(P)) entrants.push_back(e);
  if (entrants.empty()) return {};
  // Before the operands take memory; with copies, the memory of a device is not what binds.
  const std::optional<Roof> top = settings_.with_copies ? std::nullopt : roof(P);
  Contest<P> contest(host_, device_, p, settings_.with_copies);
  std::vector<Result> results;
  for (const Entrant& e : entrants) {
    Result r;
    r.backend = e.name(), r.device = e.choice.device(), r.precision = P, r.product = p;
    contest.at_place(e, [&](const auto& kernel, auto& stage) {
      const auto [small, is_new] = small_faults_.try_emplace(r.device + " " + r.backend + " " + name_of(P));
      if (is_new) small->second = fault_at_small_sizes(stage.q, kernel);
      r.fault = small->second;
      if (!r.fault.empty()) return;
      r.error = stage.error(kernel);
      if (!(*r.error <= 1)) r.fault = fmt::format("the product is off by {:.3g} times what is allowed", *r.error);
    });
    results.push_back(std::move(r));
  }
  time_all(contest, entrants, settings_, results);
  add_shares(entrants, top, element_sizes<P>, results);
  return results;
}

std::optional<Roof> GemmBench::roof(Precision precision) {
  if (!device_) return std::nullopt;
  const auto found = roofs_.find(precision);
  if (found != roofs_.end()) return found->second;
  Roof measured;
  for_precision(precision, [&](auto P) { measured = measure_roof<P>(); });
  return roofs_[precision] = measured;
}

template <Precision P>
Roof GemmBench::measure_roof() {
  constexpr int runs = 5;
  Queue<Cuda>& q = *device_;
  const Product large = square(8192);
  std::vector<double> products, copies;
  Flush flush;
  for (const Entrant& e : entrants_) {
    if (!e.on_cuda() || !e.reference || !e.choice.offers(P)) continue;
    const auto& kernel = std::get<const GemmBackend<Cuda>*>(e.choice.backend)->template in<P>();
    Operands<P, Cuda> there(q, Inputs<P>(host_, large, Values::uniform));
    for (int run = -1; run < runs; ++run) {
      const double s = seconds_in_place(q, flush, kernel, large, there);
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
