// What the compiler says of arguments that a system cannot be read from: one sentence that tells what to write.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include "lasolve/row_major.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

struct Options;
class Context;
template <class T>
class Factorization;

/// What A, and so also B, can be read from.
template <class M, class T>
concept ReadableAs = std::is_convertible_v<M, MatrixView<const T>> || std::is_convertible_v<M, RowMajorView<const T>>;
/// What B is read from and X written to: both column-major, or both row-major.
template <class B, class X, class T>
concept SidesOf = (std::is_convertible_v<B, MatrixView<const T>> && std::is_convertible_v<X, MatrixView<T>>) ||
                  (std::is_convertible_v<B, RowMajorView<const T>> && std::is_convertible_v<X, RowMajorView<T>>);
template <class A, class B, class X, class T>
concept SystemOf = ReadableAs<A, T> && SidesOf<B, X, T>;

/// The same of memory of a device.
template <class M, class T>
concept OnDeviceAs = std::is_convertible_v<M, MatrixView<const T, Cuda>>;
template <class B, class X, class T>
concept SidesOnDevice = OnDeviceAs<B, T> && std::is_convertible_v<X, MatrixView<T, Cuda>>;
/// What a factorization can be made of, and what it can solve for, on either device.
template <class A, class T>
concept FactoredFrom = ReadableAs<A, T> || OnDeviceAs<A, T>;
template <class B, class X, class T>
concept SolvedFor = SidesOf<B, X, T> || SidesOnDevice<B, X, T>;

