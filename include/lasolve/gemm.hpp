// The GEMM contract, and the table of backends.
//
//     C ← α·op(A)·op(B) + β·C      op(A): m × k, op(B): k × n, C: m × n, column-major
//
// in five precisions (lasolve/precision.hpp), of which a backend offers those it has.
//
// On CUDA a backend's function enqueues and returns, on the CPU it computes. It never synchronizes, and allocates nothing but scratch
// memory of its queue. β = 0 never reads C, so NaN in C is overwritten. m, n or k may be 0; any ld ≥ rows; NaN and Inf in the
// product propagate.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "lasolve/precision.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// Of real elements, conjugate_transpose is transpose.
enum class Op { none, transpose, conjugate_transpose };

/// What op is of real elements. No kernel sees a conjugate_transpose of these.
constexpr Op of_real(Op op) { return op == Op::conjugate_transpose ? Op::transpose : op; }

/// op(X): a matrix, or its transpose read in place. Element (i, j) is data[i·row_stride + j·col_stride], or its conjugate.
template <class T, class Space = Cpu>
class Operand {
 public:
  constexpr Operand(MatrixView<const T, Space> x, Op op = Op::none)
      : x_(x), op_(ComplexElement<T> ? op : of_real(op)) {}
  constexpr Operand(MatrixView<T, Space> x) : x_(x) {}

  constexpr MatrixView<const T, Space> stored() const { return x_; }
  constexpr Op op() const { return op_; }
  constexpr bool is_conjugated() const { return op_ == Op::conjugate_transpose; }
  constexpr const T* data() const { return x_.data(); }
  constexpr std::int64_t ld() const { return x_.ld(); }
  constexpr std::int64_t rows() const { return op_ == Op::none ? x_.rows() : x_.cols(); }
  constexpr std::int64_t cols() const { return op_ == Op::none ? x_.cols() : x_.rows(); }
  constexpr std::int64_t row_stride() const { return op_ == Op::none ? 1 : x_.ld(); }
  constexpr std::int64_t col_stride() const { return op_ == Op::none ? x_.ld() : 1; }

  /// The m × n block of op(X) whose first element is (i, j).
  constexpr Operand block(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    Operand part = *this;
    part.x_ = op_ == Op::none ? x_.block(i, j, m, n) : x_.block(j, i, n, m);
    return part;
  }
  constexpr decltype(auto) operator()(std::int64_t i, std::int64_t j) const requires std::is_same_v<Space, Cpu> {
    const T& x = x_.data()[i * row_stride() + j * col_stride()];
    if constexpr (ComplexElement<T>)
      return is_conjugated() ? conjugate(x) : x;
    else
      return (x);
  }

 private:
  MatrixView<const T, Space> x_;
  Op op_ = Op::none;
};

constexpr Op flipped(Op op) { return op == Op::none ? Op::transpose : Op::none; }

template <class T, class Space>
constexpr Operand<std::remove_const_t<T>, Space> transposed(MatrixView<T, Space> x) {
  return {x, Op::transpose};
}
template <class T, class Space>
constexpr Operand<T, Space> transposed(Operand<T, Space> x) {
  return {x.stored(), flipped(x.op())};
}

/// C ← α·A·B + β·C. A and B are of In, which for halves is not T; `self` is that of the backend.
template <class T, class Space, class In = T>
using GemmFunction = void (*)(const void* self, Queue<Space>&, T alpha, Operand<In, Space> A, Operand<In, Space> B,
                              T beta, MatrixView<T, Space> C);

/// What a product is for, where a backend may have more than one function.
enum class Use {
  alone,
  beside,  ///< other work runs beside it, which is waited for sooner: one that leaves room for that
  lower  ///< C is square, and only what is on and below its diagonal is wanted; above, it is not meaningful afterwards. As BLAS's gemmt.
};

/// What a backend has for products in precision P.
template <Precision P, class Space>
struct GemmKernel {
  using In = typename Arithmetic<P>::Operand;
  using T = typename Arithmetic<P>::Result;
  using Function = GemmFunction<T, Space, In>;

