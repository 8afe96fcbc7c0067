// What a rank has of cuSOLVERMp while it solves: a GPU, a stream, a communicator, grids, workspace. All that is made goes by itself.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/block_cyclic.hpp"
#include "engines/cusolvermp/libraries.hpp"
#include "engines/engine.hpp"
#include "engines/mpi/ranks.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::engines {

/// An object of a library, or memory of a GPU; it ends with its last owner.
using Object = std::shared_ptr<void>;

/// Throws MachineError where a call has not gone well.
void require_done(const char* call, Status);
void require_done(const char* call, cudaError_t);

/// `make(&raw)` makes an object, and `end(raw)` ends it.
template <class Make, class End>
Object made(const char* call, Make make, End end) {
  Raw raw = nullptr;
  require_done(call, make(&raw));
  return Object(raw, end);
}

/// Of the GPU of this process. Throws MachineError, and says how much is free, where there is no room.
Object gpu_memory(std::size_t bytes);

/// An element type, and arithmetic in it, in the words of CUDA's libraries.
template <class T>
struct Words;
template <>
struct Words<double> {
  static constexpr cudaDataType type = CUDA_R_64F;
  static constexpr cublasComputeType_t arithmetic = CUBLAS_COMPUTE_64F;
};
template <>
struct Words<float> {
  static constexpr cudaDataType type = CUDA_R_32F;
  static constexpr cublasComputeType_t arithmetic = CUBLAS_COMPUTE_32F;
};

class Session : public MpiRanks {
 public:
  /// Throws FailedTogether where libraries or GPUs are missing.
  Session();

  std::string version() const override;
  /// As many as the GPU has room for, but for an eighth that workspace may take: sizes of cuSOLVERMp have 64 bits.
  std::int64_t most_elements(std::size_t bytes_each) const override;
  void use_threads(int) override {}

  const CusolverMp& solver() const { return libraries_->solver; }
  Raw solver_handle() const { return solver_.get(); }
  Raw solver_grid() const { return solver_grid_.get(); }
  cudaStream_t stream() const { return cudaStream_t(stream_.get()); }

  /// cuBLASMp, which is made when it is first asked for, by all ranks.
  struct Blas {
    const CublasMp& functions;
    Object handle, grid;
  };
  const Blas& blas();

  /// The routine with the arguments of `call`, as `call(function, workspace...)`: workspace is found here. Returns info, 0 where there is none.
  template <class... More, class... Args, class Call>
  int run(const Routine<void(More...), Args...>& routine, Call call) {
    std::size_t on_gpu = 0, on_host = 0;
    together([&] {
      require_done(routine.name, call(routine.size, &on_gpu, &on_host));
      make_room(on_gpu, on_host);
    });
    const Status status = call(routine.call, gpu_workspace_.get(), on_gpu, static_cast<void*>(host_workspace_.data()),
                               on_host, static_cast<More>(info_.get())...);
    // Others may wait for this rank on their GPUs. So what it throws alone is not FailedTogether, and ends them all.
    const int info = info_after(routine.name);
    if (info <= 0) require_done(routine.name, status);  // cusolverMpPotrf fails, too, where a minor is not positive
    return info;
  }

 private:
  void take_gpu();
  void require_own_gpus() const;
  void connect();
  void make_room(std::size_t on_gpu, std::size_t on_host);
  /// What a routine left, when the stream has come to its end.
  int info_after(const char* call);

  int device_ = 0, nccl_version_ = 0, solver_version_ = 0;
  std::unique_ptr<Libraries> libraries_;
  Object stream_, communicator_, solver_, solver_grid_, info_, gpu_workspace_;
  std::size_t gpu_room_ = 0;
  std::vector<std::byte> host_workspace_;
  std::unique_ptr<Blas> blas_;
};

/// A part of a matrix, copied to the GPU. No rank waits for others here.
template <class T>
class OnGpu {
 public:
  OnGpu(const Session& session, Part<T> part)
      : layout_(part.layout),
        ld_((std::max<std::int64_t>(1, layout_.rows.count()) + alignment - 1) / alignment * alignment),
        memory_(gpu_memory(sizeof(T) * std::size_t(ld_) * std::size_t(layout_.cols.count()))),
        description_(made(
            "cusolverMpCreateMatrixDesc",
            [&](Raw* raw) {
              return session.solver().describe(raw, session.solver_grid(), Words<T>::type, layout_.rows.length,
                                               layout_.cols.length, layout_.rows.block, layout_.cols.block, 0, 0, ld_);
            },
            session.solver().destroy_description)) {
    copy(session, memory_.get(), ld_, part.local.data(), part.local.ld());
  }
  void copy_to(const Session& session, MatrixView<T> to) const {
    copy(session, to.data(), to.ld(), memory_.get(), ld_);
    require_done("cudaStreamSynchronize", cudaStreamSynchronize(session.stream()));
  }
  /// Of the whole matrix; zero where another rank has it.
  std::vector<T> diagonal(const Session& session) const {
    std::vector<T> all(std::size_t(layout_.rows.length));
    for (std::int64_t i = 0; i < layout_.rows.length; i += layout_.rows.block) {
      if (!layout_.rows.has(i) || !layout_.cols.has(i)) continue;
      const std::int64_t count = std::min(layout_.rows.block, layout_.rows.length - i);
      const T* const from = data() + layout_.rows.place_of(i) + layout_.cols.place_of(i) * ld_;
      require_done("cudaMemcpy2DAsync",
                   cudaMemcpy2DAsync(all.data() + i, sizeof(T), from, sizeof(T) * std::size_t(ld_ + 1), sizeof(T),
                                     std::size_t(count), cudaMemcpyDefault, session.stream()));
    }
    require_done("cudaStreamSynchronize", cudaStreamSynchronize(session.stream()));
    return all;
  }
  T* data() const { return static_cast<T*>(memory_.get()); }
  Raw description() const { return description_.get(); }
  /// For cuBLASMp.
  Object blas_description(const Session::Blas& blas) const {
    return made(
        "cublasMpMatrixDescriptorCreate",
        [&](Raw* raw) {
          return blas.functions.describe(layout_.rows.length, layout_.cols.length, layout_.rows.block,
                                         layout_.cols.block, 0, 0, ld_, Words<T>::type, blas.grid.get(), raw);
        },
        blas.functions.destroy_description);
  }

 private:
  static constexpr std::int64_t alignment = 32;  // columns begin where memory is read in whole lines

  void copy(const Session& session, void* to, std::int64_t ld_to, const void* from, std::int64_t ld_from) const {
    const auto rows = std::size_t(layout_.rows.count()), cols = std::size_t(layout_.cols.count());
    if (rows == 0 || cols == 0) return;
    require_done("cudaMemcpy2DAsync",
                 cudaMemcpy2DAsync(to, sizeof(T) * std::size_t(ld_to), from, sizeof(T) * std::size_t(ld_from),
                                   sizeof(T) * rows, cols, cudaMemcpyDefault, session.stream()));
  }

  BlockCyclic layout_;
  std::int64_t ld_;
  Object memory_, description_;
};

}  // namespace lasolve::engines
