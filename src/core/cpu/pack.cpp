#include "core/cpu/pack.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/cpu/parallel.hpp"

namespace lasolve {

namespace {

/// By non-temporal stores, of whole lines: no core fetches the line that it overwrites, and none has it afterwards, so that a device need not ask for
/// it.
void copy_past_caches(char* to, const char* from, std::size_t length) {
#ifdef __SSE2__
  const std::size_t before = std::min(length, (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64);
  std::memcpy(to, from, before);
  to += before, from += before, length -= before;
  for (; length >= 64; to += 64, from += 64, length -= 64)
    for (int i = 0; i < 64; i += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();
#endif
  std::memcpy(to, from, length);
}

void copy_by(Stores stores, char* to, const char* from, std::size_t length) {
  if (stores == Stores::cached)
    std::memcpy(to, from, length);
  else
    copy_past_caches(to, from, length);
}

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
          char* packed, Stores stores) {
  in_stretches(q, pitch, bytes, columns, [=](std::size_t there, std::size_t here, std::size_t length) {
    copy_by(stores, packed + here, first + there, length);
  });
}
void unpack(const Queue<Cpu>& q, const char* packed, char* first, std::size_t pitch, std::size_t bytes,
            std::size_t columns, Stores stores) {
  in_stretches(q, pitch, bytes, columns, [=](std::size_t there, std::size_t here, std::size_t length) {
    copy_by(stores, first + there, packed + here, length);
  });
}

}  // namespace lasolve
