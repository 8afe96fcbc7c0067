#include "core/sizes.hpp"

#include <gtest/gtest.h>

namespace lasolve {
namespace {

TEST(WholeNumber, IsReadAsPeopleWriteIt) {
  const std::pair<const char*, std::int64_t> good[] = {
      {"0", 0},          {"8192", 8192},   {"-3", -3},         {"8k", 8192},
      {"8K", 8192},      {"1m", 1048576},  {"2g", 2147483648}, {"1e4", 10000},
      {"1E+4", 10000},   {"1.5e4", 15000}, {"2^13", 8192},     {"10^3", 1000},
      {"7^0", 1},        {"0e9", 0},       {"1e0", 1},         {"9007199254740992", 1LL << 53},
      {"120000e-4", 12},
  };
  for (const auto& [text, value] : good) EXPECT_EQ(whole_number(text), value) << text;
  for (const char* text : {"",
                           "k",
                           "e4",
                           "1e",
                           "1.5",
                           "1.5e0",
                           "8kk",
                           "8 k",
                           " 8",
                           "8x",
                           "1e30",
                           "2^64",
                           "2^-1",
                           "2^",
                           "^2",
                           "2^2^2",
                           "9999999999999999999",
                           "9999999999999m",
                           "inf",
                           "nan",
                           "1e4k",
                           "0x10",
                           "+8"})
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
}

TEST(InBytes, IsShort) {
  EXPECT_EQ(in_bytes(0), "0 bytes");
  EXPECT_EQ(in_bytes(1023), "1023 bytes");
  EXPECT_EQ(in_bytes(1536), "1.5 KiB");
  EXPECT_EQ(in_bytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(in_bytes(8.0 * 65536 * 65536), "32.0 GiB");
  EXPECT_EQ(in_bytes(0x1p62), "4.0 EiB");
}

}  // namespace
}  // namespace lasolve
