// Which shapes of kernels are chosen for which card, without one: what a block asks for fits each of them.
#include "core/tuning.hpp"
#include "lasolve/gemm.hpp"
#include "solvers/devices/cuda/plan.cuh"
#include "solvers/devices/cuda/trsm/triangle.cuh"
#include "solvers/lu/cuda/perform.cuh"
//
#include "devices.hpp"
#include "gemm/cuda/ampere/tensor_mma.cuh"

namespace lasolve::test {
namespace {

/// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and the cards' data sheets.
struct Card {
  const char* name;
  int capability, multiprocessors;
  std::size_t shared_memory_of_multiprocessor;
  double gigabytes;
};
constexpr Card cards[] = {
    {"A100", 80, 108, 164 << 10, 80},
    {"A100, MIG 1g.10gb", 80, 14, 164 << 10, 10},
    {"RTX 3060", 86, 28, 100 << 10, 12},
    {"A10", 86, 72, 100 << 10, 24},
    {"A40", 86, 84, 100 << 10, 48},
    {"Jetson Orin", 87, 16, 164 << 10, 64},
    {"L4", 89, 58, 100 << 10, 24},
    {"RTX 4090", 89, 128, 100 << 10, 24},
    {"L40S", 89, 142, 100 << 10, 48},
    {"H100", 90, 132, 228 << 10, 80},
    {"H200", 90, 132, 228 << 10, 141},
    {"H200, MIG 1g.18gb", 90, 16, 228 << 10, 18},
    {"B200", 100, 148, 228 << 10, 192},
    {"B300", 103, 148, 228 << 10, 288},
    {"Jetson Thor", 110, 20, 228 << 10, 128},
    {"RTX 5090", 120, 170, 100 << 10, 32},
    {"RTX PRO 6000", 120, 188, 100 << 10, 96},
    {"DGX Spark", 121, 48, 100 << 10, 128},
};
DeviceProperties properties_of(const Card& card, int code) {
  return {.capability = card.capability,
          .code = code,
          .multiprocessors = card.multiprocessors,
          .shared_memory = card.shared_memory_of_multiprocessor - 1024,
          .shared_memory_of_multiprocessor = card.shared_memory_of_multiprocessor,
          .kept_shared_memory = 1024,
          .largest_cluster = largest_cluster_of(card.capability, code),
          .cooperative = true};
}

template <class T>
class Shapes : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(Shapes, Elements);

/// test(card, properties), with the code of each capability that it may run.
template <class Test>
void on_each_card(Test test) {
  for (const Card& card : cards)
    for (const int code : {80, 86, 90, 100, 120}) {
      if (code > card.capability) continue;
      SCOPED_TRACE(testing::Message() << card.name << ", code for " << code);
      test(card, properties_of(card, code));
    }
}

template <class T>
std::size_t leaf_of_cholesky(const DeviceProperties& p) {
  return cholesky_leaf_steps<T>(p) == 2 ? sizeof(CholeskyShared<CholeskyShape<T, 2>>)
                                        : sizeof(CholeskyShared<CholeskyShape<T, 1>>);
}
template <class T>
std::size_t data_flow(const DeviceProperties& p) {
  return sync_free_order<T>(p) == 128 ? sync_free_shared_memory<T, 128> : sync_free_shared_memory<T, 64>;
}
template <class T>
std::size_t between_panels(const DeviceProperties& p, std::int64_t below) {
  const int rows = lookahead_tile_rows<T>(p, tuning_for(p).values, below);
  return rows == 128  ? lookahead_shared_memory<128, T>
         : rows == 64 ? lookahead_shared_memory<64, T>
                      : lookahead_shared_memory<32, T>;
}
template <class T>
std::size_t panel_of_lu(const DeviceProperties& p) {
  return widest_panel<T>(p) == most_panel_columns ? panel_shared_memory<T, most_panel_columns>
                                                  : panel_shared_memory<T, most_panel_columns / 2>;
}

TYPED_TEST(Shapes, of_the_solver_fit_every_card) {
  using T = TypeParam;
  on_each_card([](const Card& card, const DeviceProperties& p) {
    EXPECT_LE(leaf_of_cholesky<T>(p), p.shared_memory);
    EXPECT_LE(data_flow<T>(p), p.shared_memory);
    for (const std::int64_t below : {0, 1, 2048, 2049, 4096, 4097, 100000})
      EXPECT_LE(between_panels<T>(p, below), p.shared_memory) << below;
    EXPECT_LE(panel_of_lu<T>(p), p.shared_memory);
    EXPECT_LE((sizeof(NarrowShared < T, sizeof(T) == 4 ? 64 : 32 >)), p.shared_memory);
    EXPECT_LE(std::size_t(tile_start(16, 0)) * sizeof(T) + 16, p.shared_memory);
    // The tallest matrix that the card has memory for.
    const auto rows = std::int64_t(std::sqrt(card.gigabytes * 1e9 / sizeof(T)));
    EXPECT_LE(sizeof(TallPanelShared<T>) + sizeof(int) * std::size_t(ceil_div(rows, p.multiprocessors)),
              p.shared_memory);
  });
}

TYPED_TEST(Shapes, of_an_H200_are_the_largest) {
  using T = TypeParam;
  const DeviceProperties p = properties_of({"H200", 90, 132, 228 << 10, 141}, 90);
  EXPECT_EQ(cholesky_leaf_steps<T>(p), 2);
  EXPECT_EQ(sync_free_order<T>(p), 128);
  EXPECT_EQ(widest_panel<T>(p), 128);
  EXPECT_EQ(lookahead_tile_rows<T>(p, tuning_for(p).values, 2048), 32);
  EXPECT_EQ(lookahead_tile_rows<T>(p, tuning_for(p).values, 2049), 64);
  EXPECT_EQ(lookahead_tile_rows<T>(p, tuning_for(p).values, 4096), 64);
  EXPECT_EQ(lookahead_tile_rows<T>(p, tuning_for(p).values, 4097), 128);
}

/// What plans are lowered for is what kernels take, found from these alone. The cards are those of this file, and those that
/// `lasolve plan --card` knows.
TYPED_TEST(Shapes, of_plans_are_those_of_the_kernels) {
  using T = TypeParam;
  const auto expect_same = [](const DeviceProperties& p) {
    const Capabilities can = capabilities_of(p, tuning_for(p).values, precision_of<T>, 8192);
    const bool wide = panel_shared_memory<T, 128> <= p.shared_memory,
               two_steps = sizeof(CholeskyShared<CholeskyShape<T, 2>>) <= p.shared_memory;
    EXPECT_EQ(can.panel, wide ? 128 : 64);
    EXPECT_EQ(can.panel_in_place, can.panel);
    EXPECT_EQ(can.tall_panel, 32);
    EXPECT_EQ(can.rows_of_panel, 4 * 256 * p.cooperative_blocks());
    EXPECT_EQ(can.lookahead_update, 8 * PackedL11<T>::tiles);
    EXPECT_EQ(can.combined, 1024);
    EXPECT_EQ(can.cholesky_leaf, two_steps ? (CholeskyShape<T, 2>::order) : (CholeskyShape<T, 1>::order));
  };
  on_each_card([&](const Card&, const DeviceProperties& p) { expect_same(p); });
  for (const std::string& name : card_names()) {
    SCOPED_TRACE(name);
    expect_same(card(name));
  }
}

/// The device, and what it pretends to be: a plan that is drawn for it is the one that runs, unless its groups of multiprocessors have
/// no room for a cluster.
TYPED_TEST(Shapes, of_plans_that_run_are_those_of_plans_that_are_drawn_on_Cuda) {
  using T = TypeParam;
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  const Queue<Cuda> q(0);
  for (const std::int64_t n : {1, 128, 1000, 4096, 4097, 8192, 20000, 300000}) {
    SCOPED_TRACE(testing::Message() << "n = " << n);
    Capabilities drawn = capabilities_of(q.properties(), q.tuning(), precision_of<T>, n);
    if (!can_gather_rows(q, n)) drawn.rows_of_L_at_the_end = false, drawn.far_columns = 0;
    EXPECT_EQ(capabilities_of<T>(q, n, Recipe()), drawn);
  }
}

/// What is between two panels is one kernel on an A100, too, whose blocks have no room for tiles of 128 rows in fp64.
TYPED_TEST(Shapes, of_other_cards_are_as_large_as_there_is_room_for) {
  using T = TypeParam;
  constexpr bool fp64 = sizeof(T) == 8;
  const DeviceProperties a100 = properties_of({"A100", 80, 108, 164 << 10, 80}, 80),
                         rtx = properties_of({"RTX 4090", 89, 128, 100 << 10, 24}, 80);
  EXPECT_EQ(sync_free_order<T>(a100), 128);
  EXPECT_EQ(sync_free_order<T>(rtx), fp64 ? 64 : 128);
  EXPECT_EQ(widest_panel<T>(a100), 128);
  EXPECT_EQ(widest_panel<T>(rtx), fp64 ? 64 : 128);
  EXPECT_EQ(lookahead_tile_rows<T>(a100, tuning_for(a100).values, 10000), fp64 ? 64 : 128);
  EXPECT_EQ(lookahead_tile_rows<T>(rtx, tuning_for(rtx).values, 10000), fp64 ? 32 : 128);
  EXPECT_EQ(cholesky_leaf_steps<T>(a100), 1);
}

template <class In, bool a_k_major, bool b_k_major, class S = tensor_mma::Shape<In>>
constexpr std::size_t stages_of_product = S::stages * sizeof(In) *
                                          std::size_t(tensor_mma::Tiles<In, S::BM, a_k_major, false>::size +
                                                      tensor_mma::Tiles<In, S::BN, b_k_major, true>::size);

TYPED_TEST(Shapes, of_products_fit_every_card) {
  using In = TypeParam;
  EXPECT_LE((stages_of_product<In, false, false>), least_shared_memory);
  EXPECT_LE((stages_of_product<In, false, true>), least_shared_memory);
  EXPECT_LE((stages_of_product<In, true, false>), least_shared_memory);
  EXPECT_LE((stages_of_product<In, true, true>), least_shared_memory);
}

}  // namespace
}  // namespace lasolve::test
