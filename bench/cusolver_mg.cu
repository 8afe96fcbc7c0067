// LU and Cholesky of one matrix over several cards by cusolverMg, beside which `lasolve --device cuda:0,1` is measured.
//
//   nvcc -O2 -std=c++17 cusolver_mg.cu -lcusolverMg && ./a.out lu 32768 2 [BLOCK 256] [ROUNDS 3]
//
// Columns are dealt out to the cards in blocks. Of each round: seconds of getrf or potrf, from where all cards are idle to where they are
// again, and the largest error of a solution that is ones. Uniform random elements, for Cholesky with n added on the diagonal.
#include <cuda_runtime.h>
#include <cusolverMg.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using Index = long long;

static void check(int status, const char* call) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: %d\n", call, status);
  std::exit(1);
}
#define CHECK(call) check(int(call), #call)

/// Element (i, j): uniform in [−1, 1), and symmetric with n on the diagonal where it is for Cholesky.
__device__ double element(Index i, Index j, Index n, bool symmetric) {
  unsigned long long x = symmetric ? max(i, j) * n + min(i, j) : i * n + j;
  for (int round = 0; round < 2; ++round) x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15ull + 0xBF58476D1CE4E5B9ull;
  return double(x >> 11) * 0x1p-52 - 1 + (symmetric && i == j ? double(n) : 0);
}
/// Own columns, of which local column j is global column ((j / block) * cards + card) * block + j % block.
__global__ void generate(double* A, Index n, Index local, Index block, int card, int cards, bool symmetric) {
  for (Index e = blockIdx.x * Index(blockDim.x) + threadIdx.x; e < n * local; e += Index(gridDim.x) * blockDim.x) {
    const Index i = e % n, own = e / n, j = (own / block * cards + card) * block + own % block;
    A[e] = j < n ? element(i, j, n, symmetric) : 0;
  }
}
/// b ← A · 1.
__global__ void sum_rows(double* b, Index n, bool symmetric) {
  const Index i = blockIdx.x * Index(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (Index j = 0; j < n; ++j) sum += element(i, j, n, symmetric);
  b[i] = sum;
}

/// Memory of the same size on each card.
template <class T>
std::vector<T*> on_each(int cards, Index count) {
  std::vector<T*> all(static_cast<std::size_t>(cards));
  for (int card = 0; card < cards; ++card) {
    CHECK(cudaSetDevice(card));
    CHECK(cudaMalloc(&all[std::size_t(card)], std::size_t(std::max<Index>(count, 1)) * sizeof(T)));
  }
  return all;
}
static void wait_for_all(int cards) {
  for (int card = 0; card < cards; ++card) CHECK(cudaSetDevice(card)), CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "cusolver_mg lu|cholesky N CARDS [BLOCK] [ROUNDS]\n"), 2;
  const bool cholesky = std::strcmp(argv[1], "cholesky") == 0;
  const Index n = std::stoll(argv[2]), block = argc > 4 ? std::stoll(argv[4]) : 256;
  const int cards = std::stoi(argv[3]), rounds = argc > 5 ? std::stoi(argv[5]) : 3;
  std::vector<int> devices;
  for (int card = 0; card < cards; ++card) devices.push_back(card);
  for (const int card : devices)
    for (const int other : devices)
      if (other != card) CHECK(cudaSetDevice(card)), CHECK(cudaDeviceEnablePeerAccess(other, 0));

  cusolverMgHandle_t handle;
  cudaLibMgGrid_t grid;
  cudaLibMgMatrixDesc_t of_A, of_B;
  CHECK(cusolverMgCreate(&handle));
  CHECK(cusolverMgDeviceSelect(handle, cards, devices.data()));
  CHECK(cusolverMgCreateDeviceGrid(&grid, 1, cards, devices.data(), CUDALIBMG_GRID_MAPPING_COL_MAJOR));
  CHECK(cusolverMgCreateMatrixDesc(&of_A, n, n, n, block, CUDA_R_64F, grid));
  CHECK(cusolverMgCreateMatrixDesc(&of_B, n, 1, n, block, CUDA_R_64F, grid));

  const Index blocks = (n + block - 1) / block, local = (blocks + cards - 1) / cards * block;
  auto A = on_each<double>(cards, n * local), B = on_each<double>(cards, n);
  auto pivots = on_each<int>(cards, local);
  void **const a = reinterpret_cast<void**>(A.data()), **const b = reinterpret_cast<void**>(B.data());
  int** const p = pivots.data();
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  int64_t factors = 0, solution = 0;
  if (cholesky) {
    CHECK(cusolverMgPotrf_bufferSize(handle, lower, int(n), a, 1, 1, of_A, CUDA_R_64F, &factors));
    CHECK(cusolverMgPotrs_bufferSize(handle, lower, int(n), 1, a, 1, 1, of_A, b, 1, 1, of_B, CUDA_R_64F, &solution));
  } else {
    CHECK(cusolverMgGetrf_bufferSize(handle, int(n), int(n), a, 1, 1, of_A, p, CUDA_R_64F, &factors));
    CHECK(cusolverMgGetrs_bufferSize(handle, CUBLAS_OP_N, int(n), 1, a, 1, 1, of_A, p, b, 1, 1, of_B, CUDA_R_64F,
                                     &solution));
  }
  const int64_t most = std::max(factors, solution);
  auto workspace = on_each<double>(cards, most);
  void** const work = reinterpret_cast<void**>(workspace.data());

  for (int round = 0; round < rounds; ++round) {
    for (int card = 0; card < cards; ++card) {
      CHECK(cudaSetDevice(card));
      generate<<<4096, 256>>>(A[std::size_t(card)], n, local, block, card, cards, cholesky);
    }
    CHECK(cudaSetDevice(0));
    sum_rows<<<unsigned((n + 255) / 256), 256>>>(B[0], n, cholesky);
    wait_for_all(cards);
    int info = 0;
    const auto begin = std::chrono::steady_clock::now();
    if (cholesky)
      CHECK(cusolverMgPotrf(handle, lower, int(n), a, 1, 1, of_A, CUDA_R_64F, work, most, &info));
    else
      CHECK(cusolverMgGetrf(handle, int(n), int(n), a, 1, 1, of_A, p, CUDA_R_64F, work, most, &info));
    wait_for_all(cards);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    int its = 0;
    if (cholesky)
      CHECK(cusolverMgPotrs(handle, lower, int(n), 1, a, 1, 1, of_A, b, 1, 1, of_B, CUDA_R_64F, work, most, &its));
    else
      CHECK(cusolverMgGetrs(handle, CUBLAS_OP_N, int(n), 1, a, 1, 1, of_A, p, b, 1, 1, of_B, CUDA_R_64F, work, most,
                            &its));
    wait_for_all(cards);
    std::vector<double> x(static_cast<std::size_t>(n));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(x.data(), B[0], std::size_t(n) * sizeof(double), cudaMemcpyDefault));
    double error = 0;
    for (const double one : x) error = std::max(error, std::abs(one - 1));
    std::printf("%s n %lld cards %d block %lld: %.3f s, info %d, largest error %.1e\n", argv[1], n, cards, block,
                seconds, info, error);
  }
}
