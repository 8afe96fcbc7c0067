// cuSOLVERMp as an engine: LU and Cholesky on a GPU for each rank. A module with one name for others.
#include <cublas_v2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/block_cyclic.hpp"
#include "engines/cusolvermp/session.hpp"
#include "engines/engine.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::engines {

namespace {

/// A part on the GPU, of which all ranks have theirs.
template <class T>
OnGpu<T> on_gpu(Session& session, Part<T> part) {
  std::optional<OnGpu<T>> its;
  session.together([&] { its.emplace(session, part); });
  return *std::move(its);
}

/// P A = L U.
template <class T>
class ByLu final : public Factored<T> {
 public:
  ByLu(Session& session, Part<T> A) : session_(session), layout_(A.layout), A_(on_gpu(session, A)) {
    const std::int64_t n = layout_.rows.length;
    const auto kept = std::size_t(std::max(layout_.rows.count(), layout_.cols.count()) + layout_.rows.block);
    session.together([&] {
      kept_ = gpu_memory(kept * sizeof(std::int64_t));
      require_done("cudaMemsetAsync", cudaMemsetAsync(kept_.get(), 0, kept * sizeof(std::int64_t), session.stream()));
    });
    const int info = session.run(session.solver().getrf, [&](auto f, auto... workspace) {
      return f(session.solver_handle(), n, n, A_.data(), 1, 1, A_.description(), pivots_kept(), Words<T>::type,
               workspace...);
    });
    if (const int column = agreed(info); column > 0) outcome_ = {Outcome::singular, zero_pivot(column - 1)};
  }
  Outcome outcome() const override { return outcome_; }
  void solve(Op op, Part<T> X) override {
    const OnGpu<T> its = on_gpu(session_, X);
    op == Op::none ? solve_plain(its, X.layout.cols.length) : solve_transposed(its, X.layout.cols.length);
    session_.together([&] { its.copy_to(session_, X.local); });
    if (op != Op::none) exchange_back(X);
  }

 private:
  /// The first zero on the diagonal of U, since cusolverMpGetrf of 0.9.1 does not say which it is; `otherwise` where there is none.
  std::int64_t zero_pivot(std::int64_t otherwise) {
    std::int64_t first = layout_.rows.length;
    session_.together([&] {
      const std::vector<T> diagonal = A_.diagonal(session_);
      for (std::int64_t i = 0; i < first; ++i)
        if (layout_.rows.has(i) && layout_.cols.has(i) && diagonal[std::size_t(i)] == 0) first = i;
    });
    double least = -double(first);
    session_.largest({&least, 1});
    return -least < double(layout_.rows.length) ? std::int64_t(-least) : otherwise;
  }

  std::int64_t* pivots_kept() const { return static_cast<std::int64_t*>(kept_.get()); }

  void solve_plain(const OnGpu<T>& X, std::int64_t nrhs) {
    session_.run(session_.solver().getrs, [&](auto f, auto... workspace) {
      return f(session_.solver_handle(), CUBLAS_OP_N, layout_.rows.length, nrhs, A_.data(), 1, 1, A_.description(),
               pivots_kept(), X.data(), 1, 1, X.description(), Words<T>::type, workspace...);
    });
  }

  /// X ← L⁻ᵀ U⁻ᵀ X, by cuBLASMp: cusolverMpGetrs does not transpose.
  void solve_transposed(const OnGpu<T>& X, std::int64_t nrhs) {
    const Session::Blas& blas = session_.blas();
    Object of_A, of_X;
    session_.together([&] { of_A = A_.blas_description(blas), of_X = X.blas_description(blas); });
    const T one = 1;
    for (const auto& [uplo, diagonal] :
         {std::pair(CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT), std::pair(CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_UNIT)})
      session_.run(blas.functions.trsm, [&, uplo = uplo, diagonal = diagonal](auto f, auto... workspace) {
        return f(blas.handle.get(), CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_T, diagonal, layout_.rows.length, nrhs, &one,
                 A_.data(), 1, 1, of_A.get(), X.data(), 1, 1, of_X.get(), Words<T>::arithmetic, workspace...);
      });
  }

  /// X ← Pᵀ X: rows are exchanged as A's were, the last first. A column at a time is whole on each rank.
  void exchange_back(Part<T> X) {
    if (pivots_.empty()) pivots_ = pivots();
    const Dealt &rows = X.layout.rows, &cols = X.layout.cols;
    std::vector<double> column(std::size_t(rows.length));
    for (std::int64_t j = 0; j < cols.length; ++j) {
      const std::int64_t here = cols.place_of(j);
      const std::int64_t count = cols.has(j) ? rows.count() : 0;
      std::fill(column.begin(), column.end(), 0.0);
      for (std::int64_t i = 0; i < count; ++i) column[std::size_t(rows.index_at(i))] = double(X.local(i, here));
      session_.sum(column);
      for (std::size_t k = column.size(); k-- > 0;) std::swap(column[k], column[pivots_[k]]);
      for (std::int64_t i = 0; i < count; ++i) X.local(i, here) = T(column[std::size_t(rows.index_at(i))]);
    }
  }

