// Factors that no device has room for. They are on the host in block columns, and so is A, or it is made when its turn has come. Left-looking:
// a block column is brought to the device, has the eliminations with all before it, which travel past it in slices, is factored there as a
// tall matrix by a plan, and is written back once. Meanwhile the next one comes.
//
//     for each block column J:
//       for each K before it:
//         interchange(A[K:, J], pK)           A_J ← P_K A_J
//         solve(L_KK, A[K, J])                U_KJ = inv(L_KK) A_KJ
//         update(A[K+1:, J])                  A_J ← A_J − L_K U_KJ
//       panel(A[J:, J])                       P_J A_J = L_J U_JJ
//
// L_K stays in the order of rows that it was factored in: who applies it interchanges with p_K first, and later interchanges never reach it.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "solvers/cards/group.hpp"
#include "solvers/factors.hpp"
#include "solvers/out_of_core/block_columns.hpp"
#include "solvers/part_of_factors.hpp"
#include "solvers/prepare.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/scales_on_device.hpp"
#include "solvers/supply.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// Of a matrix of T, computed and stored in F.
template <class T, class Space, class F>
class FactorsOutOfCore final : public Decomposition<T, Cpu> {
 public:
  FactorsOutOfCore(CardGroup<Space>& cards, Supply<T, Space> A, std::int64_t n, const GemmBackend<Space>& backend,
                   const Recipe& by, Scales scales)
      : cards_(cards),
        A_(std::move(A)),
        n_(n),
        method_(record_of(by.method)),
        at_once_(by.out_of_core.slice),
        gemm_(backend, by.precision.products),
        scales_(std::move(scales)),
        host_(n, block_columns(n, by.out_of_core.columns)),
        blocks_(host_.count()) {}

  void prepare(Queue<Cpu>&, const Recipe& by) override {
    cards_.on(0, [&] {
      const std::int64_t widest = blocks_.empty() ? 0 : host_.columns(0).count();
      require_memory_of_card<Space>(double(n_) * double(2 * widest + 3 * at_once_) * sizeof(F));
      host_.lock_pages();
      for (Matrix<F, Space>& its : there_) its = Matrix<F, Space>(n_, widest);
      if (!std::is_same_v<T, F>) coming_ = Matrix<T, Space>(n_, std::min(at_once_, widest));
      scales_there_ = ScalesOnDevice<Space>(q(), scales_);
      stream_.emplace(cards_, n_, at_once_);
      in_ = cards_.line(0);
      for (auto& its : out_) its = cards_.line(0);
      for (std::size_t b = 0; b < blocks_.size(); ++b) plan_for(b, by);
      if (blocks_.empty()) return;
      lasolve::prepare<F>(q(), blocks_[0].ordered->plan, by.pivoting);
      if (gemm_.prepares()) {
        prepare_products(q(), gemm_, blocks_[0].ordered->plan);
        gemm_.prepare(q(), Op::none, method_.U.op, n_, widest, at_once_);
      }
      q().finish();
    });
  }
  /// A is asked for column after column.
  void take(Queue<Cpu>&, MatrixView<const T>) override {}
  Fetched<MatrixFacts> take_speculatively(Queue<Cpu>&, MatrixView<const T>) override { refuse(); }
  void mirror_triangle(Queue<Cpu>&, Uplo) override { refuse(); }

  void factor(Queue<Cpu>& of_host, const Recipe&, const Arriving<T, Cpu>*, TaskClock<Cpu>*) override {
    of_host.finish();  // the times are those of the device
    ending_ = {}, diagonal_.clear(), exchanged_.clear();
    cards_.on(0, [&] {
      q().take_times();
      std::size_t given = 0, settled = 0;
      if (!blocks_.empty()) bring(0);
      while (given < blocks_.size() && ending_.failed_at < 0) {
        if (given > 1) settle(settled++, of_host);  // its L is read now; meanwhile the device has the one behind it
        factor_block(given++);
        if (given < blocks_.size()) bring(given);
      }
      while (settled < given) settle(settled++, of_host);
      ending_ = ending_by(ending_.failed_at, diagonal_);
      q().finish();
      times_ = q().take_times();
      for (Queue<Space>* its : {in_.get(), out_[0].get(), out_[1].get()}) its->finish(), times_ += its->take_times();
      stream_->finish(times_);
      held_ = bytes_there();
    });
    of_host.take_times();
  }
  Fetched<Ending> ending(Queue<Cpu>&) override { return ending_; }
  void release_workspace() override {
    cards_.on(0, [&] {
      for (Matrix<F, Space>& its : there_) its = {};
      coming_ = {};
    });
  }
  std::vector<T> diagonal_on_host(Queue<Cpu>&) override { return {diagonal_.begin(), diagonal_.end()}; }
  std::vector<std::int64_t> pivots_on_host(Queue<Cpu>&) override { return exchanged_; }
  std::vector<ProductsOf> products_of() const override { return {}; }
  std::string backend() const override { return gemm_.backend().name; }
  std::vector<CardReport> cards() const override {
    CardReport its;
    its.device = cards_.name(0), its.columns = n_, its.bytes = double(held_), its.phases = times_;
    its.received_bytes = came_ + (stream_ ? stream_->travelled() : 0);
    return {its};
  }

