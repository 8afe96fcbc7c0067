// Borrowed<T>: a dense matrix as a program has it, whatever its order and strides, on the host or on a CUDA device. Nothing is copied.
//
//     lasolve::column_major(a, n, n)   element (i, j) is a[i + j·n], as in Fortran
//     lasolve::row_major(a, n, n)      element (i, j) is a[i·n + j], as in C
//
// `a` is a pointer, or a std::vector, std::array, std::span or array, whose size is then checked.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace lasolve {
inline namespace LASOLVE_ABI {

/// Where memory lives and work runs. A device is part of a view's type, so host code cannot dereference device memory.
struct Cpu {};
struct Cuda {};

[[noreturn]] inline void refuse_misuse(const char* contract) {
  throw std::invalid_argument(std::string("lasolve: ") + contract);
}
/// Throws std::invalid_argument when a caller broke a contract.
constexpr void require(bool kept, const char* contract) {
  if (!kept) [[unlikely]]
    refuse_misuse(contract);
}

template <class U, class T>
concept WithoutConst = std::is_same_v<const U, T>;

/// A dense object of Eigen's with memory: a matrix, map, block or Ref, of either order, or the transpose of one.
template <class M>
concept OfEigen = requires(M& m) {
  { m.rows() + m.cols() + m.outerStride() + m.innerStride() } -> std::convertible_to<std::int64_t>;
  m.data();
  M::IsRowMajor;
};
/// std::mdspan, or what has its members.
template <class M>
concept OfMdspan = requires(M& m) {
  requires M::rank()
  == 1 || M::rank() == 2;
  { m.extent(0) + m.stride(0) } -> std::convertible_to<std::int64_t>;
  m.data_handle();
};
/// A vector, array or span.
template <class M>
concept Elements = requires(M& m) {
  std::data(m), std::size(m);
}
&&!requires { std::remove_cvref_t<M>::IsRowMajor; };

/// Element (i, j) is data[i·row_stride + j·column_stride].
template <class T>
struct Layout {
  T* data;
  std::int64_t rows, cols, row_stride, column_stride;
  bool on_cuda = false;
};

/// That of whatever a program has; void: it is no matrix. Of Matrix, MatrixView and their like there are rows, columns and an ld.
template <class M>
constexpr auto layout_of(M& m) {
  const auto made = []<class T>(T* data, auto rows, auto cols, auto row_stride, auto column_stride, bool cuda = false) {
    return Layout<T>{
        data, std::int64_t(rows), std::int64_t(cols), std::int64_t(row_stride), std::int64_t(column_stride), cuda};
  };
  if constexpr (requires { m.may_end(); })  // Borrowed itself
    return made(m.data(), m.rows(), m.cols(), m.row_stride(), m.column_stride(), m.on_cuda());
  else if constexpr (requires { typename M::InSpace; })
    return made(m.data(), m.rows(), m.cols(), 1, m.ld(), std::is_same_v<typename M::InSpace, Cuda>);
  else if constexpr (OfEigen<M>) {
    if constexpr (bool(M::IsRowMajor))
      return made(m.data(), m.rows(), m.cols(), m.outerStride(), m.innerStride());
    else
      return made(m.data(), m.rows(), m.cols(), m.innerStride(), m.outerStride());
  } else if constexpr (OfMdspan<M>) {
    if constexpr (M::rank() == 1)
      return made(m.data_handle(), m.extent(0), 1, m.stride(0), 1);
    else
      return made(m.data_handle(), m.extent(0), m.extent(1), m.stride(0), m.stride(1));
  } else if constexpr (std::rank_v<M> == 2)
    return made(&m[0][0], std::extent_v<M>, std::extent_v<M, 1>, std::extent_v<M, 1>, 1);
  else if constexpr (Elements<M> && requires { *std::data(m); })
    return made(std::data(m), std::size(m), 1, 1, std::size(m));
}

/// Memory that ends with the line: that of a vector, array or Matrix, or of a matrix of Eigen's, which is made in the call. Its elements are
/// const where it is, as those of a view or span are not.
template <class M>
concept Temporary =
    !std::is_lvalue_reference_v<M> &&
    (
        requires { requires std::is_same_v<typename std::remove_cvref_t<M>::PlainObject, std::remove_cvref_t<M>>; } ||
        requires(std::remove_cvref_t<M> & m, const std::remove_cvref_t<M>& constant) {
          requires !std::is_convertible_v<decltype(std::data(constant)), decltype(std::data(m))>;
          requires !OfEigen<std::remove_cvref_t<M>>;
        });

/// An Eigen::Map, which is made of a pointer, or a view of one: what it borrows is no object of Eigen's.
template <class M>
inline constexpr bool of_map = requires {
  requires std::is_constructible_v<M, typename M::Scalar*, std::int64_t, std::int64_t>;
};
template <class M>
requires requires(const M& m) { m.nestedExpression(); }
inline constexpr bool of_map<M> = of_map<std::remove_cvref_t<decltype(std::declval<const M&>().nestedExpression())>>;
/// Or which may be gone then: of a block, a transpose or a Ref of Eigen's that is made in the call, what it is of may be a temporary.
template <class M>
concept MayEnd = Temporary<M> ||
    (!std::is_lvalue_reference_v<M> && OfEigen<std::remove_cvref_t<M>> && !of_map<std::remove_cvref_t<M>>);

/// What a matrix of T can be borrowed from: to be written to, memory that stays.
template <class M, class T>
concept BorrowedAs = requires(std::remove_reference_t<M>& m) {
  requires std::is_convertible_v < std::remove_pointer_t<decltype(layout_of(m).data)>(*)
  [], T(*)[] > ;
}
&&(std::is_const_v<T> || !Temporary<M>);

/// A borrowed rows × cols matrix: element (i, j) is data()[i·row_stride + j·column_stride], indices from 0. Strides may be anything where it
/// is only read, on the host.
template <class T>
class Borrowed {
 public:
  constexpr Borrowed() = default;
  /// By columns on the host, ld apart, as MatrixView. Throws std::invalid_argument on a negative size, or ld < rows, or null data of a
  /// matrix that is not empty.
  constexpr Borrowed(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld)
      : Borrowed(data, rows, cols, 1, ld) {
    require(ld >= rows,
            "the leading dimension is smaller than the number of rows; where rows lie one after the other, that is "
            "lasolve::row_major(data, rows, cols, ld)");
  }
  constexpr Borrowed(T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t column_stride,
                     bool on_cuda = false)
      : is_{data, rows, cols, row_stride, column_stride, on_cuda} {
    require(rows >= 0 && cols >= 0, "a matrix has a negative size");
    require(data != nullptr || rows == 0 || cols == 0, "a matrix that is not empty has no data");
  }
  /// One of T is one of const T.
  template <WithoutConst<T> U>
  constexpr Borrowed(const Borrowed<U>& other)
      : is_{other.data(), other.rows(), other.cols(), other.row_stride(), other.column_stride(), other.on_cuda()},
        may_end_(other.may_end()) {}
  /// A Matrix or MatrixView of either device; what Eigen has in memory; a vector, array or span, which is a column; a two-dimensional
  /// array, which is row-major; an mdspan.
  template <BorrowedAs<T> M>
  requires(!requires(M & m) { m.may_end(); }) constexpr Borrowed(M&& m) : may_end_(MayEnd<M>) {
    const auto its = layout_of(m);
    is_ = {its.data, its.rows, its.cols, its.row_stride, its.column_stride, its.on_cuda};
  }

  constexpr T* data() const { return is_.data; }
  constexpr std::int64_t rows() const { return is_.rows; }
  constexpr std::int64_t cols() const { return is_.cols; }
  constexpr std::int64_t row_stride() const { return is_.row_stride; }
  constexpr std::int64_t column_stride() const { return is_.column_stride; }
  constexpr std::int64_t ld() const { return std::max(is_.row_stride, is_.column_stride); }
  constexpr bool empty() const { return is_.rows == 0 || is_.cols == 0; }
  constexpr bool on_cuda() const { return is_.on_cuda; }
  /// Whether its memory may end with the call: who keeps the matrix keeps a copy.
  constexpr bool may_end() const { return may_end_; }
  /// The same, whose memory is that of a CUDA device, as behind a span or an mdspan.
  constexpr Borrowed in_device_memory() const {
    Borrowed there = *this;
    there.is_.on_cuda = true;
    return there;
  }
  /// The same to be copied by who keeps it.
  constexpr Borrowed to_be_copied() const {
    Borrowed ending = *this;
    ending.may_end_ = true;
    return ending;
  }
  /// On the host.
  constexpr T& operator()(std::int64_t i, std::int64_t j) const {
    assert(!is_.on_cuda && 0 <= i && i < is_.rows && 0 <= j && j < is_.cols);
    return is_.data[i * is_.row_stride + j * is_.column_stride];
  }

 private:
  Layout<T> is_{};
  bool may_end_ = false;
};

/// What row_major() gives.
template <class T>
using RowMajorView = Borrowed<T>;

template <class D>
concept PointerOrElements = std::is_pointer_v<std::remove_cvref_t<D>> || Elements<D>;
template <class D>
using PointedTo = std::remove_reference_t<decltype(std::declval<D>()[0])>;

/// The memory of a vector, array or span that holds `count` vectors of `length` elements, `ld` apart. Throws std::invalid_argument
/// where it holds fewer.
template <class D>
constexpr PointedTo<D>* memory_of(D&& data, std::int64_t length, std::int64_t count, std::int64_t ld) {
  static_assert(std::is_pointer_v<std::remove_cvref_t<D>> || !Temporary<D>,
                "lasolve: a matrix only borrows this vector, which is a temporary: keep it in a variable");
  if constexpr (std::is_pointer_v<std::remove_cvref_t<D>>) {
    return data;
  } else {
    const auto size = std::int64_t(std::size(data));
    require(length < 0 || count < 0 || ld < length || length == 0 || count == 0 ||
                (count - 1 <= size / std::max<std::int64_t>(ld, 1) && (count - 1) * ld + length <= size),
            "a vector or span holds fewer elements than a matrix of this size has");
    return std::data(data);
  }
}

/// row_major(data, rows, cols, ld = cols) borrows `data`, whose element (i, j) is data[i·ld + j]. Throws std::invalid_argument on a negative
/// size, ld < cols, null data of a matrix that is not empty, or a vector with too few elements.
template <PointerOrElements D, std::integral... Sizes>
constexpr Borrowed<PointedTo<D>> row_major(D&& data, Sizes... sizes) {
  static_assert(
      sizeof...(sizes) == 2 || sizeof...(sizes) == 3,
      "lasolve: data does not say how many rows and columns it is: give lasolve::row_major(data, rows, cols)");
  if constexpr (sizeof...(sizes) >= 2) {
    const std::int64_t given[] = {std::int64_t(sizes)...};
    const std::int64_t rows = given[0], cols = given[1], ld = given[sizeof...(sizes) - 1];
    require(rows < 0 || cols < 0 || ld >= cols,
            "the leading dimension of row-major data is smaller than the number of columns");
    return {memory_of(std::forward<D>(data), cols, rows, ld), rows, cols, ld, 1};
  }
  return {};
}
}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
