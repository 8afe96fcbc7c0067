// The conformance suite of the GEMM contract (lasolve/gemm.hpp): one list of products, and what is wrong with a kernel that fails
// at one. Its users are tests/gemm_test.cpp, `lasolve bench gemm`, and whoever has a record of his own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/layout.hpp"
#include "bench/oracle.hpp"
#include "bench/product.hpp"
#include "core/kernel_calls.hpp"
#include "lasolve/names.hpp"

namespace lasolve::bench {

/// What is in the operands, and with it how right the product has to be.
enum class Values : int {
  uniform,   ///< in [−1, 1): the bound of the contract, in Frobenius norms; exact where k = 0
  integers,  ///< whose sums need no rounding, however operands are cut: bit for bit
  magnitudes,  ///< D·op(A) and op(B)·D, with D of powers of two, 2⁻⁵⁰ to 2⁵⁰, and a zero: a bound for each element
  steps  ///< op(A)·D and D⁻¹·op(B): the bound of the contract, and a grade
};

/// One element of A or B that is no number, among integers: it spoils its row or its column of C, and nothing else.
enum class Spoil : int { nothing, nan, least_nan, infinity, minus_infinity };

/// One product of the suite.
struct Case {
  std::int64_t m = 0, n = 0, k = 0;
  Op op_a = Op::none, op_b = Op::none;
  double alpha = -1, beta = 1;
  Values values = Values::uniform;
  Layout a = Layout::odd, b = Layout::odd, c = Layout::odd;
  int calls = 1;  ///< so many times with the same operands, from the same C
  Spoil spoil = Spoil::nothing;
  bool spoils_a = true;
  bool meets_zeros =
      false;  ///< what is spoiled is multiplied by zero, which is NaN, in every other element of its row or column
  std::int64_t spoiled = 0;  ///< the row and the column, as stored, of what is spoiled
  /// On CUDA: when the kernel is called, its operands are still on their way, in the order of its queue.
  bool late = false;

  double multiplications() const { return double(m) * double(n) * double(k); }
};

/// Cases with something in common.
struct Group {
  const char* name;
  std::vector<Case> cases;
};
/// The list. What is large enough for the fast kernels of a device depends on the device.
std::vector<Group> conformance_list(Precision, Device::Kind);
/// A product as it is timed, in integers, and then in numbers that are rounded.
std::vector<Case> timed_cases(const Product&);

/// What a kernel is graded by, beside the list: it is right without that, since the contract is one of norms.
std::vector<Case> graded_cases();
Case graded_case(const Product&);
/// Magnitudes and steps are powers of two from minus this to this.
int most_exponent(Precision);

/// As a solve of order n gives them to a backend: an update with as many rows and columns, and one with as many steps, each cut to what
/// is tried at a cost that does not grow with n.
std::vector<Product> products_of_a_solve(std::int64_t n);

/// The first thing that is wrong with a kernel.
struct Fault {
  enum Kind : int {
    wrong_element,     ///< element is not what it should be
    wrote_outside,     ///< element.i and .j are beside C
    changed_an_input,  ///< element.i and .j in A or B as stored, or beside it
    threw,             ///< text: what
    breach,            ///< text: what it did that no kernel may, such as "left the rounding mode changed"
    crashed,           ///< and its process ended; text: how
    no_answer          ///< the process was ended after a time without an answer; text: how long
  };
  Kind kind = wrong_element;
  Precision precision = Precision::fp64;
  Case at;
  int call = 1;             ///< the call of the case that failed
  std::int64_t ld[3] = {};  ///< of A, B and C
  int alignment[3] = {};    ///< the power of two, up to 256, that divides their addresses; 0 where not known
  WrongElement element;
  bool only_late = false;        ///< it is right where its operands are there before it is called
  bool only_concurrent = false;  ///< it is right where one core calls it at a time
  bool misaligned = false;       ///< it crashed at an address that the processor does not take
  KernelCall called;             ///< what it was called with; not known for every kernel
  char text[512] = "";

  void say(std::string_view);
  /// C was no number before the call, and an element is none after it.
  bool has_read_c() const;
};

}  // namespace lasolve::bench

