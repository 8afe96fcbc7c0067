#include "bench/gemm.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "bench/roof.hpp"
#include "bench/turns.hpp"
#include "core/kernel_fault.hpp"
#include "core/range.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::bench {

namespace {

/// Seconds of one product from the host's memory to the host's memory. C there stays.
template <Precision P, class In = typename Arithmetic<P>::Operand, class T = typename Arithmetic<P>::Result>
double seconds_with_copies(Queue<Cuda>& q, const GemmKernel<P, Cuda>& kernel, const Product& p,
                           const Operands<P, Cpu>& in, Matrix<T>& C) {
  q.finish();
  Stopwatch watch;
  {
    Operands<P, Cuda> there(p);
    move<In>(q, in.A.view(), there.A.view());
    move<In>(q, in.B.view(), there.B.view());
    if (p.beta != 0) move<T>(q, in.C.view(), there.C.view());
    there.multiply(q, kernel, p);
    move<T>(q, std::as_const(there.C).view(), C.view());
    q.finish();
  }
  return watch.seconds();
}

/// The product on one device, for all entrants there.
template <Precision P, class Space>
struct Stage {
  using T = typename Arithmetic<P>::Result;
  Queue<Space>& q;
  Queue<Cpu>& host;
  Flush& flush;
  const Product& p;
  Operands<P, Cpu>& in;
  Matrix<T>* copy_back;  // on the host; null: without copies
  Operands<P, Space> there{q, in, p};
  std::uint64_t runs = 0;

  double seconds(const GemmKernel<P, Space>& kernel) {
    if constexpr (std::is_same_v<Space, Cuda>)
      if (copy_back) {
        in.change_signs(host, ++runs);
        return seconds_with_copies(q, kernel, p, in, *copy_back);
      }
    there.change_signs(q, ++runs);
    return seconds_in_place(q, flush, kernel, p, there);
  }
};

/// One product on every device where an entrant needs it.
template <Precision P>
class Contest {
 public:
  Contest(Queue<Cpu>& host, std::optional<Queue<Cuda>>& device, const Product& p, bool with_copies)
      : host_(host), device_(device), p_(p), in_(random_operands<P>(host, p)) {
    if (with_copies) copy_back_.emplace(p.m, p.n);
  }

  /// Of one run of an entrant.
  double seconds(const Entrant& e) {
    if (!e.on_cuda())
      return stage(host_, on_host_).seconds(std::get<const GemmBackend<Cpu>*>(e.choice.backend)->template in<P>());
    return stage(*device_, on_device_).seconds(std::get<const GemmBackend<Cuda>*>(e.choice.backend)->template in<P>());
  }

 private:
  template <class Space>
  Stage<P, Space>& stage(Queue<Space>& q, std::optional<Stage<P, Space>>& made) {
    if (!made) made.emplace(Stage<P, Space>{q, host_, flush_, p_, in_, copy_back_ ? &*copy_back_ : nullptr});
    return *made;
  }

  Queue<Cpu>& host_;
  std::optional<Queue<Cuda>>& device_;
  Product p_;
  Operands<P, Cpu> in_;
  std::optional<Matrix<typename Arithmetic<P>::Result>> copy_back_;
  Flush flush_;
  std::optional<Stage<P, Cpu>> on_host_;
  std::optional<Stage<P, Cuda>> on_device_;
};

/// A fault that is not of an element, at the product that was timed.
Fault breach_at(const Product& p, Precision precision, const std::string& what) {
  Fault f;
  f.kind = Fault::breach, f.precision = precision;
  f.at = timed_cases(p).front();
  f.say(what);
  return f;
}

/// One run of an entrant, which `begins` and `ends` enclose. Nothing, and the result says why, where it does what no kernel may.
template <Precision P>
std::optional<double> run_of(const Entrant& e, Contest<P>& contest, const Settings& settings, Result& result) {
  if (settings.begins) settings.begins(e, result.product);
  double seconds = 0;
  try {
    seconds = contest.seconds(e);
  } catch (const KernelFault& fault) {
    if (settings.spoilt) settings.spoilt(e, fault.what());
    result.fault = breach_at(result.product, P, fault.what());
    return {};
  }
  if (settings.ends) settings.ends();
  return seconds;
}

/// Those that are right, in turns.
template <Precision P>
void time_all(Queue<Cpu>& host, std::optional<Queue<Cuda>>& device, const std::vector<Entrant>& entrants,
              const Settings& settings, std::vector<Result>& results) {
  std::vector<std::size_t> right;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!results[i].fault) right.push_back(i);
  if (right.empty()) return;
  Contest<P> contest(host, device, results[0].product, settings.with_copies);
  const Turns turns{settings.warmup, settings.repeat, {0.02, 0.1}, settings.enough_seconds};
  const double most = double(right.size()) * (settings.warmup + settings.repeat);
  int runs = 0;
  const auto seconds = time_in_turns(turns, right.size(), [&](std::size_t c, bool) {
    if (settings.progress) settings.progress(runs++ / most);
    return run_of<P>(entrants[right[c]], contest, settings, results[right[c]]);
  });
  for (std::size_t c = 0; c < right.size(); ++c) {
    Result& r = results[right[c]];
    if (r.fault) continue;
    r.runs = int(seconds[c].size());
    r.seconds = spread_of(seconds[c]);
  }
}

