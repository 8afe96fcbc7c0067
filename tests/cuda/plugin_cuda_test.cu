// The adapter on CUDA brings what a plugin kernel leaves out, and what such a kernel does wrong is found without waiting for it.
#include <cuda_runtime.h>

#include <utility>

#include "conforming.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "devices.hpp"
#include "lasolve/lasolve.hpp"
#include "plugin.hpp"
#include "plugin/backends.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

using Adapter = plugin::Adapter<Cuda>;

/// Element (i, l) of op(A) is A[i·a_i + l·a_l], and so on. One thread an element of C.
template <class T>
struct Strided {
  lasolve_int m, n, k, a_i, a_l, b_l, b_j, c_i, c_j;
  T alpha, beta;
};
template <class T>
__global__ void multiply_plainly(Strided<T> s, const T* A, const T* B, T* C) {
  const lasolve_int i = lasolve_int(blockIdx.x) * blockDim.x + threadIdx.x;
  const lasolve_int j = lasolve_int(blockIdx.y) * blockDim.y + threadIdx.y;
  if (i >= s.m || j >= s.n) return;
  T sum = 0;
  for (lasolve_int l = 0; l < s.k; ++l) sum += A[i * s.a_i + l * s.a_l] * B[l * s.b_l + j * s.b_j];
  T& c = C[i * s.c_i + j * s.c_j];
  c = s.beta == T(0) ? s.alpha * sum : s.alpha * sum + s.beta * c;
}

const lasolve_kernel* declared = nullptr;  // a function on CUDA gets the stream as data
std::string said;                          // the first breach

/// What the kernel declares, and nothing else.
template <class T>
void strict(void* stream, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k, T alpha,
            const T* A, lasolve_int lda, const T* B, lasolve_int ldb, T beta, T* C, lasolve_int ldc) {
  const lasolve_kernel& its = *declared;
  const bool rows = its.limits & LASOLVE_KERNEL_ROW_MAJOR;
  if (const auto b = breach(its, op_a, op_b, m, n, k, lda, ldb, ldc); said.empty()) said = b;
  for (const auto& [X, ld] : {std::pair<const void*, lasolve_int>(A, lda), {B, ldb}, {C, ldc}})
    if (const auto b = breach_of_alignment(its, X, ld, sizeof(T)); said.empty()) said = b;
  if (its.limits & LASOLVE_KERNEL_ASSIGNS) alpha = 1, beta = 0;
  if (its.limits & LASOLVE_KERNEL_ADDS) alpha = 1, beta = 1;
  const bool along_k = rows == (op_a == LASOLVE_NONE), along_n = rows == (op_b == LASOLVE_NONE);
  const Strided<T> s{m,
                     n,
                     k,
                     along_k ? lda : 1,
                     along_k ? 1 : lda,
                     along_n ? ldb : 1,
                     along_n ? 1 : ldb,
                     rows ? ldc : 1,
                     rows ? 1 : ldc,
                     alpha,
                     beta};
  const dim3 blocks(unsigned(ceil_div(m, 32)), unsigned(ceil_div(n, 8)));
  multiply_plainly<T><<<blocks, dim3(32, 8), 0, cudaStream_t(stream)>>>(s, A, B, C);
}

lasolve_kernel kernel_with(unsigned limits, lasolve_int m = 1, lasolve_int n = 1, lasolve_int k = 1) {
  return strict_kernel(LASOLVE_CUDA, strict<double>, strict<float>, limits, m, n, k);
}

/// The kernel that an adapter makes of one.
template <class T>
GemmKernel<precision_of<T>, Cuda> made_by(const Adapter& own) {
  GemmKernel<precision_of<T>, Cuda> kernel(
      [](const void* self, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
         MatrixView<T, Cuda> C) { static_cast<Adapter*>(const_cast<void*>(self))->multiply(q, alpha, A, B, beta, C); });
  kernel.self = &own;
  return kernel;
}

class PluginKernelOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    q_.emplace(0);
    current_.emplace(*q_);
  }
  /// C ← C − A·B of order n, once.
  void multiply(Adapter& own, std::int64_t n, Op op_a = Op::none) {
    const Matrix<double> X = random_matrix(n, n, 1);
    const Matrix<double, Cuda> A = upload(*q_, X), B = upload(*q_, X);
    Matrix<double, Cuda> C = upload(*q_, X);
    own.multiply<double>(*q_, -1, {A.view(), op_a}, B.view(), 1, C.view());
    q_->finish();
  }

  std::optional<Queue<Cuda>> q_;
  std::optional<CurrentDevice> current_;
};

