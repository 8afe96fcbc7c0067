/* What the C programs in this folder check with. */
#ifndef LASOLVE_TESTS_C_CHECK_H
#define LASOLVE_TESTS_C_CHECK_H

#include <lasolve/lasolve.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed = 0;

static void check(int right, const char* what, int line) {
  if (right) return;
  printf("line %d: not so: %s (last error: %s)\n", line, what, lasolve_last_error());
  failed = 1;
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

static int says(const char* words) { return strstr(lasolve_last_error(), words) != NULL; }

static int is_one_sentence(void) {
  return strchr(lasolve_last_error(), '\n') == NULL && strlen(lasolve_last_error()) < 250;
}

static int is(const double* x, double x0, double x1) { return fabs(x[0] - x0) < 1e-14 && fabs(x[1] - x1) < 1e-14; }

#endif
