// Copies of matrices on the host.
#pragma once

#include <algorithm>

#include "lasolve/matrix.hpp"

namespace lasolve {

/// Y ← X. Columns that lie one behind the other are copied at once, which counts where they are short.
template <class T>
void copy_on_host(MatrixView<const T> X, MatrixView<T> Y) {
  const bool at_once = X.ld() == X.rows() && Y.ld() == X.rows();
  const std::int64_t columns = at_once ? 1 : X.cols(), length = at_once ? X.rows() * X.cols() : X.rows();
  for (std::int64_t j = 0; j < columns; ++j) std::copy_n(X.data() + j * X.ld(), length, Y.data() + j * Y.ld());
}

}  // namespace lasolve
