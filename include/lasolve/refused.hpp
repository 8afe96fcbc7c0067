// What the compiler says of arguments that no system can be made of: one sentence, which tells what to write. It is an argument of a deleted
// function, so what a type trait or a concept answers is true only of what compiles.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include "lasolve/elements.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

struct Options;
template <class T>
class Factorization;

namespace refused {

/// What systems are of.
template <class T>
concept Element = false
#define LASOLVE_OR_IS(type) || std::is_same_v<T, type>
    LASOLVE_ELEMENTS(LASOLVE_OR_IS);
#undef LASOLVE_OR_IS
/// What A and B are read from, and X written to, in either type.
template <class M>
concept Read = BorrowedAs<M, const double> || BorrowedAs<M, const float>;
template <class M>
concept Written = BorrowedAs<M, double> || BorrowedAs<M, float>;
template <class B, class X, class T>
concept RhsOf = BorrowedAs<B, const T> && BorrowedAs<X, T>;
template <class A, class B, class X>
concept System = (BorrowedAs<A, const double> && RhsOf<B, X, double>) ||
                 (BorrowedAs<A, const float> && RhsOf<B, X, float>);
/// The type of a factorization of A; where A is no matrix, one that says so.
template <class A>
using ElementOf = std::conditional_t<BorrowedAs<A, const float>, float, double>;
template <class M>
inline constexpr bool is_factorization = false;
template <class T>
inline constexpr bool is_factorization<Factorization<T>> = true;
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

/// An argument of a template, which compilers print.
template <std::size_t size>
struct Sentence {
  constexpr Sentence(const char (&of)[size]) { std::copy_n(of, size, text); }
  char text[size] = {};
};
inline constexpr Sentence no_options(
    "lasolve: behind the matrices come lasolve::Options, such as {.gemm = \"tiled\"}, or {} for the defaults");
inline constexpr Sentence no_solution(
    "lasolve: the solution is not returned, but written to X: give X, which has its size before the call, behind B");

/// Of A and B that are to be read, with X behind them, which is to be written to.
template <class X, class... In>
constexpr auto operands() {
  if constexpr (!(Read<In> && ...) || !Read<X>)
    return Sentence(
        "lasolve: a matrix is dense, of double or float, and in memory: convert or evaluate what Eigen has into one "
        "first, such as "
        "Eigen::MatrixXd S = A + B;, and give pointers and vectors by lasolve::row_major(data, rows, cols) or "
        "column_major");
  else if constexpr (!Written<X>)
    return Sentence(
        "lasolve: the solution is written to X, which is const here, or a temporary: give a variable that may change");
  else
    return Sentence("lasolve: A, B and X are of different types: make all of them double, or all float");
}
}  // namespace refused

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
