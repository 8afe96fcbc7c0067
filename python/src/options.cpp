#include "options.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "gemm.hpp"
#include "lasolve/names.hpp"

namespace lasolve::python {
namespace {

using std::string;

template <class Enum>
Enum word(const char* what, nb::handle value) {
  string given;
  if (!nb::try_cast(value, given)) given = nb::cast<string>(nb::repr(value));
  if (const auto known = parse<Enum>(given)) return *known;
  string all;
  for (const string& w : words_of<Enum>()) all += (all.empty() ? "" : ", ") + w;
  throw std::invalid_argument("lasolve: " + string(what) + " '" + given + "' is unknown; known: " + all);
}

template <class T>
T number(const char* what, nb::handle value) {
  T given;
  if (!nb::try_cast(value, given))
    throw nb::type_error(
        ("lasolve: " + string(what) + " is no such number: " + nb::cast<string>(nb::repr(value))).c_str());
  return given;
}
bool truth(nb::handle value) {
  const int is = PyObject_IsTrue(value.ptr());
  if (is < 0) throw nb::python_error();
  return is == 1;
}

void set_gemm(Asked& asked, nb::handle value) {
  string name;
  nb::object kernel = nb::borrow(value);
  if (nb::try_cast(value, name)) {
    kernel = function("_gemm", "named")(value);
    if (kernel.is_none()) {
      asked.options.gemm = name;
      return;
    }
  }
  if (!nb::isinstance<Kernel>(kernel)) kernel = nb::getattr(kernel, "_kernel", nb::none());
  if (!nb::isinstance<Kernel>(kernel))
    throw nb::type_error("lasolve: gemm is the name of a backend, or a function that lasolve.gemm has made one of");
  asked.options.gemm = nb::cast<Kernel&>(kernel).choice();
  asked.kernel = kernel;
}

void set_device(Asked& asked, nb::handle value) {
  const string name = nb::cast<string>(nb::str(value));
  const auto devices = parse_devices(name);
  if (!devices || devices->all)
    throw std::invalid_argument("lasolve: there is no device '" + name +
                                "', but auto, cpu, cuda, cuda:1, several as cuda:0,1, and so on");
  asked.options.device = devices->first, asked.options.cards = devices->cards;
}

void set_card_shares(Asked& asked, nb::handle value) {
  if (!nb::try_cast(value, asked.options.card_shares))
    throw nb::type_error(
        ("lasolve: card_shares are whole numbers, as [2, 1], not " + nb::cast<string>(nb::repr(value))).c_str());
}

void set_tuning(Asked& asked, nb::handle value) {
  asked.options.tuning = tuning_of(asked.options.device);
  for (const auto& [name, size] : nb::cast<nb::dict>(value))
    tune(*asked.options.tuning, nb::cast<string>(name), nb::cast<std::int64_t>(size));
}

void set_progress(Asked& asked, nb::handle value) {
  nb::object show = nb::borrow(value);
  if (!PyCallable_Check(value.ptr())) {
    if (!truth(value)) return;
    show = function("_progress", "bar")();
  }
  asked.options.progress = [show](double fraction) {
    const nb::gil_scoped_acquire locked;
    show(fraction);
  };
}

struct Keyword {
  const char* name;
  void (*set)(Asked&, nb::handle);
};

template <class Value>
void take(Value& member, const char* name, nb::handle given) {
  if constexpr (std::is_enum_v<Value>)
    member = word<Value>((std::string("the ") + name).c_str(), given);
  else if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
    member = number<Value>(name, given);
  else
    member = truth(given);
}

/// True, False, or one of the tool's words.
void take(Wanted& member, const char* name, nb::handle given) {
  member = PyUnicode_Check(given.ptr()) ? Wanted(word<Wanted::Kind>(name, given)) : Wanted(truth(given));
}

#define LASOLVE_MEMBER(name)                                                               \
  Keyword {                                                                                \
#name, [](Asked & asked, nb::handle given) { take(asked.options.name, #name, given); } \
  }
const Keyword table[] = {
    {"gemm", set_gemm},
    {"device", set_device},
    LASOLVE_MEMBER(precision),
    LASOLVE_MEMBER(accuracy),
    LASOLVE_MEMBER(factorization),
    LASOLVE_MEMBER(pivoting),
    LASOLVE_MEMBER(triangle),
    LASOLVE_MEMBER(storage),
    LASOLVE_MEMBER(refine),
    LASOLVE_MEMBER(residual),
    LASOLVE_MEMBER(equilibrate),
    LASOLVE_MEMBER(schedule),
    LASOLVE_MEMBER(block_size),
    LASOLVE_MEMBER(threads),
    LASOLVE_MEMBER(assume_suitable),
    LASOLVE_MEMBER(allow_nonfinite),
    LASOLVE_MEMBER(check),
    LASOLVE_MEMBER(condition),
    LASOLVE_MEMBER(bounds),
    LASOLVE_MEMBER(history),
    {"tuning", set_tuning},
    {"progress", set_progress},
    LASOLVE_MEMBER(device_memory),
    {"card_shares", set_card_shares},
};

}  // namespace

void Asked::set(std::string_view name, nb::handle value) {
  if (value.is_none()) return;
  for (const Keyword& keyword : table)
    if (keyword.name == name) return keyword.set(*this, value);
  std::vector<string> names = keywords();
  string all;
  for (const string& k : names) all += (all.empty() ? "" : ", ") + k;
  for (const char* parameter :
       {"lower", "overwrite_a", "overwrite_b", "check_finite", "assume_a", "transposed", "return_report"})
    names.push_back(parameter);
  const nb::list near(nb::module_::import_("difflib").attr("get_close_matches")(string(name), names, 1));
  const string hint = near.size() ? "did you mean '" + nb::cast<string>(near[0]) + "'?" : "there are " + all;
  throw nb::type_error(("lasolve: there is no keyword '" + string(name) + "'; " + hint).c_str());
}

void Asked::set_all(nb::handle given) {
  if (given.is_none()) return;
  for (const auto& [name, value] : nb::cast<nb::dict>(given)) set(nb::cast<string>(name), value);
}

std::vector<string> keywords() {
  std::vector<string> names;
  for (const Keyword& keyword : table) names.push_back(keyword.name);
  return names;
}

void watch(Asked& asked, double flops, bool is_on_card) {
  const double takes_long = is_on_card ? 6e11 : 6e8;  // of some 20 ms, and 10
  if (flops < takes_long && !asked.options.progress) return;
  using Clock = std::chrono::steady_clock;
  asked.options.progress = [show = std::move(asked.options.progress), last = Clock::now(),
                            ended = false](double fraction) mutable {
    const bool is_shown = ended && fraction >= 1;  // of one system of many
    if ((is_shown || fraction < 1) && Clock::now() - last < std::chrono::milliseconds(50)) return;
    last = Clock::now();
    ended = fraction >= 1;
    if (show && !is_shown) show(fraction);
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
}

}  // namespace lasolve::python
