/* Calls every name of one type, T, with integers of one width, I; F(gesv) is a name of Fortran, E(gesv) one of LAPACKE. Included by
 * names.c for each set of names. */

void F(getrf)(const I*, const I*, T*, const I*, I*, I*);
void F(getrf2)(const I*, const I*, T*, const I*, I*, I*);
void F(getrs)(const char*, const I*, const I*, const T*, const I*, const I*, T*, const I*, I*, size_t);
void F(gesv)(const I*, const I*, T*, const I*, I*, T*, const I*, I*);
void F(potrf)(const char*, const I*, T*, const I*, I*, size_t);
void F(potrf2)(const char*, const I*, T*, const I*, I*, size_t);
void F(potrs)(const char*, const I*, const I*, const T*, const I*, T*, const I*, I*, size_t);
void F(posv)(const char*, const I*, const I*, T*, const I*, T*, const I*, I*, size_t);

void F(getri)(const I*, T*, const I*, const I*, T*, const I*, I*);
void F(gecon)(const char*, const I*, const T*, const I*, const T*, T*, T*, I*, I*, size_t);
void F(gerfs)(const char*, const I*, const I*, const T*, const I*, const T*, const I*, const I*, const T*, const I*, T*,
              const I*, T*, T*, T*, I*, I*, size_t);
void F(geequ)(const I*, const I*, const T*, const I*, T*, T*, T*, T*, T*, I*);
void F(gesvx)(const char*, const char*, const I*, const I*, T*, const I*, T*, const I*, I*, char*, T*, T*, T*, const I*,
              T*, const I*, T*, T*, T*, T*, I*, I*, size_t, size_t, size_t);
void F(potri)(const char*, const I*, T*, const I*, I*, size_t);
void F(pocon)(const char*, const I*, const T*, const I*, const T*, T*, T*, I*, I*, size_t);
void F(porfs)(const char*, const I*, const I*, const T*, const I*, const T*, const I*, const T*, const I*, T*, const I*,
              T*, T*, T*, I*, I*, size_t);
void F(poequ)(const I*, const T*, const I*, T*, T*, T*, I*);
void F(posvx)(const char*, const char*, const I*, const I*, T*, const I*, T*, const I*, char*, T*, T*, const I*, T*,
              const I*, T*, T*, T*, T*, I*, I*, size_t, size_t, size_t);

/* A − P⁻¹ L U, over what roundoff allows. */
static double SET(error_of_lu)(I m, I n, const T* A, const T* LU, const I* ipiv, I ld) {
  const I k = m < n ? m : n;
  double worst = 0, scale = 0;
  double* column = malloc((size_t)m * sizeof *column);
  I i, j, l;
  for (j = 0; j < n; ++j) {
    for (i = 0; i < m; ++i) {
      double sum = 0;
      for (l = 0; l <= i && l <= j && l < k; ++l)
        sum += (l == i ? 1.0 : (double)LU[i + l * ld]) * (double)LU[l + j * ld];
      column[i] = sum;
    }
    for (l = k - 1; l >= 0; --l) {
      const double kept = column[l];
      column[l] = column[ipiv[l] - 1];
      column[ipiv[l] - 1] = kept;
    }
    for (i = 0; i < m; ++i) {
      worst = larger(worst, fabs(column[i] - (double)A[i + j * ld]));
      scale = larger(scale, fabs((double)A[i + j * ld]));
    }
  }
  free(column);
  return scale > 0 ? worst / (scale * (double)(n + 1) * ROUNDOFF) : worst;
}

/* op(A) X − B, the same. */
static double SET(error_of_x)(I n, I nrhs, int transposed, const T* A, I ld, const T* X, const T* B, I ldb) {
  double worst = 0;
  I i, j, k;
  for (k = 0; k < nrhs; ++k)
    for (i = 0; i < n; ++i) {
      double sum = 0, all = fabs((double)B[i + k * ldb]);
      for (j = 0; j < n; ++j) {
        const double a = (double)(transposed ? A[j + i * ld] : A[i + j * ld]), x = (double)X[j + k * ldb];
        sum += a * x;
        all += fabs(a * x);
      }
      worst = larger(worst, fabs(sum - (double)B[i + k * ldb]) / (all * (double)(n + 1) * ROUNDOFF));
    }
  return worst;
}

