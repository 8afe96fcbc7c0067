#include "solvers/driver/factored.hpp"

#include <fmt/format.h>

#include "lasolve/names.hpp"

namespace lasolve {

SolvePrecision solve_precision(Precision name, Precision of_A) {
  const SolvePrecision* const found = find_solve_precision(name == Precision::automatic ? of_A : name);
  if (found == nullptr) {
    std::string known;
    for (const SolvePrecision& p : solve_precisions)
      known += (known.empty() ? "" : ", ") + std::string(name_of(p.name));
    throw std::invalid_argument(fmt::format("lasolve: solvers have the precisions {}, not {}", known, name_of(name)));
  }
  if (bytes_of(found->storage) > bytes_of(of_A))
    throw std::invalid_argument(
        fmt::format("lasolve: {} factors of an {} matrix", name_of(found->storage), name_of(of_A)));
  SolvePrecision in = *found;
  if (in.residual == Precision::automatic) in.residual = of_A;
  return in;
}

Refine refine_for(const Options& options, const SolvePrecision& in) {
  return options.refine != Refine::automatic ? options.refine : is_coarse(in) ? Refine::classical : Refine::none;
}

}  // namespace lasolve
