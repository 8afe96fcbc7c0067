/* A GEMM kernel for CUDA to begin with. See what it is worth:

     lasolve compare --gemm naive,./FILE --n 1k,4k
     lasolve bench gemm --gemm ./FILE

   It is compiled and tried before it is timed. lasolve/kernel.h has the contract in full. */
#include <lasolve/kernel.h>

constexpr int tile = 32;

/* C <- C + A B, column by column: element (i, j) of C is C[i + j * ldc]. A is m x k, B is k x n. A block has 32 x 32 threads,
   and a thread one element of C; neighbours in a column are neighbouring threads. */
template <class T>
__global__ void tiled(lasolve_int m, lasolve_int n, lasolve_int k, const T* A, lasolve_int lda, const T* B,
                      lasolve_int ldb, T* C, lasolve_int ldc) {
  __shared__ T As[tile][tile + 1], Bs[tile][tile + 1]; /* As: (k, m), Bs: (n, k) */
  const int x = threadIdx.x, y = threadIdx.y;
  const lasolve_int i = lasolve_int(blockIdx.x) * tile + x, j = lasolve_int(blockIdx.y) * tile + y;
  T sum = 0;
  for (lasolve_int l = 0; l < k; l += tile) {
    As[y][x] = i < m && l + y < k ? A[i + (l + y) * lda] : T(0);
    Bs[y][x] = j < n && l + x < k ? B[l + x + j * ldb] : T(0);
    __syncthreads();
    for (int s = 0; s < tile; ++s) sum += As[s][x] * Bs[y][s];
    __syncthreads(); /* before the next tiles overwrite these */
  }
  if (i < m && j < n) C[i + j * ldc] += sum;
}

/* Gives the kernel to the device and returns. data is the stream; the operands are in the device's memory. */
template <class T>
static void multiply(LASOLVE_KERNEL_PARAMETERS(T)) {
  (void)op_a, (void)op_b, (void)alpha, (void)beta; /* see limits */
  const dim3 blocks(unsigned((m + tile - 1) / tile), unsigned((n + tile - 1) / tile)), threads(tile, tile);
  tiled<T><<<blocks, threads, 0, cudaStream_t(data)>>>(m, n, k, A, lda, B, ldb, C, ldc);
}

const lasolve_kernel* lasolve_plugin_kernel(void) {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.memory = LASOLVE_CUDA;
  kernel.name = "KERNEL";
  kernel.summary = "tiles in shared memory, one element of C a thread";
  kernel.f64 = multiply<double>;
  kernel.f32 = multiply<float>;

  /* What the kernel does not do. The tool brings it, and says what that cost.
       LASOLVE_KERNEL_ROW_MAJOR      element (i, j) is C[i * ldc + j]
       LASOLVE_KERNEL_NO_TRANSPOSES  op_a and op_b are LASOLVE_NONE
       LASOLVE_KERNEL_ASSIGNS        C <- op(A) op(B), without alpha and beta
       LASOLVE_KERNEL_ADDS           C <- C + op(A) op(B), without alpha and beta
       LASOLVE_KERNEL_NO_GAPS        lda, ldb and ldc are the numbers of rows (ROW_MAJOR: of columns)
       LASOLVE_KERNEL_INT_INDICES    indices are int
       LASOLVE_KERNEL_ONE_CALL       its calls may not overlap, since it has memory of its own
       LASOLVE_KERNEL_SQUARE         m, n and k are the same */
  kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS;
  /* kernel.m_multiple = kernel.n_multiple = kernel.k_multiple = 32;   where m, n and k have to be multiples
     kernel.m_largest = kernel.n_largest = kernel.k_largest = 1024;    where a buffer has a fixed size
     kernel.alignment = 64;                                            where columns have to begin at multiples of 64 bytes */
  return &kernel;
}
