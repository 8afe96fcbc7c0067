// The adapter brings what a kernel of somebody's own leaves out: with it, one that does any part of the contract keeps to all of it.
#include <atomic>

#include "conforming.hpp"
#include "devices.hpp"
#include "io/input_error.hpp"
#include "lasolve/plugin.hpp"
#include "plugin.hpp"
#include "plugin/backends.hpp"
#include "plugin/plugin.hpp"
#include "sanitized.hpp"

namespace lasolve::test {
namespace {

using Adapter = plugin::Adapter<Cpu>;

std::string said;  // the first breach

/// What the kernel in `data` declares, and nothing else: alpha and beta are not looked at where it says so.
template <class T>
void strict(void* data, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n, lasolve_int k, T alpha,
            const T* A, lasolve_int lda, const T* B, lasolve_int ldb, T beta, T* C, lasolve_int ldc) {
  const lasolve_kernel& its = *static_cast<const lasolve_kernel*>(data);
  const bool rows = its.limits & LASOLVE_KERNEL_ROW_MAJOR;
  if (const auto b = breach(its, op_a, op_b, m, n, k, lda, ldb, ldc); said.empty()) said = b;
  for (const auto& [X, ld] : {std::pair<const void*, lasolve_int>(A, lda), {B, ldb}, {C, ldc}})
    if (const auto b = breach_of_alignment(its, X, ld, sizeof(T)); said.empty()) said = b;
  if (its.limits & LASOLVE_KERNEL_ASSIGNS) alpha = 1, beta = 0;
  if (its.limits & LASOLVE_KERNEL_ADDS) alpha = 1, beta = 1;
  const bool along_k = rows == (op_a == LASOLVE_NONE), along_n = rows == (op_b == LASOLVE_NONE);
  lasolve_int a_i = along_k ? lda : 1, a_l = along_k ? 1 : lda, b_l = along_n ? ldb : 1, b_j = along_n ? 1 : ldb;
  if (rows)
    std::swap(m, n), std::swap(A, B), std::swap(a_i, b_j), std::swap(a_l, b_l);  // Cᵀ = op(B)ᵀ·op(A)ᵀ lies by columns
  std::vector<T> sums(static_cast<std::size_t>(m));
  for (lasolve_int j = 0; j < n; ++j) {
    std::fill(sums.begin(), sums.end(), T(0));
    for (lasolve_int l = 0; l < k; ++l) {
      const T b = B[l * b_l + j * b_j], *const a = A + l * a_l;
      T* const sum = sums.data();
#pragma omp simd
      for (lasolve_int i = 0; i < m; ++i) sum[i] += a[i * a_i] * b;
    }
    for (lasolve_int i = 0; i < m; ++i) {
      T& c = C[i + j * ldc];
      c = beta == 0 ? alpha * sums[std::size_t(i)] : alpha * sums[std::size_t(i)] + beta * c;
    }
  }
}

lasolve_kernel kernel_with(unsigned limits, lasolve_int m = 1, lasolve_int n = 1, lasolve_int k = 1) {
  return strict_kernel(LASOLVE_HOST, strict<double>, strict<float>, limits, m, n, k);
}

/// The kernel that an adapter makes of one.
template <class T>
GemmKernel<precision_of<T>, Cpu> made_by(const Adapter& own) {
  GemmKernel<precision_of<T>, Cpu> kernel(
      [](const void* self, Queue<Cpu>& q, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
        static_cast<Adapter*>(const_cast<void*>(self))->multiply(q, alpha, A, B, beta, C);
      });
  kernel.self = &own;
  return kernel;
}

/// Shares whatever there is to share.
void share_all(Queue<Cpu>& q) {
  Tuning tuning = q.tuning();
  tuning.work_worth_sharing = 1;
  q.tune(tuning);
}

template <Precision P>
void expect_conforming(lasolve_kernel kernel) {
  using T = typename Arithmetic<P>::Result;
  kernel.data = &kernel;
  Adapter own(kernel);
  said.clear();
  Queue<Cpu> q(3);
  share_all(q);
  for (const bench::Group& group : bench::conformance_list(P, Device::cpu)) {
    SCOPED_TRACE(group.name);
    expect_right<P, Cpu>(q, made_by<T>(own), group.cases);
  }
  EXPECT_EQ(said, "");
}

std::vector<Restriction> restrictions() {
  std::vector<Restriction> all;
  for (const bool multiples : {false, true})
    for (const unsigned scalars : {0, int(LASOLVE_KERNEL_ASSIGNS), int(LASOLVE_KERNEL_ADDS)})
      for (const unsigned rows : {0, int(LASOLVE_KERNEL_ROW_MAJOR)})
        for (const unsigned ops : {0, int(LASOLVE_KERNEL_NO_TRANSPOSES)})
          for (const unsigned gaps : {0, int(LASOLVE_KERNEL_NO_GAPS)})
            for (const unsigned indices : {0, int(LASOLVE_KERNEL_INT_INDICES)})
              all.push_back({scalars | rows | ops | gaps | indices, multiples});
  all.push_back({LASOLVE_KERNEL_ONE_CALL | LASOLVE_KERNEL_ADDS, true});
  constexpr unsigned as_in_a_textbook =
      LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_NO_GAPS;
  all.push_back({LASOLVE_KERNEL_SQUARE, false});
  all.push_back({LASOLVE_KERNEL_SQUARE | as_in_a_textbook | LASOLVE_KERNEL_ASSIGNS, false, 100});
  all.push_back({LASOLVE_KERNEL_SQUARE | LASOLVE_KERNEL_ADDS | LASOLVE_KERNEL_ONE_CALL, false, 0, 64});
  all.push_back({0, false, 40});
  all.push_back({LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_ADDS, true, 60});
  all.push_back({LASOLVE_KERNEL_ROW_MAJOR, false, 0, 64});
  all.push_back({LASOLVE_KERNEL_ASSIGNS | LASOLVE_KERNEL_NO_GAPS, true, 50, 4096});
  if (!sanitized()) return all;
  // Each takes ten times as long: some, with each limit among them.
  for (std::size_t i = 0; i < all.size() / 7; ++i) all[i] = all[7 * i];
  all.resize(all.size() / 7);
  return all;
}
class PluginKernel : public testing::TestWithParam<Restriction> {};

/// In fp64, or every other one in fp32: what differs is the size of an element.
TEST_P(PluginKernel, keeps_to_the_contract_with_its_adapter) {
  const auto [limits, multiples, largest, alignment] = GetParam();
  lasolve_kernel kernel = multiples ? kernel_with(limits, 8, 6, 5) : kernel_with(limits);
  kernel.m_largest = largest, kernel.n_largest = largest / 2 * 2, kernel.k_largest = largest;
  kernel.alignment = alignment;
  if ((std::popcount(limits) + multiples) % 2 == 1)
    expect_conforming<Precision::fp32>(kernel);
  else
    expect_conforming<Precision::fp64>(kernel);
}
INSTANTIATE_TEST_SUITE_P(Cpu, PluginKernel, testing::ValuesIn(restrictions()), name_of_restriction);

/// C ← C − A·B of one size, by an adapter that is asked for its cost afterwards.
plugin::Cost cost_of(lasolve_kernel kernel, std::int64_t n, Op op_a = Op::none) {
  kernel.data = &kernel;
  Adapter own(kernel);
  Queue<Cpu> q(1);
  Matrix<double> A(n, n), B(n, n), C(n, n);
  bench::fill_random(q, A.view(), 1);
  bench::fill_random(q, B.view(), 2);
  bench::fill_random(q, C.view(), 3);
  own.multiply<double>(q, -1, {A.view(), op_a}, B.view(), 1, C.view());
  return own.take_cost();
}

TEST(PluginKernelCost, is_that_of_what_the_kernel_leaves_out) {
  const plugin::Cost none = cost_of(kernel_with(LASOLVE_KERNEL_ROW_MAJOR), 64);
  EXPECT_EQ(none.work, 0u);
  EXPECT_EQ(none.in_words(), "");
  EXPECT_GT(none.kernel_seconds, 0);
  EXPECT_EQ(cost_of(kernel_with(0, 32, 32, 32), 64).work, 0u);
  const plugin::Cost padded =
      cost_of(kernel_with(0, 32, 32, 32), 65);  // to 96, so that most of the product is with zeros
  EXPECT_EQ(padded.work, plugin::padding);
  EXPECT_GT(padded.adapter_seconds, padded.kernel_seconds);
  EXPECT_EQ(cost_of(kernel_with(LASOLVE_KERNEL_ASSIGNS), 64).work, plugin::scaling);
  EXPECT_EQ(cost_of(kernel_with(LASOLVE_KERNEL_NO_TRANSPOSES), 64).work, 0u);
  const plugin::Cost turned =
      cost_of(kernel_with(LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS), 64, Op::transpose);
  EXPECT_EQ(turned.work, unsigned(plugin::transposing | plugin::scaling));
  EXPECT_GT(turned.adapter_seconds, 0);
  EXPECT_TRUE(says(turned.in_words(), "of the time in its products is the adapter's: transposes, alpha and beta"));
  EXPECT_EQ((plugin::Cost{97, 3, plugin::padding}.in_words()),
            "3 % of the time in its products is the adapter's: padding");
}

/// Larger than what is copied at once, in every direction.
TEST(PluginKernelBlocks, give_the_product) {
  lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.f64 = [](void*, lasolve_op, lasolve_op, lasolve_int m, lasolve_int n, lasolve_int k, double, const double* A,
                  lasolve_int lda, const double* B, lasolve_int ldb, double, double* C, lasolve_int ldc) {
    for (lasolve_int j = 0; j < n; ++j)
      for (lasolve_int l = 0; l < k; ++l)
        for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] += A[i + l * lda] * B[l + j * ldb];
  };
  kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS;
  std::vector<bench::Case> cases;
  for (const auto& [m, n, k] : {std::tuple(2050, 9, 2051), {7, 2060, 2053}, {2049, 2051, 5}})
    cases.push_back({.m = m, .n = n, .k = k, .op_a = Op::transpose, .values = bench::Values::integers});
  Queue<Cpu> q(1);
  for (const lasolve_int multiple : {1, 5}) {
    kernel.m_multiple = kernel.n_multiple = kernel.k_multiple = multiple;
    Adapter own(kernel);
    expect_right<Precision::fp64, Cpu>(q, made_by<double>(own), cases);
  }
}

TEST(PluginKernelCopies, lie_between_guards) {
  lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ASSIGNS);
  kernel.f64 = [](void*, lasolve_op, lasolve_op, lasolve_int m, lasolve_int n, lasolve_int, double, const double*,
                  lasolve_int, const double*, lasolve_int, double, double* C, lasolve_int ldc) {
    std::fill_n(C, m + (n - 1) * ldc + 1, 0.0);  // one too many
  };
  EXPECT_TRUE(says(complaint_of<std::runtime_error>([&] { cost_of(kernel, 33); }), "wrote beside a matrix"));
}

