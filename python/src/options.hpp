// Options by keyword: one table, which all functions take their keywords from.
#pragma once

#include <nanobind/nanobind.h>

#include "lasolve/lasolve.hpp"

namespace lasolve::python {

namespace nb = nanobind;

/// Options, and what they refer to, which has to live as long.
struct Asked {
  Options options;
  nb::object kernel;  // a lasolve.gemm
  /// Sets what a keyword means; None leaves it as it is. Throws nb::type_error for one that is none, std::invalid_argument for a value.
  void set(std::string_view keyword, nb::handle value);
  void set_all(nb::handle keywords);  // a dict or None
};

/// All keywords that `Asked::set` takes.
std::vector<std::string> keywords();

/// Lets Ctrl-C end what Options are for, and shows a bar where one was asked for. Calls of few operations are not watched, which
/// would take up to a fifth of them; a card makes more in the same time.
void watch(Asked&, double flops, bool is_on_card);

/// Without the lock of the interpreter, where work is long enough for others to use it.
class Unlocked {
 public:
  explicit Unlocked(std::int64_t n) : state_(n >= 48 ? PyEval_SaveThread() : nullptr) {}
  Unlocked(const Unlocked&) = delete;
  ~Unlocked() {
    if (state_) PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

}  // namespace lasolve::python
