// What `lasolve bench gemm` measures with: shapes, statistics, and an oracle that finds what is wrong.
#include <gtest/gtest.h>

#include <set>

#include "bench/gemm.hpp"
#include "bench/roof.hpp"
#include "bench/turns.hpp"
#include "devices.hpp"

namespace lasolve::bench {
namespace {

TEST(BenchProduct, is_read_from_three_sizes) {
  const auto p = parse_product("3x45x678");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->m, 3);
  EXPECT_EQ(p->n, 45);
  EXPECT_EQ(p->k, 678);
  EXPECT_EQ(p->beta, 0);
  for (const char* text : {"", "x", "3", "3x4", "3x4x", "3x4x5x", "3x4x5x6", "0x4x5", "3x-4x5", "3 x4x5", "3x4x5.0",
                           "99999999999999999999x1x1"})
    EXPECT_FALSE(parse_product(text)) << text;
}

TEST(BenchProduct, counts_flops_and_bytes) {
  EXPECT_EQ(square(10).flops(), 2000);
  EXPECT_EQ(square(10).bytes({8, 8}), 8 * 300);
  EXPECT_EQ(trailing(10, 2).bytes({4, 4}), 4 * (20 + 20 + 200));
  EXPECT_EQ(trailing(10, 2).bytes(element_sizes<Precision::fp16>), 2 * (20 + 20) + 4 * 200);
}

TEST(BenchSpread, is_of_odd_even_one_and_no_values) {
  const Spread odd = spread_of({3, 1, 2}), even = spread_of({4, 1, 2, 10}), one = spread_of({5});
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.most, 3);
  EXPECT_EQ(even.median, 3);
  EXPECT_EQ(one.least, 5);
  EXPECT_EQ(one.median, 5);
  EXPECT_EQ(spread_of({}).median, 0);
}

TEST(BenchTurns, go_forwards_first_and_then_in_an_order_that_the_seed_decides) {
  const auto order_of = [](std::uint64_t seed) {
    std::vector<std::size_t> order;
    time_in_turns({.warmup = 1, .rounds = 20, .seed = seed}, 4, [&](std::size_t c, bool counted) {
      EXPECT_EQ(counted, order.size() >= 4);
      order.push_back(c);
      return 1.0;
    });
    return order;
  };
  const auto order = order_of(1);
  EXPECT_EQ(order, order_of(1));
  EXPECT_NE(order, order_of(2));
  ASSERT_EQ(order.size(), 84u);
  int first[4] = {};
  for (auto round = order.begin(); round != order.end(); round += 4) {
    ++first[*round];
    EXPECT_TRUE(std::is_permutation(round, round + 4, order.begin())) << "everybody runs once in each round";
  }
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 4), (std::vector<std::size_t>{0, 1, 2, 3}));
  for (const int times : first) EXPECT_GT(times, 0);
}

TEST(BenchTurns, end_for_who_is_quiet_enough_and_for_who_has_failed) {
  int runs[3] = {};
  const auto seconds = time_in_turns({.warmup = 0, .rounds = 30, .noise = 0.01, .least_rounds = 4}, 3,
                                     [&](std::size_t c, bool) -> std::optional<double> {
                                       const int run = runs[c]++;
                                       if (c == 2 && run == 1) return {};
                                       return c == 0 ? 1 : 1 + run % 2;
                                     });
  EXPECT_EQ(seconds[0].size(), 4u) << "no noise, and least_rounds";
  EXPECT_EQ(seconds[1].size(), 30u) << "never quiet";
  EXPECT_EQ(seconds[2].size(), 1u);
  EXPECT_EQ(runs[2], 2);
}

TEST(BenchTurns, leave_out_who_has_run_for_long) {
  const auto seconds = time_in_turns({.warmup = 2, .rounds = 4, .enough_seconds = 5}, 3, [](std::size_t c, bool) {
    return c == 0 ? 1.0 : c == 1 ? 2.0 : 10.0;
  });
  EXPECT_EQ(seconds, (std::vector<std::vector<double>>{{1, 1, 1, 1}, {2}, {10}}));
}

