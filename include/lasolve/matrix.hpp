// Matrices: Matrix<T, Space> owns memory, MatrixView<T, Space> borrows it. Column-major, 64-bit sizes.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <limits>
#include <new>

#include "lasolve/borrowed.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// What has one column, or columns whose elements lie side by side: all but what is row-major by its type.
template <class M>
concept ByColumns = !requires {
  typename std::remove_cvref_t<M>::InSpace;
}
&&!OfMdspan<std::remove_cvref_t<M>> && std::rank_v<std::remove_cvref_t<M>> < 2 && !requires {
  requires bool(std::remove_cvref_t<M>::IsRowMajor) && !bool(std::remove_cvref_t<M>::IsVectorAtCompileTime);
};

/// Borrowed by columns, on one device: element (i, j) is data[i + j·ld], ld ≥ max(rows, 1), indices from 0. Solvers and kernels take these.
template <class T, class Space = Cpu>
class MatrixView {
 public:
  using Element = T;
  using InSpace = Space;

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

  /// A span, vector or array is a matrix of one column; what Eigen has by columns is one of as many. Throws std::invalid_argument on other
  /// strides.
  template <ByColumns M>
  constexpr MatrixView(M&& m) requires std::is_same_v<Space, Cpu> && BorrowedAs<M&, T>
      : MatrixView(by_columns(Borrowed<T>(m))) {}

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
  static constexpr MatrixView by_columns(const Borrowed<T>& m) {
    require(m.row_stride() == 1 || m.rows() <= 1,
            "an Eigen object has an inner stride other than 1: copy it into a matrix or vector first");
    if (m.cols() <= 1) return {m.data(), m.rows(), m.cols(), m.rows()};
    require(m.column_stride() >= m.rows(), "an Eigen object has an outer stride smaller than the number of its rows");
    return {m.data(), m.rows(), m.cols(), m.column_stride()};
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
  OutOfMemory(const char* memory, std::size_t wanted, std::size_t free);
  /// The same, of one of several devices.
  OutOfMemory(const std::string& device, const OutOfMemory& its) : MachineError(device + ": " + its.what()) {}
};

/// An owned rows × cols matrix, move-only, not initialized. Throws OutOfMemory, or std::invalid_argument when the size
/// in bytes does not fit 63 bits.
template <class T, class Space = Cpu>
class Matrix {
 public:
  using InSpace = Space;

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
    if (data_ && !is_lent_) Memory<Space>::release(data_);
  }
  /// One in memory of the caller's, which outlives it and is not released. Handed over to a Factorization, that is overwritten with
  /// the factors.
  static Matrix lent(MatrixView<T, Space> memory) {
    Matrix its;
    its.data_ = memory.data(), its.rows_ = memory.rows(), its.cols_ = memory.cols(), its.ld_ = memory.ld();
    its.is_lent_ = true;
    return its;
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
    std::swap(is_lent_, other.is_lent_);
  }

  T* data_ = nullptr;
  std::int64_t rows_ = 0, cols_ = 0, ld_ = 0;
  bool is_lent_ = false;
};

/// column_major(data, rows, cols, ld = rows) borrows `data`, whose element (i, j) is data[i + j·ld]. As row_major() in all else.
template <PointerOrElements D, std::integral... Sizes>
constexpr MatrixView<PointedTo<D>> column_major(D&& data, Sizes... sizes) {
  static_assert(
      sizeof...(sizes) == 2 || sizeof...(sizes) == 3,
      "lasolve: data does not say how many rows and columns it is: give lasolve::column_major(data, rows, cols)");
  if constexpr (sizeof...(sizes) >= 2) {
    const std::int64_t given[] = {std::int64_t(sizes)...};
    const std::int64_t rows = given[0], cols = given[1],
                       ld = sizeof...(sizes) == 2 ? rows : given[sizeof...(sizes) - 1];
    return {memory_of(std::forward<D>(data), rows, cols, ld), rows, cols, ld};
  }
  return {};
}

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
