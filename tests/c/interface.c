/* The C interface, as a C89 program uses it. Returns 0 if all of it is as it should be. */
#include <lasolve/lasolve.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* 4 x + 1 y = 1, 2 x + 3 y = 7: x = -0.4, y = 2.6. The transposed one: 4 x + 2 y = 1, x + 3 y = 7: x = -1.1, y = 2.7. */
static const double columns[4] = {4, 2, 1, 3}, rows[4] = {4, 1, 2, 3}, b[2] = {1, 7};

static double not_a_number(void) { return strtod("nan", NULL); }

static void solves(void) {
  lasolve_report report = LASOLVE_REPORT_INIT;
  double x[2];
  float a32[4] = {4, 2, 1, 3}, b32[2] = {1, 7}, x32[2];
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, NULL, NULL) == LASOLVE_OK && is(x, -0.4, 2.6));
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, NULL, &report) == LASOLVE_OK);
  CHECK(strcmp(report.outcome, "solved") == 0 && strcmp(report.method, "lu") == 0 && report.n == 2 && report.nrhs == 1);
  CHECK(report.hpl_residual < 16 && report.rcond != report.rcond && strcmp(report.notes, "") == 0);
  CHECK(lasolve_ssolve(2, 1, a32, 2, b32, 2, x32, 2, NULL, &report) == LASOLVE_OK && fabs(x32[1] - 2.6) < 1e-6);
  CHECK(strcmp(report.precision, "fp32") == 0);
  CHECK(lasolve_dsolve(0, 1, NULL, 0, NULL, 0, NULL, 0, NULL, NULL) == LASOLVE_OK);
}

/* What an earlier call left in it is gone. */
static int has_only_a_message(const lasolve_report* report) {
  return strcmp(report->message, lasolve_last_error()) == 0 && strcmp(report->outcome, "") == 0 &&
         strcmp(report->gemm, "") == 0 && strcmp(report->notes, "") == 0 && report->n == 0 &&
         report->backward_error != report->backward_error && report->total_seconds != report->total_seconds;
}

static void resets_reports(void) {
  lasolve_report report = LASOLVE_REPORT_INIT;
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_factorization* f = NULL;
  double x[2];
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, NULL, &report) == LASOLVE_OK);
  CHECK(lasolve_dsolve(-1, 1, columns, 2, b, 2, x, 2, NULL, &report) == LASOLVE_MISUSE && has_only_a_message(&report));
  CHECK(lasolve_dfactor(2, columns, 2, NULL, &f, &report) == LASOLVE_OK && strcmp(report.outcome, "solved") == 0);
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 1, b, 1, x, 2, &report) == LASOLVE_MISUSE && has_only_a_message(&report));
  lasolve_free(f);
  options.device = "cuda:1000";
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, NULL, &report) == LASOLVE_OK);
  CHECK(lasolve_dfactor(2, columns, 2, &options, &f, &report) == LASOLVE_MACHINE && has_only_a_message(&report));
}

static void factors_once(void) {
  lasolve_factorization* f = NULL;
  lasolve_report report = LASOLVE_REPORT_INIT;
  double x[4] = {1, 7, 1, 7}, rcond = 0, log_abs = 0;
  int sign = 0;
  float x32[2] = {0, 0};
  CHECK(lasolve_dfactor(2, columns, 2, NULL, &f, &report) == LASOLVE_OK && f != NULL);
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 2, x, 2, x, 2, &report) == LASOLVE_OK);
  CHECK(is(x, -0.4, 2.6) && is(x + 2, -0.4, 2.6) && report.nrhs == 2);
  CHECK(lasolve_dsolve_with(f, LASOLVE_TRANSPOSE, 1, b, 2, x, 2, NULL) == LASOLVE_OK && is(x, -1.1, 2.7));
  CHECK(lasolve_rcond(f, &rcond) == LASOLVE_OK && rcond > 0.1 && rcond < 1);
  CHECK(lasolve_log_abs_det(f, &log_abs, &sign) == LASOLVE_OK && fabs(log_abs - log(10)) < 1e-14 && sign == 1);
  CHECK(lasolve_log_abs_det(f, NULL, &sign) == LASOLVE_MISUSE && strncmp(lasolve_last_error(), "lasolve: ", 9) == 0);
  CHECK(lasolve_ssolve_with(f, LASOLVE_NONE, 1, x32, 2, x32, 2, NULL) == LASOLVE_MISUSE && says("other type"));
  lasolve_free(f);
  lasolve_free(NULL);
}

