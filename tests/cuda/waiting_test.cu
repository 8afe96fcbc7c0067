// How blocks wait for each other: packets, tickets, barriers, for how long, and in which order whole grids.
#include "core/cuda/launch.cuh"
#include "core/traffic.hpp"
#include "solvers/devices/cuda/messages.cuh"
//
#include "devices.hpp"
#include "holder.cuh"
#include "systems.hpp"

namespace lasolve::test {
namespace {

class Waiting : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  }
};

constexpr std::uint64_t ticks_of_50_ms = 48;

/// Waits for the first packet, after its halves `low` and `high` have been written.
__global__ void receive(PacketChannel channel, bool low, bool high, std::uint64_t* content, unsigned* received) {
  if (low) channel.packets->low = with_sequence(5, channel.sequence);
  if (high) channel.packets->high = with_sequence(7, channel.sequence);
  __threadfence();
  *received = receive_packets<1>(channel.packets, channel.sequence, content, channel.limit, {Awaited::nothing, 3, 7});
}

struct Received {
  std::string complaint;
  bool received;
  std::uint64_t content;
};
Received received(bool low, bool high) {
  Queue<Cuda> q(0);
  q.wait_limit()->ticks = ticks_of_50_ms;
  Matrix<std::uint64_t, Cuda> content(1, 1);
  Matrix<unsigned, Cuda> received(1, 1);
  launch(q, receive, Blocks::independent, dim3(1), 1, 0, channel_of(q, sizeof(Packet), 1), low, high, content.data(),
         received.data());
  std::string complaint;
  try {
    q.finish();
  } catch (const MachineError& error) {
    complaint = error.what();
  }
  Queue<Cuda> other(0);
  return {complaint, download(other, received)(0, 0) != 0, download(other, content)(0, 0)};
}

TEST_F(Waiting, takes_a_packet_when_both_of_its_words_have_come_on_Cuda) {
  const Received whole = received(true, true);
  EXPECT_EQ(whole.complaint, "");
  EXPECT_TRUE(whole.received);
  EXPECT_EQ(whole.content, std::uint64_t(7) << 32 | 5);
  for (const bool low : {false, true}) {
    const Received half = received(low, !low);
    EXPECT_TRUE(says(half.complaint, "a kernel waited 50 ms for packet 3 of 7"));
    EXPECT_FALSE(half.received);
  }
}

TEST_F(Waiting, in_vain_is_an_error_of_its_queue_and_of_no_other_on_Cuda) {
  Queue<Cuda> q(0);
  Queue<Cuda>& ahead = q.ahead();
  ahead.wait_limit()->ticks = ticks_of_50_ms;
  Matrix<std::uint64_t, Cuda> content(1, 1);
  Matrix<unsigned, Cuda> received(1, 1);
  const auto wait_in = [&](Queue<Cuda>& q, bool written) {
    launch(q, receive, Blocks::independent, dim3(1), 1, 0, channel_of(q, sizeof(Packet), 1), written, written,
           content.data(), received.data());
    q.finish();
  };
  const char* what = "waited 50 ms for packet 3 of 7: another program";
  EXPECT_TRUE(says(complaint_of<MachineError>([&] { wait_in(ahead, false); }), what));
  EXPECT_TRUE(says(complaint_of<MachineError>([&] { wait_in(ahead, true); }), what)) << "takes no more work";
  EXPECT_TRUE(says(complaint_of<MachineError>([&] { ahead.finish(); }), what));
  EXPECT_TRUE(says(complaint_of<MachineError>([&] { q.finish(); }), what)) << "the queue that it is ahead of";
  Queue<Cuda> other(0);
  EXPECT_NO_THROW(wait_in(other, true));
}

/// Every block tells every other of each round; `wrong` counts what was not told.
__global__ void meet_often(int rounds, int* x, unsigned* wrong, PacketChannel channel) {
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) x[blockIdx.x] = round;
    grid_barrier(channel.arrived, channel.limit);
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
      if (static_cast<volatile int*>(x)[i] != round) atomicAdd(wrong, 1u);
    grid_barrier(channel.arrived, channel.limit);
  }
  grid_barrier(channel.arrived, channel.limit);  // an odd number of them
}

TEST_F(Waiting, at_a_barrier_of_the_grid_sees_what_all_have_written_on_Cuda) {
  Queue<Cuda> q(0);
  const auto blocks = unsigned(cooperative_blocks(q));
  Matrix<int, Cuda> x(blocks, 1);
  Matrix<unsigned, Cuda> wrong(1, 1);
  fill_zero(q, wrong.data(), sizeof(unsigned));
  for (int run = 0; run < 3; ++run)
    launch(q, meet_often, Blocks::cooperative, dim3(blocks), 64, q.shared_memory(), 50, x.data(), wrong.data(),
           channel_of(q, sizeof(Packet), 1));
  q.finish();
  EXPECT_EQ(download(q, wrong)(0, 0), 0u);
}

