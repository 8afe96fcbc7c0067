// Copies between the host and a CUDA device: the same bits arrive, and nothing else is written.
#include <cuda_runtime.h>

#include <cstring>
#include <memory>

#include "core/cuda/check.hpp"
#include "core/transfer.hpp"
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

struct FreePinned {
  void operator()(double* memory) const { cudaFreeHost(memory); }
};
using Pinned = std::unique_ptr<double, FreePinned>;
Pinned pinned(std::int64_t elements) {
  void* memory = nullptr;
  CUDA_CHECK(cudaMallocHost(&memory, std::size_t(elements) * sizeof(double)));
  return Pinned(static_cast<double*>(memory));
}

class CudaTransfer : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    q = std::make_unique<Queue<Cuda>>(0);
  }

  /// Sends a matrix to the device and back, in memory of three leading dimensions.
  void there_and_back(MatrixView<double> A, MatrixView<double> back, std::int64_t device_ld) {
    for (std::int64_t k = 0; k < A.ld() * A.cols(); ++k) A.data()[k] = double(k) + 0.25;
    for (std::int64_t k = 0; k < back.ld() * back.cols(); ++k) back.data()[k] = -1;
    Matrix<double, Cuda> device(A.rows(), A.cols(), device_ld);
    copy<double>(*q, A, device);
    copy<double>(*q, device, back);
    q->finish();
    for (std::int64_t j = 0; j < A.cols(); ++j) {
      ASSERT_EQ(std::memcmp(&A(0, j), &back(0, j), std::size_t(A.rows()) * sizeof(double)), 0) << "column " << j;
      for (std::int64_t i = A.rows(); i < back.ld(); ++i) ASSERT_EQ(back.data()[i + j * back.ld()], -1);
    }
  }

  std::unique_ptr<Queue<Cuda>> q;
};

constexpr std::int64_t slot = (8 << 20) / 8;  // elements of what is staged at once

TEST_F(CudaTransfer, brings_the_same_bits_there_and_back) {
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                               {1, 300'000},
                                                                               {131'071, 1},
                                                                               {131'072, 1},
                                                                               {slot - 1, 1},
                                                                               {slot, 1},
                                                                               {slot + 1, 1},
                                                                               {slot + 1, 2},
                                                                               {5 * slot + 3, 1},
                                                                               {1000, 1000},
                                                                               {1024, 8193},
                                                                               {slot / 4 + 1, 9}}) {
    for (const auto& [here, there, again] :
         std::vector<std::array<std::int64_t, 3>>{{0, 0, 0}, {3, 0, 0}, {0, 5, 0}, {0, 8, 1}}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << ", beyond the rows: " << here << ' ' << there << ' '
                                      << again);
      Matrix<double> A(m, n, m + here), back(m, n, m + again);
      there_and_back(A, back, m + there);
    }
  }
}

TEST_F(CudaTransfer, takes_pinned_memory_too) {
  constexpr std::int64_t m = 1000, n = 2000;
  for (const std::int64_t beyond : {0, 7}) {
    const Pinned A = pinned((m + beyond) * n), back = pinned((m + beyond) * n);
    Matrix<double> pageable(m, n);
    const MatrixView<double> pinned_A(A.get(), m, n, m + beyond), pinned_back(back.get(), m, n, m + beyond);
    there_and_back(pinned_A, pinned_back, m + 3);
    there_and_back(pinned_A, pageable, m);
    there_and_back(pageable, pinned_back, m);
  }
}

TEST_F(CudaTransfer, takes_memory_of_which_only_a_part_is_pinned) {
  constexpr std::int64_t n = 1 << 20, buffer = 4096 / 8;
  Matrix<double> A(n, 1), back(n, 1);
  CUDA_CHECK(cudaHostRegister(A.data(), n / 2 * sizeof(double), cudaHostRegisterDefault));
  there_and_back(A, back, n);
  there_and_back(back, A, n);
  there_and_back({A.data() + buffer, n - buffer, 1, n - buffer}, {back.data(), n - buffer, 1, n - buffer}, n);
  CUDA_CHECK(cudaHostUnregister(A.data()));
}

