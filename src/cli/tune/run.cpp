#include "cli/tune/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <utility>

#include "bench/others.hpp"
#include "cli/compare/run.hpp"
#include "cli/print.hpp"
#include "cli/problem.hpp"
#include "cli/progress.hpp"
#include "cli/tuning.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "core/stopwatch.hpp"
#include "solvers/method.hpp"
#include "tuned/setting.hpp"

namespace lasolve::cli {

namespace {

using tuned::Setting;

/// Thrown out of a solve that takes too long.
struct GivenUp {};

/// A backend in a precision; automatic: that of the search.
struct Candidate {
  std::string gemm;
  Precision precision = Precision::automatic;
};

/// Those that may be chosen, the default first, and what is wrong with that one, if something is.
struct Backends {
  std::vector<Candidate> all;
  std::string fault = {};
};

/// One search: a method in a precision at a size.
struct Item {
  tuned::Key key;
  const Backends* backends;
  double work;  ///< about: what its solves cost, and something for being small
};

/// The time that is left. Each search may take as much of it as each of those behind it: small ones leave most of that to the others.
class Clock {
 public:
  Clock(double within, const std::vector<Item>& items) : within_(within), items_left_(items.size()) {
    for (const Item& item : items) work_left_ += item.work;
  }
  double seconds_left() const { return within_ - watch_.seconds(); }
  double seconds_for_next() const { return seconds_left() / double(items_left_); }

  void begin(const Item& item) {
    began_ = watch_.seconds();
    work_ = item.work;
    ran_ = false;
  }
  /// What a first solve tells of how long its search will take.
  void ran(double seconds) {
    constexpr double runs_of_a_search = 150, longest_rest = 0.1;
    if (!std::exchange(ran_, true))
      seconds_a_work_ =
          std::min(seconds_for_next(), runs_of_a_search * (seconds + std::min(seconds, longest_rest))) / work_;
  }
  void end() {
    --items_left_;
    work_left_ -= work_;
    seconds_a_work_ = (watch_.seconds() - began_) / work_;
  }
  /// The share of the whole that is done, if all that is left takes as long for its work as this search. It never falls.
  double share() {
    const double now = watch_.seconds(), least = 0.02 * now;
    const double needed = seconds_a_work_ * work_left_ - (now - began_);
    return share_ = std::max(share_, now / (now + std::clamp(needed, least, std::max(least, seconds_left()))));
  }

 private:
  const Stopwatch watch_;
  const double within_;
  std::size_t items_left_;
  double work_left_ = 0, began_ = 0, work_ = 1, seconds_a_work_ = 0, share_ = 0;
  bool ran_ = false;
};

/// The options of a solve of a search, but for backend, schedule and block size. An accuracy leaves the precision open.
Options options_of(const tuned::Key& key, Precision chosen, Options o) {
  o.factorization = key.method, o.accuracy = key.accuracy;
  o.precision = chosen != Precision::automatic || key.accuracy > 0 ? chosen : key.precision;
  return o;
}

/// What there is to choose among: recipes that differ from that of the default by what the candidates and the record of the method have.
tuned::Space space_of(const Item& item, const Device& device) {
  const tuned::Key& key = item.key;
  const auto recipe_of = [&](const Candidate& c, Schedule schedule) {
    Options o = options_of(key, c.precision, {});
    o.device = device, o.gemm = c.gemm, o.schedule = schedule;
    return recipes_of(choose(o), o, key.n).first();
  };
  const Candidate& by_default = item.backends->all.front();
  const Recipe usual = recipe_of(by_default, Schedule::automatic);
  tuned::Space space;
  space.n = key.n;
  for (const Candidate& c : item.backends->all) {
    const Recipe recipe = recipe_of(c, Schedule::automatic);
    const bool is_usual =
        c.gemm == by_default.gemm && recipe.precision.name == usual.precision.name && !usual.by_coarse;
    if (&c == &by_default || !is_usual)
      space.by_backend.push_back({c.gemm, recipe.schedule, recipe.block_size(), {}, 0, c.precision});
  }
  space.by_default = space.by_backend.front();
  for (const auto& [schedule, tasks] : record_of(key.method).schedules)
    space.schedules.emplace_back(schedule, recipe_of(by_default, schedule).block_size());
  return space;
}

/// The solves of one item.
class Solver {
 public:
  Solver(const TuneRequest& request, const Item& item, Clock& clock, Progress& progress)
      : request_(request), key_(item.key), clock_(clock), progress_(progress), problem_(system()) {}

  tuned::Run operator()(const Setting& setting, double most_seconds) {
    if (clock_.seconds_left() <= 0) return {};
    const Stopwatch watch;
    Options o = options_of(key_, setting.precision, request_.options);
    tuned::Record both;
    o.gemm = tuned::gemm_of(setting, o.device, both), o.schedule = setting.schedule, o.block_size = setting.block_size;
    o.progress = [&](double) {
      progress_(clock_.share());
      if (watch.seconds() > most_seconds || clock_.seconds_left() <= 0) throw GivenUp();
    };
    try {
      const Report report = problem_.solve(o, X_);
      if (!report.outcome.ok()) return {{}, report.outcome.message()};
      clock_.ran(report.total_seconds);
      return {report.total_seconds, ""};
    } catch (const GivenUp&) {
      return {};
    } catch (const std::bad_alloc&) {
      return wanting("not enough host memory");
    } catch (const MachineError& e) {
      return wanting(e.what());
    } catch (const std::exception& e) {
      return {{}, e.what()};
    }
  }

  bool wanted_machine() const { return wanted_machine_; }

 private:
  Request system() const {
    Request r;
    r.matrix = fmt::format("{}:n={}", record_of(key_.method).example, key_.n);
    r.options = request_.options;
    r.options.factorization = key_.method, r.options.precision = key_.precision;
    return r;
  }
  tuned::Run wanting(const std::string& what) {
    wanted_machine_ = true;
    return {{}, what};
  }

