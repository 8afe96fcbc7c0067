/* A kernel that makes REPEATED per cent of its work twice: slower by a known share, and the same otherwise. */
#include <lasolve/kernel.h>
#include <string.h>

enum { CHUNK = 512 };

/* c += alpha A b for a chunk of rows, four columns of A at a time. */
static void add_columns(lasolve_int m, lasolve_int k, double alpha, const double* A, lasolve_int lda, const double* b,
                        double* restrict c) {
  lasolve_int l = 0;
  for (; l + 4 <= k; l += 4) {
    const double *a0 = A + l * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const double b0 = alpha * b[l], b1 = alpha * b[l + 1], b2 = alpha * b[l + 2], b3 = alpha * b[l + 3];
    for (lasolve_int i = 0; i < m; i++) c[i] += a0[i] * b0 + a1[i] * b1 + a2[i] * b2 + a3[i] * b3;
  }
  for (; l < k; l++)
    for (lasolve_int i = 0; i < m; i++) c[i] += alpha * b[l] * A[i + l * lda];
}

static void multiply(LASOLVE_KERNEL_PARAMETERS(double)) {
  static __thread double again[CHUNK];
  (void)data, (void)op_a, (void)op_b;
  for (lasolve_int i = 0; i < m; i += CHUNK) {
    const lasolve_int rows = m - i < CHUNK ? m - i : CHUNK;
    for (lasolve_int j = 0; j < n; j++) {
      double* c = C + i + j * ldc;
      if (beta == 0)
        memset(c, 0, (size_t)rows * sizeof *c);
      else if (beta != 1)
        for (lasolve_int r = 0; r < rows; r++) c[r] *= beta;
      add_columns(rows, k, alpha, A + i, lda, B + j * ldb, c);
      if (j * REPEATED % 100 < REPEATED) add_columns(rows, k, alpha, A + i, lda, B + j * ldb, again);
    }
  }
}

const lasolve_kernel* lasolve_plugin_kernel(void) {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.name = NAME;
  kernel.f64 = multiply;
  kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES;
  return &kernel;
}
