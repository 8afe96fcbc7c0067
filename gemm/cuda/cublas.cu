// cublas: cuBLAS's products.
// Idea     The vendor's best, to compare with: tensor cores for all but f32, which stays on CUDA cores in full
//          precision.
// Tiles    chosen by cuBLAS for each shape. Beside work that is waited for sooner, in f32, a narrow product leaves a
//          part of the device free, and a wide one has a transposed copy of B (cublas_choices.hpp).
// Traffic  see the rungs above.
// Expect   nine tenths of peak for large k; at small k, bound by reading and writing C.
// Reached  100 % of the fastest: it is what others are compared with
// Source   NVIDIA cuBLAS, 64-bit interface
#include <cublasLt.h>

#include <cmath>

#include "core/ceil_div.hpp"
#include "core/cuda/blas.hpp"
#include "core/cuda/launch.cuh"
#include "core/cuda/transpose.cuh"
#include "gemm/cuda/cublas_choices.hpp"

namespace lasolve {

/// Bytes of scratch memory that large products in fp32 use: for sums of parts of k, and for a transposed operand.
constexpr std::int64_t room_for_sums = std::int64_t(32) << 20, room_for_transposed = std::int64_t(128) << 20;

/// C ← α·A·B + β·C with operands of In, which cuBLAS calls `type`.
template <class In, cudaDataType_t type, cublasComputeType_t compute>
static void mixed(const void*, Queue<Cuda>& q, float alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, float beta,
                  MatrixView<float, Cuda> C) {
  const auto ld = [](const auto& x) { return std::max<std::int64_t>(x.ld(), 1); };
  CUDA_CHECK(cublasGemmEx_64(q.blas(), cublas_op(A.op()), cublas_op(B.op()), C.rows(), C.cols(), A.cols(), &alpha,
                             A.data(), type, ld(A), B.data(), type, ld(B), &beta, C.data(), CUDA_R_32F, ld(C), compute,
                             CUBLAS_GEMM_DEFAULT));
}

/// In how many parts to cut k. A product of 256 × 128 tiles then has blocks for two thirds of the multiprocessors, each
/// of which has room for one. The sums of the parts need room too.
static std::int64_t parts_of_k(const Queue<Cuda>& q, std::int64_t m, std::int64_t n, std::int64_t most) {
  const std::int64_t tiles = ceil_div(m, 256) * ceil_div(n, 128), wanted = q.multiprocessors() * 2 / 3;
  const std::int64_t room = room_for_sums / (round_up(m, 4) * n * std::int64_t(sizeof(float)));
  return std::clamp<std::int64_t>(ceil_div(wanted, tiles), 1, std::clamp<std::int64_t>(room, 1, most));
}

/// A kernel of cublasLt for α·A·Bᵀ + β·C, chosen by hand: `algorithm`, `stages` and tiles of 256 × 128.
struct LtProduct {
  cublasLtHandle_t handle;
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t a, b, c;
  cublasLtMatmulAlgo_t kernel;
  bool there;  // whether this cuBLAS has the kernel

