#include "plugin/device.hpp"

#include <mutex>
#include <vector>

#include "core/cuda/count_for_tests.hpp"
#include "core/cuda/elementwise.cuh"
#include "core/cuda/transpose.cuh"
#include "core/kernel_fault.hpp"

namespace lasolve::plugin {

template <class T>
void copy_scaled(Queue<Cuda>& q, T s, Operand<T, Cuda> X, MatrixView<T, Cuda> to) {
  const std::int64_t m = X.rows(), n = X.cols(), ld = X.ld();
  if (X.op() == Op::none) {
    const T* const from = X.data();
    return for_each_element(q, to, [=] __device__(T & y, std::int64_t i, std::int64_t j) {
      y = i < m && j < n ? s * from[i + j * ld] : T(0);
    });
  }
  const MatrixView<T, Cuda> there = to.block(0, 0, m, n);
  transpose(q, X.stored(), there);
  if (s != T(1)) for_each_element(q, there, [=] __device__(T & y, std::int64_t, std::int64_t) { y *= s; });
  lasolve::fill(q, T(0), to.block(m, 0, to.rows() - m, n));
  lasolve::fill(q, T(0), to.block(0, n, to.rows(), to.cols() - n));
}

template <class T>
void add_scaled(Queue<Cuda>& q, T alpha, MatrixView<T, Cuda> X, T beta, MatrixView<T, Cuda> C) {
  const T* const from = X.data();
  const std::int64_t ld = X.ld();
  for_each_element(q, C, [=] __device__(T & c, std::int64_t i, std::int64_t j) {
    const T x = alpha * from[i + j * ld];
    c = beta == T(0) ? x : x + beta * c;
  });
}

template <class T>
void scale(Queue<Cuda>& q, T beta, MatrixView<T, Cuda> C) {
  for_each_element(q, C, [=] __device__(T & c, std::int64_t, std::int64_t) { c = beta == T(0) ? T(0) : beta * c; });
}

template <class T>
void fill(Queue<Cuda>& q, T s, MatrixView<T, Cuda> X) {
  lasolve::fill(q, s, X);
}

namespace {

constexpr unsigned words_of_guard = guard_bytes / sizeof(unsigned);

/// Two blocks, a thread for each word: those of each guard.
__global__ void write_ones(Guards guards) {
  auto* const words = reinterpret_cast<unsigned*>(blockIdx.x == 0 ? guards.before : guards.behind);
  words[threadIdx.x] = ~0u;
}

struct GuardsOfThree {
  Guards of[3];
};

/// Six blocks. `changed` is in the host's memory.
__global__ void look_for_others(GuardsOfThree all, volatile unsigned* changed) {
  const Guards& guards = all.of[blockIdx.x / 2];
  const auto* const words = reinterpret_cast<const unsigned*>(blockIdx.x % 2 == 0 ? guards.before : guards.behind);
  if (words && words[threadIdx.x] != ~0u) *changed = 1;
}

}  // namespace

void write_guards(Queue<Cuda>& q, Guards guards) { launch(q, write_ones, dim3(2), dim3(words_of_guard), guards); }

struct Ledger<Cuda>::State {
  /// Where in a product an event was recorded.
  struct Mark {
    enum Where { product_begins, kernel_begins, kernel_ended, product_ended } where;
    double useful;  // of the kernel's time
  };
  static constexpr std::size_t most_products = 16384;

  std::mutex mutex;
  int device = -1;  // none yet
  unsigned* changed = nullptr;
  cudaEvent_t last_ended = nullptr;
  std::vector<cudaEvent_t> events;  // made once, used again
  std::vector<Mark> marks;          // marks[i] is at events[i]
  std::size_t products = 0;

