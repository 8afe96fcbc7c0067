// Several cards in the memory of the host.
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
//
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/lu/cpu/panel.hpp"
//
#include "core/one_at_a_time.hpp"
#include "solvers/cards/engine.hpp"
#include "solvers/driver/solver.hpp"

namespace lasolve {

// Compiled once, in engine.cpp.
#define LASOLVE_EXTERN(T)              \
  extern template class Judge<T, Cpu>; \
  extern template class Solver<T, Cpu>;
LASOLVE_ELEMENTS(LASOLVE_EXTERN)
#undef LASOLVE_EXTERN

namespace {

template <class T>
class OnVirtualCards final : public SystemOnCardsOf<T, Cpu> {
 public:
  using SystemOnCardsOf<T, Cpu>::SystemOnCardsOf;
  Report solve_in_copy(Columns<const T, Cuda>, Columns<T, Cuda>, CUstream_st*,
                       const std::function<Report(MatrixView<T>)>&) override {
    throw std::invalid_argument("lasolve: right-hand sides on a CUDA device, but the factors are on the CPU");
  }
};

template <class T>
class CardsEngine final : public Engine<T> {
 public:
  CardsEngine(std::unique_ptr<SystemOnCards<T>> system, const char* gemm, const Options& options, Facts&& start)
      : system_(std::move(system)),
        q_(options.threads),
        stand_in_{.name = gemm, .summary = ""},
        solver_(q_, stand_in_, given(), system_->recipes(), options, std::move(start)) {
    solver_.factor();
  }
  const Report& report() override {
    if (solver_.leaves_condition()) {
      const Turn turn(turns_);
      solver_.complete_report();
    }
    return solver_.report();
  }
  const Recipe& recipe() const override { return solver_.recipe(); }
  double rcond() override {
    const Turn turn(turns_);
    return solver_.rcond();
  }
  Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) override {
    const Turn turn(turns_);
    return solver_.solve(B, X, op);
  }
  Report solve(Columns<const T, Cuda> B, Columns<T, Cuda> X, Op op, CUstream_st* after) override {
    require(B.is_view() && X.is_view(),
            "over several cards right-hand sides on a device are given by columns, not by rows: copy them");
    const Turn turn(turns_);
    return system_->solve_in_copy(B, X, after,
                                  [&](MatrixView<T> x) { return solver_.solve(MatrixView<const T>(x), x, op); });
  }
  void with_triangles(const std::function<void(Triangles<T>&)>& use, std::optional<CUstream_st*>) override {
    const Turn turn(turns_);
    solver_.with_triangles(use);
  }

 private:
  Given<T, Cpu> given() {
    Given<T, Cpu> A(system_->matrix());
    A.make = [this](const Recipe& by, Scales&& scales) { return system_->factors_by(by, std::move(scales)); };
    return A;
  }

  OneAtATime turns_;
  const std::unique_ptr<SystemOnCards<T>> system_;
  Queue<Cpu> q_;
  const GemmBackend<Cpu> stand_in_;  // the solver of the host computes no product
  Solver<T, Cpu> solver_;
};

}  // namespace

template <class T>
std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T> A, const GemmBackend<Cpu>& gemm,
                                                  const Options& options) {
  Supply<T, Cpu> source = A.on_cpu;
  return std::make_unique<OnVirtualCards<T>>(std::move(A), std::move(source), gemm, options);
}

template <class T, class Space>
static std::unique_ptr<Engine<T>> engine_on_cards(Columnwise<T>&& A, const GemmBackend<Space>& gemm,
                                                  const Options& options, Facts&& start) {
  return std::make_unique<CardsEngine<T>>(system_on_cards<T>(std::move(A), gemm, options), gemm.name, options,
                                          std::move(start));
}
template <class T>
std::unique_ptr<Engine<T>> make_engine_on_cards(Columnwise<T> A, const GemmBackend<Cpu>& gemm, const Options& options,
                                                Facts start) {
  return engine_on_cards<T>(std::move(A), gemm, options, std::move(start));
}
template <class T>
std::unique_ptr<Engine<T>> make_engine_on_cards(Columnwise<T> A, const GemmBackend<Cuda>& gemm, const Options& options,
                                                Facts start) {
  return engine_on_cards<T>(std::move(A), gemm, options, std::move(start));
}

#define LASOLVE_INSTANTIATE(T)                                                                                      \
  template std::unique_ptr<Engine<T>> make_engine_on_cards(Columnwise<T>, const GemmBackend<Cpu>&, const Options&,  \
                                                           Facts);                                                  \
  template std::unique_ptr<Engine<T>> make_engine_on_cards(Columnwise<T>, const GemmBackend<Cuda>&, const Options&, \
                                                           Facts);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve
