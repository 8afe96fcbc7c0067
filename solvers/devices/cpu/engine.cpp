// The solver on the CPU.
#include "solvers/driver/engine.hpp"

#include "core/cpu/elements.hpp"
#include "core/one_at_a_time.hpp"
#include "lasolve/triangular.hpp"
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/small.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
#include "solvers/driver/solver.hpp"
#include "solvers/lu/cpu/panel.hpp"
#include "solvers/refine/check_by_columns.hpp"

namespace lasolve {

#define LASOLVE_ASSERT(T) static_assert(HasPrimitives<T, Cpu>);
LASOLVE_CPU_ELEMENTS(LASOLVE_ASSERT)
#undef LASOLVE_ASSERT

#define LASOLVE_INSTANTIATE(T)  \
  template class Judge<T, Cpu>; \
  template class Solver<T, Cpu>;
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

namespace {

[[noreturn]] void refuse_rhs_on_device() {
  throw std::invalid_argument("lasolve: right-hand sides on a CUDA device, but the factors are on the CPU");
}

template <class T>
class CpuEngine final : public Engine<T> {
 public:
  CpuEngine(Given<T, Cpu> A, const GemmBackend<Cpu>& gemm, const Options& options, Facts&& start)
      : CpuEngine(problem_of(A), std::move(A), gemm, options, std::move(start)) {}
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
  Report solve(Columns<const T, Cuda>, Columns<T, Cuda>, Op, CUstream_st*) override { refuse_rhs_on_device(); }
  void with_triangles(const std::function<void(Triangles<T>&)>& use, std::optional<CUstream_st*>) override {
    const Turn turn(turns_);
    solver_.with_triangles(use);
  }

 private:
  CpuEngine(const Problem& problem, Given<T, Cpu>&& A, const GemmBackend<Cpu>& gemm, const Options& options,
            Facts&& start)
      : q_(options.threads),
        solver_(q_, gemm, std::move(A), resolve(options, problem, means_of(gemm, options, q_.tuning(), false)), options,
                std::move(start)) {
    if (options.tuning) q_.tune(*options.tuning);
    solver_.factor();
  }

  OneAtATime turns_;
  Queue<Cpu> q_;
  Solver<T, Cpu> solver_;
};

/// Of a small system of order n, and of more elements behind it.
template <class T>
Matrix<double> memory_for(std::int64_t n, std::int64_t more = 0) {
  const std::size_t bytes = SmallSystem<T>::bytes(n) + std::size_t(more) * sizeof(T);
  return {ceil_div(std::int64_t(bytes), std::int64_t(sizeof(double))), 1};
}

/// Of a small system. What is out of the ordinary is left to the other engine.
template <class T>
class SmallEngine final : public Engine<T> {
 public:
  SmallEngine(MatrixView<const T> A, const GemmBackend<Cpu>& gemm, const Recipes& recipes, const Options& options)
      : gemm_(gemm),
        method_(options.factorization),
        threads_(options.threads),
        refine_(options.refine),
        condition_(options.condition),
        equilibrate_(options.equilibrate),
        check_(options.check),
        allow_nonfinite_(options.allow_nonfinite),
        memory_(memory_for<T>(A.rows(), SmallSystem<T>::ld(A.rows()) * A.cols())),
        system_(copied(A), recipes, memory_.data()) {}
  /// False: it is not for this engine, and `facts` is as it was.
  bool factor(Facts& facts) {
    if (!system_.factor(facts)) return false;
    facts.gemm = gemm_.name;
    write_report(report_, system_.recipe(), std::move(facts));
    return true;
  }
  const Report& report() override { return other_ ? other_->report() : report_; }
  const Recipe& recipe() const override { return other_ ? other_->recipe() : system_.recipe(); }
  double rcond() override {
    const Turn turn(turns_);
    return report_.rcond ? *report_.rcond : other().rcond();
  }
  Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) override {
    const Turn turn(turns_);
    if (system_.takes(B.cols())) {
      SolveFacts facts{report_.outcome, B.cols(), Refine::none, epsilon<T>};
      if (system_.solve(B, X, op, facts)) return report_of(report(), std::move(facts));
    }
    return other().solve(B, X, op);
  }
  Report solve(Columns<const T, Cuda>, Columns<T, Cuda>, Op, CUstream_st*) override { refuse_rhs_on_device(); }
  void with_triangles(const std::function<void(Triangles<T>&)>& use, std::optional<CUstream_st*> after) override {
    const Turn turn(turns_);
    other().with_triangles(use, after);
  }

 private:
  MatrixView<const T> copied(MatrixView<const T> A) {
    auto* const behind = reinterpret_cast<std::byte*>(memory_.data()) + SmallSystem<T>::bytes(A.rows());
    const MatrixView<T> copy(reinterpret_cast<T*>(behind), A.rows(), A.cols(), SmallSystem<T>::ld(A.rows()));
    copy_on_host<T>(A, copy);
    return copy;
  }

