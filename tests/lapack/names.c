/* A program of C that calls the drop-in by every name: factors, solutions, INFO, XERBLA, rectangular matrices, threads, forks. */
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int checks = 0, failures = 0;

static void expect_at(int line, const char* name, int right) {
  __atomic_add_fetch(&checks, 1, __ATOMIC_RELAXED);
  if (right) return;
  __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
  printf("line %d: %s is wrong\n", line, name);
}
#define expect(name, right) expect_at(__LINE__, name, right)

static double larger(double x, double y) { return y > x || y != y ? y : x; } /* NaN is the largest */

/* What was said to XERBLA last. */
static char said_of[16];
static int said = 0;
static void xerbla(const char* name, int argument, size_t length) {
  const size_t n = length < sizeof said_of ? length : sizeof said_of - 1;
  memcpy(said_of, name, n);
  said_of[n] = 0;
  said = argument;
}
void xerbla_(const char* name, const int32_t* argument, size_t length) { xerbla(name, *argument, length); }
void xerbla_64_(const char* name, const int64_t* argument, size_t length) { xerbla(name, (int)*argument, length); }
void scipy_xerbla_(const char* name, const int32_t* argument, size_t length) { xerbla(name, *argument, length); }
void scipy_xerbla_64_(const char* name, const int64_t* argument, size_t length) {
  xerbla(name, (int)*argument, length);
}

static void complained(const char* name, int argument, int info) {
  expect(name, info == -argument && said == argument && strcmp(said_of, name) == 0);
  said = 0;
}

static unsigned long state = 12345;
static double next_number(void) {
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (double)(state >> 40) / (double)(1 << 24) - 0.5;
}
static void* numbers_of(size_t count, size_t size) {
  char* const all = malloc((count + 1) * size);
  size_t i;
  for (i = 0; i < count; ++i)
    if (size == sizeof(double))
      ((double*)all)[i] = next_number();
    else
      ((float*)all)[i] = (float)next_number();
  return all;
}
#define numbers(count) numbers_of((count), sizeof(T))

#define T float
#define I int32_t
#define F(name) s##name##_
#define SET(name) s_##name
#define NAME(name) in_capitals("s" #name)
#define ROUNDOFF 1.2e-7
static const char* in_capitals(const char* name) {
  static _Thread_local char all[4][16];
  static _Thread_local int next = 0;
  char* const to = all[next++ % 4];
  size_t i;
  for (i = 0; name[i]; ++i) to[i] = (char)toupper(name[i]);
  to[i] = 0;
  return to;
}
#include "names.h"

#define T float
#define I int64_t
#define F(name) s##name##_64_
#define SET(name) s_64_##name
#define NAME(name) in_capitals("s" #name)
#define ROUNDOFF 1.2e-7
#include "names.h"

#define T float
#define I int32_t
#define F(name) scipy_s##name##_
#define SET(name) scipy_s_##name
#define NAME(name) in_capitals("s" #name)
#define ROUNDOFF 1.2e-7
#include "names.h"

#define T float
#define I int64_t
#define F(name) scipy_s##name##_64_
#define SET(name) scipy_s_64_##name
#define NAME(name) in_capitals("s" #name)
#define ROUNDOFF 1.2e-7
#include "names.h"

#define T double
#define I int32_t
#define F(name) d##name##_
#define SET(name) d_##name
#define NAME(name) in_capitals("d" #name)
#define ROUNDOFF 2.3e-16
#include "names.h"

#define T double
#define I int64_t
#define F(name) d##name##_64_
#define SET(name) d_64_##name
#define NAME(name) in_capitals("d" #name)
#define ROUNDOFF 2.3e-16
#include "names.h"

#define T double
#define I int32_t
#define F(name) scipy_d##name##_
#define SET(name) scipy_d_##name
#define NAME(name) in_capitals("d" #name)
#define ROUNDOFF 2.3e-16
#include "names.h"

#define T double
#define I int64_t
#define F(name) scipy_d##name##_64_
#define SET(name) scipy_d_64_##name
#define NAME(name) in_capitals("d" #name)
#define ROUNDOFF 2.3e-16
#include "names.h"

#include "lapacke.h"

void dsgesv_(const int32_t*, const int32_t*, double*, const int32_t*, int32_t*, const double*, const int32_t*, double*,
             const int32_t*, double*, float*, int32_t*, int32_t*);
void scipy_dsposv_64_(const char*, const int64_t*, const int64_t*, double*, const int64_t*, const double*,
                      const int64_t*, double*, const int64_t*, double*, float*, int64_t*, int64_t*, size_t);

/* Factors in float, solutions in double; and what float cannot hold. */
static void mixed(void) {
  double A[4] = {3, 1, 1, 4}, large[4] = {3e200, 1, 1, 4e200}, b[2] = {5, 9}, x[2] = {0, 0}, work[2];
  float narrow[6];
  const int32_t two = 2, one = 1, less = 1;
  const int64_t wide_two = 2, wide_one = 1;
  int32_t ipiv[2], iter = -77, info = -7;
  int64_t wide_iter = -77, wide_info = -7;
  dsgesv_(&two, &one, A, &two, ipiv, b, &two, x, &two, work, narrow, &iter, &info);
  expect("DSGESV", info == 0 && iter >= 0 && fabs(x[0] - 1) < 1e-15 && fabs(x[1] - 2) < 1e-15 && A[1] == 1);
  scipy_dsposv_64_("U", &wide_two, &wide_one, A, &wide_two, b, &wide_two, x, &wide_two, work, narrow, &wide_iter,
                   &wide_info, 1);
  expect("DSPOSV", wide_info == 0 && wide_iter >= 0 && fabs(x[0] - 1) < 1e-15 && A[0] == 3);
  dsgesv_(&two, &one, large, &two, ipiv, b, &two, x, &two, work, narrow, &iter, &info);
  expect("DSGESV", info == 0 && iter == -2 && fabs(x[1] / 2.25e-200 - 1) < 1e-15);
  dsgesv_(&two, &one, A, &two, ipiv, b, &less, x, &two, work, narrow, &iter, &info);
  complained("DSGESV", 7, info);
}

