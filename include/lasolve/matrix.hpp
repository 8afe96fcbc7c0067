// Matrices: Matrix<T, Space> owns memory, MatrixView<T, Space> borrows it. Column-major, 64-bit sizes.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <new>
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

/// A column-major dense object of T that is not ours, such as an Eigen matrix, map or block: borrowed, never copied.
template <class X, class T>
concept ColumnMajorMatrixOf = requires(X& x) {
  { x.data() } -> std::convertible_to<T*>;
  { x.rows() } -> std::convertible_to<std::int64_t>;
  { x.cols() } -> std::convertible_to<std::int64_t>;
  { x.outerStride() } -> std::convertible_to<std::int64_t>;
  { x.innerStride() } -> std::convertible_to<std::int64_t>;
  requires !bool(std::remove_cvref_t<X>::IsRowMajor) || bool(std::remove_cvref_t<X>::IsVectorAtCompileTime);
};

/// A vector, array or span of T.
template <class R, class T>
concept ColumnOf = requires(R& r) {
  { std::data(r) } -> std::convertible_to<T*>;
  std::size(r);
}
&&!requires { std::remove_cvref_t<R>::IsRowMajor; };

/// A borrowed rows × cols matrix: element (i, j) is data[i + j·ld], ld ≥ max(rows, 1), indices from 0.
template <class T, class Space = Cpu>
class MatrixView {
 public:
  using Element = T;

  constexpr MatrixView() = default;

  /// Borrows `data`. Throws std::invalid_argument on a negative size, or ld < rows, or null data of a non-empty matrix.
  constexpr MatrixView(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld)
      : data_(data), rows_(rows), cols_(cols), ld_(ld) {
    require(rows >= 0 && cols >= 0, "a matrix has a negative size");
    require(ld >= rows,
            "the leading dimension is smaller than the number of rows; where rows lie one after the other, that is "
            "lasolve::row_major(data, rows, cols, ld)");
    require(data != nullptr || rows == 0 || cols == 0, "a matrix that is not empty has no data");
  }

  /// A view of T is a view of const T.
  template <WithoutConst<T> U>
  constexpr MatrixView(MatrixView<U, Space> other)
      : data_(other.data()), rows_(other.rows()), cols_(other.cols()), ld_(other.ld()) {}

  /// A span is a matrix of one column, and so is a std::vector, a std::array or an array. Those that hold a matrix of more
  /// columns are given by column_major() or row_major().
  constexpr MatrixView(std::span<T> column) requires std::is_same_v<Space, Cpu>
      : MatrixView(column.data(), std::int64_t(column.size()), 1, std::int64_t(column.size())) {}
  template <ColumnOf<T> R>
  constexpr MatrixView(R&& column) requires std::is_same_v<Space, Cpu>
      : MatrixView(std::data(column), std::int64_t(std::size(column)), 1, std::int64_t(std::size(column))) {}

  /// Borrows an Eigen matrix, vector, map or block of the same scalar, column-major with unit inner stride, whose columns
  /// do not overlap. Throws std::invalid_argument on other strides.
  template <ColumnMajorMatrixOf<T> X>
  MatrixView(X&& x) requires std::is_same_v<Space, Cpu> : MatrixView(x.data(), x.rows(), x.cols(), ld_of(x)) {}

  constexpr T* data() const { return data_; }
  constexpr std::int64_t rows() const { return rows_; }
  constexpr std::int64_t cols() const { return cols_; }
  constexpr std::int64_t ld() const { return ld_; }
  constexpr bool empty() const { return rows_ == 0 || cols_ == 0; }

  /// The m × n block whose first element is (i, j).
  constexpr MatrixView block(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    assert(0 <= i && 0 <= m && i + m <= rows_ && 0 <= j && 0 <= n && j + n <= cols_);
    MatrixView b;
    b.data_ = data_ + i + j * ld_;
    b.rows_ = m;
    b.cols_ = n;
    b.ld_ = ld_;
    return b;
  }
  constexpr MatrixView columns(std::int64_t j, std::int64_t n) const { return block(0, j, rows_, n); }

  constexpr T& operator()(std::int64_t i, std::int64_t j) const requires std::is_same_v<Space, Cpu> {
    assert(0 <= i && i < rows_ && 0 <= j && j < cols_);
    return data_[i + j * ld_];
  }