  Function function;
  /// u in ‖C − Cref‖ ≤ u·(√(k+2)·max(|α|,1)·‖A‖‖B‖ + 2·max(|β|,1)·‖C₀‖), Frobenius norms: coarser where the
  /// arithmetic is coarser than the type.
  double unit_roundoff;
  /// The same product for other uses. Null: `function`.
  Function beside, lower = nullptr;
  const void* self = nullptr;  ///< see GemmBackend::in()

  constexpr GemmKernel(Function alone = nullptr, double roundoff = Arithmetic<P>::unit_roundoff,
                       Function beside_work = nullptr)
      : function(alone), unit_roundoff(roundoff), beside(beside_work) {}
  constexpr GemmKernel with_lower(Function its) const {
    GemmKernel kernel = *this;
    kernel.lower = its;
    return kernel;
  }
  /// Whether it is offered.
  constexpr explicit operator bool() const { return function != nullptr; }

  /// C ← α·A·B + β·C. Throws std::invalid_argument when the sizes do not agree or the precision is not offered.
  void operator()(Queue<Space>& q, T alpha, Operand<In, Space> A, Operand<In, Space> B, T beta,
                  MatrixView<T, Space> C) const {
    require(A.rows() == C.rows() && B.cols() == C.cols() && A.cols() == B.rows(),
            "the sizes of a product do not agree");
    require(function != nullptr, "this GEMM backend does not offer this precision");
    if (!C.empty()) function(self, q, alpha, A, B, beta, C);
  }
};
/// The operands of a function say which precision it is for, but for tf32.
template <class T, class Space, class In, class... More>
GemmKernel(GemmFunction<T, Space, In>, More...) -> GemmKernel<precision_of<In>, Space>;

/// What a backend has in each precision: made of functions, or of GemmKernels. What is left out is not offered.
template <class Space, class = ProductPrecisions>
struct GemmKernels;
template <class Space, Precision... P>
struct GemmKernels<Space, Precisions<P...>> : GemmKernel<P, Space>... {
  template <class... Kernels>
  constexpr GemmKernels(Kernels... kernels) {
    (set(GemmKernel(kernels)), ...);
  }

 private:
  template <Precision Its>
  constexpr void set(const GemmKernel<Its, Space>& kernel) {
    GemmKernel<Its, Space>& its = *this;
    its = kernel;
  }
};

struct Threshold;  // lasolve/tuning.hpp

/// What is known of a product before its operands are there: C is m × n, op(A) m × k, op(B) k × n.
struct ProductShape {
  Precision precision;
  Op a, b;
  std::int64_t m, n, k;
  bool beside;  ///< whether it is for Use::beside
};

/// One way to compute a product. A constant: an embedder passes a record of its own in Options::gemm.
template <class Space>
struct GemmBackend {
  const char* name;
  const char* summary;  ///< one line
  GemmKernels<Space> kernels = {};
  /// Handed to the functions, for what they need beside a product; null, where they need nothing. Several threads may call them at once.
  const void* self = nullptr;
  /// Why this backend cannot run on a device of this machine; empty, or a null function: it can.
  std::string (*unavailable)(int device) = nullptr;
  /// Makes at once what a product of this shape would make at its first call on a queue, as scratch memory: solvers ask for it
  /// before their clock runs. A null function: nothing.
  void (*prepare)(const void* self, Queue<Space>&, const ProductShape&) = nullptr;
  /// Another backend, to which solvers give the products of fewer than small_below operations, 2 m n k. It must outlive this record,
  /// and run where this one runs; one of its own is not asked for. Null, or one that does not offer the precision: none.
  const GemmBackend* small = nullptr;
  double small_below = 0;
  /// Sizes at which it does something else.
  std::span<const Threshold* const> thresholds = {};

