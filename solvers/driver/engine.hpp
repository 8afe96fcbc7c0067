// A factorization, wherever it lives: what the public Factorization stands on.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "core/backend_table.hpp"
#include "core/choose.hpp"
#include "core/context_state.hpp"
#include "core/spread.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"
#include "lasolve/precision.hpp"
#include "solvers/driver/columns.hpp"
#include "solvers/driver/facts.hpp"
#include "solvers/recipe.hpp"
#include "solvers/scales.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

template <class T, class Space>
class Decomposition;

/// How a triangular factor is applied: X ← op(factor) B, or X ← op(factor)⁻¹ B.
struct FactorCall {
  Factor which;
  Op op;
  bool inverse;
};

/// Factors as such: see Factorization. Results are there when a call returns.
template <class T>
class Triangles {
 public:
  virtual ~Triangles() = default;
  virtual LogDeterminant log_abs_det() = 0;
  virtual Matrix<T> triangle(Factor) = 0;
  virtual std::vector<std::int64_t> pivots() = 0;
  virtual void apply(const FactorCall&, MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X) = 0;
  virtual void apply(const FactorCall&, Columns<const T, Cuda> B, Columns<T, Cuda> X) = 0;
};

template <class T>
class Engine {
 public:
  virtual ~Engine() = default;
  /// Of the factors. Waits for what is still to be known of them.
  virtual const Report& report() = 0;
  /// That by which the factors were made.
  virtual const Recipe& recipe() const = 0;
  /// n, which stays when a solve replaces factors and their report.
  std::int64_t order = 0;
  /// How A is related to what was factored.
  Op stored = Op::none;
  /// Where A lies, or its pieces do, if it is the caller's and is read again with each solve.
  Extent borrowed;
  std::vector<Extent> pieces;
  /// A, if it is a copy of the caller's.
  Matrix<T, Cpu> kept;
  virtual double rcond() = 0;
  /// B and X are n × nrhs, and the same or apart.
  virtual Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) = 0;
  /// After what stream `after` has been given. B and X in rows are solved for in copies.
  virtual Report solve(Columns<const T, Cuda> B, Columns<T, Cuda> X, Op op, CUstream_st* after) = 0;
  /// use(the factors), after what a stream has been given.
  virtual void with_triangles(const std::function<void(Triangles<T>&)>& use, std::optional<CUstream_st*> after) = 0;
};

/// What the public AsyncFactorization stands on.
template <class T>
class AsyncEngine {
 public:
  virtual ~AsyncEngine() = default;
  std::int64_t order = 0;
  Op stored = Op::none;
  virtual void solve(Columns<const T, Cuda> B, Columns<T, Cuda> X, Op op) = 0;
  virtual const std::int64_t* failed_at() const = 0;
  virtual void pivots(std::int64_t* to) = 0;
  virtual Outcome wait() = 0;
};

/// A copy of a record has its name.
template <class Space>
bool has_same_name(const GemmBackend<Space>* one, const GemmBackend<Space>& other) {
  return one && std::strcmp(one->name, other.name) == 0;
}

template <class Space>
const char* name_or_null(const GemmBackend<Space>* backend) {
  return backend ? backend->name : nullptr;
}

/// What recipes depend on of a backend on a device.
template <class Space>
Means means_of(const GemmBackend<Space>& gemm, const Options& options, const Tuning& tuning, bool fits_a_leaf) {
  Means means{
      .device = {kind_of<Space>, options.device.index},
      .cards = cards_of(options),
      .tuning = options.tuning ? &*options.tuning : &tuning,
      .backend = gemm.name,
      .coarse = name_or_null(coarse_backend<Space>(options, options.device.index)),
      .is_quick = has_same_name(backend_table<Space>().refined(), gemm),  // or a copy that leaves small products
      .fits_a_leaf = fits_a_leaf,
      .queues = std::is_same_v<Space, Cuda>};
  for_each_precision(
      [&](auto P) { means.precisions |= unsigned(bool(gemm.template in<P>())) << unsigned(Precision(P)); });
  return means;
}

/// A matrix as it was given: borrowed, for the call alone or for longer, or handed over with its memory, which the factors may then overwrite.
template <class T, class Space>
struct Given {
  explicit Given(SpreadMatrix<T, Space>& spread) : spread(&spread) {}
  explicit Given(MatrixView<const T, Space> borrowed) : A(borrowed) {}
  explicit Given(Matrix<T, Space> handed_over) : memory(std::move(handed_over)), A(memory->view()) {}

