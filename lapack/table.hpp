// The routines of LAPACK that the drop-in has, each once. All names of a routine, the checks of its arguments and its form in LAPACKE are made
// from its line here.
#pragma once

// An argument is
//   CHAR(name, letters)          one of these letters, or of the same in lower case
//   UPLO()                       U or L: which triangle of the symmetric matrices is there
//   STATE(name)                  a letter that is read or written
//   ORDER(name), COUNT(name)     not negative; by the largest ORDER it is decided who solves
//   MATRIX(name, ld, rows, cols) by columns; two arguments. GIVEN: the same, only read
//   TRIANGLE(name, ld, n)        one triangle of a symmetric matrix; two arguments
//   INTEGERS(name)               pivots, or one that is written
//   NUMBER(name), NUMBERS(name)  one that is read; several, or one that is written
//   ROOM(type, name, count)      workspace. WORK, GROWTH: the same, whose first element tells something; LAPACKE hands that of GROWTH out
//   LWORK(name, count, least)    elements of the workspace before it; −1: how many are best
// and behind them all stands INFO.
//
// R(name, arguments…): of s and d.
#define LASOLVE_LAPACK(R)                                                                                              \
  R(getrf, ORDER(m), ORDER(n), MATRIX(a, lda, m, n), INTEGERS(ipiv))                                                   \
  R(getrf2, ORDER(m), ORDER(n), MATRIX(a, lda, m, n), INTEGERS(ipiv))                                                  \
  R(getrs, CHAR(trans, "NTC"), ORDER(n), COUNT(nrhs), GIVEN(a, lda, n, n), INTEGERS(ipiv), MATRIX(b, ldb, n, nrhs))    \
  R(gesv, ORDER(n), COUNT(nrhs), MATRIX(a, lda, n, n), INTEGERS(ipiv), MATRIX(b, ldb, n, nrhs))                        \
  R(getri, ORDER(n), MATRIX(a, lda, n, n), INTEGERS(ipiv), WORK(work, 64 * n), LWORK(lwork, 64 * n, n))                \
  R(gecon, CHAR(norm, "1OI"), ORDER(n), GIVEN(a, lda, n, n), NUMBER(anorm), NUMBERS(rcond), WORK(work, 4 * n),         \
    ROOM(I, iwork, n))                                                                                                 \
  R(gerfs, CHAR(trans, "NTC"), ORDER(n), COUNT(nrhs), GIVEN(a, lda, n, n), GIVEN(af, ldaf, n, n), INTEGERS(ipiv),      \
    GIVEN(b, ldb, n, nrhs), MATRIX(x, ldx, n, nrhs), NUMBERS(ferr), NUMBERS(berr), ROOM(T, work, 3 * n),               \
    ROOM(I, iwork, n))                                                                                                 \
  R(geequ, ORDER(m), ORDER(n), GIVEN(a, lda, m, n), NUMBERS(r), NUMBERS(c), NUMBERS(rowcnd), NUMBERS(colcnd),          \
    NUMBERS(amax))                                                                                                     \
  R(gesvx, CHAR(fact, "FNE"), CHAR(trans, "NTC"), ORDER(n), COUNT(nrhs), MATRIX(a, lda, n, n), MATRIX(af, ldaf, n, n), \
    INTEGERS(ipiv), STATE(equed), NUMBERS(r), NUMBERS(c), MATRIX(b, ldb, n, nrhs), MATRIX(x, ldx, n, nrhs),            \
    NUMBERS(rcond), NUMBERS(ferr), NUMBERS(berr), GROWTH(work, 4 * n), ROOM(I, iwork, n))                              \
  R(potrf, UPLO(), ORDER(n), TRIANGLE(a, lda, n))                                                                      \
  R(potrf2, UPLO(), ORDER(n), TRIANGLE(a, lda, n))                                                                     \
  R(potrs, UPLO(), ORDER(n), COUNT(nrhs), TRIANGLE(a, lda, n), MATRIX(b, ldb, n, nrhs))                                \
  R(posv, UPLO(), ORDER(n), COUNT(nrhs), TRIANGLE(a, lda, n), MATRIX(b, ldb, n, nrhs))                                 \
  R(potri, UPLO(), ORDER(n), TRIANGLE(a, lda, n))                                                                      \
  R(pocon, UPLO(), ORDER(n), TRIANGLE(a, lda, n), NUMBER(anorm), NUMBERS(rcond), ROOM(T, work, 3 * n),                 \
    ROOM(I, iwork, n))                                                                                                 \
  R(porfs, UPLO(), ORDER(n), COUNT(nrhs), TRIANGLE(a, lda, n), TRIANGLE(af, ldaf, n), GIVEN(b, ldb, n, nrhs),          \
    MATRIX(x, ldx, n, nrhs), NUMBERS(ferr), NUMBERS(berr), ROOM(T, work, 3 * n), ROOM(I, iwork, n))                    \
  R(poequ, ORDER(n), GIVEN(a, lda, n, n), NUMBERS(s), NUMBERS(scond), NUMBERS(amax))                                   \
  R(posvx, CHAR(fact, "FNE"), UPLO(), ORDER(n), COUNT(nrhs), TRIANGLE(a, lda, n), TRIANGLE(af, ldaf, n), STATE(equed), \
    NUMBERS(s), MATRIX(b, ldb, n, nrhs), MATRIX(x, ldx, n, nrhs), NUMBERS(rcond), NUMBERS(ferr), NUMBERS(berr),        \
    ROOM(T, work, 3 * n), ROOM(I, iwork, n))