/// What fits no function is given to a deleted one, one of whose template arguments is a sentence: the compiler prints it. So what a type
/// trait or a concept answers is true only of what compiles.
namespace refused {

/// An Eigen matrix or array, sparse ones too: no map, block or expression.
template <class M>
concept PlainObject = requires {
  requires std::is_same_v<typename M::PlainObject, M>;
};
/// Whose elements are const where it is: a vector, an array and a Matrix, but no view or span.
template <class M>
concept Container = requires(M& m, const M& constant) {
  requires !std::is_convertible_v<decltype(std::data(constant)), decltype(std::data(m))>;
}
&&!requires { M::IsRowMajor; };
/// Memory that ends with the line: what is written there is gone, and who borrows it for longer is left with none.
template <class M>
concept Temporary =
    !std::is_lvalue_reference_v<M> && (PlainObject<std::remove_cvref_t<M>> || Container<std::remove_cvref_t<M>>);
/// An Eigen::Map, which is made of a pointer, or a view of one: what it borrows is no object of Eigen's.
template <class M>
inline constexpr bool of_map = requires {
  requires std::is_constructible_v<M, typename M::Scalar*, std::int64_t, std::int64_t>;
};
template <class M>
requires requires(const M& m) { m.nestedExpression(); }
inline constexpr bool of_map<M> = of_map<std::remove_cvref_t<decltype(std::declval<const M&>().nestedExpression())>>;
/// A block, a transpose or a Ref that is made in the call. What it borrows may be a temporary, too: its type is the same.
template <class M>
concept OfPossibleTemporary = !std::is_lvalue_reference_v<M> && !Temporary<M> && requires {
  std::remove_cvref_t<M>::IsRowMajor;
  requires !of_map<std::remove_cvref_t<M>>;
};
template <class M>
inline constexpr bool is_matrix = false;
template <class T, class Space>
inline constexpr bool is_matrix<Matrix<T, Space>> = true;
/// What a Factorization<T> is not made of. The memory of a temporary Matrix it takes, that of others it would borrow.
template <class A>
concept BorrowedTooShort = Temporary<A> && !is_matrix<A>;
/// What systems are of.
template <class T>
concept Element = std::is_same_v<T, double> || std::is_same_v<T, float>;

template <class M>
inline constexpr bool is_factorization = false;
template <class T>
inline constexpr bool is_factorization<Factorization<T>> = true;
/// Of another T the class says all.
template <class A, class T>
concept NotFactored = Element<T> &&(BorrowedTooShort<A> || !FactoredFrom<A, T>);
/// The type of a factorization of A; where A is no matrix, one that says so.
template <class A>
using ElementOf = std::conditional_t<FactoredFrom<A, float>, float, double>;
template <class O>
concept NoOptions = !std::is_convertible_v<O, const Options&>;
/// Parameters of functions that are called only where no other fits.
struct Anything {
  template <class M>
  Anything(M&&) {}
};
struct AnythingButOptions {
  template <NoOptions O>
  AnythingButOptions(O&&) {}
};

template <class M>
concept OfEigen = requires {
  typename std::remove_cvref_t<M>::Scalar;
  std::remove_cvref_t<M>::IsRowMajor;
};
template <class M>
concept OfOtherScalars = OfEigen<M> && !std::is_same_v<typename std::remove_cvref_t<M>::Scalar, double> &&
                         !std::is_same_v<typename std::remove_cvref_t<M>::Scalar, float>;
template <class M>
concept Sparse = requires(std::remove_reference_t<M>& m) {
  m.toDense();
};
/// Diagonal, triangular, symmetric, or a permutation.
template <class M>
concept Structured = requires(std::remove_reference_t<M>& m) {
  m.toDenseMatrix();
};
template <class M>
concept WithoutMemory = OfEigen<M> && !Sparse<M> && !requires(std::remove_reference_t<M> & m) {
  m.data();
};
template <class M>
concept OfVectors = requires(std::remove_reference_t<M>& m) {
  std::data(*std::data(m));
};
template <class M>
concept Pointer = std::is_pointer_v<std::remove_cvref_t<M>>;

template <class M>
concept OnHost = ReadableAs<M, double> || ReadableAs<M, float>;
template <class M>
concept OnDevice = OnDeviceAs<M, double> || OnDeviceAs<M, float>;
template <class M>
concept Readable = OnHost<M> || OnDevice<M>;
/// What an AsyncFactorization<T> is made of, with what comes behind the options.
template <class A, class T, class... More>
concept Begun = OnDeviceAs<A, T> && sizeof...(More) == 1 && (std::is_convertible_v<More, const Context&> && ...);
template <class B, class X>
concept Solvable = SolvedFor<B, X, double> || SolvedFor<B, X, float>;
template <class X>
concept Writable = Solvable<X, X> && !Temporary<X>;
template <class B, class X>
concept Fitting = Solvable<B, X> && Writable<X>;
template <class B, class X>
concept OfOneType = (FactoredFrom<B, double> && FactoredFrom<X, double>) ||
                    (FactoredFrom<B, float> && FactoredFrom<X, float>);

/// An argument of a template, which compilers print.
template <std::size_t size>
struct Sentence {
  constexpr Sentence(const char (&of)[size]) { std::copy_n(of, size, text); }
  char text[size] = {};
};
inline constexpr Sentence nothing("");
inline constexpr Sentence no_options(
    "lasolve: behind the matrices come lasolve::Options, such as {.gemm = \"tiled\"}, or {} for the defaults");
inline constexpr Sentence no_solution(
    "lasolve: the solution is not returned, but written to X: give X, which has its size before the call, behind B");

/// Of what is not Readable.
template <class M>
constexpr auto operand() {
  if constexpr (Readable<M>)
    return nothing;
  else if constexpr (OfOtherScalars<M>)
    return Sentence(
        "lasolve: systems are of double or float: convert first, such as Eigen::MatrixXd S = A.cast<double>();, and "
        "give that");
  else if constexpr (WithoutMemory<M>)
    return Sentence(
        "lasolve: an Eigen expression has no memory of its own: evaluate it into a variable first, such as "
        "Eigen::MatrixXd S = A + B;, and give that");
  else if constexpr (OfEigen<M> || Structured<M>)
    return Sentence(
        "lasolve: this Eigen object is no dense matrix: convert it, such as Eigen::MatrixXd S(A);, and give that");
  else if constexpr (OfVectors<M>)
    return Sentence(
        "lasolve: a vector of vectors is not one piece of memory: keep all elements in one vector, and give "
        "lasolve::row_major(elements, rows, cols)");
  else if constexpr (Pointer<M>)
    return Sentence(
        "lasolve: a pointer does not say how large a matrix is: give lasolve::column_major(data, rows, cols), or "
        "lasolve::row_major");
  else
    return Sentence(
        "lasolve: this is no matrix of double or float: give an Eigen matrix, a lasolve::Matrix, a vector or span as a "
        "column, or lasolve::column_major(data, rows, cols)");
}

/// Of what is not Writable.
template <class X>
constexpr auto written() {
  if constexpr (!Readable<X>)
    return operand<X>();
  else if constexpr (Temporary<X>)
    return Sentence("lasolve: X is a temporary, with which the solution would be gone: give a variable");
  else if constexpr (!Writable<X>)
    return Sentence("lasolve: X is const, but the solution is written to it: give a matrix that may change");
  else
    return nothing;
}

/// Of B and X that are not Fitting: one for itself, or beside the other.
template <class B, class X>
constexpr auto sides() {
  if constexpr (!Readable<B>)
    return operand<B>();
  else if constexpr (!Writable<X>)
    return written<X>();
  else if constexpr (Fitting<B, X>)
    return nothing;
  else if constexpr (OnHost<B> != OnHost<X>)
    return Sentence("lasolve: of B and X one is on a device and the other on the host: give both on one device");
  else if constexpr (!OfOneType<B, X>)
    return Sentence("lasolve: B and X are of different types: make A, B and X all double, or all float");
  else
    return Sentence("lasolve: of B and X one is row-major and the other column-major: give both in one order");
}

/// Of what is no system of either type, or has a temporary X.
template <class A, class B, class X>
constexpr auto system() {
  if constexpr (OnDevice<A> || OnDevice<B> || OnDevice<X>)
    return Sentence(
        "lasolve: solve(A, B, X) is for memory of the host: for that of a device write "
        "lasolve::Factorization<double> factors(A); factors.solve(B, X);");
  else if constexpr (!Readable<A>)
    return operand<A>();
  else if constexpr (!Fitting<B, X>)
    return sides<B, X>();
  else
    return Sentence("lasolve: A is of another type than B and X: make A, B and X all double, or all float");
}

/// Of B and X that a Factorization<T> does not solve for.
template <class B, class X, class T>
constexpr auto solved() {
  if constexpr (!Fitting<B, X>)
    return sides<B, X>();
  else
    return Sentence(
        "lasolve: B and X are not of the type of the factorization: make A, B and X all double, or all float");
}

/// Of what no Factorization<T> is made of.
template <class A, class T>
constexpr auto factored() {
  if constexpr (!Readable<A>)
    return operand<A>();
  else if constexpr (BorrowedTooShort<A>)
    return Sentence(
        "lasolve: a factorization borrows A, and this A is a temporary that ends with the line: keep it in a variable, "
        "or hand over the memory of a lasolve::Matrix");
  else
    return Sentence(
        "lasolve: A is not of the type of its factorization: Factorization<double> for double, Factorization<float> "
        "for float");
}

/// Of what no AsyncFactorization<T> is made of: A has to be on a device, and a context behind the options.
template <class A, class T>
constexpr auto begun() {
  if constexpr (!Readable<A>)
    return operand<A>();
  else if constexpr (!OnDevice<A>)
    return Sentence(
        "lasolve: factor_async is for memory of a CUDA device: copy A there, or write lasolve::Factorization<double> "
        "factors(A); for that of the host");
  else if constexpr (!OnDeviceAs<A, T>)
    return Sentence(
        "lasolve: A is not of the type of its factorization: AsyncFactorization<double> for double, "
        "AsyncFactorization<float> for float");
  else
    return Sentence("lasolve: factor_async works in the stream of a lasolve::Context, which comes behind the options");
}

/// Of B and X that an AsyncFactorization<T> does not solve for. They are used when the call has returned.
template <class B, class X>
constexpr auto begun_to_solve() {
  if constexpr (!Readable<B>)
    return operand<B>();
  else if constexpr (!Writable<X>)
    return written<X>();
  else if constexpr (Temporary<B>)
    return Sentence("lasolve: B is a temporary, which ends before the device has read it: keep it in a variable");
  else if constexpr (!OnDevice<B> || !OnDevice<X>)
    return Sentence("lasolve: solve_async is for memory of a CUDA device: copy B there, and X from there");
  else
    return Sentence(
        "lasolve: B and X are not of the type of the factorization: make A, B and X all double, or all float");
}

}  // namespace refused

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
