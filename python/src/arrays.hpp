// Arrays of Python's, borrowed: NumPy's by the buffer protocol, torch's by their attributes, which costs least, all others by DLPack.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::python {

namespace nb = nanobind;

/// An array of doubles or floats with any number of dimensions. It stays where it is, and its memory there, while this lives.
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  ~Array() { release(); }

  /// Whether `object` is such an array. False: lasolve._arrays has to make one of it.
  bool take(nb::handle object, bool to_write = false);
  /// Throws nb::type_error where it is none.
  void require(nb::handle object, bool to_write = false);

  int dimensions() const { return dimensions_; }
  std::int64_t size(int dimension) const { return shape_[dimension]; }
  /// From one element to the next, in elements.
  std::int64_t stride(int dimension) const { return strides_[dimension] / stride_unit_; }
  bool is_double() const { return is_double_; }
  /// Whether the memory from its first to its last element may have some of another array's.
  bool may_share_memory(const Array& other) const;
  Device device() const { return device_; }

  /// The last two dimensions, or the only one as a column, of the part that begins behind so many elements.
  template <class T>
  Borrowed<T> matrix(std::int64_t offset = 0, bool is_column = false) const {
    const int d = dimensions_;
    const std::int64_t rows = size(is_column ? d - 1 : d - 2), cols = is_column ? 1 : size(d - 1);
    const std::int64_t by_row = stride(is_column ? d - 1 : d - 2), by_column = is_column ? rows : stride(d - 1);
    T* const data = rows == 0 || cols == 0 ? nullptr : static_cast<T*>(data_) + offset;
    return {data, rows, cols, by_row, by_column, device_.kind == Device::cuda};
  }

 private:
  /// Its first byte, and the first behind it.
  std::pair<std::uintptr_t, std::uintptr_t> ends() const;
  bool take_buffer(nb::handle object, bool to_write);
  bool take_tensor(nb::handle object);
  bool is_in_one_direction() const;
  bool take_dlpack(nb::handle object, bool to_write);
  void release();

  void* data_ = nullptr;
  int dimensions_ = 0;
  const std::int64_t *shape_ = nullptr, *strides_ = nullptr;  // of the buffer or the tensor that is held
  std::int64_t stride_unit_ = 1;
  bool is_double_ = true;
  Device device_ = {Device::cpu, 0};
  bool has_buffer_ = false;
  Py_buffer buffer_;
  nb::ndarray<> tensor_;
  nb::object of_torch_;
  std::array<std::int64_t, 8> shape_of_torch_, strides_of_torch_;
};

/// The batches of several arrays, broadcast against one another: all dimensions but those of a matrix.
class Batches {
 public:
  /// `core`: how many dimensions at the end are those of a matrix.
  void add(const Array& array, int core);
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t count() const;
  /// The elements to the part of an array that has a number.
  std::int64_t offset(const Array& array, int core, std::int64_t number) const;

 private:
  std::vector<std::int64_t> shape_;
};

/// A function of the package's own Python code, such as "_arrays", "prepare". Imported once.
nb::object function(const char* module, const char* name);

/// What is new and as `like`: its kind, device and type, with the last two dimensions by columns. See lasolve._arrays.
nb::object empty_like(nb::handle like, const std::vector<std::int64_t>& shape, bool is_double);
/// The same kind as `like`, where empty_like() could not make one that may be written to.
nb::object finished(nb::handle like, nb::object made);

/// What comes before a call where memory is on a CUDA device: the work of the current stream of the array's library.
After after(nb::handle array, Device);

}  // namespace lasolve::python
