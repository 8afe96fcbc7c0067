#include "cli/engine/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "cli/problem.hpp"
#include "core/cpu/copy_on_host.hpp"
#include "core/sizes.hpp"
#include "engines/solve.hpp"
#include "io/sharing.hpp"

namespace lasolve::cli {

namespace {

/// Elements that the largest part has, with its padding: that of rank 0.
std::int64_t largest_part(const BlockCyclic& layout) {
  const std::int64_t rows = layout.rows.count_of(0), cols = layout.cols.count_of(0);
  return std::max(Matrix<double>::padded_ld(rows, cols), Matrix<float>::padded_ld(rows, cols)) * cols;
}

/// The least number of ranks whose grid leaves each a part that is small enough. One block is.
int ranks_that_would_do(std::int64_t n, std::int64_t block, std::int64_t most) {
  for (auto count = int(std::min<double>(double(n) * double(n) / double(most), 1e9));; ++count)
    if (largest_part(engines::layout_of(engines::nearly_square(std::max(1, count)), n, n, block)) <= most)
      return std::max(1, count);
}

/// The local columns of a part from `first` on.
void generate_part(Queue<Cpu>& q, const io::Generator& generator, const BlockCyclic& layout, std::int64_t first,
                   MatrixView<double> columns) {
  const Dealt &rows = layout.rows, &cols = layout.cols;
  for (std::int64_t j = 0, width = 0; j < columns.cols(); j += width) {
    const std::int64_t at = first + j;
    width = std::min(cols.block - at % cols.block, columns.cols() - j);
    for (std::int64_t i = 0; i < columns.rows(); i += rows.block) {
      const auto block = columns.block(i, j, std::min(rows.block, columns.rows() - i), width);
      io::generate(q, generator, block, cols.index_at(at), rows.index_at(i));
    }
  }
}

/// How A is dealt out, where that goes.
BlockCyclic layout_of_A(const engines::Engine& engine, const Request& request, std::int64_t rows, std::int64_t cols,
                        const std::string& place) {
  const engines::Ranks ranks = engine.ranks();
  const int bytes_each = bytes_of(engines::precision_of(request.options));
  const std::int64_t most = engine.most_elements(std::size_t(bytes_each));
  require_square(request, place, rows, cols);
  const std::int64_t block = request.options.block_size > 0 ? request.options.block_size : engine.block_size();
  if (block < engine.least_block_size())
    throw UsageError(fmt::format("{} takes blocks from {} x {} on: --block-size {} is too small", request.engine,
                                 engine.least_block_size(), engine.least_block_size(), block));
  const std::int64_t side = std::min(rows, block);
  if (side > 0 && side > most / side)
    throw MachineError(fmt::format("{} takes up to {} elements in a part, and a block of {} x {} has more",
                                   request.engine, most, side, side));
  const BlockCyclic layout = engines::layout_of(ranks, rows, cols, block);
  if (const std::int64_t elements = largest_part(layout); elements > most)
    throw MachineError(fmt::format(
        "with {} rank{} a part of the {} x {} matrix has {} elements, and {} takes up to {}: {} ranks would do",
        ranks.count, ranks.count == 1 ? "" : "s", rows, cols, elements, request.engine, most,
        ranks_that_would_do(rows, block, most)));
  const double bytes = double(layout.rows.count_of(0)) * double(layout.cols.count_of(0)) *
                       ((request.in_place ? 0 : sizeof(double)) + bytes_each);
  const auto free = double(Memory<Cpu>::available());
  if (bytes * ranks.on_this_machine > free)
    throw MachineError(
        fmt::format("the parts of the {} x {} matrix{} take {} on each machine with {} ranks, and {} are free", rows,
                    cols, request.in_place ? "" : " and of its factors", in_bytes(bytes * ranks.on_this_machine),
                    ranks.on_this_machine, in_bytes(free)));
  return layout;
}

/// The ranks, where they read A.
class Readers final : public io::Sharing {
 public:
  Readers(engines::Engine& engine, const Collective& collective, const Request& request)
      : engine_(engine), collective_(collective), request_(request) {}

