/* Calls of the C interface that do not wait, from a C89 program on CUDA device 0. Returns 77 where there is none. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <lasolve/lasolve.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

static cudaStream_t stream;
static lasolve_context* context;
static cublasHandle_t blas;

static void cuda(cudaError_t e, int line) {
  if (e == cudaSuccess) return;
  printf("line %d: %s\n", line, cudaGetErrorString(e));
  failed = 1;
}
#define CUDA(call) cuda(call, __LINE__)

static void* allocated(size_t bytes) {
  void* data = NULL;
  CUDA(cudaMalloc(&data, bytes));
  return data;
}
static void* uploaded(const void* from, size_t bytes) {
  void* const data = allocated(bytes);
  CUDA(cudaMemcpy(data, from, bytes, cudaMemcpyHostToDevice));
  return data;
}
/* When the stream has done all that it was given. */
static void download(void* to, const void* from, size_t bytes) {
  CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
}

static lasolve_options decided(const char* method) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  options.context = context;
  options.memory = LASOLVE_CUDA;
  options.method = method;
  options.no_check = 1;
  return options;
}

/* Small systems whose solutions are known. ld is larger than n, and what lies between the columns stays. */
static void solves(void) {
  const double A[6] = {4, 2, -1, 1, 3, -1}, B[6] = {1, 7, -1, 2, 14, -1};
  const float A32[4] = {4, 2, 1, 3}, b32[2] = {1, 7};
  double x[6], *const dA = uploaded(A, sizeof A), *const dB = uploaded(B, sizeof B), *const dX = uploaded(B, sizeof B);
  float x32[2], *const dA32 = uploaded(A32, sizeof A32), *const dx32 = uploaded(b32, sizeof b32);
  lasolve_options options = decided("lu");
  lasolve_async_factorization* f = NULL;
  lasolve_int at = 5;
  CHECK(lasolve_dfactor_async(2, dA, 3, &options, &f) == LASOLVE_OK && f != NULL);
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 2, dB, 3, dX, 3) == LASOLVE_OK);
  download(x, dX, sizeof x);
  CHECK(is(x, -0.4, 2.6) && is(x + 3, -0.8, 5.2) && x[2] == -1 && x[5] == -1);
  CHECK(lasolve_dsolve_async(f, LASOLVE_TRANSPOSE, 1, dB, 2, dX, 2) == LASOLVE_OK);
  download(x, dX, sizeof x);
  CHECK(is(x, -1.1, 2.7));
  CHECK(lasolve_wait(f, &at) == LASOLVE_OK && at == -1 && strcmp(lasolve_last_error(), "") == 0);
  CHECK(lasolve_wait(f, NULL) == LASOLVE_OK);
  CHECK(lasolve_ssolve_async(f, LASOLVE_NONE, 1, dA32, 2, dx32, 2) == LASOLVE_MISUSE && says("other type"));
  lasolve_free_async(f);

  CHECK(lasolve_sfactor_async(2, dA32, 2, &options, &f) == LASOLVE_OK);
  CHECK(lasolve_ssolve_async(f, LASOLVE_NONE, 1, dx32, 2, dx32, 2) == LASOLVE_OK &&
        lasolve_wait(f, NULL) == LASOLVE_OK);
  download(x32, dx32, sizeof x32);
  CHECK(fabs(x32[0] + 0.4) < 1e-6 && fabs(x32[1] - 2.6) < 1e-6);
  lasolve_free_async(f);

  CHECK(lasolve_dfactor_async(0, NULL, 0, &options, &f) == LASOLVE_OK && lasolve_wait(f, &at) == LASOLVE_OK);
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 0, NULL, 0, NULL, 0) == LASOLVE_OK);
  lasolve_free_async(f);
  CUDA(cudaFree(dA)), CUDA(cudaFree(dB)), CUDA(cudaFree(dX)), CUDA(cudaFree(dA32)), CUDA(cudaFree(dx32));
}

