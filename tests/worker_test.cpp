// What a worker tells, and what becomes of one that does not come back.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "worker/faults.hpp"

namespace lasolve::worker {
namespace {

Ending ending_with(const std::string& script, std::vector<Json>& received, double patience = 60) {
  Child child({"/bin/sh", "-c", script});
  return Supervisor(patience).listen(child, [&](const Json& m) {
    received.push_back(m);
    return !m.contains("enough");
  });
}

TEST(Worker, names_the_run_in_which_its_process_crashed) {
  std::vector<Json> received;
  const Ending end = ending_with(
      R"(echo '{"run":"mine","multiplications":1e3}' >&3; echo '{"progress":0.5}' >&3; kill -SEGV $$)", received);
  EXPECT_EQ(end.kind, Ending::ended);
  EXPECT_EQ(end.running, "mine");
  EXPECT_TRUE(end.in_run);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.how, "crashed (SIGSEGV: Segmentation fault)");
  EXPECT_FALSE(end.done);
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[1]["progress"], 0.5);
}

TEST(Worker, is_waited_for_as_long_as_its_run_may_take) {
  std::vector<Json> received;
  const Ending end = ending_with(R"(echo '{"run":"mine","multiplications":1e7}' >&3; exec sleep 30)", received, 0.1);
  EXPECT_EQ(end.kind, Ending::no_answer);
  EXPECT_NEAR(end.waited, 0.1 + 0.2, 1e-12);
  EXPECT_EQ(end.how, "gave no answer for 0.3 s");
}

TEST(Worker, is_heard_beside_what_a_kernel_writes) {
  std::vector<Json> received;
  const Ending end = ending_with(
      R"(echo kernel; echo 'a kernel {' >&3; echo 17 >&3; printf '{"run":"a\n' >&3; echo '{"run":null}' >&3; echo '{"done":5}' >&3)",
      received);
  EXPECT_EQ(end.kind, Ending::ended);
  EXPECT_EQ(end.done, 5);
  EXPECT_EQ(received.size(), 2u);
}

TEST(Worker, is_listened_to_until_that_is_enough_or_it_is_spoilt) {
  std::vector<Json> received;
  EXPECT_EQ(ending_with(R"(echo '{"enough":1}' >&3; exec sleep 30)", received).kind, Ending::interrupted);
  const Ending end = ending_with(R"(echo '{"spoilt":"mine","why":"left it"}' >&3; exec sleep 30)", received);
  EXPECT_EQ(end.kind, Ending::spoilt);
  EXPECT_EQ(end.running, "mine");
  EXPECT_EQ(end.how, "left it");
}

TEST(Worker, tells_a_long_line_whole) {
  std::vector<Json> received;
  ending_with(R"(printf '{"long":"%0100000d"}\n' 7 >&3)", received);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0]["long"].get<std::string>().size(), 100000u);
}

TEST(Worker, tells_faults_with_all_their_bits) {
  bench::Fault fault;
  fault.kind = bench::Fault::wrote_outside, fault.precision = Precision::bf16, fault.call = 3;
  fault.at.alpha = 0.1, fault.at.beta = -0.0, fault.at.spoil = bench::Spoil::infinity, fault.at.late = true;
  fault.ld[2] = 1ll << 40, fault.alignment[1] = 64, fault.only_concurrent = true;
  fault.element = {-1, 7, std::nan(""), -std::numeric_limits<double>::infinity(), 5e-324, 2, 9, 4};
  fault.called.of = 4, fault.called.b_transposed = true, fault.called.alignment[2] = 256;
  const bench::Fault back = parsed<bench::Fault>(Json::parse(serialized(fault).dump()));
  EXPECT_EQ(serialized(back), serialized(fault));
  EXPECT_EQ(back.kind, fault.kind);
  EXPECT_TRUE(std::isnan(back.element.expected));
  EXPECT_TRUE(std::signbit(back.at.beta));
  EXPECT_EQ(back.element.bound, 5e-324);
  EXPECT_EQ(back.element.lost_step, 4);
  EXPECT_EQ(back.called.alignment[2], 256);
}

}  // namespace
}  // namespace lasolve::worker