/// What a kernel got is not what the product has: its writer is told both.
TEST(PluginKernelCall, is_told_beside_the_product) {
  lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_ASSIGNS, 8, 8, 8);
  kernel.f64 = [](void*, lasolve_op, lasolve_op, lasolve_int m, lasolve_int n, lasolve_int, double, const double*,
                  lasolve_int, const double*, lasolve_int, double, double* C, lasolve_int ldc) {
    for (lasolve_int i = 0; i < m; ++i) std::fill_n(C + i * ldc, n, 7.0);
  };
  Adapter own(kernel);
  Queue<Cpu> q(1);
  KernelCalls::here().keep();
  bench::Validation<Precision::fp64, Cpu> validation(q, q, made_by<double>(own));
  const auto fault = validation({.m = 9, .n = 5, .k = 3, .op_b = Op::transpose});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->called.of, 1);
  EXPECT_TRUE(says(said_of(*fault), "m = 9, n = 5, k = 3"));
  EXPECT_TRUE(
      says(said_of(*fault), "the kernel itself got m = 8, n = 16, k = 8, op_a: none, op_b: none, without alpha"));

  kernel.limits = LASOLVE_KERNEL_SQUARE;  // in calls of their own: that which made the element is told
  kernel.m_multiple = kernel.n_multiple = kernel.k_multiple = 8;
  kernel.k_largest = 8;
  kernel.f64 = [](void*, lasolve_op, lasolve_op, lasolve_int, lasolve_int, lasolve_int, double, const double*,
                  lasolve_int, const double*, lasolve_int, double, double* C, lasolve_int) { C[3] = 7; };
  Adapter squares(kernel);
  bench::Validation<Precision::fp64, Cpu> validation_of_squares(q, q, made_by<double>(squares));
  const auto other = validation_of_squares({.m = 24, .n = 8, .k = 8, .beta = 1, .values = bench::Values::integers});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->called.m, 8);
  EXPECT_TRUE(says(said_of(*other), "one of 3 calls"));
}

