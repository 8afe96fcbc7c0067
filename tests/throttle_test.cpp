// Whether it is seen that a clock was held down: by files of Linux and a library of NVIDIA that are planted here.
#include "bench/throttle.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/cuda_devices.hpp"
#include "planted_nvml.hpp"

namespace lasolve::bench {
namespace {

namespace fs = std::filesystem;

constexpr auto some_time = std::chrono::milliseconds(20);

/// What is told of a run in which something happens.
template <class Happens>
Slowed run(Throttle& throttle, Happens happens) {
  Slowed slowed;
  throttle.begin();
  std::this_thread::sleep_for(some_time);
  happens();
  throttle.end(slowed);
  return slowed;
}
void nothing() {}

/// The processors of a system, in a folder.
class Processors {
 public:
  ~Processors() { fs::remove_all(folder_); }
  void count(const std::string& processor, const std::string& of, const std::string& times) const {
    const fs::path file = path(processor, of);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << times << "\n";
  }
  fs::path path(const std::string& processor, const std::string& of) const {
    return folder_ / processor / "thermal_throttle" / (of + "_throttle_count");
  }
  Throttle throttle() const { return Throttle::of_cpu(folder_); }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("lasolve-throttle-" + std::to_string(getpid()));
};

TEST(ThrottleOnCpu, is_seen_where_a_count_rises) {
  const Processors processors;
  for (const char* name : {"cpu0", "cpu11"})
    for (const char* of : {"core", "package"}) processors.count(name, of, "7");
  Throttle throttle = processors.throttle();
  ASSERT_TRUE(throttle.is_known());
  const Slowed quiet = run(throttle, nothing);
  EXPECT_EQ(quiet.held_seconds, 0);
  EXPECT_GE(quiet.seconds, 0.02);
  EXPECT_EQ(run(throttle, [&] { processors.count("cpu11", "core", "8"); }).share(), 1);
  EXPECT_EQ(run(throttle, [&] { processors.count("cpu0", "package", "9"); }).share(), 1);
  EXPECT_EQ(run(throttle, nothing).share(), 0) << "it was before";
  EXPECT_EQ(throttle.clocks(), Clocks());
}

/// While it lives, this process can open so many files more. UndefinedBehaviorSanitizer opens two when it first meets a type, so what
/// runs under it has run before.
class FewFiles {
 public:
  explicit FewFiles(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY);
    close(next);
    rlimit few = before_;
    few.rlim_cur = rlim_t(next + more);
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(ThrottleOnCpu, opens_nothing_around_a_run) {
  const Processors processors;
  processors.count("cpu0", "core", "0");
  Throttle throttle = processors.throttle();
  std::ofstream count(processors.path("cpu0", "core"));
  const FewFiles none(0);
  EXPECT_EQ(run(throttle, [&] { count << "1\n" << std::flush; }).share(), 1);
  EXPECT_EQ(run(throttle, nothing).share(), 0);
}

TEST(ThrottleOnCpu, does_with_fewer_files_than_there_are_counts) {
  const Processors processors;
  for (const char* name : {"cpu0", "cpu1", "cpu2"}) processors.count(name, "core", "0");
  Throttle before = processors.throttle();
  EXPECT_EQ(run(before, nothing).share(), 0);
  before = Throttle();
  const FewFiles two(2);  // the folder, and one count
  Throttle throttle = processors.throttle();
  for (const char* name : {"cpu0", "cpu1", "cpu2"})
    EXPECT_EQ(run(throttle, [&] { processors.count(name, "core", "1"); }).share(), 1) << name;
}

TEST(ThrottleOnCpu, adds_runs_up) {
  const Processors processors;
  processors.count("cpu0", "core", "0");
  Throttle throttle = processors.throttle();
  Slowed all;
  for (int i = 0; i < 4; ++i) {
    throttle.begin();
    std::this_thread::sleep_for(some_time);
    if (i == 2) processors.count("cpu0", "core", "1");
    throttle.end(all);
  }
  EXPECT_GT(all.held_seconds, 0.019);
  EXPECT_LT(all.held_seconds, all.seconds - 0.055) << "three of four runs were not slowed";
}

TEST(ThrottleOnCpu, is_not_told_where_nothing_counts) {
  Processors processors;
  EXPECT_FALSE(processors.throttle().is_known()) << "there is no such folder";
  processors.count("cpu0", "other", "1");
  Throttle throttle = processors.throttle();
  EXPECT_FALSE(throttle.is_known());
  EXPECT_EQ(run(throttle, nothing).seconds, 0);
}

const char* const bus_id = "0000:1b:00.0";

class ThrottleByNvml : public testing::Test {
 protected:
  ThrottleByNvml() : library_(dlopen(LASOLVE_PLANTED_NVML, RTLD_NOW)) {
    planted_ = library_ ? static_cast<PlantedNvml*>(dlsym(library_, "planted")) : nullptr;
    if (planted_) *planted_ = {};
  }
  ~ThrottleByNvml() override {
    if (library_) dlclose(library_);
  }
  void SetUp() override { ASSERT_TRUE(planted_) << dlerror(); }
  static Throttle throttle() { return Throttle::of_cuda(bus_id, LASOLVE_PLANTED_NVML); }

