// What the CUDA side answers in a build without it.
#include "solvers/driver/engine.hpp"

#include "core/no_cuda/refuse.hpp"
#include "solvers/refine/check_again.hpp"

namespace lasolve {

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu>, const GemmBackend<Cuda>&, const Options&, Facts, SharedContext) {
  refuse();
}
template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cuda>, const GemmBackend<Cuda>&, const Options&, Facts, CUstream_st*,
                                       SharedContext) {
  refuse();
}
template std::unique_ptr<Engine<double>> make_engine(Given<double, Cpu>, const GemmBackend<Cuda>&, const Options&,
                                                     Facts, SharedContext);
template std::unique_ptr<Engine<float>> make_engine(Given<float, Cpu>, const GemmBackend<Cuda>&, const Options&, Facts,
                                                    SharedContext);
template std::unique_ptr<Engine<double>> make_engine(Given<double, Cuda>, const GemmBackend<Cuda>&, const Options&,
                                                     Facts, CUstream_st*, SharedContext);
template std::unique_ptr<Engine<float>> make_engine(Given<float, Cuda>, const GemmBackend<Cuda>&, const Options&, Facts,
                                                    CUstream_st*, SharedContext);

template <class T>
std::unique_ptr<AsyncEngine<T>> make_async_engine(Given<T, Cuda>, const GemmBackend<Cuda>&, const Options&,
                                                  SharedContext) {
  refuse();
}
template std::unique_ptr<AsyncEngine<double>> make_async_engine(Given<double, Cuda>, const GemmBackend<Cuda>&,
                                                                const Options&, SharedContext);
template std::unique_ptr<AsyncEngine<float>> make_async_engine(Given<float, Cuda>, const GemmBackend<Cuda>&,
                                                               const Options&, SharedContext);

template <>
Checked check_again(Queue<Cuda>&, const Supply<double, Cuda>&, Op, Uplo, MatrixView<const double>,
                    MatrixView<const double>) {
  refuse();
}

}  // namespace lasolve
