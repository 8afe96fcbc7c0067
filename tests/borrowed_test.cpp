// What programs have, in any order, with any strides, of other libraries; and what a factorization is beside what it solves.
#include <Eigen/Dense>
#include <numeric>
#include <vector>

#include "devices.hpp"
#include "lasolve/dlpack.hpp"
#include "lasolve/triangular.hpp"
#include "systems.hpp"

namespace lasolve::test::borrowed_test {
namespace {

using Columns = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Gaps = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
constexpr Eigen::Index n = 40;

Options on_cpu() {
  Options o;
  o.device.kind = Device::cpu;
  return o;
}

/// The members of a std::mdspan.
template <class T, std::size_t dimensions>
struct Mdspan {
  T* data;
  std::ptrdiff_t extents[dimensions], strides[dimensions];
  static constexpr std::size_t rank() { return dimensions; }
  T* data_handle() const { return data; }
  std::ptrdiff_t extent(std::size_t i) const { return extents[i]; }
  std::ptrdiff_t stride(std::size_t i) const { return strides[i]; }
};

/// Those of DLPack's structures.
struct Tensor {
  void* data;
  struct {
    int device_type, device_id;
  } device = {1, 0};
  int ndim = 2;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype = {2, 64, 1};
  std::int64_t *shape, *strides = nullptr;
  std::uint64_t byte_offset = 0;
};
struct Managed {
  Tensor dl_tensor;
  void *manager_ctx, (*deleter)(Managed*);
};
struct Versioned {
  struct {
    std::uint32_t major, minor;
  } version;
  void *manager_ctx, (*deleter)(Versioned*);
  std::uint64_t flags;
  Tensor dl_tensor;
};

class BorrowedMatrix : public testing::Test {
 protected:
  void expect_solved(const Columns& X, const Columns& op_A) { EXPECT_LT((op_A * X - B).norm(), 1e-10); }
  Columns A = Columns::Random(n, n) + Columns::Identity(n, n) * 5, B = Columns::Random(n, 3), X = Columns::Zero(n, 3);
};

TEST_F(BorrowedMatrix, has_any_strides_and_is_copied_where_no_view_is_left) {
  std::vector<double> a(std::size_t(4 * n * n), 7), b(std::size_t(12 * n), 7), x(std::size_t(12 * n), 7);
  const Eigen::Map<Columns, 0, Gaps> spread(a.data(), n, n, Gaps(3 * n, 2)), rhs(b.data(), n, 3, Gaps(2, 8)),
      rows(b.data(), n, 3, Gaps(1, 4));
  Eigen::Map<Columns, 0, Gaps> there(x.data(), n, 3, Gaps(2, 8));
  Eigen::Map<Columns, 0, Gaps>(a.data(), n, n, Gaps(3 * n, 2)) = A;
  Eigen::Map<Columns, 0, Gaps>(b.data(), n, 3, Gaps(2, 8)) = B;
  for (const Op op : {Op::none, Op::transpose}) {
    EXPECT_TRUE(solve(spread, rhs, there, on_cpu(), op).outcome.ok());
    expect_solved(there, op == Op::none ? A : Columns(A.transpose()));
    EXPECT_TRUE(Factorization<double>(spread, on_cpu()).solve(B, there, op).outcome.ok());
    expect_solved(there, op == Op::none ? A : Columns(A.transpose()));
  }
  EXPECT_EQ(std::count(x.begin(), x.end(), 7), 12 * n - 3 * n) << "gaps are written to";
  Columns reversed = A.colwise().reverse();
  const Borrowed<const double> upside_down(&reversed(n - 1, 0), n, n, -1, n);
  EXPECT_TRUE(solve(upside_down, B, X, on_cpu()).outcome.ok());
  expect_solved(X, A);
  const double one = 1;
  EXPECT_TRUE(solve(A, Borrowed<const double>(&one, n, 3, 0, 0), X, on_cpu()).outcome.ok());
  EXPECT_LT((A * X - Columns::Ones(n, 3)).norm(), 1e-10);
}

TEST_F(BorrowedMatrix, is_not_written_to_where_its_elements_are_the_same) {
  double x[3 * n];
  const auto refuses = [&](std::int64_t row_stride, std::int64_t column_stride) {
    const Borrowed<double> into(x, n, 3, row_stride, column_stride);
    return says(complaint_of<std::invalid_argument>([&] { solve(A, B, into, on_cpu()); }), "in the same place");
  };
  EXPECT_TRUE(refuses(0, n) && refuses(1, 0) && refuses(1, 1) && refuses(2, 1));
  EXPECT_TRUE(solve(A, B, Borrowed<double>(x, n, 3, 3, 1), on_cpu()).outcome.ok());
}

TEST_F(BorrowedMatrix, takes_B_and_X_in_different_orders_and_overlapping_in_rows) {
  Rows in_rows(n, 3);
  EXPECT_TRUE(solve(A, Rows(B), X, on_cpu()).outcome.ok());
  expect_solved(X, A);
  EXPECT_TRUE(solve(A, B, in_rows, on_cpu()).outcome.ok());
  expect_solved(in_rows, A);
}

TEST_F(BorrowedMatrix, is_an_mdspan) {
  const Rows in_rows = A;
  std::vector<double> spread(std::size_t(3 * n * n)), x(std::size_t{n});
  Eigen::Map<Columns, 0, Gaps>(spread.data(), n, n, Gaps(3 * n, 2)) = A;
  const Mdspan<const double, 2> left{A.data(), {n, n}, {1, n}}, right{in_rows.data(), {n, n}, {n, 1}},
      strided{spread.data(), {n, n}, {2, 3 * n}};
  const Mdspan<double, 2> to{X.data(), {n, 3}, {1, n}};
  for (const auto& of : {left, right, strided}) {
    EXPECT_TRUE(solve(of, B, to, on_cpu()).outcome.ok());
    expect_solved(X, A);
  }
  const Mdspan<double, 1> column{x.data(), {n}, {1}};
  EXPECT_TRUE(solve(left, B.col(0), column, on_cpu()).outcome.ok());
  EXPECT_LT((A * Eigen::Map<Eigen::VectorXd>(x.data(), n) - B.col(0)).norm(), 1e-10);
  EXPECT_FALSE((BorrowedAs<Mdspan<double, 3>&, double>));
  const Borrowed<const double> there = Borrowed<const double>(left).in_device_memory();
  if (!cuda_devices().names.empty()) return;
  EXPECT_TRUE(says(complaint_of<MachineError>([&] { Factorization<double>{there}; }), "no CUDA device"));
}

TEST_F(BorrowedMatrix, is_a_tensor_of_DLPack) {
  const Rows in_rows = A;
  std::int64_t square[] = {n, n}, by_columns[] = {1, n}, length[] = {n};
  Tensor tensor{.data = const_cast<double*>(in_rows.data()), .shape = square};
  EXPECT_TRUE(solve(from_dlpack<const double>(tensor), B, X, on_cpu()).outcome.ok());
  expect_solved(X, A);
  tensor.data = A.data() - 2, tensor.byte_offset = 16, tensor.strides = by_columns;
  Managed managed{tensor, nullptr, nullptr};
  EXPECT_TRUE(solve(from_dlpack<const double>(managed), B, X, on_cpu()).outcome.ok());
  expect_solved(X, A);
  Columns x(n, 1);
  Versioned to{{1, 1}, nullptr, nullptr, 0, {.data = x.data(), .ndim = 1, .shape = length}};
  EXPECT_TRUE(solve(A, B.col(0), from_dlpack<double>(to), on_cpu()).outcome.ok());
  EXPECT_LT((A * x - B.col(0)).norm(), 1e-10);

  const auto refused = [](auto given) {
    return complaint_of<std::invalid_argument>([&] { from_dlpack<double>(given); });
  };
  to.flags = 1;
  EXPECT_TRUE(says(refused(to), "read-only"));
  EXPECT_EQ(from_dlpack<const double>(to).rows(), n);
  to.version.major = 2;
  EXPECT_TRUE(says(refused(to), "major version"));
  managed.dl_tensor.dtype.bits = 32;
  EXPECT_TRUE(says(refused(managed), "float64"));
  tensor.device.device_type = 10;
  EXPECT_TRUE(says(refused(tensor), "neither the host nor one of CUDA"));
  tensor.device.device_type = 2;
  EXPECT_TRUE(from_dlpack<double>(tensor).on_cuda());
  tensor.ndim = 3;
  EXPECT_TRUE(says(refused(tensor), "one dimension"));
}

/// As a function that is given a part of something cannot know how long that lives.
Factorization<double> factored(const Eigen::Ref<const Columns>& of) {
  return Factorization<double>::copy_of(of, on_cpu());
}

TEST_F(BorrowedMatrix, is_kept_as_a_copy_that_checks_and_refines) {
  const Columns before = A;
  Factorization<double> copied = factored(A), of_temporary(Columns(A + A), on_cpu());
  Options o = on_cpu();
  o.refine = Refine::classical;
  auto coarse = o;
  coarse.precision = Precision::fp32;
  Factorization<double> refines = Factorization<double>::copy_of(A, o),
                        refines_more = Factorization<double>::copy_of(Rows(A), coarse);
  A.setConstant(std::nan(""));
  for (Factorization<double>* factors : {&copied, &refines, &refines_more}) {
    const Report report = factors->solve(B, X);
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_TRUE(report.backward_error.has_value());
    expect_solved(X, before);
    EXPECT_GT(factors->rcond(), 0);
  }
  EXPECT_TRUE(of_temporary.solve(B, X).outcome.ok());
  expect_solved(X, 2 * before);
}

using FactorsAsSuch = OnTarget;

/// ‖A − B‖ over that of A, by the largest entries.
template <class M, class N>
double difference(const M& A, const N& B) {
  return double((A - B).cwiseAbs().maxCoeff() / A.cwiseAbs().maxCoeff());
}
template <class T>
Matrix<T> positive_definite(std::int64_t order) {
  return matrix_of<T>(order, order,
                      [order](auto i, auto j) { return i == j ? double(order) : 1 / (1.0 + double(i + j)); });
}
template <class T>
auto permuted(const Matrix<T>& A, const std::vector<std::int64_t>& rows) {
  Matrix<T> P_A(A.rows(), A.cols());
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) P_A(i, j) = A(rows[std::size_t(i)], j);
  return P_A;
}

TEST_P(FactorsAsSuch, are_those_of_A_and_have_its_determinant) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const double bound = 50 * unit_roundoff<T>;
    for (const std::int64_t order : {1, 2, 7, 60, 300, 700})
      for (const bool symmetric : {false, true}) {
        SCOPED_TRACE(testing::Message() << order << (symmetric ? ", symmetric" : ""));
        const Matrix<T> A = symmetric ? positive_definite<T>(order) : random_matrix<T>(order, order);
        Factorization<T> factors(A.view(), options());
        const Matrix<T> L = factors.L(), U = factors.U(), P_A = permuted(A, factors.permutation());
        EXPECT_LT(difference(as_eigen(P_A.view()), (as_eigen(L.view()) * as_eigen(U.view())).eval()),
                  double(order) * bound);
        EXPECT_EQ(as_eigen(L.view()).template triangularView<Eigen::StrictlyUpper>().toDenseMatrix().norm(), 0);
        EXPECT_EQ(as_eigen(U.view()).template triangularView<Eigen::StrictlyLower>().toDenseMatrix().norm(), 0);
        const Eigen::PartialPivLU<Columns> its(as_eigen(A.view()).template cast<double>());
        const auto diagonal = its.matrixLU().diagonal();
        const auto [log_abs, sign] = factors.log_abs_det();
        EXPECT_NEAR(log_abs, diagonal.array().abs().log().sum(), 1e4 * bound * double(order));
        EXPECT_EQ(sign, (its.permutationP().determinant() > 0) == (diagonal.array().sign().prod() > 0) ? 1 : -1);
      }
  });
}

