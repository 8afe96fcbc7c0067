// What the caller of the library has set on its thread stays: the current device, the driver's context, an error that is still
// to be asked for. And what the caller gives is where it is said to be.
#include <dlfcn.h>

#include <functional>
#include <thread>

#include "core/cuda/launch.cuh"
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

template <class F>
F of_driver(const char* name) {
  return reinterpret_cast<F>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), name));
}
CUcontext current_context() {
  static const auto get = of_driver<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  EXPECT_EQ(get(&context), CUDA_SUCCESS);
  return context;
}

class CallersStateOnCuda : public testing::Test {
 protected:
  static constexpr std::int64_t n = 60;

  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    Queue<Cuda> q(0);
    dA = upload(q, A), dB = upload(q, B), dX = upload(q, B);
  }

  static Options on(int device, const char* gemm = "auto") {
    Options o;
    o.device = {Device::cuda, device};
    o.gemm = gemm;
    return o;
  }
  void expect_answer(MatrixView<const double> X) {
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X)), hpl_threshold);
  }

  /// Every public call that meets the device, each followed by a look.
  void call_everything(const Options& o, const std::function<void(const char*)>& look) {
    {
      Factorization<double> on_host(A.view(), o);
      look("a factorization of memory of the host");
      on_host.solve(B.view(), X.view());
      look("a solve");
      expect_answer(X.view());
      EXPECT_THROW(on_host.solve(B.view(), too_narrow.view()), std::invalid_argument);
      look("a solve that throws");
      Factorization<double> moved = std::move(on_host);
      look("a move");
      moved = Factorization<double>(rounded<double>(A), o);
      look("an assignment");
      EXPECT_TRUE(moved.report().outcome.ok());
    }
    look("destructors");
    EXPECT_THROW(Factorization<double>(not_square.view(), o), std::invalid_argument);
    look("a factorization that throws");
    {
      Matrix<double, Cuda> memory(n, n);
      look("an allocation");
    }
    look("a release");
    EXPECT_THROW((Matrix<double, Cuda>(std::int64_t(1) << 24, std::int64_t(1) << 24)), OutOfMemory);
    look("an allocation of too much");
    EXPECT_GT(Memory<Cuda>::available(), 0u);
    look("a question for the free memory");
  }

  const Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 2), not_square = random_matrix(n, n - 1);
  Matrix<double> X = random_matrix(n, 2), too_narrow = random_matrix(n, 1);
  Matrix<double, Cuda> dA, dB, dX;
};

TEST_F(CallersStateOnCuda, has_the_context_that_was_current_also_where_it_was_none) {
  std::thread([&] {
    ASSERT_EQ(current_context(), nullptr);
    call_everything(on(0), [](const char* what) { EXPECT_EQ(current_context(), nullptr) << what; });
    Factorization<double> on_device(dA.view());
    EXPECT_EQ(current_context(), nullptr);
    on_device.solve(dB.view(), dX.view());
    EXPECT_EQ(current_context(), nullptr);
  }).join();
  std::thread([&] {
    CUDA_CHECK(cudaSetDevice(0));
    CUDA_CHECK(cudaFree(nullptr));
    const CUcontext primary = current_context();
    ASSERT_NE(primary, nullptr);
    call_everything(on(0), [&](const char* what) { EXPECT_EQ(current_context(), primary) << what; });
  }).join();
}

