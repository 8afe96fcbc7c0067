#include "plugin/blocking.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lasolve::plugin {

namespace {

Extent rounded_up(const Extent& e, const Extent& units) {
  return {round_up(e.rows, units.rows), round_up(e.columns, units.columns), round_up(e.steps, units.steps)};
}

/// An edge of a copy, a multiple of `unit`, which in memory is one of `line`.
struct Edge {
  std::int64_t& length;
  std::int64_t unit, line;

  std::int64_t in_memory() const { return round_up(length, line); }
  void halve() { length = round_up(ceil_div(length, 2), unit); }
};
/// Halves the longer of two edges until their product is at most `most`.
void fit(std::int64_t most, Edge x, Edge y) {
  while (x.in_memory() > most / y.in_memory()) x.length > y.length ? x.halve() : y.halve();
}

/// The largest multiple of a unit, if possible in lines, too, that is not more than `most`.
std::int64_t multiple_within(std::int64_t most, std::int64_t unit, std::int64_t line) {
  const std::int64_t both = std::lcm(unit, line);
  return std::max(both <= most ? most / both * both : most / unit * unit, unit);
}
Extent multiples_within(const Extent& most, const Wants& w) {
  return {multiple_within(most.rows, w.units.rows, w.line), multiple_within(most.columns, w.units.columns, w.line),
          multiple_within(most.steps, w.units.steps, w.line)};
}
Extent least_of(const Extent& x, const Extent& y) {
  return {std::min(x.rows, y.rows), std::min(x.columns, y.columns), std::min(x.steps, y.steps)};
}

/// Every call is for squares of this edge.
void tile_by_squares(Tiling& tiling, std::int64_t edge) {
  tiling.units = tiling.block = {edge, edge, edge};
  tiling.limited = true;
}

}  // namespace

Extent block_within(std::int64_t most, const Extent& product, const Wants& w, Copies copies) {
  Extent e = least_of(rounded_up(product, w.units), multiples_within(w.most, w));
  const Edge rows{e.rows, w.units.rows, w.line}, columns{e.columns, w.units.columns, 1};
  if (copies.c) fit(most, rows, columns);
  if (copies.a) fit(most, rows, {e.steps, w.units.steps, 1});
  if (copies.b) fit(most, columns, {e.steps, w.units.steps, w.line});
  return e;
}

std::int64_t edge_of_squares(const Extent& product, std::int64_t unit, std::int64_t most, CostOfCalls cost) {
  const std::int64_t bound = std::min(multiple_within(most, unit, 1), round_up(product.largest(), unit));
  std::int64_t best = bound;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::int64_t wanted) {
    const std::int64_t s = std::min(round_up(wanted, unit), bound);
    const double calls =
        double(ceil_div(product.rows, s)) * double(ceil_div(product.columns, s)) * double(ceil_div(product.steps, s));
    const double edge = double(s), its = calls * (edge * edge * edge + 3 * cost.element * edge * edge + cost.call);
    if (its < least || (its == least && s > best)) least = its, best = s;
  };
  for (const std::int64_t length : {product.rows, product.columns, product.steps})
    for (std::int64_t pieces = 1; pieces <= 8; ++pieces) consider(ceil_div(length, pieces));
  for (std::int64_t s = 16; s < 2 * bound; s *= 2) consider(s);
  return best;
}

Tiling tiling_for(const Queue<Cpu>& q, const Extent& product, const Wants& w, Copies copies, bool whole) {
  constexpr std::int64_t enough = 2048;  // so many that a kernel has enough to do
  Tiling tiling;
  tiling.work = work_of(product.rows, product.columns, product.steps);
  tiling.parts = whole ? 1 : parts_for(q, tiling.work);
  const auto [down, across] = tile_grid(product.rows, product.columns, tiling.parts);
  const auto share = [&](std::int64_t length, std::int64_t parts, std::int64_t unit) {
    return round_up(ceil_div(length, parts), std::lcm(unit, std::max<std::int64_t>(w.line, 8)));
  };
  tiling.down = down;
  tiling.part = {share(product.rows, down, w.units.rows), share(product.columns, across, w.units.columns),
                 product.steps};
  tiling.units = w.units;
  tiling.limited = w.most.least() < Wants::any;
  tiling.block = multiples_within(least_of(w.most, {enough, enough, enough}), w);
  const Extent largest = least_of(tiling.part, product);
  if (w.square) tile_by_squares(tiling, edge_of_squares(largest, w.units.rows, tiling.block.least(), {1000, 8}));
  const Extent copy = rounded_up(least_of(largest, tiling.block), tiling.units);
  if (copies.a) tiling.a = round_up(copy.rows, w.line) * copy.steps;
  if (copies.b) tiling.b = round_up(copy.steps, w.line) * copy.columns;
  if (copies.c) tiling.c = round_up(copy.rows, w.line) * copy.columns;
  return tiling;
}

Tiling tiling_on_cuda(const Extent& product, const Wants& w, Copies copies) {
  Tiling tiling;
  tiling.part = product;
  tiling.units = w.units;
  tiling.limited = w.most.least() < Wants::any;
  tiling.block = block_within(most_on_cuda, product, w, copies);
  Extent all = rounded_up(product, w.units);
  if (w.square) {
    const std::int64_t most = std::min(w.most.least(), std::int64_t(1) << 13);  // whose square is most_on_cuda
    const std::int64_t bound = std::min(all.largest(), multiple_within(most, w.units.rows, w.line));
    tile_by_squares(tiling, edge_of_squares(product, w.units.rows, bound, {5e7, 50}));
    all = {bound, bound, bound};
  }
  const auto room = [](std::int64_t x, std::int64_t y) { return x > most_on_cuda / y ? most_on_cuda : x * y; };
  if (copies.a) tiling.a = room(round_up(all.rows, w.line), all.steps);
  if (copies.b) tiling.b = room(round_up(all.steps, w.line), all.columns);
  if (copies.c) tiling.c = room(round_up(all.rows, w.line), all.columns);
  return tiling;
}

Tiling tiling_for(const Queue<Cuda>&, const Extent& product, const Wants& w, Copies copies, bool) {
  return tiling_on_cuda(product, w, copies);
}

}  // namespace lasolve::plugin