TEST_P(FactorsAsSuch, are_applied_and_undone) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t order : {3, 256, 300, 600})
      for (const bool symmetric : {false, true}) {
        const Matrix<T> A = symmetric ? positive_definite<T>(order) : random_matrix<T>(order, order),
                        B = random_matrix<T>(order, 3);
        Factorization<T> factors(A.view(), options());
        Matrix<T> X(order, 3), Y(order, 3);
        for (const Factor which : {Factor::L, Factor::U})
          for (const Op op : {Op::none, Op::transpose}) {
            SCOPED_TRACE(testing::Message() << order << symmetric << int(which) << int(op));
            const Matrix<T> F = which == Factor::L ? factors.L() : factors.U();
            factors.multiply_by(which, B, X, op);
            const auto f = as_eigen(F.view());
            using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
            const Dense op_f = op == Op::none ? Dense(f) : Dense(f.transpose());
            EXPECT_LT(difference(Dense(op_f * as_eigen(B.view())), as_eigen(X.view())), 100 * unit_roundoff<T>);
            factors.solve_with(which, X, Y, op);
            factors.multiply_by(which, Y, row_major(X.data(), order, 3), op);  // by rows
            factors.multiply_by(which, Y, X, op);
            factors.solve_with(which, X, X, op);
            EXPECT_LT(difference(as_eigen(Y.view()), as_eigen(X.view())), 1e-2);
          }
      }
  });
}

