// What the CUDA side answers in a build without it.
#include "core/transfer.hpp"
#include "io/generators.hpp"
#include "solvers/engine.hpp"

namespace lasolve {

namespace {
constexpr const char* why = "this build has no CUDA: it was made without a CUDA toolkit";
[[noreturn]] void refuse() { throw MachineError(why); }
}  // namespace

template <>
void* Memory<Cuda>::allocate(std::size_t) {
  refuse();
}
template <>
void Memory<Cuda>::release(void*) noexcept {}
template <>
std::size_t Memory<Cuda>::available() {
  return 0;
}

struct Queue<Cuda>::State {};
Queue<Cuda>::Queue(int, Priority) { refuse(); }
Queue<Cuda>::~Queue() = default;
int Queue<Cuda>::device() const { refuse(); }
int Queue<Cuda>::multiprocessors() const { refuse(); }
bool Queue<Cuda>::has_clusters() const { refuse(); }
void Queue<Cuda>::wait(Queue&) { refuse(); }
Queue<Cuda>& Queue<Cuda>::ahead() { refuse(); }
Queue<Cuda>::Mailbox Queue<Cuda>::mailbox(std::size_t, unsigned) { refuse(); }
CUstream_st* Queue<Cuda>::stream() const { refuse(); }
cublasContext* Queue<Cuda>::blas() const { refuse(); }
cusolverDnContext* Queue<Cuda>::solver() const { refuse(); }
void Queue<Cuda>::phase(Phase, double) { refuse(); }
void Queue<Cuda>::finish() { refuse(); }
PhaseTimes Queue<Cuda>::take_times() { refuse(); }
void Queue<Cuda>::on_progress(std::function<void(double)>) { refuse(); }
void* Queue<Cuda>::scratch_bytes(std::size_t) { refuse(); }

void copy_columns(Queue<Cuda>&, Direction, void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t) {
  refuse();
}

void io::generate(Queue<Cuda>&, const Generator&, MatrixView<double, Cuda>) { refuse(); }
Matrix<double> io::row_sums(Queue<Cuda>&, Operand<double, Cuda>) { refuse(); }

template <class T>
std::unique_ptr<Engine<T>> make_engine(MatrixView<const T, Cpu>, const GemmBackend<Cuda>&, const Options&, Report) {
  refuse();
}
template <class T>
std::unique_ptr<Engine<T>> make_engine(MatrixView<const T, Cuda>, const GemmBackend<Cuda>&, const Options&, Report) {
  refuse();
}
template std::unique_ptr<Engine<double>> make_engine(MatrixView<const double, Cpu>, const GemmBackend<Cuda>&,
                                                     const Options&, Report);
template std::unique_ptr<Engine<float>> make_engine(MatrixView<const float, Cpu>, const GemmBackend<Cuda>&,
                                                    const Options&, Report);
template std::unique_ptr<Engine<double>> make_engine(MatrixView<const double, Cuda>, const GemmBackend<Cuda>&,
                                                     const Options&, Report);
template std::unique_ptr<Engine<float>> make_engine(MatrixView<const float, Cuda>, const GemmBackend<Cuda>&,
                                                    const Options&, Report);

const CudaDevices& cuda_devices() {
  static const CudaDevices none{{}, why};
  return none;
}

}  // namespace lasolve