static void takes_rows(void) {
  const double A[4] = {4, 1, 2, 3}, lower[4] = {2, 1e300, 1, 3}, b[4] = {1, 7, 5, 10};
  double x[4], *const dA = uploaded(A, sizeof A), *const db = uploaded(b, sizeof b), *const dx = allocated(sizeof b);
  double* const dlower = uploaded(lower, sizeof lower);
  lasolve_options options = decided("lu");
  lasolve_async_factorization* f = NULL;
  options.row_major = 1;
  CHECK(lasolve_dfactor_async(2, dA, 2, &options, &f) == LASOLVE_OK);
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 1, db, 1, dx, 1) == LASOLVE_OK);
  download(x, dx, sizeof x);
  CHECK(is(x, -0.4, 2.6));
  CHECK(lasolve_dsolve_async(f, LASOLVE_TRANSPOSE, 1, db, 1, dx, 1) == LASOLVE_OK);
  download(x, dx, sizeof x);
  CHECK(is(x, -1.1, 2.7));
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 2, db, 2, dx, 2) == LASOLVE_OK);
  download(x, dx, sizeof x);
  CHECK(is(x, -0.2, 1.1) && is(x + 2, 1.8, 2.6));
  lasolve_free_async(f);
  options.method = "cholesky";
  options.triangle = "lower"; /* the other is not read */
  CHECK(lasolve_dfactor_async(2, dlower, 2, &options, &f) == LASOLVE_OK);
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 1, db + 2, 1, dx, 1) == LASOLVE_OK);
  download(x, dx, sizeof x);
  CHECK(is(x, 1, 3));
  lasolve_free_async(f);
  CUDA(cudaFree(dA)), CUDA(cudaFree(db)), CUDA(cudaFree(dx)), CUDA(cudaFree(dlower));
}

/* The stream goes on when *data is not 0, or after so long that a call must have waited for it. */
enum { shut, open, gave_up };
static volatile int gate;
static void CUDART_CB wait_for_gate(void* data) {
  const clock_t begin = clock();
  (void)data;
  while (gate == shut)
    if (clock() - begin > 10 * CLOCKS_PER_SEC) gate = gave_up;
}

enum { n = 300 };
/* Symmetric, with a dominant diagonal. */
static double entry(int i, int j) { return i == j ? 2 * n : cos(i + j); }