TEST_P(FactorsAsSuch, of_rows_are_those_of_the_transpose) {
  const Matrix<double> A = random_matrix<double>(50, 50);
  Matrix<double> A_transposed(50, 50);
  as_eigen(A_transposed.view()) = as_eigen(A.view()).transpose();
  Factorization<double> by_rows(row_major(A.data(), 50, 50), options()), by_columns(A.view(), options());
  EXPECT_EQ(by_rows.pivots(), by_columns.pivots());
  EXPECT_EQ(by_rows.log_abs_det().log_abs, by_columns.log_abs_det().log_abs);
}

TEST_P(FactorsAsSuch, of_a_matrix_without_any_or_of_coarser_ones_are_refused) {
  const auto complaint = [](auto call) { return complaint_of<std::invalid_argument>(call); };
  for (const std::int64_t order : {5, 90}) {
    Matrix<double> A = random_matrix<double>(order, order);
    as_eigen(A.view()).col(order / 2).setZero();
    Factorization<double> singular(A.view(), options());
    EXPECT_EQ(singular.log_abs_det().sign, 0);
    EXPECT_EQ(singular.log_abs_det().log_abs, -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(says(complaint([&] { singular.L(); }), "there are no factors of A"));
    Options o = options();
    o.factorization = Method::cholesky;
    const Matrix<double> indefinite = matrix_of<double>(order, order, [](auto i, auto j) { return i == j ? 1 : 2; });
    Factorization<double> no_cholesky(indefinite.view(), o);
    EXPECT_EQ(no_cholesky.log_abs_det().sign, 0);
    EXPECT_TRUE(std::isnan(no_cholesky.log_abs_det().log_abs));
  }
  Options o = options();
  o.precision = Precision::fp32;
  const Matrix<double> A = positive_definite<double>(90);
  Factorization<double> coarse(A.view(), o);
  EXPECT_TRUE(says(complaint([&] { coarse.L(); }), "as fine as A"));
  const LogDeterminant of_coarse = coarse.log_abs_det(),
                       of_fine = Factorization<double>(A.view(), options()).log_abs_det();
  EXPECT_EQ(of_coarse.log_abs, of_fine.log_abs) << "A is factored once more";
  EXPECT_EQ(of_coarse.sign, of_fine.sign);
  EXPECT_EQ(coarse.report().precision, Precision::fp32);
  o.refine = Refine::none;
  Factorization<double> unrefined(A.view(), o);
  EXPECT_TRUE(says(complaint([&] { unrefined.log_abs_det(); }), "as fine as A"));
  Factorization<double> factors(A.view(), options());
  Matrix<double> B = random_matrix<double>(90, 1);
  EXPECT_TRUE(says(complaint([&] { factors.multiply_by(Factor::L, B, B); }), "memory of its own"));
  EXPECT_TRUE(says(complaint([&] { factors.solve_with(Factor(2), B, B); }), "neither L nor U"));
}

/// As by the Factorization whose factors they are. What lies beside the triangle is not read.
TEST(TriangularSystems, of_factors_kept_as_numbers_are_solved) {
  for (const std::int64_t order : {1, 3, 256, 600})
    for (const bool symmetric : {false, true}) {
      const Matrix<double> A = symmetric ? positive_definite<double>(order) : random_matrix<double>(order, order),
                           B = random_matrix<double>(order, 3);
      Factorization<double> factors(A.view(), on_cpu());
      Matrix<double> X(order, 3), Y(order, 3);
      for (const Factor which : {Factor::L, Factor::U})
        for (const Op op : {Op::none, Op::transpose}) {
          SCOPED_TRACE(testing::Message() << order << symmetric << int(which) << int(op));
          const bool lower = which == Factor::L, unit = lower && factors.report().method == Method::lu;
          Matrix<double> F = factors.triangle(which);
          for (std::int64_t j = 0; j < order; ++j)
            for (std::int64_t i = 0; i < order; ++i)
              if (lower ? i < j || (unit && i == j) : i > j) F(i, j) = std::numeric_limits<double>::quiet_NaN();
          factors.solve_with(which, B, X, op);
          as_eigen(Y.view()) = as_eigen(B.view());
          solve_triangular<double>(F.view(), lower ? Uplo::lower : Uplo::upper, unit, Y, op, on_cpu());
          EXPECT_LT(difference(as_eigen(X.view()), as_eigen(Y.view())), 1e-10);
        }
    }
  Matrix<double> A = random_matrix<double>(4, 4), B = random_matrix<double>(3, 1), none(4, 0);
  EXPECT_THROW(solve_triangular<double>(A, Uplo::lower, false, B), std::invalid_argument);
  EXPECT_THROW(solve_triangular<double>(A, Uplo::both, false, A), std::invalid_argument);
  solve_triangular<double>(A, Uplo::lower, false, none);
}

/// 2^e A is factored in its place, which has other factors, and a determinant that follows from them.
TEST_P(FactorsAsSuch, of_a_subnormal_matrix_still_have_its_determinant) {
  constexpr std::int64_t order = 60;
  const Matrix<double> A = positive_definite<double>(order);
  Matrix<double> tiny(order, order);
  as_eigen(tiny.view()) = as_eigen(A.view()) * 0x1p-1060;
  Factorization<double> factors(tiny.view(), options()), ordinary(A.view(), options());
  EXPECT_NEAR(factors.log_abs_det().log_abs, ordinary.log_abs_det().log_abs - double(order) * 1060 * std::log(2.0),
              0.1);
  if (factors.report().notes.empty()) return;
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.L(); }), "subnormal"));
}