TEST(BenchTurns, begin_after_a_rest_as_long_as_the_run_before) {
  const Rest rest{0.02, 0.1};
  EXPECT_EQ(rest.after(0), 0.02);
  EXPECT_EQ(rest.after(0.05), 0.05);
  EXPECT_EQ(rest.after(2), 0.1);
}

TEST(BenchRoof, is_the_longer_of_arithmetic_and_traffic) {
  const Product p = trailing(10, 2);
  EXPECT_EQ((Roof{100, 1e9}.floor_seconds(p, {8, 8})), 4);
  EXPECT_EQ((Roof{1e9, 192}.floor_seconds(p, {8, 8})), 10);
}

/// In the units that are said, which no machine is far from.
void expect_a_roof(Device device) {
  const auto roof = roof_of(device, Precision::fp64, 2);
  ASSERT_TRUE(roof);
  EXPECT_GT(roof->flops_per_second, 1e7);
  EXPECT_LT(roof->flops_per_second, 1e15);
  EXPECT_GT(roof->bytes_per_second, 1e6);
  EXPECT_LT(roof->bytes_per_second, 1e14);
}

TEST(BenchRoof, is_measured_on_the_cpu) {
  expect_a_roof({Device::cpu, 0});
  EXPECT_FALSE(roof_of({Device::cpu, 0}, Precision::bf16, 2)) << "it is not offered";
}

TEST(BenchRoof, is_measured_on_Cuda) {
  if (!why_no_cuda_device(0).empty()) GTEST_SKIP() << why_no_cuda_device(0);
  expect_a_roof({Device::cuda, 0});
  const auto half = roof_of({Device::cuda, 0}, Precision::fp16, 2),
             full = roof_of({Device::cuda, 0}, Precision::fp32, 2);
  ASSERT_TRUE(half && full);
  EXPECT_GT(half->flops_per_second, full->flops_per_second);
}

template <class P>
class BenchOracle : public testing::Test {};
template <Precision... P>
using Each = testing::Types<std::integral_constant<Precision, P>...>;
using Precisions = Each<Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16>;
TYPED_TEST_SUITE(BenchOracle, Precisions);

template <Precision P>
struct SmallProduct {
  using In = typename Arithmetic<P>::Operand;
  using T = typename Arithmetic<P>::Result;
  Matrix<In> A, B;
  Matrix<T> C0, C;
  Expression<P> e;

  /// C is what it ought to be, rounded.
  SmallProduct(const Queue<Cpu>& q, const Product& p, bool integers)
      : A(p.m, p.k), B(p.k, p.n), C0(p.m, p.n), C(p.m, p.n), e{p.alpha, p.beta, A.view(), B.view(), C0.view()} {
    std::uint64_t seed = 1;
    const auto fill = [&](auto view) { integers ? fill_integers(q, view, 8, seed++) : fill_random(q, view, seed++); };
    fill(A.view()), fill(B.view()), fill(C0.view());
    const auto R = expected<Wide<T>>(q, e);
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t i = 0; i < p.m; ++i) C(i, j) = T(R(i, j));
  }
};