/* A and B come while calls are made. They are spoiled when they have been used, and so is X when it has been copied. */
static void returns_before_the_work_is_done(const char* method) {
  static double A[n * n], b[n], x[n];
  const lasolve_options options = decided(method);
  double *dA, *db, *dx, *source, *kept, worst = 0;
  int i, j, round;
  for (j = 0; j < n; ++j)
    for (i = 0; i < n; ++i) A[i + j * n] = entry(i, j);
  for (i = 0; i < n; ++i) b[i] = i;
  source = uploaded(A, sizeof A), dA = uploaded(A, sizeof A), kept = uploaded(b, sizeof b);
  db = uploaded(b, sizeof b), dx = uploaded(b, sizeof b);
  for (round = 0; round < 2; ++round) { /* in the first, memory is made, and kernels are loaded: it may wait */
    lasolve_async_factorization* f = NULL;
    CUDA(cudaMemset(dA, 0xff, sizeof A)), CUDA(cudaMemset(db, 0xff, sizeof b)), CUDA(cudaMemset(dx, 0xff, sizeof b));
    CUDA(cudaMemcpy(kept, b, sizeof b, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    gate = round == 0 ? open : shut;
    CUDA(cudaLaunchHostFunc(stream, wait_for_gate, NULL));
    CUDA(cudaMemcpyAsync(dA, source, sizeof A, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaMemcpyAsync(db, kept, sizeof b, cudaMemcpyDeviceToDevice, stream));
    CHECK(lasolve_dfactor_async(n, dA, n, &options, &f) == LASOLVE_OK);
    CUDA(cudaMemsetAsync(dA, 0xff, sizeof A, stream));
    CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 1, db, n, dx, n) == LASOLVE_OK);
    CUDA(cudaMemsetAsync(db, 0xff, sizeof b, stream));
    CUDA(cudaMemcpyAsync(kept, dx, sizeof b, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaMemsetAsync(dx, 0xff, sizeof b, stream));
    lasolve_free_async(f);
    CHECK(gate == (round == 0 ? open : shut)); /* else a call has waited */
    gate = open;
    CUDA(cudaStreamSynchronize(stream));
  }
  download(x, kept, sizeof x);
  for (i = 0; i < n; ++i) {
    double r = b[i];
    for (j = 0; j < n; ++j) r -= entry(i, j) * x[j];
    if (!(fabs(r) <= worst)) worst = fabs(r); /* NaN, too */
  }
  CHECK(worst < 1e-10);
  CUDA(cudaFree(dA)), CUDA(cudaFree(db)), CUDA(cudaFree(dx)), CUDA(cudaFree(source)), CUDA(cudaFree(kept));
}

static void tells_where_it_failed(const char* method, lasolve_int where, const char* words) {
  const double singular[4] = {1, 2, 2, 4};
  double* const dA = uploaded(singular, sizeof singular);
  const lasolve_options options = decided(method);
  lasolve_async_factorization* f = NULL;
  const lasolve_int* failed_at = NULL;
  lasolve_int told = 5, at = 5;
  CHECK(lasolve_dfactor_async(2, dA, 2, &options, &f) == LASOLVE_OK);
  CHECK(lasolve_failed_at(f, &failed_at) == LASOLVE_OK && failed_at != NULL);
  download(&told, failed_at, sizeof told);
  CHECK(told == where);
  CHECK(lasolve_wait(f, &at) == LASOLVE_NO_SOLUTION && at == where && says(words));
  CHECK(lasolve_failed_at(f, NULL) == LASOLVE_MISUSE && says("nowhere"));
  lasolve_free_async(f);
  CUDA(cudaFree(dA));
}

static int on(void* data, double fraction) { return data != NULL && fraction < 0; }

static void says_what_is_wrong(void) {
  const double A[4] = {4, 2, 1, 3};
  double* const dA = uploaded(A, sizeof A);
  lasolve_async_factorization* f = NULL;
  lasolve_options options = decided("lu");
  cudaStream_t other = NULL;
#define EXPECT_MISUSE(words)                                                                          \
  CHECK(lasolve_dfactor_async(2, dA, 2, &options, &f) == LASOLVE_MISUSE && f == NULL && says(words)), \
      options = decided("lu")
  options.method = NULL;
  EXPECT_MISUSE("name the method");
  options.no_check = 0;
  EXPECT_MISUSE("cannot check");
  options.condition = 1;
  EXPECT_MISUSE("condition");
  options.refine = "classical";
  EXPECT_MISUSE("cannot refine");
  options.precision = "fp32";
  EXPECT_MISUSE("cannot refine");
  options.progress = on;
  EXPECT_MISUSE("progress");
  options.device = "cpu";
  EXPECT_MISUSE("context");
  options.memory = LASOLVE_HOST;
  EXPECT_MISUSE("LASOLVE_CUDA");
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  options.stream = other;
  EXPECT_MISUSE("have another");
  CHECK(lasolve_dfactor_async(2, A, 2, &options, &f) == LASOLVE_MISUSE && f == NULL && says("A is memory of the host") &&
        is_one_sentence());
  CHECK(lasolve_dfactor_async(2, dA, 1, &options, &f) == LASOLVE_MISUSE && says("leading dimension"));
  CHECK(lasolve_dfactor_async(-1, dA, 2, &options, &f) == LASOLVE_MISUSE && says("negative size"));
  CHECK(lasolve_dfactor_async(2, NULL, 2, &options, &f) == LASOLVE_MISUSE && says("A is NULL"));
  options.stream = stream;
  CHECK(lasolve_dfactor_async(2, dA, 2, &options, &f) == LASOLVE_OK);
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 1, A, 2, dA, 2) == LASOLVE_MISUSE && says("B is memory of the host"));
  CHECK(lasolve_dsolve_async(f, (lasolve_op)7, 1, dA, 2, dA, 2) == LASOLVE_MISUSE && says("LASOLVE_TRANSPOSE"));
  lasolve_free_async(f);
  CUDA(cudaStreamDestroy(other));
  CUDA(cudaFree(dA));
}

