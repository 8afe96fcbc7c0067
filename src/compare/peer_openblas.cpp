// OpenBLAS's getrf and getrs, potrf and potrs, from the library that the backend blas takes its products from.
#include <dlfcn.h>

#include "compare/peers.hpp"
#include "core/cpu/eigen.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::compare {

std::optional<Peer> openblas();

namespace {

/// LAPACK's Fortran interface with 32-bit integers.
struct Lapack {
  void (*getrf)(const int* m, const int* n, double* A, const int* lda, int* pivots, int* info) = nullptr;
  void (*getrs)(const char* op, const int* n, const int* nrhs, const double* A, const int* lda, const int* pivots,
                double* B, const int* ldb, int* info) = nullptr;
  void (*potrf)(const char* uplo, const int* n, double* A, const int* lda, int* info) = nullptr;
  void (*potrs)(const char* uplo, const int* n, const int* nrhs, const double* A, const int* lda, double* B,
                const int* ldb, int* info) = nullptr;
  int (*get_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) throw MachineError(std::string(LASOLVE_OPENBLAS " has no function ") + name);
}

const Lapack& lapack() {
  static const Lapack found = [] {
#ifdef __SANITIZE_ADDRESS__  // which forbids the other way
    constexpr int own_symbols_first = 0;
#else
    constexpr int own_symbols_first = RTLD_DEEPBIND;
#endif
    void* const library = dlopen(LASOLVE_OPENBLAS, RTLD_NOW | RTLD_LOCAL | own_symbols_first);
    if (!library)
      throw MachineError(std::string("OpenBLAS cannot be loaded: ") + dlerror() +
                         "; on Debian and Ubuntu it is the package libopenblas0-openmp");
    Lapack all;
    find(library, "dgetrf_", all.getrf), find(library, "dgetrs_", all.getrs);
    find(library, "dpotrf_", all.potrf), find(library, "dpotrs_", all.potrs);
    find(library, "omp_get_max_threads", all.get_threads), find(library, "omp_set_num_threads", all.set_threads);
    return all;
  }();
  return found;
}

double solve(const System& s, Method method, int threads) {
  const Lapack& library = lapack();
  const int n = int(s.A.rows()), nrhs = int(s.B.cols());
  Matrix<double> A(n, n, n), X(n, nrhs, n);
  as_eigen(A.view()) = as_eigen(s.A);
  as_eigen(X.view()) = as_eigen(s.B);
  std::vector<int> pivots(std::size_t(n), 0);
  const int threads_before = library.get_threads();
  library.set_threads(Queue<Cpu>(threads).threads());
  int info = 0, solved = 0;
  const Stopwatch watch;
  if (method == Method::cholesky) {
    library.potrf("L", &n, A.data(), &n, &info);
    if (info == 0) library.potrs("L", &n, &nrhs, A.data(), &n, X.data(), &n, &solved);
  } else {
    library.getrf(&n, &n, A.data(), &n, pivots.data(), &info);
    if (info == 0) library.getrs("N", &n, &nrhs, A.data(), &n, pivots.data(), X.data(), &n, &solved);
  }
  const double seconds = watch.seconds();
  library.set_threads(threads_before);
  if (info != 0 || solved != 0) throw std::runtime_error("OpenBLAS could not factor the matrix");
  as_eigen(s.X) = as_eigen(X.view());
  return seconds;
}

}  // namespace

std::optional<Peer> openblas() { return Peer{"openblas", false, "", solve}; }

}  // namespace lasolve::compare
