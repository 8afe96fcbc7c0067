// What the CUDA side answers in a build without it.
#include "solvers/driver/engine.hpp"

#include "core/no_cuda/refuse.hpp"
#include "solvers/cards/system.hpp"
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
template <class T>
std::unique_ptr<AsyncEngine<T>> make_async_engine(Given<T, Cuda>, const GemmBackend<Cuda>&, const Options&,
                                                  SharedContext) {
  refuse();
}

template <class T>
std::unique_ptr<SystemOnCards<T>> system_on_cards(Columnwise<T>, const GemmBackend<Cuda>&, const Options&) {
  refuse();
}
template <class T>
Columnwise<T> columnwise(MatrixView<const T, Cuda>, CUstream_st*) {
  refuse();
}

LASOLVE_ELEMENTS(LASOLVE_ENGINES_ON_CUDA)
LASOLVE_ELEMENTS(LASOLVE_CARDS_ON_CUDA)

template <>
Checked check_again(Queue<Cuda>&, const Supply<double, Cuda>&, Op, Uplo, MatrixView<const double>,
                    MatrixView<const double>) {
  refuse();
}

}  // namespace lasolve
