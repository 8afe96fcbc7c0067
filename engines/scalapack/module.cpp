// ScaLAPACK and MPI as an engine. A module with one name for others: it needs nothing of the library but headers.
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "engines/engine.hpp"
#include "engines/scalapack/fortran.hpp"

namespace lasolve::engines {

namespace {

using Descriptor = std::array<int, 9>;

/// What a process needs of BLACS, of which it has one grid.
struct Grid {
  int context = -1;
  Ranks ranks;
};

template <class T>
Descriptor descriptor(const Grid& grid, const Part<T>& part) {
  const BlockCyclic& layout = part.layout;
  constexpr int dense = 1;
  return {dense,
          grid.context,
          int(layout.rows.length),
          int(layout.cols.length),
          int(layout.rows.block),
          int(layout.cols.block),
          0,
          0,
          int(std::max<std::int64_t>(1, part.local.ld()))};
}

/// The first failure that any rank knows of; 0: none does.
int agreed(int info) {
  constexpr int none = std::numeric_limits<int>::max();
  int mine = info > 0 ? info : none, first = none;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return first == none ? 0 : first;
}

/// Of the library, by the name of its file, as 2.2.1 of libscalapack.so.2.2.1: what it says of itself was 2.0.2 in 2.2.1.
std::string version_of_file() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(pdgetrf_), &info) || !info.dli_fname) return "(unknown)";
  std::error_code error;
  const std::string name = std::filesystem::canonical(info.dli_fname, error).filename().string(), mark = ".so.";
  const std::size_t at = name.find(mark);
  return at == name.npos ? "(unknown)" : name.substr(at + mark.size());
}

/// Whether no two ranks on a machine may run on the same core.
bool has_own_cores(MPI_Comm here) {
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  int count = CPU_COUNT(&mine), sum = 0;
  MPI_Allreduce(&mine, &all, int(sizeof mine), MPI_BYTE, MPI_BOR, here);
  MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, here);
  return sum == CPU_COUNT(&all);
}

void require_arguments(int info) {
  if (info < 0) throw std::logic_error("ScaLAPACK refuses argument " + std::to_string(-info));
}

template <class T>
class ByLu final : public Factored<T> {
 public:
  ByLu(const Grid& grid, Part<T> A)
      : grid_(grid), A_(A), pivots_(std::size_t(A.layout.rows.count() + A.layout.rows.block)) {
    const int n = int(A.layout.rows.length), one = 1;
    int info = 0;
    Fortran<T>::getrf(&n, &n, A.local.data(), &one, &one, descriptor(grid, A).data(), pivots_.data(), &info);
    require_arguments(info);
    if (const int column = agreed(info); column > 0) outcome_ = {Outcome::singular, column - 1};
  }
  Outcome outcome() const override { return outcome_; }
  void solve(Op op, Part<T> X) override {
    const int n = int(A_.layout.rows.length), nrhs = int(X.layout.cols.length), one = 1;
    int info = 0;
    Fortran<T>::getrs(op == Op::none ? "N" : "T", &n, &nrhs, A_.local.data(), &one, &one, descriptor(grid_, A_).data(),
                      pivots_.data(), X.local.data(), &one, &one, descriptor(grid_, X).data(), &info);
    require_arguments(info);
  }

 private:
  Grid grid_;
  Part<T> A_;
  std::vector<int> pivots_;
  Outcome outcome_;
};

template <class T>
class ByCholesky final : public Factored<T> {
 public:
  ByCholesky(const Grid& grid, Part<T> A) : grid_(grid), A_(A) {
    const int n = int(A.layout.rows.length), one = 1;
    int info = 0;
    Fortran<T>::potrf("L", &n, A.local.data(), &one, &one, descriptor(grid, A).data(), &info);
    require_arguments(info);
    if (const int order = agreed(info); order > 0) outcome_ = {Outcome::not_positive_definite, order};
  }
  Outcome outcome() const override { return outcome_; }
  void solve(Op, Part<T> X) override {
    const int n = int(A_.layout.rows.length), nrhs = int(X.layout.cols.length), one = 1;
    int info = 0;
    Fortran<T>::potrs("L", &n, &nrhs, A_.local.data(), &one, &one, descriptor(grid_, A_).data(), X.local.data(), &one,
                      &one, descriptor(grid_, X).data(), &info);
    require_arguments(info);
  }

 private:
  Grid grid_;
  Part<T> A_;
  Outcome outcome_;
};

