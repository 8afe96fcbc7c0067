// What a call of the C interface ends with: a status, and words.
#pragma once

#include <string>

#include "lasolve/lasolve.h"
#include "lasolve/lasolve.hpp"

namespace lasolve::from_c {

/// What a report points to, and what was wrong: of the last call on this thread.
struct Said {
  std::string error, message, device, gemm, notes;
};
Said& said();

/// The caller's progress function wants no more.
struct Stopped {};

lasolve_status status_of(const Outcome&);
/// Of the exception that is being handled.
lasolve_status status_of_exception() noexcept;

/// f() returns a status; what it throws becomes one.
template <class F>
lasolve_status guarded(F f) noexcept {
  try {
    said().error.clear();
    return f();
  } catch (...) {
    return status_of_exception();
  }
}

}  // namespace lasolve::from_c
