// Cards that are unlike have block columns in shares of their rates. Virtual ones are alike; their shares are given.
#include <numeric>

#include "core/choose.hpp"
#include "core/device_properties.hpp"
#include "core/tuning.hpp"
#include "devices.hpp"
#include "lasolve/pieces.hpp"
#include "plans.hpp"
#include "solvers/cards/rates.hpp"
#include "solvers/lower.hpp"
#include "solvers/recipe.hpp"
#include "solvers/recipe_fields.hpp"
#include "virtual_cards.hpp"

namespace lasolve::test::card_shares_test {
using namespace virtual_cards;
namespace {

using Shares = std::vector<int>;

CardList cards_in(const Shares& shares) { return with_shares({.count = std::uint8_t(shares.size())}, shares); }
const std::vector<Shares> all_shares = {{2, 1}, {1, 3}, {3, 1, 2}, {1, 1, 5}, {1, 2, 3, 4}, {16, 1}};

TEST(CardShares, take_turns_that_are_spread_evenly) {
  EXPECT_EQ(turns_of(cards_in({1, 1, 1})), (Shares{0, 1, 2}));
  EXPECT_EQ(turns_of(cards_in({2, 1})), (Shares{0, 1, 0}));
  EXPECT_EQ(turns_of(cards_in({1, 2})), (Shares{1, 0, 1}));
  EXPECT_EQ(turns_of(cards_in({3, 1, 2})), (Shares{0, 2, 0, 1, 2, 0}));
  for (const Shares& shares : all_shares) {
    Shares counted(shares.size(), 0);
    for (const int card : turns_of(cards_in(shares))) ++counted[std::size_t(card)];
    EXPECT_EQ(counted, shares);
  }
  const Blocking by{.n = 100, .widths = {.panel = 8}};
  EXPECT_EQ(Deal(by, cards_in({4, 4, 4})), Deal(by, 3)) << "equal ones are k mod P";
  EXPECT_EQ(cards_in({6, 4}), cards_in({3, 2}));
  for (std::int64_t j = 0; j < 100; ++j) EXPECT_EQ(Deal(by, 3).card_of(j), j / 8 % 3);
}

TEST(CardShares, follow_rates) {
  const auto shares = [](std::vector<double> rates) { return shares_for(rates); };
  EXPECT_EQ(shares({7, 7}), (Shares{1, 1}));
  EXPECT_EQ(shares({100, 99, 101}), (Shares{1, 1, 1})) << "a difference that costs less than a longer round";
  EXPECT_EQ(shares({60.5, 30}), (Shares{2, 1}));
  EXPECT_EQ(shares({1e12, 3e12, 2e12}), (Shares{1, 3, 2}));
  EXPECT_EQ(shares({1000, 1}), (Shares{16, 1})) << "each card has a block column";
  std::mt19937_64 bits(3);
  std::uniform_real_distribution<double> rate(1, 4);
  for (int round = 0; round < 200; ++round) {
    const std::vector<double> rates = {rate(bits), rate(bits), rate(bits)};
    const Shares its = shares(rates);
    double longest = 0;
    for (std::size_t card = 0; card < 3; ++card) longest = std::max(longest, its[card] / rates[card]);
    const double all = std::accumulate(its.begin(), its.end(), 0.0),
                 sum = std::accumulate(rates.begin(), rates.end(), 0.0);
    EXPECT_LT(longest / (all / sum), 1.06);
  }
}

/// The rates themselves depend on the machine.
TEST(CardShares, are_measured_once) {
  Options o;
  o.device = {Device::cpu, 0}, o.cards = {3, 5};
  CardGroup<Cpu> cards(o);
  const SolvePrecision fp32 = *find_solve_precision(Precision::fp32);
  const auto rates = rates_of(cards, *backend("packed"), fp32, 64);
  ASSERT_EQ(rates.size(), 2U);
  for (const double its : rates) EXPECT_TRUE(its > 0 && its < 1e9) << its;
  EXPECT_EQ(rates_of(cards, *backend("packed"), fp32, 64), rates);
}

TEST(CardShares, keep_the_order_of_tasks) {
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for (const Method method : methods)
      for (const Shares& shares : all_shares) {
        const Blocking by{.n = 61, .widths = {.panel = 4, .step = 2}, .lanes = lanes};
        SCOPED_TRACE(text_of({method, Schedule::right_looking}, by, int(shares.size())));
        const Deal deal(by, cards_in(shares));
        const Plan dealt = lower_cards(plan_of(method, Schedule::right_looking, by), deal);
        for (const Task& task : dealt.tasks) {
          const bool owns = task.C.of == Resource::matrix && !is(task, "interchange") && !is(task, "send");
          EXPECT_TRUE(!owns || deal.card_of(task.C.j) == task.lane.card);
        }
        const Plan plan = in_memory_of_cards(dealt, deal);
        ASSERT_LT(plan.tasks.size(), most_tasks);
        EXPECT_TRUE(keeps_order(conflicts_in(plan), order_by(plan, lists_of(plan))));
      }
}

template <class T>
void expect_bits_of_one(const char* gemm_name) {
  const Gemm<T, Cpu> gemm(*backend(gemm_name));
  for (const auto& [n, columns] : {std::array{1, 16}, {17, 16}, {100, 16}, {193, 12}, {257, 16}})
    for (const Way& way : ways) {
      const Blocking by{.n = n, .widths = {.panel = columns}};
      const Matrix<T> A = way.method == Method::lu ? random_matrix<T>(n, n) : dominant_matrix<T>(n);
      const auto one = factored<T>(way, by, 1, A, gemm);
      for (const Shares& shares : all_shares) {
        SCOPED_TRACE(text_of(way, by, int(shares.size())) + " in shares of " + text_of_shares(cards_in(shares)));
        const auto several = factored<T>(way, by, cards_in(shares), A, gemm);
        EXPECT_TRUE(same_bits(several.factors, one.factors));
        EXPECT_EQ(several.pivots, one.pivots);
        EXPECT_EQ(several.failed_at, -1);
      }
    }
}
TEST(CardShares, leave_factors_their_bits_in_fp64) { expect_bits_of_one<double>("naive"); }
TEST(CardShares, leave_factors_their_bits_in_fp32) { expect_bits_of_one<float>("packed"); }

Options over(const Shares& shares, Method method = Method::lu) {
  Options o = test::over(int(shares.size()), method);
  o.card_shares = shares;
  return o;
}

template <class T>
void expect_all_sizes_solved() {
  for (const Method method : methods)
    for (const std::int64_t n : {1, 2, 16, 17, 33, 100, 193, 257})
      for (const std::int64_t nrhs : {1, 11})
        for (const Op op : {Op::none, Op::transpose})
          for (const Shares& shares : all_shares) {
            SCOPED_TRACE(testing::Message() << lasolve::name_of(method) << ", n = " << n << ", " << nrhs
                                            << " right-hand sides, " << text_of_shares(cards_in(shares)));
            Options o = over(shares, method);  // one way for each: an address sanitizer loses track of too many threads
            if (method == Method::cholesky && nrhs == 1) o.schedule = Schedule::left_looking, o.block_size = 24;
            const auto solved = solve_random(matrix_for<T>(method, n), nrhs, o, op);
            expect_solved(solved);
            EXPECT_EQ(solved.report.cards.size(), shares.size());
          }
}
TEST(CardShares, solve_all_sizes_in_fp64) { expect_all_sizes_solved<double>(); }
TEST(CardShares, solve_all_sizes_in_fp32) { expect_all_sizes_solved<float>(); }

TEST(CardShares, that_are_equal_change_no_bit) {
  for (const Method method : methods) {
    const Matrix<double> A = matrix_for<double>(method, 150);
    Options o = over({5, 5, 5}, method);
    const auto given = solve_random(A, 2, o);
    o.card_shares = {};
    EXPECT_TRUE(same_bits(solve_random(A, 2, o).X, given.X));
  }
}

/// 30 block columns of 16. A card has its own, and room for three of others.
TEST(CardShares, say_what_cards_hold) {
  const Matrix<double> A = random_matrix(480, 480);
  for (const auto& [shares, columns] : std::map<Shares, Shares>{
           {{2, 1}, {320, 160}}, {{1, 2, 3, 4}, {48, 96, 144, 192}}, {{1, 1, 1}, {160, 160, 160}}}) {
    const auto solved = solve_random(A, 1, over(shares));
    expect_solved(solved);
    for (std::size_t card = 0; card < shares.size(); ++card) {
      const CardReport& its = solved.report.cards[card];
      EXPECT_EQ(its.columns, columns[card]);
      const double least = 480.0 * 8 * (2 * columns[card] + 3 * 16);
      EXPECT_GE(its.bytes, least);
      EXPECT_LT(its.bytes, 1.1 * least) << "but for the padding of columns";
    }
  }
}

TEST(CardShares, serve_refinement_and_conditions) {
  const Matrix<double> A = random_matrix(150, 150);
  Options one;
  one.device = {Device::cpu, 0}, one.factorization = Method::lu, one.block_size = 16;
  for (const Shares& shares : all_shares) {
    for (const Refine how : {Refine::classical, Refine::gmres}) {
      Options o = over(shares);
      o.precision = Precision::fp32, o.refine = how;
      const auto solved = solve_random(A, 2, o, Op::transpose);
      expect_solved(solved);
      EXPECT_EQ(solved.report.storage, Precision::fp32);
    }
    Options o = over(shares);
    o.bounds = one.bounds = true;
    Factorization<double> factors(A.view(), o), on_one(A.view(), one);
    EXPECT_NEAR(factors.rcond() / on_one.rcond(), 1, 1e-9);
    EXPECT_NEAR(factors.report().growth.value() / on_one.report().growth.value(), 1, 1e-12);
  }
}

TEST(CardShares, tell_where_a_matrix_is_singular) {
  const Matrix<double> B = random_matrix(90, 1);
  for (const Shares& shares : all_shares)
    for (const std::int64_t at : {0, 40, 89})
      expect_outcome(solve_for(with_zero_columns(random_matrix(90, 90), at, 1), B, over(shares)).report.outcome,
                     Outcome::singular, at);
}

TEST(CardShares, take_pieces) {
  const Matrix<double> A = random_matrix(193, 193), B = random_matrix(193, 3);
  for (const Shares& shares : all_shares) {
    Matrix<double> whole(193, 3), X(193, 3);
    EXPECT_TRUE(Factorization<double>(A.view(), over(shares)).solve(B, whole).outcome.ok());
    const std::vector<Borrowed<const double>> pieces = {A.view().columns(0, 70), A.view().columns(70, 100),
                                                        A.view().columns(170, 23)};
    EXPECT_TRUE(factor_pieces(pieces, over(shares)).solve(B, X).outcome.ok());
    EXPECT_TRUE(same_bits(X, whole));
  }
}

TEST(CardShares, are_in_the_recipe) {
  const Options o = over({4, 2});
  const Tuning tuning = tuning_of(o.device);
  const Means means{.device = o.device, .cards = cards_of(o), .tuning = &tuning, .precisions = ~0u};
  const Recipe first = resolve(o, {.n = 5000}, means).first();
  EXPECT_NE(text_of(first).find("in shares of 2,1"), std::string::npos) << text_of(first);
}

TEST(CardShares, that_make_no_sense_are_refused) {
  const auto complaint = [](const Shares& shares, std::size_t cards) {
    Options o = over(Shares(cards, 1));
    o.card_shares = shares;
    return complaint_of<std::invalid_argument>([&] { solve_random(random_matrix(20, 20), 1, o); });
  };
  EXPECT_TRUE(says(complaint({2, 1, 1}, 2), "2 cards, and shares for 3: give one for each"));
  EXPECT_TRUE(says(complaint({2, 0}, 2), "a share of 0, but shares are from 1 to 16"));
  EXPECT_TRUE(says(complaint({-3, 1}, 2), "a share of -3"));
  EXPECT_TRUE(says(complaint({17, 1}, 2), "a share of 17"));
  EXPECT_TRUE(says(complaint({2}, 1), "shares are those of several cards"));
  EXPECT_EQ(parse_numbers("2,1"), (Shares{2, 1}));
  for (const char* wrong : {"", "2,", ",1", "2;1", "2,x", "-1"}) EXPECT_FALSE(parse_numbers(wrong)) << wrong;
}

/// A plan that all pairs of cards share asks no kernel of more than each of them takes.
TEST(CommonCapabilities, are_those_of_both) {
  for (const std::string& a : card_names())
    for (const std::string& b : card_names())
      for (const Precision storage : {Precision::fp64, Precision::fp32}) {
        SCOPED_TRACE(a + ", " + b);
        const auto can = [&](const std::string& name) {
          return capabilities_of(card(name), tuning_for(card(name)).values, storage, 20000);
        };
        const Capabilities of_a = can(a), of_b = can(b), both = common(of_a, of_b);
        EXPECT_TRUE(a != b || both == of_a);
        for (const Capabilities& its : {of_a, of_b}) {
          EXPECT_LE(both.panel, its.panel);
          EXPECT_LE(both.rows_of_panel, its.rows_of_panel);
          EXPECT_LE(both.panel_in_place, its.panel_in_place);
          EXPECT_LE(both.cholesky_leaf, its.cholesky_leaf);
          EXPECT_LE(both.rows_of_L_at_the_end, its.rows_of_L_at_the_end);
        }
        EXPECT_GT(both.panel, 0);
        EXPECT_EQ(both.far_columns > 0 && !both.rows_of_L_at_the_end, false);
      }
}

}  // namespace
}  // namespace lasolve::test::card_shares_test