 private:
  /// The distance between the columns of an Eigen object; its rows where it has no second column.
  template <class X>
  static std::int64_t ld_of(const X& x) {
    require(x.innerStride() == 1,
            "an Eigen object has an inner stride other than 1: copy it into a matrix or vector first");
    if (X::IsVectorAtCompileTime || x.cols() <= 1) return x.rows();
    require(x.outerStride() >= x.rows(), "an Eigen object has an outer stride smaller than the number of its rows");
    return x.outerStride();
  }

  T* data_ = nullptr;
  std::int64_t rows_ = 0, cols_ = 0, ld_ = 0;
};

/// Raw memory of a device; on CUDA of the device that is current. allocate throws OutOfMemory, which says how much was wanted and
/// how much was free.
template <class Space>
struct Memory {
  static void* allocate(std::size_t bytes);
  static void release(void* memory) noexcept;
  /// Bytes that an allocation could have now, or fewer of them where there are `enough`, which may be known without asking.
  static std::size_t available(std::size_t enough = std::numeric_limits<std::size_t>::max());
};
template <>
void* Memory<Cpu>::allocate(std::size_t);
template <>
void Memory<Cpu>::release(void*) noexcept;
template <>
std::size_t Memory<Cpu>::available(std::size_t);
template <>
void* Memory<Cuda>::allocate(std::size_t);
template <>
void Memory<Cuda>::release(void*) noexcept;
template <>
std::size_t Memory<Cuda>::available(std::size_t);

/// The machine cannot do what was asked: no such device, a driver error, no memory.
struct MachineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct OutOfMemory : MachineError {
  OutOfMemory(const char* place, std::size_t wanted, std::size_t free);
};

/// An owned rows × cols matrix, move-only, not initialized. Throws OutOfMemory, or std::invalid_argument when the size
/// in bytes does not fit 63 bits.
template <class T, class Space = Cpu>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t cols) : Matrix(rows, cols, padded_ld(rows, cols)) {}
  Matrix(std::int64_t rows, std::int64_t cols, std::int64_t ld) : rows_(rows), cols_(cols), ld_(ld) {
    require(rows >= 0 && cols >= 0 && ld >= rows, "a matrix has a negative size, or ld < rows");
    require(ld == 0 || cols <= std::numeric_limits<std::int64_t>::max() / std::int64_t(sizeof(T)) / ld,
            "the size of a matrix overflows 64 bits");
    if (rows > 0 && cols > 0) data_ = static_cast<T*>(Memory<Space>::allocate(bytes()));
  }
  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    Matrix taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Matrix() {
    if (data_) Memory<Space>::release(data_);
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t ld() const { return ld_; }
  std::size_t bytes() const { return std::size_t(ld_) * std::size_t(cols_) * sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }

  MatrixView<T, Space> view() & { return {data_, rows_, cols_, ld_}; }
  MatrixView<const T, Space> view() const& { return {data_, rows_, cols_, ld_}; }
  /// Does not compile, and says why. A function that takes a view, and keeps none, is given a temporary itself.
  template <class Temporary = T>
  MatrixView<T, Space> view() const&& {
    static_assert(!std::is_same_v<Temporary, T>,
                  "lasolve: a view only borrows the memory of a Matrix, and this one is a temporary that ends with the "
                  "line: keep it in a variable");
    return {};
  }
  operator MatrixView<T, Space>() & { return view(); }
  operator MatrixView<const T, Space>() const { return view(); }

  T& operator()(std::int64_t i, std::int64_t j) { return view()(i, j); }
  const T& operator()(std::int64_t i, std::int64_t j) const { return view()(i, j); }

  /// The leading dimension of a matrix that asks for none.
  /// Columns start on cache lines of 64 bytes, on CUDA at multiples of 256, which its memory likes best; and not all of them
  /// in the same set, as with a power of two.
  static std::int64_t padded_ld(std::int64_t rows, std::int64_t cols) {
    if (cols <= 1 || rows < 64) return rows;
    const std::int64_t line = (std::is_same_v<Space, Cuda> ? 256 : 64) / std::int64_t(sizeof(T));
    const std::int64_t ld = (rows + line - 1) / line * line;
    return ld % (8 * line) == 0 ? ld + line : ld;
  }

 private:
  void swap(Matrix& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(ld_, other.ld_);
  }

  T* data_ = nullptr;
  std::int64_t rows_ = 0, cols_ = 0, ld_ = 0;
};

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
