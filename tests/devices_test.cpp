// CUDA devices that a build has no code for, drivers that are too old, memory that is elsewhere: what is decided and said. No
// device takes part.
#include "devices.hpp"
#include "core/choose.hpp"
#include "core/cuda_devices.hpp"
#include "core/memory_kind.hpp"

namespace lasolve::test::devices_test {
namespace {

constexpr CudaVersions new_driver{13000, 13000}, old_driver{12040, 13000};

DeviceCode code_of(const char* architectures, int capability, bool driver_compiles = true) {
  return code_for(capability, architectures_of(architectures), driver_compiles);
}

TEST(Architectures, are_read_as_cmake_names_them) {
  EXPECT_EQ(architectures_of("80-real;90a-real 90-virtual"),
            (std::vector<Architecture>{{80, '\0', true, false}, {90, 'a', true, false}, {90, '\0', false, true}}));
  EXPECT_EQ(architectures_of("120"), (std::vector<Architecture>{{120, '\0', true, true}}));
  EXPECT_EQ(architectures_of("100f-virtual"), (std::vector<Architecture>{{100, 'f', false, true}}));
  EXPECT_TRUE(architectures_of(" ;native;9;80-imaginary").empty());
  EXPECT_EQ(in_words(architectures_of("80-real;90a-real;90-virtual")), "8.0, 9.0a and PTX of 9.0");
  EXPECT_EQ(in_words(architectures_of("120-virtual")), "PTX of 12.0");
  EXPECT_EQ(in_words(architectures_of("80-real")), "8.0");
}

TEST(Architectures, of_machine_code_serve_later_devices_of_the_same_major_number) {
  for (const int capability : {80, 86, 89})
    EXPECT_EQ(code_of("80-real", capability), DeviceCode::machine) << capability;
  for (const int capability : {61, 75, 90, 100, 120}) EXPECT_EQ(code_of("80-real", capability), DeviceCode::none);
  EXPECT_EQ(code_of("86-real", 80), DeviceCode::none);
  EXPECT_EQ(code_of("90a-real", 90), DeviceCode::machine);
  EXPECT_EQ(code_of("100a-real", 103), DeviceCode::none);
  EXPECT_EQ(code_of("100f-real", 103), DeviceCode::machine);
  EXPECT_EQ(code_of("100f-real", 120), DeviceCode::none);
}

TEST(Architectures, of_ptx_serve_all_later_devices_if_the_driver_can_compile_it) {
  for (const int capability : {90, 100, 103, 120}) {
    EXPECT_EQ(code_of("80-real;90-virtual", capability), DeviceCode::ptx) << capability;
    EXPECT_EQ(code_of("80-real;90-virtual", capability, false), DeviceCode::none) << capability;
  }
  EXPECT_EQ(code_of("90-virtual;80-real", 86), DeviceCode::machine);
  EXPECT_EQ(code_of("90-virtual", 89), DeviceCode::none);
  EXPECT_EQ(code_of("90a-virtual", 100), DeviceCode::none);
  EXPECT_EQ(code_of("100f-virtual", 120), DeviceCode::none);
}

TEST(Architectures, that_a_device_lacks_are_named_with_the_least) {
  const auto ours = architectures_of("80-real;90a-real;90-virtual"), newer = architectures_of("100-real;120-real");
  for (const int capability : {80, 86, 89, 90, 100, 120}) EXPECT_EQ(why_no_code(capability, ours, new_driver), "");
  EXPECT_EQ(
      why_no_code(61, ours, new_driver),
      "has compute capability 6.1, and this build has code for 8.0, 9.0a and PTX of 9.0; lasolve needs 8.0 or later");
  const std::string rebuild = why_no_code(90, newer, new_driver);
  EXPECT_TRUE(says(rebuild, "compute capability 9.0, and this build has code for 10.0, 12.0;"));
  EXPECT_TRUE(says(rebuild, "90 in LASOLVE_CUDA_ARCHITECTURES"));
  EXPECT_TRUE(
      says(why_no_code(120, ours, old_driver), "the driver, for CUDA 12.4, is too old to compile PTX of CUDA 13.0"));
  EXPECT_EQ(why_no_code(89, ours, old_driver), "");
  EXPECT_EQ(why_no_code(61, {}, new_driver), "") << "what is not known is no reason";
}

TEST(Devices, that_are_not_there_are_explained) {
  EXPECT_EQ(explain({.versions = {0, 13000}}), "this machine has no CUDA driver");
  EXPECT_EQ(explain({.kind = NoDevices::too_old, .versions = {0, 13000}}), "this machine has no CUDA driver");
  EXPECT_EQ(explain({.kind = NoDevices::too_old, .versions = {12040, 13020}}),
            "the CUDA driver is for CUDA 12.4, and this build needs one for CUDA 13.0 or later");
  EXPECT_EQ(explain({.versions = new_driver, .visible = ""}), "no CUDA device is visible: CUDA_VISIBLE_DEVICES is ''");
  EXPECT_EQ(explain({.versions = new_driver}), "this machine has no CUDA device");
  EXPECT_EQ(explain({.kind = NoDevices::failed, .error = "out of memory", .versions = new_driver, .visible = "0"}),
            "CUDA cannot be used: out of memory");
}

/// Devices of a machine, and those of them that are asked whether they can be used.
struct Pretended {
  CudaDevices devices;
  std::vector<std::string> why_not;
  std::vector<int> asked = {};

