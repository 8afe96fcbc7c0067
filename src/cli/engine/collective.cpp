#include "cli/engine/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace lasolve::cli {

void Collective::end_where_any(const std::optional<Failure>& failure) const {
  const engines::Ranks ranks = engine_.ranks();
  std::vector<double> failed(std::size_t(ranks.count), 0.0);
  failed[std::size_t(ranks.rank)] = failure ? 1 : 0;
  engine_.sum(failed);
  const auto first = int(std::find(failed.begin(), failed.end(), 1.0) - failed.begin());
  if (first == ranks.count) return;
  struct {
    int code;
    std::size_t length;
  } header{};
  std::string text = failure ? failure->message() : "";
  if (failure) header = {failure->code, text.size()};
  engine_.broadcast(std::as_writable_bytes(std::span(&header, 1)), first);
  text.resize(header.length);
  engine_.broadcast(std::as_writable_bytes(std::span(text)), first);
  if (ranks.rank == 0) fmt::print(stderr, "{}{}\n", text, first > 0 ? fmt::format(" (rank {})", first) : "");
  throw Ended{header.code};
}

}  // namespace lasolve::cli