  ~State() { release(); }
  void release() noexcept {
    if (device < 0) return;
    const CurrentDevice current(device, std::nothrow);
    for (const cudaEvent_t e : events) count_made(), succeeded(cudaEventDestroy(e));
    if (last_ended) count_made(), succeeded(cudaEventDestroy(last_ended));
    if (changed) count_made(), succeeded(cudaFreeHost(changed));
    events.clear(), marks.clear();
    products = 0, last_ended = nullptr, changed = nullptr, device = -1;
  }
  /// Makes what is needed on the device of q.
  void serve(const Queue<Cuda>& q) {
    if (device == q.device()) return;
    release();
    const CurrentDevice current(q.device());
    device = q.device();
    try {
      count_made();
      CUDA_CHECK(cudaHostAlloc(&changed, sizeof *changed, cudaHostAllocDefault));
      *changed = 0;
      count_made();
      CUDA_CHECK(cudaEventCreateWithFlags(&last_ended, cudaEventDisableTiming));
    } catch (...) {
      release();
      throw;
    }
  }
  void mark(cudaStream_t stream, Mark::Where where, double useful) {
    if (products > most_products) return;
    if (marks.size() == events.size()) {
      cudaEvent_t made = nullptr;
      count_made();
      CUDA_CHECK(cudaEventCreate(&made));
      events.push_back(made);
    }
    CUDA_CHECK(cudaEventRecord(events[marks.size()], stream));
    marks.push_back({where, useful});
  }
};

Ledger<Cuda>::Ledger() : state_(std::make_unique<State>()) {}
Ledger<Cuda>::~Ledger() = default;

void Ledger<Cuda>::prepare(Queue<Cuda>& q) {
  const std::lock_guard lock(state_->mutex);
  state_->serve(q);
}

/// The Account of the product has served the queue.
void Ledger<Cuda>::look_at(Queue<Cuda>& q, const Guards (&guards)[3]) {
  const GuardsOfThree all{{guards[0], guards[1], guards[2]}};
  launch(q, look_for_others, dim3(6), dim3(words_of_guard), all, state_->changed);
}

void Ledger<Cuda>::require_intact() {
  const std::lock_guard lock(state_->mutex);
  volatile unsigned* const changed = state_->changed;
  if (!changed || *changed == 0) return;
  *changed = 0;
  throw KernelFault(what_guards_say);
}

Seconds Ledger<Cuda>::take() {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  Seconds sum;
  for (std::size_t i = 1; i < s.marks.size(); ++i) {
    if (s.marks[i].where == State::Mark::product_begins) continue;
    float milliseconds = 0;
    if (!succeeded(cudaEventElapsedTime(&milliseconds, s.events[i - 1], s.events[i]))) continue;
    const double seconds = 1e-3 * double(milliseconds);
    const double its = s.marks[i].where == State::Mark::kernel_ended ? s.marks[i].useful * seconds : 0;
    sum.kernel += its, sum.adapter += seconds - its;
  }
  s.marks.clear();
  s.products = 0;
  return sum;
}

struct Account<Cuda>::State {
  Queue<Cuda>& q;
  Ledger<Cuda>::State& ledger;
  Manner manner;
  std::lock_guard<std::mutex> lock{ledger.mutex};

  void mark(Ledger<Cuda>::State::Mark::Where where, double useful = 0) {
    if (manner.measured) ledger.mark(q.stream(), where, useful);
  }
};

Account<Cuda>::Account(Queue<Cuda>& q, Ledger<Cuda>& ledger, Manner manner)
    : state_(new State{q, *ledger.state_, manner}) {
  State& s = *state_;
  s.ledger.serve(q);
  if (manner.alone) q.join(s.ledger.last_ended);
  ++s.ledger.products;
  s.mark(Ledger<Cuda>::State::Mark::product_begins);
}

Account<Cuda>::~Account() {
  State& s = *state_;
  try {
    s.mark(Ledger<Cuda>::State::Mark::product_ended);
    if (s.manner.alone) s.q.record(s.ledger.last_ended);
  } catch (const MachineError&) {  // of the device, which the next call is told, too
  }
}

void* Account<Cuda>::data(const lasolve_kernel&) const { return state_->q.stream(); }
void Account<Cuda>::begin() { state_->mark(Ledger<Cuda>::State::Mark::kernel_begins); }
void Account<Cuda>::end(double useful) { state_->mark(Ledger<Cuda>::State::Mark::kernel_ended, useful); }

#define LASOLVE_OWN_ON_CUDA(T)                                                            \
  template void copy_scaled(Queue<Cuda>&, T, Operand<T, Cuda>, MatrixView<T, Cuda>);      \
  template void add_scaled(Queue<Cuda>&, T, MatrixView<T, Cuda>, T, MatrixView<T, Cuda>); \
  template void scale(Queue<Cuda>&, T, MatrixView<T, Cuda>);                              \
  template void fill(Queue<Cuda>&, T, MatrixView<T, Cuda>);
LASOLVE_OWN_ON_CUDA(double)
LASOLVE_OWN_ON_CUDA(float)
#undef LASOLVE_OWN_ON_CUDA

}  // namespace lasolve::plugin