/// At sizes whose elements are all computed, and at one that is projected.
TYPED_TEST(BenchOracle, accepts_the_product_and_finds_one_wrong_element) {
  constexpr Precision P = TypeParam();
  using T = typename Arithmetic<P>::Result;
  const double u = Arithmetic<P>::unit_roundoff, wrong = P == Precision::tf32 ? 1000 : 0.1;
  const Queue<Cpu> q(3);
  double share = 0;
  for (const Product& p :
       {Product{"", 70, 33, 45, -1, 1}, Product{"", 33, 70, 129, 1, 0}, Product{"", 330, 340, 310}}) {
    SmallProduct<P> product(q, p, false);
    Matrix<T>& C = product.C;
    const auto wrong_one = [&] { return wrong_by_norm(q, product.e, std::as_const(C).view(), u, share); };
    EXPECT_FALSE(wrong_one());
    EXPECT_LE(share, 0.1);
    const T right = std::exchange(C(7, 9), C(7, 9) + T(wrong));
    const auto found = wrong_one();
    ASSERT_TRUE(found);
    EXPECT_GT(share, 1);
    EXPECT_EQ(found->i, 7);
    EXPECT_EQ(found->j, 9);
    EXPECT_EQ(found->wrong, 1);
    C(7, 9) = right * std::numeric_limits<T>::quiet_NaN();
    ASSERT_TRUE(wrong_one());
    EXPECT_EQ(wrong_one()->i, 7);
    EXPECT_EQ(wrong_one()->j, 9);
  }
  for (const Product& p : {Product{"", 70, 33, 45, -1, 1}, Product{"", 330, 340, 310}}) {
    SmallProduct<P> product(q, p, true);
    EXPECT_FALSE(wrong_bits(q, product.e, std::as_const(product.C).view()));
    for (const T off : {T(1), std::numeric_limits<T>::quiet_NaN()}) {
      product.C(7, 9) += off;
      const auto found = wrong_bits(q, product.e, std::as_const(product.C).view());
      ASSERT_TRUE(found);
      EXPECT_EQ(found->i, 7);
      EXPECT_EQ(found->j, 9);
      EXPECT_EQ(found->wrong, 1);
    }
  }
}

/// Loses the last step of more than 200; counts its runs with large products.
int runs_of_forgetful = 0;
void forgetful(const void*, Queue<Cpu>& q, double alpha, Operand<double> A, Operand<double> B, double beta,
               MatrixView<double> C) {
  const std::int64_t k = A.cols() > 200 ? A.cols() - 1 : A.cols();
  runs_of_forgetful += C.rows() == 300;
  Options options;
  options.device.kind = Device::cpu;
  const auto* right = std::get<const GemmBackend<Cpu>*>(choose(options).backend);
  (*right)(q, alpha, A.block(0, 0, A.rows(), k), B.block(0, 0, k, B.cols()), beta, C);
}

TEST(BenchGemm, does_not_time_a_wrong_backend) {
  static const GemmBackend<Cpu> wrong{.name = "forgetful", .summary = "wrong for large k", .kernels = forgetful};
  Options automatic;
  automatic.device.kind = Device::cpu;
  GemmBench bench({{{&wrong, 0, {}}, false}, {choose(automatic), true}}, {.repeat = 3, .warmup = 1, .threads = 2});
  EXPECT_THROW(bench.run(square(300), Precision::fp64), std::invalid_argument) << "it is not verified";
  std::vector<std::string> received;
  bench.verify({square(300), trailing(90, 20)}, {Precision::fp64, Precision::fp32},
               [&](const Entrant& e, Precision p, const Verdict& v) {
                 received.push_back(e.name() + " " + name_of(p) + (v.fault ? " wrong" : " right"));
               });
  const std::string best = Entrant{choose(automatic), true}.name();
  EXPECT_EQ(received, (std::vector<std::string>{"forgetful fp64 wrong", best + " fp64 right", best + " fp32 right"}));
  for (const Product& p : {square(300), trailing(90, 20)}) {
    const auto results = bench.run(p, Precision::fp64);
    ASSERT_EQ(results.size(), 2u);
    ASSERT_TRUE(results[0].fault);
    EXPECT_GT(results[0].fault->at.k, 200);
    EXPECT_EQ(results[0].runs, 0);
    EXPECT_FALSE(results[0].of_reference);
    EXPECT_FALSE(results[1].fault);
    EXPECT_EQ(results[1].runs, 3);
    EXPECT_LE(*results[1].error, 0.5);
    EXPECT_LE(results[1].seconds.least, results[1].seconds.median);
    EXPECT_TRUE(results[1].of_reference);
  }
  EXPECT_EQ(runs_of_forgetful, 0);
  EXPECT_EQ(bench.run(square(300), Precision::fp32).size(), 1u) << "a precision that is not offered is left out";
  EXPECT_THROW(bench.run(square(20), Precision::fp64), std::invalid_argument) << "it was not verified";
  EXPECT_FALSE(bench.roof(Precision::fp64));
}

