// Many right-hand sides in parts, so that it can be told how far they are.
#pragma once

#include <algorithm>
#include <functional>

#include "solvers/recipe.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// f(first, count) for all of nrhs right-hand sides of a system of order n: at once where `tell` is empty; else in parts that take
/// a moment each, and `tell` hears which share is done. q is in `phase`, and stays in it.
template <class Space, class F>
void in_parts(Queue<Space>& q, Phase phase, std::int64_t n, std::int64_t nrhs, const std::function<void(double)>& tell,
              F f) {
  if (!tell) return f(0, nrhs);
  const std::int64_t at_once = columns_of_a_part(n);
  tell(0);
  for (std::int64_t j = 0; j < nrhs; j += at_once) {
    const std::int64_t some = std::min(at_once, nrhs - j);
    f(j, some);
    q.finish();
    tell(double(j + some) / double(nrhs));
    q.phase(phase);
  }
}

/// residual_within_range(), the same way.
template <class T, class Space>
ResidualNorms residual_in_parts(Queue<Space>& q, Phase phase, const std::function<void(double)>& tell,
                                const SystemMatrix<T, Space>& A, const std::function<long double()>& norm_of_A,
                                MatrixView<const T, Space> X, MatrixView<const T, Space> B, MatrixView<T, Space> R,
                                MatrixView<const T, Space> tail = {}) {
  if (!tell) return residual_within_range<T>(q, A, norm_of_A, X, B, R, tail);
  ResidualNorms all;
  in_parts(q, phase, B.rows(), B.cols(), tell, [&](std::int64_t j, std::int64_t some) {
    const ResidualNorms part =
        residual_within_range<T>(q, A, norm_of_A, X.columns(j, some), B.columns(j, some), R.columns(j, some),
                                 tail.cols() == 0 ? tail : tail.columns(j, some));
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.exponents, part.exponents), append(all.b, part.b), append(all.x, part.x), append(all.r, part.r);
  });
  return all;
}

}  // namespace lasolve
