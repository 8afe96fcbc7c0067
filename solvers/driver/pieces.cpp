// A matrix in pieces, as one whose columns are supplied.
#include "lasolve/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/memory_kind.hpp"
#include "solvers/driver/columns.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/plan.hpp"

namespace lasolve {

namespace {

template <class T>
using Pieces = std::span<const Borrowed<const T>>;

template <class... Words>
[[noreturn]] void refuse_piece(std::size_t k, fmt::format_string<Words...> why, Words&&... words) {
  throw std::invalid_argument(
      fmt::format("lasolve: piece {} of A {}", k, fmt::format(why, std::forward<Words>(words)...)));
}

/// By what CUDA knows of its memory; −1: none.
template <class T>
int cuda_device_of(const Borrowed<const T>& piece) {
  return piece.on_cuda() && !piece.empty() ? memory_kind(piece.data()).cuda_device : -1;
}

template <class T>
void require_piece(std::size_t k, const Borrowed<const T>& piece, std::int64_t n, Device::Kind device) {
  if (piece.rows() != n) refuse_piece(k, "has {} rows, but piece 0 has {}", piece.rows(), n);
  const auto columns = columns_of<Cpu>(piece);
  if (!columns || !columns->is_view())
    refuse_piece(k, "is row-major, or has gaps within its columns: pieces are column-major");
  if (piece.may_end()) refuse_piece(k, "may end with the call, but is borrowed: give a view of it that has a name");
  const std::string name = fmt::format("piece {} of A", k);
  if (!piece.on_cuda()) return require_on_host(name.c_str(), Ends(piece));
  if (device == Device::cpu) refuse_piece(k, "is on a CUDA device, but Options::device is the CPU");
  require_on_some_device(name.c_str(), Ends(piece));
}

/// The columns of A that each piece has.
template <class T>
std::vector<Range> ranges_of(Pieces<T> pieces, Device::Kind device) {
  require(!pieces.empty(), "A is in pieces, but there are none");
  const std::int64_t n = pieces[0].rows();
  std::vector<Range> ranges;
  std::int64_t end = 0;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    require_piece(k, pieces[k], n, device);
    if (pieces[k].cols() > n - end)
      refuse_piece(k, "has {} columns behind {} others, but A is {} × {}", pieces[k].cols(), end, n, n);
    ranges.push_back({end, end + pieces[k].cols()});
    end = ranges.back().end;
  }
  if (end < n) refuse_piece(pieces.size() - 1, "is the last, and ends at column {}, but A is {} × {}", end, n, n);
  return ranges;
}

/// Looks at those that share a stretch of memory, in its order.
void require_disjoint_pieces(const std::vector<Extent>& extents) {
  std::vector<std::size_t> order(extents.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t j, std::size_t k) { return extents[j].first < extents[k].first; });
  for (auto one = order.begin(); one != order.end(); ++one)
    for (auto other = one + 1; other != order.end() && extents[*other].first < extents[*one].end; ++other)
      if (overlap(extents[*one], extents[*other]))
        refuse_piece(std::max(*one, *other), "overlaps piece {}: each has columns of its own", std::min(*one, *other));
}

template <class T>
struct Piece {
  Range columns;  // of A
  Columnwise<T> its;
};

/// Enqueues copies from the pieces that have some of the columns.
template <class T, class Space>
Supply<T, Space> supply_of(std::shared_ptr<const std::vector<Piece<T>>> pieces,
                           Supply<T, Space> Columnwise<T>::*in_space) {
  return [pieces = std::move(pieces), in_space](Queue<Space>& q, std::int64_t first, MatrixView<T, Space> to) {
    for (const Piece<T>& piece : *pieces) {
      const Range part{std::max(first, piece.columns.begin), std::min(first + to.cols(), piece.columns.end)};
      if (!part.empty())
        (piece.its.*in_space)(q, part.begin - piece.columns.begin, to.columns(part.begin - first, part.count()));
    }
  };
}

template <class T>
Columnwise<T> side_by_side(Pieces<T> given, Device::Kind device, CUstream_st* after) {
  const std::vector<Range> ranges = ranges_of(given, device);
  const auto pieces = std::make_shared<std::vector<Piece<T>>>();
  Columnwise<T> A;
  A.n = given[0].rows();
  for (std::size_t k = 0; k < given.size(); ++k) A.borrowed.push_back(extent_of(given[k]));
  require_disjoint_pieces(A.borrowed);
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k].empty()) continue;
    pieces->push_back({ranges[k], given[k].on_cuda() ? columnwise(columns_of<Cuda>(given[k])->view, after)
                                                     : columnwise(columns_of<Cpu>(given[k])->view)});
  }
  A.on_cpu = supply_of(std::shared_ptr<const std::vector<Piece<T>>>(pieces), &Columnwise<T>::on_cpu);
  A.on_cuda = supply_of(std::shared_ptr<const std::vector<Piece<T>>>(pieces), &Columnwise<T>::on_cuda);
  return A;
}

template <class T>
Factorization<T> factors_of(Pieces<T> pieces, Options options, CUstream_st* after) {
  if (options.device.kind == Device::automatic && options.cards.empty())
    for (const Borrowed<const T>& piece : pieces)
      if (const int its = cuda_device_of(piece); its >= 0) {
        options.device = {Device::cuda, its};
        break;
      }
  return FactorizationOf<T>::columns(side_by_side(pieces, options.device.kind, after), options);
}

}  // namespace

inline namespace LASOLVE_ABI {

#define LASOLVE_DEFINE(T)                                                                           \
  Factorization<T> factor_pieces(std::span<const Borrowed<const T>> pieces, const Options& options, \
                                 CUstream_st* after) {                                              \
    return factors_of<T>(pieces, options, after);                                                   \
  }
LASOLVE_ELEMENTS(LASOLVE_DEFINE)
#undef LASOLVE_DEFINE

}  // namespace LASOLVE_ABI

}  // namespace lasolve