template <Precision P>
void expect_conforming(Queue<Cuda>& q, const lasolve_kernel& kernel, const std::vector<std::string>& left_out) {
  using T = typename Arithmetic<P>::Result;
  Adapter own(kernel);
  declared = &kernel;
  said.clear();
  for (const bench::Group& group : bench::conformance_list(P, Device::cuda)) {
    if (std::count(left_out.begin(), left_out.end(), group.name) > 0) continue;
    SCOPED_TRACE(group.name);
    expect_right<P, Cuda>(q, made_by<T>(own), group.cases);
    EXPECT_NO_THROW(own.require_intact());
  }
  EXPECT_EQ(said, "");
}

std::vector<Restriction> restrictions() {
  constexpr unsigned whole =
      LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_NO_GAPS | LASOLVE_KERNEL_INT_INDICES;
  std::vector<Restriction> all;
  for (const bool multiples : {false, true})
    for (const unsigned scalars : {0, int(LASOLVE_KERNEL_ASSIGNS), int(LASOLVE_KERNEL_ADDS)})
      for (const unsigned others : {0u, whole}) all.push_back({scalars | others, multiples});
  for (const unsigned one : {LASOLVE_KERNEL_ROW_MAJOR, LASOLVE_KERNEL_NO_TRANSPOSES, LASOLVE_KERNEL_NO_GAPS})
    all.push_back({one, false});
  all.push_back({LASOLVE_KERNEL_ONE_CALL | LASOLVE_KERNEL_ADDS, true});
  all.push_back({LASOLVE_KERNEL_SQUARE | whole | LASOLVE_KERNEL_ASSIGNS, false, 100});
  all.push_back({LASOLVE_KERNEL_SQUARE | LASOLVE_KERNEL_ADDS, false, 0, 64});
  all.push_back({LASOLVE_KERNEL_ROW_MAJOR, true, 60, 128});
  return all;
}

class PluginKernelLimitsOnCuda : public PluginKernelOnCuda, public testing::WithParamInterface<Restriction> {};

TEST_P(PluginKernelLimitsOnCuda, keep_to_the_contract_with_the_adapter) {
  const auto [limits, multiples, largest, alignment] = GetParam();
  lasolve_kernel kernel = multiples ? kernel_with(limits, 8, 6, 5) : kernel_with(limits);
  kernel.m_largest = kernel.n_largest = kernel.k_largest = largest;
  kernel.alignment = alignment;
  const std::vector<std::string> left_out = {"fast_paths", "columns_far_apart"};
  if ((std::popcount(limits) + multiples) % 2 == 1)
    expect_conforming<Precision::fp32>(*q_, kernel, left_out);
  else
    expect_conforming<Precision::fp64>(*q_, kernel, left_out);
}
INSTANTIATE_TEST_SUITE_P(Cuda, PluginKernelLimitsOnCuda, testing::ValuesIn(restrictions()), name_of_restriction);

TEST_F(PluginKernelOnCuda, of_short_indices_gets_what_lies_far_apart_packed) {
  expect_conforming<Precision::fp32>(*q_, kernel_with(LASOLVE_KERNEL_INT_INDICES), {});
}

/// More than one copy may have: in two blocks, of which the second is smaller than its room.
TEST_F(PluginKernelOnCuda, is_called_for_blocks_where_copies_would_be_large) {
  const lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ASSIGNS | LASOLVE_KERNEL_NO_TRANSPOSES, 8, 8, 8);
  Adapter own(kernel);
  declared = &kernel;
  std::vector<bench::Case> cases;
  for (const auto& [m, n] : {std::pair(8203, 8201), {70001, 1001}, {1001, 70001}})
    cases.push_back({.m = m, .n = n, .k = 3, .op_a = Op::transpose, .values = bench::Values::integers});
  expect_right<Precision::fp32, Cuda>(*q_, made_by<float>(own), cases);
  EXPECT_EQ(said, "");
}

