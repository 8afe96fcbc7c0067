#include "core/no_cuda/refuse.hpp"
#include "peers/peers.hpp"

namespace lasolve::peers {

Peer cusolver() {
  return {"cusolver", "cuSOLVER", true, [](Method) { return std::string(); }, [] { refuse(); }, {}};
}

}  // namespace lasolve::peers
