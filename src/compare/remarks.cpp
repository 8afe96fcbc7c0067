#include "compare/remarks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "compare/attribution.hpp"
#include "compare/beside.hpp"
#include "core/range.hpp"

namespace lasolve::compare {

namespace {

/// Those that ran, the fastest first.
std::vector<const Row*> by_time(const std::vector<const Row*>& rows) {
  std::vector<const Row*> timed;
  for (const Row* r : rows)
    if (r->timed() && !r->is_baseline_solver) timed.push_back(r);
  std::stable_sort(timed.begin(), timed.end(), [](const Row* a, const Row* b) { return a->median() < b->median(); });
  return timed;
}

constexpr double enough_share = 0.5;

/// Whether the slowest of a size differs from the fastest, and what could have been found: see beside().
bench::Change widest(const std::vector<const Row*>& timed) { return beside(*timed.back(), *timed.front()); }

bool are_distinguishable(const std::vector<const Row*>& timed) { return widest(timed).kind != bench::Change::same; }

bool has_no_products(const std::vector<const Row*>& timed) {
  return all_of(timed, [](const Row* r) { return r->gemm_flops() == 0; });
}

/// Why backends cannot be told apart, where the size is the cause; empty: it is not, or they can.
std::string why_too_small(const std::vector<const Row*>& timed) {
  if (has_no_products(timed)) return "one panel holds the matrix";
  double most = 0;
  for (const Row* r : timed) most = std::max(most, r->gemm_share());
  if (most < enough_share && !are_distinguishable(timed) && bench::tells(widest(timed)))
    return fmt::format("at most {:.0f} % of a solve is GEMM", 100 * most);
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

using Remarks = std::vector<std::string>;

void remark_on_small_sizes(const Comparison& all, Remarks& remarks) {
  std::set<std::int64_t> that_do;
  for (const Size& size : all.sizes)
    if (const auto timed = by_time(all.at(size.n));
        timed.size() > 1 && are_distinguishable(timed) && !has_no_products(timed))
      that_do.insert(size.n);
  for (const Size& size : all.sizes) {
    const auto timed = by_time(all.at(size.n));
    if (timed.size() < 2) continue;
    const std::string why = why_too_small(timed);
    if (why.empty()) continue;
    const auto larger = that_do.upper_bound(size.n);
    remarks.push_back(fmt::format("n = {} is too small to tell kernels apart: {}; {}", size.n, why,
                                  larger != that_do.end() ? fmt::format("n = {} does", *larger)
                                                          : fmt::format("n = {} may do, where half of a solve is GEMM",
                                                                        size_that_would_do(timed))));
  }
}

/// Where neither the size nor few runs are the cause.
void remark_on_noise(const Comparison& all, const Size& size, Remarks& remarks) {
  const auto timed = by_time(all.at(size.n));
  if (timed.size() < 2 || are_distinguishable(timed) || !why_too_small(timed).empty()) return;
  if (bench::tells(widest(timed)) ||
      !all_of(timed, [](const Row* r) { return r->seconds.size() >= bench::least_for_a_verdict; }))
    return;
  remarks.push_back(fmt::format("n = {}: noise hides what {} and {} differ by; --repeat and --seconds allow more runs",
                                size.n, all.label_of(*timed.front()), all.label_of(*timed.back())));
}

void remark_on_load(const Size& size, Remarks& remarks) {
  if (size.is_loaded())
    remarks.push_back(
        fmt::format("n = {}: other programs kept {:.1f} processors busy meanwhile; times are longer than on a quiet "
                    "machine, and less is told apart",
                    size.n, size.other_processors));
  for (const std::string& note : size.notes) remarks.push_back(fmt::format("n = {}: {}", size.n, note));
}

void remark_on_clocks(const Comparison& all, const Size& size, Remarks& remarks) {
  std::vector<std::string> slowed;
  for (const Row* r : all.at(size.n))
    if (r->timed() && r->is_slowed())
      slowed.push_back(
          fmt::format("{} in {} ({:.0f} % of its time)", all.label_of(*r), r->key.precision, 100 * *r->slowed));
  if (!slowed.empty())
    remarks.push_back(
        fmt::format("n = {}: heat or a limit of power held the clock down: {}", size.n, fmt::join(slowed, "; ")));
}

void remark_on_other_factors(const Comparison& all, const Size& size, Remarks& remarks) {
  std::vector<std::string> names;
  for (const Row* r : all.at(size.n))
    if (r->timed() && !r->fell_back_to.empty())
      names.push_back(fmt::format("{} in {} by factors in {}", all.label_of(*r), r->key.precision, r->fell_back_to));
  if (!names.empty())
    remarks.push_back(fmt::format("n = {}: coarser factors did not do, so that times are of two factorizations: {}",
                                  size.n, fmt::join(names, "; ")));
}

void remark_on_few_runs(const Comparison& all, const Size& size, Remarks& remarks) {
  std::vector<std::string> names;
  for (const Row* r : all.at(size.n))
    if (r->timed() && !r->is_baseline_solver && r->seconds.size() < bench::least_for_a_verdict)
      names.push_back(all.label_of(*r));
  if (names.empty()) return;
  const auto timed = by_time(all.at(size.n));
  const bool unknown = timed.size() > 1 && !are_distinguishable(timed);
  remarks.push_back(
      fmt::format("n = {}: fewer runs than the {} that a verdict takes: {}{}; --seconds and --repeat allow more",
                  size.n, bench::least_for_a_verdict, fmt::join(names, "; "),
                  unknown ? fmt::format("; too few runs to tell {} and {} apart", all.label_of(*timed.front()),
                                        all.label_of(*timed.back()))
                          : ""));
}

/// Options may come to the same: a panel that has all columns, a method that does not interchange.
void remark_on_equal_recipes(const Comparison& all, const Size& size, Remarks& remarks) {
  const std::vector<const Row*> rows = all.at(size.n);
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (std::size_t i = 0; i < k; ++i) {
      const Row &first = *rows[i], &second = *rows[k];
      if (first.recipe.empty() || first.recipe != second.recipe || first.key.gemm != second.key.gemm ||
          first.key.precision != second.key.precision || first.key.options == second.key.options)
        continue;
      remarks.push_back(
          fmt::format("n = {}: solved by the same recipe: {}; {}", size.n, all.label_of(first), all.label_of(second)));
      break;
    }
}

/// Once for all sizes.
void remark_on_kernels(const Comparison& all, Remarks& remarks) {
  for (const Row& row : all.rows)
    for (const std::string& warning : row.warnings) {
      const std::string text = fmt::format("warning: {} in {} {}", row.key.gemm, row.key.precision, warning);
      if (!contains(remarks, text)) remarks.push_back(text);
    }
}

}  // namespace

std::vector<std::string> remarks_on(const Comparison& all) {
  Remarks remarks;
  remark_on_kernels(all, remarks);
  remark_on_small_sizes(all, remarks);
  for (const Size& size : all.sizes) remark_on_equal_recipes(all, size, remarks);
  for (const Size& size : all.sizes) remark_on_noise(all, size, remarks);
  for (const Size& size : all.sizes) remark_on_load(size, remarks);
  for (const Size& size : all.sizes) remark_on_clocks(all, size, remarks);
  for (const Size& size : all.sizes) remark_on_other_factors(all, size, remarks);
  for (const Size& size : all.sizes) remark_on_few_runs(all, size, remarks);
  return remarks;
}

}  // namespace lasolve::compare
