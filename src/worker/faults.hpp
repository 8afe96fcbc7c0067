// Faults and grades of kernels as a worker tells them: the members in one order, which both sides have, as an array of JSON.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <type_traits>

#include "bench/conformance.hpp"
#include "worker/protocol.hpp"

namespace lasolve::worker {

/// JSON has no NaN and no infinity: numbers with a point travel as text, which has all their bits.
struct Writer {
  Json all = Json::array();
  void operator()(double x) { all.push_back(fmt::format("{}", x)); }
  template <class T>
  void operator()(T x) {
    all.push_back(std::int64_t(x));
  }
};
struct Reader {
  const Json& all;
  std::size_t at = 0;
  void operator()(double& x) { x = std::strtod(all.at(at++).get_ref<const std::string&>().c_str(), nullptr); }
  template <class T>
  void operator()(T& x) {
    x = T(all.at(at++).get<std::int64_t>());
  }
};

template <class F, class... T>
void each(F& f, T&... members) {
  (f(members), ...);
}
template <class F>
void members(F& f, KernelCall& c) {
  each(f, c.of, c.a_transposed, c.b_transposed, c.m, c.n, c.k, c.lda, c.ldb, c.ldc, c.alpha, c.beta, c.is_scaled,
       c.c_was_nan, c.alone, c.alignment[0], c.alignment[1], c.alignment[2]);
}
template <class F>
void members(F& f, bench::Case& c) {
  each(f, c.m, c.n, c.k, c.op_a, c.op_b, c.alpha, c.beta, c.values, c.a, c.b, c.c, c.calls, c.spoil, c.spoils_a,
       c.meets_zeros, c.spoiled, c.late);
}
template <class F>
void members(F& f, bench::WrongElement& e) {
  each(f, e.i, e.j, e.expected, e.found, e.bound, e.wrong, e.of, e.lost_step);
}
template <class F>
void members(F& f, bench::Grade& g) {
  each(f, g.worst, g.precision);
  members(f, g.at), members(f, g.element);
}
template <class F>
void members(F& f, bench::Fault& t) {
  each(f, t.kind, t.precision, t.call, t.ld[0], t.ld[1], t.ld[2], t.alignment[0], t.alignment[1], t.alignment[2],
       t.only_late, t.only_concurrent, t.misaligned);
  members(f, t.at), members(f, t.element), members(f, t.called);
}

template <class T>
Json serialized(T what) {
  Writer writer;
  members(writer, what);
  return std::move(writer.all);
}
template <class T>
T parsed(const Json& array) {
  T what;
  Reader reader{array};
  members(reader, what);
  return what;
}

}  // namespace lasolve::worker
