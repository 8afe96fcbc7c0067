// The same over cards and out of core as on one device: rows and columns of very different size.
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "lasolve/names.hpp"
#include "matrices.hpp"
#include "solvers/driver/engine.hpp"
#include "systems.hpp"
#include "units.hpp"

namespace lasolve::test {
namespace {

/// Over virtual cards, and out of core with room for a part of A; first on one device.
std::vector<Options> ways_in_parts(std::size_t bytes_of_A) {
  std::vector<Options> all(4);
  for (Options& o : all) o.device = {Device::cpu, 0}, o.block_size = 16, o.factorization = Method::lu;
  all[1].cards = {0, 1}, all[2].cards = {0, 1, 2}, all[3].device_memory = std::int64_t(bytes_of_A);
  return all;
}
/// But what says that it goes out of core; without numbers, which roundoff may change.
std::vector<std::string> notes_beside_that(const Report& report) {
  std::vector<std::string> notes;
  for (std::string note : report.notes) {
    if (note.starts_with("out of core: ")) continue;
    std::erase_if(note, [](char c) { return std::strchr("0123456789+-", c) != nullptr; });
    notes.push_back(note);
  }
  return notes;
}

template <class T>
void expect_same_in_all_parts(const Matrix<T>& A, const Matrix<T>& B, Op op, const std::function<void(Options&)>& ask,
                              const std::function<void(const Solved<T>&)>& judge) {
  std::optional<Report> of_one;
  for (Options& o : ways_in_parts(std::size_t(A.rows() * A.cols()) * sizeof(T))) {
    SCOPED_TRACE(testing::Message() << o.cards.size() << " cards, memory of " << o.device_memory << " bytes");
    ask(o);
    const Solved<T> solved = solve_for(A, B, o, op);
    EXPECT_EQ(solved.report.cards.size(), o.device_memory > 0 ? 1U : o.cards.size());
    judge(solved);
    if (!of_one) of_one = solved.report;
    expect_outcome(solved.report.outcome, of_one->outcome.kind, of_one->outcome.at);
    EXPECT_EQ(solved.report.equilibration, of_one->equilibration);
    EXPECT_EQ(notes_beside_that(solved.report), notes_beside_that(*of_one));
  }
}

template <class T>
void expect_scaled_in_parts_where_a_solution_fails() {
  const Matrix<T> A = with_large_rows<T>(60), B = right_hand_sides<T>(A.view(), 1);
  for (const Wanted when : {Wanted(Wanted::automatic), Wanted(true), Wanted(false)})
    expect_same_in_all_parts<T>(
        A, B, Op::none, [&](Options& o) { o.condition = true, o.equilibrate = when; },
        [&](const Solved<T>& solved) {
          EXPECT_EQ(solved.report.outcome.ok(), when != Wanted::off);
          if (when == Wanted::off) return;
          EXPECT_LT(forward_error(solved.X, exact_solutions(A, B)), 1e4 * unit_roundoff<T>);
        });
  const auto without = matrix_of<T>(60, 60, [&](auto i, auto j) { return j == 33 ? T(0) : A(i, j); });
  expect_same_in_all_parts<T>(
      without, B, Op::none, [](Options&) {},
      [](const Solved<T>& solved) { expect_outcome(solved.report.outcome, Outcome::singular, 33); });
}
TEST(EquilibratedInParts, where_a_solution_fails_in_fp64) { expect_scaled_in_parts_where_a_solution_fails<double>(); }
TEST(EquilibratedInParts, where_a_solution_fails_in_fp32) { expect_scaled_in_parts_where_a_solution_fails<float>(); }

TEST(EquilibratedInParts, rows_and_columns_of_any_size) {
  const std::int64_t n = 90;
  const auto rows = far_apart<double>(n, 1), columns = far_apart<double>(n, 2);
  for (const Method method : {Method::lu, Method::cholesky})
    for (const Op op : {Op::none, Op::transpose}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << ", op " << int(op));
      const auto& its_columns = method == Method::lu ? columns : rows;
      const Matrix<double> M = random_with_condition(n, 100, method == Method::cholesky),
                           A = in_units(M, rows, its_columns),
                           B = in_units(random_matrix(n, 2, 3), op == Op::none ? rows : its_columns, {0, 0});
      expect_same_in_all_parts<double>(
          A, B, op, [&](Options& o) { o.equilibrate = true, o.factorization = method, o.bounds = true; },
          [&](const Solved<double>& solved) {
            EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
            EXPECT_EQ(solved.report.equilibration, Equilibration::both);
            EXPECT_LT(error_in_units(solved.X, B, M, rows, its_columns, op), 1e4 * double(n) * unit_roundoff<double>);
          });
    }
}

/// Each element is scaled before it is rounded.
TEST(EquilibratedInParts, what_is_out_of_the_range_of_coarse_factors) {
  const std::int64_t n = 120;
  auto rows = far_apart<float>(n, 1);
  for (int& exponent : rows) exponent = 200 + exponent / 4;
  const Matrix<double> A = in_units(random_with_condition(n, 100), rows, std::vector<int>(n, 0)),
                       B = in_units(random_matrix(n, 2, 3), rows, {0, 0});
  expect_same_in_all_parts<double>(
      A, B, Op::none, [](Options& o) { o.precision = Precision::fp32, o.equilibrate = true; },
      [](const Solved<double>& solved) {
        expect_solved(solved);
        EXPECT_EQ(solved.report.precision, Precision::fp32);
      });
}

/// Then the factors of A as it is, and what they solved, are all that there is.
TEST(EquilibratedInParts, memory_may_be_short_for_further_factors) {
  const std::int64_t n = 60;
  const Matrix<double> A = with_large_rows<double>(n), B = right_hand_sides<double>(A.view(), 1);
  std::int64_t made = 0, most = 1 << 20;
  Columnwise<double> columns;
  columns.n = n;
  columns.on_cpu = [&](Queue<Cpu>&, std::int64_t first, MatrixView<double> to) {
    if ((made += to.cols()) > most) throw OutOfMemory("cpu:0", 1, 0);
    for (std::int64_t j = 0; j < to.cols(); ++j)
      for (std::int64_t i = 0; i < n; ++i) to(i, j) = A(i, first + j);
  };
  Options o = ways_in_parts(n * n * 8).back();
  o.condition = true;
  Matrix<double> X(n, 1);
  const auto solve = [&] { return FactorizationOf<double>::columns(columns, o).solve(B.view(), X.view()); };
  EXPECT_TRUE(solve().outcome.ok());
  std::string all;
  for (most = std::exchange(made, 0); most > 0; most -= n, made = 0) try {
      const Report report = solve();
      if (!report.outcome.ok()) all += notes_of(report);
    } catch (const OutOfMemory&) {  // where it was short for what nobody can do without
    }
  EXPECT_TRUE(says(all, "there was no memory to factor A again with these scaled"));
}

}  // namespace
}  // namespace lasolve::test
