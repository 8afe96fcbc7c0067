#include <fmt/format.h>

#include "lasolve/names.hpp"

namespace lasolve {

std::string Outcome::name() const { return name_of(kind); }

std::string Outcome::message() const {
  switch (kind) {
    case solved:
      return "solved";
    case singular:
      return fmt::format("the matrix is singular: {} {} (counted from 0) has no pivot other than zero",
                         of_rows ? "row" : "column", at);
    case not_positive_definite:
      return fmt::format("the matrix is not positive definite: the leading minor of order {} is not positive", at);
    case not_converged:
      return fmt::format("the refinement did not converge; it was given up after {} updates", at);
    case inaccurate:
      return "the residual is larger than the HPL check allows";
    case ill_conditioned:
      return "the residual is small, but the matrix is singular to the precision: no digit of the solution can be "
             "trusted";
    case not_symmetric:
      return "the matrix is not symmetric, and Cholesky solves with one of its triangles only";
  }
  return "unknown";
}

inline namespace LASOLVE_ABI {

Report together(const Report& factored, Report solved) {
  solved.phases += factored.phases;
  solved.total_seconds += factored.total_seconds;
  return solved;
}

}  // namespace LASOLVE_ABI

}  // namespace lasolve