static void takes_rows(void) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_factorization* f = NULL;
  double padded[6] = {4, 1, -1, 2, 3, -1}, B[4] = {1, 8, 7, 14}, X[6] = {0, 0, -1, 0, 0, -1}, x[2];
  double lower[4] = {2, 0, 1, 3}, s[2] = {5, 10}; /* row-major, and its other triangle is not read */
  double second_row_of_zeros[4] = {1, 2, 0, 0}, nan_in_it[4] = {1, 2, 2, 4};
  lasolve_report report = LASOLVE_REPORT_INIT;
  options.row_major = 1;
  lower[1] = not_a_number();
  CHECK(lasolve_dsolve(2, 1, rows, 2, b, 1, x, 1, &options, NULL) == LASOLVE_OK && is(x, -0.4, 2.6));
  CHECK(lasolve_dfactor(2, padded, 3, &options, &f, NULL) == LASOLVE_OK);
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 2, B, 2, X, 3, NULL) == LASOLVE_OK);
  CHECK(fabs(X[0] + 0.4) < 1e-14 && fabs(X[3] - 2.6) < 1e-14 && fabs(X[1] - 1) < 1e-14 && fabs(X[4] - 4) < 1e-14);
  CHECK(X[2] == -1 && X[5] == -1);
  CHECK(lasolve_dsolve_with(f, LASOLVE_TRANSPOSE, 1, b, 1, x, 1, NULL) == LASOLVE_OK && is(x, -1.1, 2.7));
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 3, B, 2, X, 3, NULL) == LASOLVE_MISUSE && says("B has 3 columns") &&
        says("ldb is 2"));
  lasolve_free(f);
  CHECK(lasolve_dfactor(2, second_row_of_zeros, 2, &options, &f, &report) == LASOLVE_NO_SOLUTION &&
        says("row 1 (counted from 0)") && report.at == 1 && strcmp(report.message, lasolve_last_error()) == 0);
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 1, b, 1, x, 1, NULL) == LASOLVE_NO_SOLUTION && says("row 1"));
  lasolve_free(f);
  nan_in_it[2] = not_a_number();
  CHECK(lasolve_dfactor(2, nan_in_it, 2, &options, &f, NULL) == LASOLVE_MISUSE && says("in row 1 and column 0"));
  CHECK(lasolve_dsolve(2, 1, padded, 3, b, 1, padded + 1, 3, &options, NULL) == LASOLVE_MISUSE &&
        says("overlap the matrix"));
  CHECK(lasolve_dsolve(2, 1, padded, 3, b, 1, padded + 2, 3, &options, NULL) == LASOLVE_OK);
  CHECK(fabs(padded[2] + 0.4) < 1e-14 && fabs(padded[5] - 2.6) < 1e-14);
  options.triangle = "lower";
  CHECK(lasolve_dsolve(2, 1, lower, 2, s, 1, x, 1, &options, NULL) == LASOLVE_OK && is(x, 1, 3));
  options.method = "cholesky";
  CHECK(lasolve_dsolve(2, 1, lower, 2, s, 1, x, 1, &options, NULL) == LASOLVE_OK && is(x, 1, 3));
}