// Of d alone, which work in float, too: dsgesv is `d` before sgesv.
#define LASOLVE_LAPACK_MIXED(R)                                                                                 \
  R(sgesv, ORDER(n), COUNT(nrhs), MATRIX(a, lda, n, n), INTEGERS(ipiv), GIVEN(b, ldb, n, nrhs),                 \
    MATRIX(x, ldx, n, nrhs), ROOM(T, work, Size(n) * nrhs), ROOM(float, swork, Size(n) * (Size(n) + nrhs)),     \
    INTEGERS(iter))                                                                                             \
  R(sposv, UPLO(), ORDER(n), COUNT(nrhs), TRIANGLE(a, lda, n), GIVEN(b, ldb, n, nrhs), MATRIX(x, ldx, n, nrhs), \
    ROOM(T, work, Size(n) * nrhs), ROOM(float, swork, Size(n) * (Size(n) + nrhs)), INTEGERS(iter))

// EACH(P, A(…), B(…), …): P_A(…) P_B(…) …
#define LASOLVE_EACH(P, ...) __VA_OPT__(LASOLVE_EXPAND(LASOLVE_EACH_OF(P, __VA_ARGS__)))
#define LASOLVE_EACH_OF(P, first, ...) P##_##first __VA_OPT__(LASOLVE_EACH_AGAIN LASOLVE_PARENTHESES(P, __VA_ARGS__))
#define LASOLVE_EACH_AGAIN() LASOLVE_EACH_OF
#define LASOLVE_PARENTHESES ()
#define LASOLVE_EXPAND(...) LASOLVE_EXPAND_3(LASOLVE_EXPAND_3(LASOLVE_EXPAND_3(__VA_ARGS__)))
#define LASOLVE_EXPAND_3(...) LASOLVE_EXPAND_2(LASOLVE_EXPAND_2(LASOLVE_EXPAND_2(__VA_ARGS__)))
#define LASOLVE_EXPAND_2(...) LASOLVE_EXPAND_1(LASOLVE_EXPAND_1(LASOLVE_EXPAND_1(__VA_ARGS__)))
#define LASOLVE_EXPAND_1(...) __VA_ARGS__
// All but the first, which is empty where each begins with a comma.
#define LASOLVE_REST(...) LASOLVE_REST_OF(__VA_ARGS__)
#define LASOLVE_REST_OF(first, ...) __VA_ARGS__
