/* Names of LAPACKE, by rows and by columns. Included by names.c. */

int32_t LAPACKE_dgesv(int, int32_t, int32_t, double*, int32_t, int32_t*, double*, int32_t);
int32_t LAPACKE_dgesv_work(int, int32_t, int32_t, double*, int32_t, int32_t*, double*, int32_t);
int64_t LAPACKE_sgesv_64(int, int64_t, int64_t, float*, int64_t, int64_t*, float*, int64_t);
int32_t LAPACKE_dgetrf(int, int32_t, int32_t, double*, int32_t, int32_t*);
int32_t LAPACKE_dgetrs(int, char, int32_t, int32_t, const double*, int32_t, const int32_t*, double*, int32_t);
int64_t LAPACKE_dpotrf_64(int, char, int64_t, double*, int64_t);
int32_t LAPACKE_dposv(int, char, int32_t, int32_t, double*, int32_t, double*, int32_t);
int32_t LAPACKE_spotrs(int, char, int32_t, int32_t, const float*, int32_t, float*, int32_t);

int32_t LAPACKE_dgetri(int, int32_t, double*, int32_t, const int32_t*);
int32_t LAPACKE_dgecon(int, char, int32_t, const double*, int32_t, double, double*);
int32_t LAPACKE_dgesvx(int, char, char, int32_t, int32_t, double*, int32_t, double*, int32_t, int32_t*, char*, double*,
                       double*, double*, int32_t, double*, int32_t, double*, double*, double*, double*);

enum { by_rows = 101, by_columns = 102 };

/* A by rows, 3 × 3 in rows of 5, and its solution for b = A (1, 2, 3), with a second column behind it. */
static const double rows[15] = {0, 2, 1, -7, -7, 4, 1, 0, -7, -7, 1, 1, 5, -7, -7};
static const double side[6] = {7, 14, 6, 12, 18, 36};

static int is_solution(const double* X) {
  int i, right = 1;
  for (i = 0; i < 3; ++i) right &= fabs(X[2 * i] - (i + 1)) < 1e-13 && fabs(X[2 * i + 1] - 2 * (i + 1)) < 1e-13;
  return right;
}

static void lapacke(void) {
  double A[15], B[6];
  int32_t ipiv[3];
  memcpy(A, rows, sizeof A), memcpy(B, side, sizeof B);
  expect("LAPACKE_dgesv", LAPACKE_dgesv(by_rows, 3, 2, A, 5, ipiv, B, 2) == 0 && is_solution(B));
  expect("LAPACKE_dgesv", ipiv[0] == 2 && A[0] == 4 && A[1] == 1 && A[5] == 0 && A[6] == 2 && A[3] == -7);
  memcpy(A, rows, sizeof A), memcpy(B, side, sizeof B);
  expect("LAPACKE_dgesv_work", LAPACKE_dgesv_work(by_rows, 3, 2, A, 5, ipiv, B, 2) == 0 && is_solution(B));
  memcpy(A, rows, sizeof A), memcpy(B, side, sizeof B);
  expect("LAPACKE_dgetrf", LAPACKE_dgetrf(by_rows, 3, 3, A, 5, ipiv) == 0);
  expect("LAPACKE_dgetrs", LAPACKE_dgetrs(by_rows, 'N', 3, 2, A, 5, ipiv, B, 2) == 0 && is_solution(B));
  {
    double AF[9], X[6], r[3], c[3], ferr[2], berr[2], rcond = 0, growth = 0;
    char equed = '?';
    expect("LAPACKE_dgecon", LAPACKE_dgecon(by_rows, '1', 3, A, 5, 6, &rcond) == 0 && rcond > 0.01 && rcond < 1);
    expect("LAPACKE_dgetri", LAPACKE_dgetri(by_rows, 3, A, 5, ipiv) == 0 && A[4] == -7);
    expect("LAPACKE_dgetri", fabs(A[0] * rows[0] + A[1] * rows[5] + A[2] * rows[10] - 1) < 1e-15);
    expect("LAPACKE_dgetri", fabs(A[0] * rows[1] + A[1] * rows[6] + A[2] * rows[11]) < 1e-15);
    memcpy(A, rows, sizeof A), memcpy(B, side, sizeof B);
    expect("LAPACKE_dgesvx", LAPACKE_dgesvx(by_rows, 'E', 'N', 3, 2, A, 5, AF, 3, ipiv, &equed, r, c, B, 2, X, 2,
                                            &rcond, ferr, berr, &growth) == 0 &&
                                 is_solution(X) && growth > 0.1 && equed == 'N');
  }
  {
    float a[4] = {2, 1, 0, 4}, b[2] = {4, 8}; /* by columns */
    int64_t p[2];
    expect("LAPACKE_sgesv_64", LAPACKE_sgesv_64(by_columns, 2, 1, a, 2, p, b, 2) == 0 && p[0] == 1 && b[0] == 2);
    expect("LAPACKE_sgesv_64", b[1] == 1.5f);
  }
  {
    double a[4] = {4, 2, -7, 10},
           b[2] = {8, 22}; /* [4 2; 2 10], the upper triangle by rows, which is not touched below */
    expect("LAPACKE_dpotrf_64", LAPACKE_dpotrf_64(by_rows, 'U', 2, a, 2) == 0);
    expect("LAPACKE_dpotrf_64", a[0] == 2 && a[1] == 1 && a[2] == -7 && a[3] == 3);
    a[0] = 4, a[1] = 2, a[3] = 10;
    expect("LAPACKE_dposv", LAPACKE_dposv(by_rows, 'u', 2, 1, a, 2, b, 1) == 0 && fabs(b[0] - 1) < 1e-15);
    expect("LAPACKE_dposv", fabs(b[1] - 2) < 1e-15 && a[2] == -7);
    a[3] = -1, a[0] = 4, a[1] = 2;
    expect("LAPACKE_dposv", LAPACKE_dposv(by_rows, 'U', 2, 1, a, 2, b, 1) == 2);
  }
  {
    const float L[4] = {2, -7, 1, 3}; /* by rows */
    float b[2] = {8, 22};
    expect("LAPACKE_spotrs", LAPACKE_spotrs(by_rows, 'L', 2, 1, L, 2, b, 1) == 0 && fabsf(b[1] - 2) < 1e-6f);
  }
  memcpy(A, rows, sizeof A);
  expect("LAPACKE_dgesv", LAPACKE_dgesv(7, 3, 2, A, 5, ipiv, B, 2) == -1);
  expect("LAPACKE_dgesv", LAPACKE_dgesv(by_rows, 3, 2, A, 2, ipiv, B, 2) == -5);
  expect("LAPACKE_dgesv", LAPACKE_dgesv(by_rows, 3, 2, A, 5, ipiv, B, 1) == -8);
  expect("LAPACKE_dgesv", LAPACKE_dgesv(by_columns, -1, 2, A, 5, ipiv, B, 1) == -2 && said == 1);
}
