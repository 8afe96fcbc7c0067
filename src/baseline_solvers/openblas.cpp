// OpenBLAS's getrf and getrs, potrf and potrs, from the library that the backend blas takes its products from.
#include "core/cpu/openblas.hpp"

#include <vector>

#include "baseline_solvers/baseline_solvers.hpp"
#include "baseline_solvers/openmp.hpp"

namespace lasolve::baseline_solvers {

namespace {

/// LAPACK's Fortran interface with 32-bit integers.
template <class T>
struct Lapack {
  void (*getrf)(const int* m, const int* n, T* A, const int* lda, int* pivots, int* info) = nullptr;
  void (*getrs)(const char* op, const int* n, const int* nrhs, const T* A, const int* lda, const int* pivots, T* B,
                const int* ldb, int* info) = nullptr;
  void (*gesv)(const int* n, const int* nrhs, T* A, const int* lda, int* pivots, T* B, const int* ldb,
               int* info) = nullptr;
  void (*potrf)(const char* uplo, const int* n, T* A, const int* lda, int* info) = nullptr;
  void (*potrs)(const char* uplo, const int* n, const int* nrhs, const T* A, const int* lda, T* B, const int* ldb,
                int* info) = nullptr;
};

template <class Function>
void find(const std::string& name, Function& function) {
  function = openblas_function<Function>(name.c_str());
}

template <class T>
const Lapack<T>& lapack() {
  static const Lapack<T> found = [] {
    const std::string type = std::is_same_v<T, double> ? "d" : "s";
    Lapack<T> all;
    find(type + "getrf_", all.getrf), find(type + "getrs_", all.getrs), find(type + "gesv_", all.gesv);
    find(type + "potrf_", all.potrf), find(type + "potrs_", all.potrs);
    return all;
  }();
  return found;
}

/// How many threads OpenBLAS takes is OpenMP's setting of the calling thread, which has the one before again at the end.
class Threads {
 public:
  explicit Threads(int most) : before_(openmp().get()) { openmp().set(most); }
  ~Threads() { openmp().set(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  struct OpenMp {
    int (*get)() = openblas_function<int (*)()>("omp_get_max_threads");
    void (*set)(int) = openblas_function<void (*)(int)>("omp_set_num_threads");
  };
  static const OpenMp& openmp() {
    static const OpenMp found;
    return found;
  }
  int before_;
};

/// Each thread that is in OpenBLAS needs a buffer, for which OpenBLAS asks for ever.
int threads_with_buffers(int wanted) {
  const int threads = openmp_threads(wanted, openblas_buffer_bytes);
  if (threads == 0) throw OutOfMemory("host", openblas_buffer_bytes, Memory<Cpu>::available());
  return threads;
}

template <class T>
class OfOpenBlas final : public Solver<T, Cpu> {
 public:
  /// The calling thread has OpenMP so set while this lives: to set it in each call would count in small ones.
  OfOpenBlas(int threads, std::int64_t n, Method method)
      : n_(int(n)),
        cholesky_(method == Method::cholesky),
        copy_(n, n, n),
        pivots_(std::size_t(n), 0),
        threads_(threads_with_buffers(threads)) {}

  MatrixView<T> matrix() override { return copy_; }
  void copy(MatrixView<const T> X, MatrixView<T> Y) override { copy_on_host(X, Y); }
  void factor() override {
    if (cholesky_)
      library_.potrf("L", &n_, copy_.data(), &n_, &info_);
    else
      library_.getrf(&n_, &n_, copy_.data(), &n_, pivots_.data(), &info_);
  }
  void solve(MatrixView<T> X) override {
    if (info_ != 0) return;
    const int nrhs = int(X.cols()), ld = int(X.ld());
    if (cholesky_)
      library_.potrs("L", &n_, &nrhs, copy_.data(), &n_, X.data(), &ld, &info_);
    else
      library_.getrs("N", &n_, &nrhs, copy_.data(), &n_, pivots_.data(), X.data(), &ld, &info_);
  }
  void factor_and_solve(MatrixView<T> X) override {
    if (cholesky_) return Solver<T, Cpu>::factor_and_solve(X);
    const int nrhs = int(X.cols()), ld = int(X.ld());
    library_.gesv(&n_, &nrhs, copy_.data(), &n_, pivots_.data(), X.data(), &ld, &info_);
  }
  bool finish() override { return info_ == 0; }

 private:
  const Lapack<T>& library_ = lapack<T>();
  int n_;
  bool cholesky_;
  Matrix<T> copy_;
  std::vector<int> pivots_;
  Threads threads_;
  int info_ = 0;
};

template <class T>
std::unique_ptr<Solver<T, Cpu>> make(Queue<Cpu>& q, std::int64_t n, Method method) {
  return std::make_unique<OfOpenBlas<T>>(q.threads(), n, method);
}

std::string no_note(Method) { return ""; }

}  // namespace

Library openblas() {
  return {"openblas",
          "OpenBLAS",
          false,
          no_note,
          [] { lasolve::openblas(); },
          {make<double>, make<float>, nullptr, nullptr}};
}

}  // namespace lasolve::baseline_solvers