__global__ void fill_beyond(double* C, lasolve_int count) {
  for (lasolve_int i = threadIdx.x; i < count; i += blockDim.x) C[i] = 0;
}
TEST_F(PluginKernelOnCuda, that_writes_beside_a_copy_is_found_when_its_work_is_done) {
  lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ASSIGNS);
  kernel.f64 = [](void* stream, lasolve_op, lasolve_op, lasolve_int m, lasolve_int n, lasolve_int, double,
                  const double*, lasolve_int, const double*, lasolve_int, double, double* C, lasolve_int ldc) {
    fill_beyond<<<1, 256, 0, cudaStream_t(stream)>>>(C, m + (n - 1) * ldc + 1);  // one too many
  };
  Adapter own(kernel);
  declared = &kernel;
  multiply(own, 33);
  EXPECT_TRUE(says(complaint_of<std::runtime_error>([&] { own.require_intact(); }), "wrote beside a matrix"));
  EXPECT_NO_THROW(own.require_intact());
}

TEST_F(PluginKernelOnCuda, has_the_cost_of_what_it_leaves_out_by_events) {
  const auto cost_of = [&](const lasolve_kernel& kernel, std::int64_t n, Op op_a = Op::none) {
    Adapter own(kernel);
    declared = &kernel;
    multiply(own, n, op_a);
    return own.take_cost();
  };
  EXPECT_EQ(cost_of(kernel_with(LASOLVE_KERNEL_ROW_MAJOR), 64).in_words(), "");
  EXPECT_EQ(cost_of(kernel_with(0, 32, 32, 32), 64).work, 0u);
  const plugin::Cost padded =
      cost_of(kernel_with(0, 32, 32, 32), 65);  // to 96, so that most of the product is with zeros
  EXPECT_EQ(padded.work, plugin::padding);
  EXPECT_GT(padded.kernel_seconds, 0);
  EXPECT_GT(padded.adapter_seconds, padded.kernel_seconds);
  const plugin::Cost turned =
      cost_of(kernel_with(LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS), 64, Op::transpose);
  EXPECT_EQ(turned.work, unsigned(plugin::transposing | plugin::scaling));
  EXPECT_TRUE(says(turned.in_words(), "of the time in its products is the adapter's: transposes, alpha and beta"));
}

/// Once prepared for, and called, a product makes nothing.
TEST_F(PluginKernelOnCuda, makes_nothing_anew) {
  if (!made_until_now()) GTEST_SKIP() << "a build with LASOLVE_TEST_HOOKS counts";
  const lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ADDS | LASOLVE_KERNEL_NO_GAPS, 8, 8, 8);
  Adapter own(kernel);
  declared = &kernel;
  own.prepare<double>(*q_, 300, 200, 100);
  const void* const room = q_->scratch<char>(1, 1).data();
  Matrix<double, Cuda> A(300, 100), B(100, 200), C(300, 200);
  own.multiply<double>(*q_, -1, A.view(), B.view(), 1, C.view());
  EXPECT_EQ(q_->scratch<char>(1, 1).data(), room);
  q_->finish();
  own.take_cost();
  const auto made = made_until_now();
  own.multiply<double>(*q_, -1, A.view(), B.view(), 1, C.view());
  q_->finish();
  EXPECT_EQ(made_until_now(), made);
}