/// The first thing that is wrong with a plugin kernel at the product that it was timed with.
template <Precision P, class Space>
std::optional<Fault> fault_now(Queue<Space>& q, Queue<Cpu>& host, const Entrant& e, const Product& p,
                               const AfterCall& after) {
  Validation<P, Space> validation(q, host, std::get<const GemmBackend<Space>*>(e.choice.backend)->template in<P>(), {},
                                  after);
  std::optional<Fault> fault;
  for (const Case& c : timed_cases(p))
    if (!fault) fault = validation(c);
  return fault;
}

/// Whether plugin kernels are still right, in the process in which they were timed. One that is not has no times.
template <Precision P>
void try_again(Queue<Cpu>& host, std::optional<Queue<Cuda>>& device, const std::vector<Entrant>& entrants,
               const Settings& settings, std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Entrant& e = entrants[i];
    Result& r = results[i];
    if (!e.is_plugin || r.runs == 0) continue;
    if (settings.begins) settings.begins(e, r.product);
    r.fault = e.on_cuda() ? fault_now<P>(*device, host, e, r.product, settings.after_call)
                          : fault_now<P>(host, host, e, r.product, settings.after_call);
    if (settings.ends) settings.ends();
    if (r.fault) r.runs = 0;
  }
}

/// Of the reference on the same device, and of the floor on a device.
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

std::string id_of(const Entrant& e) { return e.choice.device_name() + " " + e.name(); }

bool same(const Product& p, const Product& q) {
  return std::tie(p.m, p.n, p.k, p.alpha, p.beta) == std::tie(q.m, q.n, q.k, q.alpha, q.beta);
}

constexpr double never = std::numeric_limits<double>::infinity();

struct Fastest {
  double cpu = never, cuda = never;
};

}  // namespace

std::string Entrant::name() const {
  return std::visit([](const auto* backend) { return std::string(backend->name); }, choice.backend);
}

GemmBench::GemmBench(std::vector<Entrant> entrants, const Settings& settings)
    : entrants_(std::move(entrants)), settings_(settings), host_(settings.threads) {
  std::set<std::string> ids;
  for (const Entrant& e : entrants_)
    require(ids.insert(id_of(e)).second,
            ("two GEMM backends on " + e.choice.device_name() + " are named " + e.name()).c_str());
}

void GemmBench::verify(const std::vector<Product>& products, const std::vector<Precision>& precisions,
                       const OnEntrant& on_entrant) {
  verified_ = products;
  verdicts_.clear();
  for (const Entrant& e : entrants_) {
    Task task{e.choice, {}, products, settings_.threads};
    for (const Precision p : precisions)
      if (e.choice.offers(p)) task.precisions.push_back(p);
    if (const auto lost = settings_.lost.find(e.name()); lost != settings_.lost.end()) {
      for (const Precision p : task.precisions)
        verdicts_[{id_of(e), p}] = {0, 0, breach_at(products.at(0), p, lost->second), {}};
      continue;
    }
    auto verdicts = settings_.verify ? settings_.verify(task) : verify_here(task);
    for (std::size_t p = 0; p < verdicts.size(); ++p) {
      if (on_entrant) on_entrant(e, task.precisions[p], verdicts[p]);
      verdicts_[{id_of(e), task.precisions[p]}] = std::move(verdicts[p]);
    }
  }
}

