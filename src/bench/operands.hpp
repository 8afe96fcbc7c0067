// The operands of a product that is timed, and one run of it where they are.
#pragma once

#include <algorithm>

#include "bench/oracle.hpp"
#include "bench/product.hpp"
#include "bench/signs.hpp"
#include "core/traffic.hpp"
#include "core/transfer.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve::bench {

template <class T>
void move(Queue<Cpu>&, MatrixView<const T> from, MatrixView<T> to) {
  for (std::int64_t j = 0; j < from.cols(); ++j) std::copy_n(&from(0, j), from.rows(), &to(0, j));
}
template <class T, class From, class To>
void move(Queue<Cuda>& q, MatrixView<const T, From> from, MatrixView<T, To> to) {
  copy<T>(q, from, to);
}

/// The operands of a product on a device.
template <Precision P, class Space>
struct Operands {
  using In = typename Arithmetic<P>::Operand;
  using T = typename Arithmetic<P>::Result;
  Matrix<In, Space> A, B;
  Matrix<T, Space> C;

  explicit Operands(const Product& p) : A(p.m, p.k), B(p.k, p.n), C(p.m, p.n) {}
  Operands(Queue<Space>& q, const Operands<P, Cpu>& from, const Product& p) : Operands(p) {
    move<In>(q, from.A.view(), A.view());
    move<In>(q, from.B.view(), B.view());
    move<T>(q, from.C.view(), C.view());
    q.finish();
  }
  /// Products that were not computed before: see signs.hpp. Each number draws others.
  void change_signs(Queue<Space>& q, std::uint64_t number) {
    const Signs rows{3 * number}, between{3 * number + 1}, columns{3 * number + 2};
    bench::change_signs(q, rows, A.view(), between);
    bench::change_signs(q, between, B.view(), columns);
    bench::change_signs(q, rows, C.view(), columns);
  }
  void multiply(Queue<Space>& q, const GemmKernel<P, Space>& kernel, const Product& p) {
    kernel(q, T(p.alpha), A.view(), B.view(), T(p.beta), C.view());
  }
};

template <Precision P>
Operands<P, Cpu> random_operands(const Queue<Cpu>& q, const Product& p) {
  Operands<P, Cpu> all(p);
  fill_random(q, all.A.view(), 1);
  fill_random(q, all.B.view(), 2);
  fill_random(q, all.C.view(), 3);
  return all;
}

/// What runs before a product, so that it finds no operand in a cache, and so long that the host is done with its launches: some
/// take 0.1 ms. On the host operands stay where they are.
class Flush {
 public:
  void operator()(Queue<Cpu>&) {}
  void operator()(Queue<Cuda>& q) {
    constexpr std::int64_t more_than_any_cache = 1 << 30;
    if (memory_.rows() == 0) memory_ = Matrix<char, Cuda>(more_than_any_cache, 1);
    q.phase(Phase::other);
    fill_zero(q, memory_.data(), memory_.bytes());
  }

 private:
  Matrix<char, Cuda> memory_;
};

/// Seconds of one product whose operands are in place. On a device they are taken there, behind the flush, so that what
/// a launch costs the host is not counted.
template <Precision P, class Space>
double seconds_in_place(Queue<Space>& q, Flush& flush, const GemmKernel<P, Space>& kernel, const Product& p,
                        Operands<P, Space>& there) {
  q.finish();
  q.take_times();
  flush(q);
  q.phase(Phase::gemm, p.flops());
  there.multiply(q, kernel, p);
  q.finish();
  return q.take_times().seconds_of(Phase::gemm);
}

}  // namespace lasolve::bench
