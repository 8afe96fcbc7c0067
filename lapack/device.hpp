// Systems on a CUDA device: copied there, factored or solved, and brought back to the memory of the caller, which is never registered.
#pragma once

#include <optional>
#include <stdexcept>

#include "lapack/engine.hpp"

namespace lasolve::lapack {

/// A CUDA device, and its backend, whose products are counted.
struct OnDevice {
  int index;
  GemmBackend<Cuda> gemm;
};
/// Of LASOLVE_DEVICE and LASOLVE_GEMM. Null: there is none; why is said once where one was named.
const OnDevice* device();

/// Each is nothing where the CPU is to do it: it was not asked to be elsewhere, the system is small, this is a forked child, or the device
/// failed, which is said once. The memory of the caller is then as it was. Else as in engine.hpp.

/// P A = L U and, where no pivot is zero, X in the place of B. The first column whose pivot is zero, or −1.
template <class T>
std::optional<std::int64_t> lu_on_device(MatrixView<T> A, std::int64_t* pivots, MatrixView<T> B);
/// A = L Lᵀ, and X in the place of B. Where a minor is not positive, the CPU finds that out again.
template <class T>
bool cholesky_on_device(Half<T> A, MatrixView<T> B);
template <class T>
bool solve_lu_on_device(MatrixView<T> A, const std::int64_t* pivots, MatrixView<T> B, Op);
template <class T>
bool solve_cholesky_on_device(Half<T> A, MatrixView<T> B);

/// What the above do, on a device that is there: in cuda/, and without CUDA in no_cuda/.
namespace there {

/// The device failed while it wrote to the memory of the caller.
struct HalfWritten : MachineError {
  using MachineError::MachineError;
};

template <class T>
std::int64_t factor_lu(const OnDevice&, MatrixView<T> A, std::int64_t* pivots, MatrixView<T> B);
/// The order of the first minor that is not positive, with nothing written; or 0.
template <class T>
std::int64_t factor_cholesky(const OnDevice&, Half<T> A, MatrixView<T> B);
template <class T>
void solve_lu(const OnDevice&, MatrixView<T> A, const std::int64_t* pivots, MatrixView<T> B, Op);
template <class T>
void solve_cholesky(const OnDevice&, Half<T> A, MatrixView<T> B);

#define LASOLVE_ON_DEVICE(T)                                                                      \
  template std::int64_t factor_lu(const OnDevice&, MatrixView<T>, std::int64_t*, MatrixView<T>);  \
  template std::int64_t factor_cholesky(const OnDevice&, Half<T>, MatrixView<T>);                 \
  template void solve_lu(const OnDevice&, MatrixView<T>, const std::int64_t*, MatrixView<T>, Op); \
  template void solve_cholesky(const OnDevice&, Half<T>, MatrixView<T>);

}  // namespace there
}  // namespace lasolve::lapack
