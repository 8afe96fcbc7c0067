#include "engines/cusolvermp/session.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace lasolve::engines {

namespace {

/// The UUID of a GPU: which of all it is, however a launcher numbers those that a process sees.
using Name = std::array<char, 16>;

constexpr int by_columns = 0;  // the order of ranks in a grid, in both libraries

std::string in_gib(std::size_t bytes) {
  const std::string text = std::to_string(double(bytes) / double(1 << 30));
  return text.substr(0, text.find('.') + 3) + " GiB";
}

}  // namespace

void require_done(const char* call, Status status) {
  if (status != 0) throw MachineError(std::string(call) + " fails with status " + std::to_string(status));
}
void require_done(const char* call, cudaError_t error) {
  if (error != cudaSuccess) throw MachineError(std::string(call) + " fails: " + cudaGetErrorString(error));
}

Object gpu_memory(std::size_t bytes) {
  const auto allocate = [&](Raw* raw) {
    const cudaError_t error = cudaMalloc(raw, std::max<std::size_t>(bytes, 1));
    if (error != cudaErrorMemoryAllocation) return error;
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw MachineError("the GPU has no room for another " + in_gib(bytes) + ", " + in_gib(free) + " of its " +
                       in_gib(total) + " are free: take more ranks, or --precision fp32");
  };
  return made("cudaMalloc", allocate, cudaFree);
}

Session::Session() {
  setenv("NCCL_NVLS_ENABLE", "0", 1);  // NVLink multicast stays off, whatever the user has set
  together([&] {
    libraries_ = std::make_unique<Libraries>();
    libraries_->nccl.version(&nccl_version_);
    take_gpu();
  });
  require_own_gpus();
  together([&] {
    stream_ = made(
        "cudaStreamCreateWithFlags",
        [](Raw* raw) { return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(raw), cudaStreamNonBlocking); },
        [](Raw raw) { cudaStreamDestroy(cudaStream_t(raw)); });
    info_ = gpu_memory(sizeof(int));
    solver_ = made(
        "cusolverMpCreate", [&](Raw* raw) { return solver().create(raw, device_, stream()); }, solver().destroy);
    require_done("cusolverMpGetVersion", solver().version(solver_.get(), &solver_version_));
    require_version(solver(), solver_version_);
  });
  connect();
}

/// One of those that this process sees. A launcher may show each rank all of the machine, or only its own.
void Session::take_gpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0)
    throw MachineError(std::string("the engine cusolvermp finds no GPU: ") +
                       (error != cudaSuccess ? cudaGetErrorString(error) : "there is none"));
  device_ = rank_here() % count;
  require_done("cudaSetDevice", cudaSetDevice(device_));
}

/// NCCL does not take two ranks on the same one.
void Session::require_own_gpus() const {
  cudaDeviceProp its{};
  cudaGetDeviceProperties(&its, device_);
  Name mine{};
  std::copy(std::begin(its.uuid.bytes), std::end(its.uuid.bytes), mine.begin());
  std::vector<Name> all(std::size_t(ranks().count));
  MPI_Allgather(mine.data(), int(mine.size()), MPI_CHAR, all.data(), int(mine.size()), MPI_CHAR, MPI_COMM_WORLD);
  if (const auto own = std::set<Name>(all.begin(), all.end()).size(); own < all.size())
    throw FailedTogether("the engine cusolvermp takes a GPU for each rank, and there are " +
                         std::to_string(all.size()) + " ranks on " + std::to_string(own) +
                         (own == 1 ? " GPU" : " GPUs"));
}

/// Ranks are numbered down the columns of the grid there: that order is the one that all versions know.
void Session::connect() {
  const Nccl& nccl = libraries_->nccl;
  const Ranks all = ranks();
  const std::string disconnected = "NCCL does not connect the ranks: ";
  UniqueId id{};
  together([&] {
    if (const Status status = all.rank == 0 ? nccl.unique_id(&id) : 0; status != 0)
      throw MachineError(disconnected + nccl.text(status));
  });
  broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
  Raw raw = nullptr, grid = nullptr;
  if (const Status status = nccl.create(&raw, all.count, id, all.col() * all.grid_rows + all.row()); status != 0)
    end_all(disconnected + nccl.text(status));
  communicator_ = Object(raw, nccl.destroy);
  if (solver().create_grid(solver_.get(), &grid, raw, all.grid_rows, all.grid_cols, by_columns) != 0)
    end_all("cusolverMpCreateDeviceGrid fails");
  solver_grid_ = Object(grid, solver().destroy_grid);
}

std::string Session::version() const {
  return "cuSOLVERMp " + version_text(solver_version_) + " with NCCL " + version_text(nccl_version_) + " and " +
         mpi_version();
}

std::int64_t Session::most_elements(std::size_t bytes_each) const {
  std::size_t free = 0, total = 0;
  require_done("cudaMemGetInfo", cudaMemGetInfo(&free, &total));
  return std::int64_t((free - free / 8) / bytes_each);
}

const Session::Blas& Session::blas() {
  if (blas_) return *blas_;
  const CublasMp& functions = libraries_->blas;
  Object handle;
  together([&] {
    handle = made(
        "cublasMpCreate", [&](Raw* raw) { return functions.create(raw, stream()); }, functions.destroy);
  });
  Raw grid = nullptr;
  require_done("cublasMpGridCreate",
               functions.create_grid(ranks().grid_rows, ranks().grid_cols, by_columns, communicator_.get(), &grid));
  blas_.reset(new Blas{functions, handle, Object(grid, functions.destroy_grid)});
  return *blas_;
}

void Session::make_room(std::size_t on_gpu, std::size_t on_host) {
  if (on_gpu > gpu_room_ || !gpu_workspace_) {
    gpu_workspace_.reset(), gpu_room_ = 0;
    gpu_workspace_ = gpu_memory(on_gpu), gpu_room_ = on_gpu;
  }
  if (on_host > host_workspace_.size()) host_workspace_.resize(on_host);
  require_done("cudaMemsetAsync", cudaMemsetAsync(info_.get(), 0, sizeof(int), stream()));
}

int Session::info_after(const char* call) {
  int info = 0;
  require_done(call, cudaMemcpyAsync(&info, info_.get(), sizeof info, cudaMemcpyDeviceToHost, stream()));
  require_done(call, cudaStreamSynchronize(stream()));
  if (info < 0) throw MachineError(std::string(call) + " refuses argument " + std::to_string(-info));
  return info;
}

}  // namespace lasolve::engines