/// It makes C + A·B, whatever it declares: what was in a copy of C does not make that look right, or right on one core alone.
TEST(PluginKernelCall, is_told_that_C_is_read) {
  KernelCalls::here().keep();
  Queue<Cpu> q(3);
  share_all(q);
  for (const unsigned limits : {int(LASOLVE_KERNEL_ASSIGNS), int(LASOLVE_KERNEL_NO_GAPS)})
    for (const unsigned calls : {0, int(LASOLVE_KERNEL_ONE_CALL)}) {
      lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_NO_TRANSPOSES | limits | calls);
      kernel.f64 = [](void*, lasolve_op, lasolve_op, lasolve_int m, lasolve_int n, lasolve_int k, double,
                      const double* A, lasolve_int lda, const double* B, lasolve_int ldb, double, double* C,
                      lasolve_int ldc) {
        for (lasolve_int j = 0; j < n; ++j)
          for (lasolve_int l = 0; l < k; ++l)
            for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] += A[i + l * lda] * B[l + j * ldb];
      };
      Adapter own(kernel);
      bench::Validation<Precision::fp64, Cpu> validation(q, q, made_by<double>(own));
      for (const std::int64_t size : {1, 65}) {
        const auto fault =
            validation({.m = size, .n = size, .k = size, .alpha = 1, .beta = 0, .a = bench::Layout::odd});
        ASSERT_TRUE(fault) << limits;
        EXPECT_TRUE(says(said_of(*fault), "C held NaN before the call: it reads C")) << said_of(*fault);
        EXPECT_FALSE(fault->only_concurrent);
      }
      const auto fault = validation({.m = 65, .n = 65, .k = 65, .alpha = -1, .beta = 1});
      if (limits & LASOLVE_KERNEL_ASSIGNS)
        EXPECT_TRUE(says(said_of(*fault), "C held NaN before the call")) << said_of(*fault);
    }
}