static int products;
static void own_gemm(void* data, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k,
                     double alpha, const double* A, lasolve_int lda, const double* B, lasolve_int ldb, double beta,
                     double* C, lasolve_int ldc) {
  const cublasOperation_t a = op_a == LASOLVE_NONE ? CUBLAS_OP_N : CUBLAS_OP_T,
                          b = op_b == LASOLVE_NONE ? CUBLAS_OP_N : CUBLAS_OP_T;
  ++products;
  CHECK(cublasSetStream(blas, (cudaStream_t)data) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasDgemm(blas, a, b, (int)m, (int)n, (int)k, &alpha, A, (int)lda, B, (int)ldb, &beta, C, (int)ldc) ==
        CUBLAS_STATUS_SUCCESS);
}

/* A kernel of the caller's for device memory, in calls that wait and in those that do not. A = I + ones / n. */
static void takes_a_kernel_of_the_caller(void) {
  enum { n = 600 };
  double *A = malloc(n * n * sizeof *A), *x = malloc(n * sizeof *x), *dA, *dx;
  lasolve_options options = decided("lu");
  lasolve_gemm kernel = LASOLVE_GEMM_INIT;
  lasolve_report report = LASOLVE_REPORT_INIT;
  lasolve_async_factorization* f = NULL;
  int i, before;
  for (i = 0; i < n * n; ++i) A[i] = 1.0 / n + (i % (n + 1) == 0);
  for (i = 0; i < n; ++i) x[i] = 2;
  dA = uploaded(A, n * n * sizeof *A), dx = uploaded(x, n * sizeof *x);
  CHECK(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
  kernel.name = "caller's dgemm";
  kernel.f64 = own_gemm;
  kernel.memory = LASOLVE_CUDA;
  options.kernel = &kernel;
  CHECK(lasolve_dfactor_async(n, dA, n, &options, &f) == LASOLVE_OK);
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 1, dx, n, dx, n) == LASOLVE_OK && lasolve_wait(f, NULL) == LASOLVE_OK);
  CHECK(products > 0);
  download(x, dx, n * sizeof *x);
  CHECK(fabs(x[0] - 1) < 1e-12 && fabs(x[n - 1] - 1) < 1e-12);
  lasolve_free_async(f);
  before = products;
  options.no_check = 0;
  options.refine = NULL;
  CUDA(cudaMemcpy(dx, A, n * sizeof *A, cudaMemcpyHostToDevice));
  CHECK(lasolve_dsolve(n, 1, dA, n, dx, n, dx, n, &options, &report) == LASOLVE_OK && products > before);
  CHECK(strcmp(report.gemm, "caller's dgemm") == 0 && report.hpl_residual < 16);
  CUDA(cudaFree(dA)), CUDA(cudaFree(dx));
  CHECK(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS);
  free(A), free(x);
}

/* What was made with a context may be freed after it. */
static void lasts_longer_than_its_context(void) {
  const double A[4] = {4, 2, 1, 3}, b[2] = {1, 7};
  double x[2], *const dA = uploaded(A, sizeof A), *const dx = uploaded(b, sizeof b);
  const lasolve_options options = decided("lu");
  lasolve_async_factorization* f = NULL;
  CHECK(lasolve_dfactor_async(2, dA, 2, &options, &f) == LASOLVE_OK);
  lasolve_free_context(context);
  context = NULL;
  CHECK(lasolve_dsolve_async(f, LASOLVE_NONE, 1, dx, 2, dx, 2) == LASOLVE_OK);
  download(x, dx, sizeof x);
  CHECK(is(x, -0.4, 2.6));
  lasolve_free_async(f);
  CUDA(cudaFree(dA)), CUDA(cudaFree(dx));
}

int main(void) {
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
    printf("there is no CUDA device\n");
    return 77;
  }
  CHECK(lasolve_make_context(0, stream, &context) == LASOLVE_OK);
  if (failed) return failed;
  solves();
  takes_rows();
  returns_before_the_work_is_done("lu");
  returns_before_the_work_is_done("cholesky");
  tells_where_it_failed("lu", 1, "singular");
  tells_where_it_failed("cholesky", 2, "positive definite");
  says_what_is_wrong();
  takes_a_kernel_of_the_caller();
  lasts_longer_than_its_context();
  CUDA(cudaStreamDestroy(stream));
  if (!failed) printf("lasolve %s: calls from C do not wait\n", lasolve_version());
  return failed;
}
