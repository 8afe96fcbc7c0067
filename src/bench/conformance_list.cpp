// The products that every kernel is tried with.
#include <algorithm>
#include <cmath>

#include "bench/conformance.hpp"

namespace lasolve::bench {

namespace {

constexpr Op ops[] = {Op::none, Op::transpose};

/// Each case with each op(A) and op(B).
std::vector<Case> with_all_ops(const std::vector<Case>& some) {
  std::vector<Case> all;
  for (Case c : some)
    for (const Op op_a : ops)
      for (const Op op_b : ops) {
        c.op_a = op_a, c.op_b = op_b;
        all.push_back(c);
      }
  return all;
}

Case laid_out(Case c, Layout layout) {
  c.a = c.b = c.c = layout;
  return c;
}

Case integers(Case c) {
  c.values = Values::integers;
  return c;
}

std::vector<Case> small_and_empty() {
  std::vector<Case> cases;
  for (const std::int64_t m : {0, 1, 33, 128})
    for (const std::int64_t n : {0, 1, 33, 128})
      for (const std::int64_t k : {0, 1, 33, 128}) {
        cases.push_back({.m = m, .n = n, .k = k});
        cases.push_back(laid_out({.m = m, .n = n, .k = k, .alpha = 0.5, .beta = 0}, Layout::tight));
      }
  return with_all_ops(cases);
}

std::vector<Case> each_size_in_each_role() {
  std::vector<Case> cases;
  for (const std::int64_t size : {0, 1, 31, 32, 33, 127, 128, 129, 257})
    for (const Layout layout : {Layout::tight, Layout::even, Layout::odd}) {
      cases.push_back(laid_out({.m = size, .n = 65, .k = 34}, layout));
      cases.push_back(laid_out({.m = 34, .n = size, .k = 65, .alpha = 1, .beta = 0}, layout));
      cases.push_back(laid_out({.m = 65, .n = 34, .k = size}, layout));
    }
  return with_all_ops(cases);
}

/// Every size up to beyond the tiles of most kernels: a tile, or a step along k, that is not full is not forgotten.
std::vector<Case> every_size(std::int64_t Case::*size, Case c) {
  constexpr Layout layouts[] = {Layout::odd, Layout::aligned, Layout::tight};
  std::vector<Case> cases;
  for (std::int64_t s = 1; s <= 132; ++s) {
    c.*size = s;
    cases.push_back(laid_out(integers(c), layouts[s % 3]));
  }
  return with_all_ops(cases);
}

std::vector<Case> alpha_and_beta() {
  std::vector<Case> cases;
  for (const double alpha : {-1.0, 0.5, 0.0, 1.0, 3.0})
    for (const double beta : {0.0, 1.0, -0.5, 2.0})
      for (const std::int64_t k : {0, 47}) cases.push_back({.m = 67, .n = 45, .k = k, .alpha = alpha, .beta = beta});
  return with_all_ops(cases);
}

std::vector<Case> empty_k() {
  std::vector<Case> cases;
  for (const double beta : {0.0, 1.0, -0.5}) cases.push_back({.m = 33, .n = 129, .k = 0, .beta = beta});
  return with_all_ops(cases);
}

std::vector<Case> exact_integers() {
  std::vector<Case> cases;
  for (const double beta : {0.0, 1.0})
    cases.push_back(integers({.m = 130, .n = 67, .k = 257, .beta = beta, .calls = 2}));
  return with_all_ops(cases);
}

/// Where one operand is aligned and another is not, sizes are such that nothing else forbids wide accesses.
std::vector<Case> layouts() {
  constexpr Layout each[] = {Layout::tight, Layout::aligned, Layout::shifted, Layout::skewed};
  std::vector<Case> cases;
  for (const Layout a : each)
    for (const Layout b : each)
      for (const Layout c : each) cases.push_back(integers({.m = 72, .n = 80, .k = 40, .a = a, .b = b, .c = c}));
  return with_all_ops(cases);
}

std::vector<Case> nan_and_infinity() {
  std::vector<Case> cases;
  for (const Spoil spoil : {Spoil::nan, Spoil::least_nan, Spoil::infinity, Spoil::minus_infinity})
    for (const Op op : ops)
      for (const Layout layout : {Layout::odd, Layout::aligned})
        for (const bool in_a : {true, false})
          for (const std::int64_t at : {0, 40, 71}) {
            Case c =
                laid_out({.m = 72, .n = 80, .k = 88, .op_a = op, .op_b = flipped(op), .alpha = 0.5, .beta = 0}, layout);
            c.spoil = spoil, c.spoils_a = in_a, c.spoiled = at;
            cases.push_back(integers(c));
          }
  return cases;
}

/// Zero times NaN, or infinity, is NaN: a kernel that leaves out steps with a zero forgets it.
std::vector<Case> zeros_that_meet_nan() {
  std::vector<Case> cases;
  for (const Spoil spoil : {Spoil::nan, Spoil::infinity})
    for (const bool in_a : {true, false})
      for (const std::int64_t at : {0, 41}) {
        Case c = integers({.m = 72, .n = 80, .k = 88, .beta = 0});
        c.spoil = spoil, c.spoils_a = in_a, c.spoiled = at, c.meets_zeros = true;
        cases.push_back(c);
      }
  return with_all_ops(cases);
}

/// Beyond the tiles, strips and parts of k for which kernels have ways of their own.
std::vector<Case> fast_paths(Device::Kind device) {
  std::vector<Case> cases;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k, Layout layout) {
    cases.push_back(laid_out(integers({.m = m, .n = n, .k = k}), layout));
  };
  if (device != Device::cuda) {
    add(401, 131, 533, Layout::odd);
    add(37, 4233, 19, Layout::aligned);
    add(1029, 66, 37, Layout::made);
    add(33, 29, 2051, Layout::odd);
    add(37, 26, 4133, Layout::made);
    return with_all_ops(cases);
  }
  for (std::int64_t k = 65; k <= 72; ++k) add(704, 600, k, Layout::aligned);
  add(703, 603, 70, Layout::odd);
  add(1503, 1403, 40, Layout::even);
  add(1601, 1603, 1605, Layout::made);
  add(771, 515, 4101, Layout::made);
  add(1030, 250, 4350, Layout::made);
  std::vector<Case> all = with_all_ops(cases);
  all.push_back(laid_out(integers({.m = 3102, .n = 2903, .k = 1030}), Layout::made));
  return all;
}

/// Twice, since a kernel that is called for the first time is loaded, which takes long.
std::vector<Case> late_operands() {
  return with_all_ops({{.m = 65, .n = 34, .k = 67, .calls = 2, .late = true},
                       {.m = 129, .n = 66, .k = 40, .alpha = 1, .beta = 0, .calls = 2, .late = true}});
}

/// An index that is computed in 32 bits does not reach the third column.
std::vector<Case> columns_far_apart() {
  std::vector<Case> cases;
  for (const Op op : ops) {
    Case a = integers({.m = 5, .n = 7, .k = 6, .op_a = op, .a = Layout::far});
    (op == Op::none ? a.k : a.m) = 3;
    cases.push_back(a);
    Case b = integers({.m = 5, .n = 7, .k = 6, .op_b = op, .b = Layout::far});
    (op == Op::none ? b.n : b.k) = 3;
    cases.push_back(b);
  }
  cases.push_back(integers({.m = 5, .n = 3, .k = 6, .c = Layout::far}));
  return cases;
}

}  // namespace