TEST_F(CallersStateOnCuda, has_a_context_of_its_own_again) {
  using Create = CUresult (*)(CUcontext*, unsigned, CUdevice);
  CUcontext own = nullptr, popped = nullptr;
  ASSERT_EQ(of_driver<Create>("cuCtxCreate_v2")(&own, 0, 0), CUDA_SUCCESS);
  call_everything(on(0), [&](const char* what) { EXPECT_EQ(current_context(), own) << what; });
  EXPECT_EQ(of_driver<decltype(&cuCtxPopCurrent)>("cuCtxPopCurrent_v2")(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, own);
  EXPECT_EQ(of_driver<decltype(&cuCtxDestroy)>("cuCtxDestroy_v2")(own), CUDA_SUCCESS);
}

TEST_F(CallersStateOnCuda, has_the_device_that_was_current) {
  if (cuda_devices().names.size() < 2) GTEST_SKIP() << "there is one device only";
  CUDA_CHECK(cudaSetDevice(1));
  const CUcontext before = current_context();
  call_everything(on(0), [&](const char* what) {
    int device = -1;
    CUDA_CHECK(cudaGetDevice(&device));
    EXPECT_EQ(device, 1) << what;
    EXPECT_EQ(current_context(), before) << what;
  });
  CUDA_CHECK(cudaSetDevice(0));
}

TEST_F(CallersStateOnCuda, decides_on_which_device_a_view_is_solved) {
  if (cuda_devices().names.size() < 2) GTEST_SKIP() << "there is one device only";
  Queue<Cuda> q(1);
  std::optional<CurrentDevice> current(q);
  const Matrix<double, Cuda> there = upload(q, A), B_there = upload(q, B);
  Matrix<double, Cuda> X_there = upload(q, B);
  current.reset();
  Factorization<double> factors(there.view());
  EXPECT_EQ(factors.report().device, "cuda:1");
  EXPECT_TRUE(factors.solve(B_there.view(), X_there.view()).outcome.ok());
  current.emplace(q);
  expect_answer(download(q, X_there));
  const auto complaint = [](auto action) { return complaint_of<std::invalid_argument>(action); };
  EXPECT_TRUE(says(complaint([&] { factors.solve(dB.view(), X_there.view()); }),
                   "B is on cuda:0, but the solver is on cuda:1"));
  EXPECT_TRUE(says(complaint([&] { factors.solve(B_there.view(), dX.view()); }), "X is on cuda:0"));
  EXPECT_TRUE(says(complaint([&] { Factorization<double>(there.view(), on(0)); }), "A is on cuda:1"));
}

/// An error of the caller's own, which it has not looked at.
TEST_F(CallersStateOnCuda, has_errors_that_are_not_taken_for_ours) {
  for (const char* gemm : {"naive", "auto"}) {
    SCOPED_TRACE(gemm);
    EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    Factorization<double> factors(dA.view(), on(0, gemm));
    EXPECT_TRUE(factors.report().outcome.ok());
    EXPECT_TRUE(factors.solve(dB.view(), dX.view()).outcome.ok());
    EXPECT_TRUE(solve(A.view(), B.view(), X.view(), on(0, gemm)).outcome.ok());
    expect_answer(X.view());
    cudaGetLastError();
  }
}

static __global__ void nothing() {}

TEST_F(CallersStateOnCuda, is_left_no_error_of_ours) {
  call_everything(on(0), [](const char* what) { EXPECT_EQ(cudaGetLastError(), cudaSuccess) << what; });
  Queue<Cuda> q(0);
  EXPECT_THROW(launch(q, nothing, 0, 32), MachineError);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_THROW(CUDA_CHECK(cudaSetDevice(-1)), MachineError);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CallersStateOnCuda, is_asked_where_memory_is) {
  using View = MatrixView<const double, Cuda>;
  Factorization<double> factors(dA.view(), on(0));
  const auto complaint = [](auto action) { return complaint_of<std::invalid_argument>(action); };
  const View A_of_host(A.data(), n, n, A.ld()), B_of_host(B.data(), n, 2, B.ld());
  EXPECT_TRUE(says(complaint([&] { Factorization<double>(A_of_host, on(0)); }), "A is a view of device memory, but"));
  EXPECT_TRUE(says(complaint([&] { factors.solve(B_of_host, dX.view()); }), "B is a view of device memory, but"));
  const MatrixView<double, Cuda> X_of_host(X.data(), n, 2, X.ld());
  EXPECT_TRUE(says(complaint([&] { factors.solve(dB.view(), X_of_host); }), "X is a view of device memory, but"));

  const MatrixView<const double> A_of_device(dA.data(), n, n, dA.ld()), B_of_device(dB.data(), n, 2, dB.ld());
  const MatrixView<double> X_of_device(dX.data(), n, 2, dX.ld());
  for (const Device::Kind kind : {Device::cuda, Device::cpu}) {
    Options o = on(0);
    o.device.kind = kind;
    Factorization<double> either(A.view(), o);
    EXPECT_TRUE(says(complaint([&] { Factorization<double>(A_of_device, o); }), "points to memory of cuda:0"));
    EXPECT_TRUE(says(complaint([&] { either.solve(B_of_device, X.view()); }), "points to memory of cuda:0"));
    EXPECT_TRUE(says(complaint([&] { either.solve(B.view(), X_of_device); }), "points to memory of cuda:0"));
  }

  Matrix<double, Cuda> freed(n, 2);
  const View dangling = std::as_const(freed).view();
  freed = {};
  EXPECT_TRUE(says(complaint([&] { factors.solve(dangling, dX.view()); }), "points to none"));
  const bool X_is_behind = dB.data() < dX.data();  // a view too large of the one behind does not overlap the other
  const View too_large((X_is_behind ? dX : dB).data(), n, 2, std::int64_t(1) << 36);
  EXPECT_TRUE(says(complaint([&] { factors.solve(too_large, (X_is_behind ? dB : dX).view()); }), "points to none"));

  void *pinned = nullptr, *managed = nullptr;
  CUDA_CHECK(cudaMallocHost(&pinned, B.bytes()));
  EXPECT_TRUE(
      says(complaint([&] { factors.solve(View(static_cast<double*>(pinned), n, 2, n), dX.view()); }), "pinned"));
  CUDA_CHECK(cudaFreeHost(pinned));
  CUDA_CHECK(cudaMallocManaged(&managed, B.bytes()));
  std::copy_n(B.data(), B.ld() * 2, static_cast<double*>(managed));
  const MatrixView<double, Cuda> both(static_cast<double*>(managed), n, 2, B.ld());
  EXPECT_TRUE(factors.solve(both, both).outcome.ok());
  expect_answer({static_cast<double*>(managed), n, 2, B.ld()});
  CUDA_CHECK(cudaFree(managed));
}

}  // namespace
}  // namespace lasolve::test
