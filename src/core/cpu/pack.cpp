#include "core/cpu/pack.hpp"

#include <cstring>

#include "core/cpu/parallel.hpp"

namespace lasolve {

namespace {

/// move(place among the columns, place among the packed, length) for all bytes, shared among the cores: each has an
/// equal stretch of what is packed, wherever columns begin.
template <class Move>
void in_stretches(const Queue<Cpu>& q, std::size_t pitch, std::size_t bytes, std::size_t columns, Move move) {
  on_shares(q, std::int64_t(bytes * columns), double(bytes) * double(columns), [&](std::int64_t begin, std::int64_t n) {
    const std::size_t end = std::size_t(begin + n);
    for (std::size_t at = std::size_t(begin); at < end;) {
      const std::size_t row = at % bytes, length = std::min(bytes - row, end - at);
      move(at / bytes * pitch + row, at, length);
      at += length;
    }
  });
}

}  // namespace

void pack(const Queue<Cpu>& q, const char* first, std::size_t pitch, std::size_t bytes, std::size_t columns,
          char* packed) {
  in_stretches(q, pitch, bytes, columns, [=](std::size_t there, std::size_t here, std::size_t length) {
    std::memcpy(packed + here, first + there, length);
  });
}
void unpack(const Queue<Cpu>& q, const char* packed, char* first, std::size_t pitch, std::size_t bytes,
            std::size_t columns) {
  in_stretches(q, pitch, bytes, columns, [=](std::size_t there, std::size_t here, std::size_t length) {
    std::memcpy(first + there, packed + here, length);
  });
}

}  // namespace lasolve