  CudaHere here() {
    return {[this]() -> const CudaDevices& { return devices; },
            [this](int i) {
              asked.push_back(i);
              return why_not.at(std::size_t(i));
            }};
  }
};
Pretended old_and_new() {
  return {{{"Old", "New", "Newer"}, {61, 90, 120}}, {"has compute capability 6.1, which is little", "", ""}};
}
Options with(const char* gemm, Device device = {}) {
  Options o;
  o.gemm = gemm;
  o.device = device;
  return o;
}

TEST(ChoiceOfDevice, is_the_cpu_with_a_note_where_the_build_has_no_code_for_any) {
  Pretended old{{{"Old"}, {61}}, {"has compute capability 6.1, which is little"}};
  const Choice choice = choose(with("auto"), old.here());
  EXPECT_EQ(choice.device_name(), "cpu");
  ASSERT_EQ(choice.notes.size(), 1u);
  EXPECT_EQ(choice.notes[0], "the CPU was used: cuda:0 (Old) has compute capability 6.1, which is little");
  EXPECT_EQ(automatic_device(old.here()).kind, Device::cpu);
  const Choice named = choose(with("tiled"), old.here());
  EXPECT_EQ(named.device_name(), "cpu");
  ASSERT_EQ(named.notes.size(), 1u);
  EXPECT_TRUE(says(named.notes[0], "the CPU's 'tiled' was used: cuda:0 (Old) has compute capability 6.1"));
}

TEST(ChoiceOfDevice, by_name_is_an_error_where_the_build_has_no_code_for_it) {
  Pretended old{{{"Old"}, {61}}, {"has compute capability 6.1, which is little"}};
  for (const char* gemm : {"auto", "naive"}) {
    try {
      choose(with(gemm, {Device::cuda, 0}), old.here());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const NotHere& e) {
      EXPECT_STREQ(e.what(), "no CUDA device: cuda:0 (Old) has compute capability 6.1, which is little");
      EXPECT_EQ(e.instead.kind, Device::cpu);
    }
  }
  Pretended both = old_and_new();
  EXPECT_TRUE(says(complaint_of<MachineError>([&] {
                     choose(with("auto", {Device::cuda, 3}), both.here());
                   }),
                   "this machine has cuda:0 to cuda:2"));
}

TEST(ChoiceOfDevice, is_the_first_that_can_be_used_and_no_further_one_is_asked) {
  Pretended both = old_and_new();
  const Device device = automatic_device(both.here());
  EXPECT_EQ(device.kind, Device::cuda);
  EXPECT_EQ(device.index, 1);
  EXPECT_EQ(both.asked, (std::vector{0, 1}));
  if (gemm_backends<Cuda>().empty()) GTEST_SKIP() << "this build has no backends for CUDA";
  EXPECT_EQ(choose(with("auto"), both.here()).device_name(), "cuda:1");
  EXPECT_EQ(choose(with("tiled"), both.here()).device_name(), "cuda:1");
  EXPECT_EQ(choose(with("auto", {Device::cuda, 2}), both.here()).device_name(), "cuda:2");
}

TEST(ChoiceOfDevice, asks_nothing_of_cuda_where_the_cpu_is_meant) {
  const CudaHere nobody{[]() -> const CudaDevices& { throw std::logic_error("CUDA was asked"); }, {}};
  EXPECT_EQ(choose(with("auto", {Device::cpu, 0}), nobody).device_name(), "cpu");
}

TEST(ChoiceOfDevice, notes_a_driver_that_fails_but_not_that_there_is_none) {
  Pretended none{{.why_none = "this machine has no CUDA driver"}, {}};
  EXPECT_TRUE(choose(with("auto"), none.here()).notes.empty());
  Pretended fails{{.why_none = "the CUDA driver is old", .driver_fails = true}, {}};
  const Choice choice = choose(with("auto"), fails.here());
  ASSERT_EQ(choice.notes.size(), 1u);
  EXPECT_EQ(choice.notes[0], "the CPU was used: the CUDA driver is old");
}

TEST(Memory, that_is_elsewhere_is_named) {
  const MemoryKind unknown, pinned{MemoryKind::host}, on_0{MemoryKind::device, 0}, on_1{MemoryKind::device, 1},
      managed{MemoryKind::managed, 1};
  for (const MemoryKind& its : {unknown, pinned, managed}) EXPECT_EQ(why_not_on_host(its), "");
  EXPECT_TRUE(says(why_not_on_host(on_1), "points to memory of cuda:1"));
  EXPECT_EQ(why_not_on_device(on_0, 0), "");
  EXPECT_EQ(why_not_on_device(managed, 0), "");
  EXPECT_EQ(why_not_on_device(on_1, 0), "on cuda:1, but the solver is on cuda:0");
  EXPECT_TRUE(says(why_not_on_device(pinned, 0), "pinned memory of the host"));
  EXPECT_TRUE(says(why_not_on_device(unknown, 0), "points to none"));
}

TEST(Memory, of_views_is_looked_at_from_the_first_to_the_last_element) {
  const double memory[20] = {};
  const Ends all{MatrixView<const double>(memory, 3, 4, 5)}, none{MatrixView<const double>(memory, 0, 4, 5)};
  EXPECT_EQ(all.first, memory);
  EXPECT_EQ(all.last, memory + 17);
  EXPECT_EQ(none.first, nullptr);
  EXPECT_EQ(none.last, nullptr);
  EXPECT_NO_THROW(require_on_host("B", all));
  EXPECT_NO_THROW(require_on_device("B", none, 0));
  EXPECT_NO_THROW(require_on_some_device("B", none));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { require_on_device("B", all, 0); }),
                   "B is a view of device memory, but points to none"));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { require_on_some_device("B", all); }),
                   "B is a view of device memory, but points to none"));
}

}  // namespace
}  // namespace lasolve::test::devices_test