/// One that is called once at a time is not told to be.
TEST(PluginKernelCall, is_not_told_to_be_alone_where_it_is) {
  KernelCalls::here().keep();
  Queue<Cpu> q(3);
  static std::atomic<int> calls;
  lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ONE_CALL);
  kernel.f64 = [](void*, lasolve_op, lasolve_op, lasolve_int m, lasolve_int n, lasolve_int, double, const double*,
                  lasolve_int, const double*, lasolve_int, double, double* C, lasolve_int ldc) {
    const double element = calls++ == 0 ? 7 : 0;
    for (lasolve_int j = 0; j < n; ++j) std::fill_n(C + j * ldc, m, element);
  };
  Adapter own(kernel);
  bench::Validation<Precision::fp64, Cpu> validation(q, q, made_by<double>(own));
  const auto fault = validation({.m = 3, .n = 3, .k = 2, .alpha = 0, .beta = 0});
  ASSERT_TRUE(fault);
  EXPECT_FALSE(fault->only_concurrent) << said_of(*fault);
}

/// What the kernel says of itself behind its call; with a thread of its own for each core, only of the last.
TEST(PluginKernelFailure, is_what_the_plugin_says) {
  static const char* why = nullptr;
  lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ONE_CALL);
  kernel.data = &kernel;
  Adapter own(kernel, [] { return std::exchange(why, nullptr); });
  Queue<Cpu> q(1);
  Matrix<double> A(3, 3), B(3, 3), C(3, 3);
  bench::fill_random(q, A.view(), 1);
  bench::fill_random(q, B.view(), 2);
  const auto multiply = [&] { own.multiply<double>(q, 1, A.view(), B.view(), 0, C.view()); };
  EXPECT_NO_THROW(multiply());
  why = "too many resources";
  EXPECT_TRUE(says(complaint_of<std::runtime_error>(multiply), "failed: too many resources"));
}

