#include "bench/conformance.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <new>

#include "core/device_error.hpp"
#include "core/kernel_fault.hpp"

namespace lasolve::bench {

namespace {

/// The largest integers of which no sum is rounded: below 2²² in fp32 and 2⁵¹ in fp64, of which α and β leave that; and in
/// fp64 sums over columns for a projection need room, too. Small where a kernel cuts operands.
template <Precision P>
std::int64_t most_integer(const Case& c, bool coarse) {
  if (coarse) return 8;
  constexpr bool f64 = P == Precision::fp64;
  const bool projected = c.multiplications() > worth_computing;
  const double terms = double(std::max<std::int64_t>(c.k, 1)) * (f64 && projected ? double(c.m) : 1);
  const auto most = std::int64_t(std::sqrt((f64 ? 0x1p51 : 0x1p22) / terms));
  return std::clamp<std::int64_t>(most, 1, f64 ? 1 << 20 : 100);
}

template <class X>
X spoiled(Spoil spoil) {
  using Bits = std::conditional_t<sizeof(X) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(X) == 4, std::uint32_t, std::uint16_t>>;
  const X infinity = X(std::numeric_limits<float>::infinity());
  switch (spoil) {
    case Spoil::nothing:
      break;
    case Spoil::nan:
      return X(std::numeric_limits<float>::quiet_NaN());
    case Spoil::least_nan:  // an infinity if its last bits were cut off
      return std::bit_cast<X>(Bits(std::bit_cast<Bits>(infinity) + 1));
    case Spoil::infinity:
      return infinity;
    case Spoil::minus_infinity:
      return X(-std::numeric_limits<float>::infinity());
  }
  return X(0.0f);
}

template <class X>
void fill(const Queue<Cpu>& host, MatrixView<X> image, const Case& c, std::int64_t most, std::uint64_t seed) {
  if (c.values == Values::integers)
    fill_integers(host, image, most, seed);
  else
    fill_random(host, image, seed);
}

/// Zero times infinity is NaN: where an infinity is to stay one, there are no zeros. `along_row`: what is spoiled meets a row of the
/// other operand as stored.
template <class X>
void spoil(MatrixView<X> with, MatrixView<X> other, bool along_row, const Case& c) {
  for (const MatrixView<X>& x : {with, other})
    for (std::int64_t j = 0; j < x.cols(); ++j)
      for (std::int64_t i = 0; i < x.rows(); ++i)
        if (float(x(i, j)) == 0) x(i, j) = X(1.0f);
  with(c.spoiled, c.spoiled) = spoiled<X>(c.spoil);
  for (std::int64_t i = 0; c.meets_zeros && i < (along_row ? other.cols() : other.rows()); i += 2)
    (along_row ? other(c.spoiled, i) : other(i, c.spoiled)) = X(0.0f);
}

/// A grading: line i of an operand, a stored column or a stored row, is multiplied by factor(i), which rounds nothing.
template <class X, class Factor>
void scale(MatrixView<X> x, bool is_column, Factor factor) {
  for (std::int64_t j = 0; j < x.cols(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) x(i, j) = X(float(factor(is_column ? j : i)) * x(i, j));
}

Fault said(Fault f, const char* words) {
  f.say(words);
  return f;
}

bool wants_much_memory(const Case& c) { return c.a == Layout::far || c.b == Layout::far || c.c == Layout::far; }

}  // namespace

template <Precision P, class Space>
void Validation<P, Space>::make_operands(const Case& c) {
  const bool turn_a = c.op_a == Op::transpose, turn_b = c.op_b == Op::transpose;
  A_.lay_out(turn_a ? c.k : c.m, turn_a ? c.m : c.k, c.a);
  B_.lay_out(turn_b ? c.n : c.k, turn_b ? c.k : c.n, c.b);
  C_.lay_out(c.m, c.n, c.c);
  const Queue<Cpu>& host = cores_for_checking(c);
  const std::int64_t most = most_integer<P>(c, kernel_.unit_roundoff > Arithmetic<P>::unit_roundoff);
  fill(host, A_.image(), c, most, 1);
  fill(host, B_.image(), c, most, 2);
  const MatrixView<T> C = C_.image();
  if (c.beta != 0) fill(host, C, c, most, 3);
  for (std::int64_t j = 0; c.beta == 0 && j < c.n; ++j) std::fill_n(C.data() + j * C.ld(), c.m, frame_value<T>());
  const auto power = [](std::int64_t i) {
    return std::ldexp(1.0, int(i * 37 % (2 * most_exponent(P) + 1)) - most_exponent(P));
  };
  const auto magnitude = [&](std::int64_t i) { return i == 3 ? 0 : power(i); };
  const auto inverse = [&](std::int64_t l) { return 1 / power(l); };
  if (c.values == Values::magnitudes) scale(A_.image(), turn_a, magnitude), scale(B_.image(), !turn_b, magnitude);
  if (c.values == Values::steps) scale(A_.image(), !turn_a, power), scale(B_.image(), turn_b, inverse);
  if (c.spoil != Spoil::nothing)
    c.spoils_a ? spoil(A_.image(), B_.image(), !turn_b, c) : spoil(B_.image(), A_.image(), turn_a, c);
}

template <Precision P, class Space>
Expression<P> Validation<P, Space>::expression(const Case& c) {
  return {double(T(c.alpha)), double(T(c.beta)), {A_.image(), c.op_a}, {B_.image(), c.op_b}, C_.image()};
}

template <Precision P, class Space>
Fault Validation<P, Space>::fault(Fault::Kind kind, const Case& c, int call) {
  Fault f;
  f.kind = kind, f.precision = P, f.at = c, f.call = call;
  f.ld[0] = A_.ld(), f.ld[1] = B_.ld(), f.ld[2] = C_.ld();
  f.alignment[0] = A_.alignment(), f.alignment[1] = B_.alignment(), f.alignment[2] = C_.alignment();
  f.called = KernelCalls::here().at(nullptr);
  return f;
}

template <Precision P, class Space>
std::optional<Fault> Validation<P, Space>::operator()(const Case& c) {
  std::optional<Fault> fault = calls(c);
  if (fault && c.late && fault->kind == Fault::wrong_element) {
    Case in_time = c;
    in_time.late = false;
    fault->only_late = !calls(in_time);
  }
  if constexpr (std::is_same_v<Space, Cpu>)
    if (fault && fault->kind == Fault::wrong_element && q_->threads() > 1 && !fault->called.alone) {
      Queue<Cpu> alone(1), *const all_threads = std::exchange(q_, &alone);
      fault->only_concurrent = !calls(c);
      q_ = all_threads;
    }
  return fault;
}

template <Precision P, class Space>
std::optional<Fault> Validation<P, Space>::calls(const Case& c) {
  make_operands(c);
  if (!c.late) A_.send(*q_), B_.send(*q_);
  for (int n = 1; n <= c.calls; ++n)
    if (auto f = call(c, n)) return f;
  return {};
}

/// A kernel that does not wait in the order of the queue reads what was there before, and its C is overwritten.
template <Precision P, class Space>
void Validation<P, Space>::send_late() {
  constexpr double longer_than_a_call = 0.01;
  A_.stage(*q_), B_.stage(*q_), C_.stage(*q_);
  if constexpr (std::is_same_v<Space, Cuda>) delay(*q_, longer_than_a_call);
  A_.arrive(*q_), B_.arrive(*q_), C_.arrive(*q_);
}

template <Precision P, class Space>
std::optional<Fault> Validation<P, Space>::call(const Case& c, int call) {
  if (!c.late) C_.send(*q_);
  KernelCalls::here().forget();
  if (before_) before_(fault(Fault::crashed, c, call));
  if (c.late) send_late();
  try {
    kernel_(*q_, T(c.alpha), {A_.view(), c.op_a}, {B_.view(), c.op_b}, T(c.beta), C_.view());
    q_->finish();
    if (after_) after_();
  } catch (const std::bad_alloc&) {
    throw;  // the machine's fault, not the kernel's
  } catch (const OutOfMemory&) {
    throw;
  } catch (const KernelFault& e) {
    return said(fault(Fault::breach, c, call), e.what());
  } catch (const DeviceError& e) {
    return said(fault(Fault::breach, c, call), ("failed on the device: " + e.reason).c_str());
  } catch (const std::exception& e) {
    return said(fault(Fault::threw, c, call), e.what());
  }
  C_.fetch(*q_);
  const auto at = [&](Fault::Kind kind, auto position, double found, const char* text) {
    Fault f = fault(kind, c, call);
    f.element.i = position.i, f.element.j = position.j, f.element.found = found;
    f.say(text);
    return f;
  };
  if (const auto changed = C_.changed_frame()) return at(Fault::wrote_outside, *changed, C_.fetched_at(*changed), "C");
  const auto input = [&](auto& X, const char* name) -> std::optional<Fault> {
    if (!X.is_small()) return {};
    X.fetch(*q_);
    const auto changed = X.change();
    return changed ? std::optional(at(Fault::changed_an_input, *changed, X.fetched_at(*changed), name)) : std::nullopt;
  };
  if (auto f = input(A_, "A")) return f;
  if (auto f = input(B_, "B")) return f;
  const auto found = wrong(c);
  if (!found) return {};
  Fault f = fault(Fault::wrong_element, c, call);
  f.element = *found;
  f.element.lost_step = lost_step(expression(c), *found);
  f.called = KernelCalls::here().at(&C_.view().data()[found->i + found->j * C_.ld()]);
  return f;
}

/// Of C as it was fetched. A case that is graded adds to the grade.
template <Precision P, class Space>
std::optional<WrongElement> Validation<P, Space>::wrong(const Case& c) {
  const Expression<P> e = expression(c);
  const MatrixView<const T> C = C_.fetched();
  const double u = kernel_.unit_roundoff;
  const Queue<Cpu>& host = cores_for_checking(c);
  if (c.values == Values::integers || c.k == 0) return wrong_bits(host, e, C);
  if (c.values == Values::magnitudes) return wrong_by_element(host, e, C, u);
  if (c.values == Values::uniform) return wrong_by_norm(host, e, C, u, error_);
  double share = 0;
  const WrongElement worst = worst_element(host, e, C, u, share);
  if (share > grade_.worst) grade_ = {share, P, c, worst};
  return wrong_by_norm(host, e, C, u, share);
}

template <Precision P, class Space>
Verdict conformance(Queue<Space>& q, const Queue<Cpu>& host, const GemmKernel<P, Space>& kernel,
                    const std::vector<Product>& timed, const BeforeCall& before, const AfterCall& after) {
  Verdict verdict;
  Validation<P, Space> validation(q, host, kernel, before, after);
  const auto try_out = [&](const Case& c) {
    try {
      verdict.fault = validation(c);
      ++verdict.cases;
    } catch (const OutOfMemory&) {
      if (!wants_much_memory(c)) throw;
      ++verdict.left_out;
    }
    return !verdict.fault;
  };
  for (const Group& group : conformance_list(P, std::is_same_v<Space, Cuda> ? Device::cuda : Device::cpu))
    for (const Case& c : group.cases)
      if (!try_out(c)) return verdict;
  for (const Case& c : graded_cases())
    if (!try_out(c)) return verdict;
  for (const Product& p : timed) {
    for (const Case& c : timed_cases(p))
      if (!try_out(c)) return verdict;
    verdict.errors.push_back(validation.error());
    if (!try_out(graded_case(p))) return verdict;
  }
  verdict.grade = validation.grade();
  return verdict;
}

#define LASOLVE_CONFORMANCE(precision, Space)                                                                    \
  template class Validation<Precision::precision, Space>;                                                        \
  template Verdict conformance(Queue<Space>&, const Queue<Cpu>&, const GemmKernel<Precision::precision, Space>&, \
                               const std::vector<Product>&, const BeforeCall&, const AfterCall&);
#define LASOLVE_CONFORMANCE_AT(Space) \
  LASOLVE_CONFORMANCE(fp64, Space)    \
  LASOLVE_CONFORMANCE(fp32, Space)    \
  LASOLVE_CONFORMANCE(tf32, Space)    \
  LASOLVE_CONFORMANCE(fp16, Space)    \
  LASOLVE_CONFORMANCE(bf16, Space)
LASOLVE_CONFORMANCE_AT(Cpu)
LASOLVE_CONFORMANCE_AT(Cuda)

}  // namespace lasolve::bench
