// All exported names, from the table: of Fortran with integers of 32 and of 64 bits, those that pip's NumPy and SciPy import, and of LAPACKE.
#include "lapack/arguments.hpp"
#include "lapack/routines.hpp"

// An argument as Fortran declares it,
#define F_CHAR(x, letters) , const char* x
#define F_UPLO() , const char* uplo
#define F_STATE(x) , char* x
#define F_ORDER(x) , const I* x
#define F_COUNT(x) , const I* x
#define F_MATRIX(x, ld, rows, cols) , T *x, const I *ld
#define F_GIVEN(x, ld, rows, cols) , T *x, const I *ld
#define F_TRIANGLE(x, ld, n) , T *x, const I *ld
#define F_INTEGERS(x) , I* x
#define F_NUMBER(x) , const T* x
#define F_NUMBERS(x) , T* x
#define F_ROOM(type, x, count) , type* x
#define F_WORK(x, count) , T* x
#define F_GROWTH(x, count) , T* x
#define F_LWORK(x, count, least) , const I* x

// the length of a string, which comes behind all others,
#define L_CHAR(x, letters) , std::size_t length_of_##x
#define L_UPLO() , std::size_t length_of_uplo
#define L_STATE(x) , std::size_t length_of_##x
#define L_ORDER(x)
#define L_COUNT(x)
#define L_MATRIX(x, ld, rows, cols)
#define L_GIVEN(x, ld, rows, cols)
#define L_TRIANGLE(x, ld, n)
#define L_INTEGERS(x)
#define L_NUMBER(x)
#define L_NUMBERS(x)
#define L_ROOM(type, x, count)
#define L_WORK(x, count)
#define L_GROWTH(x, count)
#define L_LWORK(x, count, least)

// as its class in arguments.hpp,
#define A_CHAR(x, letters) , Letter(x, letters, length_of_##x)
#define A_UPLO() , UploLetter(uplo, "UL", length_of_uplo)
#define A_STATE(x) , StateLetter(x, length_of_##x)
#define A_ORDER(x) , Order<I>(x)
#define A_COUNT(x) , Count<I>(x)
#define A_MATRIX(x, ld, rows, cols) , Whole<T, I>(x, ld, *rows, *cols)
#define A_GIVEN(x, ld, rows, cols) , Whole<T, I>(x, ld, *rows, *cols)
#define A_TRIANGLE(x, ld, n) , OneHalf<T, I>(x, ld, *n, uplo)
#define A_INTEGERS(x) , Indices<I>(x)
#define A_NUMBER(x) , Number<T>(x)
#define A_NUMBERS(x) , Numbers<T>(x)
#define A_ROOM(type, x, count) , Argument<type>(x)
#define A_WORK(x, count) , Numbers<T>(x)
#define A_GROWTH(x, count) , Numbers<T>(x)
#define A_LWORK(x, count, least) , Elements<I>(x, *least)

// as LAPACKE declares it, which makes workspace itself, but has a form that takes that, too,
#define E_CHAR(x, letters) , char x
#define E_UPLO() , char uplo
#define E_STATE(x) , char* x
#define E_ORDER(x) , I x
#define E_COUNT(x) , I x
#define E_MATRIX(x, ld, rows, cols) , T *x, I ld
#define E_GIVEN(x, ld, rows, cols) , T *x, I ld
#define E_TRIANGLE(x, ld, n) , T *x, I ld
#define E_INTEGERS(x) , I* x
#define E_NUMBER(x) , T x
#define E_NUMBERS(x) , T* x
#define E_ROOM(type, x, count)
#define E_WORK(x, count)
#define E_GROWTH(x, count) , T* x
#define E_LWORK(x, count, least)
#define W_CHAR E_CHAR
#define W_UPLO E_UPLO
#define W_STATE E_STATE
#define W_ORDER E_ORDER
#define W_COUNT E_COUNT
#define W_MATRIX E_MATRIX
#define W_GIVEN E_GIVEN
#define W_TRIANGLE E_TRIANGLE
#define W_INTEGERS E_INTEGERS
#define W_NUMBER E_NUMBER
#define W_NUMBERS E_NUMBERS
#define W_ROOM(type, x, count) , type* x
#define W_WORK(x, count) , T* x
#define W_GROWTH(x, count) , T* x
#define W_LWORK(x, count, least) , I x

// and as what that is to the routine of Fortran.
#define H_CHAR(x, letters) \
  , ByValue<char> { x }
#define H_UPLO() \
  , ByValue<char> { uplo_of(layout, uplo) }
#define H_STATE(x) \
  , ByPointer<char> { x }
#define H_ORDER(x) \
  , ByValue<I> { x }
#define H_COUNT(x) \
  , ByValue<I> { x }
#define H_MATRIX(x, ld, rows, cols) , Held<T, I>(layout, x, ld, rows, cols, Held<T, I>::changed)
#define H_GIVEN(x, ld, rows, cols) , Held<T, I>(layout, x, ld, rows, cols, Held<T, I>::read)
#define H_TRIANGLE(x, ld, n) , Held<T, I>(layout, x, ld, n, n, Held<T, I>::symmetric)
#define H_INTEGERS(x) \
  , ByPointer<I> { x }