template <class T>
std::unique_ptr<Factored<T>> factored(const Grid& grid, Method method, Part<T> A) {
  if (method == Method::cholesky) return std::make_unique<ByCholesky<T>>(grid, A);
  if (method == Method::lu) return std::make_unique<ByLu<T>>(grid, A);
  throw std::invalid_argument("ScaLAPACK has LU and Cholesky only");
}

class Scalapack final : public Engine {
 public:
  Scalapack() {
    MPI_Init(nullptr, nullptr);
    int rank = 0, count = 1, row = 0, col = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    grid_.ranks = nearly_square(count);
    grid_.ranks.rank = rank;
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &grid_.ranks.on_this_machine);
    grid_.ranks.has_own_cores = has_own_cores(here);
    MPI_Comm_free(&here);
    Cblacs_get(-1, 0, &grid_.context);
    Cblacs_gridinit(&grid_.context, "Row", grid_.ranks.grid_rows, grid_.ranks.grid_cols);
    int rows = 0, cols = 0;
    Cblacs_gridinfo(grid_.context, &rows, &cols, &row, &col);
    if (row != grid_.ranks.row() || col != grid_.ranks.col()) abort(70);
  }
  ~Scalapack() override {
    Cblacs_gridexit(grid_.context);
    MPI_Finalize();
  }

  std::string version() const override {
    int length = 0;
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    MPI_Get_library_version(text.data(), &length);
    const std::string mpi(text.data(), std::size_t(length));  // "Open MPI v4.1.4, package: …"
    return "ScaLAPACK " + version_of_file() + " with " + mpi.substr(0, mpi.find_first_of(",\n"));
  }
  Ranks ranks() const override { return grid_.ranks; }
  std::int64_t most_elements() const override { return std::numeric_limits<int>::max(); }
  void abort(int exit_code) noexcept override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

  void use_threads(int count) override {
    if (openblas_set_num_threads) openblas_set_num_threads(count);
  }
  void sum(std::span<double> numbers) override {
    // On one rank, and sent from there: the order of a sum may differ from rank to rank otherwise.
    for_pieces(numbers, [&](double* piece, int size) {
      MPI_Reduce(grid_.ranks.rank == 0 ? MPI_IN_PLACE : piece, piece, size, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      MPI_Bcast(piece, size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    });
  }
  void largest(std::span<double> numbers) override {
    for_pieces(numbers, [](double* piece, int size) {
      MPI_Allreduce(MPI_IN_PLACE, piece, size, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    });
  }
  void broadcast(std::span<std::byte> bytes, int from) override {
    for_pieces(bytes, [&](std::byte* piece, int size) { MPI_Bcast(piece, size, MPI_BYTE, from, MPI_COMM_WORLD); });
  }
  std::vector<Bytes> exchanged(std::vector<Bytes> for_ranks) override {
    std::vector<std::uint64_t> lengths(for_ranks.size()), its(for_ranks.size());
    for (std::size_t r = 0; r < lengths.size(); ++r) lengths[r] = for_ranks[r].size();
    MPI_Alltoall(lengths.data(), 1, MPI_UINT64_T, its.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<Bytes> came(its.size());
    std::vector<MPI_Request> open;
    for (std::size_t r = 0; r < its.size(); ++r) {
      came[r].resize(its[r]);
      for_pieces(std::span(came[r]), [&](std::byte* piece, int size) {
        MPI_Irecv(piece, size, MPI_BYTE, int(r), 0, MPI_COMM_WORLD, &open.emplace_back());
      });
    }
    for (std::size_t r = 0; r < lengths.size(); ++r)
      for_pieces(std::span(for_ranks[r]), [&](std::byte* piece, int size) {
        MPI_Isend(piece, size, MPI_BYTE, int(r), 0, MPI_COMM_WORLD, &open.emplace_back());
      });
    MPI_Waitall(int(open.size()), open.data(), MPI_STATUSES_IGNORE);
    return came;
  }
  std::unique_ptr<Factored<double>> factor(Method method, Part<double> A) override {
    return factored(grid_, method, A);
  }
  std::unique_ptr<Factored<float>> factor(Method method, Part<float> A) override { return factored(grid_, method, A); }

 private:
  template <class T, class F>
  static void for_pieces(std::span<T> all, F f) {
    constexpr std::size_t most = std::size_t(1) << 28;
    for (std::size_t at = 0; at < all.size(); at += most) f(all.data() + at, int(std::min(most, all.size() - at)));
  }

  Grid grid_;
};

}  // namespace

}  // namespace lasolve::engines

extern "C" lasolve::engines::Engine* lasolve_make_engine_2() { return new lasolve::engines::Scalapack; }
