// What is said of a kernel that is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  return fmt::format(", with {} in {}({}, {}) as stored{}", of[int(c.spoil)], c.spoils_a ? "A" : "B", c.spoiled,
                     c.spoiled, c.meets_zeros ? ", which meets zeros" : "");
}

/// What a person who sees the element alone would look for in vain.
std::string why_perhaps(const Fault& f) {
  if (f.only_late) return fmt::format("; {}", on_another_stream);
  if (f.only_concurrent) return "; it is right where one core calls it at a time, and wrong where several do";
  if (f.has_read_c()) return "; C held NaN before the call: it reads C where beta is 0, or adds to C whatever beta is";
  if (f.at.meets_zeros && std::isnan(f.element.expected))
    return "; 0 times NaN and 0 times infinity are NaN: it leaves out steps with a zero";
  if (f.element.lost_step >= 0 && f.at.k == 1) return "; nothing was added there: a loop over m, n or k ends too early";
  if (f.element.lost_step >= 0)
    return f.element.lost_step == f.at.k - 1 ? "; with the last step of k it would be right: a loop ends too early"
                                             : "; with the first step of k it would be right: a loop begins too late";
  return "";
}

std::string by_word(bool transposed) { return transposed ? "transpose" : "none"; }

}  // namespace

void Fault::say(std::string_view words) {
  const std::size_t length = std::min(words.size(), sizeof text - 1);
  std::copy_n(words.begin(), length, text);
  text[length] = 0;
}

bool Fault::has_read_c() const {
  const bool was_nan = called.of > 0 ? called.c_was_nan : at.beta == 0;
  return kind == wrong_element && was_nan && std::isnan(element.found) && !std::isnan(element.expected);
}

std::string what_is_wrong(const Fault& f) {
  const WrongElement& e = f.element;
  const char* const again = f.call > 1 ? ", when called again with the same operands" : "";
  switch (f.kind) {
    case Fault::wrong_element:
      return fmt::format("{} is {}, not {}{}; {} of {} elements are wrong{}{}", element_of("C", e), number(e.found),
                         number(e.expected), e.bound > 0 ? fmt::format(" within {:.2g}", e.bound) : "", e.wrong, e.of,
                         again, why_perhaps(f));
    case Fault::wrote_outside:
      return fmt::format("it wrote {} beside C, {}: {} in the terms of C{}", number(e.found), side_of_C(f),
                         element_of("C", e), again);
    case Fault::changed_an_input:
      return fmt::format("it wrote {} into its input: {} as stored{}", number(e.found), element_of(f.text, e), again);
    case Fault::threw:
      return fmt::format("it threw: {}{}", f.text, again);
    case Fault::breach:
      return fmt::format("it {}{}", f.text, again);
    case Fault::crashed:
      return fmt::format("it {}{}{}", f.text, again,
                         f.misaligned ? "; the processor did not take an address, as where a load wants more alignment "
                                        "than its operand has"
                                      : "");
    case Fault::no_answer:
      return fmt::format("it gave no answer for {}{}", f.text, again);
  }
  return "";
}

std::string where_it_is_wrong(const Fault& f, const std::string& indent) {
  const Case& c = f.at;
  std::string text = fmt::format(
      "{0}C <- {1}*op(A)*op(B) + {2}*C in {3}, op(A): {4}, op(B): {5}, m = {6}, n = {7}, k = {8}{9}\n"
      "{0}lda = {10}, ldb = {11}, ldc = {12}; A, B and C at multiples of {13}, {14} and {15} bytes\n",
      indent, c.alpha, c.beta, name_of(f.precision), name_of(c.op_a), name_of(c.op_b), c.m, c.n, c.k, spoil_of(c),
      f.ld[0], f.ld[1], f.ld[2], f.alignment[0], f.alignment[1], f.alignment[2]);
  const KernelCall& call = f.called;
  if (call.of == 0) return text;
  return text +
         fmt::format(
             "{0}the kernel itself got m = {1}, n = {2}, k = {3}, op_a: {4}, op_b: {5}, {6}\n"
             "{0}and lda = {7}, ldb = {8}, ldc = {9}; its A, B and C at multiples of {10}, {11} and {12} bytes{13}\n",
             indent, call.m, call.n, call.k, by_word(call.a_transposed), by_word(call.b_transposed),
             call.is_scaled ? fmt::format("alpha = {}, beta = {}", call.alpha, call.beta) : "without alpha and beta",
             call.lda, call.ldb, call.ldc, call.alignment[0], call.alignment[1], call.alignment[2],
             call.of > 1 ? fmt::format("; one of {} calls", call.of) : "");
}

std::string what_is_lost(const Grade& g) {
  const int most = most_exponent(g.precision);
  return fmt::format(
      "keeps to norms, not to each element: an element of (A D)(D^-1 B), with D from 2^-{0} to 2^{0} and k = {1}, is "
      "off by "
      "{2:.1e} times (k + 2) u |A||B|. Digits are lost where rows or columns of a matrix differ in size",
      most, g.at.k, g.worst);
}

}  // namespace lasolve::bench
