// What zlib makes of a text.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace lasolve::test {

enum class Wrapping { gzip = 15 + 16, none = -15 };  // window bits, as deflateInit2 takes them

inline std::string compressed(std::string_view plain, int level = 6, Wrapping wrapping = Wrapping::gzip) {
  std::string packed(compressBound(plain.size()) + 32, '\0');
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, int(wrapping), 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = uInt(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.erase(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace lasolve::test
