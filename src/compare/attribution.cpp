#include "compare/attribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lasolve/names.hpp"

namespace lasolve::compare {

const Row* Comparison::find(const Key& key) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

const Size* Comparison::find_size(std::int64_t n) const {
  const auto found = std::find_if(sizes.begin(), sizes.end(), [=](const Size& s) { return s.n == n; });
  return found == sizes.end() ? nullptr : &*found;
}

std::vector<const Row*> Comparison::at(std::int64_t n) const {
  std::vector<const Row*> all;
  for (const Row& r : rows)
    if (r.key.n == n) all.push_back(&r);
  return all;
}

std::optional<bench::Roof> Comparison::roof_of(const Row& row) const {
  const auto limit = std::find_if(limits.begin(), limits.end(), [&](const Limit& l) {
    return l.device == row.key.device && l.precision == row.key.precision;
  });
  if (limit == limits.end()) return std::nullopt;
  bench::Roof roof = limit->roof;
  for (const Row& r : rows)
    if (r.key.device == limit->device && r.key.precision == limit->precision)
      for (const TaskTime& t : r.tasks)
        if (is_update(t)) roof.flops_per_second = std::max(roof.flops_per_second, 1e9 * t.gflops());
  return roof;
}

double Row::gemm_flops() const { return tasks.empty() ? phases.flops_of(Phase::gemm) : flops_of_updates(tasks); }

bool is_update(const TaskTime& t) { return t.m > 0 && t.n > 0 && t.k > 0; }

double seconds_of_updates(const std::vector<TaskTime>& tasks) {
  std::vector<std::pair<double, double>> updates;  // begin, end
  for (const TaskTime& t : tasks)
    if (is_update(t)) updates.emplace_back(t.begin, t.begin + t.seconds);
  std::sort(updates.begin(), updates.end());
  double sum = 0, last = 0;
  for (const auto& [begin, end] : updates) {
    sum += std::max(0.0, end - std::max(begin, last));
    last = std::max(last, end);
  }
  return sum;
}

double flops_of_updates(const std::vector<TaskTime>& tasks) {
  double sum = 0;
  for (const TaskTime& t : tasks)
    if (is_update(t)) sum += t.flops;
  return sum;
}

FreeUpdates free_updates(const Row& row) {
  double busy = 0;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (Phase(p) != Phase::read && Phase(p) != Phase::check) busy += row.phases.seconds[p];
  FreeUpdates free;
  free.exact = busy <= 1.02 * row.total_seconds;
  if (!row.tasks.empty())
    free.seconds = std::max(0.0, row.total_seconds - seconds_of_updates(row.tasks));
  else if (free.exact)
    free.seconds = std::max(0.0, row.total_seconds - row.phases.seconds_of(Phase::gemm));
  return free;
}

double floor_seconds(const TaskTime& t, const std::string& precision, const bench::Roof& roof) {
  const SolvePrecision* const solved = find_solve_precision(parse<Precision>(precision).value_or(Precision::fp64));
  const double m = double(t.m), n = double(t.n), k = double(t.k);
  const double computed = t.flops / (2 * k);  // elements of C
  const double bytes = bytes_of(solved ? solved->storage : Precision::fp64) * (m * k + k * n + 2 * computed);
  return std::max(t.flops / roof.flops_per_second, bytes / roof.bytes_per_second);
}

std::optional<double> seconds_at_roof(const Row& row, const bench::Roof& roof) {
  double saved = 0, least = 0;
  bool timed = false;
  for (const TaskTime& t : row.tasks) {
    if (!is_update(t)) continue;
    const double floor = std::min(t.seconds, floor_seconds(t, row.key.precision, roof));
    timed = true, saved += t.seconds - floor, least += floor;
  }
  if (!timed) return std::nullopt;
  // Where updates run at the same time, what is saved of each adds up to too much.
  return std::max({row.total_seconds - saved, least, free_updates(row).seconds.value_or(0)});
}

namespace {

/// Those that ran, the fastest first.
std::vector<const Row*> by_time(const std::vector<const Row*>& rows) {
  std::vector<const Row*> timed;
  for (const Row* r : rows)
    if (r->timed() && !r->is_peer) timed.push_back(r);
  std::stable_sort(timed.begin(), timed.end(), [](const Row* a, const Row* b) { return a->median() < b->median(); });
  return timed;
}

constexpr double enough_share = 0.5;

/// Whether the fastest and the slowest of a size differ, by the test that verdicts are found with; where runs are too few for it, by
/// all of their times.
bool told_apart(const std::vector<const Row*>& timed) {
  const std::vector<double>&fast = timed.front()->seconds, &slow = timed.back()->seconds;
  const bench::Change change = bench::change_between(slow, fast);
  if (std::isfinite(change.high)) return change.kind == bench::Change::faster;
  return fast.size() > 1 && slow.size() > 1 && bench::spread_of(fast).most < bench::spread_of(slow).least;
}

/// Why backends cannot be told apart; empty: they can.
std::string why_too_small(const std::vector<const Row*>& timed) {
  if (std::all_of(timed.begin(), timed.end(), [](const Row* r) { return r->gemm_flops() == 0; }))
    return "one panel holds the matrix";
  double most = 0;
  for (const Row* r : timed) most = std::max(most, r->gemm_share());
  if (!told_apart(timed))
    return fmt::format("the times of {} and {} do not differ", timed.front()->key.gemm, timed.back()->key.gemm);
  if (most < enough_share) return fmt::format("at most {:.0f} % of a solve is GEMM", 100 * most);
  return "";
}

/// The n from which on half of a solve of the fastest would be GEMM, whose time grows as n³, and that of the rest as n².
std::int64_t size_that_would_do(const std::vector<const Row*>& timed) {
  const Row& fastest = *timed.front();
  const double share = std::clamp(fastest.gemm_share(), 0.02, 0.98);
  const double n = fastest.gemm_flops() == 0
                       ? 8.0 * double(std::max<std::int64_t>(fastest.block_size, 1))
                       : double(fastest.key.n) * std::max(2.0, enough_share / (1 - enough_share) * (1 - share) / share);
  return std::int64_t(std::bit_ceil(std::uint64_t(std::max(2.0, std::ceil(n)))));
}

}  // namespace

std::vector<std::string> remarks_on(const Comparison& all) {
  std::vector<std::string> remarks;
  std::int64_t one_that_does = 0;
  for (const Size& size : all.sizes)
    if (const auto timed = by_time(all.at(size.n)); timed.size() > 1 && why_too_small(timed).empty())
      one_that_does = one_that_does == 0 ? size.n : std::min(one_that_does, size.n);
  for (const Size& size : all.sizes) {
    const auto timed = by_time(all.at(size.n));
    if (timed.size() < 2) continue;
    const std::string why = why_too_small(timed);
    if (why.empty()) continue;
    remarks.push_back(fmt::format("n = {} is too small to tell kernels apart: {}; {}", size.n, why,
                                  one_that_does > size.n ? fmt::format("n = {} does", one_that_does)
                                                         : fmt::format("n = {} may do, where half of a solve is GEMM",
                                                                       size_that_would_do(timed))));
  }
  for (const Size& size : all.sizes)
    if (size.is_loaded())
      remarks.push_back(
          fmt::format("n = {}: other programs kept {:.1f} processors busy meanwhile; times and verdicts mean "
                      "less than they seem",
                      size.n, size.other_processors));
  for (const Size& size : all.sizes) {
    std::vector<std::string> slowed;
    for (const Row* r : all.at(size.n))
      if (r->timed() && r->is_slowed())
        slowed.push_back(
            fmt::format("{} in {} ({:.0f} % of its time)", r->key.gemm, r->key.precision, 100 * *r->slowed));
    if (!slowed.empty())
      remarks.push_back(
          fmt::format("n = {}: heat or a limit of power held the clock down: {}", size.n, fmt::join(slowed, ", ")));
  }
  for (const Size& size : all.sizes) {
    std::vector<std::string> names;
    for (const Row* r : all.at(size.n))
      if (r->timed() && !r->is_peer && r->seconds.size() < bench::least_for_a_verdict) names.push_back(r->key.gemm);
    if (!names.empty())
      remarks.push_back(
          fmt::format("n = {}: fewer runs than the {} that a verdict takes: {}; --seconds and --repeat allow more",
                      size.n, bench::least_for_a_verdict, fmt::join(names, ", ")));
  }
  return remarks;
}

}  // namespace lasolve::compare
