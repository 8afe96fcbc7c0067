#include "compare/peers.hpp"

namespace lasolve::compare {

std::optional<Peer> cusolver() { return std::nullopt; }

}  // namespace lasolve::compare
