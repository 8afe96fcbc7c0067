#include "own/cut.hpp"

#include <algorithm>
#include <numeric>

namespace lasolve::own {

namespace {

Extent rounded_up(const Extent& e, const Extent& units) {
  return {round_up(e.rows, units.rows), round_up(e.columns, units.columns), round_up(e.steps, units.steps)};
}

/// Halves the longer of two edges until their product is at most `most`.
void fit(std::int64_t most, std::int64_t& x, std::int64_t x_unit, std::int64_t& y, std::int64_t y_unit) {
  const auto halve = [](std::int64_t& edge, std::int64_t unit) { edge = round_up(ceil_div(edge, 2), unit); };
  while (x > most / y) x > y ? halve(x, x_unit) : halve(y, y_unit);
}

}  // namespace

Extent block_within(std::int64_t most, const Extent& product, const Extent& units, Copies copies) {
  Extent e = rounded_up(product, units);
  if (copies.c) fit(most, e.rows, units.rows, e.columns, units.columns);
  if (copies.a) fit(most, e.rows, units.rows, e.steps, units.steps);
  if (copies.b) fit(most, e.columns, units.columns, e.steps, units.steps);
  return e;
}

Cut cut_for(const Queue<Cpu>& q, const Extent& product, const Extent& units, Copies copies, bool whole) {
  Cut cut;
  cut.work = work_of(product.rows, product.columns, product.steps);
  cut.parts = whole ? 1 : parts_for(q, cut.work);
  const auto [down, across] = tile_grid(product.rows, product.columns, cut.parts);
  const auto share = [](std::int64_t length, std::int64_t parts, std::int64_t unit) {
    return round_up(ceil_div(length, parts), std::lcm(unit, 8));
  };
  cut.down = down;
  cut.part = {share(product.rows, down, units.rows), share(product.columns, across, units.columns), product.steps};
  // So many that a kernel has enough to do.
  const auto block = [](std::int64_t unit) { return 2048 / unit * unit; };
  cut.block = {block(units.rows), block(units.columns), block(units.steps)};
  const auto largest = [](std::int64_t length, std::int64_t block, std::int64_t unit) {
    return round_up(std::min(length, block), unit);
  };
  const Extent copy = {largest(cut.part.rows, cut.block.rows, units.rows),
                       largest(cut.part.columns, cut.block.columns, units.columns),
                       largest(product.steps, cut.block.steps, units.steps)};
  if (copies.a) cut.a = copy.rows * copy.steps;
  if (copies.b) cut.b = copy.steps * copy.columns;
  if (copies.c) cut.c = copy.rows * copy.columns;
  return cut;
}

Cut cut_on_cuda(const Extent& product, const Extent& units, Copies copies) {
  Cut cut;
  cut.part = product;
  cut.block = block_within(most_on_cuda, product, units, copies);
  const Extent all = rounded_up(product, units);
  const auto room = [](std::int64_t x, std::int64_t y) { return x > most_on_cuda / y ? most_on_cuda : x * y; };
  if (copies.a) cut.a = room(all.rows, all.steps);
  if (copies.b) cut.b = room(all.steps, all.columns);
  if (copies.c) cut.c = room(all.rows, all.columns);
  return cut;
}

Cut cut_for(const Queue<Cuda>&, const Extent& product, const Extent& units, Copies copies, bool) {
  return cut_on_cuda(product, units, copies);
}

}  // namespace lasolve::own
