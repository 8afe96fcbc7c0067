// What queues wait for, and what their phases are.
#include <array>
#include <set>

#include "core/cuda/launch.cuh"
#include "core/traffic.hpp"
#include "devices.hpp"

namespace lasolve::test {
namespace {

constexpr unsigned late_by_ms = 10;

/// *to ← value, after a while.
__global__ void write_late(int* to, int value, unsigned milliseconds) {
  const auto now = [] {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  for (const auto began = now(); now() - began < milliseconds * 1000000ull;) {
  }
  *to = value;
}

/// to(i) ← the multiprocessor of block i, which stays there for a while.
__global__ void say_where(int* to) {
  int where;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(where));
  const auto began = clock64();
  while (clock64() - began < 100'000) {
  }
  to[blockIdx.x] = where;
}

class QueueOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    Queue<Cuda> q(0);
    last = upload(q, Matrix<int>(1, 1)), copies = upload(q, Matrix<int>(rounds, 1));
  }
  void write(Queue<Cuda>& q, int value) { launch(q, write_late, 1, 1, last.data(), value, late_by_ms); }
  void copy_to(Queue<Cuda>& q, int round) { copy_within(q, copies.data() + round, last.data(), sizeof(int)); }
  void expect_each(Queue<Cuda>& q) {
    q.finish();
    const Matrix<int> here = download(q, copies);
    for (int round = 0; round < rounds; ++round) EXPECT_EQ(here(round, 0), round + 1);
  }

  static constexpr int rounds = 8;
  Matrix<int, Cuda> last, copies;
};

TEST_F(QueueOnCuda, on_some_multiprocessors_has_none_that_the_others_have) {
  constexpr int some = 40, blocks = 1000;
  Queue<Cuda> q(0);
  if (!q.can_share_out(some)) GTEST_SKIP() << "multiprocessors are not shared out here";
  std::array<std::set<int>, 2> where;
  std::array<Matrix<int, Cuda>, 2> said;
  for (const bool others : {false, true}) {
    Queue<Cuda>& part = q.on(others ? -some : some);
    EXPECT_EQ(&part, &q.on(others ? -some : some));
    said[others] = upload(q, Matrix<int>(blocks, 1));
    part.join(q);
    launch(part, say_where, blocks, 1024, said[others].data());
  }
  q.finish();
  for (const bool others : {false, true}) {
    const Matrix<int> here = download(q, said[others]);
    for (int i = 0; i < blocks; ++i) where[others].insert(here(i, 0));
    EXPECT_EQ(int(where[others].size()), q.on(others ? -some : some).multiprocessors());
  }
  EXPECT_GE(int(where[0].size()), some);
  EXPECT_EQ(int(where[0].size() + where[1].size()), q.multiprocessors());
  for (const int multiprocessor : where[0]) EXPECT_EQ(where[1].count(multiprocessor), 0u);
}

TEST_F(QueueOnCuda, waits_again_for_what_another_was_given_since) {
  Queue<Cuda> reader(0), writer(0);
  for (int round = 0; round < rounds; ++round) {
    writer.wait(reader);
    write(writer, round + 1);
    reader.wait(writer);
    reader.wait(writer);
    copy_to(reader, round);
  }
  expect_each(reader);
}

TEST_F(QueueOnCuda, waits_for_one_that_has_only_waited) {
  Queue<Cuda> reader(0), between(0), writer(0);
  for (int round = 0; round < rounds; ++round) {
    writer.join(reader);
    write(writer, round + 1);
    between.join(writer);
    reader.join(between);
    copy_to(reader, round);
  }
  expect_each(reader);
}

TEST_F(QueueOnCuda, is_waited_for_after_it_has_waited_for_a_stream) {
  Queue<Cuda> reader(0), writer(0), other(0);
  for (int round = 0; round < rounds; ++round) {
    writer.wait(reader);
    write(writer, round + 1);
    writer.wait(other.stream());  // by the event that says what the writer was given
    reader.wait(writer);
    copy_to(reader, round);
  }
  expect_each(reader);
}

TEST_F(QueueOnCuda, finishes_those_ahead_and_beside_it) {
  for (const bool joined : {false, true})
    for (const bool timed : {false, true}) {
      Queue<Cuda> q(0);
      for (int round = 0; round < rounds; ++round) {
        Queue<Cuda>& other = round % 2 ? q.ahead() : q.beside();
        if (timed) other.phase(Phase::gemm, 1);
        write(other, round + 1);
        if (joined) q.join(other);
        q.finish();
        copy_to(q, round);
        q.finish();
      }
      expect_each(q);
    }
}

TEST_F(QueueOnCuda, has_times_of_phases_with_work_and_all_operations) {
  Queue<Cuda> q(0);
  for (int again = 0; again < 2; ++again) {
    q.phase(Phase::other);
    q.phase(Phase::panel, 3);
    write(q, 1);
    q.phase(Phase::panel, 4);
    write(q, 2);
    q.phase(Phase::swap);
    q.phase(Phase::gemm, 5);
    q.add_flops(1);
    q.phase(Phase::trsm);
    q.finish();
    const PhaseTimes times = q.take_times();
    EXPECT_GT(times.seconds_of(Phase::panel), 1e-3 * late_by_ms);  // two kernels of more than that
    for (const Phase none : {Phase::other, Phase::swap, Phase::trsm}) EXPECT_EQ(times.seconds_of(none), 0);
    EXPECT_EQ(times.flops_of(Phase::panel), 7);
    EXPECT_EQ(times.flops_of(Phase::gemm), 6);
  }
}

}  // namespace
}  // namespace lasolve::test