  /// What it has in P.
  template <Precision P>
  constexpr GemmKernel<P, Space> in(Use use = Use::alone) const {
    GemmKernel<P, Space> kernel = kernels;
    kernel.self = self;
    if (use == Use::beside && kernel.beside) kernel.function = kernel.beside;
    if (use == Use::lower && kernel.lower) kernel.function = kernel.lower;
    return kernel;
  }

  /// C ← α·A·B + β·C in the precision of T.
  template <class T>
  void operator()(Queue<Space>& q, T alpha, std::type_identity_t<Operand<T, Space>> A,
                  std::type_identity_t<Operand<T, Space>> B, T beta,
                  std::type_identity_t<MatrixView<T, Space>> C) const {
    in<precision_of<T>>()(q, alpha, A, B, beta, C);
  }
};

/// Y ← X, to nearest.
template <class Half>
void round_elements(Queue<Cpu>&, MatrixView<const float, Cpu> X, MatrixView<Half, Cpu> Y);
template <class Half>
void round_elements(Queue<Cuda>&, MatrixView<const float, Cuda> X, MatrixView<Half, Cuda> Y);

/// The leading dimension of a matrix of 16-bit elements whose columns begin at multiples of 16 bytes, and its elements.
constexpr std::int64_t ld_to_round_to(std::int64_t rows) { return std::max<std::int64_t>((rows + 7) / 8 * 8, 8); }
constexpr std::int64_t elements_to_round_to(std::int64_t rows, std::int64_t columns) {
  return ld_to_round_to(rows) * columns;
}

/// An operand of fp16 or bf16, rounded from one of fp32. `room` has elements_to_round_to() of what is stored.
template <class Half, class Space>
Operand<Half, Space> rounded(Queue<Space>& q, Operand<float, Space> X, Half* room) {
  const MatrixView<const float, Space> from = X.stored();
  const MatrixView<Half, Space> to(room, from.rows(), from.cols(), ld_to_round_to(from.rows()));
  round_elements(q, from, to);
  return {to, X.op()};
}

/// Y ← α op(X), on the device of complex matrices, written where the parts are those of a real matrix.
template <ComplexElement T>
void multiply_elements(Queue<Cpu>&, T alpha, Operand<T, Cpu> X, MatrixView<T, Cpu> Y);
template <ComplexElement T>
void multiply_elements(Queue<Cuda>&, T alpha, Operand<T, Cuda> X, MatrixView<T, Cuda> Y);

/// The parts of complex elements, as they lie in memory: the real and the imaginary ones are rows by turns.
template <ComplexElement T, class Space>
auto parts_of(MatrixView<T, Space> X) {
  using Part = std::conditional_t<std::is_const_v<T>, const real_of<T>, real_of<T>>;
  return MatrixView<Part, Space>(reinterpret_cast<Part*>(X.data()), 2 * X.rows(), X.cols(), 2 * X.ld());
}

/// C ← α·A·B + β·C of complex matrices by a product of real ones, of as many operations: the parts of C and of B stay where they lie, and
/// of α·A each element x + iy becomes [x −y; y x], in memory of the queue. β is real.
template <Precision P, ComplexElement F, class Space>
void multiply_parts(const GemmKernel<P, Space>& kernel, Queue<Space>& q, F alpha, Operand<F, Space> A,
                    Operand<F, Space> B, F beta, MatrixView<F, Space> C) {
  require(beta.imag() == 0, "of a product of complex matrices beta is to be real");
  const std::int64_t m = A.rows(), k = A.cols();
  const bool copies_B = B.op() != Op::none;
  const std::int64_t of_B = copies_B ? k * B.cols() : 0;
  F* const room = static_cast<F*>(q.room_for_operands(std::size_t(2 * m * k + of_B) * sizeof(F)));
  const MatrixView<F, Space> pairs(room, m, 2 * k, m);  // columns of α·A and of iα·A by turns
  multiply_elements(q, alpha, A, MatrixView<F, Space>(room, m, k, 2 * m));
  multiply_elements(q, F(-alpha.imag(), alpha.real()), A, MatrixView<F, Space>(room + m, m, k, 2 * m));
  MatrixView<const F, Space> its_B = B.stored();
  if (copies_B) {
    const MatrixView<F, Space> copied(room + 2 * m * k, k, B.cols(), k);
    multiply_elements(q, F(1), B, copied);
    its_B = copied;
  }
  kernel(q, real_of<F>(1), parts_of(pairs), parts_of(its_B), beta.real(), parts_of(C));
}

