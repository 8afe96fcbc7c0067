#include <lasolve/lasolve.h>
#include <stdio.h>

/* Solves [2 1; 1 3] x = [3; 5], of which the solution is [0.8; 1.4]. */
int main(void) {
  const double A[4] = {2, 1, 1, 3}, b[2] = {3, 5};
  double x[2];
  const lasolve_status status = lasolve_dsolve(2, 1, A, 2, b, 2, x, 2, NULL, NULL);
  printf("lasolve %s: x = (%g, %g)\n", lasolve_version(), x[0], x[1]);
  return status;
}
