#include "cli/compare/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <new>

#include "bench/roof.hpp"
#include "cli/kernels.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "io/generators.hpp"
#include "lasolve/names.hpp"
#include "solvers/method.hpp"
#include "worker/verify.hpp"

namespace lasolve::cli {

namespace {

Precision products_of(const Contestant& c) { return find_solve_precision(c.options.precision)->products; }

/// Why no solve is by such options, whatever the matrix; empty: there is one.
std::string why_impossible(const Choice& choice, const Options& options) {
  try {
    recipes_of(choice, options, 1);
    return "";
  } catch (const std::invalid_argument& e) {
    const std::string why = e.what(), ours = "lasolve: ";
    return why.starts_with(ours) ? why.substr(ours.size()) : why;
  }
}

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (!contains(all, one)) all.push_back(one);
}

/// Backends without products in a precision.
struct Lacking {
  std::vector<std::string> backends = {};
  std::string instead = {};  ///< what the first offers

  void add(const std::string& backend, const std::string& what_it_offers) {
    if (backends.empty()) instead = what_it_offers;
    add_once(backends, backend);
  }
  std::string in_words(const std::string& precision) const {
    return fmt::format("{} {} no rows in {}: no function for products of that precision{}", fmt::join(backends, ", "),
                       backends.size() == 1 ? "has" : "have", precision, instead);
  }
};

/// In the methods that are compared, as far as other libraries have them.
void add_baseline_solvers(const CompareRequest& request, std::vector<Contestant>& all) {
  const auto* const methods = find_in(request.lists, [](const auto& list) { return list.option == "factorization"; });
  for (const auto* library : request.baseline_solvers)
    for (const std::string& word : methods->words) {
      Contestant c{with_choices(request.options, {{"factorization", word}}), library, library->name + " (solver)",
                   name_of(Precision::fp64), name_of({library->on_cuda ? Device::cuda : Device::cpu, 0})};
      Method& method = c.options.factorization;
      if (method != Method::automatic && !contains(automatic_methods, method)) method = Method::lu;
      c.choices = without_defaults({{"factorization", name_of(method)}});
      if (!any_of(all, [&](const Contestant& other) { return other.key(0) == c.key(0); })) all.push_back(std::move(c));
    }
}

}  // namespace

Contestants contestants_of(const CompareRequest& request) {
  Contestants found;
  std::vector<Contestant>& all = found.all;
  std::map<std::string, Lacking> lacking;  // by precision
  for (const Choices& choices : choices_among(request.lists))
    for (const auto& backend : request.backends) {
      Contestant c{with_choices(request.options, choices)};
      c.options.gemm = backend;
      const Choice choice = choose(c.options);
      c.name = choice.name(), c.precision = name_of(c.options.precision), c.device = choice.device_name();
      c.choices = without_defaults(choices);
      c.choices.erase("precision");
      if (!choice.offers(products_of(c)))
        lacking[c.precision].add(c.name, what_it_offers(choice));
      else if (const std::string why = why_impossible(choice, c.options); !why.empty())
        add_once(found.left_out, "left out: " + why);
      else if (!any_of(all, [&](const Contestant& other) { return other.key(0) == c.key(0); }))
        all.push_back(std::move(c));
    }
  for (const auto& its : lacking)
    if (request.are_named || !any_of(all, [&](const Contestant& c) { return c.precision == its.first; }))
      found.left_out.push_back(its.second.in_words(its.first));
  if (all.empty()) throw UsageError(fmt::format("there is nothing to compare: {}", fmt::join(found.left_out, "; ")));
  add_baseline_solvers(request, all);
  return found;
}

std::vector<std::string> said_before(const CompareRequest& request) {
  std::vector<std::string> all = contestants_of(request).left_out;
  if (!request.why_precision.empty()) all.insert(all.begin(), request.why_precision + "; --precision says another");
  return all;
}

/// 0: a file's, which nobody has read yet.
static std::int64_t largest_size(const CompareRequest& request) {
  if (!request.sizes.empty()) return *std::max_element(request.sizes.begin(), request.sizes.end());
  return io::Generator::is_meant_by(request.matrix) ? io::Generator(request.matrix).n() : 0;
}

void verify(const CompareRequest& request, std::vector<Contestant>& all, const std::function<void(double)>& progress) {
  std::vector<std::vector<Contestant*>> backends;  // each by its recipes
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
    for (const Contestant* c : its) add_once(task.precisions, products_of(*c));
    const auto verdicts = worker::verify(task, request.patience);
    for (std::size_t p = 0; p < task.precisions.size(); ++p) {
      const auto& fault = verdicts[p].fault;
      const auto& grade = verdicts[p].grade;
      if (fault) say_what_is_wrong(task.choice, *fault);
      for (Contestant* c : its) {
        if (products_of(*c) != task.precisions[p]) continue;
        if (!grade.is_met()) c->warning = bench::what_is_lost(grade);
        if (fault) c->fault = bench::what_is_wrong(*fault), c->failed_validation = true;
      }
    }
  }
}

std::vector<compare::Limit> limits_of(const std::vector<Contestant>& all, int threads) {
  std::vector<compare::Limit> limits;
  for (const Contestant& c : all) {
    if (c.baseline_solver) continue;
    if (any_of(limits, [&](const auto& l) { return l.precision == c.precision; })) continue;
    try {
      if (const auto roof = bench::roof_of(c.options.device, products_of(c), threads))
        limits.push_back({c.device, c.precision, *roof});
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemory&) {
    }
  }
  return limits;
}

}  // namespace lasolve::cli
