// Data as programs have it: rows that lie one after the other, and vectors that hold a matrix.
//
//     lasolve::column_major(a, n, n)   element (i, j) is a[i + j·n], as in Fortran
//     lasolve::row_major(a, n, n)      element (i, j) is a[i·n + j], as in C
//
// `a` is a pointer, or a std::vector, std::array, std::span or array, whose size is then checked. Nothing is copied.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include "lasolve/matrix.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// A row-major dense object of T that is not ours, such as a row-major Eigen matrix, or the transpose of a column-major one.
template <class X, class T>
concept RowMajorMatrixOf = requires(X& x) {
  { x.data() } -> std::convertible_to<T*>;
  { x.rows() } -> std::convertible_to<std::int64_t>;
  { x.cols() } -> std::convertible_to<std::int64_t>;
  { x.outerStride() } -> std::convertible_to<std::int64_t>;
  { x.innerStride() } -> std::convertible_to<std::int64_t>;
  requires bool(std::remove_cvref_t<X>::IsRowMajor) && !bool(std::remove_cvref_t<X>::IsVectorAtCompileTime);
};

/// A borrowed rows × cols matrix on the host: element (i, j) is data[i·ld + j], ld ≥ cols. row_major() makes one. A two-dimensional
/// array of C and a row-major Eigen object are one.
template <class T>
class RowMajorView {
 public:
  /// A view of T is a view of const T.
  template <WithoutConst<T> U>
  constexpr RowMajorView(RowMajorView<U> other) : columns_(other.transposed()) {}

  template <class U, std::size_t rows, std::size_t cols>
  constexpr RowMajorView(U (&data)[rows][cols]) requires std::is_convertible_v<U (*)[], T (*)[]>
      : columns_(&data[0][0], std::int64_t(cols), std::int64_t(rows), std::int64_t(cols)) {}

  /// Borrows an Eigen matrix, map or block of the same scalar, or the transpose of one. Throws std::invalid_argument where the
  /// elements of a row do not lie side by side.
  template <RowMajorMatrixOf<T> X>
  RowMajorView(X&& x) : columns_(x.data(), x.cols(), x.rows(), ld_of(x)) {}

  constexpr T* data() const { return columns_.data(); }
  constexpr std::int64_t rows() const { return columns_.cols(); }
  constexpr std::int64_t cols() const { return columns_.rows(); }
  constexpr std::int64_t ld() const { return columns_.ld(); }
  /// The same memory as the columns of the transposed matrix.
  constexpr MatrixView<T> transposed() const { return columns_; }

  constexpr T& operator()(std::int64_t i, std::int64_t j) const { return columns_(j, i); }

 private:
  template <class U>
  friend constexpr RowMajorView<U> row_major(U* data, std::int64_t rows, std::int64_t cols, std::int64_t ld);

  constexpr explicit RowMajorView(MatrixView<T> transposed) : columns_(transposed) {}

  template <class X>
  static std::int64_t ld_of(const X& x) {
    require(x.innerStride() == 1,
            "an Eigen object has an inner stride other than 1: copy it into a matrix of its own first");
    if (x.rows() <= 1) return x.cols();
    require(x.outerStride() >= x.cols(), "an Eigen object has an outer stride smaller than the number of its columns");
    return x.outerStride();
  }

  MatrixView<T> columns_;
};

/// The columns that A lies in: its own, or where it is row-major, those of its transpose.
template <class T, class A>
MatrixView<const T> columns_of(const A& a) {
  if constexpr (std::is_convertible_v<const A&, MatrixView<const T>>)
    return a;
  else
    return RowMajorView<const T>(a).transposed();
}