  std::int64_t order() const override { return n_; }
  void apply(Queue<Cpu>&, MatrixView<const T> B, MatrixView<T> X, Op op) override {
    constexpr std::int64_t at_once = 512;
    for (std::int64_t j = 0; j < X.cols(); j += at_once) {
      const std::int64_t some = std::min(at_once, X.cols() - j);
      apply_to_some(B.columns(j, some), X.columns(j, some), op);
    }
  }
  void apply_in_T(Queue<Cpu>& of_host, MatrixView<const T> B, MatrixView<T> X, Op op) override {
    apply(of_host, B, X, op);
  }
  Exponents exponents() const override { return leave_range<F, T>(scales_) ? exponents_of<T> : exponents_of<F>; }
  const Scales& scales() const override { return scales_; }
  const MethodRecord& method() const override { return method_; }
  MatrixView<const T> values() const override { return {}; }
  std::optional<SizesOfFactors> sizes(Queue<Cpu>&) override {
    return sizes_of_factors(n_, [this](Factor which, const auto& weights) { return sizes_of(which, weights); });
  }
  const std::int64_t* failed_at() const override { return &ending_.failed_at; }
  std::size_t bytes() const override { return host_.bytes(); }

 private:
  /// What the device keeps of a block column.
  struct Block {
    std::shared_ptr<const OrderedPlan> ordered;
    Pivoting pivoting = Pivoting::none;
    std::vector<Range> interchanges;  // that are made at once, counted from the first row of the block column
    std::optional<Buffers<F, Space>> buffers;
    Matrix<std::int64_t, Space> notes;  // pivots, and in the last column where it failed
  };

  [[noreturn]] static void refuse() {
    throw std::logic_error("lasolve: factors out of core are asked for what they have not");
  }
  Queue<Space>& q() { return cards_.queue(0); }
  MatrixView<F, Space> on_device(std::size_t b) { return there_[b % 2].view().columns(0, host_.columns(b).count()); }
  std::int64_t rows_below(std::size_t b) const { return n_ - host_.columns(b).begin; }
  MatrixView<std::int64_t, Space> status(std::size_t b) {
    Matrix<std::int64_t, Space>& notes = blocks_[b].notes;
    return notes.view().block(0, notes.cols() - 1, 1, 1);
  }
  Pivots<Space> pivots_of(std::size_t b) {
    const std::int64_t rows = method_.interchanges(rows_below(b));
    return Pivots<Space>::in(blocks_[b].notes.view().block(0, 0, rows, Pivots<Space>::columns), status(b));
  }
  std::size_t bytes_there() const {
    std::size_t all = coming_.bytes() + x_.bytes() + (stream_ ? stream_->bytes() : 0);
    for (const Matrix<F, Space>& its : there_) all += its.bytes();
    for (const Block& its : blocks_) all += its.notes.bytes();
    return all;
  }

  /// That of a tall matrix; where both factors are in one triangle, of the block on the diagonal.
  void plan_for(std::size_t b, const Recipe& by) {
    Block& its = blocks_[b];
    const std::int64_t columns = host_.columns(b).count(),
                       rows = method_.is_in_lower_triangle() ? columns : rows_below(b);
    its.pivoting = by.pivoting;
    Capabilities can = capabilities_of<F>(q(), rows, by);
    can.rows_of_L_at_the_end = false, can.far_columns = 0;
    const Blocking blocking{.n = columns, .widths = by.widths, .lanes = lanes_at(q()), .m = rows};
    its.ordered = ordered_plan(by.method, Schedule::right_looking, blocking, can);
    its.interchanges.clear();
    for (const Task& task : its.ordered->plan.tasks)
      if (task.C.of == Resource::permutations) its.interchanges.push_back(task.interchanges.rows());
    its.notes = Matrix<std::int64_t, Space>(rows, Pivots<Space>::columns + 1);
  }

