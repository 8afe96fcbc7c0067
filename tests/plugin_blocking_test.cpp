// How a product is tiled for a kernel of somebody's own on CUDA, and how its source is compiled: decided without a device.
#include <gtest/gtest.h>

#include <cstdlib>

#include "devices.hpp"
#include "plugin/blocking.hpp"
#include "plugin/nvcc.hpp"
#include "plugin/source.hpp"

namespace lasolve::test {
namespace {

using plugin::Copies;
using plugin::Extent;
using plugin::Tiling;

constexpr Copies all{true, true, true};
const plugin::Wants ones{};

TEST(PluginBlockingOnADevice, is_one_call_where_copies_fit) {
  const Extent product{8192, 8192, 8192};
  EXPECT_EQ(plugin::block_within(plugin::most_on_cuda, product, ones, all), product);
  EXPECT_EQ(plugin::block_within(plugin::most_on_cuda, {100000, 100000, 7}, ones, {}), (Extent{100000, 100000, 7}));
  EXPECT_EQ(plugin::block_within(plugin::most_on_cuda, {100000, 100000, 7}, ones, {.a = true}),
            (Extent{100000, 100000, 7}));
  const Tiling tiling = plugin::tiling_on_cuda({100, 200, 300}, {{32, 1, 64}}, all);
  EXPECT_EQ(tiling.parts, 1);
  EXPECT_EQ(tiling.part, (Extent{100, 200, 300}));
  EXPECT_EQ(tiling.block, (Extent{128, 200, 320}));
  EXPECT_EQ(tiling.a, 128 * 320);
  EXPECT_EQ(tiling.b, 320 * 200);
  EXPECT_EQ(tiling.c, 128 * 200);
}

TEST(PluginBlockingOnADevice, halves_the_longer_edge_of_a_copy_that_is_too_large) {
  EXPECT_EQ(plugin::block_within(plugin::most_on_cuda, {65536, 128, 64}, ones, all), (Extent{65536, 128, 64}));
  EXPECT_EQ(plugin::block_within(plugin::most_on_cuda, {65536, 2048, 64}, ones, all), (Extent{32768, 2048, 64}));
  EXPECT_EQ(plugin::block_within(plugin::most_on_cuda, {65536, 2048, 64}, ones, {.a = true, .b = true}),
            (Extent{65536, 2048, 64}));
  EXPECT_EQ(plugin::block_within(plugin::most_on_cuda, {5, 9000, 9000}, ones, {.b = true}), (Extent{5, 9000, 4500}));
}

/// Whatever the sizes: multiples of the units, no copy too large, and room that does for all smaller products, too.
TEST(PluginBlockingOnADevice, keeps_to_its_limits) {
  constexpr std::int64_t sizes[] = {1, 31, 1000, 1024, 1025, 8192, 8200, 20000, 65537, 131072, 1 << 20};
  constexpr std::int64_t most = plugin::most_on_cuda;
  for (const auto& [units, line] : {std::pair(Extent{1, 1, 1}, 1),
                                    {{1024, 1023, 1000}, 1},
                                    {{1, 1024, 7}, 1},
                                    {{128, 128, 16}, 1},
                                    {{1023, 1, 7}, 1024}}) {
    const plugin::Wants wants{.units = units, .line = line};
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : sizes)
        for (const std::int64_t k : sizes) {
          const Tiling tiling = plugin::tiling_on_cuda({m, n, k}, wants, all);
          const auto [rows, columns, steps] = tiling.block;
          ASSERT_TRUE(rows > 0 && columns > 0 && steps > 0) << m << " " << n << " " << k;
          ASSERT_TRUE(rows % units.rows == 0 && columns % units.columns == 0 && steps % units.steps == 0);
          ASSERT_LE(round_up(rows, line) * steps, std::min(tiling.a, most)) << m << " " << n << " " << k;
          ASSERT_LE(round_up(steps, line) * columns, std::min(tiling.b, most)) << m << " " << n << " " << k;
          ASSERT_LE(round_up(rows, line) * columns, std::min(tiling.c, most)) << m << " " << n << " " << k;
        }
    std::int64_t before = 0;
    for (const std::int64_t n : sizes) {
      const Tiling tiling = plugin::tiling_on_cuda({n, n, n}, wants, all);
      EXPECT_GE(tiling.a, before);
      before = tiling.a;
    }
  }
}

TEST(PluginBlockingOnADevice, makes_room_for_what_may_be_copied_only) {
  const Tiling tiling = plugin::tiling_on_cuda({16384, 16384, 512}, ones, {.a = true});
  EXPECT_EQ(tiling.a, 16384 * 512);
  EXPECT_EQ(tiling.b, 0);
  EXPECT_EQ(tiling.c, 0);
  EXPECT_EQ(tiling.block, (Extent{16384, 16384, 512}));
}

/// An update is tiled by squares as large as its shortest edge; what is long and thin not into those of its edge.
TEST(PluginBlockingInSquares, costs_little_more_than_the_product) {
  const plugin::CostOfCalls cost{1000, 8};
  EXPECT_EQ(plugin::edge_of_squares({4096, 4096, 128}, 1, 2048, cost), 128);
  EXPECT_EQ(plugin::edge_of_squares({512, 512, 512}, 1, 2048, cost), 512);
  EXPECT_EQ(plugin::edge_of_squares({512, 512, 512}, 1, 100, cost), 86);  // a sixth, rounded up
  EXPECT_EQ(plugin::edge_of_squares({100, 100, 100}, 32, 2048, cost), 128);
  EXPECT_EQ(plugin::edge_of_squares({1, 1, 1}, 1, 2048, cost), 1);
  const std::int64_t thin = plugin::edge_of_squares({4096, 1, 1}, 1, 2048, cost);
  EXPECT_GT(thin, 4);
  EXPECT_LT(thin, 64);
}

/// Room for the squares of a product does for those of all smaller ones, whatever their edges.
TEST(PluginBlockingInSquares, makes_room_that_does_for_less) {
  for (const std::int64_t most : {plugin::Wants::any, std::int64_t(300)})
    for (const std::int64_t unit : {1, 96}) {
      const plugin::Wants wants{{unit, unit, unit}, {most, most, most}, true, 8};
      std::int64_t before = 0;
      for (const std::int64_t n : {1, 31, 1000, 8192, 20000}) {
        const Tiling tiling = plugin::tiling_on_cuda({n, n / 2 + 1, 128}, wants, all);
        EXPECT_EQ(tiling.block, (Extent{tiling.block.rows, tiling.block.rows, tiling.block.rows}));
        EXPECT_EQ(tiling.block.rows % unit, 0);
        EXPECT_LE(tiling.block.rows, most);
        EXPECT_LE(round_up(tiling.block.rows, 8) * tiling.block.rows, tiling.a);
        EXPECT_GE(tiling.a, before);
        EXPECT_TRUE(tiling.limited);
        before = tiling.a;
      }
    }
}

TEST(PluginBlockingUpToASize, keeps_to_it) {
  const plugin::Wants wants{{8, 6, 5}, {60, 60, 62}, false, 1};
  const Tiling cuda = plugin::tiling_on_cuda({1000, 1000, 1000}, wants, {});
  EXPECT_EQ(cuda.block, (Extent{56, 60, 60}));
  EXPECT_TRUE(cuda.limited);
  const Queue<Cpu> q(2);
  const Tiling cpu = plugin::tiling_for(q, {1000, 1000, 1000}, wants, {}, false);
  EXPECT_EQ(cpu.block, cuda.block);
  EXPECT_FALSE(plugin::tiling_for(q, {1000, 1000, 1000}, plugin::Wants{}, {}, false).limited);
}

TEST(PluginSourceInCUDA, is_compiled_for_the_device) {
  const auto built = architectures_of("80-real;90a-real;100-real;90-virtual");
  EXPECT_EQ(plugin::architecture_for(90, built), "sm_90a");
  EXPECT_EQ(plugin::architecture_for(100, built), "sm_100");
  EXPECT_EQ(plugin::architecture_for(89, built), "sm_89");
  EXPECT_EQ(plugin::architecture_for(90, {}), "sm_90");
  EXPECT_EQ(plugin::architecture_for(0, built), "sm_80");
}

std::string line(const std::vector<std::string>& flags, const std::vector<std::string>& link_flags = {}) {
  std::string all;
  for (const auto& word : plugin::nvcc_arguments("inc", "sm_90a", flags, {"a.cu", "b.cpp"}, "lib.so", link_flags))
    all += word + " ";
  return all;
}

TEST(PluginSourceInCUDA, is_compiled_as_nvcc_takes_it) {
  EXPECT_EQ(
      line({"-std=c++20"}, {"-Wl,-rpath,/x", "-lcublas"}),
      "-O3 -shared -Xcompiler -fPIC -I inc -arch=sm_90a -std=c++20 a.cu b.cpp -o lib.so -Xlinker -rpath,/x -lcublas ");
  for (const char* const flag : {"-arch=sm_90", "-gencode=arch=compute_80,code=sm_80", "--gpu-architecture=sm_80"})
    EXPECT_EQ(line({flag}).find("sm_90a"), std::string::npos) << flag;
  EXPECT_EQ(line({"-arch", "sm_80"}), "-O3 -shared -Xcompiler -fPIC -I inc -arch sm_80 a.cu b.cpp -o lib.so ");
}

TEST(PluginSourceInCUDA, is_compiled_by_what_CUDACXX_says) {
  setenv("CUDACXX", "some/nvcc -ccbin g++", 1);
  EXPECT_EQ(plugin::nvcc(), (std::vector<std::string>{"some/nvcc", "-ccbin", "g++"}));
  unsetenv("CUDACXX");
}

TEST(PluginSourceInCUDA, is_known_by_its_name) {
  EXPECT_EQ(plugin::language_of("x/mine.cu"), plugin::Language::cuda);
  EXPECT_TRUE(says(plugin::starting_point("x/mine.cu"), "kernel.memory = LASOLVE_CUDA;"));
  EXPECT_TRUE(says(plugin::starting_point("x/mine.cu"), "kernel.name = \"mine\";"));
  EXPECT_TRUE(says(plugin::starting_point("x/mine.cu"), "--gemm x/mine.cu"));
}

}  // namespace
}  // namespace lasolve::test
