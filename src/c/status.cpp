#include "c/status.hpp"

#include <cstring>
#include <exception>
#include <new>

#include "core/misuse.hpp"
#include "core/of_this_thread.hpp"

namespace lasolve::from_c {

Said& said() { return of_this_thread<Said>(); }

lasolve_status status_of(const Outcome& outcome) {
  if (outcome.ok()) return LASOLVE_OK;
  said().error = outcome.message();
  return outcome.has_solution() ? LASOLVE_INACCURATE : LASOLVE_NO_SOLUTION;
}

/// A sentence of misuse begins as in C++.
static lasolve_status failed(lasolve_status status, const char* why) {
  constexpr const char prefix[] = "lasolve: ";
  try {
    said().error.clear();
    if (status == LASOLVE_MISUSE && std::strncmp(why, prefix, sizeof prefix - 1) != 0) said().error = prefix;
    said().error += why;
  } catch (const std::bad_alloc&) {  // the status says it
  }
  return status;
}

lasolve_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Misuse& e) {
    return failed(LASOLVE_MISUSE, e.in_c.c_str());
  } catch (const std::invalid_argument& e) {
    return failed(LASOLVE_MISUSE, e.what());
  } catch (const MachineError& e) {
    return failed(LASOLVE_MACHINE, e.what());
  } catch (const std::bad_alloc&) {
    return failed(LASOLVE_MACHINE, "not enough memory on the host");
  } catch (const Stopped&) {
    return failed(LASOLVE_STOPPED, "stopped by the progress function");
  } catch (const std::exception& e) {
    return failed(LASOLVE_INTERNAL, e.what());
  } catch (...) {
    return failed(LASOLVE_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace lasolve::from_c
