#include "gemm.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lasolve/plugin.hpp"

namespace lasolve::python {
namespace {

/// A matrix as an array: NumPy's on the host, on CUDA what any library takes by DLPack.
template <class T>
nb::object array(T* data, std::int64_t rows, std::int64_t cols, std::int64_t by_row, std::int64_t by_column, int cuda) {
  const std::size_t shape[] = {std::size_t(rows), std::size_t(cols)};
  const std::int64_t strides[] = {by_row, by_column};
  nb::object owner = nb::none();  // the call
  if (cuda < 0) return nb::cast(nb::ndarray<nb::numpy, T>(data, 2, shape, owner, strides), nb::rv_policy::reference);
  // Not read-only, which libraries that take DLPack of version 0 refuse.
  using Element = std::remove_const_t<T>;
  return nb::cast(nb::ndarray<Element>(const_cast<Element*>(data), 2, shape, owner, strides, nb::dtype<Element>(),
                                       nb::device::cuda::value, cuda),
                  nb::rv_policy::reference);
}

int cuda_of(Queue<Cpu>&) { return -1; }
int cuda_of(Queue<Cuda>& q) { return q.device(); }
void call(const nb::object& f, Queue<Cpu>&, nb::object A, nb::object B, nb::object C, double alpha, double beta) {
  f(A, B, C, alpha, beta);
}
void call(const nb::object& f, Queue<Cuda>& q, nb::object A, nb::object B, nb::object C, double alpha, double beta) {
  f(A, B, C, alpha, beta, reinterpret_cast<std::uintptr_t>(q.stream()));
}

template <class T, class Space>
void product(const void* self, Queue<Space>& q, T alpha, Operand<T, Space> A, Operand<T, Space> B, T beta,
             MatrixView<T, Space> C) {
  const nb::gil_scoped_acquire locked;
  const int cuda = cuda_of(q);
  const auto of = [&](const Operand<T, Space>& X) {
    return array(X.data(), X.rows(), X.cols(), X.row_stride(), X.col_stride(), cuda);
  };
  call(static_cast<const Kernel*>(self)->function(), q, of(A), of(B),
       array(C.data(), C.rows(), C.cols(), 1, C.ld(), cuda), double(alpha), double(beta));
}

template <class Space>
void fill(GemmBackend<Space>& backend, const Kernel& kernel, const std::string& name, bool fp64, bool fp32) {
  backend.name = name.c_str();
  backend.summary = "a function of Python's";
  backend.kernels = {GemmKernel<Precision::fp64, Space>(fp64 ? product<double, Space> : nullptr),
                     GemmKernel<Precision::fp32, Space>(fp32 ? product<float, Space> : nullptr)};
  backend.self = &kernel;
}

/// The names of the backends that can run on a device.
template <class Space>
std::vector<std::string> runnable(int device) {
  std::vector<std::string> names;
  for (const GemmBackend<Space>* backend : gemm_backends<Space>())
    if (!backend->unavailable || backend->unavailable(device).empty()) names.push_back(backend->name);
  return names;
}

template <class F>
auto with_record(const GemmChoice& choice, const F& f) {
  if (const auto* const on_cuda = std::get_if<const GemmBackend<Cuda>*>(&choice)) return f(**on_cuda);
  return f(*std::get<const GemmBackend<Cpu>*>(choice));
}

}  // namespace

Kernel::Kernel(nb::object function, std::string name, bool fp64, bool fp32, bool on_cuda)
    : function_(std::move(function)), name_(std::move(name)) {
  fill(cpu_, *this, name_, fp64, fp32);
  fill(cuda_, *this, name_, fp64, fp32);
  if (on_cuda)
    choice_ = &cuda_;
  else
    choice_ = &cpu_;
}

Kernel::Kernel(const std::string& library, const std::string& name) : choice_(load_kernel(library, name)) {}

std::string Kernel::name() const {
  return with_record(choice_, [](const auto& record) { return std::string(record.name); });
}

std::vector<std::string> Kernel::precisions() const {
  return with_record(choice_, [](const auto& record) {
    std::vector<std::string> all;
    if (record.template in<Precision::fp64>()) all.emplace_back("fp64");
    if (record.template in<Precision::fp32>()) all.emplace_back("fp32");
    return all;
  });
}

void bind_gemm(nb::module_& m) {
  m.def("backends", [](const std::string& device) {
    if (device == "cpu") return runnable<Cpu>(0);
    if (device == "cuda") return runnable<Cuda>(0);
    throw std::invalid_argument("lasolve: backends are those of cpu, or of cuda");
  });
  nb::class_<Kernel>(m, "Kernel")
      .def(nb::init<nb::object, std::string, bool, bool, bool>(), nb::arg("function"), nb::arg("name"), nb::arg("fp64"),
           nb::arg("fp32"), nb::arg("on_cuda"))
      .def(nb::init<std::string, std::string>(), nb::arg("library"), nb::arg("name"))
      .def_prop_ro("name", &Kernel::name)
      .def_prop_ro("precisions", &Kernel::precisions)
      .def_prop_ro("on_cuda", &Kernel::on_cuda);
}

}  // namespace lasolve::python
