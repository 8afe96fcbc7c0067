// The methods: the table of include/lasolve/method.hpp with the class that stands behind each line. A method adds an include here.
//
// A class M of a method has
//   M::record                              see solvers/method.hpp
//   M::perform(q, task, workpiece)         gives q what a task does
#pragma once

#include "solvers/cholesky/method.hpp"
#include "solvers/lu/method.hpp"
#include "solvers/lu_nopivot/method.hpp"

namespace lasolve {

/// f(the class of a method).
template <class F>
decltype(auto) with_method(Method method, F f) {
  switch (method) {
#define LASOLVE_CASE(enumerator, word, Class) \
  case Method::enumerator:                    \
    return f(Class());
    LASOLVE_METHODS(LASOLVE_CASE)
#undef LASOLVE_CASE
    default:
      throw std::invalid_argument("lasolve: a factorization needs a method, not an automatic one");
  }
}

}  // namespace lasolve
