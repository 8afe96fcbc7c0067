// Where memory is that a caller hands over, which its type only claims.
#pragma once

#include "lasolve/matrix.hpp"

namespace lasolve {

struct MemoryKind {
  /// unknown: CUDA does not know the address, as that of most memory of the host, of what was freed, and of what never was. host:
  /// of the host, pinned or registered by CUDA. managed: moves between host and devices by itself.
  enum Where { unknown, host, device, managed } where = unknown;
  int cuda_device = -1;  ///< of device and managed memory

  bool operator==(const MemoryKind&) const = default;
};

/// Starts nothing: where this process has not used CUDA, all memory is unknown.
MemoryKind memory_kind(const void*) noexcept;

/// Why memory cannot be used by the host; empty: it can, as far as CUDA knows.
std::string why_not_on_host(const MemoryKind&);
/// Why memory cannot be used as memory of a CUDA device; empty: it can.
std::string why_not_on_device(const MemoryKind&, int device);

/// The first and the last element of a matrix.
struct Ends {
  const void *first, *last;

  template <class T>
  explicit Ends(const Borrowed<T>& X)
      : first(X.empty() ? nullptr : X.data()),
        last(X.empty() ? nullptr : X.data() + (X.rows() - 1) * X.row_stride() + (X.cols() - 1) * X.column_stride()) {}

  template <class T, class Space>
  explicit Ends(MatrixView<T, Space> X)
      : first(X.empty() ? nullptr : X.data()),
        last(X.empty() ? nullptr : X.data() + (X.cols() - 1) * X.ld() + X.rows() - 1) {}
};
/// Throw std::invalid_argument, which names the matrix, where it is not there. An empty one is everywhere.
void require_on_host(const char* name, Ends);
void require_on_device(const char* name, Ends, int device);
/// On any, by what CUDA knows of the first element.
void require_on_some_device(const char* name, Ends);

}  // namespace lasolve
