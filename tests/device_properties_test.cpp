// What devices have, and what they pretend to have.
#include "core/device_properties.hpp"

#include <cstdlib>

#include "cards.hpp"
#include "devices.hpp"

namespace lasolve::test {
namespace {

TEST(DeviceProperties, of_a_pretended_card_are_what_its_data_sheet_says) {
  const DeviceProperties a100 = pretend(h200(), "a100"), rtx = pretend(h200(), "rtx4090"),
                         mig = pretend(h200(), "mig-1g");
  for (const DeviceProperties& p : {a100, rtx, mig}) {
    EXPECT_TRUE(p.pretended);
    EXPECT_FALSE(p.has_clusters_of(2));
    EXPECT_TRUE(p.has_clusters_of(1) && p.cooperative);
  }
  const DeviceProperties small_clusters = pretend(h200(), "rtx5090");
  EXPECT_TRUE(small_clusters.has_clusters_of(8));
  EXPECT_FALSE(small_clusters.has_clusters_of(16) || small_clusters.runs_code_for_90a);
  EXPECT_EQ(small_clusters.multiprocessors, 132);
  EXPECT_EQ(a100.shared_memory, 166912);
  EXPECT_EQ(rtx.shared_memory, 101376);
  EXPECT_EQ(mig.shared_memory, 232448);
  EXPECT_EQ(a100.multiprocessors, 108);
  EXPECT_EQ(rtx.multiprocessors, 128);
  EXPECT_EQ(mig.multiprocessors, 16);
  EXPECT_EQ(a100.capability, 80);
  EXPECT_EQ(rtx.capability, 89);
  EXPECT_EQ(rtx.fp32_per_fp64, 64);
  EXPECT_FALSE(a100.can_begin_early() || rtx.can_begin_early() || a100.runs_code_for_90a || rtx.runs_code_for_90a);
  EXPECT_TRUE(mig.can_begin_early() && mig.runs_code_for_90a);
}

TEST(DeviceProperties, pretend_to_no_more_than_there_is) {
  DeviceProperties small = pretend(h200(), "rtx4090");
  small.multiprocessors = 20;
  for (const char* name : {"a100", "rtx4090", "rtx5090", "mig-1g"}) {
    const DeviceProperties p = pretend(small, name);
    EXPECT_LE(p.multiprocessors, 20);
    EXPECT_LE(p.shared_memory, 101376);
    EXPECT_LE(p.capability, 89);
    EXPECT_FALSE(p.can_begin_early());
  }
  EXPECT_EQ(pretend(h200(), ""), h200());
  EXPECT_TRUE(
      says(complaint_of<std::invalid_argument>([] { pretend(h200(), "a1000"); }), "a100, rtx4090, rtx5090 or mig-1g"));
}

/// Code of 8.0 knows neither clusters nor how to wait for the kernel before, whatever device it is loaded on.
TEST(DeviceProperties, follow_the_code_that_is_loaded) {
  DeviceProperties p = h200();
  p.code = 80;
  EXPECT_FALSE(p.can_begin_early());
  EXPECT_EQ(largest_cluster_of(90, 80), 1);
  EXPECT_EQ(largest_cluster_of(120, 80), 1);
  EXPECT_EQ(largest_cluster_of(89, 80), 1);
  EXPECT_EQ(largest_cluster_of(90, 90), 16);
  EXPECT_EQ(largest_cluster_of(100, 90), 16);
  EXPECT_EQ(largest_cluster_of(103, 100), 16);
  EXPECT_EQ(largest_cluster_of(120, 90), 8);
  EXPECT_EQ(largest_cluster_of(121, 120), 8);
}

/// Else a suite that is run as another card would pass as the real one.
TEST(DeviceProperties, are_those_that_the_environment_names_on_Cuda) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  const Queue<Cuda> q(0);
  const DeviceProperties& p = q.properties();
  EXPECT_GE(p.code, 80);
  EXPECT_LE(p.code, p.capability);
  EXPECT_EQ(q.multiprocessors(), p.multiprocessors);
  EXPECT_EQ(q.shared_memory(), p.shared_memory);
  EXPECT_EQ(q.has_clusters(), p.has_clusters_of(16));
  const char* name = std::getenv("LASOLVE_PRETEND");
  EXPECT_EQ(p.pretended, name && *name);
  EXPECT_EQ(pretend(p, name ? name : ""), p) << "it has more than it pretends";
}

}  // namespace
}  // namespace lasolve::test
