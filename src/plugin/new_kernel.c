/* A GEMM kernel to begin with. See what it is worth:

     lasolve compare --gemm naive,./FILE --n 512,1k
     lasolve bench gemm --gemm ./FILE

   It is compiled and tried before it is timed. lasolve/kernel.h has the contract in full. */
#include <lasolve/kernel.h>

/* C <- C + A B, column by column: element (i, j) of C is C[i + j * ldc]. A is m x k, B is k x n. */
static void multiply(void* data, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k,
                     double alpha, const double* A, lasolve_int lda, const double* B, lasolve_int ldb, double beta,
                     double* C, lasolve_int ldc) {
  lasolve_int i, j, l;
  (void)data, (void)op_a, (void)op_b, (void)alpha, (void)beta; /* see limits */
  for (i = 0; i < m; ++i)
    for (j = 0; j < n; ++j) {
      double sum = 0;
      for (l = 0; l < k; ++l) sum += A[i + l * lda] * B[l + j * ldb];
      C[i + j * ldc] += sum;
    }
}

const lasolve_kernel* lasolve_plugin_kernel(void) {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.name = "KERNEL";
  kernel.summary = "three loops";
  kernel.f64 = multiply; /* and kernel.f32, for a function of floats */

  /* What the kernel does not do. The tool brings it, and says what that cost.
       LASOLVE_KERNEL_ROW_MAJOR      element (i, j) is C[i * ldc + j]
       LASOLVE_KERNEL_NO_TRANSPOSES  op_a and op_b are LASOLVE_NONE
       LASOLVE_KERNEL_ASSIGNS        C <- op(A) op(B), without alpha and beta
       LASOLVE_KERNEL_ADDS           C <- C + op(A) op(B), without alpha and beta
       LASOLVE_KERNEL_NO_GAPS        lda, ldb and ldc are the numbers of rows (ROW_MAJOR: of columns)
       LASOLVE_KERNEL_INT_INDICES    indices are int
       LASOLVE_KERNEL_ONE_CALL       it makes threads of its own, or uses static memory; others get a core each
       LASOLVE_KERNEL_SQUARE         m, n and k are the same */
  kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS;
  /* kernel.m_multiple = kernel.n_multiple = kernel.k_multiple = 32;   where m, n and k have to be multiples
     kernel.m_largest = kernel.n_largest = kernel.k_largest = 1024;    where a buffer has a fixed size
     kernel.alignment = 64;                                            where columns have to begin at multiples of 64 bytes */
  return &kernel;
}
