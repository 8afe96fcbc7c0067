// Tests that are written once and run on each device: the CPU, and CUDA where there is a device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/transfer.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::test {

/// Why nothing can run there; empty: it can.
inline std::string why_no(Device::Kind device) { return device == Device::cuda ? why_no_cuda_device(0) : ""; }
template <class Space>
inline constexpr Device::Kind device_of = std::is_same_v<Space, Cuda> ? Device::cuda : Device::cpu;

/// Three threads: no power of two, so shares of the work are uneven.
template <class Space>
Queue<Space> test_queue() {
  if constexpr (std::is_same_v<Space, Cpu>)
    return Queue<Cpu>(3);
  else
    return Queue<Cuda>(0);
}

/// The backends that can run here.
template <class Space>
std::vector<const GemmBackend<Space>*> backends_here() {
  std::vector<const GemmBackend<Space>*> here;
  for (const auto* backend : gemm_backends<Space>())
    if (!backend->unavailable || backend->unavailable(0).empty()) here.push_back(backend);
  return here;
}

inline bool openblas_is_here() {
  static const bool is = [] {
    for (const auto* backend : backends_here<Cpu>())
      if (std::string(backend->name) == "blas") return true;
    return false;
  }();
  return is;
}

/// A backend that is there on every machine: on the CPU no library of others.
template <class Space>
const GemmBackend<Space>& some_backend() {
  const auto all = gemm_backends<Space>();
  const auto is_packed = [](const GemmBackend<Space>* backend) { return std::string(backend->name) == "packed"; };
  return std::is_same_v<Space, Cpu> ? **std::find_if(all.begin(), all.end(), is_packed) : *all[0];
}

/// A copy of A on a device, with the same leading dimension, and with the elements between the columns.
template <class T, class Space>
Matrix<T, Space> upload(Queue<Space>& q, const Matrix<T>& A) {
  Matrix<T, Space> there(A.rows(), A.cols(), A.ld());
  if constexpr (std::is_same_v<Space, Cpu>)
    std::copy_n(A.data(), A.ld() * A.cols(), there.data());
  else
    copy<T>(q, MatrixView<const T, Cpu>(A.data(), A.ld(), A.cols(), A.ld()),
            MatrixView<T, Cuda>(there.data(), A.ld(), A.cols(), A.ld()));
  q.finish();
  return there;
}

/// The reverse.
template <class T, class Space>
Matrix<T> download(Queue<Space>& q, const Matrix<T, Space>& A) {
  Matrix<T> here(A.rows(), A.cols(), A.ld());
  if constexpr (std::is_same_v<Space, Cpu>)
    std::copy_n(A.data(), A.ld() * A.cols(), here.data());
  else
    copy<T>(q, MatrixView<const T, Cuda>(A.data(), A.ld(), A.cols(), A.ld()),
            MatrixView<T, Cpu>(here.data(), A.ld(), A.cols(), A.ld()));
  q.finish();
  return here;
}

/// Where a solver test runs, and in which type.
struct Target {
  Device::Kind device;
  bool single;
  friend void PrintTo(const Target& t, std::ostream* out) {
    *out << (t.device == Device::cuda ? "cuda" : "cpu") << (t.single ? ", float" : ", double");
  }
};
inline std::vector<Target> targets(Device::Kind device) { return {{device, false}, {device, true}}; }
inline std::string name_of_target(const testing::TestParamInfo<Target>& info) {
  return info.param.single ? "f32" : "f64";
}

class OnTarget : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(GetParam().device); !why.empty()) GTEST_SKIP() << why;
  }
  Options options(std::int64_t block_size = 0) const {
    Options options;
    options.device.kind = GetParam().device;
    options.block_size = block_size;
    if (options.device.kind == Device::cpu && !openblas_is_here())
      options.gemm = std::string("packed");  // without a note
    return options;
  }
  /// test(T()) for the type T of the target.
  template <class Test>
  void with_element(Test test) {
    GetParam().single ? test(float()) : test(double());
  }
};

/// What the exception of type E says; a failure when there is none.
template <class E, class Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}
inline testing::AssertionResult says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                              : testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

/// Runs the tests of a suite derived from OnTarget as Cpu/Suite.test/f64 and so on.
#define LASOLVE_ON_ALL_TARGETS(Suite)                                                            \
  INSTANTIATE_TEST_SUITE_P(Cpu, Suite, testing::ValuesIn(targets(Device::cpu)), name_of_target); \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::ValuesIn(targets(Device::cuda)), name_of_target)

}  // namespace lasolve::test
