// OpenBLAS's getrf and getrs, potrf and potrs, from the library that the backend blas takes its products from.
#include <future>
#include <thread>
#include <vector>

#include "compare/peers.hpp"
#include "core/cpu/eigen.hpp"
#include "core/cpu/openblas.hpp"
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
void find(const char* name, Function& function) {
  function = openblas_function<Function>(name);
}

const Lapack& lapack() {
  static const Lapack found = [] {
    Lapack all;
    find("dgetrf_", all.getrf), find("dgetrs_", all.getrs);
    find("dpotrf_", all.potrf), find("dpotrs_", all.potrs);
    find("omp_get_max_threads", all.get_threads), find("omp_set_num_threads", all.set_threads);
    return all;
  }();
  return found;
}

/// How many threads OpenMP can have, of so many: it ends the process where one more cannot be made, and each that is in OpenBLAS
/// needs a buffer, for which OpenBLAS asks for ever. Throws OutOfMemory where there is not room for one.
int openmp_threads(int wanted) {
  while (!address_space_is_left(std::size_t(wanted) * openblas_buffer_bytes))
    if (--wanted == 0) throw OutOfMemory("host", openblas_buffer_bytes, Memory<Cpu>::available());
  std::vector<std::thread> others;
  std::promise<void> all_are_made;
  const std::shared_future<void> made = all_are_made.get_future().share();
  try {
    others.reserve(std::size_t(wanted));
    while (int(others.size()) < wanted - 1) others.emplace_back([made] { made.wait(); });
  } catch (const std::exception&) {  // no more
  }
  all_are_made.set_value();
  for (std::thread& other : others) other.join();
  return 1 + int(others.size());
}

double solve(const System& s, Method method, int threads) {
  const Lapack& library = lapack();
  const int n = int(s.A.rows()), nrhs = int(s.B.cols());
  Matrix<double> A(n, n, n), X(n, nrhs, n);
  as_eigen(A.view()) = as_eigen(s.A);
  as_eigen(X.view()) = as_eigen(s.B);
  std::vector<int> pivots(std::size_t(n), 0);
  const int threads_before = library.get_threads(), most = openmp_threads(Queue<Cpu>(threads).threads());
  library.set_threads(most);
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