  std::optional<Matrix<T, Space>> memory;
  MatrixView<const T, Space> A;
  /// In the place of these, with what makes its factors by a recipe.
  SpreadMatrix<T, Space>* spread = nullptr;
  std::function<std::unique_ptr<Decomposition<T, Space>>(const Recipe&, Scales&&)> make = {};
  bool may_end = false;  ///< with the call, so that a copy is to be kept
  /// A has the factors already, with these interchanges on its device: row k was exchanged with row (*factored)[k]. Null: a method without.
  std::optional<const std::int64_t*> factored = {};
};

template <class T, class Space>
Problem problem_of(const Given<T, Space>& given) {
  return {.n = given.spread ? given.spread->order() : given.A.rows(),
          .element = precision_of<T>,
          .handed_over = given.memory.has_value(),
          .is_complex = ComplexElement<T>};
}

/// Factors A on the backend's device: A on the host is copied to the device for a CUDA backend. `start` holds what is
/// known so far. A on a device is read after what stream `after` has been given. A null context: one of its own.
template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu> A, const GemmBackend<Cpu>&, const Options&, Facts start);
template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu> A, const GemmBackend<Cuda>&, const Options&, Facts start,
                                       SharedContext);
template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cuda> A, const GemmBackend<Cuda>&, const Options&, Facts start,
                                       CUstream_st* after, SharedContext);
/// Whether a system of order n, of which nothing special is asked, is one leaf on the CPU.
template <class T>
bool fits_a_leaf(std::int64_t n, const Options&);
/// Factors and solves at once where the system is small. False: it is for an engine to do, or to say what is wrong, and X and the report
/// are as they were.
template <class T>
bool solve_small(MatrixView<const T> A, const GemmBackend<Cpu>&, const Options&, Facts start, MatrixView<const T> B,
                 MatrixView<T> X, Op op, Report&);
/// Begins to factor A in a context with a stream. Throws std::invalid_argument for options that leave something to facts of A.
template <class T>
std::unique_ptr<AsyncEngine<T>> make_async_engine(Given<T, Cuda> A, const GemmBackend<Cuda>&, const Options&,
                                                  SharedContext);

/// A matrix that is made, or copied, where it is wanted: to the memory of a card, some columns at a time. It may be asked for again.
template <class T>
struct Columnwise {
  std::int64_t n = 0;
  Supply<T, Cpu> on_cpu;
  Supply<T, Cuda> on_cuda;
  std::optional<bool> keeps =
      {};  ///< cards have a copy of it beside its factors; none: where there is room, and it is read again
  double device_bytes = 0;            ///< as in Means
  std::vector<Extent> borrowed = {};  ///< where it lies, if it is the caller's
};
/// Factors over the cards that the options name, of the kind of the backend, or out of core with one.
template <class T>
std::unique_ptr<Engine<T>> make_engine_on_cards(Columnwise<T> A, const GemmBackend<Cpu>&, const Options&, Facts start);
template <class T>
std::unique_ptr<Engine<T>> make_engine_on_cards(Columnwise<T> A, const GemmBackend<Cuda>&, const Options&, Facts start);
/// The backend and the device of a system, once for each call and before resolve(): as the options say, or on that of a context.
Choice choose_for(const Options&, const SharedContext& = {});
/// Of a device's memory, what a system may take: what the options say, else what is free. 0: any that is so small fits.
double bytes_of_device(const Options&, const Choice&, const Problem&);
/// Whether it is for one device, and goes out of core there.
bool goes_out_of_core(const Options&, const Choice&, const Problem&);
/// The columns of a matrix on the host, or on a CUDA device after what a stream has been given; a default stream is that of this device.
template <class T>
Columnwise<T> columnwise(MatrixView<const T, Cpu> A);
template <class T>
Columnwise<T> columnwise(MatrixView<const T, Cuda> A, CUstream_st* after);

/// A factorization of what is no memory of the caller's.
template <class T>
struct FactorizationOf {
  static Factorization<T> columns(Columnwise<T> A, const Options&);
};

/// What a build with CUDA, or without it, instantiates for an element.
#define LASOLVE_ENGINES_ON_CUDA(T)                                                                                     \
  template std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu>, const GemmBackend<Cuda>&, const Options&, Facts,      \
                                                  SharedContext);                                                      \
  template std::unique_ptr<Engine<T>> make_engine(Given<T, Cuda>, const GemmBackend<Cuda>&, const Options&, Facts,     \
                                                  CUstream_st*, SharedContext);                                        \
  template std::unique_ptr<AsyncEngine<T>> make_async_engine(Given<T, Cuda>, const GemmBackend<Cuda>&, const Options&, \
                                                             SharedContext);
#define LASOLVE_CARDS_ON_CUDA(T)                                                                                       \
  template std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T>, const GemmBackend<Cuda>&, const Options&); \
  template Columnwise<T> columnwise(MatrixView<const T, Cuda>, CUstream_st*);

}  // namespace lasolve