static void SET(lu)(I m, I n, I nrhs) {
  const I ld = m + 3, ldb = (m > n ? m : n) + 2;
  const size_t all = (size_t)(ld * (n > 0 ? n : 1)), all_of_B = (size_t)(ldb * nrhs);
  T *A = numbers(all), *LU = malloc(all * sizeof *LU), *B = numbers(all_of_B), *X = malloc(all_of_B * sizeof *X);
  I *ipiv = malloc((size_t)(m + n) * sizeof *ipiv), info = -7;
  memcpy(LU, A, all * sizeof *LU);
  F(getrf)(&m, &n, LU, &ld, ipiv, &info);
  expect(NAME(getrf), info == 0 && SET(error_of_lu)(m, n, A, LU, ipiv, ld) < 10);
  expect(NAME(getrf), LU[m] == A[m] && (n == 0 || LU[all - 1] == A[all - 1])); /* between the columns */
  memcpy(LU, A, all * sizeof *LU);
  F(getrf2)(&m, &n, LU, &ld, ipiv, &info);
  expect(NAME(getrf2), info == 0 && SET(error_of_lu)(m, n, A, LU, ipiv, ld) < 10);
  if (m == n) {
    memcpy(X, B, all_of_B * sizeof *X);
    F(getrs)("N", &n, &nrhs, LU, &ld, ipiv, X, &ldb, &info, 1);
    expect(NAME(getrs), info == 0 && SET(error_of_x)(n, nrhs, 0, A, ld, X, B, ldb) < 1000);
    memcpy(X, B, all_of_B * sizeof *X);
    F(getrs)("t", &n, &nrhs, LU, &ld, ipiv, X, &ldb, &info, 1);
    expect(NAME(getrs), info == 0 && SET(error_of_x)(n, nrhs, 1, A, ld, X, B, ldb) < 1000);
    memcpy(LU, A, all * sizeof *LU);
    memcpy(X, B, all_of_B * sizeof *X);
    F(gesv)(&n, &nrhs, LU, &ld, ipiv, X, &ldb, &info);
    expect(NAME(gesv), info == 0 && SET(error_of_lu)(n, n, A, LU, ipiv, ld) < 10);
    expect(NAME(gesv), SET(error_of_x)(n, nrhs, 0, A, ld, X, B, ldb) < 1000 && X[n] == B[n]);
  }
  free(A), free(LU), free(B), free(X), free(ipiv);
}

static void SET(cholesky)(const char* uplo, I n, I nrhs) {
  const I ld = n + 1, ldb = n + 2;
  const size_t all = (size_t)(ld * n), all_of_B = (size_t)(ldb * nrhs);
  const int is_lower = *uplo == 'L' || *uplo == 'l';
  T *A = numbers(all), *L = malloc(all * sizeof *L), *B = numbers(all_of_B), *X = malloc(all_of_B * sizeof *X);
  double worst;
  int way;
  I info = -7, i, j, k;
  for (j = 0; j < n; ++j) {
    A[j + j * ld] = (T)(2 * n);
    for (i = 0; i < j; ++i) A[i + j * ld] = A[j + i * ld];
  }
  for (way = 0; way < 3; ++way) {
    memcpy(L, A, all * sizeof *L);
    memcpy(X, B, all_of_B * sizeof *X);
    for (j = 0; j < n; ++j)
      for (i = 0; i < n; ++i)
        if (is_lower ? i < j : i > j) L[i + j * ld] = (T)(1000 + i); /* not to be touched */
    if (way == 0) F(potrf)(uplo, &n, L, &ld, &info, 1);
    if (way == 1) F(potrf2)(uplo, &n, L, &ld, &info, 1);
    if (way == 2) F(posv)(uplo, &n, &nrhs, L, &ld, X, &ldb, &info, 1);
    expect(NAME(potrf), info == 0);
    worst = 0;
    for (j = 0; j < n; ++j)
      for (i = 0; i < n; ++i) {
        double sum = 0;
        if (is_lower ? i < j : i > j) {
          worst = larger(worst, L[i + j * ld] == (T)(1000 + i) ? 0 : 1e9);
          continue;
        }
        for (k = 0; k <= i && k <= j; ++k)
          sum +=
              is_lower ? (double)L[i + k * ld] * (double)L[j + k * ld] : (double)L[k + i * ld] * (double)L[k + j * ld];
        worst = larger(worst, fabs(sum - (double)A[i + j * ld]) / (2 * (double)n * (double)(n + 1) * ROUNDOFF));
      }
    expect(NAME(potrf), worst < 10);
    if (way == 0) F(potrs)(uplo, &n, &nrhs, L, &ld, X, &ldb, &info, 1);
    if (way != 1)
      expect(NAME(potrs), info == 0 && SET(error_of_x)(n, nrhs, 0, A, ld, X, B, ldb) < 1000 && X[n] == B[n]);
  }
  if (n > 4) { /* which minor is not positive */
    const I bad = n - 2;
    memcpy(L, A, all * sizeof *L);
    L[(bad - 1) * (ld + 1)] = -1;
    F(potrf)(uplo, &n, L, &ld, &info, 1);
    expect(NAME(potrf), info == bad);
    memcpy(X, B, all_of_B * sizeof *X);
    memcpy(L, A, all * sizeof *L);
    L[(bad - 1) * (ld + 1)] = -1;
    F(posv)(uplo, &n, &nrhs, L, &ld, X, &ldb, &info, 1);
    expect(NAME(posv), info == bad && memcmp(X, B, all_of_B * sizeof *X) == 0);
  }
  free(A), free(L), free(B), free(X);
}

