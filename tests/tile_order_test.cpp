// The order in which blocks of the fp64 tensor cores take the tiles of C: for every shape each tile once.
#include <gtest/gtest.h>

#include <vector>

#ifndef __CUDACC__
#define __host__
#define __device__
#endif
#include "gemm/cuda/hopper/fp64_raster_order.cuh"

namespace lasolve::tensor_f64 {

static void expect_each_tile_once(const Order& order) {
  std::vector<int> taken(std::size_t(order.tiles()));
  for (int block = 0; block < order.blocks(); ++block) {
    const Order::Share share = order.share(block);
    ASSERT_GE(share.count, 1) << "block " << block;
    ASSERT_LE(share.count, order.most) << "block " << block;
    for (int n = 0; n < share.count; ++n) {
      const Order::Tile tile = order.tile(share.first + n * order.blocks_at_a_time);
      ASSERT_TRUE(0 <= tile.i && tile.i < order.down && 0 <= tile.j && tile.j < order.across) << "block " << block;
      ++taken[std::size_t(tile.i + tile.j * order.down)];
    }
  }
  for (const int times : taken) ASSERT_EQ(times, 1);
}

TEST(TileOrder, has_each_tile_once) {
  for (const int down : {1, 2, 11, 12, 13, 25, 64, 128})
    for (const int across : {1, 11, 12, 13, 64})
      for (const int blocks_at_a_time : {1, 132, 264, 396})
        for (const int rounds : {1, 2, 4, 8})
          for (const int most : {1, 3, 64})
            for (const int group : {12, 24, 96}) {
              SCOPED_TRACE(testing::Message()
                           << down << " x " << across << " tiles, " << blocks_at_a_time << " blocks at a time, "
                           << rounds << " rounds, at most " << most << ", groups of " << group);
              expect_each_tile_once({down, across, blocks_at_a_time, rounds, most, group});
              if (HasFatalFailure()) return;
            }
  expect_each_tile_once({512, 256, 264, 4, 64, 24});
}

}  // namespace lasolve::tensor_f64