/// Whether products of matrices of F are computed in P.
template <Precision P, class F>
inline constexpr bool is_computed_in = std::is_same_v<typename Arithmetic<P>::Result, real_of<F>> &&
                                       (!ComplexElement<F> ||
                                        std::is_same_v<typename Arithmetic<P>::Operand, real_of<F>>);

/// Products that were made: how many, and of how many operations.
struct ProductCount {
  std::int64_t calls = 0;
  double flops = 0;
};

/// C ← α·A·B + β·C by what a backend has for products in P. Operands of P that are narrower than C are rounded from A and B before, in
/// memory of the queue. Throws as GemmKernel does.
template <Precision P, class F, class Space>
void multiply_in(const GemmBackend<Space>& backend, Use use, Queue<Space>& q, F alpha, Operand<F, Space> A,
                 Operand<F, Space> B, F beta, MatrixView<F, Space> C) {
  using In = typename Arithmetic<P>::Operand;
  const GemmKernel<P, Space> kernel = backend.template in<P>(use);
  if constexpr (std::is_same_v<In, F>) {
    kernel(q, alpha, A, B, beta, C);
  } else if constexpr (ComplexElement<F>) {
    multiply_parts(kernel, q, alpha, A, B, beta, C);
  } else {
    const auto elements = [](const auto& X) { return elements_to_round_to(X.stored().rows(), X.stored().cols()); };
    In* const room = static_cast<In*>(q.room_for_operands(std::size_t(elements(A) + elements(B)) * sizeof(In)));
    const Operand<In, Space> a = rounded(q, A, room), b = rounded(q, B, room + elements(A));
    kernel(q, alpha, a, b, beta, C);
  }
}

/// A backend that is bound to an arithmetic: products of matrices of F. One that it leaves small products to is bound with it. Copies
/// count their products together, and are of one thread.
template <class F, class Space>
class Gemm {
 public:
  /// `products`: what they are computed in. Unbound where the backend does not offer that for matrices of F.
  explicit Gemm(const GemmBackend<Space>& backend, Precision products = precision_of<F>)
      : backend_(&backend), products_(products) {
    for_precision(products, [&](auto P) {
      if constexpr (is_computed_in<P, F>) {
        const GemmKernel<P, Space> kernel = backend.template in<P>();
        if (kernel) product_ = multiply_in<P, F, Space>;
        has_lower_ = !ComplexElement<F> && kernel.lower;
        if (backend.small && backend.small->template in<P>()) counts_ = std::make_shared<Counts>();
      }
    });
  }
  /// For products beside which other work runs; see Use.
  Gemm beside() const {
    Gemm other = *this;
    other.is_beside_ = true;
    return other;
  }
  /// Whether it is bound.
  constexpr explicit operator bool() const { return product_ != nullptr; }
  constexpr const GemmBackend<Space>& backend() const { return *backend_; }
  constexpr Precision products() const { return products_; }

