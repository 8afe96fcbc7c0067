// Columns that are packed and unpacked, wherever they begin and however long they are.
#include "core/cpu/pack.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace lasolve::test {
namespace {

constexpr char untouched = 'x';

/// Bytes that differ from their neighbours and, mostly, from what lies a column further.
std::vector<char> numbered(std::size_t size) {
  std::vector<char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = char(i * 7 + i / 251);
  return bytes;
}

void expect_there_and_back(const Queue<Cpu>& q, std::size_t bytes, std::size_t pitch, std::size_t columns,
                           std::size_t offset, Stores stores) {
  SCOPED_TRACE(testing::Message() << columns << " columns of " << bytes << " bytes, " << pitch << " apart, at "
                                  << offset);
  const std::vector<char> from = numbered(pitch * columns + offset);
  std::vector<char> packed(bytes * columns + 2 * 64 + offset, untouched), back(from.size(), untouched);
  char* const first = packed.data() + 64 + offset;
  pack(q, from.data() + offset, pitch, bytes, columns, first, stores);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(first[i + j * bytes], from[offset + i + j * pitch]);
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_EQ(first[-1 - std::ptrdiff_t(i)], untouched);
    ASSERT_EQ(first[bytes * columns + i], untouched);
  }
  unpack(q, first, back.data() + offset, pitch, bytes, columns, stores);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < pitch; ++i)
      ASSERT_EQ(back[offset + i + j * pitch], i < bytes ? from[offset + i + j * pitch] : untouched);
}

TEST(Pack, brings_each_byte_to_its_place) {
  const Queue<Cpu> q(1);
  for (const Stores stores : {Stores::cached, Stores::past_caches})
    for (const std::size_t bytes : {1, 8, 63, 64, 65, 127, 128, 200, 1000})
      for (const std::size_t gap : {0, 8, 61})
        for (const std::size_t offset : {0, 1, 8, 16, 63})
          expect_there_and_back(q, bytes, bytes + gap, 5, offset, stores);
}

TEST(Pack, is_shared_among_cores) {
  const Queue<Cpu> q(4);
  for (const Stores stores : {Stores::cached, Stores::past_caches}) {
    expect_there_and_back(q, 1 << 20, 1 << 20, 1, 8, stores);
    expect_there_and_back(q, 4104, 4200, 300, 24, stores);
  }
}

}  // namespace
}  // namespace lasolve::test