static void says_what_is_wrong(void) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_report report = LASOLVE_REPORT_INIT;
  lasolve_factorization* f = NULL;
  double x[2], singular[4] = {1, 2, 2, 4}, nan_in_it[4] = {1, 2, 2, 4};
  struct {
    lasolve_options known;
    int later;
  } newer;
  CHECK(lasolve_dsolve(2, 1, columns, 1, b, 2, x, 2, NULL, NULL) == LASOLVE_MISUSE && says("lda is 1") &&
        says("set row_major") && !says("::"));
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 1, x, 2, NULL, NULL) == LASOLVE_MISUSE && says("ldb is 1"));
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 0, NULL, NULL) == LASOLVE_MISUSE && says("ldx is 0"));
  CHECK(lasolve_dsolve(2, 1, NULL, 2, b, 2, x, 2, NULL, NULL) == LASOLVE_MISUSE && says("A is NULL"));
  CHECK(lasolve_dsolve(2, 1, columns, 2, NULL, 2, x, 2, NULL, NULL) == LASOLVE_MISUSE && says("B is NULL"));
  CHECK(lasolve_dsolve(-1, 1, columns, 2, b, 2, x, 2, NULL, NULL) == LASOLVE_MISUSE && says("A has a negative size"));
  CHECK(lasolve_dsolve(2, -1, columns, 2, b, 2, x, 2, NULL, NULL) == LASOLVE_MISUSE && says("has a negative size"));
  CHECK(lasolve_dsolve(2, 1, singular, 2, b, 2, singular + 2, 2, NULL, NULL) == LASOLVE_MISUSE &&
        says("overlap the matrix"));
  CHECK(lasolve_dfactor(2, columns, 2, NULL, NULL, NULL) == LASOLVE_MISUSE && says("nowhere"));
  CHECK(lasolve_dsolve_with(NULL, LASOLVE_NONE, 1, b, 2, x, 2, NULL) == LASOLVE_MISUSE && says("no factorization"));
  CHECK(lasolve_dfactor(2, columns, 2, NULL, &f, NULL) == LASOLVE_OK);
  CHECK(lasolve_dsolve_with(f, (lasolve_op)7, 1, b, 2, x, 2, NULL) == LASOLVE_MISUSE && says("op is LASOLVE_NONE or"));
  lasolve_free(f);
  nan_in_it[2] = not_a_number();
  CHECK(lasolve_dfactor(2, nan_in_it, 2, NULL, &f, NULL) == LASOLVE_MISUSE && f == NULL && says("NaN") &&
        says("in row 0 and column 1"));
  CHECK(lasolve_dfactor(2, singular, 2, NULL, &f, &report) == LASOLVE_NO_SOLUTION && f != NULL && says("singular"));
  CHECK(strcmp(report.outcome, "singular") == 0 && report.at == 1 && strcmp(report.message, lasolve_last_error()) == 0);
  x[0] = x[1] = 7;
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 1, b, 2, x, 2, NULL) == LASOLVE_NO_SOLUTION);
  CHECK(x[0] != x[0] && x[1] != x[1]);
  lasolve_free(f);
  x[0] = x[1] = 7;
  CHECK(lasolve_dsolve(2, 1, singular, 2, b, 2, x, 2, NULL, &report) == LASOLVE_NO_SOLUTION && says("singular"));
  CHECK(x[0] != x[0] && x[1] != x[1] && strcmp(report.outcome, "singular") == 0 && report.at == 1);
  options.gemm = "fastest";
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MISUSE && says("fastest") &&
        says("; there are auto, ") && is_one_sentence());
  options.gemm = "tilde";
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MISUSE &&
        says("did you mean 'tiled'?") && is_one_sentence());
  options.gemm = NULL;
  options.device = "cuda:1000";
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MACHINE && says("no CUDA device: ") &&
        is_one_sentence());
  options.device = NULL;
  options.threads = -1;
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MISUSE && says("threads is negative"));
  options.threads = 0;
  options.method = "qr";
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MISUSE && says("auto, lu, cholesky"));
  options.method = NULL;
  options.device = "gpu";
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MISUSE && says("gpu"));
  options.device = NULL;
  options.memory = (lasolve_memory)7;
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MISUSE && says("memory is"));
  options.memory = LASOLVE_HOST;
  options.size = 0;
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, NULL) == LASOLVE_MISUSE && says("size"));
  memset(&newer, 0, sizeof newer);
  newer.known.size = sizeof newer;
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &newer.known, NULL) == LASOLVE_OK);
  memset(&newer.later, 1, sizeof newer.later);
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &newer.known, NULL) == LASOLVE_MISUSE && says("too old"));
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, NULL, NULL) == LASOLVE_OK &&
        strcmp(lasolve_last_error(), "") == 0);
}

