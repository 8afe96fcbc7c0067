// lasolve: dense linear systems A X = B by blocked LU or Cholesky with iterative refinement, over a GEMM backend that
// is chosen at run time.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lasolve/device.hpp"
#include "lasolve/gemm.hpp"
#include "lasolve/matrix.hpp"
#include "lasolve/method.hpp"
#include "lasolve/refused.hpp"
#include "lasolve/tuning.hpp"

namespace lasolve {
template <class T>
class Engine;
template <class T>
struct FactorizationOf;

inline namespace LASOLVE_ABI {

/// A backend by name, or an own record: also one that leaves small products to another, GemmBackend::small.
using GemmChoice = std::variant<std::string, const GemmBackend<Cpu>*, const GemmBackend<Cuda>*>;

/// What a person can ask for. Every default is here.
struct Options {
  GemmChoice gemm = std::string("auto");  ///< auto: cublas on CUDA; on the CPU blas, else packed
  /// automatic: the device of the data; else the first CUDA device that this build has code for, if it has the backend; else
  /// the CPU.
  Device device = {};
  /// Several devices of the kind of `device`, by their indices: the columns of A are dealt out to them, so that they hold larger systems, and
  /// solve large ones sooner. `device` is the first. One may be named twice; those of the CPU are threads with memory of their own, for tests.
  /// Fewer than two: `device` alone. For an A that is spread over them already: lasolve/pieces.hpp.
  std::vector<int> cards = {};
  /// Of a round of block columns, how many each of `cards` has, from 1 to 16: {2, 1} gives the first two thirds of the columns. Empty: equal
  /// shares, and over unlike cards those of their rates, which are measured. For cards that are unlike, or have other work.
  std::vector<int> card_shares = {};
  /// Bytes of the device's memory that a system may take; 0: all that is free but 1 GiB, and on the CPU any. A and factors that take more stay on the
  /// host, and pass the device in block columns: out of core.
  std::int64_t device_memory = 0;
  /// automatic: Cholesky if A has a positive diagonal and is symmetric but for roundoff, |aᵢⱼ − aⱼᵢ| ≤ 8 u √(aᵢᵢ aⱼⱼ), else LU.
  /// cholesky factors one triangle only: whether A is symmetric is then the caller's word.
  Method factorization = Method::automatic;
  /// How LU finds its pivots. automatic: partial. tournament: bands of rows name candidates. Where elements grow too much with that, a
  /// refinement stalls or a check fails, pivoting is partial next, unless factors overwrite A. Other methods have none.
  Pivoting pivoting = Pivoting::automatic;
  /// lower, upper: A is symmetric by the caller's word, and this triangle of it is there. The other one is never read, not for
  /// checks either, and may hold anything. automatic is then Cholesky, and LU of the whole symmetric matrix where that fails.
  /// both: all of A is there; Cholesky factors the lower triangle, and the check of a solution reads all of A.
  Uplo triangle = Uplo::both;
  /// One of solve_precisions; automatic: the type of A. Factors coarser than A with which a refinement stalls are replaced by
  /// some in the type of A, and are there until these are made.
  Precision precision = Precision::automatic;
  /// What finished factors are stored in; automatic: what they were computed in. fp16, bf16: half of the memory of those of fp32, which
  /// each solve widens again; without a precision they are computed in fp32. fp16 has more digits, and A is scaled to its range.
  Precision storage = Precision::automatic;
  /// automatic: classical if the factors are coarser than A, and where elements grew so much in an LU that a solution fails its check;
  /// gmres for right-hand sides with which that stalls.
  Refine refine = Refine::automatic;
  /// extra: residuals are computed in double-double, of a system in fp32 in fp64, and x is kept in two parts meanwhile. Solutions are refined
  /// until the next update would be below the roundoff, ‖d‖∞ ≤ u ‖x‖∞, also with factors as fine as A: the error of x itself is then
  /// some u, as long as u κ(A) is well below 1. A step reads A once, as without it.
  Residual residual = Residual::working;
  /// automatic: where the factorization or a solution fails, and rows or columns of A are of very different size, they are scaled by powers
  /// of two, as in LAPACK's geequ, and A is factored again. on: always scaled. off: never. An A whose norm is below the least normal number is multiplied
  /// by one power of two in any case. Symmetric matrices are scaled symmetrically. Answers, checks and bounds are of the system as it was given.
  Wanted equilibrate = {};
  /// automatic: what was measured to be best, which is right_looking, but left_looking for Cholesky on CUDA and for a matrix
  /// on the host that is factored while it is copied to a device.
  Schedule schedule = Schedule::automatic;
  /// Every size that decides between ways to compute: those of the device, as tuning_of() gives them, where it is not set.
  std::optional<Tuning> tuning = {};
  std::int64_t block_size = 0;   ///< columns of a panel at most; 0: from n, method, precision, schedule, device
  int threads = 0;               ///< cores of the host to compute with; 0: all
  bool assume_suitable = false;  ///< that A is diagonally dominant, which a method requires, is the caller's word
  bool allow_nonfinite = false;  ///< take NaN and Inf in A and B; otherwise that is misuse, found when checking
  bool check = true;  ///< measure the backward error of each solution; keeps A beside its factors on the device
  /// on: estimate the condition of A, report it with `digits`, and judge solutions by it: one of which no digit can be trusted has the
  /// outcome ill_conditioned, and X is there. At most three solves with four right-hand sides, once for all solutions.
  /// automatic: the same where pivots make trouble likely, which is where the smallest over the largest is below 2¹⁶ u and √u, 7e-12 in
  /// fp64 and 2.4e-4 in fp32; and where it takes less than 0.5 % of the factorization. Not of factors coarser than A that are refined, nor in place where
  /// rcond() would be misuse.
  Condition condition = {};
  /// Bound the error of each checked solution, as LAPACK's gesvx does: Report::forward_error_bound, componentwise_backward_error. Takes the
  /// estimate of the condition, and for up to four right-hand sides each a reading of A and, where rows weigh very differently, another estimate.
  bool bounds = false;
  /// The backward error that each solution must have, ‖b − A x‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞), in place of the HPL check; 0: that check. At least the unit
  /// roundoff of A's type. What takes least time to reach it is chosen where the precision and the refinement are left open: factors
  /// coarser than A where those are faster, refined. A solution that misses it is refined, and has the outcome accuracy_not_reached.
  double accuracy = 0;
  bool history = false;  ///< keep the residuals of each right-hand side: Report::residual_history
  /// Called now and then, on the solving thread, with the fraction of the factorization that is done.
  std::function<void(double)> progress = {};
};

/// How the mathematics ended. An outcome is a value, never an exception.
struct [[nodiscard]] Outcome {
  /// accuracy_not_reached: that of Options::accuracy. not_symmetric: Cholesky was asked for by name, and solved with one triangle of a matrix that has another one. unsuitable: A is not
  /// diagonally dominant, by rows or by columns, and the method requires it: nothing was computed.
  enum Kind : int {
    solved,
    singular,
    not_positive_definite,
    not_converged,
    inaccurate,
    ill_conditioned,
    not_symmetric,
    unsuitable,
    accuracy_not_reached
  } kind = solved;
  /// singular: the 0-based column whose pivot is exactly zero, or the row; not_positive_definite: the order of the first leading
  /// minor that is not positive; not_converged: the iterations made.
  std::int64_t at = 0;
  bool of_rows = false;  ///< a singular matrix is row-major, so that `at` is a row
  bool ok() const { return kind == solved; }
  /// Whether X is there, be it right or not.
  bool has_solution() const { return kind != singular && kind != not_positive_definite && kind != unsuitable; }
  std::string name() const;     ///< "solved", "singular", …
  std::string message() const;  ///< one sentence
};

/// What a factorization gave a backend: its products, those within panels and triangular solves too.
struct ProductsOf {
  std::string gemm;
  ProductCount count;
};

/// What one of several cards did in a factorization.
struct CardReport {
  std::string device;         ///< "cuda:1"
  std::int64_t columns = 0;   ///< of A that are its own
  double bytes = 0;           ///< of its memory: factors, what came from others, and A where it is kept
  double received_bytes = 0;  ///< panels of others
  PhaseTimes phases;          ///< busy seconds; panels include waiting for those of others
};

/// What a factorization or a solve did.
struct [[nodiscard]] Report {
  Outcome outcome;
  std::int64_t n = 0, nrhs = 0;
  std::string device, gemm;  ///< "cpu", "cuda:0" or "cuda:0,1"; the backend that was used
  /// Of several cards what each did. `phases` are then those of the card that was busy longest in each, with the operations of all.
  std::vector<CardReport> cards;
  /// Where the backend leaves small products to another (GemmBackend::small): what either was given, and below how many operations a
  /// product is small. Else empty.
  std::vector<ProductsOf> products_of;
  double small_below = 0;
  Method method = Method::automatic;           ///< that was used
  Pivoting pivoting = Pivoting::automatic;     ///< of it
  Precision precision = Precision::automatic;  ///< in which it was solved: see solve_precisions
  /// What the factors that gave the answer were stored in, what products were computed in, and what residuals were.
  Precision storage = Precision::automatic, products = Precision::automatic, residual = Precision::automatic;
  bool extra_residuals = false;  ///< those of the refinement were in twice that precision: Options::residual
  Equilibration equilibration = Equilibration::none;
  Refine refine = Refine::none;
  Schedule schedule = Schedule::automatic;
  std::int64_t block_size = 0;
  int threads = 0;  ///< of the host, that shared the factorization: 1 where nothing of it is worth sharing
  PhaseTimes phases;
  /// Wall time; total counts copies and refinement. On CUDA factor_seconds ends when the outcome is known.
  double factor_seconds = 0, solve_seconds = 0, total_seconds = 0;
  double factor_gflops = 0;  ///< 2/3 n³ (LU) or 1/3 n³ (Cholesky) over factor_seconds
  /// max over columns of ‖b − A x‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞), and that over ε·n, which passes below 16 (HPL).
  std::optional<double> backward_error, hpl_residual;
  std::optional<double> forward_error;  ///< ‖X − X*‖ / ‖X*‖ (largest entries), where a caller knows X*
  /// 1 / (‖A‖₁‖A⁻¹‖₁), where it was estimated: see Options::condition and Factorization::rcond().
  std::optional<double> rcond;
  /// Where rcond is below the roundoff u, but only because rows of A are of very different size: the residual of a checked
  /// solution is small in each row for itself, |b − op(A) x|ᵢ < 16 n u (Σⱼ|aᵢⱼ|‖x‖∞ + |b|ᵢ), and so what counts is the condition
  /// of op(A) with its rows scaled, 1 / ‖ |op(A)⁻¹| |op(A)| ‖∞. That is at least 10 u.
  std::optional<double> rcond_of_scaled_rows;
  /// The same where columns are, too: of op(A) C, with a weight cⱼ, a power of two, for each column. x = C y is then as good as y,
  /// whose residual is small in each row.
  std::optional<double> rcond_of_scaled_columns;
  /// The digits of a solution that may be trusted, about: max(0, −log10(u / r)), where r is rcond, or that of the scaled rows or
  /// columns if it is there, and u the roundoff of A's type, or of coarser factors that are not refined. They are counted from the
  /// largest component: of x, or, where columns are scaled, of y. With r < u the outcome is ill_conditioned. None of a solution that
  /// is not accurate.
  std::optional<double> digits;
  /// max|uᵢⱼ| / max|aᵢⱼ| of an LU that is not out of core: with Options::bounds, by tournament pivoting, and where a solution failed its check, if only
  /// before it was refined.
  std::optional<double> growth;
  /// ‖|L||U|‖∞ / ‖A‖∞ of the same: L U is P A + E with |E| ≤ n u |L||U|, and the backward error of a solution is at most some 3 n u times this. Of a row-major A
  /// both are of its transpose.
  /// Source: Higham, Accuracy and Stability of Numerical Algorithms, section 9.3.
  std::optional<double> norm_growth;
  /// max|lᵢⱼ| of the same: 1 with partial pivoting, and by a tournament a little more.
  std::optional<double> largest_multiplier;
  /// A bound of ‖x − x̂‖∞ / ‖x̂‖∞ for the worst right-hand side: ‖|A⁻¹| (|r| + (n + 1) u (|A||x̂| + |b|))‖∞ / ‖x̂‖∞, from an estimate of that
  /// norm, or of ‖A⁻¹‖∞. None unless Options::bounds asks for it, where a check did not pass, and where no digit is certain.
  std::optional<double> forward_error_bound;
  /// max |b − A x̂|ᵢ / (|A||x̂| + |b|)ᵢ: how well each equation is solved for itself. Of more than four right-hand sides none.
  std::optional<double> componentwise_backward_error;
  int refine_iterations = 0;
  int gmres_steps = 0;  ///< products with A within these, of the right-hand side that took most
  /// ‖B − op(A) X‖∞ / (‖op(A)‖∞ ‖X‖∞) of the column that has most of it, where that is finite: before the first
  /// update of a refinement, and after each.
  std::vector<double> refinement_residuals;
  /// The same of each right-hand side: a row before the first update, and after each, with an element for each column of B, NaN where it was
  /// done before. Empty unless Options::history asks for it. At most 2²⁰ numbers: of very many columns, the first are there.
  std::vector<std::vector<double>> residual_history;
  std::vector<std::string> notes;  ///< what a person should know: fallbacks, substitutions
};

inline constexpr double hpl_threshold = 16;

/// Misuse: NaN or Inf in A or B. what() says where.
struct NotFinite : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
/// Misuse: a name that is not known. what() says which is the nearest, or where none is near, all that there are.
struct UnknownName : std::invalid_argument {
  UnknownName(const std::string& what, std::vector<std::string> others)
      : std::invalid_argument(what), unsaid(std::move(others)) {}
  std::vector<std::string> unsaid;  ///< all that there are, where what() has not said them
};

class Context;

/// What comes before a call, where there is device memory: the work that a stream was given. And the context that it is made in.
struct After {
  After(CUstream_st* given_to = default_stream()) : stream(given_to) {}
  After(const Context& in, CUstream_st* given_to = default_stream()) : context(&in), stream(given_to) {}

  const Context* context = nullptr;
  CUstream_st* stream;
};

/// det A = sign · exp(log_abs), where det A itself may overflow. sign is −1, 1, or 0 of a singular matrix, whose log_abs is −∞.
struct LogDeterminant {
  double log_abs = 0;
  int sign = 1;
};

/// A triangular factor: P A = L U, where L has ones on its diagonal; or A = L Lᵀ, where U is Lᵀ. Of a row-major A it is the transpose that was
/// factored.
enum class Factor { L, U };

/// P A = L U or A = L Lᵀ: factored once, solves many right-hand sides.
///
/// A is n × n, T is double or float, on the host or on a CUDA device, by columns or by rows. It is borrowed and not changed; it must
/// outlive the factorization when it is refined or checked, and until the last rcond(). With data on the host and a CUDA backend, A is copied to the device. Where
/// it is large, the factorization begins with the columns that are there; factor_seconds is until all have come and are factored.
///
/// A copy of A is kept where A may end with the call. That is so of a matrix that is made there. It may be so of a block, a transpose or a
/// Ref of Eigen's, which may be of a temporary. A view that has a name is borrowed, and so is one of an Eigen::Map. A copy is also made on
/// the host where neither the rows nor the columns of A lie in one piece; on a device that is misuse.
///
/// Of a row-major A the transpose is factored, which the same memory holds by columns. So `singular` names a row of A, and rcond() is
/// that of ‖A‖∞.
///
/// Device memory is read, and written, after the work that stream `after` has been given before the call: the caller's default
/// stream where none is named. Work of the caller on other streams, those that are cudaStreamNonBlocking, is not waited for. The
/// legacy stream takes with it what CUDA orders before it: all streams of that device that are not cudaStreamNonBlocking, and a
/// kernel that never ends in one of them. When a call returns its results are there, for every stream. A Context with a stream has
/// that one take the place of the default stream (lasolve/context.hpp).
///
/// The caller's current device and the driver's current context are after each call what they were before it. An error that the
/// caller has not yet asked for (cudaGetLastError) is never taken for one of ours; CUDA itself forgets it when a kernel's
/// attributes are set.
///
/// Any number of threads may factor and solve at the same time. Solves with one factorization, and its rcond(), come one after the
/// other; while one of them is under way, its report() is not to be read, nor is it to be moved.
///
/// Throws std::invalid_argument (misuse: sizes, an enumerator that is none, a view of memory that is elsewhere than its type or
/// Options::device says, all that is asked of one that was moved from; NotFinite: NaN or Inf in A or B; UnknownName: a backend) and MachineError, and what Options::progress
/// throws. What throws in a solve leaves the factorization as it was before, and X undefined, so B is lost where X is B. The next
/// solve then works, unless the device itself has failed.
template <class T>
class Factorization {
  static_assert(refused::Element<T>,
                "lasolve: systems are of double or float: Factorization<double>, or Factorization<float>");

 public:
  explicit Factorization(Borrowed<const T> A, const Options& options = {}, After after = {});
  /// In place: takes the memory of A and overwrites A with its factors, so that n² elements are enough. Nothing is left
  /// to check solutions with, or to refine them: where a check was asked for, a note in the report says so. A
  /// Cholesky that fails cannot fall back to LU. Factors coarser than A, or refinement, are misuse.
  explicit Factorization(Matrix<T, Cpu>&& A, const Options& options = {}, After after = {});
  explicit Factorization(Matrix<T, Cuda>&& A, const Options& options = {}, After after = {});
  /// Either of them with the queues of a context, on its device, which Options::device may only name once more. Solves go there, too.
  template <BorrowedAs<const T> A>
  Factorization(A&& a, const Options& options, const Context& context, CUstream_st* after = default_stream())
      : Factorization(std::forward<A>(a), options, After(context, after)) {}
  /// Of a copy of A, which is kept where it is read again: to refine, to check, or for rcond().
  static Factorization copy_of(Borrowed<const T> A, const Options& options = {}, After after = {}) {
    return Factorization(A.to_be_copied(), options, after);
  }
  /// For the compiler to say why. `More` is what comes behind the options: a context, a stream.
  template <class A, class... More, auto because = refused::operands<MatrixView<double>, A>()>
  requires(refused::Element<T> && !std::is_convertible_v<std::remove_cvref_t<A>*, Factorization*> &&
           !BorrowedAs<A, const T>) explicit(sizeof...(More) == 0)
      Factorization(A&&, const Options& = {}, More&&...) = delete;
  template <BorrowedAs<const T> A, refused::NoOptions O, class... More, auto because = refused::no_options>
  Factorization(A&&, O&&, More&&...) = delete;
  template <class A, class... More>
  requires(!refused::Element<T>) Factorization(A&&, More&&...);
  Factorization(Factorization&&) noexcept;
  Factorization& operator=(Factorization&&) noexcept;
  ~Factorization();

  /// What the factorization did: outcome.ok(), or singular, or not_positive_definite. With bounds, coarse factors are tested beside the first
  /// solutions that are refined; who reads this before waits for a test.
  const Report& report() const;

  /// X ← op(A)⁻¹ B; B and X are n × nrhs. By columns, they may be the same memory with the same leading dimension, but not overlap
  /// otherwise, which is misuse. In another order they are solved for in copies, and may overlap. Nor may X overlap A where that is
  /// read again, to refine or to check. Flops 2 n² nrhs. X is all NaN unless outcome.has_solution().
  Report solve(Borrowed<const T> B, Borrowed<T> X, Op op = Op::none, CUstream_st* after = default_stream());
  /// For the compiler to say why.
  template <class B, class X, class... More, auto because = refused::operands<X, B>()>
  requires(!refused::RhsOf<B, X, T>) Report solve(B&&, X&&, Op = Op::none, More&&...)
  = delete;
  template <class B, auto because = refused::no_solution>
  Report solve(B&&) = delete;

  /// log|det A| and the sign of det A, from the factors: flops n. NaN and 0 where A is not positive definite, or not suitable. Of coarser
  /// factors that are refined, A is factored once more, in its own precision, for this call. What follows needs factors that are as fine as
  /// A: those of Options::precision fp32 for an A of double are misuse.
  LogDeterminant log_abs_det();
  /// The factors, with zeros in the other triangle. Misuse where A could not be factored, here and below.
  Matrix<T> triangle(Factor);
  Matrix<T> L() { return triangle(Factor::L); }
  Matrix<T> U() { return triangle(Factor::U); }
  /// Row k was exchanged with row pivots()[k], k = 0, 1, …: LAPACK's ipiv, but counted from 0. Those of Cholesky exchange nothing.
  std::vector<std::int64_t> pivots();
  /// The same as a whole: row i of P A is row permutation()[i] of A.
  std::vector<std::int64_t> permutation();
  /// X ← op(L)⁻¹ B or op(U)⁻¹ B, and X ← op(L) B or op(U) B, where X is apart from B. B and X are as in solve(), but a product keeps n
  /// rows of 256 columns beside them. Flops n² nrhs.
  void solve_with(Factor which, Borrowed<const T> B, Borrowed<T> X, Op op = Op::none,
                  CUstream_st* after = default_stream()) {
    apply(which, true, B, X, op, after);
  }
  void multiply_by(Factor which, Borrowed<const T> B, Borrowed<T> X, Op op = Op::none,
                   CUstream_st* after = default_stream()) {
    apply(which, false, B, X, op, after);
  }

  /// An estimate of 1 / (‖A‖₁‖A⁻¹‖₁) from the factors, made when first asked for and kept. It is nearly always one to three times
  /// the true value; coarse factors may leave it smaller. It is 0 if the matrix is singular, NaN if it is not positive definite. At most three
  /// solves with four right-hand sides (Higham & Tisseur 2000).
  /// Takes ‖A‖₁, so A must still be there, unless it was factored in place, when that was taken before. An A of the host is factored in
  /// place on a device, where the method is named and nothing is checked or refined. Misuse: A in place on a device, not checked to be
  /// finite, and either large and factored while it arrived, or small with infinite sums of columns. Options::condition = true prevents that.
  double rcond();

 private:
  friend struct lasolve::FactorizationOf<T>;  // of what is no memory of the caller's
  explicit Factorization(std::unique_ptr<Engine<T>>);
  void apply(Factor, bool inverse, Borrowed<const T> B, Borrowed<T> X, Op op, CUstream_st* after);

  std::unique_ptr<Engine<T>> engine_;
};
#define LASOLVE_EXTERN(T) extern template class Factorization<T>;
LASOLVE_ELEMENTS(LASOLVE_EXTERN)
#undef LASOLVE_EXTERN
/// `Factorization factors(A)` is of the type of A.
template <class A, class... More>
requires(!refused::is_factorization<std::remove_cvref_t<A>>) Factorization(A&&, More&&...)
->Factorization<refused::ElementOf<A>>;
template <class A, class... More>
requires(!refused::is_factorization<std::remove_cvref_t<A>>) Factorization(A&&, const Options&, More&&...)
->Factorization<refused::ElementOf<A>>;

/// One report of a factorization and a solve with it: the phases and the totals of both.
Report combined(const Report& factored, Report solved);
[[deprecated("combined() now")]] inline Report together(const Report& factored, Report solved) {
  return combined(factored, std::move(solved));
}

/// Solves op(A) X = B: factors A and solves, and reports both. Sizes, errors and outcomes as in Factorization. X may not overlap A.
Report solve(Borrowed<const double> A, Borrowed<const double> B, Borrowed<double> X, const Options& = {},
             Op op = Op::none, After after = {});
Report solve(Borrowed<const float> A, Borrowed<const float> B, Borrowed<float> X, const Options& = {}, Op op = Op::none,
             After after = {});
/// For the compiler to say why.
template <class A, class B, class X, auto because = refused::operands<X, A, B>()>
requires(!refused::System<A, B, X>) Report solve(A&&, B&&, X&&, const Options& = {}, Op = Op::none)
= delete;
template <auto because = refused::no_solution>
Report solve(refused::Anything, refused::Anything) = delete;
template <auto because = refused::no_options>
Report solve(refused::Anything, refused::Anything, refused::Anything, refused::AnythingButOptions) = delete;

/// The version of the library, as "major.minor.patch".
const char* version();

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