/* What comes after a factorization, and what does all of it. The systems are symmetric and well-conditioned. */
static void SET(rest)(const char* uplo, I n, I nrhs) {
  const size_t all = (size_t)(n * n), all_of_B = (size_t)(n * nrhs);
  T *A = numbers(all), *LU = malloc(all * sizeof *LU), *L = malloc(all * sizeof *L), *B = numbers(all_of_B);
  T *X = malloc(all_of_B * sizeof *X), *E = calloc(all + all_of_B, sizeof *E),
    *work = malloc((size_t)(64 * n) * sizeof *work);
  T *ferr = numbers((size_t)nrhs), *berr = numbers((size_t)nrhs), *r = numbers((size_t)n), *c = numbers((size_t)n);
  T norm = 0, rcond = -1, other = -1, ratio = 0, amax = 0;
  I *ipiv = malloc((size_t)n * sizeof *ipiv), *iwork = malloc((size_t)n * sizeof *iwork);
  I info = -7, lwork = 64 * n, i, j;
  char equed = '?';
  for (j = 0; j < n; ++j) {
    double sum = 0;
    A[j + j * n] = (T)(2 * n);
    E[j + j * n] = 1;
    for (i = 0; i < j; ++i) A[i + j * n] = A[j + i * n];
    for (i = 0; i < n; ++i) sum += fabs((double)A[i + j * n]);
    norm = (T)larger((double)norm, sum);
  }
  memcpy(LU, A, all * sizeof *LU), memcpy(L, A, all * sizeof *L), memcpy(X, B, all_of_B * sizeof *X);
  F(getrf)(&n, &n, LU, &n, ipiv, &info), F(potrf)(uplo, &n, L, &n, &info, 1);
  F(getrs)("N", &n, &nrhs, LU, &n, ipiv, X, &n, &info, 1);
  F(gecon)("1", &n, LU, &n, &norm, &rcond, work, iwork, &info, 1);
  expect(NAME(gecon), info == 0 && rcond > 0.1 && rcond <= 1.0001);
  F(pocon)(uplo, &n, L, &n, &norm, &other, work, iwork, &info, 1);
  expect(NAME(pocon), info == 0 && fabs((double)(other - rcond)) < 1e-3);
  if (all_of_B > 0) X[0] *= (T)1.001;
  F(gerfs)("T", &n, &nrhs, A, &n, LU, &n, ipiv, B, &n, X, &n, ferr, berr, work, iwork, &info, 1);
  expect(NAME(gerfs), info == 0 && SET(error_of_x)(n, nrhs, 0, A, n, X, B, n) < 2);
  expect(NAME(gerfs), berr[0] < 2 * ROUNDOFF && ferr[0] > 0 && ferr[0] < 1e5 * ROUNDOFF);
  X[0] *= (T)1.001;
  F(porfs)(uplo, &n, &nrhs, A, &n, L, &n, B, &n, X, &n, ferr, berr, work, iwork, &info, 1);
  expect(NAME(porfs), info == 0 && SET(error_of_x)(n, nrhs, 0, A, n, X, B, n) < 2 && berr[0] < 2 * ROUNDOFF);
  F(getri)(&n, LU, &n, ipiv, work, &lwork, &info);
  expect(NAME(getri), info == 0 && SET(error_of_x)(n, n, 0, A, n, LU, E, n) < 1000);
  F(potri)(uplo, &n, L, &n, &info, 1);
  for (j = 0; j < n; ++j)
    for (i = 0; i < j; ++i)
      if (*uplo == 'L')
        L[i + j * n] = L[j + i * n];
      else
        L[j + i * n] = L[i + j * n];
  expect(NAME(potri), info == 0 && SET(error_of_x)(n, n, 0, A, n, L, E, n) < 1000);
  lwork = -1;
  F(getri)(&n, NULL, &n, NULL, work, &lwork, &info); /* as SciPy asks */
  expect(NAME(getri), info == 0 && work[0] >= (T)n);

  F(geequ)(&n, &n, A, &n, r, c, &ratio, &other, &amax, &info);
  expect(NAME(geequ), info == 0 && amax == (T)(2 * n) && ratio == 1 && r[n - 1] == 1 / (T)(2 * n));
  F(poequ)(&n, A, &n, r, &ratio, &amax, &info);
  expect(NAME(poequ), info == 0 && amax == (T)(2 * n) && ratio == 1);
  for (i = 0; i < n; ++i) A[i] *= (T)1e-6; /* the first column */
  memcpy(LU, A, all * sizeof *LU), memcpy(E, B, all_of_B * sizeof *E);
  F(gesvx)
  ("E", "N", &n, &nrhs, LU, &n, L, &n, ipiv, &equed, r, c, E, &n, X, &n, &rcond, ferr, berr, work, iwork, &info, 1, 1,
   1);
  expect(NAME(gesvx), info == 0 && (n == 1 || equed != 'N') && SET(error_of_x)(n, nrhs, 0, A, n, X, B, n) < 1000);
  expect(NAME(gesvx), rcond > 0.01 && work[0] > 0.01);
  for (i = 0; i < n; ++i) A[i] *= (T)1e6, A[i] = A[i * n] * (T)1e-3, A[i * n] = A[i];
  A[0] *= (T)1e-3;
  memcpy(LU, A, all * sizeof *LU), memcpy(E, B, all_of_B * sizeof *E);
  F(posvx)
  ("E", uplo, &n, &nrhs, LU, &n, L, &n, &equed, r, E, &n, X, &n, &rcond, ferr, berr, work, iwork, &info, 1, 1, 1);
  expect(NAME(posvx), info == 0 && (n == 1 || equed == 'Y') && SET(error_of_x)(n, nrhs, 0, A, n, X, B, n) < 1000);
  free(A), free(LU), free(L), free(B), free(X), free(E), free(work), free(ferr), free(berr), free(r), free(c);
  free(ipiv), free(iwork);
}