  /// The row with which each was exchanged, on all ranks. The manual says that a rank keeps pivots of its rows, NVIDIA's samples have room
  /// for those of its columns: what is kept tells, since no pivot is above its own row. Where both could be, there is no answer.
  std::vector<std::size_t> pivots() {
    std::vector<std::int64_t> kept(std::size_t(std::max(layout_.rows.count(), layout_.cols.count())));
    session_.together([&] {
      require_done("cudaMemcpyAsync", cudaMemcpyAsync(kept.data(), pivots_kept(), kept.size() * sizeof kept[0],
                                                      cudaMemcpyDeviceToHost, session_.stream()));
      require_done("cudaStreamSynchronize", cudaStreamSynchronize(session_.stream()));
    });
    std::vector<double> all(std::size_t(layout_.rows.length));
    std::vector<std::size_t> found;
    for (const bool by_rows : {true, false}) {
      const Dealt& own = by_rows ? layout_.rows : layout_.cols;
      const bool speaks = (by_rows ? layout_.cols : layout_.rows).mine == 0;
      std::fill(all.begin(), all.end(), 0.0);
      for (std::int64_t i = 0; speaks && i < own.count(); ++i)
        all[std::size_t(own.index_at(i))] = double(kept[std::size_t(i)] - 1);
      session_.sum(all);
      bool are_pivots = true;
      for (std::size_t k = 0; k < all.size(); ++k) are_pivots &= double(k) <= all[k] && all[k] < double(all.size());
      if (!are_pivots) continue;
      const std::vector<std::size_t> its(all.begin(), all.end());
      if (!found.empty() && found != its)
        found.clear();
      else
        found = its;
    }
    if (found.empty() && !all.empty())
      throw FailedTogether("the order is not known in which cusolverMpGetrf keeps its pivots");
    return found;
  }

  Session& session_;
  BlockCyclic layout_;
  OnGpu<T> A_;
  Object kept_;
  std::vector<std::size_t> pivots_;
  Outcome outcome_;
};

/// A = L Lᵀ.
template <class T>
class ByCholesky final : public Factored<T> {
 public:
  ByCholesky(Session& session, Part<T> A) : session_(session), n_(A.layout.rows.length), A_(on_gpu(session, A)) {
    const int info = session.run(session.solver().potrf, [&](auto f, auto... workspace) {
      return f(session.solver_handle(), CUBLAS_FILL_MODE_LOWER, n_, A_.data(), 1, 1, A_.description(), Words<T>::type,
               workspace...);
    });
    if (const int order = agreed(info); order > 0) outcome_ = {Outcome::not_positive_definite, order};
  }
  Outcome outcome() const override { return outcome_; }
  void solve(Op, Part<T> X) override {
    const OnGpu<T> its = on_gpu(session_, X);
    session_.run(session_.solver().potrs, [&](auto f, auto... workspace) {
      return f(session_.solver_handle(), CUBLAS_FILL_MODE_LOWER, n_, X.layout.cols.length, A_.data(), 1, 1,
               A_.description(), its.data(), 1, 1, its.description(), Words<T>::type, workspace...);
    });
    session_.together([&] { its.copy_to(session_, X.local); });
  }

 private:
  Session& session_;
  std::int64_t n_;
  OnGpu<T> A_;
  Outcome outcome_;
};

template <class T>
std::unique_ptr<Factored<T>> factored(Session& session, Method method, Part<T> A) {
  if (method == Method::cholesky) return std::make_unique<ByCholesky<T>>(session, A);
  if (method == Method::lu) return std::make_unique<ByLu<T>>(session, A);
  throw std::invalid_argument("cuSOLVERMp has LU and Cholesky only");
}

class EngineOfGpus final : public Session {
 public:
  /// Of one GPU: 256 is 3 % slower, 1024 2 % faster, with fewer blocks to deal out (n = 24000, H200).
  std::int64_t block_size() const override { return 512; }
  /// cublasMpTrsm of 0.10 calls 8 and 16 invalid, and takes 32 (H200).
  std::int64_t least_block_size() const override { return 32; }
  std::unique_ptr<Factored<double>> factor(Method method, Part<double> A) override {
    return factored(*this, method, A);
  }
  std::unique_ptr<Factored<float>> factor(Method method, Part<float> A) override { return factored(*this, method, A); }
};

}  // namespace

}  // namespace lasolve::engines

extern "C" lasolve::engines::Engine* lasolve_make_engine_4() { return new lasolve::engines::EngineOfGpus; }