std::vector<Group> conformance_list(Precision precision, Device::Kind device) {
  std::vector<Group> list = {
      {"small_and_empty", small_and_empty()},
      {"each_size_in_each_role", each_size_in_each_role()},
      {"every_m", every_size(&Case::m, {.m = 0, .n = 7, .k = 5})},
      {"every_n", every_size(&Case::n, {.m = 9, .n = 0, .k = 5, .beta = 0})},
      {"every_k", every_size(&Case::k, {.m = 9, .n = 7, .k = 0})},
      {"alpha_and_beta", alpha_and_beta()},
      {"empty_k", empty_k()},
      {"exact_integers", exact_integers()},
      {"layouts", layouts()},
      {"large", with_all_ops({{.m = 257, .n = 129, .k = 255}})},
      {"nan_and_infinity", nan_and_infinity()},
      {"zeros_that_meet_nan", zeros_that_meet_nan()},
      {"fast_paths", fast_paths(device)},
      {"columns_far_apart", columns_far_apart()},
  };
  if (device == Device::cuda) list.insert(list.begin(), {"late_operands", late_operands()});
  if (precision != Precision::fp16)  // whose exponents have no room for them
    list.push_back({"magnitudes", {{.m = 70, .n = 66, .k = 130, .alpha = 1, .beta = 0, .values = Values::magnitudes}}});
  return list;
}

namespace {

Case as_made(const Product& p) {
  return laid_out({.m = p.m, .n = p.n, .k = p.k, .alpha = p.alpha, .beta = p.beta}, Layout::made);
}

}  // namespace

std::vector<Case> timed_cases(const Product& p) { return {integers(as_made(p)), as_made(p)}; }

std::vector<Case> graded_cases() {
  std::vector<Case> cases =
      with_all_ops({{.m = 70, .n = 66, .k = 130, .alpha = 1, .beta = 0, .values = Values::steps}});
  cases.push_back({.m = 41, .n = 36, .k = 1031, .alpha = 1, .beta = 0, .values = Values::steps});
  return cases;
}

/// With β·C₀ the error would be that of C₀, which is not scaled.
Case graded_case(const Product& p) {
  Case c = as_made(p);
  c.beta = 0, c.values = Values::steps;
  return c;
}

/// Elements of fp16 have to stay normal.
int most_exponent(Precision precision) { return precision == Precision::fp16 ? 6 : 50; }

std::vector<Product> products_of_a_solve(std::int64_t n) {
  constexpr std::int64_t in_the_list = 257, multiplications = 200'000'000, elements = 1 << 24, square = 1 << 12;
  if (n <= in_the_list) return {};
  std::vector<Product> all;
  const auto add = [&](std::int64_t rows, std::int64_t columns, std::int64_t steps) {
    all.push_back({"solve", rows, columns, steps, -1, 1});
  };
  const auto steps = [&](std::int64_t rows, std::int64_t columns) {
    return std::clamp<std::int64_t>(multiplications / (rows * columns), 8, std::min<std::int64_t>(n, 256));
  };
  if (n <= square) {
    add(n, n, steps(n, n));
  } else {  // C of n x n takes too much memory
    const std::int64_t other = std::max<std::int64_t>(elements / n, 16);
    add(n, other, steps(n, other));
    add(other, n, steps(other, n));
  }
  const std::int64_t edge =
      std::clamp<std::int64_t>(std::int64_t(std::sqrt(double(multiplications) / double(n))), 16, 256);
  add(edge, edge, n);
  return all;
}

}  // namespace lasolve::bench