LASOLVE_ON_ALL_TARGETS(FactorsAsSuch);

/// On a device: by rows, in either order, copied there.
TEST(BorrowedOnCuda, is_in_any_order) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  Matrix<double> kept;
  const auto here = [&](const Matrix<double, Cuda>& M) { return std::as_const(kept = download(q, M)).view(); };
  for (const std::int64_t order : {30, 500}) {
    const Matrix<double> A = random_matrix<double>(order, order), B = random_matrix<double>(order, 3);
    Rows B_in_rows = as_eigen(B.view());
    Matrix<double> by_rows(3, order, 3);
    std::copy_n(B_in_rows.data(), 3 * order, by_rows.data());
    const Matrix<double, Cuda> dA = upload(q, A), dB = upload(q, by_rows);
    Matrix<double, Cuda> dX(order, 3, order), d_rows(3, order, 3);
    const auto rows = [&](auto& M) {
      return Borrowed<std::remove_pointer_t<decltype(M.data())>>(M.data(), order, 3, 3, 1, true);
    };
    EXPECT_TRUE(solve(dA, rows(dB), dX).outcome.ok());
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), here(dX))), hpl_threshold);
    const Borrowed<const double> transposed(dA.data(), order, order, dA.ld(), 1, true);
    EXPECT_TRUE(solve(transposed, rows(dB), rows(d_rows), {}, Op::transpose).outcome.ok());
    const Matrix<double> X_rows = download(q, d_rows);
    Matrix<double> X(order, 3);
    as_eigen(X.view()) = as_eigen(X_rows.view()).transpose();
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
    Matrix<double, Cuda> ends = upload(q, A);
    Factorization<double> factors = Factorization<double>::copy_of(ends.view());
    ends = Matrix<double, Cuda>();
    EXPECT_TRUE(factors.solve(rows(dB), dX).outcome.ok());
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), here(dX))), hpl_threshold);
    factors.multiply_by(Factor::L, rows(dB), dX);
    const Matrix<double> L = factors.L();
    EXPECT_LT(difference((as_eigen(L.view()) * as_eigen(B.view())).eval(), as_eigen(here(dX))), 1e-13);
  }
}

}  // namespace
}  // namespace lasolve::test::borrowed_test
