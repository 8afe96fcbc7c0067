// What the compiler says of arguments that a system cannot be read from: one sentence that tells what to write.
#pragma once

#include "lasolve/row_major.hpp"

namespace lasolve {

/// What A, and so also B, can be read from.
template <class M, class T>
concept ReadableAs = std::is_convertible_v<M, MatrixView<const T>> || std::is_convertible_v<M, RowMajorView<const T>>;
/// What B is read from and X written to: both column-major, or both row-major.
template <class B, class X, class T>
concept SidesOf = (std::is_convertible_v<B, MatrixView<const T>> && std::is_convertible_v<X, MatrixView<T>>) ||
                  (std::is_convertible_v<B, RowMajorView<const T>> && std::is_convertible_v<X, RowMajorView<T>>);
template <class A, class B, class X, class T>
concept SystemOf = ReadableAs<A, T> && SidesOf<B, X, T>;

/// What a factorization can be made of, and what it can solve for, at either place.
template <class A, class T>
concept FactoredFrom = ReadableAs<A, T> || std::is_convertible_v<A, MatrixView<const T, Cuda>> ||
    std::is_same_v<std::remove_cvref_t<A>, Matrix<T, Cpu>> || std::is_same_v<std::remove_cvref_t<A>, Matrix<T, Cuda>>;
template <class B, class X, class T>
concept SolvedFor = SidesOf<B, X, T> ||
    (std::is_convertible_v<B, MatrixView<const T, Cuda>>&& std::is_convertible_v<X, MatrixView<T, Cuda>>);

/// An Eigen matrix that ends with the line: who borrows its memory for longer is left with none.
template <class M>
concept TemporaryMatrix = !std::is_lvalue_reference_v<M> && requires {
  typename std::remove_cvref_t<M>::PlainObject;
  requires std::is_same_v<typename std::remove_cvref_t<M>::PlainObject, std::remove_cvref_t<M>>;
};

namespace refused {

template <class M>
concept OfEigen = requires {
  typename std::remove_cvref_t<M>::Scalar;
  std::remove_cvref_t<M>::IsRowMajor;
};
template <class M>
concept WithoutMemory = OfEigen<M> && !requires(std::remove_reference_t<M> & m) {
  m.data();
};
template <class M>
concept OfOtherScalars = OfEigen<M> && !std::is_same_v<typename std::remove_cvref_t<M>::Scalar, double> &&
                         !std::is_same_v<typename std::remove_cvref_t<M>::Scalar, float>;
template <class M>
concept OfVectors = requires(std::remove_reference_t<M>& m) {
  std::data(*std::data(m));
}
&&!OfEigen<M>;
template <class M>
concept Pointer = std::is_pointer_v<std::remove_cvref_t<M>>;
template <class M>
concept Readable = ReadableAs<M, double> || ReadableAs<M, float>;

template <class M>
constexpr void operand() {
  static_assert(!WithoutMemory<M>,
                "lasolve: an Eigen expression has no memory of its own: evaluate it into a variable first, such as "
                "Eigen::MatrixXd S = A + B;, and give that");
  static_assert(
      !OfOtherScalars<M> || WithoutMemory<M>,
      "lasolve: systems are of double or float: convert first, such as Eigen::MatrixXd S = A.cast<double>();, and give "
      "that");
  static_assert(!OfVectors<M> || Readable<M>,
                "lasolve: a vector of vectors is not one piece of memory: keep all elements in one vector, and give "
                "lasolve::row_major(elements, rows, cols)");
  static_assert(
      !Pointer<M>,
      "lasolve: a pointer does not say how large a matrix is: give lasolve::column_major(data, rows, cols), or "
      "lasolve::row_major");
  static_assert(
      Readable<M> || OfEigen<M> || OfVectors<M> || Pointer<M>,
      "lasolve: this is no matrix of double or float: give an Eigen matrix, a lasolve::Matrix, a vector or span as a "
      "column, or lasolve::column_major(data, rows, cols)");
}

template <class X>
concept Writable = SidesOf<X, X, double> || SidesOf<X, X, float>;

template <class X>
constexpr void written() {
  operand<X>();
  static_assert(!TemporaryMatrix<X>,
                "lasolve: X is a temporary, with which the solution would be gone: give a variable");
  static_assert(!Readable<X> || Writable<X> || TemporaryMatrix<X>,
                "lasolve: X is const, but the solution is written to it: give a matrix that may change");
}

/// B and X, each for itself and beside the other.
template <class B, class X>
constexpr void sides() {
  constexpr bool fine = Readable<B> && Writable<X>;
  constexpr bool same =
      (ReadableAs<B, double> && ReadableAs<X, double>) || (ReadableAs<B, float> && ReadableAs<X, float>);
  constexpr bool fit = SidesOf<B, X, double> || SidesOf<B, X, float>;
  operand<B>();
  written<X>();
  static_assert(!fine || same, "lasolve: B and X are of different types: make A, B and X all double, or all float");
  static_assert(!fine || !same || fit,
                "lasolve: of B and X one is row-major and the other column-major: give both in one order");
}

template <class A, class B, class X>
constexpr void system() {
  operand<A>();
  sides<B, X>();
  constexpr bool fine = Readable<A> && (SidesOf<B, X, double> || SidesOf<B, X, float>);
  static_assert(!fine || SystemOf<A, B, X, double> || SystemOf<A, B, X, float>,
                "lasolve: A is of another type than B and X: make A, B and X all double, or all float");
}

template <class A, class T>
constexpr void factored() {
  static_assert(!TemporaryMatrix<A>,
                "lasolve: a factorization borrows A, and this A is a temporary that ends with the line: keep it in a "
                "variable, or hand over the memory of a lasolve::Matrix");
  operand<A>();
  constexpr bool of_known = std::is_same_v<T, double> || std::is_same_v<T, float>;
  static_assert(!of_known || !Readable<A> || TemporaryMatrix<A> || ReadableAs<A, T>,
                "lasolve: A is not of the type of its factorization: Factorization<double> for double, "
                "Factorization<float> for float");
}

}  // namespace refused

}  // namespace lasolve
