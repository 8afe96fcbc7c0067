// What the CUDA side answers in a build without it.
#include "solvers/engine.hpp"

#include "core/no_cuda/refuse.hpp"

namespace lasolve {

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

}  // namespace lasolve
