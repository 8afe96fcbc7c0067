#include "arrays.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

namespace lasolve::python {
namespace {

/// NumPy, as far as calls that take microseconds need it. Never freed: Python may end before this module.
struct NumPy {
  nb::object array = nb::module_::import_("numpy").attr("ndarray");
  nb::object empty = nb::module_::import_("numpy").attr("empty");
  nb::object float64 = nb::module_::import_("numpy").attr("dtype")("float64");
  nb::object float32 = nb::module_::import_("numpy").attr("dtype")("float32");
  nb::object by_columns = nb::str("F"), by_rows = nb::str("C");
};
const NumPy& numpy() {
  static const NumPy* const kept = new NumPy();
  return *kept;
}

bool is_numpy(nb::handle object) { return object.type().is(numpy().array); }

/// The same of torch. Its tensors tell by their attributes what DLPack takes five times as long for.
struct Torch {
  explicit Torch(nb::handle torch)
      : tensor(nb::getattr(torch, "Tensor", nb::none())),
        strided(nb::getattr(torch, "strided", nb::none())),
        float64(nb::getattr(torch, "float64", nb::none())),
        float32(nb::getattr(torch, "float32", nb::none())),
        current_stream(nb::getattr(nb::getattr(torch, "_C", nb::none()), "_cuda_getCurrentRawStream", nb::none())) {}
  /// Else it is still being imported, or another module of that name.
  bool is_all_there() const {
    return PyType_Check(tensor.ptr()) && !strided.is_none() && !float64.is_none() && !float32.is_none();
  }
  nb::object tensor, strided, float64, float32;
  nb::object current_stream;  // of a device; None: a torch without CUDA, or another one
};
/// Null where no program has imported it.
const Torch* torch() {
  static const Torch* kept = nullptr;
  if (kept) return kept;
  PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  if (!module) return nullptr;
  auto torch = std::make_unique<Torch>(module);
  return torch->is_all_there() ? kept = torch.release() : nullptr;
}
/// Of no derived type, which may mean more.
bool is_tensor(nb::handle object) { return torch() && object.type().is(torch()->tensor); }

/// Whether it is a view of torch's whose memory has the numbers with the other sign, which DLPack does not tell.
bool is_negated(nb::handle object) {
  return torch() && PyObject_IsInstance(object.ptr(), torch()->tensor.ptr()) == 1 &&
         nb::cast<bool>(object.attr("is_neg")());
}

bool is_true(nb::handle object, const char* name) { return object.attr(name).ptr() == Py_True; }

}  // namespace

bool Array::take(nb::handle object, bool to_write) {
  release();
  if (is_numpy(object)) return take_buffer(object, to_write);
  // What is derived of NumPy's may mean more than its numbers, as a masked array does.
  if (PyObject_IsInstance(object.ptr(), numpy().array.ptr()) != 0) return false;
  if (is_negated(object)) return false;
  if (is_tensor(object)) {
    if (take_tensor(object)) return true;
    release();
  }
  return take_dlpack(object, to_write);
}

void Array::require(nb::handle object, bool to_write) {
  if (!take(object, to_write)) throw nb::type_error("lasolve: not an array of float64 or float32 that can be read");
}

bool Array::take_buffer(nb::handle object, bool to_write) {
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT | (to_write ? PyBUF_WRITABLE : 0)) != 0) {
    PyErr_Clear();
    return false;
  }
  has_buffer_ = true;
  const char* const format = buffer_.format;
  if (!format || (*format != 'd' && *format != 'f') || format[1] != 0) return false;
  is_double_ = *format == 'd';
  stride_unit_ = buffer_.itemsize;
  if (reinterpret_cast<std::uintptr_t>(buffer_.buf) % std::uintptr_t(stride_unit_) != 0) return false;
  for (int i = 0; i < buffer_.ndim; ++i)
    if (buffer_.strides[i] % stride_unit_ != 0) return false;
  data_ = buffer_.buf;
  dimensions_ = buffer_.ndim;
  shape_ = reinterpret_cast<const std::int64_t*>(buffer_.shape);
  strides_ = reinterpret_cast<const std::int64_t*>(buffer_.strides);
  device_ = {Device::cpu, 0};
  return true;
}

/// False, where it is out of the ordinary: DLPack knows more.
bool Array::take_tensor(nb::handle object) try {
  const nb::object type = object.attr("dtype"), shape = object.attr("shape"), strides = object.attr("stride")();
  is_double_ = type.is(torch()->float64);
  dimensions_ = int(nb::len(shape));
  if ((!is_double_ && !type.is(torch()->float32)) || !object.attr("layout").is(torch()->strided) ||
      dimensions_ > int(shape_of_torch_.size()) || is_true(object, "requires_grad"))
    return false;
  const bool on_cuda = is_true(object, "is_cuda");
  if (!on_cuda && !is_true(object, "is_cpu")) return false;
  for (int i = 0; i < dimensions_; ++i) {
    shape_of_torch_[std::size_t(i)] = nb::cast<std::int64_t>(shape[i]);
    strides_of_torch_[std::size_t(i)] = shape_of_torch_[std::size_t(i)] < 2 ? 1 : nb::cast<std::int64_t>(strides[i]);
  }
  shape_ = shape_of_torch_.data(), strides_ = strides_of_torch_.data();
  stride_unit_ = 1;
  data_ = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(object.attr("data_ptr")()));
  device_ = {on_cuda ? Device::cuda : Device::cpu, on_cuda ? nb::cast<int>(object.attr("get_device")()) : 0};
  of_torch_ = nb::borrow(object);
  return is_in_one_direction();
} catch (const std::exception&) {  // it has no memory, as under vmap
  return false;
}

