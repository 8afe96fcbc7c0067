// What is said of a kernel that is wrong.
#include <fmt/format.h>

#include <algorithm>

#include "bench/conformance.hpp"

namespace lasolve::bench {

namespace {

/// With 17 digits where they are needed, and a bound with a few.
std::string number(double x) { return fmt::format("{}", x); }

std::string element_of(const char* matrix, const WrongElement& e) {
  return fmt::format("{}({}, {})", matrix, e.i, e.j);
}

const char* side_of_C(const Fault& f) {
  if (f.element.j < 0) return "before the first column";
  if (f.element.j >= f.at.n) return "behind the last column";
  return "below the last row";
}

constexpr const char* on_another_stream =
    "it is right where its operands are there before it is called, and wrong where they come on its stream: "
    "it works on another";

std::string spoil_of(const Case& c) {
  if (c.spoil == Spoil::nothing) return "";
  constexpr const char* of[] = {"", "a NaN", "the NaN of the smallest fraction", "an infinity", "minus an infinity"};
  return fmt::format(", with {} in {}({}, {}) as stored", of[int(c.spoil)], c.spoils_a ? "A" : "B", c.spoiled,
                     c.spoiled);
}

}  // namespace

void Fault::say(std::string_view words) {
  const std::size_t length = std::min(words.size(), sizeof text - 1);
  std::copy_n(words.begin(), length, text);
  text[length] = 0;
}

std::string what_is_wrong(const Fault& f) {
  const WrongElement& e = f.element;
  const char* const again = f.call > 1 ? ", when called again with the same operands" : "";
  switch (f.kind) {
    case Fault::wrong_element:
      return fmt::format("{} is {}, not {}{}; {} of {} elements are wrong{}{}", element_of("C", e), number(e.found),
                         number(e.expected), e.bound > 0 ? fmt::format(" within {:.2g}", e.bound) : "", e.wrong, e.of,
                         again, f.only_late ? "; " + std::string(on_another_stream) : "");
    case Fault::wrote_outside:
      return fmt::format("it wrote {} beside C, {}: {} in the terms of C{}", number(e.found), side_of_C(f),
                         element_of("C", e), again);
    case Fault::changed_an_input:
      return fmt::format("it wrote {} into its input: {} as stored{}", number(e.found), element_of(f.text, e), again);
    case Fault::threw:
      return fmt::format("it threw: {}{}", f.text, again);
    case Fault::breach:
    case Fault::crashed:
      return fmt::format("it {}{}", f.text, again);
    case Fault::no_answer:
      return fmt::format("it gave no answer for {}{}", f.text, again);
  }
  return "";
}

std::string where_it_is_wrong(const Fault& f, const std::string& indent) {
  const Case& c = f.at;
  return fmt::format(
      "{0}C <- {1}*op(A)*op(B) + {2}*C in {3}, op(A): {4}, op(B): {5}, m = {6}, n = {7}, k = {8}{9}\n"
      "{0}lda = {10}, ldb = {11}, ldc = {12}; A, B and C at multiples of {13}, {14} and {15} bytes\n",
      indent, c.alpha, c.beta, name_of(f.precision), name_of(c.op_a), name_of(c.op_b), c.m, c.n, c.k, spoil_of(c),
      f.ld[0], f.ld[1], f.ld[2], f.alignment[0], f.alignment[1], f.alignment[2]);
}

}  // namespace lasolve::bench