  void* library_;
  PlantedNvml* planted_;
};

TEST_F(ThrottleByNvml, counts_the_longer_of_power_and_heat) {
  planted_->power_nanoseconds = 1'000'000'000'000, planted_->thermal_nanoseconds = 5;
  Throttle throttle = this->throttle();
  ASSERT_TRUE(throttle.is_known());
  EXPECT_EQ(run(throttle, nothing).held_seconds, 0) << "it was before";
  const Slowed slowed = run(throttle, [&] {
    planted_->power_nanoseconds += 4'000'000, planted_->thermal_nanoseconds += 3'000'000;
    planted_->reasons = 0x4;
  });
  EXPECT_NEAR(slowed.held_seconds, 0.004, 1e-9);
  EXPECT_GE(slowed.seconds, 0.02);
  EXPECT_NEAR(run(throttle, [&] { planted_->thermal_nanoseconds += 5'000'000; }).held_seconds, 0.005, 1e-9);
  EXPECT_EQ(run(throttle, [&] { planted_->power_nanoseconds += 9'000'000'000'000; }).share(), 1) << "it is a share";
}

TEST_F(ThrottleByNvml, asks_for_reasons_where_times_are_not_counted) {
  planted_->counts = false;
  Throttle throttle = this->throttle();
  ASSERT_TRUE(throttle.is_known());
  planted_->reasons = 0x1 | 0x2 | 0x10 | 0x100;  // idle, and what people set
  EXPECT_EQ(run(throttle, nothing).share(), 0);
  for (const unsigned long long reason : {0x4, 0x8, 0x20, 0x40, 0x80}) {
    planted_->reasons = 0;
    EXPECT_EQ(run(throttle, [&] { planted_->reasons = 0x1 | reason; }).share(), 1) << reason;
    EXPECT_EQ(run(throttle, [&] { planted_->reasons = 0; }).share(), 1) << "it was so before: " << reason;
  }
}

TEST_F(ThrottleByNvml, keeps_the_least_and_the_most_clock) {
  Throttle throttle = this->throttle();
  for (const unsigned mhz : {0, 1755, 1980, 1600, 1700}) run(throttle, [&] { planted_->mhz = mhz; });
  EXPECT_EQ(throttle.clocks(), (Clocks{1600, 1980}));
}

TEST_F(ThrottleByNvml, is_not_told_without_the_library_the_device_or_an_answer) {
  EXPECT_FALSE(Throttle::of_cuda(bus_id, "libno-such-library.so.1").is_known());
  EXPECT_FALSE(Throttle::of_cuda(bus_id, "libm.so.6").is_known()) << "it has none of the functions";
  EXPECT_FALSE(Throttle::of_cuda("0000:00:00.0", LASOLVE_PLANTED_NVML).is_known());
  EXPECT_FALSE(Throttle::of_cuda("", LASOLVE_PLANTED_NVML).is_known());
  planted_->counts = planted_->tells_reasons = false;
  Throttle throttle = this->throttle();
  EXPECT_FALSE(throttle.is_known());
  EXPECT_EQ(run(throttle, nothing).seconds, 0);
}

TEST(ThrottleOfCuda, is_asked_for_by_the_bus_id_that_the_device_has) {
  if (!why_no_cuda_device(0).empty()) GTEST_SKIP() << why_no_cuda_device(0);
  const std::string id = pci_bus_id(0);
  EXPECT_EQ(std::count(id.begin(), id.end(), ':'), 2) << id;
  EXPECT_EQ(pci_bus_id(int(cuda_devices().names.size())), "");
  Throttle throttle = Throttle::of({Device::cuda, 0});
  if (!throttle.is_known()) GTEST_SKIP() << "this driver does not tell";
  const Slowed slowed = run(throttle, nothing);
  EXPECT_GE(slowed.share(), 0);
  EXPECT_GT(throttle.clocks().most, 100u);
  EXPECT_LT(throttle.clocks().most, 10000u);
}

}  // namespace
}  // namespace lasolve::bench