  /// C: m × n with leading dimension ldc, products with k columns each of A and B: `parts` of them, each behind the one
  /// before, or where `sums` one whose sums of `parts` of k cuBLAS adds up.
  LtProduct(Queue<Cuda>& q, const Operand<float, Cuda>& A, const Operand<float, Cuda>& B, std::int64_t m,
            std::int64_t n, std::int64_t ldc, std::int64_t k, std::int64_t parts, bool sums, int algorithm, int stages)
      : handle(reinterpret_cast<cublasLtHandle_t>(q.blas())) {
    const cublasOperation_t turned = CUBLAS_OP_T;
    CUDA_CHECK(cublasLtMatmulDescInit(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CUDA_CHECK(cublasLtMatmulDescSetAttribute(&product, CUBLASLT_MATMUL_DESC_TRANSB, &turned, sizeof turned));
    const auto lay_out = [&](cublasLtMatrixLayoutOpaque_t& x, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
      CUDA_CHECK(cublasLtMatrixLayoutInit(&x, CUDA_R_32F, rows, cols, ld));
      if (sums || parts == 1) return;
      const int count = int(parts);
      const std::int64_t next = cols * ld;
      CUDA_CHECK(cublasLtMatrixLayoutSetAttribute(&x, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
      CUDA_CHECK(cublasLtMatrixLayoutSetAttribute(&x, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &next, sizeof next));
    };
    lay_out(a, m, k, A.ld()), lay_out(b, n, k, B.ld()), lay_out(c, m, n, ldc);
    const auto choose = [&](cublasLtMatmulAlgoConfigAttributes_t what, int value) {
      return cublasLtMatmulAlgoConfigSetAttribute(&kernel, what, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
    };
    constexpr auto f32 = CUDA_R_32F;
    there = cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, f32, f32, f32, f32, f32, algorithm, &kernel) ==
                CUBLAS_STATUS_SUCCESS &&
            choose(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_256x128) &&
            choose(CUBLASLT_ALGO_CONFIG_STAGES_ID, stages) &&
            choose(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, sums ? int(parts) : 1) &&
            choose(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                   sums ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE);
  }

  /// Bytes of scratch memory that it takes; −1: it is not for this product. To ask takes the host some microseconds.
  std::int64_t room() {
    cublasLtMatmulHeuristicResult_t found;
    const bool fits =
        there && cublasLtMatmulAlgoCheck(handle, &product, &a, &b, &c, &c, &kernel, &found) == CUBLAS_STATUS_SUCCESS;
    return fits ? std::int64_t(found.workspaceSize) : -1;
  }

  /// Whether it was enqueued: not if it is not for this product.
  bool run(Queue<Cuda>& q, float alpha, const float* A, const float* B, float beta, float* C, char* memory,
           std::int64_t bytes) {
    return there && cublasLtMatmul(handle, &product, &alpha, A, &a, B, &b, &beta, C, &c, C, &c, &kernel, memory,
                                   std::size_t(bytes), q.stream()) == CUBLAS_STATUS_SUCCESS;
  }
};

/// C ← C + the sum of `parts` matrices with leading dimension ld, one behind the other: four rows a thread.
static __global__ void __launch_bounds__(256)
    add_parts(const float* first, std::int64_t ld, int parts, MatrixView<float, Cuda> C) {
  const std::int64_t i = (std::int64_t(blockIdx.x) * 64 + threadIdx.x % 64) * 4;
  const std::int64_t j = std::int64_t(blockIdx.y) * 4 + threadIdx.x / 64, next = ld * C.cols();
  if (i >= C.rows() || j >= C.cols()) return;
  float* const c = C.data() + i + j * C.ld();
  float sum[4] = {};
  wait_for_prerequisites();
#pragma unroll 4
  for (int part = 0; part < parts; ++part) {
    const float4 four = __ldcs(reinterpret_cast<const float4*>(first + i + j * ld + part * next));
    sum[0] += four.x, sum[1] += four.y, sum[2] += four.z, sum[3] += four.w;
  }
  if (i + 4 <= C.rows()) {
    const float4 old = *reinterpret_cast<const float4*>(c);
    *reinterpret_cast<float4*>(c) = {old.x + sum[0], old.y + sum[1], old.z + sum[2], old.w + sum[3]};
  } else {
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (i + r < C.rows()) c[r] += sum[r];
  }
}

/// C ← C + α·A·Bᵀ as products with parts of k, all in one kernel, and a kernel that adds them up; and whether cuBLAS can.
static bool product_in_parts(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B,
                             MatrixView<float, Cuda> C) {
  constexpr int algorithm = 20;  // of cuBLAS 13.1: the fastest for these shapes that it offers
  constexpr std::int64_t most = 32, depth = 8;
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols(), ld = round_up(m, 4);
  const std::int64_t wanted = parts_of_k(q, m, n, most);
  std::int64_t parts = 1;
  for (std::int64_t p = 2; p <= most; ++p)  // of equal depth
    if (k % (depth * p) == 0 && std::abs(p - wanted) <= std::abs(parts - wanted) &&
        p * ld * n * std::int64_t(sizeof(float)) <= room_for_sums)
      parts = p;
  if (parts == 1) return false;
  LtProduct product(q, A, B, m, n, ld, k / parts, parts, false, algorithm, CUBLASLT_MATMUL_STAGES_8x4);
  float* const sums = q.scratch<float>(room_for_sums / std::int64_t(sizeof(float)), 1).data();
  if (!product.run(q, alpha, A.data(), B.data(), 0, sums, nullptr, 0)) return false;
  launch(q, add_parts, Blocks::dependent, dim3(unsigned(ceil_div(m, 256)), unsigned(ceil_div(n, 4))), 256, 0, sums, ld,
         int(parts), C);
  return true;
}

/// C ← α·A·Bᵀ + β·C with k cut by cuBLAS; and whether it can.
static bool product_with_split_k(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B,
                                 float beta, MatrixView<float, Cuda> C) {
  constexpr int algorithm = 55;
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols(), parts = parts_of_k(q, m, n, 11);
  LtProduct product(q, A, B, m, n, C.ld(), k, parts, parts > 1, algorithm, CUBLASLT_MATMUL_STAGES_8x3);
  const std::int64_t room = product.room();
  return 0 <= room && room <= room_for_sums &&
         product.run(q, alpha, A.data(), B.data(), beta, C.data(), q.scratch<char>(room_for_sums, 1).data(), room);
}

/// C ← α·A·Bᵀ + β·C with few columns and much to do, if cuBLAS has the kernel for it; and whether so. cuBLAS chooses as
/// if it had the device for itself, and fills it with long-running blocks. So here its kernel is chosen to leave a third
/// of the device: alone it takes longer, and all together less. The smaller ones are in parts that a kernel of our own
/// adds up.
static bool narrow_product(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                           MatrixView<float, Cuda> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  const NarrowProduct how = narrow_product_for(q.tuning(), m, n, k);
  if (how == NarrowProduct::as_it_chooses) return false;
  if (A.op() != Op::none || B.op() != Op::transpose) return false;
  const MatrixView<const float, Cuda> views[] = {A.stored(), B.stored(), C};
  for (const auto& view : views)
    if (reinterpret_cast<std::uintptr_t>(view.data()) % 16 != 0 || view.ld() % 4 != 0) return false;
  if (how == NarrowProduct::in_parts) return beta == 1 && product_in_parts(q, alpha, A, B, C);
  return product_with_split_k(q, alpha, A, B, beta, C);
}

/// C ← α·A·B + β·C with much to do; and whether so. Beside others, cuBLAS's product with a transposed B is faster, with
/// the time to transpose B counted in. Some columns at a time, so that B has room.
static bool wide_product(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                         MatrixView<float, Cuda> C) {
  constexpr std::int64_t room = room_for_transposed / std::int64_t(sizeof(float)), line = 64;
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  if (!turns_B(q.tuning(), m, n, k) || A.op() != Op::none || B.op() != Op::none) return false;
  const std::int64_t most = room / k / line * line, parts = ceil_div(n, most);
  const std::int64_t columns = round_up(ceil_div(n, parts), line);
  float* const memory = q.scratch<float>(room, 1).data();
  for (std::int64_t j = 0; j < n; j += columns) {
    const std::int64_t some = std::min(columns, n - j);
    const MatrixView<float, Cuda> turned(memory, some, k, columns);
    transpose<Uplo::both, float>(q, B.stored().columns(j, some), turned);
    cublas_gemm<float>(q, alpha, A, transposed(turned), beta, C.columns(j, some));
  }
  return true;
}

template <class T, bool beside = false>
static void cublas(const void*, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
                   MatrixView<T, Cuda> C) {
  if constexpr (beside)
    if (narrow_product(q, alpha, A, B, beta, C) || wide_product(q, alpha, A, B, beta, C)) return;
  cublas_gemm(q, alpha, A, B, beta, C);
}

/// The scratch memory of narrow_product and wide_product.
static void prepare(const void*, Queue<Cuda>& q, const ProductShape& p) {
  if (p.precision != Precision::fp32 || !p.beside || p.a != Op::none) return;
  if (p.m >= (p.b == Op::none ? q.tuning()[cublas_transpose_rows] : q.tuning()[cublas_narrow_least]))
    q.scratch<char>(p.b == Op::none ? room_for_transposed : room_for_sums, 1);
}

extern const GemmBackend<Cuda> gemm_cuda_cublas;
const GemmBackend<Cuda> gemm_cuda_cublas{
    .name = "cublas",
    .summary = "cuBLAS's products",
    .kernels = {cublas<double>, GemmKernel(cublas<float>, unit_roundoff_of(Precision::fp32), cublas<float, true>),
                GemmKernel<Precision::tf32, Cuda>(mixed<float, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32>),
                mixed<fp16, CUDA_R_16F, CUBLAS_COMPUTE_32F>, mixed<bf16, CUDA_R_16BF, CUBLAS_COMPUTE_32F>},
    .prepare = prepare,
    .thresholds = cublas_thresholds,
};

}  // namespace lasolve
