// The words of enumerators: each has one, no two share one, and each is read back.
#include "lasolve/names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "bench/conformance.hpp"

namespace lasolve::test {
namespace {

/// What the compiler calls a value: an enumerator by its name, any other value by a cast.
template <auto value>
constexpr std::string_view called() {
  const std::string_view function = __PRETTY_FUNCTION__;
  const std::size_t begin = function.find("value = ") + 8;
  return function.substr(begin, function.find_first_of(";]", begin) - begin);
}

/// Those of the first 64 values that are enumerators. These begin with 0 in every enumeration of ours.
template <class Enum>
std::set<int> enumerators() {
  constexpr auto names = []<int... i>(std::integer_sequence<int, i...>) {
    return std::array{called<static_cast<Enum>(i)>()...};
  }
  (std::make_integer_sequence<int, 64>());
  std::set<int> found;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].find(')') == std::string_view::npos) found.insert(int(i));
  return found;
}

template <class Enum>
class NamesOf : public testing::Test {};
using Enumerations = testing::Types<Method, Refine, Schedule, Uplo, Op, Device::Kind, Precision, Outcome::Kind, Phase,
                                    bench::Fault::Kind>;
TYPED_TEST_SUITE(NamesOf, Enumerations);

TYPED_TEST(NamesOf, every_enumerator_once) {
  std::set<int> named;
  std::set<std::string> words;
  for (const auto& name : Names<TypeParam>::all) {
    EXPECT_TRUE(named.insert(int(name.value)).second) << name.word << " is a second word";
    EXPECT_TRUE(words.insert(name.word).second) << name.word << " means two";
  }
  EXPECT_EQ(named, enumerators<TypeParam>());
  EXPECT_GE(named.size(), 2u);
}

TYPED_TEST(NamesOf, are_read_back) {
  for (const auto& name : Names<TypeParam>::all) EXPECT_EQ(parse<TypeParam>(name_of(name.value)), name.value);
  EXPECT_EQ(words_of<TypeParam>().size(), std::size(Names<TypeParam>::all));
  for (const char* wrong : {"", "no such word", "AUTO", "aut"}) EXPECT_FALSE(parse<TypeParam>(wrong)) << wrong;
}

TEST(Names, of_phases_are_as_many_as_phases) { EXPECT_EQ(words_of<Phase>().size(), phase_count); }

TEST(Names, of_precisions_are_those_that_a_product_can_have_and_automatic) {
  std::vector<std::string> words = {name_of(Precision::automatic)};
  for_each_precision([&](auto P) { words.push_back(name_of(P())); });
  EXPECT_EQ(words, words_of<Precision>());
}

TEST(Names, of_devices_have_an_index_on_cuda) {
  for (const Device device : {Device{}, Device{Device::cpu, 0}, Device{Device::cuda, 0}, Device{Device::cuda, 12}}) {
    const auto read = parse_device(name_of(device));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, device.kind);
    EXPECT_EQ(read->index, device.index);
  }
  EXPECT_EQ(name_of(Device{Device::cuda, 12}), "cuda:12");
  EXPECT_EQ(parse_device("cuda")->kind, Device::cuda);
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cpu:0", "auto:0", ":1"})
    EXPECT_FALSE(parse_device(wrong)) << wrong;
}

}  // namespace
}  // namespace lasolve::test
