// Adds wrong kernels to the table of a tool, which is otherwise the tool.
#include "wrong_kernels.hpp"

#include "core/backend_table.hpp"

namespace lasolve::test::wrong {
namespace {

void adds_twice(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(2 * alpha, A, B, beta, C);
}
void always_throws(const void*, Queue<Cpu>&, double, A_, A_, double, C_) { throw std::runtime_error("no luck"); }

constexpr GemmBackend<Cpu> records[] = {
    {.name = "ignores_op_a", .summary = "is wrong where A is transposed", .kernels = ignores_op_a},
    {.name = "loses_a_step",
     .summary = "is wrong where k % 8 = 5",
     .kernels = {loses_a_step<float, float>, loses_a_step<float, bf16>}},
    {.name = "large", .summary = "is wrong in one element where C is large", .kernels = is_wrong_where_large<float>},
    {.name = "doubles", .summary = "takes twice alpha", .kernels = adds_twice},
    {.name = "throws", .summary = "throws", .kernels = always_throws},
    {.name = "starves", .summary = "finds no memory", .kernels = finds_no_memory},
    {.name = "crashes", .summary = "crashes in fp64", .kernels = {crashes, is_right}},
    {.name = "aborts", .summary = "aborts", .kernels = aborts},
    {.name = "exits", .summary = "exits", .kernels = exits},
    {.name = "hangs", .summary = "does not come back", .kernels = does_not_come_back},
};
const bool added = [] {
  for (const auto& record : records) backend_table<Cpu>().add({record.name, &record});
  return true;
}();

}  // namespace
}  // namespace lasolve::test::wrong