/// Grids of which the device has no room for two, from many threads at a time.
TEST_F(Waiting, of_all_blocks_is_possible_in_many_queues_at_once_on_Cuda) {
  std::vector<std::thread> threads;
  std::vector<unsigned> wrong(8, 1);
  for (auto& mine : wrong)
    threads.emplace_back([&mine] {
      Queue<Cuda> q(0);
      const auto blocks = unsigned(cooperative_blocks(q));
      Matrix<int, Cuda> x(blocks, 1);
      Matrix<unsigned, Cuda> count(1, 1);
      fill_zero(q, count.data(), sizeof(unsigned));
      for (int run = 0; run < 40; ++run)
        launch(q, meet_often, Blocks::cooperative, dim3(blocks), 64, q.shared_memory(), 20, x.data(), count.data(),
               channel_of(q, sizeof(Packet), 1));
      q.finish();
      mine = download(q, count)(0, 0);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<unsigned>(8, 0));
}

/// A kernel of another program may never end.
TEST_F(Waiting, of_all_blocks_is_possible_beside_a_kernel_that_stays_on_Cuda) {
  Queue<Cuda> q(0);
  const auto blocks = unsigned(cooperative_blocks(q));
  Matrix<int, Cuda> x(blocks, 1);
  Matrix<unsigned, Cuda> wrong(1, 1);
  fill_zero(q, wrong.data(), sizeof(unsigned));
  const auto meet = [&] {
    launch(q, meet_often, Blocks::cooperative, dim3(blocks), 64, q.shared_memory(), 50, x.data(), wrong.data(),
           channel_of(q, sizeof(Packet), 1));
    q.finish();
  };
  meet();  // loads the kernel
  {
    const Holder holder(2);
    meet();
    EXPECT_TRUE(holder.holds()) << "the grid waited for the other kernel to end";
  }
  EXPECT_EQ(download(q, wrong)(0, 0), 0u);
}

TEST_F(Waiting, in_solves_is_possible_beside_a_kernel_that_stays_on_Cuda) {
  for (const Method method : {Method::lu, Method::cholesky})
    for (const std::int64_t n : {700, 2500}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", method " << int(method));
      const Matrix<double> A = dominant_matrix<double>(n), B = random_matrix<double>(n, 2);
      Options o;
      o.device = {Device::cuda, 0};
      o.factorization = method;
      Matrix<double> alone(n, 2), beside(n, 2);
      EXPECT_TRUE(solve(A.view(), B.view(), alone.view(), o).outcome.ok());
      {
        const Holder holder(2);
        EXPECT_TRUE(solve(A.view(), B.view(), beside.view(), o).outcome.ok());
        EXPECT_TRUE(holder.holds()) << "the solve waited for the other kernel to end";
      }
      EXPECT_TRUE(same_bits(alone, beside));
    }
}

/// When it began and when it ended, some ms later.
__global__ void take_a_while(std::uint64_t* times) {
  const auto now = [] {
    std::uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  times[0] = now();
  while (now() < times[0] + 5'000'000) {
  }
  times[1] = now();
}

TEST_F(Waiting, of_all_blocks_lets_grids_of_other_queues_end_first_on_Cuda) {
  Matrix<std::uint64_t, Cuda> times(2, 4);
  Queue<Cuda> q(0);
  const auto give = [&](Queue<Cuda>& to, int i) {
    launch(to, take_a_while, Blocks::cooperative, dim3(1), 1, 0, times.data() + 2 * i);
  };
  {
    Queue<Cuda> first(0), second(0);
    give(first, 0), give(second, 1), give(first, 2);
  }  // whose streams end while their kernels run
  give(q, 3);
  q.finish();
  const auto ran = download(q, times);
  for (int i = 1; i < 4; ++i) EXPECT_GE(ran(0, i), ran(1, i - 1)) << i;
}

__global__ void draw(unsigned* counter, unsigned count, unsigned* drawn) {
  if (threadIdx.x == 0) atomicAdd(drawn + take_ticket(counter, count), 1u);
}

TEST_F(Waiting, in_order_of_tickets_gives_each_once_and_begins_anew_on_Cuda) {
  Queue<Cuda> q(0);
  constexpr unsigned count = 1000;
  Matrix<unsigned, Cuda> drawn(count, 1);
  fill_zero(q, drawn.data(), drawn.bytes());
  for (int run = 0; run < 2; ++run)
    launch(q, draw, Blocks::independent, dim3(count), 32, 0, q.counter() + tickets_of_sync_free, count, drawn.data());
  const auto times = download(q, drawn);
  for (unsigned i = 0; i < count; ++i) ASSERT_EQ(times(i, 0), 2u) << i;
}

__global__ void be_in_a_cluster() {}

TEST_F(Waiting, in_a_cluster_is_asked_about_on_Cuda) {
  Queue<Cuda> q(0);
  const auto room = [&](unsigned blocks, std::size_t shared) {
    return has_room_for_cluster(q, reinterpret_cast<const void*>(be_in_a_cluster), blocks, 128, shared);
  };
  EXPECT_TRUE(room(1, 0));
  for (int ask = 0; ask < 2; ++ask) {
    for (const unsigned blocks : {2u, 4u, 8u}) EXPECT_EQ(room(blocks, 0), q.properties().has_clusters_of(int(blocks)));
    EXPECT_FALSE(room(32, 0));
    EXPECT_FALSE(room(2, q.shared_memory() + 1));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
  for (unsigned blocks = 2; blocks <= 16; blocks *= 2)
    if (room(blocks, q.shared_memory())) {
      launch(q, be_in_a_cluster, Blocks::cluster, dim3(blocks), 128, q.shared_memory());
      q.finish();
    }
}

}  // namespace
}  // namespace lasolve::test