/* Of an ill-conditioned system in fp32, refined. */
static void tells_how_refinement_went(void) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_report report = LASOLVE_REPORT_INIT;
  static double A[20 * 20], B[20 * 2], X[20 * 2];
  lasolve_int i, j;
  for (j = 0; j < 20; ++j)
    for (i = 0; i < 20; ++i) A[i + 20 * j] = (i == j) + 1.0 / (double)(i + 2 * j + 1);
  for (i = 0; i < 20; ++i) B[i] = 1, B[i + 20] = (double)i;
  options.method = "lu", options.precision = "fp32", options.history = options.bounds = 1;
  CHECK(lasolve_dsolve(20, 2, A, 20, B, 20, X, 20, &options, &report) == LASOLVE_OK);
  CHECK(report.residual_history_rows == report.refine_iterations + 1 && report.residual_history_columns == 2);
  CHECK(report.residual_history[0] > 0 && report.residual_history[0] < 1e-5 && report.residual_history[1] > 0);
  CHECK(report.growth >= 0.5 && report.norm_growth >= 1 && report.largest_multiplier <= 1);
  options.history = options.bounds = 0;
  CHECK(lasolve_dsolve(20, 2, A, 20, B, 20, X, 20, &options, &report) == LASOLVE_OK);
  CHECK(!report.residual_history && report.residual_history_rows == 0 && report.norm_growth != report.norm_growth);
}

static void takes_shares_of_cards(void) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  const double A[9] = {4, 1, 0, 1, 4, 1, 0, 1, 4}, B[3] = {5, 6, 5};
  double X[3];
  options.device = "cpu:0,1", options.card_shares = "2,1", options.block_size = 1;
  CHECK(lasolve_dsolve(3, 1, A, 3, B, 3, X, 3, &options, NULL) == LASOLVE_OK && fabs(X[1] - 1) < 1e-14);
  options.card_shares = "2:1";
  CHECK(lasolve_dsolve(3, 1, A, 3, B, 3, X, 3, &options, NULL) == LASOLVE_MISUSE);
  options.card_shares = "2,1,1";
  CHECK(lasolve_dsolve(3, 1, A, 3, B, 3, X, 3, &options, NULL) == LASOLVE_MISUSE);
}

/* An older program, whose structures ended sooner. */
static void serves_older_callers(void) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_report report = LASOLVE_REPORT_INIT;
  double x[2];
  options.size = offsetof(lasolve_options, method);
  options.method = "what it does not know";
  report.size = offsetof(lasolve_report, at);
  report.at = 12345;
  CHECK(lasolve_dsolve(2, 1, columns, 2, b, 2, x, 2, &options, &report) == LASOLVE_OK && is(x, -0.4, 2.6));
  CHECK(strcmp(report.outcome, "solved") == 0 && report.at == 12345 && report.size == offsetof(lasolve_report, at));
}

static int calls;
static void own_gemm(void* data, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k,
                     double alpha, const double* A, lasolve_int lda, const double* B, lasolve_int ldb, double beta,
                     double* C, lasolve_int ldc) {
  lasolve_int i, j, l;
  ++*(int*)data;
  for (j = 0; j < n; ++j)
    for (i = 0; i < m; ++i) {
      double sum = 0;
      for (l = 0; l < k; ++l)
        sum +=
            A[op_a == LASOLVE_NONE ? i + l * lda : l + i * lda] * B[op_b == LASOLVE_NONE ? l + j * ldb : j + l * ldb];
      C[i + j * ldc] = alpha * sum + (beta == 0 ? 0 : beta * C[i + j * ldc]);
    }
}

