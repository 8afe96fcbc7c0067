/* lasolve.h: dense linear systems A X = B from C (C89 and later). See docs/use-from-c.md.

   Matrices are column-major: element (i, j) is data[i + j * ld], ld >= max(rows, 1), indices from 0. With
   lasolve_options.row_major they are row-major: data[i * ld + j], ld >= max(columns, 1).

   What is a word in the tool, such as "cholesky", is the same word here. Functions return a lasolve_status and never end the
   program. Handles are opaque, and the structures, but lasolve_memory_source, begin with their size, so a program that was compiled
   earlier goes on working with a later library of the same minor version: 0.2.0 with 0.2.1, not with 0.3. */
#ifndef LASOLVE_LASOLVE_H
#define LASOLVE_LASOLVE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A size or an index; 64 bits. */
typedef ptrdiff_t lasolve_int;

/* Any int may come from C; in C++ that is undefined of an enumeration without this. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define LASOLVE_ANY_INT : int
#else
#define LASOLVE_ANY_INT
#endif

/* How a call ended: the numbers are the exit codes of the tool. */
typedef enum lasolve_status {
  LASOLVE_OK = 0,          /* solved, or factored */
  LASOLVE_MISUSE = 2,      /* sizes, pointers, words, NaN or Inf: lasolve_last_error() says which */
  LASOLVE_NO_SOLUTION = 4, /* singular, or not positive definite: X is all NaN */
  LASOLVE_INACCURATE = 5,  /* X is there, but not as accurate as it should be */
  LASOLVE_MACHINE = 6,     /* no memory, no such device, an error of a driver */
  LASOLVE_INTERNAL = 70,   /* a fault of the library */
  LASOLVE_STOPPED = 130    /* the caller's progress function asked for it */
} lasolve_status;

/* Where A, B and X lie. */
typedef enum lasolve_memory LASOLVE_ANY_INT { LASOLVE_HOST = 0, LASOLVE_CUDA = 1 } lasolve_memory;

typedef enum lasolve_op LASOLVE_ANY_INT { LASOLVE_NONE = 0, LASOLVE_TRANSPOSE = 1 } lasolve_op;

/* C <- alpha op(A) op(B) + beta C, always column-major. op(A): m x k, op(B): k x n, C: m x n. With beta = 0, C is overwritten and
   not read. It is called on the thread that called the library. In host memory it is done when it returns, and data is that of its
   lasolve_gemm. In device memory data is a cudaStream_t: the product is launched on that stream, and nothing waits for it. Products
   on different streams overlap. */
typedef void (*lasolve_dgemm)(void* data, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k,
                              double alpha, const double* A, lasolve_int lda, const double* B, lasolve_int ldb,
                              double beta, double* C, lasolve_int ldc);
typedef void (*lasolve_sgemm)(void* data, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k,
                              float alpha, const float* A, lasolve_int lda, const float* B, lasolve_int ldb, float beta,
                              float* C, lasolve_int ldc);

/* A kernel of the caller's. It must stay as it is while a factorization uses it. */
typedef struct lasolve_gemm {
  size_t size;
  const char* name;  /* for reports */
  lasolve_dgemm f64; /* NULL: not offered */
  lasolve_sgemm f32;
  void* data;
  lasolve_memory memory; /* of its operands */
} lasolve_gemm;
#define LASOLVE_GEMM_INIT \
  { sizeof(lasolve_gemm), NULL, NULL, NULL, NULL, LASOLVE_HOST }

/* Where memory is from, and goes back to. The functions may be called by any thread, and have to be there until all has come back. */
typedef struct lasolve_memory_source {
  /* So many bytes, as malloc and cudaMalloc align them; NULL: there are none. Of the host stream is NULL. Of a device they are of the
     current one, and used in the order of stream, a cudaStream_t; where that is NULL, by any stream. */
  void* (*allocate)(void* self, size_t bytes, void* stream);
  /* Takes back what allocate gave for so many bytes. Stream has been given all work that uses it; where it is NULL, that is done. */
  void (*release)(void* self, void* memory, size_t bytes, void* stream);
  void* self;
} lasolve_memory_source;

/* What later calls of this thread allocate for matrices and workspace, of the host and of CUDA devices, is from there; NULL: from the C
   library and CUDA. lasolve/memory.hpp says more. */
void lasolve_memory_from(const lasolve_memory_source* host, const lasolve_memory_source* device);

