// How the operands of a product lie in memory while a kernel is tried: in a frame that has to stay as it is.
#pragma once

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <optional>

#include "core/ceil_div.hpp"
#include "core/kernel_calls.hpp"
#include "core/traffic.hpp"
#include "core/transfer.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve::bench {

/// Of a stored matrix: how far its first element is from a multiple of 256 bytes, in elements, and its leading dimension.
enum class Layout : int {
  tight,    ///< 0, and no row between columns
  even,     ///< 2, columns at even distances
  odd,      ///< 3, and six rows between columns
  aligned,  ///< 8, columns at multiples of eight elements, which are at least 16 bytes
  shifted,  ///< 9, the same columns: only the pointer is not aligned
  skewed,   ///< 8, columns at odd distances: only the pointer is aligned
  made,     ///< as Matrix makes it
  far       ///< 8, and columns so far apart that the third is beyond 2³¹ elements
};

/// NaN with a payload of its own, so that another NaN in its place is seen.
template <class X>
X frame_value() {
  if constexpr (sizeof(X) == 8)
    return std::bit_cast<X>(std::uint64_t(0x7ff8'5eed'f00d'cafe));
  else if constexpr (sizeof(X) == 4)
    return std::bit_cast<X>(std::uint32_t(0x7fc5'cafe));
  else
    return std::bit_cast<X>(std::uint16_t(std::is_same_v<X, fp16> ? 0x7e5a : 0x7fda));
}

/// Memory for columns far apart: addresses on the host, of which few are used; on a device all of it.
template <class X, class Space>
class FarMemory {
 public:
  explicit FarMemory(std::int64_t length) : memory_(length, 1) {}
  X* data() { return memory_.data(); }

 private:
  Matrix<X, Space> memory_;
};
template <class X>
class FarMemory<X, Cpu> {
 public:
  explicit FarMemory(std::int64_t length) : bytes_(std::size_t(length) * sizeof(X)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw OutOfMemory("host", bytes_, Memory<Cpu>::available());
  }
  ~FarMemory() { munmap(memory_, bytes_); }
  FarMemory(const FarMemory&) = delete;
  FarMemory& operator=(const FarMemory&) = delete;
  X* data() { return static_cast<X*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// One stored matrix of a product: its image on the host, and where the kernel finds it. The memory is used again by the next
/// one, so that a kernel that remembers operands by their address is found out.
template <class X, class Space>
class Framed {
 public:
  /// rows × cols, whose elements in image() are to be filled.
  void lay_out(std::int64_t rows, std::int64_t cols, Layout layout) {
    rows_ = rows, cols_ = cols;
    far_ = layout == Layout::far;
    ld_ = image_ld_ = leading_dimension(layout);
    if (far_) image_ld_ = rows + 2 * beside;
    lead_ = far_ ? beside : guard + offset(layout);
    length_ = far_ ? cols * image_ld_ : lead_ + ld_ * cols + guard;
    grow(image_);
    if (far_)
      far_memory_.emplace(ld_ * (cols - 1) + image_ld_);
    else
      grow(there_);
    each_gap([&](std::int64_t begin, std::int64_t end) {
      std::fill(image_.data() + begin, image_.data() + end, frame_value<X>());
    });
  }

  MatrixView<X> image() { return {image_.data() + lead_, rows_, cols_, image_ld_}; }
  MatrixView<const X> fetched() { return {fetched_.data() + lead_, rows_, cols_, image_ld_}; }
  MatrixView<X, Space> view() { return {memory() + lead_, rows_, cols_, ld_}; }
  std::int64_t ld() const { return ld_; }
  int alignment() { return alignment_of(memory() + lead_); }

  /// The image to the place, and from there what has become of it.
  void send(Queue<Space>& q) {
    each_strip([&](std::int64_t here, std::int64_t there, std::int64_t length) {
      move(q, MatrixView<const X>(image_.data() + here, length, 1, length),
           MatrixView<X, Space>(memory() + there, length, 1, length));
    });
    q.finish();
  }
  void fetch(Queue<Space>& q) {
    grow(fetched_);
    each_strip([&](std::int64_t here, std::int64_t there, std::int64_t length) {
      move(q, MatrixView<const X, Space>(memory() + there, length, 1, length),
           MatrixView<X>(fetched_.data() + here, length, 1, length));
    });
    q.finish();
  }
  /// The image to memory beside its own, which has zeros until it arrives there in the order of the queue. Not for columns far apart.
  void stage(Queue<Space>& q) {
    grow(staged_);
    move(q, MatrixView<const X>(image_.data(), length_, 1, length_),
         MatrixView<X, Space>(staged_.data(), length_, 1, length_));
    if constexpr (std::is_same_v<Space, Cuda>) fill_zero(q, memory(), std::size_t(length_) * sizeof(X));
    q.finish();
  }
  void arrive(Queue<Space>& q) {
    if constexpr (std::is_same_v<Space, Cuda>)
      copy_within(q, memory(), staged_.data(), std::size_t(length_) * sizeof(X));
    else
      std::copy_n(staged_.data(), length_, memory());
  }
  /// A little that is worth fetching only to see whether it is what was sent.
  bool is_small() const { return length_ <= 1 << 22; }

  struct Position {
    std::int64_t i, j;
  };
  /// The first element beside the matrix that is no longer what was sent.
  std::optional<Position> changed_frame() const {
    std::optional<Position> first;
    each_gap([&](std::int64_t begin, std::int64_t end) {
      if (!first) first = difference(begin, end);
    });
    return first;
  }
  /// The first element anywhere that is no longer what was sent.
  std::optional<Position> change() const { return difference(0, length_); }
  double fetched_at(Position p) const { return double(fetched_.data()[lead_ + p.j * image_ld_ + p.i]); }

 private:
  static constexpr std::int64_t guard = 512,
                                beside = 8;  // elements: before and after a matrix, and between far columns

  static std::int64_t offset(Layout layout) {
    constexpr std::int64_t of[] = {0, 2, 3, 8, 9, 8, 0, 8};
    return of[int(layout)];
  }
  std::int64_t leading_dimension(Layout layout) const {
    switch (layout) {
      case Layout::tight:
        return rows_;
      case Layout::even:
        return round_up(rows_ + 4, 2);
      case Layout::odd:
        return rows_ + 6;
      case Layout::aligned:
      case Layout::shifted:
        return round_up(rows_ + 16, 8);
      case Layout::skewed:
        return round_up(rows_ + 16, 8) + 1;
      case Layout::made:
        return Matrix<X, Space>::padded_ld(rows_, cols_);
      case Layout::far:
        return (std::int64_t(1) << 30) + 8;
    }
    return rows_;
  }

  X* memory() { return far_ ? far_memory_->data() : there_.data(); }
  template <class Room>
  void grow(Room& room) {
    if (room.rows() >= length_) return;
    room = {};
    room = Room(length_, 1);
  }

  static void move(Queue<Cpu>&, MatrixView<const X> from, MatrixView<X> to) {
    std::copy_n(from.data(), from.rows(), to.data());
  }
  template <class From, class To>
  static void move(Queue<Cuda>& q, MatrixView<const X, From> from, MatrixView<X, To> to) {
    copy<X>(q, from, to);
  }

  /// f(place in the image, place in the memory, elements) for what travels at once.
  template <class F>
  void each_strip(F f) const {
    if (!far_) return f(0, 0, length_);
    for (std::int64_t j = 0; j < cols_; ++j) f(j * image_ld_, j * ld_, image_ld_);
  }
  /// f(begin, end) for what of the image is beside the matrix.
  template <class F>
  void each_gap(F f) const {
    std::int64_t begin = 0;
    for (std::int64_t j = 0; j < cols_ && rows_ > 0; ++j) {
      f(begin, lead_ + j * image_ld_);
      begin = lead_ + j * image_ld_ + rows_;
    }
    f(begin, length_);
  }
  /// By their bits, since NaN is nothing's equal.
  std::optional<Position> difference(std::int64_t begin, std::int64_t end) const {
    const X *sent = image_.data(), *found = fetched_.data();
    if (begin == end || std::memcmp(sent + begin, found + begin, std::size_t(end - begin) * sizeof(X)) == 0) return {};
    std::int64_t at = begin;
    while (std::memcmp(sent + at, found + at, sizeof(X)) == 0) ++at;
    const std::int64_t from_first = at - lead_, ld = std::max<std::int64_t>(image_ld_, 1);
    const std::int64_t j = from_first >= 0 ? from_first / ld : -ceil_div(-from_first, ld);
    return Position{from_first - j * ld, j};
  }

  std::int64_t rows_ = 0, cols_ = 0, ld_ = 0, image_ld_ = 0, lead_ = 0, length_ = 0;
  bool far_ = false;
  Matrix<X> image_, fetched_;
  Matrix<X, Space> there_, staged_;
  std::optional<FarMemory<X, Space>> far_memory_;
};

}  // namespace lasolve::bench
