// blas: OpenBLAS's dgemm and sgemm.
// Idea     The best that is installed: kernels in assembly for each processor, chosen at run time.
// Tiles    chosen by OpenBLAS from the processor.
// Traffic  see Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008.
// Expect   nine tenths of the vector units' peak.
// Source   OpenBLAS
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <semaphore>

#include "core/by_type.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

namespace {

/// OpenBLAS, loaded when it is first needed. Our threads share a product, each with its OpenBLAS on one thread. That must be
/// its OpenMP variant: for it, how many threads to use is a setting of each calling thread; the variant with threads of its
/// own has one setting for the whole program, and the one without threads cannot be called by several. Even where the
/// program around us has an OpenBLAS, ours binds to nothing of it, and nothing to ours.
class OpenBlas {
 public:
  template <class T>
  using Gemm = void (*)(int order, int op_a, int op_b, int m, int n, int k, T alpha, const T* A, int lda, const T* B,
                        int ldb, T beta, T* C, int ldc);
  static constexpr int column_major = 102, as_stored = 111, transposed = 112;  // the C interface of the BLAS
  Gemm<double> dgemm = nullptr;
  Gemm<float> sgemm = nullptr;

  static OpenBlas& instance() {
    static OpenBlas blas;
    return blas;
  }

  /// Makes it possible that up to `threads` threads are in OpenBLAS at once, or fewer where memory is limited. Throws
  /// MachineError when it cannot even be one, or OpenBLAS is not there.
  void make_ready(int threads) {
    const int wanted = std::min(threads, most_threads);
    if (ready_.load(std::memory_order_acquire) >= wanted) return;
    const std::lock_guard lock(loading_);
    load();
    map_buffers(wanted);
  }

  /// Leaves the setting of the calling thread as it was.
  template <class T, class... Arguments>
  void call(Gemm<T> gemm, Arguments... arguments) {
    free_buffers_.acquire();
    const int threads = get_threads_();
    set_threads_(1);
    gemm(arguments...);
    set_threads_(threads);
    free_buffers_.release();
  }

 private:
  /// OpenBLAS has room for the buffers of at least so many threads, and crashes where there are many more.
  static constexpr int most_threads = 64;
  static constexpr std::size_t buffer_bytes = std::size_t(128) << 20, library_bytes = std::size_t(64) << 20;

  /// OpenBLAS asks for memory until it gets it, so it must not ask for what limits do not allow.
  static bool can_be_had(std::size_t bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    munmap(memory, bytes);
    return true;
  }

  void load() {
    if (dgemm) return;
    // It makes a buffer for each processor as it is loaded.
    const auto processors = std::min<long>(sysconf(_SC_NPROCESSORS_CONF), most_threads);
    const std::size_t wanted = library_bytes + std::size_t(processors) * buffer_bytes;
    if (!can_be_had(wanted)) throw OutOfMemory("host", wanted, Memory<Cpu>::available());
#ifdef __SANITIZE_ADDRESS__  // which forbids the other way
    constexpr int own_symbols_first = 0;
#else
    constexpr int own_symbols_first = RTLD_DEEPBIND;
#endif
    void* const library = dlopen(LASOLVE_OPENBLAS, RTLD_NOW | RTLD_LOCAL | own_symbols_first);
    if (!library)
      throw MachineError(std::string("OpenBLAS cannot be loaded: ") + dlerror() +
                         "; on Debian and Ubuntu it is the package libopenblas0-openmp");
    constexpr int with_openmp = 2;
    if (function<int (*)()>(library, "openblas_get_parallel")() != with_openmp)
      throw MachineError(LASOLVE_OPENBLAS " is not the OpenMP variant of OpenBLAS");
    get_threads_ = function<int (*)()>(library, "omp_get_max_threads");
    set_threads_ = function<void (*)(int)>(library, "omp_set_num_threads");
    allocate_ = function<void* (*)(int)>(library, "blas_memory_alloc");
    free_ = function<void (*)(void*)>(library, "blas_memory_free");
    sgemm = function<Gemm<float>>(library, "cblas_sgemm");
    dgemm = function<Gemm<double>>(library, "cblas_dgemm");
  }

  template <class Function>
  static Function function(void* library, const char* name) {
    const auto found = reinterpret_cast<Function>(dlsym(library, name));
    if (!found) throw MachineError(std::string(LASOLVE_OPENBLAS " has no function ") + name);
    return found;
  }

  /// Each thread that is in OpenBLAS needs one of its buffers, which it makes when none is free, and keeps: make them now.
  void map_buffers(int wanted) {
    std::array<void*, most_threads> buffers;
    int count = 0;
    while (count < wanted && can_be_had(buffer_bytes)) buffers[std::size_t(count++)] = allocate_(0);
    for (int i = 0; i < count; ++i) free_(buffers[std::size_t(i)]);
    const int more = count - mapped_;
    if (more > 0) free_buffers_.release(more), mapped_ = count;
    if (mapped_ == 0) throw OutOfMemory("host", buffer_bytes, Memory<Cpu>::available());
    ready_.store(wanted, std::memory_order_release);
  }

  std::mutex loading_;
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
  library.call<T>(by_type<T>(library.dgemm, library.sgemm), OpenBlas::column_major, cblas_op(A.op()), cblas_op(B.op()),
                  size(C.rows()), size(C.cols()), size(A.cols()), alpha, A.data(), ld(A), B.data(), ld(B), beta,
                  C.data(), ld(C));
}

template <class T>
void blas_on_all_cores(Queue<Cpu>& q, T alpha, Operand<T, Cpu> A, Operand<T, Cpu> B, T beta, MatrixView<T, Cpu> C) {
  OpenBlas::instance().make_ready(int(parts_for(q, work_of(A.rows(), B.cols(), A.cols()))));
  on_all_cores<T, blas<T>>(q, alpha, A, B, beta, C);
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
    .f64 = blas_on_all_cores<double>,
    .f32 = blas_on_all_cores<float>,
    .unavailable = why_no_blas,
};

}  // namespace lasolve