  const BlockCyclic& layout() const { return layout_; }
  int rank() const override { return engine_.ranks().rank; }
  int count() const override { return engine_.ranks().count; }
  std::int64_t bytes_at_once() const override { return 4 << 20; }
  BlockCyclic part(std::int64_t rows, std::int64_t cols, const std::string& place) override {
    layout_ = layout_of_A(engine_, request_, rows, cols, place);
    meet();
    if (const std::string found = difference(rows, "rows"); !found.empty())
      throw io::InputError(fmt::format("{}: error: expected one matrix on all machines, found {}", place, found));
    return layout_;
  }
  void meet() override { collective_.meet(); }
  void sum(std::span<double> numbers) override { engine_.sum(numbers); }
  std::vector<Bytes> exchanged(std::vector<Bytes> for_ranks) override {
    return engine_.exchanged(std::move(for_ranks));
  }

 private:
  engines::Engine& engine_;
  const Collective& collective_;
  const Request& request_;
  BlockCyclic layout_;
};

engines::PartOfA generated(engines::Engine& engine, const Request& request) {
  const auto generator = std::make_shared<io::Generator>(request.matrix);
  const auto q = std::make_shared<Queue<Cpu>>(request.options.threads);
  const BlockCyclic layout = layout_of_A(engine, request, generator->n(), generator->n(), request.matrix);
  const auto make = [=](std::int64_t first, MatrixView<double> columns) {
    generate_part(*q, *generator, layout, first, columns);
  };
  if (request.in_place) return {layout, make};
  Matrix<double> all(layout.rows.count(), layout.cols.count());
  make(0, all.view());
  return {layout, std::move(all)};
}

}  // namespace

engines::PartOfA part_of_A(engines::Engine& engine, const Collective& collective, const Request& request,
                           std::vector<std::string>& notes) {
  if (is_generated(request.matrix)) return generated(engine, request);
  if (request.in_place) refuse_in_place();
  if (request.matrix == "-" || request.matrix.starts_with("-:"))
    throw UsageError("with --engine each rank reads its part of A, and standard input has one reader: give a file");
  Readers readers(engine, collective, request);
  io::MatrixFile file = io::read_matrix(request.matrix, {.threads = Queue<Cpu>(request.options.threads).threads(),
                                                         .allow_nonfinite = request.options.allow_nonfinite,
                                                         .sharing = &readers});
  notes.insert(notes.end(), file.notes.begin(), file.notes.end());
  if (const std::string advice = file.structure ? file.structure->advice() : ""; !advice.empty())
    notes.push_back(advice);
  return {readers.layout(), std::move(file.matrix)};
}

RightHandSides right_hand_sides(engines::Engine& engine, const Collective& collective, const Request& request,
                                const BlockCyclic& A, std::vector<std::string>& notes) {
  RightHandSides rhs;
  if (request.rhs.empty()) return rhs;
  Matrix<double> whole;
  collective.run_on_first([&] {
    require_no_generator(request.rhs);
    io::MatrixFile file = io::read_matrix(request.rhs, {.allow_nonfinite = request.options.allow_nonfinite,
                                                        .format = request.format,
                                                        .decimal_comma = request.decimal_comma,
                                                        .likely_array = "b"});
    notes.insert(notes.end(), file.notes.begin(), file.notes.end());
    rhs.is_vector = file.is_vector;
    whole = right_hand_sides(request, std::move(file), A.rows.length, notes);
    rhs.count = whole.cols();
  });
  collective.share(rhs.count), collective.share(rhs.is_vector);
  const std::int64_t n = A.rows.length;
  rhs.B.emplace(engines::layout_of(engine.ranks(), n, rhs.count, A.rows.block));
  engines::for_strips(n, rhs.count, [&](std::int64_t first, std::int64_t count) {
    Matrix<double> strip(n, count, std::max<std::int64_t>(1, n));
    if (engine.ranks().rank == 0) copy_on_host<double>(whole.view().columns(first, count), strip.view());
    engine.broadcast(std::as_writable_bytes(std::span(strip.data(), std::size_t(n * count))), 0);
    engines::keep_own(strip, first, *rhs.B);
  });
  return rhs;
}

}  // namespace lasolve::cli