  Engine<T>& other() {
    if (!other_) {
      Options options;
      options.factorization = method_;
      options.threads = threads_;
      options.refine = refine_;
      options.check = check_;
      options.allow_nonfinite = allow_nonfinite_;
      options.condition = condition_;
      options.equilibrate = equilibrate_;
      other_ = std::make_unique<CpuEngine<T>>(
          Given<T, Cpu>(system_.A()), gemm_, options,
          Facts{.outcome = report_.outcome, .device = report_.device, .notes = report_.notes});
    }
    return *other_;
  }

  OneAtATime turns_;
  const GemmBackend<Cpu>& gemm_;
  const Method method_;  // this and the next six are all that options of a small system may differ in
  const int threads_;
  const Refine refine_;
  const Condition condition_;
  const Wanted equilibrate_;
  const bool check_, allow_nonfinite_;
  Report report_;
  Matrix<double> memory_;  // of the system and of a copy of A
  SmallSystem<T> system_;
  std::unique_ptr<Engine<T>> other_;
};

}  // namespace

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu> A, const GemmBackend<Cpu>& gemm, const Options& options,
                                       Facts start) {
  if (!A.memory && SmallSystem<T>::fits(A.A.rows(), options)) {
    const Recipes recipes = resolve(options, problem_of(A), means_of(gemm, options, cpu_tuning().values, true));
    if (recipes.first().executor == Executor::leaf)
      if (auto small = std::make_unique<SmallEngine<T>>(A.A, gemm, recipes, options); small->factor(start)) {
        if (options.progress) options.progress(1);
        return small;
      }
  }
  return std::make_unique<CpuEngine<T>>(std::move(A), gemm, options, std::move(start));
}

template <class T>
bool fits_a_leaf(std::int64_t n, const Options& options) {
  return SmallSystem<T>::fits(n, options);
}
template bool fits_a_leaf<double>(std::int64_t, const Options&);

template <class T>
bool solve_small(MatrixView<const T> A, const GemmBackend<Cpu>& gemm, const Options& options, Facts start,
                 MatrixView<const T> B, MatrixView<T> X, Op op, Report& report) {
  if (!SmallSystem<T>::fits(A.rows(), options)) return false;
  const Recipes recipes = resolve(options, {.n = A.rows(), .element = precision_of<T>, .is_complex = ComplexElement<T>},
                                  means_of(gemm, options, cpu_tuning().values, true));
  if (recipes.first().executor != Executor::leaf) return false;
  constexpr std::int64_t on_stack = 16;
  alignas(64) std::byte few[SmallSystem<T>::bytes(on_stack)];
  Matrix<double> many;
  if (A.rows() > on_stack) many = memory_for<T>(A.rows());
  SmallSystem<T> system(A, recipes, A.rows() > on_stack ? static_cast<void*>(many.data()) : few);
  SolveFacts facts{start.outcome, B.cols(), Refine::none, epsilon<T>};
  if (!system.takes(B.cols())) return false;
  const auto factored = system.factor(start);
  if (!factored || !system.solve(B, X, op, facts, *factored)) return false;
  if (options.progress) options.progress(1);
  start.gemm = gemm.name;
  write_report(report, system.recipe(), std::move(start));
  facts.times.phases += report.phases, facts.times.total_seconds += report.total_seconds;
  write_solve(report, std::move(facts));
  return true;
}

#define LASOLVE_INSTANTIATE(T)                                                                                        \
  template std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu>, const GemmBackend<Cpu>&, const Options&, Facts);     \
  template bool solve_small(MatrixView<const T>, const GemmBackend<Cpu>&, const Options&, Facts, MatrixView<const T>, \
                            MatrixView<T>, Op, Report&);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

template <>
Checked check_again(Queue<Cpu>& q, const Supply<double, Cpu>& A, Op op, Uplo triangle, MatrixView<const double> B,
                    MatrixView<const double> X) {
  return check_by_columns<double>(q, A, op, triangle, B, X, columns_at_once<double, Cpu>(B.rows()));
}

inline namespace LASOLVE_ABI {

template <class T>
void solve_triangular(MatrixView<const T> A, Uplo which, bool unit, MatrixView<T> B, Op op, const Options& options) {
  require(A.rows() == A.cols() && B.rows() == A.rows(), "the sizes of a triangular system do not agree");
  require(which == Uplo::lower || which == Uplo::upper, "which triangle of A: lower or upper");
  Options here = options;
  here.device = {Device::cpu, 0};
  const Choice choice = choose(here);
  require(choice.backend.index() == 0, "a triangular system on the host, but the backend runs on CUDA");
  if (B.empty()) return;
  Queue<Cpu> q(options.threads);
  if (options.tuning) q.tune(*options.tuning);
  const Triangle<T, Cpu> triangle{A, which == Uplo::lower, unit};
  trsm_left(q, Gemm<T, Cpu>(*std::get<0>(choice.backend)), op == Op::none ? triangle : triangle.transposed(op), B);
}

#define LASOLVE_INSTANTIATE(T) \
  template void solve_triangular(MatrixView<const T>, Uplo, bool, MatrixView<T>, Op, const Options&);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace LASOLVE_ABI
}  // namespace lasolve
