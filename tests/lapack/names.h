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
  const size_t all = (size_t)(ld * (n > 0 ? n : 1)), sides = (size_t)(ldb * nrhs);
  T *A = numbers(all), *LU = malloc(all * sizeof *LU), *B = numbers(sides), *X = malloc(sides * sizeof *X);
  I *ipiv = malloc((size_t)(m + n) * sizeof *ipiv), info = -7;
  memcpy(LU, A, all * sizeof *LU);
  F(getrf)(&m, &n, LU, &ld, ipiv, &info);
  expect(NAME(getrf), info == 0 && SET(error_of_lu)(m, n, A, LU, ipiv, ld) < 10);
  expect(NAME(getrf), LU[m] == A[m] && (n == 0 || LU[all - 1] == A[all - 1])); /* between the columns */
  memcpy(LU, A, all * sizeof *LU);
  F(getrf2)(&m, &n, LU, &ld, ipiv, &info);
  expect(NAME(getrf2), info == 0 && SET(error_of_lu)(m, n, A, LU, ipiv, ld) < 10);
  if (m == n) {
    memcpy(X, B, sides * sizeof *X);
    F(getrs)("N", &n, &nrhs, LU, &ld, ipiv, X, &ldb, &info, 1);
    expect(NAME(getrs), info == 0 && SET(error_of_x)(n, nrhs, 0, A, ld, X, B, ldb) < 1000);
    memcpy(X, B, sides * sizeof *X);
    F(getrs)("t", &n, &nrhs, LU, &ld, ipiv, X, &ldb, &info, 1);
    expect(NAME(getrs), info == 0 && SET(error_of_x)(n, nrhs, 1, A, ld, X, B, ldb) < 1000);
    memcpy(LU, A, all * sizeof *LU);
    memcpy(X, B, sides * sizeof *X);
    F(gesv)(&n, &nrhs, LU, &ld, ipiv, X, &ldb, &info);
    expect(NAME(gesv), info == 0 && SET(error_of_lu)(n, n, A, LU, ipiv, ld) < 10);
    expect(NAME(gesv), SET(error_of_x)(n, nrhs, 0, A, ld, X, B, ldb) < 1000 && X[n] == B[n]);
  }
  free(A), free(LU), free(B), free(X), free(ipiv);
}

static void SET(cholesky)(const char* uplo, I n, I nrhs) {
  const I ld = n + 1, ldb = n + 2;
  const size_t all = (size_t)(ld * n), sides = (size_t)(ldb * nrhs);
  const int is_lower = *uplo == 'L' || *uplo == 'l';
  T *A = numbers(all), *L = malloc(all * sizeof *L), *B = numbers(sides), *X = malloc(sides * sizeof *X);
  double worst;
  int way;
  I info = -7, i, j, k;
  for (j = 0; j < n; ++j) {
    A[j + j * ld] = (T)(2 * n);
    for (i = 0; i < j; ++i) A[i + j * ld] = A[j + i * ld];
  }
  for (way = 0; way < 3; ++way) {
    memcpy(L, A, all * sizeof *L);
    memcpy(X, B, sides * sizeof *X);
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
    memcpy(X, B, sides * sizeof *X);
    memcpy(L, A, all * sizeof *L);
    L[(bad - 1) * (ld + 1)] = -1;
    F(posv)(uplo, &n, &nrhs, L, &ld, X, &ldb, &info, 1);
    expect(NAME(posv), info == bad && memcmp(X, B, sides * sizeof *X) == 0);
  }
  free(A), free(L), free(B), free(X);
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
  expect(NAME(gesv), a[0] == 1 && a[1] == 0 && a[3] == 1 && b[0] == 1);
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
    SET(cholesky)("L", n, 3);
    SET(cholesky)("U", n, 1);
    SET(cholesky)("u", n, 9);
  }
  SET(singular)(30);
  SET(singular)(140);
  SET(complaints)();
}
#undef T
#undef I
#undef F
#undef SET
#undef NAME
#undef ROUNDOFF
