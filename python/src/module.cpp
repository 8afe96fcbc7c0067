#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "gemm.hpp"
#include "parts.hpp"

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  using namespace lasolve;
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const OutOfMemory& e) {
      PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const MachineError& e) {
      PyErr_SetString(PyExc_RuntimeError, e.what());
    }
  });
  nb::set_leak_warnings(false);  // what is imported once is kept until the end of the process
  m.def("version", &version);
  m.def("keywords", &python::keywords);
  python::bind_report(m);
  python::bind_gemm(m);
  python::bind_solve(m);
  python::bind_factorization(m);
  python::bind_there(m);
}
