// What is called of ScaLAPACK, BLACS and, where it is the BLAS, OpenBLAS: none of them has a header.
#pragma once

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);

[[gnu::weak]] void openblas_set_num_threads(int);

#define LASOLVE_SCALAPACK(T, p)                                                                                       \
  void p##getrf_(const int* m, const int* n, T* A, const int* ia, const int* ja, const int* desc, int* pivots, int*); \
  void p##getrs_(const char* op, const int* n, const int* nrhs, const T* A, const int* ia, const int* ja,             \
                 const int* desc, const int* pivots, T* B, const int* ib, const int* jb, const int* of_B, int*);      \
  void p##potrf_(const char* uplo, const int* n, T* A, const int* ia, const int* ja, const int* desc, int*);          \
  void p##potrs_(const char* uplo, const int* n, const int* nrhs, const T* A, const int* ia, const int* ja,           \
                 const int* desc, T* B, const int* ib, const int* jb, const int* of_B, int*);
LASOLVE_SCALAPACK(double, pd)
LASOLVE_SCALAPACK(float, ps)
#undef LASOLVE_SCALAPACK
}

namespace lasolve::engines {

/// The routines of an element type.
template <class T>
struct Fortran;
template <>
struct Fortran<double> {
  static constexpr auto getrf = pdgetrf_;
  static constexpr auto getrs = pdgetrs_;
  static constexpr auto potrf = pdpotrf_;
  static constexpr auto potrs = pdpotrs_;
};
template <>
struct Fortran<float> {
  static constexpr auto getrf = psgetrf_;
  static constexpr auto getrs = psgetrs_;
  static constexpr auto potrf = pspotrf_;
  static constexpr auto potrs = pspotrs_;
};

}  // namespace lasolve::engines