/// On a device rows or columns lie in one piece.
bool Array::is_in_one_direction() const {
  const int d = dimensions_;
  return device_.kind != Device::cuda || d < 2 || stride(d - 1) == 1 || stride(d - 2) == 1 || size(d - 1) < 2 ||
         size(d - 2) < 2;
}

bool Array::take_dlpack(nb::handle object, bool to_write) {
  if (!nb::hasattr(object, "__dlpack__")) return false;
  if (nb::getattr(object, "requires_grad", nb::none()).ptr() == Py_True)
    return false;  // which would be lost without a word
  if (to_write) {
    if (!nb::try_cast(object, tensor_)) return false;
  } else {
    nb::ndarray<nb::ro> read;
    if (!nb::try_cast(object, read)) return false;
    tensor_ = nb::ndarray<>(read);
  }
  if (!tensor_.is_valid()) return false;
  const bool is_float = tensor_.dtype() == nb::dtype<float>();
  is_double_ = tensor_.dtype() == nb::dtype<double>();
  const int where = tensor_.device_type();
  if ((!is_float && !is_double_) || (where != nb::device::cpu::value && where != nb::device::cuda::value)) return false;
  stride_unit_ = 1;
  data_ = tensor_.data();
  dimensions_ = int(tensor_.ndim());
  shape_ = tensor_.shape_ptr();
  strides_ = tensor_.stride_ptr();
  const bool on_cuda = where == nb::device::cuda::value;
  device_ = {on_cuda ? Device::cuda : Device::cpu, on_cuda ? tensor_.device_id() : 0};
  return is_in_one_direction();
}

std::pair<std::uintptr_t, std::uintptr_t> Array::ends() const {
  const std::int64_t bytes = is_double_ ? sizeof(double) : sizeof(float);
  std::uintptr_t first = reinterpret_cast<std::uintptr_t>(data_), last = first;
  for (int i = 0; i < dimensions_; ++i) {
    if (size(i) == 0) return {first, first};
    const std::int64_t reach = (size(i) - 1) * stride(i) * bytes;
    (reach < 0 ? first : last) += std::uintptr_t(reach);
  }
  return {first, last + std::uintptr_t(bytes)};
}

bool Array::may_share_memory(const Array& other) const {
  const auto [first, behind] = ends();
  const auto [its_first, behind_its] = other.ends();
  return first < behind_its && its_first < behind;
}

void Array::release() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
  has_buffer_ = false;
  tensor_ = {};
  of_torch_.reset();
}

void Batches::add(const Array& array, int core) {
  const std::size_t own = std::size_t(std::max(array.dimensions() - core, 0));
  if (own > shape_.size()) shape_.insert(shape_.begin(), own - shape_.size(), 1);
  for (std::size_t i = 0; i < own; ++i) {
    std::int64_t& all = shape_[shape_.size() - own + i];
    const std::int64_t its = array.size(int(i));
    if (all != its && all != 1 && its != 1)
      throw std::invalid_argument("lasolve: batches of sizes " + std::to_string(all) + " and " + std::to_string(its) +
                                  " do not go together");
    if (all == 1) all = its;
  }
}

std::int64_t Batches::count() const {
  std::int64_t all = 1;
  for (const std::int64_t size : shape_) all *= size;
  return all;
}

std::int64_t Batches::offset(const Array& array, int core, std::int64_t number) const {
  std::int64_t elements = 0;
  int dimension = array.dimensions() - core - 1;
  for (std::size_t i = shape_.size(); i-- > 0 && dimension >= 0; --dimension) {
    if (array.size(dimension) > 1) elements += number % shape_[i] * array.stride(dimension);
    number /= shape_[i];
  }
  return elements;
}

nb::object function(const char* module, const char* name) {
  static auto* const known = new std::map<std::pair<std::string, std::string>, nb::object>();
  nb::object& its = (*known)[{module, name}];
  if (!its.is_valid()) its = nb::module_::import_((std::string("lasolve.") + module).c_str()).attr(name);
  return its;
}

nb::object empty_like(nb::handle like, const std::vector<std::int64_t>& shape, bool is_double) {
  nb::object sizes = nb::steal(PyTuple_New(Py_ssize_t(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SetItem(sizes.ptr(), Py_ssize_t(i), PyLong_FromLongLong(shape[i]));
  if (is_tensor(like) && like.attr("dtype").is(is_double ? torch()->float64 : torch()->float32) && shape.size() <= 2) {
    if (shape.size() == 1 || shape[1] == 1) return like.attr("new_empty")(sizes);
    return like.attr("new_empty")(nb::make_tuple(shape[1], shape[0])).attr("t")();
  }
  if (!is_numpy(like) || shape.size() > 2) return function("_arrays", "empty_like")(like, sizes, is_double);
  const NumPy& np = numpy();
  return np.empty(sizes, is_double ? np.float64 : np.float32, shape.size() == 2 ? np.by_columns : np.by_rows);
}

nb::object finished(nb::handle like, nb::object made) {
  return is_numpy(like) || (is_tensor(like) && is_tensor(made)) ? made : function("_arrays", "finished")(like, made);
}

After after(nb::handle array, Device device) {
  if (device.kind != Device::cuda) return {};
  const bool is_quick = is_tensor(array) && !torch()->current_stream.is_none();
  const auto stream = nb::cast<std::uintptr_t>(is_quick ? torch()->current_stream(device.index)
                                                        : function("_arrays", "current_stream")(array));
  return After(reinterpret_cast<CUstream_st*>(stream ? stream : 1));  // 1: the legacy default stream
}

}  // namespace lasolve::python
