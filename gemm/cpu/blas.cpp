// blas: OpenBLAS's dgemm and sgemm.
// Idea     The best that is installed: kernels in assembly for each processor, chosen at run time.
// Tiles    chosen by OpenBLAS from the processor.
// Traffic  see Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008.
// Expect   nine tenths of the vector units' peak.
// Reached  100 % of the fastest in an LU in f64, n = 1000, one thread of an EPYC with AVX-512
// Source   OpenBLAS
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <semaphore>

#include "core/by_type.hpp"
#include "core/cpu/openblas.hpp"
#include "core/process.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

extern const GemmBackend<Cpu> gemm_cpu_packed;

namespace {

/// What is called of OpenBLAS. Our threads share a product, each with its OpenBLAS on one thread.
class OpenBlas {
 public:
  template <class T>
  using Gemm = void (*)(int order, int op_a, int op_b, int m, int n, int k, T alpha, const T* A, int lda, const T* B,
                        int ldb, T beta, T* C, int ldc);
  static constexpr int column_major = 102, as_stored = 111, transposed = 112;  // the C interface of the BLAS
  Gemm<double> dgemm = nullptr;
  Gemm<float> sgemm = nullptr;

  static OpenBlas& instance() {
    constinit static SeesForks<OpenBlas> blas;
    return blas.get();
  }

  /// Makes it possible that up to `threads` threads are in OpenBLAS at once, or fewer where memory is limited. Throws
  /// MachineError when it cannot even be one, or OpenBLAS is not there.
  void make_ready(int threads) {
    const int wanted = std::min(threads, most_threads);
    if (ready_.load(std::memory_order_acquire) >= wanted) return;
    const Making making;
    if (!open_) return;
    load();
    map_buffers(wanted);
  }

  /// Leaves the setting of the calling thread as it was. False: OpenBLAS shuts down with the process, and was not called.
  template <class T, class... Arguments>
  bool call(Gemm<T> gemm, Arguments... arguments) {
    take_buffer();
    const bool open = open_;
    if (open) {
      ++inside;
      const int threads = get_threads_();
      set_threads_(1);
      gemm(arguments...);
      set_threads_(threads);
      --inside;
    }
    free_buffers_.release();
    return open;
  }

  void before_fork() { take_buffers(); }
  void after_fork(bool) { give_buffers_back(); }

 private:
  static constexpr int most_threads = most_openblas_threads;

  void load() {
    if (dgemm) return;
    get_threads_ = openblas_function<int (*)()>("omp_get_max_threads");
    set_threads_ = openblas_function<void (*)(int)>("omp_set_num_threads");
    allocate_ = openblas_function<void* (*)(int)>("blas_memory_alloc");
    free_ = openblas_function<void (*)(void*)>("blas_memory_free");
    sgemm = openblas_function<Gemm<float>>("cblas_sgemm");
    dgemm = openblas_function<Gemm<double>>("cblas_dgemm");
    std::atexit([] { instance().close(); });  // before OpenBLAS's own
  }

  void close() {
    const Making making;
    open_ = false;
    take_buffers();
    give_buffers_back();
  }

  /// All are free then, and no call holds a lock of OpenBLAS, but one of this thread which a signal has interrupted.
  void take_buffers() {
    for (int i = inside; i < mapped_; ++i) take_buffer();
  }
  /// acquire() of libstdc++ may sleep on while a buffer is free, and nobody wakes it (GCC bug 104928): it is asked again.
  void take_buffer() {
    if (free_buffers_.try_acquire()) return;
    while (!free_buffers_.try_acquire_for(std::chrono::milliseconds(1))) continue;
  }
  void give_buffers_back() { free_buffers_.release(mapped_ - inside); }

  /// Each thread that is in OpenBLAS needs one of its buffers, which it makes when none is free, and keeps: make them now.
  void map_buffers(int wanted) {
    std::array<void*, most_threads> buffers;
    int count = 0;
    while (count < wanted && address_space_is_left(openblas_buffer_bytes)) buffers[std::size_t(count++)] = allocate_(0);
    for (int i = 0; i < count; ++i) free_(buffers[std::size_t(i)]);
    const int more = count - mapped_;
    if (more > 0) free_buffers_.release(more), mapped_ = count;
    if (mapped_ == 0) throw OutOfMemory("host", openblas_buffer_bytes, Memory<Cpu>::available());
    ready_.store(wanted, std::memory_order_release);
  }

  inline static thread_local int inside = 0;
  std::atomic<bool> open_ = true;
  std::atomic<int> ready_ = 0;  // for so many threads, of which the lack of memory may leave some waiting for others
  int mapped_ = 0;              // buffers
  std::counting_semaphore<most_threads> free_buffers_{0};
  int (*get_threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
  void* (*allocate_)(int) = nullptr;
  void (*free_)(void*) = nullptr;
};

int cblas_op(Op op) { return op == Op::none ? OpenBlas::as_stored : OpenBlas::transposed; }

template <class T>
void blas(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  const auto size = [](std::int64_t n) {
    require(int(n) == n, "this OpenBLAS has 32-bit sizes, and the matrix is larger");
    return int(n);
  };
  const auto ld = [&](const auto& x) { return size(std::max<std::int64_t>(x.ld(), 1)); };
  OpenBlas& library = OpenBlas::instance();
  if (library.call<T>(by_type<T>(library.dgemm, library.sgemm), OpenBlas::column_major, cblas_op(A.op()),
                      cblas_op(B.op()), size(C.rows()), size(C.cols()), size(A.cols()), alpha, A.data(), ld(A),
                      B.data(), ld(B), beta, C.data(), ld(C)))
    return;
  Queue<Cpu> alone(1);
  gemm_cpu_packed(alone, alpha, A, B, beta, C);
}

template <class T>
void blas_on_all_cores(const void* self, Queue<Cpu>& q, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  OpenBlas::instance().make_ready(int(parts_for(q, work_of(A.rows(), B.cols(), A.cols()))));
  on_all_cores<blas<T>>(self, q, alpha, A, B, beta, C);
}

std::string why_no_blas(int) try {
  OpenBlas::instance().make_ready(1);
  return "";
} catch (const MachineError& e) {
  return e.what();
}

}  // namespace

extern const GemmBackend<Cpu> gemm_cpu_blas;
const GemmBackend<Cpu> gemm_cpu_blas{
    .name = "blas",
    .summary = "OpenBLAS's dgemm and sgemm",
    .kernels = {blas_on_all_cores<double>, blas_on_all_cores<float>},
    .unavailable = why_no_blas,
};

}  // namespace lasolve