/// The result of an entrant that has not run yet.
Result GemmBench::verified(const Entrant& e, const Product& p, Precision precision) const {
  const auto verdict = verdicts_.find({id_of(e), precision});
  const auto* const product = find_in(verified_, [&](const Product& v) { return same(v, p); });
  require(verdict != verdicts_.end() && product, "a product is verified before it is timed");
  Result r;
  r.backend = e.name(), r.device = e.choice.device_name(), r.precision = precision, r.product = p;
  r.fault = verdict->second.fault;
  r.grade = verdict->second.grade;
  if (!r.fault) r.error = verdict->second.errors[std::size_t(product - verified_.data())];
  return r;
}

std::vector<Result> GemmBench::run(const Product& p, Precision precision) {
  std::vector<Result> results;
  for_precision(precision, [&](auto P) { results = run_as<P>(p); });
  return results;
}

template <Precision P>
std::vector<Result> GemmBench::run_as(const Product& p) {
  std::vector<Entrant> entrants;
  std::vector<Result> results;
  for (const Entrant& e : entrants_)
    if (e.choice.offers(P)) {
      entrants.push_back(e);
      results.push_back(verified(e, p, P));
      if (e.on_cuda()) device(e.choice.cuda_device);
    }
  if (entrants.empty()) return {};
  // Before the operands take memory; with copies, the memory of a device is not what binds.
  const std::optional<Roof> top = settings_.with_copies ? std::nullopt : roof(P);
  time_all<P>(host_, device_, entrants, settings_, results);
  try_again<P>(host_, device_, entrants, settings_, results);
  add_shares(entrants, top, element_sizes<P>, results);
  return results;
}

Queue<Cuda>& GemmBench::device(int index) {
  if (!device_) device_.emplace(index), current_.emplace(*device_);
  return *device_;
}

std::optional<Roof> GemmBench::roof(Precision precision) {
  const auto found = roofs_.find(precision);
  if (found != roofs_.end()) return found->second;
  std::optional<Roof> measured;
  for (const Entrant& e : entrants_) {
    const auto verdict = verdicts_.find({id_of(e), precision});
    const bool right = verdict != verdicts_.end() && !verdict->second.fault;
    if (e.on_cuda() && e.reference && right) for_precision(precision, [&](auto P) { measured = measure_roof<P>(e); });
  }
  return roofs_[precision] = measured;
}

template <Precision P>
Roof GemmBench::measure_roof(const Entrant& reference) {
  Queue<Cuda>& q = device(reference.choice.cuda_device);
  return lasolve::bench::measure_roof<P>(
      q, host_, std::get<const GemmBackend<Cuda>*>(reference.choice.backend)->template in<P>());
}

std::vector<Crossover> crossovers(const std::vector<Result>& all) {
  using Sweep = std::tuple<std::string, std::int64_t, Precision>;
  std::map<Sweep, std::map<std::int64_t, Fastest>> sweeps;
  for (const Result& r : all) {
    const Product& p = r.product;
    if (r.runs == 0 || p.shape == "given") continue;
    Fastest& fastest = sweeps[{p.shape, p.shape == "square" ? 0 : p.k, r.precision}][p.n];
    double& seconds = r.on_cuda() ? fastest.cuda : fastest.cpu;
    seconds = std::min(seconds, r.seconds.median);
  }
  std::vector<Crossover> found;
  for (auto& [sweep, sizes] : sweeps) {
    std::erase_if(sizes, [](const auto& size) { return size.second.cpu == never || size.second.cuda == never; });
    if (sizes.empty()) continue;
    std::optional<std::int64_t> from;
    for (auto size = sizes.rbegin(); size != sizes.rend() && size->second.cuda < size->second.cpu; ++size)
      from = size->first;
    found.push_back({std::get<0>(sweep), std::get<1>(sweep), std::get<2>(sweep), from});
  }
  return found;
}

}  // namespace lasolve::bench