/* A CUDA device with its queues, library handles and workspaces: made once, used again by all calls that are given it. Any threads
   may use it; calls come one after the other. lasolve/context.hpp says more. */
typedef struct lasolve_context lasolve_context;

/* What can be asked for. Zero and NULL are the defaults, which are those of lasolve::Options. */
typedef struct lasolve_options {
  size_t size;
  const char* gemm;           /* a backend of `lasolve list`; NULL: "auto" */
  const lasolve_gemm* kernel; /* instead of one by its name; runs where its operands are */
  const char* device;         /* "auto", "cpu", "cuda", "cuda:1"; several share one system: "cuda:0,1" */
  const char* method;         /* "auto", "lu", "cholesky", "lu-nopivot" */
  const char* triangle;       /* of A that is there: "both", "lower", "upper"; of one, A is symmetric */
  const char* precision;      /* of the factors: "auto", "fp64", "fp32", ... */
  const char* refine;         /* "auto", "none", "classical", "gmres" */
  const char* schedule;       /* "auto", "right-looking", "left-looking", ... */
  lasolve_int block_size;     /* columns of a panel at most; 0: chosen */
  int threads;                /* of the host; 0: all */
  int row_major;              /* A, B and X are row-major */
  int allow_nonfinite;        /* take NaN and Inf; otherwise they are misuse */
  int no_check;               /* leave out the backward error, and the copy of A that it takes */
  int condition;         /* 1: estimate rcond, and judge solutions by it; 0: where the pivots are in doubt; -1: never */
  lasolve_memory memory; /* where A, B and X lie */
  void* stream; /* LASOLVE_CUDA: the cudaStream_t after which they are read and written; NULL: the legacy one */
  /* Called now and then with the fraction of the factorization that is done; a value other than 0 stops the call. */
  int (*progress)(void* data, double fraction);
  void* progress_data;
  const lasolve_context* context; /* where calls compute; its device is then the one. NULL: queues of the call's own */
  const char* tuning;   /* "name=value,name=value" of `lasolve list --tuning`, beside those of the device; NULL: none */
  int copy;             /* keep a copy of A where it is needed again, so that A may go or change after the call */
  int assume_suitable;  /* that A is diagonally dominant, which lu-nopivot requires, is not looked at */
  const char* storage;  /* of finished factors: "auto", "fp16", "bf16", ...; half of the memory of those in fp32 */
  double accuracy;      /* the backward error that each solution must have; 0: the HPL check. See lasolve::Options */
  int bounds;           /* bound the error of each checked solution: see lasolve_report */
  const char* residual; /* of the refinement: "working", or "extra", in twice the precision; NULL: "working" */
  int equilibrate;      /* 1: scale rows and columns by powers of two; 0: where a solution fails; -1: never */
  lasolve_int
      device_memory; /* bytes of the device's memory that a system may take; 0: all that is free but 1 GiB. More stays on the host */
  const char* pivoting; /* of lu: "auto", "partial", "tournament" */
  int history;          /* keep the residuals of each right-hand side: see lasolve_report */
  const char*
      card_shares; /* of several cards, the block columns of each in a round, from 1 to 16: "2,1"; NULL: equal, and of unlike cards by their rates */
} lasolve_options;
#define LASOLVE_OPTIONS_INIT                                                                                       \
  {                                                                                                                \
    sizeof(lasolve_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, LASOLVE_HOST, NULL, \
        NULL, NULL, NULL, NULL, 0, 0, NULL, 0.0, 0, NULL, 0, 0, NULL, 0, NULL                                      \
  }

/* What a call did. After LASOLVE_MISUSE, _MACHINE, _INTERNAL and _STOPPED only message is there, which is lasolve_last_error(): other
   words are "", and numbers 0 or NaN. Numbers that were not measured are NaN. Words and numbers that are pointed to are valid until the next
   call on the same thread. */
typedef struct lasolve_report {
  size_t size;
  const char*
      outcome; /* "solved", "singular", "not_positive_definite", "not_converged", "inaccurate", "ill_conditioned",
                  "not_symmetric", "unsuitable", "accuracy_not_reached" */
  const char* message; /* the same in one sentence */
  lasolve_int at; /* singular: the column with a pivot of zero, from 0 (row_major: the row); not_positive_definite: the
                          order of the leading minor; not_converged: the iterations */
  lasolve_int n, nrhs;
  const char *device, *gemm, *method, *precision, *schedule; /* that were used */
  lasolve_int block_size;
  double factor_seconds, solve_seconds, total_seconds; /* wall time; total counts copies and refinement */
  double backward_error;                               /* max of |b - A x| / (|A| |x| + |b|), norms of largest rows */
  double hpl_residual;                                 /* that over n times the roundoff; passes below 16 */
  double rcond, digits; /* see lasolve_rcond(); the digits that may be trusted, about; NaN of what is not accurate */
  int refine_iterations;
  const char* notes;          /* what a person should know, a line each; "" if nothing */
  int gmres_steps;            /* within the iterations of the refinement */
  double forward_error_bound; /* of |x - x'| / |x'|, norms of largest elements; NaN unless bounds asks for it */
  double componentwise_backward_error; /* max of |b - A x'| over |A||x'| + |b|, element by element */
  const char* equilibration;           /* what of A was scaled: "none", "rows", "columns", "both" */
  const char* pivoting;                /* "none", "partial" or "tournament" */
  double
      growth; /* max|U| / max|A| of an LU, with bounds, by a tournament, or where a check failed at first; else NaN */
  double largest_multiplier; /* max|L| of the same */
  double norm_growth; /* of the same, largest row sum of |L||U| over that of |A|; row_major: of the transpose of A */
  const double*
      residual_history; /* |b - A x| / (|A| |x|) of each right-hand side, NaN where it was done before, row after row:
                                           before the first update of a refinement, and after each; NULL unless history asks for it */
  lasolve_int residual_history_rows;    /* the updates and one more; 0 without a history */
  lasolve_int residual_history_columns; /* nrhs, or of more than some 10,000 right-hand sides the first */
} lasolve_report;
#define LASOLVE_REPORT_INIT                                                                                          \
  {                                                                                                                  \
    sizeof(lasolve_report), NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, \
        0, NULL, 0, 0.0, 0.0, NULL, NULL, 0.0, 0.0, 0.0, NULL, 0, 0                                                  \
  }

/* P A = L U or A = L L^T: factored once, solves many right-hand sides. Solves with one factorization come one after the other,
   whichever threads they are from; nobody may free it meanwhile. */
typedef struct lasolve_factorization lasolve_factorization;

/* Factors A: n x n. A is borrowed: it must stay as it is until lasolve_free(), or, with copy, or no_check and
   without refinement and lasolve_rcond(), until the call returns.
   options and report may be NULL. *factors is made with LASOLVE_OK and LASOLVE_NO_SOLUTION, and NULL otherwise. */
lasolve_status lasolve_dfactor(lasolve_int n, const double* A, lasolve_int lda, const lasolve_options* options,
                               lasolve_factorization** factors, lasolve_report* report);
lasolve_status lasolve_sfactor(lasolve_int n, const float* A, lasolve_int lda, const lasolve_options* options,
                               lasolve_factorization** factors, lasolve_report* report);

/* X <- op(A)^-1 B with B and X n x nrhs, in the type of the factorization; another is misuse. X may be B, with the same ld. It may
   not overlap an A that has to stay as it is. */
lasolve_status lasolve_dsolve_with(lasolve_factorization* factors, lasolve_op op, lasolve_int nrhs, const double* B,
                                   lasolve_int ldb, double* X, lasolve_int ldx, lasolve_report* report);
lasolve_status lasolve_ssolve_with(lasolve_factorization* factors, lasolve_op op, lasolve_int nrhs, const float* B,
                                   lasolve_int ldb, float* X, lasolve_int ldx, lasolve_report* report);

/* An estimate of 1 / (|A| |A^-1|) in the 1-norm (row_major: the infinity norm), made when first asked for: at most three solves
   (Higham & Tisseur 2000). */
lasolve_status lasolve_rcond(lasolve_factorization* factors, double* rcond);

/* det A = *sign * exp(*log_abs). Of coarser factors that are refined, A is factored once more for it; those that are not are misuse.
   *sign is -1 or 1, and 0 of a singular matrix with -infinity, or with NaN of one that is not positive definite. */
lasolve_status lasolve_log_abs_det(lasolve_factorization* factors, double* log_abs, int* sign);

/* NULL is nothing to free. */
void lasolve_free(lasolve_factorization* factors);

/* Factors A and solves A X = B; the report is of both. X may not overlap A. */
lasolve_status lasolve_dsolve(lasolve_int n, lasolve_int nrhs, const double* A, lasolve_int lda, const double* B,
                              lasolve_int ldb, double* X, lasolve_int ldx, const lasolve_options* options,
                              lasolve_report* report);
lasolve_status lasolve_ssolve(lasolve_int n, lasolve_int nrhs, const float* A, lasolve_int lda, const float* B,
                              lasolve_int ldb, float* X, lasolve_int ldx, const lasolve_options* options,
                              lasolve_report* report);

/* A context of CUDA device `device`. With a stream of that device, a cudaStream_t, device memory is read and written in its order;
   NULL: in that of the legacy stream. *context is NULL unless the status is LASOLVE_OK. */
lasolve_status lasolve_make_context(int device, void* stream, lasolve_context** context);

/* What it has stays until the last factorization that was made with it is freed. NULL is nothing to free. */
void lasolve_free_context(lasolve_context* context);

/* P A = L U or A = L L^T, made and used in the order of the stream of a context. Calls give the device its work and return. The
   host does not wait, and does not learn how the work ends: lasolve_failed_at() tells the device, lasolve_wait() the host. A call
   reads after the work that the stream was given before. What it writes is there for the work that the stream is given next.
   lasolve/async.hpp says more.

   Threads: any may use it. Calls with one context come one after the other; nobody may free it meanwhile. */
typedef struct lasolve_async_factorization lasolve_async_factorization;

/* Begins to factor a copy of A: n x n in device memory. A may go or change when the stream has come so far. The stream has to
   outlive the context and what was made with it. The first call of a size may take longer, or wait: memory is made, and kernels
   are loaded.

   options: context has a stream, and memory is LASOLVE_CUDA; stream is NULL, or that of the context. Nothing is decided on the
   host: method is "lu" or "cholesky", no_check is set, condition and progress are not. refine is NULL or "none"; precision is
   NULL, or that of A. NaN and Inf in A are not looked for.

   While the stream is captured in a CUDA graph, so are these calls: lasolve/async.hpp says what has to stay.

   LASOLVE_MISUSE: other options, sizes, or pointers. LASOLVE_MACHINE: no memory, or an error of the driver. *factors is NULL unless
   the status is LASOLVE_OK. What goes wrong on the device is told by lasolve_wait(), or by a later call with the context. */
lasolve_status lasolve_dfactor_async(lasolve_int n, const double* A, lasolve_int lda, const lasolve_options* options,
                                     lasolve_async_factorization** factors);
lasolve_status lasolve_sfactor_async(lasolve_int n, const float* A, lasolve_int lda, const lasolve_options* options,
                                     lasolve_async_factorization** factors);

/* X <- op(A)^-1 B with B and X n x nrhs in device memory, in the type of the factorization; another is misuse. X is all NaN
   where A could not be factored. X may be B, with the same ld. B and X have to stay until the stream has come so far. Errors as for the factorization. */
lasolve_status lasolve_dsolve_async(lasolve_async_factorization* factors, lasolve_op op, lasolve_int nrhs,
                                    const double* B, lasolve_int ldb, double* X, lasolve_int ldx);
lasolve_status lasolve_ssolve_async(lasolve_async_factorization* factors, lasolve_op op, lasolve_int nrhs,
                                    const float* B, lasolve_int ldb, float* X, lasolve_int ldx);

/* *failed_at <- the address of a number in device memory: -1 where A could be factored, else as lasolve_report.at. For kernels and
   copies that the stream is given. They have to be done before lasolve_free_async(). */
lasolve_status lasolve_failed_at(const lasolve_async_factorization* factors, const lasolve_int** failed_at);

/* Waits for all that the context was given, not for the stream. The status is how the factorization ended: LASOLVE_OK, or
   LASOLVE_NO_SOLUTION. *at is then the number of lasolve_failed_at(). Else *at is not written, as with LASOLVE_MACHINE, an error
   of the device. at may be NULL. */
lasolve_status lasolve_wait(lasolve_async_factorization* factors, lasolve_int* at);

/* Does not wait, but where the context was freed before: work that was given is done all the same. NULL is nothing to free. */
void lasolve_free_async(lasolve_async_factorization* factors);

/* What was wrong in the last call on this thread that did not return LASOLVE_OK, in one sentence; else "". */
const char* lasolve_last_error(void);

/* "major.minor.patch" */
const char* lasolve_version(void);

#ifdef __cplusplus
}
#endif

#endif