/// Once prepared for, a product takes no memory.
TEST(PluginKernelRoom, is_made_beforehand) {
  lasolve_kernel kernel = kernel_with(LASOLVE_KERNEL_ADDS | LASOLVE_KERNEL_NO_GAPS, 8, 8, 8);
  kernel.data = &kernel;
  Adapter own(kernel);
  Queue<Cpu> q(2);
  own.prepare<double>(q, 300, 200, 100);
  const void* const room = q.scratch<char>(1, 1).data();
  Matrix<double> A(300, 100), B(100, 200), C(300, 200);
  own.multiply<double>(q, -1, A.view(), B.view(), 1, C.view());
  EXPECT_EQ(q.scratch<char>(1, 1).data(), room);
}

TEST(PluginKernelRecord, is_checked) {
  const auto complaint = [](auto change) {
    lasolve_kernel kernel = kernel_with(0);
    change(kernel);
    return complaint_of<io::InputError>([&] { plugin::checked(&kernel, "x.so"); });
  };
  EXPECT_TRUE(
      says(complaint([](auto& k) { k.abi = 7; }), "x.so: error: expected version 1 of lasolve/kernel.h, found 7"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.size = 3; }), "LASOLVE_KERNEL_INIT"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.name = nullptr; }), "expected a name"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.name = "a,b"; }), "expected a name"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.f64 = nullptr, k.f32 = nullptr; }), "expected a function"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.limits = 1 << 20; }), "1048576"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.limits = LASOLVE_KERNEL_ADDS | LASOLVE_KERNEL_ASSIGNS; }), "found both"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.n_multiple = -2; }), "found -2"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.m_multiple = 32, k.m_largest = 31; }), "m_largest of 0 or from 32"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.k_largest = -1; }), "found -1"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.alignment = 48; }), "power of two up to 4096, found 48"));
  const auto unequal = [](auto& k) {
    k.limits = LASOLVE_KERNEL_SQUARE;
    k.m_multiple = 101, k.n_multiple = 103;
  };
  EXPECT_TRUE(says(complaint(unequal), "the least is 10403"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.f32_roundoff = 1e-12; }), "found 1e-12"));
  EXPECT_TRUE(says(complaint_of<io::InputError>([] { plugin::checked(nullptr, "x.so"); }), "found NULL"));
  EXPECT_TRUE(says(complaint([](auto& k) { k.memory = lasolve_memory(5); }), "found 5"));
  lasolve_kernel cuda = kernel_with(0);
  cuda.memory = LASOLVE_CUDA;
  EXPECT_EQ(plugin::checked(&cuda, "x.so").memory, LASOLVE_CUDA);
}

