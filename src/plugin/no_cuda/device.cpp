// What the CUDA side answers in a build without it.
#include "plugin/device.hpp"

#include "core/no_cuda/refuse.hpp"

namespace lasolve::plugin {

template <class T>
void copy_scaled(Queue<Cuda>&, T, Operand<T, Cuda>, MatrixView<T, Cuda>) {
  refuse();
}
template <class T>
void add_scaled(Queue<Cuda>&, T, MatrixView<T, Cuda>, T, MatrixView<T, Cuda>) {
  refuse();
}
template <class T>
void scale(Queue<Cuda>&, T, MatrixView<T, Cuda>) {
  refuse();
}
template <class T>
void fill(Queue<Cuda>&, T, MatrixView<T, Cuda>) {
  refuse();
}
void write_guards(Queue<Cuda>&, Guards) { refuse(); }

struct Ledger<Cuda>::State {};
Ledger<Cuda>::Ledger() = default;
Ledger<Cuda>::~Ledger() = default;
void Ledger<Cuda>::prepare(Queue<Cuda>&) { refuse(); }
void Ledger<Cuda>::look_at(Queue<Cuda>&, const Guards (&)[3]) { refuse(); }
void Ledger<Cuda>::require_intact() {}
Seconds Ledger<Cuda>::take() { return {}; }

struct Account<Cuda>::State {};
Account<Cuda>::Account(Queue<Cuda>&, Ledger<Cuda>&, Manner) { refuse(); }
Account<Cuda>::~Account() = default;
void* Account<Cuda>::data(const lasolve_kernel&) const { refuse(); }
void Account<Cuda>::begin() { refuse(); }
void Account<Cuda>::end(double) { refuse(); }

#define LASOLVE_OWN_WITHOUT_CUDA(T)                                                       \
  template void copy_scaled(Queue<Cuda>&, T, Operand<T, Cuda>, MatrixView<T, Cuda>);      \
  template void add_scaled(Queue<Cuda>&, T, MatrixView<T, Cuda>, T, MatrixView<T, Cuda>); \
  template void scale(Queue<Cuda>&, T, MatrixView<T, Cuda>);                              \
  template void fill(Queue<Cuda>&, T, MatrixView<T, Cuda>);
LASOLVE_OWN_WITHOUT_CUDA(double)
LASOLVE_OWN_WITHOUT_CUDA(float)
#undef LASOLVE_OWN_WITHOUT_CUDA

}  // namespace lasolve::plugin