/* A column of zeros: the first of them is named, and the others are factored all the same. */
static void SET(singular)(I n) {
  const size_t all = (size_t)(n * n);
  T *A = numbers(all), *LU = malloc(all * sizeof *LU), *X = numbers((size_t)n);
  I *ipiv = malloc((size_t)n * sizeof *ipiv), info = -7, i;
  const I one = 1, zero = n / 3, other = n - 2;
  for (i = 0; i < n; ++i) A[i + zero * n] = A[i + other * n] = 0;
  memcpy(LU, A, all * sizeof *LU);
  F(getrf)(&n, &n, LU, &n, ipiv, &info);
  expect(NAME(getrf), info == zero + 1 && SET(error_of_lu)(n, n, A, LU, ipiv, n) < 10);
  memcpy(LU, A, all * sizeof *LU);
  F(gesv)(&n, &one, LU, &n, ipiv, X, &n, &info);
  expect(NAME(gesv), info == zero + 1);
  free(A), free(LU), free(X), free(ipiv);
}

/* What is wrong is said to XERBLA, with the name and the argument. */
static void SET(complaints)(void) {
  T a[4] = {1, 0, 0, 1}, b[2] = {1, 1};
  I two = 2, one = 1, minus = -1, ipiv[2] = {1, 2}, info;
  F(getrf)(&minus, &two, a, &two, ipiv, &info), complained(NAME(getrf), 1, (int)info);
  F(getrf)(&two, &minus, a, &two, ipiv, &info), complained(NAME(getrf), 2, (int)info);
  F(getrf)(&two, &two, a, &one, ipiv, &info), complained(NAME(getrf), 4, (int)info);
  F(getrf2)(&two, &two, a, &one, ipiv, &info), complained(NAME(getrf2), 4, (int)info);
  F(getrs)("x", &two, &one, a, &two, ipiv, b, &two, &info, 1), complained(NAME(getrs), 1, (int)info);
  F(getrs)("N", &two, &one, a, &one, ipiv, b, &two, &info, 1), complained(NAME(getrs), 5, (int)info);
  F(getrs)("N", &two, &one, a, &two, ipiv, b, &one, &info, 1), complained(NAME(getrs), 8, (int)info);
  F(gesv)(&minus, &one, a, &two, ipiv, b, &two, &info), complained(NAME(gesv), 1, (int)info);
  F(gesv)(&two, &minus, a, &two, ipiv, b, &two, &info), complained(NAME(gesv), 2, (int)info);
  F(gesv)(&two, &one, a, &one, ipiv, b, &two, &info), complained(NAME(gesv), 4, (int)info);
  F(gesv)(&two, &one, a, &two, ipiv, b, &one, &info), complained(NAME(gesv), 7, (int)info);
  F(potrf)("/", &two, a, &two, &info, 1), complained(NAME(potrf), 1, (int)info);
  F(potrf)("U", &two, a, &one, &info, 1), complained(NAME(potrf), 4, (int)info);
  F(potrf2)("U", &minus, a, &one, &info, 1), complained(NAME(potrf2), 2, (int)info);
  F(potrs)("U", &two, &one, a, &two, b, &one, &info, 1), complained(NAME(potrs), 7, (int)info);
  F(posv)("U", &two, &one, a, &one, b, &two, &info, 1), complained(NAME(posv), 5, (int)info);
  F(getri)(&two, a, &two, ipiv, b, &one, &info), complained(NAME(getri), 6, (int)info);
  F(potri)("x", &two, a, &two, &info, 1), complained(NAME(potri), 1, (int)info);
  F(gecon)("2", &two, a, &two, b, b, a, ipiv, &info, 1), complained(NAME(gecon), 1, (int)info);
  {
    T less = -1, r[2] = {0, 0}, x[2], f[1], work[8];
    char equed = '/';
    F(gecon)("I", &two, a, &two, &less, x, work, ipiv, &info, 1), complained(NAME(gecon), 5, (int)info);
    F(pocon)("U", &two, a, &two, &less, x, work, ipiv, &info, 1), complained(NAME(pocon), 5, (int)info);
    F(gesvx)
    ("F", "N", &two, &one, a, &two, a, &two, ipiv, &equed, r, r, b, &two, x, &two, f, f, f, work, ipiv, &info, 1, 1, 1),
        complained(NAME(gesvx), 10, (int)info);
    equed = 'r';
    F(gesvx)
    ("F", "N", &two, &one, a, &two, a, &two, ipiv, &equed, r, r, b, &two, x, &two, f, f, f, work, ipiv, &info, 1, 1, 1),
        complained(NAME(gesvx), 11, (int)info);
    F(posvx)("F", "U", &two, &one, a, &two, a, &two, &equed, r, b, &two, x, &two, f, f, f, work, ipiv, &info, 1, 1, 1);
    complained(NAME(posvx), 9, (int)info);
  }
  expect(NAME(gesv), a[0] == 1 && a[1] == 0 && a[3] == 1 && b[0] == 1);
}

