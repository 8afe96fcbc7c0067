// A card that fails in the middle: its error names it, no other waits for it for ever, and all are usable afterwards.
#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "devices.hpp"
#include "lasolve/pieces.hpp"
#include "solvers/driver/engine.hpp"
#include "systems.hpp"

namespace lasolve::test::cards_fail_test {
namespace {

/// Products of which one fails: on the first card, whose thread is the caller's when it factors, or on another.
struct Failing {
  bool on_first = false;
  int at = std::numeric_limits<int>::max();  // that product of it
  std::exception_ptr what = std::make_exception_ptr(MachineError("the device was lost"));
  std::thread::id caller = std::this_thread::get_id();
  mutable std::mutex mutex;
  mutable const Queue<Cpu>* first = nullptr;
  mutable int seen = 0;

  void count(const Queue<Cpu>& q) const {
    const std::lock_guard lock(mutex);
    if (!first && std::this_thread::get_id() == caller) first = &q;
    if ((first == &q) == on_first && ++seen > at) std::rethrow_exception(what);
  }
};

template <class T>
void multiply(const void* self, Queue<Cpu>& q, T alpha, Operand<T, Cpu> A, Operand<T, Cpu> B, T beta,
              MatrixView<T, Cpu> C) {
  static_cast<const Failing*>(self)->count(q);
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      T sum = beta == T(0) ? T(0) : beta * C(i, j);
      for (std::int64_t k = 0; k < A.cols(); ++k) sum += alpha * A(i, k) * B(k, j);
      C(i, j) = sum;
    }
}

GemmBackend<Cpu> backend_of(const Failing& failing) {
  return {.name = "failing", .summary = "", .kernels = {multiply<float>, multiply<double>}, .self = &failing};
}

Options over(int cards, const GemmBackend<Cpu>& backend, Method method = Method::lu) {
  Options o = test::over(cards, method);
  o.gemm = &backend;
  return o;
}

constexpr Method methods[] = {Method::lu, Method::cholesky, Method::lu_nopivot};

/// With two cards the name of the one that fails is known.
void expect_named(const std::string& complaint, int cards, bool first) {
  const std::string name = first ? "cpu:0: " : cards == 2 ? "cpu:1: " : "cpu:";
  EXPECT_TRUE(says(complaint, (name + (cards == 2 || first ? "the device was lost" : "")).c_str())) << complaint;
  EXPECT_EQ(complaint.starts_with("cpu:0"), first) << complaint;
}

TEST(CardsThatFail, are_named_while_they_factor_and_leave_the_others_usable) {
  for (const Method method : methods) {
    const Matrix<double> A = matrix_for<double>(method, 200), B = random_matrix(200, 2);
    for (int cards = 2; cards <= 4; ++cards)
      for (const bool first : {true, false})
        for (const int at : {0, 3, 9}) {
          SCOPED_TRACE(testing::Message() << name_of(method) << ", " << cards << " cards, product " << at);
          Failing failing;
          failing.on_first = first, failing.at = at;
          const GemmBackend<Cpu> backend = backend_of(failing);
          Options o = over(cards, backend, method);
          Matrix<double> X(200, 2);
          expect_named(complaint_of<MachineError>([&] { solve(A.view(), B.view(), X.view(), o); }), cards, first);
          failing.at = std::numeric_limits<int>::max();
          expect_solved(solve_random(A, 2, o));  // all of them
          if (cards > 2) o.cards.erase(o.cards.begin() + 1);
          expect_solved(solve_random(A, 2, o));  // all but one
        }
  }
}

TEST(CardsThatFail, are_named_while_they_solve_and_the_factors_stay) {
  for (const Method method : methods)
    for (const Op op : {Op::none, Op::transpose})
      for (int cards = 2; cards <= 4; ++cards)
        for (const bool first : {true, false}) {
          SCOPED_TRACE(testing::Message() << name_of(method) << ", " << cards << " cards");
          const Matrix<double> A = matrix_for<double>(method, 200), B = random_matrix(200, 40);
          Failing failing;
          failing.on_first = first;
          const GemmBackend<Cpu> backend = backend_of(failing);
          Factorization<double> factors(A.view(), over(cards, backend, method));
          Matrix<double> X(200, 40), before(200, 40);
          EXPECT_TRUE(factors.solve(B.view(), before.view(), op).outcome.ok());
          failing.at = failing.seen + 5;
          expect_named(complaint_of<MachineError>([&] { factors.solve(B.view(), X.view(), op); }), cards, first);
          failing.at = std::numeric_limits<int>::max();
          EXPECT_TRUE(factors.solve(B.view(), X.view(), op).outcome.ok());
          EXPECT_TRUE(same_bits(X, before));
        }
}

/// A source of columns that fails, as a matrix on a device that is lost.
TEST(CardsThatFail, are_named_while_they_get_their_columns) {
  for (const bool keeps : {true, false}) {
    Columnwise<double> columns;
    columns.n = 100, columns.keeps = keeps;
    columns.on_cpu = [&](Queue<Cpu>&, std::int64_t first, MatrixView<double> to) {
      if (first == 16) throw MachineError("the link was lost");
      for (std::int64_t j = 0; j < to.cols(); ++j)
        for (std::int64_t i = 0; i < to.rows(); ++i) to(i, j) = i == first + j ? 2 : 0;
    };
    Failing none;
    const GemmBackend<Cpu> backend = backend_of(none);
    EXPECT_TRUE(says(complaint_of<MachineError>([&] { FactorizationOf<double>::columns(columns, over(3, backend)); }),
                     "cpu:1: the link was lost"));
  }
}

/// What is no error of the machine keeps its type: a caller's, or one of misuse.
TEST(CardsThatFail, pass_on_what_a_kernel_throws) {
  struct Own {};
  const Matrix<double> A = random_matrix(200, 200), B = random_matrix(200, 1);
  Failing failing;
  failing.at = 4, failing.what = std::make_exception_ptr(Own());
  const GemmBackend<Cpu> backend = backend_of(failing);
  Matrix<double> X(200, 1);
  EXPECT_THROW(solve(A.view(), B.view(), X.view(), over(3, backend)), Own);
}

/// More than the host has: which card lacks it, what it wants and what is free.
TEST(CardsThatFail, say_what_memory_they_lack) {
  Columnwise<double> columns;
  columns.n = 1 << 21, columns.keeps = false;
  columns.on_cpu = [](Queue<Cpu>&, std::int64_t, MatrixView<double>) { FAIL() << "no column is asked for"; };
  Failing none;
  const GemmBackend<Cpu> backend = backend_of(none);
  Options o = over(2, backend);
  o.block_size = 1 << 14, o.check = false, o.card_shares = {3, 1};
  const std::string complaint = complaint_of<OutOfMemory>([&] { FactorizationOf<double>::columns(columns, o); });
  for (const char* part : {": not enough host memory: ", " wanted, ", " free"})
    EXPECT_NE(complaint.find(part), std::string::npos) << complaint;
  const auto wants = [&](const std::string& card) { return complaint.starts_with(card + ": "); };
  EXPECT_TRUE(wants("cpu:0") || wants("cpu:1")) << complaint;
}

}  // namespace
}  // namespace lasolve::test::cards_fail_test
