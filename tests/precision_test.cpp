// The 16-bit elements, against Eigen's, and the list of precisions.
#include "lasolve/names.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>

namespace lasolve::test {
namespace {

template <class Ours>
class Half : public testing::Test {
 public:
  using Eigens = std::conditional_t<std::is_same_v<Ours, fp16>, Eigen::half, Eigen::bfloat16>;

  static float widened_by_eigen(std::uint16_t bits) { return float(Eigen::numext::bit_cast<Eigens>(bits)); }
  static void expect_rounded_as_by_eigen(float x) {
    const Ours ours(x);
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(float(ours)));
      ASSERT_EQ(std::signbit(float(ours)), std::signbit(x));
    } else {
      ASSERT_EQ(ours.bits, Eigen::numext::bit_cast<std::uint16_t>(Eigens(x))) << x;
    }
  }
};
using Halves = testing::Types<fp16, bf16>;
TYPED_TEST_SUITE(Half, Halves);

TYPED_TEST(Half, is_widened_exactly_and_back) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    TypeParam x;
    x.bits = std::uint16_t(bits);
    const float wide = x, expected = this->widened_by_eigen(x.bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide) && std::isnan(float(TypeParam(wide)))) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide), std::bit_cast<std::uint32_t>(expected)) << bits;
      ASSERT_EQ(TypeParam(wide).bits, bits);
    }
  }
}

/// Between any two neighbours: what is next to each, the middle, and what is next to the middle.
TYPED_TEST(Half, is_rounded_to_nearest_and_ties_to_even) {
  for (std::uint32_t bits = 0; bits < 0x7fff; ++bits) {
    TypeParam low, high;
    low.bits = std::uint16_t(bits), high.bits = std::uint16_t(bits + 1);
    if (!std::isfinite(float(low))) break;
    const float beyond = float(low) + (float(low) - this->widened_by_eigen(std::uint16_t(bits - 1)));
    const float middle = std::isfinite(float(high)) ? float((double(low) + double(high)) / 2)
                                                    : float((double(low) + double(beyond)) / 2);
    for (const float x : {float(low), middle, float(high)})
      for (const float near : {std::nextafter(x, 0.0f), x, std::nextafter(x, std::numeric_limits<float>::infinity())}) {
        this->expect_rounded_as_by_eigen(near);
        this->expect_rounded_as_by_eigen(-near);
      }
  }
}

TYPED_TEST(Half, rounds_every_kind_of_float) {
  for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += 65521)
    this->expect_rounded_as_by_eigen(std::bit_cast<float>(std::uint32_t(bits)));
}

static_assert(fp16(1.0f).bits == 0x3c00 && fp16(65520.0f).bits == 0x7c00 && float(fp16(0x1p-24f)) == 0x1p-24f);
static_assert(bf16(1.0f).bits == 0x3f80 && float(bf16(0x1.01p0f)) == 1 && float(bf16(0x1.03p0f)) == 0x1.04p0f);
static_assert(sizeof(fp16) == 2 && sizeof(bf16) == 2 && std::is_trivially_copyable_v<fp16>);

/// The oracle rounds in double, by adding and taking away what has no room for the last 13 bits.
TEST(Tf32, is_rounded_to_nearest_and_ties_to_even) {
  for (std::uint64_t bits = 0; bits < 0x7f800000; bits += 997) {
    const float x = std::bit_cast<float>(std::uint32_t(bits));
    if (x < std::numeric_limits<float>::min()) continue;
    const double unit = std::ldexp(1.0, std::ilogb(x) - 10), expected = std::nearbyint(double(x) / unit) * unit;
    ASSERT_EQ(rounded_to_tf32(x), float(expected)) << x;
    ASSERT_EQ(rounded_to_tf32(-x), -float(expected)) << x;
  }
  for (const float half : {0x1.001p0f, 0x1.003p0f})  // as near to either neighbour
    EXPECT_EQ(rounded_to_tf32(half), half == 0x1.001p0f ? 1 : 0x1.004p0f);
  EXPECT_EQ(rounded_to_tf32(0x1p-149f), 0);
  EXPECT_TRUE(std::isnan(rounded_to_tf32(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(rounded_to_tf32(std::bit_cast<float>(0x7f800001u))));
  EXPECT_TRUE(std::isinf(rounded_to_tf32(std::numeric_limits<float>::infinity())));
}

TEST(SolvePrecisions, go_from_the_finest_to_the_coarsest) {
  double before = 0;
  for (const SolvePrecision& p : solve_precisions) {
    EXPECT_EQ(find_solve_precision(p.name), &p);
    EXPECT_GE(p.unit_roundoff(), before) << name_of(p.name);
    before = p.unit_roundoff();
    EXPECT_EQ(p.residual, Precision::automatic) << "which a recipe alone has";
    for_precision(p.products, [&](auto P) {  // operands are given as they are stored, or rounded before
      const bool is_stored = sizeof(typename Arithmetic<P()>::Operand) == std::size_t(bytes_of(p.storage));
      EXPECT_NE(is_stored, rounding_of_operands(P()) > 0) << name_of(p.name);
    });
  }
  EXPECT_EQ(find_solve_precision(Precision::automatic), nullptr);
  EXPECT_FALSE(is_coarser_than<double>(Precision::fp64) || is_coarser_than<double>(Precision::automatic));
  EXPECT_TRUE(is_coarser_than<double>(Precision::fp32) && is_coarser_than<float>(Precision::tf32));
  EXPECT_FALSE(is_coarser_than<float>(Precision::fp32));
}

TEST(PrecisionList, has_each_once_with_a_name) {
  std::string names;
  for_each_precision([&](auto P) { names += name_of(P()) + std::string(" "); });
  EXPECT_EQ(names, "fp64 fp32 tf32 fp16 bf16 ");
  EXPECT_STREQ(name_of(Precision::automatic), "auto");
}

}  // namespace
}  // namespace lasolve::test