/* libblastrampoline, which Julia has between itself and LAPACK, asks so how wide integers are. */
static void trampoline(void) {
  double a[4] = {1, 0, 0, 1};
  const int64_t wide_n = (int64_t)1 << 32 | 2, wide_ld = 0;
  int64_t wide_info = 0;
  const int32_t n = 2, ld = 0;
  int32_t info = 0;
  dpotrf_("U", &n, a, &ld, &info, 1);
  expect("the probe of libblastrampoline", info == -4);
  dpotrf_64_("U", &wide_n, a, &wide_ld, &wide_info, 1);
  expect("the probe of libblastrampoline", wide_info == -4);
}

/* Systems of a thread of their own. */
static void* solve_some(void* nothing) {
  int k;
  for (k = 0; k < 20; ++k) {
    const int32_t n = 90 + k, one = 1;
    double *A = malloc((size_t)(n * n) * sizeof *A), *x = malloc((size_t)n * sizeof *x);
    int32_t *ipiv = malloc((size_t)n * sizeof *ipiv), info = -7, i, j;
    for (j = 0; j < n; ++j)
      for (i = 0; i < n; ++i) A[i + j * n] = i == j ? n + k : (double)((i * 7 + j * 3) % 11) / 11;
    for (i = 0; i < n; ++i) {
      x[i] = 0;
      for (j = 0; j < n; ++j) x[i] += A[i + j * n];
    }
    dgesv_(&n, &one, A, &n, ipiv, x, &n, &info);
    for (i = 0; i < n; ++i) info += fabs(x[i] - 1) > 1e-10;
    expect("DGESV in threads", info == 0);
    free(A), free(x), free(ipiv);
  }
  return nothing;
}

static void in_threads(void) {
  pthread_t threads[8];
  int k;
  for (k = 0; k < 8; ++k) pthread_create(&threads[k], NULL, solve_some, NULL);
  for (k = 0; k < 8; ++k) pthread_join(threads[k], NULL);
}

static void in_a_child(void) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    failures = 0;
    solve_some(NULL);
    _exit(failures != 0);
  }
  waitpid(child, &status, 0);
  expect("DGESV in a forked child", WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A system that is large enough to come to a device in parts: all ones are its solution, also with the factors. */
static void large(void) {
  const int32_t n = 3000, ld = n + 1, nrhs = 200;
  const size_t all = (size_t)ld * (size_t)n;
  double *A = numbers_of(all, sizeof(double)), *LU = malloc(all * sizeof *LU), *x = malloc((size_t)n * sizeof *x);
  double* X = malloc((size_t)n * (size_t)nrhs * sizeof *X);
  int32_t *ipiv = malloc((size_t)n * sizeof *ipiv), one = 1, info, i, j, way;
  for (j = 0; j < n; ++j) {
    A[j + (size_t)j * ld] = n;
    for (i = 0; i < j; ++i) A[i + (size_t)j * ld] = A[j + (size_t)i * ld];
  }
  for (way = 0; way < 3; ++way) {
    const char* const uplo = way == 1 ? "L" : "U";
    double worst = 0;
    memcpy(LU, A, all * sizeof *LU);
    for (j = 0; j < n; ++j) {
      x[j] = 0;
      for (i = 0; i < n; ++i) {
        double* const a = &LU[i + (size_t)j * ld];
        x[j] += *a;
        if (way == 0 && i != j)
          *a += i < j ? 3 : -3; /* no longer symmetric, with the row sums of before but for 3 (n − 1 − 2i) */
        if (way > 0 && (way == 1 ? i < j : i > j)) *a = NAN;
      }
      if (way == 0) x[j] += 3.0 * (n - 1 - 2 * j);
    }
    for (j = 0; j < nrhs; ++j) memcpy(X + (size_t)j * n, x, (size_t)n * sizeof *x);
    info = -7;
    if (way == 0)
      dgesv_(&n, &one, LU, &ld, ipiv, x, &n, &info);
    else
      dposv_(uplo, &n, &one, LU, &ld, x, &n, &info, 1);
    expect("a large system", info == 0);
    if (way == 0)
      dgetrs_("N", &n, &nrhs, LU, &ld, ipiv, X, &n, &info, 1);
    else
      dpotrs_(uplo, &n, &nrhs, LU, &ld, X, &n, &info, 1);
    for (i = 0; i < n; ++i) worst = larger(worst, larger(fabs(x[i] - 1), fabs(X[i + (size_t)(nrhs - 1) * n] - 1)));
    expect("a large system", info == 0 && worst < 1e-10);
    for (j = 0; way > 0 && j < n; ++j)
      for (i = 0; i < n; ++i)
        if (isnan(LU[i + (size_t)j * ld]) ? way == 1 ? i >= j : i <= j : way == 1 ? i < j : i > j) worst = 1;
    expect("the other triangle of a large system", worst < 1e-10);
    expect("between the columns of a large system", LU[n] == A[n] && LU[all - 1] == A[all - 1]);
  }
  free(A), free(LU), free(x), free(X), free(ipiv);
}

/* With an argument: systems that are large, too. */
int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) large();
  s_all(), s_64_all(), scipy_s_all(), scipy_s_64_all();
  d_all(), d_64_all(), scipy_d_all(), scipy_d_64_all();
  lapacke();
  mixed();
  trampoline();
  in_threads();
  in_a_child();
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
