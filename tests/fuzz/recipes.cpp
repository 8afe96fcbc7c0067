// Systems with a known solution by any recipe of the CPU: refused with a sentence, or as good as the report says. And the same once more, in
// a way that changes no bit of X, or of the factors.
#include <cstring>

#include "asked.hpp"
#include "judge.hpp"
#include "lasolve/pieces.hpp"

using namespace lasolve;
using fuzz::Judge, fuzz::Solved, fuzz::System, fuzz::Way;

namespace {

template <class T>
bool same_bits(const Matrix<T>& A, const Matrix<T>& B) {
  for (std::int64_t j = 0; j < A.cols() && A.rows() > 0; ++j)
    if (std::memcmp(&A(0, j), &B(0, j), std::size_t(A.rows()) * sizeof(T)) != 0) return false;
  return true;
}

template <class T>
Factorization<T> factored(Matrix<T>& A, const Matrix<T>& rows, const Options& o, Way way) {
  const MatrixView<const T> view = A.view();
  if (way == Way::copy) return Factorization<T>::copy_of(view, o);
  if (way == Way::hand_over) return Factorization<T>(std::move(A), o);
  if (way == Way::rows) return Factorization<T>(row_major(rows.data(), rows.rows(), rows.cols(), rows.ld()), o);
  if (way == Way::factor) return Factorization<T>(view, o);
  const std::int64_t n = view.cols(), some = n / 3;
  const Borrowed<const T> pieces[] = {view.columns(0, some), view.columns(some, n - some)};
  return factor_pieces(std::span<const Borrowed<const T>>(pieces), o);
}

/// None: it was refused. What else is thrown ends the process.
template <class T>
std::optional<Solved<T>> solved(const System<T>& system, const Options& o, Way way, bool over_B = false) {
  Matrix<T> A = system.given();
  const Matrix<T> before = system.given(), rows = test::rounded<T>(transposed(A.view()));
  Solved<T> its{test::matrix_of<T>(system.n, system.nrhs, [&](auto i, auto j) { return over_B ? system.B(i, j) : 7; }),
                way};
  const auto refused = [](const std::exception& e) {
    if (!std::strchr(e.what(), ' ')) std::abort();
    return std::nullopt;
  };
  try {
    const RecipeWatch watch({its.by});
    if (way == Way::solve) {
      its.report = solve(A.view(), system.B.view(), its.X.view(), o, system.op);
    } else {
      Factorization<T> factors = factored(A, rows, o, way);
      const MatrixView<const T> B = over_B ? MatrixView<const T>(its.X.view()) : system.B.view();
      its.report = combined(factors.report(), factors.solve(B, its.X.view(), system.op));
    }
  } catch (const NotFinite& e) {
    if (system.is_finite()) std::abort();
    return refused(e);
  } catch (const std::invalid_argument& e) {
    return refused(e);
  } catch (const MachineError& e) {
    return refused(e);
  }
  if (way != Way::hand_over && !same_bits(A, before)) std::abort();
  return its;
}

/// With progress, over cards of another name, from pieces: the same bits. On one device instead of several: the same factors, where a backend
/// computes an element in the same way in products of all widths.
template <class T>
void solve_again(FuzzedDataProvider& in, const System<T>& system, const Options& o, const Solved<T>& first) {
  const bool several = o.cards.size() > 1, on_one = several && in.ConsumeBool();
  Options other = o;
  Way way = first.way;
  if (in.ConsumeBool()) other.progress = [](double) {};
  if (several) std::fill(other.cards.begin(), other.cards.end(), 3);
  if (several && way == Way::factor && in.ConsumeBool()) way = Way::pieces;
  if (on_one)
    other.cards.clear(), other.card_shares.clear(), other.schedule = Schedule::right_looking,
                                                    other.block_size = first.report.block_size;
  const auto second = solved(system, other, way);
  const Judge<T> judge(system, o, first);
  judge.require(second.has_value(), "refused when asked again");
  const Report &a = first.report, &b = second->report;
  if (!on_one) {
    judge.require(a.outcome.kind == b.outcome.kind && a.outcome.at == b.outcome.at, "another outcome", b.outcome.kind);
    judge.require(same_bits(first.X, second->X), "other bits");
  } else if (a.storage == b.storage && a.method == b.method && a.equilibration == b.equilibration &&
             a.pivoting == b.pivoting && a.gemm != "eigen" && a.gemm != "blas") {
    const auto is_same = [](auto x, auto y) { return x == y || (x && y && *x != *x && *y != *y); };
    judge.require(is_same(a.growth, b.growth) && is_same(a.largest_multiplier, b.largest_multiplier), "other factors",
                  a.growth.value_or(-1), b.growth.value_or(-1));
  }
}

template <class T>
void try_recipe(FuzzedDataProvider& in) {
  const System<T> system(in);
  const Options o = fuzz::asked_of(in, system.triangle, system.n * system.n * std::int64_t(sizeof(T)));
  const Way way = in.ConsumeBool() ? Way::solve : in.ConsumeEnum<Way>();
  const bool over_B = way != Way::solve && in.ConsumeIntegralInRange(0, 7) == 7;
  const auto first = solved(system, o, way, over_B);
  if (!first) return;
  Judge<T>(system, o, *first)();
  if (in.ConsumeIntegralInRange(0, 3) == 3) solve_again(in, system, o, *first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  FuzzedDataProvider in(data, size);
  in.ConsumeBool() ? try_recipe<float>(in) : try_recipe<double>(in);
  return 0;
}
