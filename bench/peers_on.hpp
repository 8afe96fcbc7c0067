// The solvers of others that can run here.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "peers/peers.hpp"

namespace lasolve::bench {

/// Those of a device. Standard error has which ones cannot run, and why.
inline std::vector<const peers::Peer*> peers_on(Device::Kind place) {
  std::vector<const peers::Peer*> here;
  for (const auto& peer : peers::all()) {
    if (peer.on_cuda != (place == Device::cuda)) continue;
    const std::string why = peers::why_unavailable(peer);
    if (why.empty())
      here.push_back(&peer);
    else
      fmt::print(stderr, "without {}: {}\n", peer.title, why);
  }
  return here;
}

}  // namespace lasolve::bench
