// What is called of NCCL, cuBLASMp and cuSOLVERMp. They are loaded when the engine starts: a build needs none of them, nor their headers.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace lasolve::engines {

/// 0 in all of them: that went well.
using Status = int;

/// An object of one of them, which it alone knows.
using Raw = void*;

/// A routine that wants workspace: how much, on the GPU and on the host, and the call with it, that ends in `More...`.
template <class More, class... Args>
struct Routine;
template <class... More, class... Args>
struct Routine<void(More...), Args...> {
  const char* name = "";
  Status (*size)(Args..., std::size_t* on_gpu, std::size_t* on_host) = nullptr;
  Status (*call)(Args..., void* on_gpu, std::size_t, void* on_host, std::size_t, More...) = nullptr;
};

/// A shared library that was found and loaded.
struct Library {
  void* handle = nullptr;
  std::string file;
};

/// What NCCL hands to all ranks, so that they find each other.
struct UniqueId {
  char bytes[128];
};

struct Nccl {
  Library library;
  Status (*version)(int*);
  Status (*unique_id)(UniqueId*);
  Status (*create)(Raw* communicator, int count, UniqueId, int rank);
  Status (*destroy)(Raw communicator);
  const char* (*text)(Status);
};

/// Indices of rows and columns are counted from 1.
struct CublasMp {
  Library library;
  Status (*version)(int*);
  Status (*create)(Raw* handle, cudaStream_t);
  Status (*destroy)(Raw handle);
  Status (*create_grid)(std::int64_t rows, std::int64_t cols, int by_rows, Raw communicator, Raw* grid);
  Status (*destroy_grid)(Raw grid);
  Status (*describe)(std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, std::int64_t row,
                     std::int64_t col, std::int64_t ld, cudaDataType, Raw grid, Raw* description);
  Status (*destroy_description)(Raw description);
  Routine<void(), Raw, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, std::int64_t,
          std::int64_t, const void*, const void*, std::int64_t, std::int64_t, Raw, void*, std::int64_t, std::int64_t,
          Raw, cublasComputeType_t>
      trsm;
};

/// `int*`: info, on the GPU.
struct CusolverMp {
  Library library;
  Status (*create)(Raw* handle, int device, cudaStream_t);
  Status (*destroy)(Raw handle);
  Status (*version)(Raw handle, int*);
  Status (*create_grid)(Raw handle, Raw* grid, Raw communicator, std::int32_t rows, std::int32_t cols, int by_rows);
  Status (*destroy_grid)(Raw grid);
  Status (*describe)(Raw* description, Raw grid, cudaDataType, std::int64_t m, std::int64_t n, std::int64_t mb,
                     std::int64_t nb, std::uint32_t row, std::uint32_t col, std::int64_t ld);
  Status (*destroy_description)(Raw description);
  Routine<void(int*), Raw, std::int64_t, std::int64_t, void*, std::int64_t, std::int64_t, Raw, std::int64_t*,
          cudaDataType>
      getrf;
  Routine<void(int*), Raw, cublasOperation_t, std::int64_t, std::int64_t, const void*, std::int64_t, std::int64_t, Raw,
          const std::int64_t*, void*, std::int64_t, std::int64_t, Raw, cudaDataType>
      getrs;
  Routine<void(int*), Raw, cublasFillMode_t, std::int64_t, void*, std::int64_t, std::int64_t, Raw, cudaDataType> potrf;
  Routine<void(int*), Raw, cublasFillMode_t, std::int64_t, std::int64_t, const void*, std::int64_t, std::int64_t, Raw,
          void*, std::int64_t, std::int64_t, Raw, cudaDataType>
      potrs;
};

/// Found in folders that LASOLVE_CUSOLVERMP lists, among packages of the Python of VIRTUAL_ENV, or by the loader. Throws MachineError, and
/// says which library is missing, or too old.
struct Libraries {
  Libraries();

  Nccl nccl;
  CublasMp blas;
  CusolverMp solver;
};

/// "2.29.2" of 22902.
std::string version_text(int version);

/// Throws MachineError where the version of cuSOLVERMp is one that this code was not written for.
void require_version(const CusolverMp&, int version);

}  // namespace lasolve::engines