static int stop(void* data, double fraction) {
  ++*(int*)data;
  return fraction > 0.1;
}

static void uses_functions_of_the_caller(void) {
  enum { n = 300 };
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_report report = LASOLVE_REPORT_INIT;
  lasolve_gemm kernel = LASOLVE_GEMM_INIT;
  double *A = malloc(n * n * sizeof *A), B[n], X[n];
  int i, seen = 0;
  unsigned state = 1;
  for (i = 0; i < n * n; ++i) A[i] = (double)((state = state * 1103515245u + 12345u) >> 16 & 1023) - 512;
  for (i = 0; i < n; ++i) B[i] = i;
  kernel.name = "three loops";
  kernel.f64 = own_gemm;
  kernel.data = &calls;
  options.kernel = &kernel;
  options.condition = 1;
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, &report) == LASOLVE_OK);
  CHECK(calls > 0 && strcmp(report.gemm, "three loops") == 0 && report.hpl_residual < 16 && report.rcond > 0);
  options.precision = "fp32";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_MISUSE && says("fp32"));
  options.precision = NULL;
  options.gemm = "naive";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_MISUSE && says("a kernel of their own"));
  options.gemm = NULL;
  kernel.memory = LASOLVE_CUDA;
  options.device = "cpu";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_MISUSE);
  options.kernel = NULL;
  options.tuning = "lu_columns_0=24,lu_from_1=never";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_MISUSE && says("lu_from_1=never"));
  options.tuning = "lu_columns_0=24,lu_from_1=5000,lu_from_2=5000";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, &report) == LASOLVE_OK && report.block_size == 24);
  options.tuning = "lu_step";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_MISUSE && says("name=value, not 'lu_step'"));
  options.tuning = "nix=3";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_MISUSE &&
        says("there is no tuning of 'nix'; 'lasolve list --tuning' prints") && is_one_sentence());
  options.tuning = "lu_stepp=64";
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_MISUSE && says("did you mean 'lu_step'?"));
  options.tuning = NULL;
  options.block_size = 64;
  options.progress = stop;
  options.progress_data = &seen;
  CHECK(lasolve_dsolve(n, 1, A, n, B, n, X, n, &options, NULL) == LASOLVE_STOPPED && seen > 0 && says("stopped"));
  free(A);
}

static void computes_in_a_context(void) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_report report = LASOLVE_REPORT_INIT;
  lasolve_context *context = NULL, *none = (lasolve_context*)&options;
  lasolve_factorization* f = NULL;
  lasolve_async_factorization* g = NULL;
  double x[2];
  CHECK(lasolve_make_context(1000, NULL, &none) == LASOLVE_MACHINE && none == NULL && says("no CUDA device"));
  CHECK(lasolve_make_context(0, NULL, NULL) == LASOLVE_MISUSE && says("nowhere"));
  lasolve_free_context(NULL);
  if (lasolve_make_context(0, NULL, &context) != LASOLVE_OK) {
    CHECK(context == NULL && says("no CUDA device"));
    return;
  }
  options.context = context;
  options.device = "cpu";
  CHECK(lasolve_dfactor(2, columns, 2, &options, &f, NULL) == LASOLVE_MISUSE && says("context"));
  options.device = NULL;
  CHECK(lasolve_dfactor(2, columns, 2, &options, &f, &report) == LASOLVE_OK && strcmp(report.device, "cuda:0") == 0);
  options.method = "lu";
  options.no_check = 1;
  CHECK(lasolve_dfactor_async(2, columns, 2, &options, &g) == LASOLVE_MISUSE && g == NULL && says("LASOLVE_CUDA"));
  options.memory = LASOLVE_CUDA;
  CHECK(lasolve_dfactor_async(2, columns, 2, &options, &g) == LASOLVE_MISUSE && g == NULL && says("context has none"));
  lasolve_free_context(context);
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 1, b, 2, x, 2, NULL) == LASOLVE_OK && is(x, -0.4, 2.6));
  lasolve_free(f);
}

