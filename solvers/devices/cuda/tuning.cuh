// What a tuning means on CUDA, for what the device has.
#pragma once

#include "solvers/lu/cuda/row_interchanges.cuh"
#include "solvers/tuning.hpp"

namespace lasolve {

inline bool interchanges_L_at_the_end(const Queue<Cuda>& q, std::int64_t n) {
  return interchanges_L_at_the_end(q.tuning(), n, true) && can_gather_rows(q, n);
}
inline std::int64_t most_rows_of_a_leaf(const Queue<Cuda>& q) {
  return most_rows_of_a_leaf(q.tuning(), q.multiprocessors());
}
template <class T>
bool is_narrow_update(const Queue<Cuda>& q, MatrixView<T, Cuda> C, std::int64_t k, bool below_diagonal) {
  return is_narrow_update(q.tuning(), precision_of<T>, q.properties().fp32_per_fp64, C.rows(), C.cols(), k,
                          below_diagonal);
}

}  // namespace lasolve