  /// A(:, J) on its way to the device.
  void bring(std::size_t b) {
    const Range own = host_.columns(b);
    const MatrixView<F, Space> to = on_device(b);
    in_->phase(Phase::other);
    if constexpr (std::is_same_v<T, F>) {
      A_(*in_, own.begin, to);
      if (scales_.any()) scales_there_.scale_columns(*in_, own.begin, MatrixView<const F, Space>(to), to);
    } else {
      for (std::int64_t j = 0; j < own.count(); j += coming_.cols()) {
        const auto some = coming_.view().columns(0, std::min(coming_.cols(), own.count() - j));
        A_(*in_, own.begin + j, some);
        scales_there_.scale_columns(*in_, own.begin + j, MatrixView<const T, Space>(some), to.columns(j, some.cols()));
      }
    }
    came_ += double(n_) * double(own.count()) * sizeof(T);
  }

  void factor_block(std::size_t b) {
    Block& its = blocks_[b];
    const Range own = host_.columns(b);
    const MatrixView<F, Space> C = on_device(b);
    q().wait(*in_);
    if (b > 0) update(b, C);
    in_->wait(q());  // the next one takes the place of the last, which is read no more
    in_->wait(*out_[(b + 1) % 2]);
    fill(q(), std::int64_t(-1), status(b));
    const std::int64_t rows = its.ordered->plan.m;
    its.buffers.emplace(its.ordered->plan);
    const Supply<F, Space> nothing_arrives;
    execute(*its.ordered, q(),
            Workpiece<F, Space>{gemm_, C.block(own.begin, 0, rows, own.count()), pivots_of(b), nothing_arrives,
                                *its.buffers, its.pivoting});
    if (const Range below{own.begin + rows, n_}; !below.empty()) {  // L21 = A21 inv(U11), U11 = L11ᵀ
      const auto L11 = lower(C.block(own.begin, 0, own.count(), own.count()));
      q().phase(Phase::trsm, double(own.count()) * double(own.count()) * double(below.count()));
      trsm_right(q(), gemm_, L11.transposed(), C.block(below.begin, 0, below.count(), own.count()));
    }
    Queue<Space>& out = *out_[b % 2];
    out.wait(q());
    out.phase(Phase::other);
    copy<F>(out, MatrixView<const F, Space>(C), host_.view(b));
  }

  /// The eliminations of a block column with all before it. The last is still on the device.
  void update(std::size_t b, MatrixView<F, Space> C) {
    const std::int64_t first = host_.columns(b).begin;
    std::vector<Slice> slices;
    const auto rows_of = [&](Range c) { return Range{method_.is_in_lower_triangle() ? first : c.begin, n_}; };
    for (std::size_t k = 0; k + 1 < b; ++k) add_slices(slices, k, host_.columns(k), at_once_, rows_of);
    pass(slices, [&](const Slice& s, MatrixView<F, Space> L) {
      if (s.columns.begin == host_.columns(s.block).begin) interchange(s.block, C);
      eliminate(b, s, L, C);
    });
    const Slice last{b - 1, rows_of(host_.columns(b - 1)), host_.columns(b - 1)};
    interchange(b - 1, C);
    eliminate(b, last, on_device(b - 1).block(last.rows.begin, 0, last.rows.count(), last.columns.count()), C);
  }
  /// C ← P_K C.
  void interchange(std::size_t k, MatrixView<F, Space> C) {
    const std::int64_t first = host_.columns(k).begin;
    const Pivots<Space> all = pivots_of(k);
    if (all.count() == 0) return;
    const auto rows_from = [&](std::int64_t i) { return C.block(first + i, 0, n_ - first - i, C.cols()); };
    q().phase(Phase::swap);
    if (blocks_[k].interchanges.empty())
      interchange_rows(q(), rows_from(0), all.block(0, host_.columns(k).count()), Resource::pivots);
    for (const Range& some : blocks_[k].interchanges)
      interchange_rows(q(), rows_from(some.begin), all.block(some.begin, some.count()), Resource::permutations);
  }
  /// With the columns of a slice.
  void eliminate(std::size_t b, const Slice& s, MatrixView<F, Space> L, MatrixView<F, Space> C) {
    const std::int64_t w = s.columns.count(), below = s.rows.count() - w;
    const auto at = [&](Range rows) { return C.block(rows.begin, 0, rows.count(), C.cols()); };
    if (method_.is_in_lower_triangle()) {  // C ← C − L L_Jᵀ
      q().phase(Phase::gemm, 2.0 * double(s.rows.count()) * double(w) * double(C.cols()));
      gemm_(q(), F(-1), L, transposed(L.block(0, 0, host_.columns(b).count(), w)), F(1), at(s.rows));
      return;
    }
    const auto U = at(s.columns);
    q().phase(Phase::trsm, double(w) * double(w) * double(C.cols()));
    trsm_left(q(), gemm_, lower_unit(L.block(0, 0, w, w)), U);
    q().phase(Phase::gemm, 2.0 * double(below) * double(w) * double(C.cols()));
    gemm_(q(), F(-1), L.block(w, 0, below, w), U, F(1), at({s.columns.end, n_}));
  }

