// Factors and solutions in the order of a CUDA stream, with calls that return before the work is done.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <utility>

#include "lasolve/context.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve {
template <class T>
class AsyncEngine;
}  // namespace lasolve

namespace lasolve {
inline namespace LASOLVE_ABI {

/// P A = L U or A = L Lᵀ, made and used in the order of the stream of a Context.
///
/// Calls give the device its work and return: the host does not wait, and does not learn how the work ends. So nothing is decided
/// there. X is all NaN where A could not be factored, of which failed_at() tells what the stream is given next, and wait() the
/// host. What a call reads, it reads after the work that the stream was given before. What it writes is there for the work that the
/// stream is given next. B and X must stay until then; A may go or change when the stream has come so far.
///
/// The first call of a size may take longer: the library makes queues and memory, and CUDA loads kernels, for which it may wait.
///
/// While the stream is captured in a CUDA graph, these calls are captured as well. Each launch reads A and B, and writes X and failed_at(),
/// where they were. The graph has queues and a copy of A for itself: at least some hundred MB, whatever MemoryFrom says. They stay until the
/// graph and this object have ended. Factors that were made before the capture may be used in it. They, and memory of A that was handed
/// over, must stay as long as the graph. Captured factors solve in the same capture only. Launches of one graph come one after the other.
/// While a graph with an LU runs, no other LU of this library may run on that device.
///
/// Threads: as for Context. The destructor does not wait for the work either, but where memory of A was handed over, or where this
/// is the last that uses its context.
/// Throws as Factorization does. What goes wrong on the device is thrown by wait(), or by a later call on the context.
template <class T>
class AsyncFactorization {
 public:
  /// Begins to factor A, n × n on the device of the context, which has a stream. Factors are stored in the type of A.
  ///
  /// The options have to name what would be decided by a look at A or at a solution, all else is misuse: factorization is lu or
  /// cholesky; check is false; condition is not on; refine is none, or automatic where no factors coarser than A are asked for; nobody is
  /// told of the progress. NaN and Inf in A are not looked for. A in memory of the host is misuse.
  AsyncFactorization(Borrowed<const T> A, const Options& options, const Context& context);
  /// In place: takes the memory of A and overwrites A with its factors. Work that other streams have on it must be done.
  AsyncFactorization(Matrix<T, Cuda>&& A, const Options& options, const Context& context);
  /// Factors that are there: n × n as LAPACK's getrf or potrf of the lower triangle leaves them, on the device of the context. They are read
  /// by each solve, and must stay. `pivots` is in device memory, and is read after what the stream was given: row k was exchanged with row
  /// pivots[k] ≥ k, from 0; null for Cholesky. Where one is out of range, failed_at() says which, and X is all NaN. The options name the
  /// method, as above.
  static AsyncFactorization of_factors(MatrixView<const T, Cuda> factors, const std::int64_t* pivots,
                                       const Options& options, const Context& context);
  AsyncFactorization(AsyncFactorization&&) noexcept;
  AsyncFactorization& operator=(AsyncFactorization&&) noexcept;
  ~AsyncFactorization();

  /// X ← op(A)⁻¹ B; B and X are n × nrhs. By columns, they may be the same memory with the same leading dimension, but not overlap
  /// otherwise. Flops 2 n² nrhs. X is all NaN where A could not be factored.
  void solve_async(Borrowed<const T> B, Borrowed<T> X, Op op = Op::none);
  /// B would end before the device has read it.
  template <Temporary B>
  void solve_async(B&&, Borrowed<T>, Op = Op::none) = delete;

  /// A number in device memory: −1 where A could be factored, else Outcome::at. For kernels and copies that the stream is given. What
  /// reads it must be done before this object ends.
  const std::int64_t* failed_at() const;

  /// to ← n numbers in device memory: row k was exchanged with row to[k], from 0. Of rows, of Aᵀ. Misuse where the method is Cholesky.
  void pivots_async(std::int64_t* to);

  /// Waits for all that this context was given. Captured factors are misuse. How the factorization ended: solved, singular or not_positive_definite.
  Outcome wait();

 private:
  explicit AsyncFactorization(std::unique_ptr<AsyncEngine<T>> engine);
  std::unique_ptr<AsyncEngine<T>> engine_;
};
#define LASOLVE_EXTERN(T) extern template class AsyncFactorization<T>;
LASOLVE_ELEMENTS(LASOLVE_EXTERN)
#undef LASOLVE_EXTERN

/// The same of the type of A, in place where A is handed over.
template <class A>
requires std::is_constructible_v < AsyncFactorization<refused::ElementOf<A>>, A,
const Options&, const Context& > AsyncFactorization<refused::ElementOf<A>> factor_async(A&& a, const Options& options,
                                                                                        const Context& context) {
  return {std::forward<A>(a), options, context};
}

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