TEST_F(CudaTransfer, may_change_pageable_memory_when_the_copy_returned) {
  constexpr std::int64_t n = 3 * slot;
  Matrix<double> A(n, 1), back(n, 1);
  std::fill_n(A.data(), n, 2.0);
  Matrix<double, Cuda> device(n, 1);
  copy<double>(*q, A, device);
  std::fill_n(A.data(), n, 3.0);
  copy<double>(*q, device, back);
  EXPECT_EQ(std::count(back.data(), back.data() + n, 2.0), n);
}

TEST_F(CudaTransfer, factors_a_matrix_as_it_arrives) {
  constexpr std::int64_t n = 4097;  // large enough to begin early
  const Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 2);
  const Pinned memory = pinned(A.ld() * n);
  std::copy_n(A.data(), A.ld() * n, memory.get());
  const MatrixView<const double> also(memory.get(), n, n, A.ld());
  Matrix<double> X(n, 2), first(n, 2);
  for (const bool check : {true, false})
    for (const Precision precision : {Precision::fp64, Precision::fp32})
      for (const MatrixView<const double>& given : {A.view(), also}) {
        Options o;
        o.device.kind = Device::cuda;
        o.check = check;
        o.precision = precision;
        const Report report = solve(given, B.view(), X.view(), o);
        EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
        EXPECT_EQ(report.method, Method::lu);
        EXPECT_GT(report.phases.seconds_of(Phase::to_device), 0);
        EXPECT_EQ(report.hpl_residual.has_value(), check);
        EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
        if (given.data() == A.data())
          std::copy_n(X.data(), X.ld() * 2, first.data());
        else
          EXPECT_TRUE(same_bits(X, first)) << "pinned and pageable memory differ";
      }
}

TEST_F(CudaTransfer, guesses_the_method_while_a_matrix_arrives_and_starts_again_when_the_guess_was_wrong) {
  constexpr std::int64_t n = 4097;
  const auto positive = [](auto i, auto j) { return i == j ? double(n) : 1.0 / double(1 + i + j); };
  Matrix<double> A = matrix_of<double>(n, n, positive);
  const Matrix<double> B = random_matrix(n, 2);
  Matrix<double> X(n, 2);
  Options o;
  o.device.kind = Device::cuda;
  for (const bool check : {true, false}) {
    o.check = check;
    A(n - 1, n - 2) = A(n - 2, n - 1);
    for (const Method method : {Method::automatic, Method::cholesky}) {
      o.factorization = method;
      const Report report = solve(A.view(), B.view(), X.view(), o);
      EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
      EXPECT_EQ(report.method, Method::cholesky);
      EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
    }
    o.factorization = Method::automatic;
    A(n - 1, n - 2) = 2;  // not symmetric any more
    Report report = solve(A.view(), B.view(), X.view(), o);
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_EQ(report.method, Method::lu);
    EXPECT_TRUE(says(notes_of(report), "first glance only"));
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
    A(n - 1, n - 2) = A(n - 2, n - 1) = 2.0 * n;  // symmetric again, but not positive definite
    report = solve(A.view(), B.view(), X.view(), o);
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_EQ(report.method, Method::lu);
    EXPECT_TRUE(says(notes_of(report), "symmetric with a positive diagonal, but"));
    o.factorization = Method::cholesky;
    expect_outcome(Factorization<double>(A.view(), o).report().outcome, Outcome::not_positive_definite, n);
    A(n - 2, n - 1) = 1.0 / double(2 * n - 2);
  }
}

TEST_F(CudaTransfer, takes_over_a_large_matrix_of_the_host) {
  constexpr std::int64_t n = 4097;
  const Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 2);
  Options o;
  o.device.kind = Device::cuda;
  for (const Method method : {Method::automatic, Method::lu})
    for (const bool check : {true, false}) {
      o.factorization = method;
      o.check = check;
      Matrix<double> X(n, 2);
      Factorization<double> factors(rounded<double>(A), o);
      EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
      EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
    }
}

TEST_F(CudaTransfer, refuses_a_matrix_that_arrives_with_nan_and_finds_a_singular_one) {
  constexpr std::int64_t n = 4097;
  Options o;
  o.device.kind = Device::cuda;
  Matrix<double> A = random_matrix(n, n);
  A(n - 1, n - 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(
      says(complaint_of<std::invalid_argument>([&] { Factorization<double>(A.view(), o); }), "NaN or infinite"));
  A = with_zero_columns(random_matrix(n, n), 3000, 1);
  expect_outcome(Factorization<double>(A.view(), o).report().outcome, Outcome::singular, 3000);
}

}  // namespace
}  // namespace lasolve::test
