// How a product is tiled for a kernel of somebody's own: in parts of C for the cores of a device, and in blocks that are copied at once, or
// that are as large as a kernel takes them.
#pragma once

#include "gemm/cpu/on_all_cores.hpp"
#include "lasolve/kernel.h"

namespace lasolve::plugin {

/// Rows and columns of C, and steps along k.
struct Extent {
  std::int64_t rows = 0, columns = 0, steps = 0;
  bool operator==(const Extent&) const = default;
  std::int64_t largest() const { return std::max({rows, columns, steps}); }
  std::int64_t least() const { return std::min({rows, columns, steps}); }
};

/// Which sizes a kernel takes, and how copies lie.
struct Wants {
  Extent units = {1, 1, 1};  ///< multiples of these
  static constexpr std::int64_t any = std::int64_t(1) << 40;
  Extent most = {any, any, any};  ///< at least the units
  bool square = false;            ///< rows, columns and steps are the same; the units are, too
  std::int64_t line = 1;          ///< elements, a power of two: leading dimensions of copies are multiples of it
};

/// Which operands a kernel may want copied.
struct Copies {
  bool a = false, b = false, c = false;
  bool any() const { return a || b || c; }
};

struct Tiling {
  double work = 0;
  std::int64_t parts = 1, down = 1;
  Extent part, block;
  Extent units;                      ///< what the edges of a call are multiples of
  bool limited = false;              ///< no call is larger than a block, also where nothing is copied
  std::int64_t a = 0, b = 0, c = 0;  // elements of the largest copies of A, B and C; 0 where there are none
};

/// The most that one copy has on CUDA, in elements: 512 MiB in fp64.
inline constexpr std::int64_t most_on_cuda = std::int64_t(1) << 26;

/// The largest block of a product, in multiples of the units, of which no copy has more than `most` elements, at least 2²⁰: all of it
/// where that fits, else the longer edge of a copy is halved. Within what the kernel takes at most.
Extent block_within(std::int64_t most, const Extent& product, const Wants&, Copies);

/// What a call costs beside its multiplications, and to copy an element, both in multiplications.
struct CostOfCalls {
  double call, element;
};
/// The edge, a multiple of `unit` of at most `most`, of the squares in which a product costs the least, with the zeros around it.
std::int64_t edge_of_squares(const Extent& product, std::int64_t unit, std::int64_t most, CostOfCalls);

/// For a kernel that is called by several cores at once, or, `whole`, by one. What is copied is copied in blocks of up to 2048 rows,
/// columns and steps. Each edge is a multiple of its unit.
Tiling tiling_for(const Queue<Cpu>& q, const Extent& product, const Wants&, Copies, bool whole);
/// In one part. Room for copies does not shrink where a product grows: what is made for the largest does for all.
Tiling tiling_for(const Queue<Cuda>&, const Extent& product, const Wants&, Copies, bool whole);
/// The latter, which asks nothing of the queue.
Tiling tiling_on_cuda(const Extent& product, const Wants&, Copies);

}  // namespace lasolve::plugin