  const TuneRequest& request_;
  const tuned::Key& key_;
  Clock& clock_;
  Progress& progress_;
  Problem problem_;
  Matrix<double> X_;
  bool wanted_machine_ = false;
};

TuneResult result_of(const TuneRequest& request, const Item& item, Clock& clock, Progress& progress) {
  const bench::Others others;
  TuneResult result{item.key, space_of(item, request.options.device), {}, false, 0};
  result.found.failure = item.backends->fault;
  if (!result.found.failure.empty()) return result;
  Solver solver(request, item, clock, progress);
  result.found = tuned::search(result.space, std::ref(solver), clock.seconds_for_next());
  result.for_want_of_machine = !result.found.failure.empty() && solver.wanted_machine();
  result.other_processors = others.processors();
  return result;
}

/// Why those that are left out are is remarked.
Backends backends_in(const TuneRequest& request, const std::vector<Precision>& precisions, TuneResults& results) {
  const Choice by_default = choose(request.options);
  const Precision products = find_solve_precision(precisions.front())->products;
  const bool picks_precision = request.options.accuracy > 0;
  if (!by_default.offers(products)) throw UsageError(does_not_offer(by_default.name(), by_default.device(), products));
  CompareRequest entrants;
  entrants.options = request.options;
  entrants.backends = request.backends;
  entrants.lists = {{"precision", words_of(precisions)}};
  auto all = contestants_of(entrants).all;
  Progress progress("trying the backends", request.quiet);
  verify(entrants, all, [&](double share) { progress.say(share, std::nullopt); });
  Backends backends{{{by_default.name()}}};
  for (const Contestant& c : all) {
    const bool is_default = c.name == by_default.name();
    if (is_default && backends.fault.empty())
      backends.fault = c.fault;
    else if (!is_default && !c.fault.empty())
      results.remarks.push_back(fmt::format("{} is left out, since it is wrong: {}", c.name, c.fault));
    if (c.fault.empty() && (picks_precision || !is_default))
      backends.all.push_back({c.name, picks_precision ? c.options.precision : Precision::automatic});
    results.a_backend_is_wrong |= !c.fault.empty();
  }
  return backends;
}

/// Cholesky costs half of what LU does.
double work_of(Method method, std::int64_t n) {
  const double size = double(n);
  return cli::work_of(n) * record_of(method).flops(size) / record_of(Method::lu).flops(size);
}

/// "LU at n = 64, Cholesky at n = 64".
std::string list_of(const std::vector<const TuneResult*>& some) {
  std::string text;
  for (const TuneResult* r : some)
    text += fmt::format("{}{} at n = {}", text.empty() ? "" : ", ", in_words(r->key.method), r->key.n);
  return text;
}

void remark_on(const std::vector<TuneResult>& all, std::vector<std::string>& remarks) {
  constexpr double much = 0.25;
  std::vector<const TuneResult*> cut_off;
  double busy = 0;
  for (const TuneResult& r : all) {
    if (r.found.ran_out_of_time) cut_off.push_back(&r);
    busy = std::max(busy, r.other_processors);
    for (const tuned::Step& step : r.found.steps)
      for (const tuned::TimedSetting& t : step.timed)
        if (!t.failure.empty() && !(t.setting == r.space.by_default))
          remarks.push_back(fmt::format("{}: {} failed: {}", list_of({&r}), in_words(t.setting), t.failure));
  }
  if (!cut_off.empty())
    remarks.push_back(
        fmt::format("the time ran out before all was tried, for {}; --within allows more", list_of(cut_off)));
  if (busy > much)
    remarks.push_back(fmt::format(
        "other programs kept up to {:.1f} processors busy meanwhile: what is a little faster may not have been found",
        busy));
}

}  // namespace

tuned::Entry TuneResult::entry() const {
  if (!found.is_known(space)) throw std::logic_error("what is best is not known");
  const double low = 1 / (1 + found.change.high), high = 1 / (1 + found.change.low);
  tuned::Entry e{key,
                 {},
                 fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))),
                 space.by_default,
                 found.chosen,
                 found.default_seconds,
                 found.seconds};
  for (const Setting& s : space.by_backend)
    if (!contains(e.backends, s.gemm)) e.backends.push_back(s.gemm);
  if (!found.is_default(space)) e.speedup = 1 / (1 + found.change.shift), e.speedup_low = low, e.speedup_high = high;
  return e;
}

TuneResults tune(const TuneRequest& request, const std::function<void(const TuneResult&)>& on_result) {
  TuneResults results;
  std::vector<Backends> backends;
  const double accuracy = request.options.accuracy;  // one search, which picks a precision
  const std::size_t searches = accuracy > 0 ? 1 : request.precisions.size();
  for (std::size_t p = 0; p < searches; ++p)
    backends.push_back(
        backends_in(request, accuracy > 0 ? request.precisions : std::vector{request.precisions[p]}, results));
  const tuned::Machine machine = machine_of(request.options.device, request.options.threads);
  std::vector<Item> items;
  for (const std::int64_t n : request.sizes)
    for (std::size_t p = 0; p < searches; ++p)
      for (const Method m : request.methods)
        items.push_back({{machine, request.precisions[p], m, n, accuracy}, &backends[p], work_of(m, n)});
  Clock clock(request.within, items);
  Progress progress("tuning", request.quiet);
  for (const Item& item : items) {
    clock.begin(item);
    results.all.push_back(result_of(request, item, clock, progress));
    clock.end();
    on_result(results.all.back());
  }
  remark_on(results.all, results.remarks);
  return results;
}

}  // namespace lasolve::cli