/// Of an older plugin, which ends before what this version added, and of a newer one.
TEST(PluginKernelRecord, may_be_shorter_or_longer) {
  lasolve_kernel older = kernel_with(LASOLVE_KERNEL_ADDS, 8, 8, 8);
  older.m_largest = 5, older.alignment = 3;  // of what it does not have
  older.size = offsetof(lasolve_kernel, m_multiple);
  EXPECT_EQ(plugin::checked(&older, "x.so").alignment, 0);
  EXPECT_EQ(plugin::checked(&older, "x.so").m_multiple, 0);
  EXPECT_EQ(plugin::checked(&older, "x.so").limits, unsigned(LASOLVE_KERNEL_ADDS));
  struct Newer {
    lasolve_kernel kernel;
    long more[2];
  } newer{kernel_with(0), {0, 0}};
  newer.kernel.size = sizeof newer;
  EXPECT_NO_THROW(plugin::checked(&newer.kernel, "x.so"));
  newer.more[1] = 1;
  EXPECT_TRUE(says(complaint_of<io::InputError>([&] { plugin::checked(&newer.kernel, "x.so"); }), "does not have yet"));
}

TEST(PluginBackends, are_for_embedders_too) {
  lasolve_kernel kernel = kernel_with(0);
  static int calls = 0;
  kernel.data = &calls;
  kernel.f64 = [](void* its, lasolve_op, lasolve_op, lasolve_int, lasolve_int, lasolve_int, double, const double*,
                  lasolve_int, const double*, lasolve_int, double, double*, lasolve_int) { ++*static_cast<int*>(its); };
  const auto* const naive = std::get<const GemmBackend<Cpu>*>(backend_of(kernel, "naive"));  // in no table
  EXPECT_STREQ(naive->name, "naive");
  Queue<Cpu> q(1);
  Matrix<double> A(1, 1), C(1, 1);
  (*naive)(q, 1.0, A.view(), A.view(), 0.0, C.view());
  EXPECT_EQ(calls, 1);
  kernel.memory = LASOLVE_CUDA;
  EXPECT_TRUE(std::holds_alternative<const GemmBackend<Cuda>*>(backend_of(kernel)));
  kernel.f64 = nullptr, kernel.f32 = nullptr;
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { return backend_of(kernel); }), "found none"));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([] { return load_kernel("no/library.so"); }), "cannot open"));
}

TEST(PluginBackends, have_a_name_once_and_each_its_kernel) {
  lasolve_kernel kernel = kernel_with(0);
  EXPECT_THROW(plugin::add_backend(kernel, "naive"), std::invalid_argument);
  EXPECT_EQ(plugin::device_kind_of("naive"), std::nullopt);
  static int calls[40];
  kernel.f64 = [](void* its, lasolve_op, lasolve_op, lasolve_int, lasolve_int, lasolve_int, double, const double*,
                  lasolve_int, const double*, lasolve_int, double, double*, lasolve_int) { ++*static_cast<int*>(its); };
  for (int& its : calls) {
    kernel.data = &its;
    plugin::add_backend(kernel, "own_" + std::to_string(&its - calls));
  }
  EXPECT_EQ(plugin::device_kind_of("own_39"), Device::cpu);
  Queue<Cpu> q(1);
  Matrix<double> A(1, 1), C(1, 1);
  for (const GemmBackend<Cpu>* backend : gemm_backends<Cpu>())
    if (std::string(backend->name).starts_with("own_")) (*backend)(q, 1.0, A.view(), A.view(), 0.0, C.view());
  for (const int its : calls) EXPECT_EQ(its, 1);
  lasolve_kernel on_cuda = kernel;
  on_cuda.memory = LASOLVE_CUDA;
  plugin::add_backend(on_cuda, "there");
  EXPECT_EQ(plugin::device_kind_of("there"), Device::cuda);
  EXPECT_EQ(plugin::take_cost("there").in_words(), "");
  EXPECT_NO_THROW(plugin::require_intact());
  const auto on = gemm_backends<Cuda>();
  EXPECT_TRUE(std::any_of(on.begin(), on.end(), [](const auto* b) { return b->name == std::string("there"); }));
}

}  // namespace
}  // namespace lasolve::test