#define H_NUMBER(x) \
  , ByValue<T> { x }
#define H_NUMBERS(x) \
  , ByPointer<T> { x }
#define H_ROOM(type, x, count) , Room<type>(Size(count))
#define H_WORK(x, count) , Room<T>(Size(count))
#define H_GROWTH(x, count) , Room<T>(Size(count), x)
#define H_LWORK(x, count, least)          \
  , Untold<I> {                           \
    { I(std::max<Size>(1, Size(count))) } \
  }
#define V_CHAR H_CHAR
#define V_UPLO H_UPLO
#define V_STATE H_STATE
#define V_ORDER H_ORDER
#define V_COUNT H_COUNT
#define V_MATRIX H_MATRIX
#define V_GIVEN H_GIVEN
#define V_TRIANGLE H_TRIANGLE
#define V_INTEGERS H_INTEGERS
#define V_NUMBER H_NUMBER
#define V_NUMBERS H_NUMBERS
#define V_ROOM(type, x, count) \
  , ByPointer<type> { x }
#define V_WORK(x, count) \
  , ByPointer<T> { x }
#define V_GROWTH(x, count) \
  , ByPointer<T> { x }
#define V_LWORK(x, count, least) \
  , ByValue<I> { x }

#define LASOLVE_NAME(symbol, name, ...)                                                                \
  extern "C" [[gnu::visibility("default")]] void symbol(LASOLVE_REST(LASOLVE_EACH(F, __VA_ARGS__)),    \
                                                        I* info LASOLVE_EACH(L, __VA_ARGS__)) {        \
    static constinit Exported its(#symbol, Routine::name, sizeof(T) == sizeof(double));                \
    called<I>(its, &symbol, __builtin_return_address(0), info,                                         \
              [](auto... values) { return lapack::name<T>(values...); } LASOLVE_EACH(A, __VA_ARGS__)); \
  }
#define LASOLVE_NAME_OF_LAPACKE(symbol, fortran, ...)                                           \
  extern "C" [[gnu::visibility("default")]] I symbol(int layout LASOLVE_EACH(E, __VA_ARGS__)) { \
    return of_lapacke<I>(layout, fortran LASOLVE_EACH(H, __VA_ARGS__));                         \
  }
#define LASOLVE_NAME_WITH_WORK(symbol, fortran, ...)                                            \
  extern "C" [[gnu::visibility("default")]] I symbol(int layout LASOLVE_EACH(W, __VA_ARGS__)) { \
    return of_lapacke<I>(layout, fortran LASOLVE_EACH(V, __VA_ARGS__));                         \
  }
/// Of one routine, for one type: `p` is s or d, and `suffix` says how wide integers are.
#define LASOLVE_NAMES(p, suffix, lapacke_suffix, name, ...)                                \
  LASOLVE_NAME(p##name##suffix, name, __VA_ARGS__)                                         \
  LASOLVE_NAME(scipy_##p##name##suffix, name, __VA_ARGS__)                                 \
  LASOLVE_NAME_OF_LAPACKE(LAPACKE_##p##name##lapacke_suffix, p##name##suffix, __VA_ARGS__) \
  LASOLVE_NAME_WITH_WORK(LAPACKE_##p##name##_work##lapacke_suffix, p##name##suffix, __VA_ARGS__)

namespace lasolve::lapack {

namespace of_float {
using T = float;
using I = std::int32_t;
#define LASOLVE_OF_ROUTINE(name, ...) LASOLVE_NAMES(s, _, , name, __VA_ARGS__)
LASOLVE_LAPACK(LASOLVE_OF_ROUTINE)
#undef LASOLVE_OF_ROUTINE
}  // namespace of_float

namespace of_double {
using T = double;
using I = std::int32_t;
#define LASOLVE_OF_ROUTINE(name, ...) LASOLVE_NAMES(d, _, , name, __VA_ARGS__)
LASOLVE_LAPACK(LASOLVE_OF_ROUTINE)
LASOLVE_LAPACK_MIXED(LASOLVE_OF_ROUTINE)
#undef LASOLVE_OF_ROUTINE
}  // namespace of_double

namespace of_float_64 {
using T = float;
using I = std::int64_t;
#define LASOLVE_OF_ROUTINE(name, ...) LASOLVE_NAMES(s, _64_, _64, name, __VA_ARGS__)
LASOLVE_LAPACK(LASOLVE_OF_ROUTINE)
#undef LASOLVE_OF_ROUTINE
}  // namespace of_float_64

namespace of_double_64 {
using T = double;
using I = std::int64_t;
#define LASOLVE_OF_ROUTINE(name, ...) LASOLVE_NAMES(d, _64_, _64, name, __VA_ARGS__)
LASOLVE_LAPACK(LASOLVE_OF_ROUTINE)
LASOLVE_LAPACK_MIXED(LASOLVE_OF_ROUTINE)
#undef LASOLVE_OF_ROUTINE
}  // namespace of_double_64

}  // namespace lasolve::lapack