/// Borrows `data`, whose element (i, j) is data[i·ld + j]. Throws std::invalid_argument on a negative size, or ld < cols, or null data of
/// a matrix that is not empty.
template <class T>
constexpr RowMajorView<T> row_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  require(rows < 0 || cols < 0 || ld >= cols,
          "the leading dimension of row-major data is smaller than the number of columns");
  return RowMajorView<T>(MatrixView<T>(data, cols, rows, ld));
}
template <class T>
constexpr RowMajorView<T> row_major(T* data, std::int64_t rows, std::int64_t cols) {
  return row_major(data, rows, cols, cols);
}

/// Borrows `data`, whose element (i, j) is data[i + j·ld].
template <class T>
constexpr MatrixView<T> column_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return {data, rows, cols, ld};
}
template <class T>
constexpr MatrixView<T> column_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, rows};
}

template <class R>
inline constexpr bool is_span = false;
template <class T, std::size_t n>
inline constexpr bool is_span<std::span<T, n>> = true;

/// The memory of a vector, array or span that holds `count` vectors of `length` elements, `ld` apart. Throws std::invalid_argument
/// where it holds fewer.
template <class R>
constexpr auto* memory_of(R&& elements, std::int64_t length, std::int64_t count, std::int64_t ld) {
  static_assert(std::is_lvalue_reference_v<R> || is_span<std::remove_cvref_t<R>>,
                "lasolve: a matrix only borrows this vector, which is a temporary: keep it in a variable");
  const auto size = std::int64_t(std::size(elements));
  require(length < 0 || count < 0 || ld < length || length == 0 || count == 0 ||
              (count - 1 <= size / std::max<std::int64_t>(ld, 1) && (count - 1) * ld + length <= size),
          "a vector or span holds fewer elements than a matrix of this size has");
  return std::data(elements);
}

template <class R>
concept Elements = requires(R& r) {
  std::data(r), std::size(r);
}
&&!requires { std::remove_cvref_t<R>::IsRowMajor; };

/// The same of a std::vector, std::array, std::span or array that holds the elements. Throws std::invalid_argument where there are too few.
template <Elements R>
constexpr auto row_major(R&& elements, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return row_major(memory_of(std::forward<R>(elements), cols, rows, ld), rows, cols, ld);
}
template <Elements R>
constexpr auto row_major(R&& elements, std::int64_t rows, std::int64_t cols) {
  return row_major(std::forward<R>(elements), rows, cols, cols);
}
template <Elements R>
constexpr auto column_major(R&& elements, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return column_major(memory_of(std::forward<R>(elements), rows, cols, ld), rows, cols, ld);
}
template <Elements R>
constexpr auto column_major(R&& elements, std::int64_t rows, std::int64_t cols) {
  return column_major(std::forward<R>(elements), rows, cols, rows);
}

template <class D>
concept PointerOrElements = std::is_pointer_v<std::remove_cvref_t<D>> || Elements<D>;
template <PointerOrElements D>
constexpr auto* pointer_to(D&& data) {
  if constexpr (std::is_pointer_v<std::remove_cvref_t<D>>)
    return data;
  else
    return std::data(data);
}
template <class D>
using PointedTo = std::remove_pointer_t<decltype(pointer_to(std::declval<D>()))>;
/// Do not compile, and say why: sizes are missing.
template <PointerOrElements D, std::integral... Sizes>
requires(sizeof...(Sizes) < 2) constexpr RowMajorView<PointedTo<D>> row_major(D&&, Sizes...) {
  static_assert(
      sizeof...(Sizes) == 2,
      "lasolve: data does not say how many rows and columns it is: give lasolve::row_major(data, rows, cols)");
  return row_major(static_cast<PointedTo<D>*>(nullptr), 0, 0);
}
template <PointerOrElements D, std::integral... Sizes>
requires(sizeof...(Sizes) < 2) constexpr MatrixView<PointedTo<D>> column_major(D&&, Sizes...) {
  static_assert(
      sizeof...(Sizes) == 2,
      "lasolve: data does not say how many rows and columns it is: give lasolve::column_major(data, rows, cols)");
  return {};
}

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
