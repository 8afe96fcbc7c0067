// cublas: cuBLAS's products.
// Idea     The vendor's best, to compare with: tensor cores for all but f32, which stays on CUDA cores in full precision.
// Tiles    chosen by cuBLAS for each shape, but in f32 for the bulk of a Cholesky, which shares the device. In f32 the bulk of
//          an LU is multiplied by a transposed copy of B.
// Traffic  see the rungs above.
// Expect   nine tenths of peak for large k; at small k, bound by reading and writing C.
// Source   NVIDIA cuBLAS, 64-bit interface
#include <cublasLt.h>

#include "core/cuda/blas.hpp"
#include "core/cuda/transpose.cuh"

namespace lasolve {

/// Bytes of scratch memory that large products in fp32 use: for sums of parts of k, and for a transposed operand.
constexpr std::int64_t room_for_sums = std::int64_t(32) << 20, room_for_transposed = std::int64_t(128) << 20;

/// C ← α·A·B + β·C with operands of In, which cuBLAS calls `type`.
template <class In, cudaDataType_t type, cublasComputeType_t compute>
static void mixed(Queue<Cuda>& q, float alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, float beta,
                  MatrixView<float, Cuda> C) {
  const auto ld = [](const auto& x) { return std::max<std::int64_t>(x.ld(), 1); };
  CUDA_CHECK(cublasGemmEx_64(q.blas(), cublas_op(A.op()), cublas_op(B.op()), C.rows(), C.cols(), A.cols(), &alpha,
                             A.data(), type, ld(A), B.data(), type, ld(B), &beta, C.data(), CUDA_R_32F, ld(C), compute,
                             CUBLAS_GEMM_DEFAULT));
}

/// In how many parts to cut k, so that a product of 256 × 128 tiles has blocks for two thirds of the multiprocessors, each of
/// which has room for one. The sums of the parts need room too.
static std::int64_t parts_of_k(const Queue<Cuda>& q, std::int64_t m, std::int64_t n) {
  const std::int64_t tiles = (m + 255) / 256 * ((n + 127) / 128), wanted = q.multiprocessors() * 2 / 3;
  const std::int64_t room = room_for_sums / (m * n * std::int64_t(sizeof(float)));
  return std::clamp<std::int64_t>((wanted + tiles - 1) / tiles, 1, std::clamp<std::int64_t>(room, 1, 11));
}

/// C ← α·A·Bᵀ + β·C with few columns and much to do, if others go first and cuBLAS has the kernel for it; and whether so. Such
/// a product is the bulk of a Cholesky, which has a panel to do beside it that all wait for. cuBLAS chooses as if it had the
/// device for itself, and fills it with blocks that run for 200 µs; so here its kernel is chosen to leave a third of the
/// device: alone it may take up to 1.45 times as long, and all together a twentieth less.
static bool narrow_product(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                           MatrixView<float, Cuda> C) {
  constexpr int algorithm = 55;  // of cuBLAS 13.1: the fastest for these shapes that it offers
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  const bool narrow = n % 128 == 0 && n >= 256 && n <= 512 && m >= 1024 && k >= 512;
  if (!q.others_go_first() || !narrow || double(m) * double(n) * double(k) < 1.2e9) return false;
  if (A.op() != Op::none || B.op() != Op::transpose) return false;
  const MatrixView<const float, Cuda> views[] = {A.stored(), B.stored(), C};
  for (const auto& view : views)
    if (reinterpret_cast<std::uintptr_t>(view.data()) % 16 != 0 || view.ld() % 4 != 0) return false;

  cublasLtMatmulDescOpaque_t product;
  const cublasOperation_t turned = CUBLAS_OP_T;
  CUDA_CHECK(cublasLtMatmulDescInit(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  CUDA_CHECK(cublasLtMatmulDescSetAttribute(&product, CUBLASLT_MATMUL_DESC_TRANSB, &turned, sizeof turned));
  cublasLtMatrixLayoutOpaque_t a, b, c;
  CUDA_CHECK(cublasLtMatrixLayoutInit(&a, CUDA_R_32F, m, k, A.ld()));
  CUDA_CHECK(cublasLtMatrixLayoutInit(&b, CUDA_R_32F, n, k, B.ld()));
  CUDA_CHECK(cublasLtMatrixLayoutInit(&c, CUDA_R_32F, m, n, C.ld()));

  const auto handle = reinterpret_cast<cublasLtHandle_t>(q.blas());
  const std::int64_t parts = parts_of_k(q, m, n);
  cublasLtMatmulAlgo_t kernel;
  if (cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                             algorithm, &kernel) != CUBLAS_STATUS_SUCCESS)
    return false;
  const auto choose = [&](cublasLtMatmulAlgoConfigAttributes_t what, int value) {
    return cublasLtMatmulAlgoConfigSetAttribute(&kernel, what, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
  };
  const int sums = parts > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
  cublasLtMatmulHeuristicResult_t found;
  if (!choose(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_256x128) ||
      !choose(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_8x3) ||
      !choose(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, int(parts)) || !choose(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, sums) ||
      cublasLtMatmulAlgoCheck(handle, &product, &a, &b, &c, &c, &kernel, &found) != CUBLAS_STATUS_SUCCESS ||
      found.workspaceSize > std::size_t(room_for_sums))
    return false;
  CUDA_CHECK(cublasLtMatmul(handle, &product, &alpha, A.data(), &a, B.data(), &b, &beta, C.data(), &c, C.data(), &c,
                            &kernel, q.scratch<char>(room_for_sums, 1).data(), std::size_t(room_for_sums), q.stream()));
  return true;
}

/// C ← α·A·B + β·C with much to do, if others go first; and whether so. cuBLAS's product with a transposed B is faster: with
/// k = 768 to 2048, 5 % at m = n = 8192 and 5 to 8 % at 12288 to 28672, the time to transpose B counted in. Such a
/// product is the bulk of an LU. Some columns at a time, so that B has room.
static bool wide_product(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                         MatrixView<float, Cuda> C) {
  constexpr std::int64_t room = room_for_transposed / std::int64_t(sizeof(float)), line = 64;
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  const bool worth_it = m >= 4096 && n >= 1024 && k >= 512 && k <= 8192;
  if (!q.others_go_first() || !worth_it || A.op() != Op::none || B.op() != Op::none) return false;
  const std::int64_t most = room / k / line * line, parts = (n + most - 1) / most;
  const std::int64_t columns = ((n + parts - 1) / parts + line - 1) / line * line;
  float* const memory = q.scratch<float>(room, 1).data();
  for (std::int64_t j = 0; j < n; j += columns) {
    const std::int64_t some = std::min(columns, n - j);
    const MatrixView<float, Cuda> turned(memory, some, k, columns);
    transpose<false, float>(q, B.stored().columns(j, some), turned);
    cublas_gemm<float>(q, alpha, A, transposed(turned), beta, C.columns(j, some));
  }
  return true;
}

static void f32(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                MatrixView<float, Cuda> C) {
  if (!narrow_product(q, alpha, A, B, beta, C) && !wide_product(q, alpha, A, B, beta, C))
    cublas_gemm<float>(q, alpha, A, B, beta, C);
}

/// The scratch memory of narrow_product and wide_product.
static void prepare(Queue<Cuda>& q, Precision precision, Op a, Op b, std::int64_t m, std::int64_t, std::int64_t) {
  if (precision != Precision::fp32 || !q.others_go_first() || a != Op::none) return;
  if (b == Op::none ? m >= 4096 : m >= 1024) q.scratch<char>(b == Op::none ? room_for_transposed : room_for_sums, 1);
}

extern const GemmBackend<Cuda> gemm_cuda_cublas;
const GemmBackend<Cuda> gemm_cuda_cublas{
    .name = "cublas",
    .summary = "cuBLAS's products",
    .f64 = cublas_gemm<double>,
    .f32 = f32,
    .tf32 = mixed<float, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32>,
    .f16 = mixed<fp16, CUDA_R_16F, CUBLAS_COMPUTE_32F>,
    .bf16 = mixed<bf16, CUDA_R_16BF, CUBLAS_COMPUTE_32F>,
    .prepare = prepare,
};

}  // namespace lasolve