  /// C ← α·A·B + β·C. Throws as GemmKernel does.
  void operator()(Queue<Space>& q, F alpha, Operand<F, Space> A, Operand<F, Space> B, F beta,
                  MatrixView<F, Space> C) const {
    multiply(is_beside_ ? Use::beside : Use::alone, q, alpha, A, B, beta, C);
  }
  /// Whether the backend has a function of its own for lower().
  bool has_lower() const { return has_lower_; }
  /// The same of C n × n, on and below its diagonal; what is above is not meaningful afterwards.
  void lower(Queue<Space>& q, F alpha, Operand<F, Space> A, Operand<F, Space> B, F beta, MatrixView<F, Space> C) const {
    require(C.rows() == C.cols(), "a matrix of which a triangle is wanted is square");
    multiply(has_lower_ ? Use::lower : Use::alone, q, alpha, A, B, beta, C);
  }
  bool prepares() const {
    return backend_->prepare != nullptr || (counts_ && backend_->small->prepare != nullptr) || takes_room();
  }
  /// See GemmBackend::prepare.
  void prepare(Queue<Space>& q, Op a, Op b, std::int64_t m, std::int64_t n, std::int64_t k) const {
    const auto& makes = counts_ && flops_of(m, n, k) < backend_->small_below ? *backend_->small : *backend_;
    if constexpr (ComplexElement<F>) {
      if (makes.prepare) makes.prepare(makes.self, q, {products_, Op::none, Op::none, 2 * m, n, 2 * k, is_beside_});
      q.room_for_operands(std::size_t(2 * m * k + (b == Op::none ? 0 : k * n)) * sizeof(F));
      return;
    }
    if (makes.prepare) makes.prepare(makes.self, q, {products_, a, b, m, n, k, is_beside_});
    if (!takes_room()) return;
    const std::int64_t of_A = a == Op::none ? elements_to_round_to(m, k) : elements_to_round_to(k, m);
    const std::int64_t of_B = b == Op::none ? elements_to_round_to(k, n) : elements_to_round_to(n, k);
    q.room_for_operands(std::size_t((of_A + of_B) * bytes_of(products_)));
  }

  /// The backend that has the small products; null: there is none.
  const GemmBackend<Space>* small() const { return counts_ ? backend_->small : nullptr; }
  /// What each of two backends was given, by all calls of this one, which are of one thread. Not counted where there is but one.
  ProductCount given() const { return counts_ ? counts_->by_this : ProductCount(); }
  ProductCount given_to_small() const { return counts_ ? counts_->by_small : ProductCount(); }

 private:
  void multiply(Use use, Queue<Space>& q, F alpha, Operand<F, Space> A, Operand<F, Space> B, F beta,
                MatrixView<F, Space> C) const {
    require(product_ != nullptr, "this GEMM backend does not offer this precision");
    bool is_small = false;
    if (counts_) {
      const std::int64_t n = C.cols();
      const double flops = flops_of(C.rows(), use == Use::lower ? (n + 1) / 2 : n, A.cols());
      is_small = flops < backend_->small_below;
      ProductCount& count = is_small ? counts_->by_small : counts_->by_this;
      ++count.calls, count.flops += flops;
    }
    product_(is_small ? *backend_->small : *backend_, is_small ? Use::alone : use, q, alpha, A, B, beta, C);
  }
  static constexpr double flops_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    return (ComplexElement<F> ? 8.0 : 2.0) * double(m) * double(n) * double(k);
  }
  /// Whether operands are rounded for products, or parts of complex ones set side by side.
  bool takes_room() const { return ComplexElement<F> || rounding_of_operands(products_) > 0; }

  struct Counts {
    ProductCount by_this, by_small;
  };

  const GemmBackend<Space>* backend_;
  Precision products_;
  decltype(&multiply_in<precision_of<F>, F, Space>) product_ = nullptr;
  bool is_beside_ = false, has_lower_ = false;
  std::shared_ptr<Counts> counts_;  // where small ones are left to another
};

/// The backends of this build, by name.
template <class Space>
std::span<const GemmBackend<Space>* const> gemm_backends();
template <>
std::span<const GemmBackend<Cpu>* const> gemm_backends<Cpu>();
template <>
std::span<const GemmBackend<Cuda>* const> gemm_backends<Cuda>();

/// A backend whose source is there, but which this build lacks, and what it needs to be built.
struct MissingBackend {
  const char* name;
  const char* device;
  const char* needs;
};
std::span<const MissingBackend> missing_gemm_backends();

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