  /// Waits until a block column is on the host, and looks how it ended.
  void settle(std::size_t b, Queue<Cpu>& of_host) {
    Queue<Space>& out = *out_[b % 2];
    out.finish();
    const Range own = host_.columns(b);
    const std::int64_t at = on_host<std::int64_t>(out, MatrixView<const std::int64_t, Space>(status(b)))(0, 0);
    if (at >= 0 && ending_.failed_at < 0) ending_.failed_at = own.begin + at;
    for (std::int64_t j = 0; j < own.count(); ++j) diagonal_.push_back(host_.view(b)(own.begin + j, j));
    if (const Pivots<Space> its = pivots_of(b); its.count() > 0) {
      const MatrixView<const std::int64_t, Space> there = its.p.block(0, 0, own.count(), 1);
      const Matrix<std::int64_t> p = on_host<std::int64_t>(out, there);
      for (std::int64_t j = 0; j < own.count(); ++j) exchanged_.push_back(own.begin + p(j, 0));
    }
    const double n = double(n_), left = n - double(own.begin), left_then = n - double(own.end);
    of_host.phase(Phase::other, method_.flops(left) - method_.flops(left_then));
    of_host.finish();
  }

  /// Of all columns, from the left to the right.
  template <class RowsOf>
  std::vector<Slice> all_slices(RowsOf rows_of) const {
    std::vector<Slice> slices;
    for (std::size_t b = 0; b < blocks_.size(); ++b) add_slices(slices, b, host_.columns(b), at_once_, rows_of);
    return slices;
  }
  /// use(slice, its elements on the device) for one after the other.
  template <class Use>
  void pass(const std::vector<Slice>& slices, Use use) {
    const auto from = [&](const Slice& s) { return host_.at(s); };
    stream_->run(q(), slices, from, use);
  }

  /// L is stored in the order of rows that each block column was factored in: later interchanges are of what came before.
  SizesOfPart sizes_of(Factor which, const std::vector<double>& weights) {
    SizesOfPart all{.sums = std::vector<double>(std::size_t(n_), 0)};
    const std::vector<Slice> slices = all_slices([this](Range) { return Range{0, n_}; });
    cards_.on(0, [&] {
      pass(slices, [&](const Slice& s, MatrixView<F, Space> part) {
        const Range own = host_.columns(s.block), c = s.columns;
        if (which == Factor::L && c.begin == own.begin && !exchanged_.empty())
          for (std::int64_t k = own.begin; k < own.end; ++k)
            std::swap(all.sums[std::size_t(k)], all.sums[std::size_t(exchanged_[std::size_t(k)])]);
        const std::vector<double> its(weights.begin() + c.begin, weights.begin() + c.end);
        const SizesOfPart sizes = *sizes_of_part(q(), PartOfFactors<F, Space>{part, which, c.begin}, its);
        all.most = larger(all.most, sizes.most);
        for (std::size_t i = 0; i < all.sums.size(); ++i) all.sums[i] += sizes.sums[i];
      });
      PhaseTimes unused;
      stream_->finish(unused);
    });
    return all;
  }

