#include "cli/compare/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "bench/roof.hpp"
#include "cli/kernels.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "io/generators.hpp"
#include "lasolve/names.hpp"
#include "worker/verify.hpp"

namespace lasolve::cli {

std::vector<Contestant> contestants_of(const CompareRequest& request) {
  std::vector<Contestant> all;
  for (const Precision precision : request.precisions) {
    const Precision products = find_solve_precision(precision)->products;
    bool offered = false;
    std::string instead;
    for (const auto& backend : request.backends) {
      Contestant c{request.options};
      c.options.gemm = backend, c.options.precision = precision;
      const Choice choice = choose(c.options);
      if (!choice.offers(products)) {
        if (instead.empty()) instead = what_it_offers(choice);
        continue;
      }
      offered = true;
      c.name = choice.name(), c.precision = name_of(precision), c.device = choice.device_name();
      if (!any_of(all, [&](const Contestant& other) { return other.key(0) == c.key(0); })) all.push_back(std::move(c));
    }
    if (!offered)
      throw UsageError(does_not_offer(request.backends.front(), request.options.device, products) + instead);
  }
  for (const auto* library : request.baseline_solvers) {
    const Device where{library->on_cuda ? Device::cuda : Device::cpu, 0};
    all.push_back({request.options, library, library->name + " (solver)", name_of(Precision::fp64), name_of(where)});
  }
  return all;
}

std::vector<std::string> said_before(const CompareRequest& request) {
  std::vector<std::string> all;
  if (!request.why_precision.empty()) all.push_back(request.why_precision + "; --precision says another");
  if (!request.are_named) return all;
  for (const Precision precision : request.precisions)
    for (const auto& backend : request.backends) {
      Options options = request.options;
      options.gemm = backend;
      const Choice choice = choose(options);
      if (!choice.offers(find_solve_precision(precision)->products))
        all.push_back(fmt::format("{} has no rows in {}: it has no function for products of that precision{}",
                                  choice.name(), name_of(precision), what_it_offers(choice)));
    }
  return all;
}

/// 0: a file's, which nobody has read yet.
static std::int64_t largest_size(const CompareRequest& request) {
  if (!request.sizes.empty()) return *std::max_element(request.sizes.begin(), request.sizes.end());
  return io::Generator::is_meant_by(request.matrix) ? io::Generator(request.matrix).n() : 0;
}

void verify(const CompareRequest& request, std::vector<Contestant>& all, const std::function<void(double)>& progress) {
  std::vector<std::vector<Contestant*>> backends;  // each in its precisions
  for (Contestant& c : all) {
    if (c.baseline_solver) continue;
    auto* const its = find_in(backends, [&](const auto& b) { return b.front()->name == c.name; });
    (its ? *its : backends.emplace_back()).push_back(&c);
  }
  double done = 0;
  for (const auto& its : backends) {
    if (progress) progress(done++ / double(backends.size()));
    bench::Task task{choose(its.front()->options), {}, {}, request.options.threads};
    if (is_plugin(its.front()->name)) task.timed = bench::products_of_a_solve(largest_size(request));
    for (const Contestant* c : its) task.precisions.push_back(find_solve_precision(c->options.precision)->products);
    const auto verdicts = worker::verify(task, request.patience);
    for (std::size_t p = 0; p < its.size(); ++p) {
      if (!verdicts[p].grade.is_met()) its[p]->warning = bench::what_is_lost(verdicts[p].grade);
      if (!verdicts[p].fault) continue;
      its[p]->fault = bench::what_is_wrong(*verdicts[p].fault);
      say_what_is_wrong(task.choice, *verdicts[p].fault);
      its[p]->failed_validation = true;
    }
  }
}

std::vector<compare::Limit> limits_of(const std::vector<Contestant>& all, int threads) {
  std::vector<compare::Limit> limits;
  for (const Contestant& c : all) {
    if (c.baseline_solver) continue;
    if (any_of(limits, [&](const auto& l) { return l.precision == c.precision; })) continue;
    try {
      const Precision products = find_solve_precision(c.options.precision)->products;
      if (const auto roof = bench::roof_of(c.options.device, products, threads))
        limits.push_back({c.device, c.precision, *roof});
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemory&) {
    }
  }
  return limits;
}

}  // namespace lasolve::cli