/// Else one would be timed on the word of the other's verdict.
TEST(BenchGemm, refuses_two_backends_of_one_name) {
  static const GemmBackend<Cpu> one{.name = "blas", .summary = "", .kernels = forgetful}, same = one;
  EXPECT_THROW(GemmBench({{{&one, 0, {}}, false}, {{&same, 0, {}}, true}}, {}), std::invalid_argument);
}

TEST(BenchGemm, lets_a_slow_backend_run_once) {
  Options automatic;
  automatic.device.kind = Device::cpu;
  GemmBench bench({{choose(automatic), true}}, {.repeat = 3, .warmup = 1, .threads = 2, .enough_seconds = 0});
  bench.verify({square(128)}, {Precision::fp64});
  EXPECT_EQ(bench.run(square(128), Precision::fp64)[0].runs, 1);
}

/// A sum of elements of the operands, for each product of order 90 that was asked for.
std::vector<double> asked_for;
void listening(const void*, Queue<Cpu>& q, double alpha, Operand<double> A, Operand<double> B, double beta,
               MatrixView<double> C) {
  if (C.rows() == 90) asked_for.push_back(A(1, 2) + A(3, 4) + B(5, 6) + B(7, 8) + A(9, 10) + B(11, 12));
  Options options;
  options.device.kind = Device::cpu;
  (*std::get<const GemmBackend<Cpu>*>(choose(options).backend))(q, alpha, A, B, beta, C);
}

/// Else one that keeps its results would be timed as if it computed them.
TEST(BenchGemm, gives_other_operands_in_each_run) {
  static const GemmBackend<Cpu> listener{.name = "listener", .summary = "", .kernels = listening};
  GemmBench bench({{{&listener, 0, {}}, false}}, {.repeat = 4, .warmup = 1, .threads = 2});
  bench.verify({square(90)}, {Precision::fp64});
  asked_for.clear();
  bench.run(square(90), Precision::fp64);
  ASSERT_EQ(asked_for.size(), 5u);
  EXPECT_EQ(std::set<double>(asked_for.begin(), asked_for.end()).size(), 5u);
}

TEST(BenchGemmCuda, is_verified_and_timed_with_and_without_copies) {
  if (const std::string why = test::why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Options cpu, cuda;
  cpu.device.kind = Device::cpu;
  cuda.device.kind = Device::cuda;
  for (const bool with_copies : {false, true})
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16}) {
      GemmBench bench({{choose(cpu), true}, {choose(cuda), true}},
                      {.repeat = 2, .warmup = 1, .threads = 2, .with_copies = with_copies});
      const std::vector<Product> products = {square(130), trailing(257, 33)};
      bench.verify(products, {precision});
      for (const Product& p : products)
        for (const Result& r : bench.run(p, precision)) {
          EXPECT_FALSE(r.fault) << r.device << ": " << what_is_wrong(*r.fault);
          EXPECT_EQ(r.runs, 2);
          EXPECT_EQ(r.of_floor.has_value(), r.device != "cpu" && !with_copies);
        }
    }
}

Result timed(const Product& p, const char* device, double seconds) {
  Result r;
  r.product = p, r.device = device, r.runs = 1, r.seconds = {seconds, seconds, seconds};
  return r;
}

TEST(BenchCrossover, is_where_the_fastest_on_a_device_stays_ahead) {
  const auto found =
      crossovers({timed(square(64), "cpu", 1), timed(square(64), "cuda:0", 0.5), timed(square(128), "cpu", 2),
                  timed(square(128), "cuda:0", 3), timed(square(256), "cpu", 9), timed(square(256), "cuda:0", 4),
                  timed(square(256), "cpu", 5), timed(square(512), "cpu", 50), timed(square(512), "cuda:0", 60),
                  timed(square(512), "cuda:0", 20), timed(trailing(64, 8), "cpu", 1),
                  timed(trailing(64, 8), "cuda:0", 2), timed(trailing(64, 9), "cpu", 1)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].shape, "square");
  EXPECT_EQ(found[0].from, 256);
  EXPECT_EQ(found[1].k, 8);
  EXPECT_FALSE(found[1].from);
}

}  // namespace
}  // namespace lasolve::bench