  /// With 2^e R A C = P₀ᵀ L₀ P₁ᵀ L₁ … U: X ← C times its inverse times 2^e R B; transposed, R and C change places.
  void apply_to_some(MatrixView<const T> B, MatrixView<T> X, Op op) {
    const ScaledRhs<F, T> scaled(scales_, op, B);
    Matrix<F> v(n_, X.cols());
    for (std::int64_t j = 0; j < v.cols(); ++j)
      for (std::int64_t i = 0; i < n_; ++i) v(i, j) = scaled(i, j);
    cards_.on(0, [&] {
      if (x_.cols() < v.cols()) x_ = {}, x_ = Matrix<F, Space>(n_, v.cols());
      const MatrixView<F, Space> x = x_.view().columns(0, v.cols());
      copy<F>(q(), std::as_const(v).view(), x);
      for (const StoredTriangle& triangle : method_.triangles_of(op)) sweep(triangle, x);
      copy<F>(q(), MatrixView<const F, Space>(x), v.view());
      q().finish();
      PhaseTimes unused;
      stream_->finish(unused);
    });
    for (std::int64_t j = 0; j < v.cols(); ++j)
      for (std::int64_t i = 0; i < n_; ++i) X(i, j) = scaled.solution(v(i, j), i, j);
  }

  /// X ← inv(op(T)) X for a triangle T of the factors; of L together with its interchanges.
  void sweep(const StoredTriangle& by, MatrixView<F, Space> x) {
    std::vector<Slice> slices = all_slices([&](Range c) { return by.lower ? Range{c.begin, n_} : Range{0, c.end}; });
    if (by.lower != (by.op == Op::none)) std::reverse(slices.begin(), slices.end());
    const auto interchange = [&](const Slice& s) {
      const std::int64_t first = host_.columns(s.block).begin;
      const Pivots<Space> all = pivots_of(s.block);
      if (!by.lower || all.count() == 0 || s.columns.begin != first) return;
      const auto its = x.block(first, 0, n_ - first, x.cols());
      const Pivots<Space> pivots = all.block(0, host_.columns(s.block).count());
      permute_rows<F>(q(), MatrixView<const F, Space>(its), its, pivots, by.op != Op::none);
    };
    const auto of = [&](Range rows) { return x.block(rows.begin, 0, rows.count(), x.cols()); };
    q().phase(Phase::solve);
    pass(slices, [&](const Slice& s, MatrixView<F, Space> part) {
      const std::int64_t w = s.columns.count(), all = s.rows.count();
      const Triangle<F, Space> diagonal{part.block(by.lower ? 0 : all - w, 0, w, w), by.lower, by.unit};
      const auto beside = part.block(by.lower ? w : 0, 0, all - w, w);
      const Range rest = by.lower ? Range{s.columns.end, n_} : Range{0, s.columns.begin};
      if (by.op == Op::none) {
        interchange(s);
        trsm_left(q(), gemm_, diagonal, of(s.columns));
        if (!rest.empty()) gemm_(q(), F(-1), beside, of(s.columns), F(1), of(rest));
      } else {
        if (!rest.empty()) gemm_(q(), F(-1), transposed(beside), of(rest), F(1), of(s.columns));
        trsm_left(q(), gemm_, diagonal.transposed(), of(s.columns));
        interchange(s);
      }
    });
  }

  CardGroup<Space>& cards_;
  const Supply<T, Space> A_;
  const std::int64_t n_;
  const MethodRecord& method_;
  const std::int64_t at_once_;  // columns of a slice
  const Gemm<F, Space> gemm_;
  const Scales scales_;
  BlockColumns<F, Space> host_;
  std::vector<Block> blocks_;
  std::array<Matrix<F, Space>, 2> there_;  // block columns, in turns
  Matrix<T, Space> coming_;                // columns of A that are still to be rounded
  Matrix<F, Space> x_;                     // right-hand sides
  ScalesOnDevice<Space> scales_there_;
  Ending ending_;
  std::vector<F> diagonal_;
  std::vector<std::int64_t> exchanged_;  // row k with row [k]
  PhaseTimes times_;
  double came_ = 0;
  std::size_t held_ = 0;  // at most, of the device's memory
  // Copies are phase other: they go on beside all others. These end before the memory that they work in.
  std::optional<Stream<F, Space>> stream_;
  std::unique_ptr<Queue<Space>> in_;
  std::array<std::unique_ptr<Queue<Space>>, 2> out_;  // in turns: who waits for one does not wait for the next
};

}  // namespace lasolve
