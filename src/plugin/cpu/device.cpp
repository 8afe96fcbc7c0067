#include "plugin/device.hpp"

#include <cstring>

#include "core/kernel_fault.hpp"

namespace lasolve::plugin {

namespace {

constexpr int guard_byte = 0xff;

}  // namespace

template <class T>
void copy_scaled(Queue<Cpu>&, T s, Operand<T> X, MatrixView<T> to) {
  constexpr std::int64_t step = 32;  // of both, so that each line of a transposed X is read once
  const std::int64_t m = X.rows(), n = X.cols();
  for (std::int64_t j0 = 0; j0 < n; j0 += step)
    for (std::int64_t i0 = 0; i0 < m; i0 += step) {
      const std::int64_t rows = std::min(step, m - i0);
      for (std::int64_t j = j0; j < std::min(n, j0 + step); ++j) {
        const T* const from = &X(i0, j);
        T* const column = &to(i0, j);
        if (X.op() == Op::none)
          for (std::int64_t i = 0; i < rows; ++i) column[i] = s * from[i];
        else
          for (std::int64_t i = 0; i < rows; ++i) column[i] = s * from[i * X.ld()];
      }
    }
  for (std::int64_t j = 0; j < to.cols(); ++j) {
    const std::int64_t there = j < n ? m : 0;
    std::fill_n(to.data() + j * to.ld() + there, to.rows() - there, T(0));
  }
}

template <class T>
void add_scaled(Queue<Cpu>&, T alpha, MatrixView<T> X, T beta, MatrixView<T> C) {
  for (std::int64_t j = 0; j < C.cols(); ++j) {
    const T* const from = &X(0, j);
    T* const to = &C(0, j);
    if (beta == T(0))
      for (std::int64_t i = 0; i < C.rows(); ++i) to[i] = alpha * from[i];
    else
      for (std::int64_t i = 0; i < C.rows(); ++i) to[i] = alpha * from[i] + beta * to[i];
  }
}

void write_guards(Queue<Cpu>&, Guards guards) {
  std::memset(guards.before, guard_byte, guard_bytes);
  std::memset(guards.behind, guard_byte, guard_bytes);
}

void Ledger<Cpu>::look_at(Queue<Cpu>&, const Guards (&all)[3]) const {
  const auto is_whole = [](const char* guard) {  // each byte is the one before it
    return *guard == char(guard_byte) && std::memcmp(guard, guard + 1, guard_bytes - 1) == 0;
  };
  for (const Guards& g : all)
    if (g.before && (!is_whole(g.before) || !is_whole(g.behind))) throw KernelFault(what_guards_say);
}

#define LASOLVE_OWN_ON_CPU(T)                                           \
  template void copy_scaled(Queue<Cpu>&, T, Operand<T>, MatrixView<T>); \
  template void add_scaled(Queue<Cpu>&, T, MatrixView<T>, T, MatrixView<T>);
LASOLVE_OWN_ON_CPU(double)
LASOLVE_OWN_ON_CPU(float)
#undef LASOLVE_OWN_ON_CPU

}  // namespace lasolve::plugin