/* Matrices with NaN or an infinity have no condition number, which is no fault of an argument. */
static void SET(no_condition)(void) {
  const I two = 2;
  const T none[] = {(T)NAN, (T)INFINITY};
  int k;
  for (k = 0; k < 2; ++k) {
    T a[4], x[2] = {0, 0}, work[8];
    I ipiv[2], info = -7, i;
    for (i = 0; i < 4; ++i) a[i] = none[k];
    F(getrf)(&two, &two, a, &two, ipiv, &info);
    F(gecon)("1", &two, a, &two, &none[k], x, work, ipiv, &info, 1);
    F(pocon)("U", &two, a, &two, &none[k], x + 1, work, ipiv, &info, 1);
    expect(NAME(gecon), info == 0 && said == 0 && isnan(x[0]) && isnan(x[1]));
  }
}

static void SET(all)(void) {
  static const int orders[] = {0, 1, 2, 7, 65, 150};
  int k;
  for (k = 0; k < 6; ++k) {
    const I n = orders[k];
    SET(lu)(n, n, 3);
    SET(lu)(n, n, 1);
    SET(lu)(n + 40, n, 1);
    SET(lu)(n, n + 40, 1);
    if (n == 0) continue;
    SET(rest)("L", n, 2);
    SET(rest)("U", n, 1);
    SET(cholesky)("L", n, 3);
    SET(cholesky)("U", n, 1);
    SET(cholesky)("u", n, 9);
  }
  SET(singular)(30);
  SET(singular)(140);
  SET(complaints)();
  SET(no_condition)();
}
#undef T
#undef I
#undef F
#undef SET
#undef NAME
#undef ROUNDOFF
