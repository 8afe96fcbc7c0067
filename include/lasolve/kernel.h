/* lasolve/kernel.h: a GEMM kernel of your own, which the tool loads (C89 and later). See docs/bring-your-own-kernel.md.

   A plugin is a shared library with one function, which returns the record of its kernel:

     const lasolve_kernel* lasolve_plugin_kernel(void) {
       static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
       kernel.name = "mine";
       kernel.summary = "three loops";
       kernel.f64 = multiply;
       kernel.limits = LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_ADDS;
       return &kernel;
     }

   The contract: C <- alpha op(A) op(B) + beta C, with op(A): m x k, op(B): k x n and C: m x n, column-major. Any ld >= rows, any
   alignment of an element. beta = 0 never reads C. NaN and infinities in the product propagate, also where they meet a zero. m, n and k are at
   least 1. With u the unit roundoff, |C - Cref| <= u (sqrt(k + 2) max(|alpha|, 1) |A| |B| + 2 max(|beta|, 1) |C0|), in Frobenius norms.
   On the CPU the kernel computes on the thread that calls it, and is called by several at once, each with a part of C.
   On CUDA, kernel.memory = LASOLVE_CUDA, operands are in the memory of the current device. The function gives its work to the
   stream that it gets as data, a cudaStream_t, and returns; it waits for nothing. Calls on other streams may overlap with it.
   `limits` and what follows it say what of this a kernel does not do. The tool brings that, and says what it cost. */
#ifndef LASOLVE_KERNEL_H
#define LASOLVE_KERNEL_H

#include "lasolve/lasolve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the record and of the functions in it. It changes where a plugin that was compiled earlier would be read wrongly. */
#define LASOLVE_KERNEL_ABI 1

/* What a kernel does not do, or wants; added up in lasolve_kernel.limits. */
enum lasolve_kernel_limit {
  LASOLVE_KERNEL_ROW_MAJOR = 1,     /* A, B and C are row-major: element (i, j) is data[i * ld + j], ld >= columns */
  LASOLVE_KERNEL_NO_TRANSPOSES = 2, /* op_a and op_b are LASOLVE_NONE */
  LASOLVE_KERNEL_ASSIGNS = 4,       /* C <- op(A) op(B): alpha and beta are not looked at */
  LASOLVE_KERNEL_ADDS = 8,          /* C <- C + op(A) op(B): alpha and beta are not looked at */
  LASOLVE_KERNEL_NO_GAPS = 16,      /* ld is the number of rows; row-major: of columns */
  LASOLVE_KERNEL_INT_INDICES = 32,  /* indices are of 32 bits: A, B and C end before element 2^31 */
  LASOLVE_KERNEL_ONE_CALL = 64,     /* one call at a time, for all of C: it has threads of its own, or static memory.
                                       CUDA: one begins on the device when the one before has ended */
  LASOLVE_KERNEL_SQUARE = 128       /* m, n and k are the same: n x n matrices alone. C comes in such blocks */
};

typedef struct lasolve_kernel {
  int abi;               /* LASOLVE_KERNEL_ABI */
  size_t size;           /* of this structure, as the plugin knows it */
  const char* name;      /* for tables and reports */
  const char* summary;   /* one line */
  lasolve_memory memory; /* LASOLVE_HOST; LASOLVE_CUDA: operands are there, and functions get a cudaStream_t as data */
  lasolve_dgemm f64;     /* NULL: not offered */
  lasolve_sgemm f32;     /* NULL: not offered */
  void* data;            /* handed to the functions; LASOLVE_CUDA: they get the stream instead */
  double f64_roundoff, f32_roundoff; /* the unit roundoff u, where it is coarser than that of the type; 0: that */
  unsigned limits;                   /* LASOLVE_KERNEL_..., added up; 0: the whole contract is met */
  lasolve_int m_multiple, n_multiple, k_multiple; /* what m, n and k have to be multiples of; 0: of 1; at most 1024 */
  lasolve_int m_largest, n_largest,
      k_largest; /* the most that m, n and k may be, as where a buffer has a fixed size; 0: any */
  lasolve_int
      alignment; /* bytes, a power of two up to 4096, at multiples of which A, B and C begin, and all of their columns
                            (row-major: rows), but with NO_GAPS, which packs these; 0: those of an element */
} lasolve_kernel;
#define LASOLVE_KERNEL_INIT                                                                                           \
  {                                                                                                                   \
    LASOLVE_KERNEL_ABI, sizeof(lasolve_kernel), NULL, NULL, LASOLVE_HOST, NULL, NULL, NULL, 0.0, 0.0, 0u, 0, 0, 0, 0, \
        0, 0, 0                                                                                                       \
  }

/* The parameters of a function of doubles (T: double) or floats, for kernels that are a line:
     static void multiply(LASOLVE_KERNEL_PARAMETERS(double)) { their_dgemm(m, n, k, A, lda, B, ldb, C, ldc); } */
#define LASOLVE_KERNEL_PARAMETERS(T)                                                                              \
  void *data, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k, T alpha, const T *A, \
      lasolve_int lda, const T *B, lasolve_int ldb, T beta, T *C, lasolve_int ldc

#ifdef __GNUC__
#define LASOLVE_PLUGIN_FUNCTION __attribute__((visibility("default")))
#else
#define LASOLVE_PLUGIN_FUNCTION
#endif

/* What a plugin defines. The record stays as it is from the first call on. No device is in use when it is called: what has to be set
   on one is set by the functions in the record. */
LASOLVE_PLUGIN_FUNCTION const lasolve_kernel* lasolve_plugin_kernel(void);

/* What a plugin may define: why the last call of a function failed, in words; NULL: it did not. It is asked behind each call. For
   a launch that is cudaGetLastError() and cudaGetErrorString(); the tool adds that to a source in CUDA which has no such function. */
LASOLVE_PLUGIN_FUNCTION const char* lasolve_plugin_error(void);

#ifdef __cplusplus
}
#endif

#endif
