// What another library of tensors hands over as DLPack, borrowed. This needs no header of DLPack's: whatever has the members of its
// DLTensor, DLManagedTensor or DLManagedTensorVersioned is one.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include "lasolve/borrowed.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// Borrows a tensor of one or two dimensions, of which one is a column, on the host or on a CUDA device. The tensor stays its owner's, who
/// deletes it when the matrix is no longer needed; the stream that made it comes before a call as `After`. T is double or float, const
/// where it is only read. Throws std::invalid_argument for elements that are not T, another device, more dimensions, a major version
/// that is not 1, or a read-only tensor that would be written to.
template <class T, class Tensor>
Borrowed<T> from_dlpack(const Tensor& given) {
  if constexpr (requires { given.version.major; }) {
    constexpr std::uint64_t read_only = 1;
    require(given.version.major == 1, "a DLPack tensor is of a major version other than 1, whose layout is not known");
    require(std::is_const_v<T> || (given.flags & read_only) == 0,
            "a DLPack tensor is read-only, but X is written to: give one that may change");
  }
  if constexpr (requires { given.dl_tensor; }) {
    return from_dlpack<T>(given.dl_tensor);
  } else {
    enum { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13, floating = 2 };  // of DLPack's enumerators
    const int device = int(given.device.device_type);
    const bool on_cuda = device == cuda || device == cuda_managed;
    require(on_cuda || device == cpu || device == cuda_host,
            "a DLPack tensor is on a device that is neither the host nor one of CUDA");
    require(int(given.dtype.code) == floating && given.dtype.bits == 8 * sizeof(T) && given.dtype.lanes == 1,
            "the elements of a DLPack tensor are of another type: those of from_dlpack<double> are float64, of "
            "from_dlpack<float> float32");
    require(given.ndim == 1 || given.ndim == 2, "a DLPack tensor has neither one dimension nor two");
    const bool is_matrix = given.ndim == 2;
    const std::int64_t rows = given.shape[0], cols = is_matrix ? given.shape[1] : 1;
    const std::int64_t row_stride = given.strides ? given.strides[0] : cols;
    const std::int64_t column_stride = given.strides && is_matrix ? given.strides[1] : 1;
    auto* const data = given.data ? static_cast<char*>(given.data) + given.byte_offset : nullptr;
    require(reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0,
            "the elements of a DLPack tensor are not aligned");
    return {
        rows == 0 || cols == 0 ? nullptr : reinterpret_cast<T*>(data), rows, cols, row_stride, column_stride, on_cuda};
  }
}

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
