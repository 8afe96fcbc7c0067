// The part of the rung `tensor` for operands of 16 bits, on Hopper: the kernel of wgmma_kernel.cuh. Operands are taken
// as they lie where the copy engine can reach them, and packed where it cannot.
#pragma once

#include "core/cuda/elementwise.cuh"
#include "gemm/cuda/common/pack.cuh"
#include "gemm/cuda/hopper/wgmma_kernel.cuh"
#include "gemm/cuda/tensor_choices.hpp"

namespace lasolve::sm90 {

/// From here on the time at the end of a tile is small beside its product: tiles may be wider, if two blocks can share
/// what they read.
inline bool is_deep(const Queue<Cuda>& q, std::int64_t k) {
  return k >= q.tuning()[tensor_multicast_from] && q.properties().has_clusters_of(2);
}

constexpr auto fetch = CU_TENSOR_MAP_L2_PROMOTION_L2_256B;  ///< of what the copy engine reaches; see tensor_map

/// All but the operands. Throws MachineError where the kernel cannot run.
inline Arguments arguments(const Queue<Cuda>& q, float alpha, float beta, MatrixView<float, Cuda> C) {
  require_hopper(q.device());
  require(std::max(C.rows(), C.cols()) < (std::int64_t(1) << 31) - 256,
          "a side of C does not fit the copy engine's 31 bits");
  Arguments p{};
  p.c = C, p.alpha = alpha, p.beta = beta;
  p.c_boxes = reachable(C.data(), C.ld());
  if (p.c_boxes) p.C = tensor_map(C.data(), C.rows(), C.cols(), C.ld(), 32, 32, fetch);
  return p;
}

/// An operand as it lies, in blocks of 64 × 64.
template <class Half>
CUtensorMap operand_map(const Half* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return tensor_map(data, rows, cols, ld, 64, 64, fetch);
}

/// Room in scratch memory for operands packed with `ld` elements a row, and for the roots of their rows.
template <class Half>
struct Packed {
  Half *a, *b;
  float *a_roots, *b_roots;

  Packed(Queue<Cuda>& q, std::int64_t m, std::int64_t n, std::int64_t ld) {
    const std::int64_t m_padded = round_up(m, 256), n_padded = round_up(n, 256);  // to whole tiles
    a = reinterpret_cast<Half*>(q.scratch<char>((m_padded + n_padded) * (2 * ld + 4), 1).data());
    b = a + m_padded * ld;
    a_roots = reinterpret_cast<float*>(b + n_padded * ld);
    b_roots = a_roots + m_padded;
  }
};

/// k = 0: C ← β·C.
inline void scale(Queue<Cuda>& q, float beta, MatrixView<float, Cuda> C) {
  for_each_element(q, C, [beta] __device__(float& c, std::int64_t, std::int64_t) { c = beta == 0 ? 0 : beta * c; });
}

/// The product of k elements of operands that p has.
template <class Shape>
void enqueue_product(Queue<Cuda>& q, Arguments& p, std::int64_t k) {
  p.steps = int(ceil_div(k, Shape::BK));
  p.group_rows = group_rows_for(q.tuning(), k * std::int64_t(sizeof(typename Shape::Half))) / Shape::cluster;
  launch_tensor<Shape>(q, p);
}

template <class Half, bool a_k_major, bool b_k_major>
void multiply_mapped(Queue<Cuda>& q, Arguments& p, std::int64_t k) {
  if (is_deep(q, k))
    enqueue_product<KernelShape<Half, a_k_major, b_k_major, KernelSchedule::cooperative_multicast>>(q, p, k);
  else
    enqueue_product<KernelShape<Half, a_k_major, b_k_major, KernelSchedule::pingpong>>(q, p, k);
}

/// C ← α·A·B + β·C with operands of fp16 or bf16.
template <class Half>
void tensor_half(Queue<Cuda>& q, float alpha, Operand<Half, Cuda> A, Operand<Half, Cuda> B, float beta,
                 MatrixView<float, Cuda> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  if (k == 0) return scale(q, beta, C);
  Arguments p = arguments(q, alpha, beta, C);
  if (!reachable(A.data(), A.ld()) || !reachable(B.data(), B.ld())) {
    const std::int64_t ld = round_up(k, 8);
    const Packed<Half> to(q, m, n, ld);
    pack<Half>(q, {A, to.a, ld}, {transposed(B), to.b, ld});
    p.A = operand_map(to.a, k, m, ld), p.B = operand_map(to.b, k, n, ld);
    return multiply_mapped<Half, true, true>(q, p, k);
  }
  const auto map = [](auto X) { return operand_map(X.data(), X.stored().rows(), X.stored().cols(), X.ld()); };
  p.A = map(A), p.B = map(B);
  with_ops(A.op(), B.op(),
           [&]<Op op_a, Op op_b>() { multiply_mapped<Half, op_a == Op::transpose, op_b == Op::none>(q, p, k); });
}

}  // namespace lasolve::sm90