/// In each call that is right for operands that are there, and so found by those that are not.
TEST_F(PluginKernelOnCuda, on_another_stream_is_found_and_told) {
  static cudaStream_t other = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  lasolve_kernel kernel = kernel_with(0);
  kernel.f64 = [](void*, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k, double alpha,
                  const double* A, lasolve_int lda, const double* B, lasolve_int ldb, double beta, double* C,
                  lasolve_int ldc) {
    strict<double>(other, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    cudaStreamSynchronize(other);
  };
  Adapter own(kernel);
  declared = &kernel;
  Queue<Cpu> host(1);
  const auto verdict = bench::conformance<Precision::fp64, Cuda>(*q_, host, made_by<double>(own));
  ASSERT_TRUE(verdict.fault);
  EXPECT_TRUE(verdict.fault->at.late);
  EXPECT_TRUE(verdict.fault->only_late);
  EXPECT_TRUE(says(bench::what_is_wrong(*verdict.fault), "it works on another"));
  CUDA_CHECK(cudaStreamDestroy(other));
}

TEST_F(PluginKernelOnCuda, whose_launch_fails_says_why) {
  lasolve_kernel kernel = kernel_with(0);
  kernel.f64 = [](void* stream, lasolve_op, lasolve_op, lasolve_int, lasolve_int, lasolve_int, double, const double*,
                  lasolve_int, const double*, lasolve_int, double, double* C,
                  lasolve_int) { fill_beyond<<<1, 4096, 0, cudaStream_t(stream)>>>(C, 1); };
  Adapter own(kernel, []() -> const char* {
    const cudaError_t e = cudaGetLastError();
    return e == cudaSuccess ? nullptr : cudaGetErrorString(e);
  });
  EXPECT_TRUE(says(complaint_of<std::runtime_error>([&] { multiply(own, 5); }), "failed: invalid "));
}

/// A kernel with memory of its own, which it keeps busy for a while.
__device__ double held[64 * 64];
__global__ void hold(const double* A, lasolve_int m, lasolve_int k, lasolve_int lda) {
  for (lasolve_int i = threadIdx.x; i < m * k; i += blockDim.x) held[i] = A[i % m + i / m * lda];
  const auto now = [] {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  for (const auto began = now(); now() - began < 20000000ull;) {
  }
}
TEST_F(PluginKernelOnCuda, with_memory_of_its_own_is_called_once_at_a_time) {
  lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ONE_CALL | LASOLVE_KERNEL_NO_TRANSPOSES);
  kernel.f64 = [](void* stream, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k,
                  double alpha, const double* A, lasolve_int lda, const double* B, lasolve_int ldb, double beta,
                  double* C, lasolve_int ldc) {
    hold<<<1, 256, 0, cudaStream_t(stream)>>>(A, m, k, lda);
    void* its = nullptr;
    CUDA_CHECK(cudaGetSymbolAddress(&its, held));
    strict<double>(stream, op_a, op_b, m, n, k, alpha, static_cast<const double*>(its), m, B, ldb, beta, C, ldc);
  };
  Adapter own(kernel);
  declared = &kernel;
  constexpr std::int64_t n = 64;
  const Matrix<double> A1 = random_matrix(n, n, 1), A2 = random_matrix(n, n, 2), B = random_matrix(n, n, 3);
  const Matrix<double, Cuda> there1 = upload(*q_, A1), there2 = upload(*q_, A2), B_there = upload(*q_, B);
  Matrix<double, Cuda> C1(n, n), C2(n, n), C3(n, n), C4(n, n);
  Queue<Cuda> other(0);
  own.multiply<double>(*q_, 1, there1.view(), B_there.view(), 0, C1.view());
  q_->finish();  // what is loaded, is
  own.multiply<double>(*q_, 1, there1.view(), B_there.view(), 0, C2.view());
  own.multiply<double>(other, 1, there2.view(), B_there.view(), 0, C3.view());
  own.multiply<double>(*q_, 1, there1.view(), B_there.view(), 0, C4.view());
  q_->finish();
  other.finish();
  EXPECT_TRUE(same_bits(download(*q_, C2), download(*q_, C1)));
  EXPECT_TRUE(same_bits(download(*q_, C4), download(*q_, C1)));
  EXPECT_FALSE(same_bits(download(*q_, C3), download(*q_, C1)));
}

TEST_F(PluginKernelOnCuda, solves) {
  static lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ADDS | LASOLVE_KERNEL_NO_TRANSPOSES, 32, 32, 32);
  declared = &kernel;
  plugin::add_backend(kernel, "strict");
  constexpr std::int64_t n = 700;
  const Matrix<double> A = random_matrix(n, n, 1);
  const Matrix<double> B = right_hand_sides<double>(A.view(), 2);
  Matrix<double> X(n, 2);
  for (const Method method : {Method::lu, Method::automatic}) {
    Options o;
    o.device = {Device::cuda, 0};
    o.gemm = std::string("strict");
    o.factorization = method;
    const Report report = solve(A.view(), B.view(), X.view(), o);
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_EQ(report.gemm, "strict");
  }
  EXPECT_EQ(said, "");
  EXPECT_NO_THROW(plugin::require_intact());
  EXPECT_NE(plugin::take_cost("strict").work & plugin::padding, 0u);
}

}  // namespace
}  // namespace lasolve::test
