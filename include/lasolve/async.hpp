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
/// Threads: as for Context. The destructor does not wait for the work either, but where memory of A was handed over, or where this
/// is the last that uses its context.
/// Throws as Factorization does. What goes wrong on the device is thrown by wait(), or by a later call on the context.
template <class T>
class AsyncFactorization {
 public:
  /// Begins to factor A, n × n on the device of the context, which has a stream. Factors are stored in the type of A.
  ///
  /// The options have to name what would be decided by a look at A or at a solution, all else is misuse: factorization is lu or
  /// cholesky; check and condition are false; refine is none, or automatic where no factors coarser than A are asked for; nobody is
  /// told of the progress. NaN and Inf in A are not looked for.
  AsyncFactorization(MatrixView<const T, Cuda> A, const Options& options, const Context& context);
  /// In place: takes the memory of A and overwrites A with its factors. Work that other streams have on it must be done.
  AsyncFactorization(Matrix<T, Cuda>&& A, const Options& options, const Context& context);
  /// For the compiler to say why. `More` is what comes behind the options: a context.
  template <class A, class... More, auto because = refused::begun<A, T>()>
  requires(!std::is_convertible_v<std::remove_cvref_t<A>*, AsyncFactorization*> &&
           !refused::Begun<A, T, More...>) explicit(sizeof...(More) == 0)
      AsyncFactorization(A&&, const Options& = {}, More&&...) = delete;
  AsyncFactorization(AsyncFactorization&&) noexcept;
  AsyncFactorization& operator=(AsyncFactorization&&) noexcept;
  ~AsyncFactorization();

  /// X ← op(A)⁻¹ B; B and X are n × nrhs. They may be the same memory with the same leading dimension, but not overlap otherwise.
  /// Flops 2 n² nrhs. X is all NaN where A could not be factored.
  void solve_async(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op = Op::none);
  /// For the compiler to say why.
  template <class B, class X, auto because = refused::begun_to_solve<B, X>()>
  requires(refused::Temporary<B> || refused::Temporary<X> ||
           !SidesOnDevice<B, X, T>) void solve_async(B&&, X&&, Op = Op::none) = delete;

  /// A number in device memory: −1 where A could be factored, else Outcome::at. For kernels and copies that the stream is given. What
  /// reads it must be done before this object ends.
  const std::int64_t* failed_at() const;

  /// Waits for all that this context was given. How the factorization ended: solved, singular or not_positive_definite.
  Outcome wait();

 private:
  std::unique_ptr<AsyncEngine<T>> engine_;
};
extern template class AsyncFactorization<double>;
extern template class AsyncFactorization<float>;

inline AsyncFactorization<double> factor_async(MatrixView<const double, Cuda> A, const Options& options,
                                               const Context& context) {
  return {A, options, context};
}
inline AsyncFactorization<float> factor_async(MatrixView<const float, Cuda> A, const Options& options,
                                              const Context& context) {
  return {A, options, context};
}
/// In place.
inline AsyncFactorization<double> factor_async(Matrix<double, Cuda>&& A, const Options& options,
                                               const Context& context) {
  return {std::move(A), options, context};
}
inline AsyncFactorization<float> factor_async(Matrix<float, Cuda>&& A, const Options& options, const Context& context) {
  return {std::move(A), options, context};
}
/// For the compiler to say why.
template <class A, class... More, auto because = refused::begun<A, refused::ElementOf<A>>()>
requires(!refused::Begun<A, refused::ElementOf<A>, More...>)
    AsyncFactorization<refused::ElementOf<A>> factor_async(A&&, const Options& = {}, More&&...)
= delete;

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
