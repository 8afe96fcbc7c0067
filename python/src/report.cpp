// Report: every row of report_fields() is an attribute.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "lasolve/report_fields.hpp"
#include "parts.hpp"

namespace lasolve::python {
namespace {

nb::object python(const FieldValue& value) {
  return std::visit(
      []<class V>(const V& v) -> nb::object {
        if constexpr (std::is_same_v<V, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<V, NumbersOfPhases>) {
          nb::dict phases;
          for (const auto& [phase, number] : v) phases[phase] = number;
          return phases;
        } else if constexpr (std::is_same_v<V, std::vector<ProductsOf>>) {
          nb::dict calls;
          for (const ProductsOf& of : v) calls[of.gemm.c_str()] = nb::make_tuple(of.count.calls, of.count.flops);
          return calls;
        } else {
          return nb::cast(v);
        }
      },
      value);
}

nb::object attribute(const Report& report, const std::string& name) {
  for (const ReportField& field : report_fields())
    if (field.name == name) return python(field.of(report));
  throw nb::attribute_error(("a report has no '" + name + "'; dir() lists what it has").c_str());
}

nb::list names(const Report&) {
  nb::list all;
  for (const ReportField& field : report_fields()) all.append(field.name);
  all.append("to_dict");
  return all;
}

nb::dict to_dict(const Report& report) {
  nb::dict all;
  for (const ReportField& field : report_fields()) all[field.name] = python(field.of(report));
  return all;
}

}  // namespace

void bind_report(nb::module_& m) {
  std::string fields;
  for (const ReportField& field : report_fields())
    fields += std::string("\n") + field.name + "\n    " + field.meaning + " (" + field.unit + ").";
  static const std::string* const text = new std::string(
      "What a factorization and a solve did.\n\nAttributes\n----------" + fields +
      "\n\nWhat is not known is None. `to_dict()` has all of it; printed, it is a table of what is known.");
  nb::class_<Report>(m, "Report", text->c_str())
      .def("__getattr__", attribute)
      .def("__dir__", names)
      .def("to_dict", to_dict, "All fields as a dict.")
      .def("__reduce_ex__",
           [](const Report&, int) -> nb::object {
             throw nb::type_error("lasolve: a Report is not copied, nor pickled: its to_dict() can be");
           })
      .def("__repr__", [](nb::handle self) { return function("_report", "text")(self); })
      .def("_repr_html_", [](nb::handle self) { return function("_report", "html")(self); });
}

}  // namespace lasolve::python
