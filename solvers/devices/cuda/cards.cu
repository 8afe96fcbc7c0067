// Several cards on CUDA.
#include <algorithm>
#include <optional>

#include "core/current_device.hpp"
#include "core/memory_kind.hpp"
#include "core/settled.hpp"
#include "core/transfer.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cuda/call.hpp"
#include "solvers/devices/cuda/extra.cuh"
#include "solvers/devices/cuda/matrix_facts.cuh"
#include "solvers/devices/cuda/norms.cuh"
#include "solvers/devices/cuda/plan.cuh"
#include "solvers/devices/cuda/trsm/out_of_place.cuh"
#include "solvers/devices/cuda/tuning.cuh"
#include "solvers/lu/cuda/perform.cuh"
#include "solvers/lu/cuda/row_interchanges.cuh"
//
#include "solvers/cards/group.hpp"

namespace lasolve {

// With their kernels, in engine.cu.
extern template bool perform(Queue<Cuda>&, Queue<Cuda>&, Method, const Task&, const Workpiece<double, Cuda>&);
extern template bool perform(Queue<Cuda>&, Queue<Cuda>&, Method, const Task&, const Workpiece<float, Cuda>&);

/// An event at the end of each task that somebody waits for, made before any thread begins.
template <>
class EndsOnCards<Cuda> {
 public:
  EndsOnCards(const OrderedPlan& ordered, std::span<Queue<Cuda>* const> queues) : events_(ordered.plan.tasks.size()) {
    std::vector<std::size_t> made(queues.size(), 0);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const auto card = std::size_t(ordered.plan.tasks[i].lane.card);
      if (ordered.waits.is_awaited(i)) events_[i] = queues[card]->event(made[card]++);
    }
  }
  void mark(Queue<Cuda>& q, std::size_t i) const { q.record(events_[i]); }
  void wait(Queue<Cuda>& q, std::size_t i, bool is_phase) const { is_phase ? q.wait(events_[i]) : q.join(events_[i]); }

 private:
  std::vector<CUevent_st*> events_;
};

template <>
class CardGroup<Cuda> {
 public:
  explicit CardGroup(const Options& options) : progress_(options.progress) {
    const std::vector<int>& cards = options.cards;
    for (const int card : cards) {
      if (const std::string why = why_no_cuda_device(card); !why.empty()) throw MachineError("no CUDA device: " + why);
      names_.push_back(name_of(Device{Device::cuda, card}));
      all_.push_back(own_context(card));
      tuned(*all_.back(), options);
    }
    let_read_each_other(cards);
  }
  int count() const { return int(all_.size()); }
  Queue<Cuda>& queue(int card) { return *all_[std::size_t(card)]->q; }
  int device(int card) const { return all_[std::size_t(card)]->q->device(); }
  /// Whether all are of one kind.
  bool are_alike() const {
    const auto is_as_first = [&](const SharedContext& its) {
      const DeviceProperties &first = all_[0]->q->properties(), &other = its->q->properties();
      return other.capability == first.capability && other.multiprocessors == first.multiprocessors;
    };
    return std::all_of(all_.begin(), all_.end(), is_as_first);
  }
  const std::string& name(int card) const { return names_[std::size_t(card)]; }
  const std::function<void(double)>& progress() const { return progress_; }
  std::unique_ptr<Queue<Cuda>> line(int card) { return std::make_unique<Queue<Cuda>>(queue(card).device()); }
  template <class F>
  void on(int card, F f) {
    naming(name(card), [&] {
      const Call call(*all_[std::size_t(card)]);
      f();
    });
  }

 private:
  const std::function<void(double)> progress_;
  std::vector<std::string> names_;
  std::vector<SharedContext> all_;
};

}  // namespace lasolve

#include "solvers/cards/engine.hpp"

namespace lasolve {

namespace {

/// Waits for what a stream was given, after which memory is read. A default stream is that of the device of this memory.
template <class T>
void wait_for(CUstream_st* after, MatrixView<const T, Cuda> memory) {
  std::optional<CurrentDevice> current;
  if (const int its = memory_kind(memory.data()).cuda_device; its >= 0) current.emplace(its);
  CUDA_CHECK(cudaStreamSynchronize(after));
}

template <class T>
class OnCudaCards final : public SystemOnCardsOf<T, Cuda> {
 public:
  using SystemOnCardsOf<T, Cuda>::SystemOnCardsOf;
  Report solve_in_copy(Columns<const T, Cuda> B, Columns<T, Cuda> X, CUstream_st* after,
                       const std::function<Report(MatrixView<T>)>& solve) override {
    require_on_some_device("B", Ends(B.view));
    require_on_some_device("X", Ends(X.view));
    Matrix<T> x(B.view.rows(), B.view.cols());
    wait_for(after, B.view);
    wait_for(after, MatrixView<const T, Cuda>(X.view));
    on_first([&](Queue<Cuda>& q) { copy<T>(q, B.view, x.view()); });
    Report report = solve(x.view());
    on_first([&](Queue<Cuda>& q) { copy<T>(q, std::as_const(x).view(), X.view); });
    return report;
  }

 private:
  template <class F>
  void on_first(F f) {
    this->cards_.on(0, [&] {
      f(this->cards_.queue(0));
      this->cards_.queue(0).finish();
    });
  }
};

}  // namespace

template <class T>
std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T> A, const GemmBackend<Cuda>& gemm,
                                                  const Options& options) {
  Supply<T, Cuda> source = A.on_cuda;
  return std::make_unique<OnCudaCards<T>>(std::move(A), std::move(source), gemm, options);
}

template <class T>
Columnwise<T> columnwise(MatrixView<const T, Cuda> A, CUstream_st* after) {
  wait_for(after, A);
  const auto copied = [A](Queue<Cuda>& q, std::int64_t first, MatrixView<T, Cuda> to) {
    copy_from_card<T>(q, A.columns(first, to.cols()), to);
  };
  return {.n = A.rows(), .on_cpu = {}, .on_cuda = copied};
}

LASOLVE_ELEMENTS(LASOLVE_CARDS_ON_CUDA)

}  // namespace lasolve
