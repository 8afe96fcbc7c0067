// The solver on the CPU.
#include "solvers/driver/engine.hpp"

#include "core/one_at_a_time.hpp"
#include "solvers/driver/solver.hpp"
#include "solvers/places/cpu/norms.hpp"
#include "solvers/places/cpu/panel.hpp"
#include "solvers/places/cpu/plan.hpp"
#include "solvers/places/cpu/rows.hpp"
#include "solvers/places/cpu/triangle.hpp"
#include "solvers/refine/check_by_columns.hpp"

namespace lasolve {

namespace {

template <class T>
class CpuEngine final : public Engine<T> {
 public:
  CpuEngine(Given<T, Cpu> A, const GemmBackend<Cpu>& gemm, const Options& options, Report&& start)
      : q_(options.threads), solver_(q_, gemm, std::move(A), options, std::move(start)) {
    tune_for(q_, options);
    solver_.factor();
    solver_.ran_on(q_.threads_used());  // some may not have been had, or needed
  }
  const Report& report() const override { return solver_.report(); }
  double rcond() override {
    const Turn turn(turns_);
    return solver_.rcond();
  }
  Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) override {
    const Turn turn(turns_);
    return solver_.solve(B, X, op);
  }
  Report solve(MatrixView<const T, Cuda>, MatrixView<T, Cuda>, Op, CUstream_st*) override {
    throw std::invalid_argument("lasolve: right-hand sides on a CUDA device, but the factors are on the CPU");
  }

 private:
  OneAtATime turns_;
  Queue<Cpu> q_;
  Solver<T, Cpu> solver_;
};

}  // namespace

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu> A, const GemmBackend<Cpu>& gemm, const Options& options,
                                       Report start) {
  return std::make_unique<CpuEngine<T>>(std::move(A), gemm, options, std::move(start));
}
template std::unique_ptr<Engine<double>> make_engine(Given<double, Cpu>, const GemmBackend<Cpu>&, const Options&,
                                                     Report);
template std::unique_ptr<Engine<float>> make_engine(Given<float, Cpu>, const GemmBackend<Cpu>&, const Options&, Report);

template <>
void check_again(Queue<Cpu>& q, const Supply<double, Cpu>& A, Op op, Uplo triangle, MatrixView<const double> B,
                 MatrixView<const double> X, Report& report) {
  check_by_columns<double>(q, A, op, triangle, B, X, columns_at_once<double, Cpu>(B.rows()), report);
}

}  // namespace lasolve
