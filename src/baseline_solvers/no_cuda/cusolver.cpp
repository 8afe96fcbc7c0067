#include "baseline_solvers/baseline_solvers.hpp"
#include "core/no_cuda/refuse.hpp"

namespace lasolve::baseline_solvers {

Library cusolver() {
  return {"cusolver", "cuSOLVER", true, [](Method) { return std::string(); }, [] { refuse(); }, {}};
}

}  // namespace lasolve::baseline_solvers