/* What is seen of them without a device; async.c has the rest. */
static void refuses_calls_that_cannot_be_asynchronous(void) {
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  lasolve_async_factorization* f = (lasolve_async_factorization*)&options;
  const lasolve_int* failed_at = (const lasolve_int*)&options;
  double x[2];
  float a32[4] = {4, 2, 1, 3}, x32[2];
  lasolve_int at = 5;
  CHECK(lasolve_dfactor_async(2, columns, 2, NULL, &f) == LASOLVE_MISUSE && f == NULL && says("stream of a context"));
  CHECK(lasolve_sfactor_async(2, a32, 2, &options, &f) == LASOLVE_MISUSE && f == NULL && says("stream of a context"));
  CHECK(lasolve_dfactor_async(2, columns, 2, &options, NULL) == LASOLVE_MISUSE && says("nowhere"));
  options.method = "qr";
  CHECK(lasolve_dfactor_async(2, columns, 2, &options, &f) == LASOLVE_MISUSE && says("auto, lu, cholesky"));
  options.size = 0;
  CHECK(lasolve_dfactor_async(2, columns, 2, &options, &f) == LASOLVE_MISUSE && says("size"));
  CHECK(lasolve_dsolve_async(NULL, LASOLVE_NONE, 1, b, 2, x, 2) == LASOLVE_MISUSE && says("no factorization"));
  CHECK(lasolve_ssolve_async(NULL, LASOLVE_NONE, 1, x32, 2, x32, 2) == LASOLVE_MISUSE && says("no factorization"));
  CHECK(lasolve_failed_at(NULL, &failed_at) == LASOLVE_MISUSE && failed_at == NULL && says("no factorization"));
  CHECK(lasolve_wait(NULL, &at) == LASOLVE_MISUSE && at == 5 && says("no factorization"));
  lasolve_free_async(NULL);
}

/* That the caller's functions gave, and got back. */
static size_t given, taken;
static void* give(void* self, size_t bytes, void* stream) {
  CHECK(self == &given && stream == NULL);
  given += bytes;
  return malloc(bytes);
}
static void take(void* self, void* memory, size_t bytes, void* stream) {
  CHECK(self == &given && stream == NULL);
  taken += bytes;
  free(memory);
}
static void has_memory_of_the_caller(void) {
  lasolve_memory_source source;
  lasolve_factorization* f = NULL;
  double x[2];
  source.allocate = give, source.release = take, source.self = &given;
  lasolve_memory_from(&source, NULL);
  CHECK(lasolve_dfactor(2, columns, 2, NULL, &f, NULL) == LASOLVE_OK);
  CHECK(lasolve_dsolve_with(f, LASOLVE_NONE, 1, b, 2, x, 2, NULL) == LASOLVE_OK && is(x, -0.4, 2.6));
  lasolve_memory_from(NULL, NULL);
  CHECK(given > 0 && taken < given);
  lasolve_free(f);
  CHECK(taken == given);
}

int main(void) {
  solves();
  resets_reports();
  factors_once();
  takes_rows();
  says_what_is_wrong();
  tells_how_refinement_went();
  takes_shares_of_cards();
  serves_older_callers();
  uses_functions_of_the_caller();
  computes_in_a_context();
  has_memory_of_the_caller();
  refuses_calls_that_cannot_be_asynchronous();
  CHECK(strlen(lasolve_version()) >= 5);
  if (!failed) printf("lasolve %s: the C interface is as it should be\n", lasolve_version());
  return failed;
}