template <>
struct lasolve::Names<lasolve::bench::Fault::Kind> {
  using Fault = bench::Fault;
  static constexpr Name<Fault::Kind> all[] = {{Fault::wrong_element, "wrong_element"},
                                              {Fault::wrote_outside, "wrote_outside"},
                                              {Fault::changed_an_input, "changed_an_input"},
                                              {Fault::threw, "threw"},
                                              {Fault::breach, "breach"},
                                              {Fault::crashed, "crashed"},
                                              {Fault::no_answer, "no_answer"}};
};

namespace lasolve::bench {

/// What is wrong, in one line: "C(3, 5) is 13, not 12".
std::string what_is_wrong(const Fault&);
/// At which product: op, α, β, sizes, and how the operands lie. Lines that each begin with `indent`.
std::string where_it_is_wrong(const Fault&, const std::string& indent);

/// Whether a kernel keeps each element to |Ĉ − C| ≤ (k + 2)·u·|op(A)||op(B)|, as sums of products do. One that does not is right by
/// the contract, which is one of norms, and loses digits of a matrix whose rows or columns differ in size.
struct Grade {
  double worst = 0;  ///< the largest error as a share of that; ∞ for a NaN
  Precision precision = Precision::fp64;
  Case at;
  WrongElement element;

  bool is_met() const { return worst <= 1; }
};
/// What a person has to know of a kernel that does not: a sentence of which it is the subject.
std::string what_is_lost(const Grade&);

/// What has come of some cases.
struct Verdict {
  int cases = 0;     ///< that were tried
  int left_out = 0;  ///< for want of memory: columns far apart
  std::optional<Fault> fault;
  /// Of the products that are timed, in their order: ‖C − Cref‖ as a share of what the contract allows.
  std::vector<double> errors;
  /// Of a kernel without a fault.
  Grade grade = {};
};

/// Called before each call of a kernel, with what to say should the process not survive it.
using BeforeCall = std::function<void(const Fault&)>;
/// Runs when the work of a call is done; throws what else is wrong with the kernel.
using AfterCall = std::function<void()>;

/// Tries one kernel with one case after the other. The cores of `host` share the work of checking what is large.
template <Precision P, class Space>
class Validation {
 public:
  using In = typename Arithmetic<P>::Operand;
  using T = typename Arithmetic<P>::Result;

  Validation(Queue<Space>& q, const Queue<Cpu>& host, const GemmKernel<P, Space>& kernel, BeforeCall before = {},
             AfterCall after = {})
      : q_(&q), host_(host), kernel_(kernel), before_(std::move(before)), after_(std::move(after)) {}

  /// What is wrong, if anything is. Throws MachineError where there is no memory or no device for the case itself.
  std::optional<Fault> operator()(const Case&);
  /// Of the last case whose values were uniform.
  double error() const { return error_; }
  /// The worst of all cases that are graded.
  const Grade& grade() const { return grade_; }

 private:
  /// To wake others takes longer than most cases.
  const Queue<Cpu>& cores_for_checking(const Case& c) const {
    return c.multiplications() > worth_computing ? host_ : one_core_;
  }
  void make_operands(const Case&);
  void send_late();
  Expression<P> expression(const Case&);
  std::optional<Fault> calls(const Case&);
  std::optional<Fault> call(const Case&, int call);
  std::optional<WrongElement> wrong(const Case&);
  Fault fault(Fault::Kind, const Case&, int call);

  Queue<Space>* q_;
  const Queue<Cpu>& host_;
  const Queue<Cpu> one_core_{1};
  GemmKernel<P, Space> kernel_;
  BeforeCall before_;
  AfterCall after_;
  Framed<In, Space> A_, B_;
  Framed<T, Space> C_;
  double error_ = 0;
  Grade grade_;
};

/// The whole list, what it is graded by, and then the products that are to be timed, until the kernel fails at one.
template <Precision P, class Space>
Verdict conformance(Queue<Space>&, const Queue<Cpu>& host, const GemmKernel<P, Space>&,
                    const std::vector<Product>& timed = {}, const BeforeCall& before = {}, const AfterCall& after = {});

}  // namespace lasolve::bench
