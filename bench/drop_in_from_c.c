/* A routine of LAPACK by several libraries, in turns, as a program of C calls it: the matrix lies in memory of malloc, and is as it was before
 * each call. Usage: drop_in_from_c ROUTINE N RUNS LIBRARY... with dgesv, sgesv, dposv or sposv, and a right-hand side. Prints of each library
 * the first call, and the least and the median of the others, in milliseconds, and the backward error. The environment is the drop-in's. */
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*General)(const int*, const int*, void*, const int*, int*, void*, const int*, int*);
typedef void (*Definite)(const char*, const int*, const int*, void*, const int*, void*, const int*, int*, size_t);

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}
static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int is_double;
static double at(const void* all, size_t i) {
  return is_double ? ((const double*)all)[i] : (double)((const float*)all)[i];
}
static void set(void* all, size_t i, double value) {
  if (is_double)
    ((double*)all)[i] = value;
  else
    ((float*)all)[i] = (float)value;
}

/* max |b − A x| / (max row sum of |A| · max |x|), as a multiple of the roundoff. */
static double error_of(int n, const void* A, const void* x, const void* b) {
  double worst = 0, most = 0, norm = 0;
  double *sum = calloc((size_t)n, sizeof *sum), *size = calloc((size_t)n, sizeof *size);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const double a = at(A, (size_t)i + (size_t)j * (size_t)n);
      sum[i] += a * at(x, (size_t)j);
      size[i] += fabs(a);
    }
  for (int i = 0; i < n; ++i) {
    worst = fmax(worst, fabs(at(b, (size_t)i) - sum[i]));
    most = fmax(most, fabs(at(x, (size_t)i)));
    norm = fmax(norm, size[i]);
  }
  free(sum), free(size);
  return worst / (norm * most * (is_double ? DBL_EPSILON : (double)FLT_EPSILON));
}

int main(int argc, char** argv) {
  if (argc < 5) return fprintf(stderr, "usage: drop_in_from_c ROUTINE N RUNS LIBRARY...\n"), 2;
  const int n = atoi(argv[2]), runs = atoi(argv[3]), libraries = argc - 4, one = 1, definite = argv[1][1] == 'p';
  is_double = argv[1][0] == 'd';
  char name[32];
  snprintf(name, sizeof name, "%s_", argv[1]);
  const size_t bytes = is_double ? 8 : 4, all = (size_t)n * (size_t)n;
  void *A = malloc(all * bytes), *factors = malloc(all * bytes), *b = malloc((size_t)n * bytes),
       *x = malloc((size_t)n * bytes);
  int *ipiv = malloc((size_t)n * sizeof *ipiv), info = 0;
  uint64_t state = 12345;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double value = (double)(state >> 40) / (double)(1 << 24) - 0.5;
      set(A, (size_t)i + (size_t)j * (size_t)n,
          definite && i < j ? at(A, (size_t)j + (size_t)i * (size_t)n) : value + (definite && i == j) * n);
    }
  for (int i = 0; i < n; ++i) set(b, (size_t)i, i % 7 - 3);
  double* const times = malloc((size_t)(libraries * (runs + 1)) * sizeof *times);
  double* const errors = calloc((size_t)libraries, sizeof *errors);
  for (int run = 0; run <= runs; ++run)
    for (int l = 0; l < libraries; ++l) {
      void* const library = dlopen(argv[4 + l], RTLD_NOW | RTLD_LOCAL);
      void* const routine = library ? dlsym(library, name) : NULL;
      if (!routine) return fprintf(stderr, "%s\n", dlerror()), 1;
      memcpy(factors, A, all * bytes), memcpy(x, b, (size_t)n * bytes);
      const struct timespec rest = {0, 30000000}; /* until threads of the other one sleep */
      nanosleep(&rest, NULL);
      const double start = milliseconds();
      if (definite)
        ((Definite)routine)("L", &n, &one, factors, &n, x, &n, &info, 1);
      else
        ((General)routine)(&n, &one, factors, &n, ipiv, x, &n, &info);
      times[l * (runs + 1) + run] = milliseconds() - start;
      if (info != 0) return fprintf(stderr, "INFO is %d\n", info), 1;
      if (run == 0 || run == runs) errors[l] = fmax(errors[l], error_of(n, A, x, b));
    }
  for (int l = 0; l < libraries; ++l) {
    double* const its = times + l * (runs + 1);
    qsort(its + 1, (size_t)runs, sizeof *its, ascending);
    const char* const file = strrchr(argv[4 + l], '/');
    printf("%s n=%-6d first %9.3f  least %9.3f  median %9.3f  error %5.2g  %s\n", argv[1], n, its[0], its[1],
           its[1 + runs / 2], errors[l], file ? file + 1 : argv[4 + l]);
  }
  return 0;
}
