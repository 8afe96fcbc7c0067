// The C interface: sizes, leading dimensions, words and options out of bytes, and systems of at most 8 unknowns.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>

#include "c_options.hpp"
#include "reference.hpp"

using namespace lasolve;

namespace {

template <class T>
std::vector<T> elements_of(FuzzedDataProvider& in, lasolve_int ld, lasolve_int rows, lasolve_int cols) {
  std::vector<T> all(std::size_t(rows > 0 && cols > 0 && ld >= 0 ? ld * (cols - 1) + rows : 0));
  for (T& x : all) {
    const int k = in.ConsumeIntegral<std::int8_t>();
    using limits = std::numeric_limits<T>;
    x = k < 100 ? T(k) / 8
                : in.PickValueInArray<T>({limits::max(), limits::min(), limits::denorm_min(), T(1e30), T(-1e-30),
                                          limits::infinity(), limits::quiet_NaN(), T(-0.0)});
  }
  return all;
}

/// What a call may end with: no fault of the library, and a sentence where it was not well.
lasolve_status checked(lasolve_status status) {
  if (status == LASOLVE_INTERNAL || (status == LASOLVE_OK) != (*lasolve_last_error() == 0)) std::abort();
  return status;
}

template <class T, class Factor, class SolveWith, class Solve>
void call(FuzzedDataProvider& in, Factor factor, SolveWith solve_with, Solve solve) {
  std::vector<std::string> kept;
  kept.reserve(16);
  const lasolve_options o = fuzz::options_of(in, kept);
  const auto size = [&](lasolve_int most) {
    return in.ConsumeIntegralInRange<lasolve_int>(in.ConsumeBool() ? 1 : -1, most);
  };
  const lasolve_int n = size(8), nrhs = size(3), across = o.row_major ? nrhs : n,
                    lda = n + in.ConsumeIntegralInRange(-1, 2), ldb = across + in.ConsumeIntegralInRange(-1, 2),
                    ldx = across + in.ConsumeIntegralInRange(-1, 2);
  const auto rhs = [&](lasolve_int ld) {
    return o.row_major ? elements_of<T>(in, ld, nrhs, n) : elements_of<T>(in, ld, n, nrhs);
  };
  const std::vector<T> A = elements_of<T>(in, lda, n, n), B = rhs(ldb);
  std::vector<T> X(rhs(ldx).size(), T(7));
  lasolve_report report = LASOLVE_REPORT_INIT;
  if (in.ConsumeIntegralInRange(0, 15) == 0) report.size = in.ConsumeIntegralInRange<std::size_t>(0, sizeof report);
  if (in.ConsumeBool()) {
    const bool is_solved =
        checked(solve(n, nrhs, A.data(), lda, B.data(), ldb, X.data(), ldx, &o, &report)) == LASOLVE_OK;
    if (!is_solved || o.no_check || o.triangle || o.size < sizeof o || n == 0) return;
    const auto op = o.row_major ? Op::transpose : Op::none;
    const Operand<T> its_A({A.data(), n, n, lda}, op);
    const auto rows = o.row_major ? nrhs : n, cols = o.row_major ? n : nrhs;
    const auto plain = [&](const std::vector<T>& from, lasolve_int ld) {
      return test::rounded<T>(Operand<T>({from.data(), rows, cols, ld}, op));
    };
    const double asked = o.accuracy / (double(n) * unit_roundoff_of(precision_of<T>)), most = asked > 0 ? asked : 16;
    if (!(test::hpl_residual<T>(its_A, plain(B, ldb), plain(X, ldx)) <= 1.03 * most)) std::abort();
    return;
  }
  lasolve_factorization* factors = nullptr;
  checked(factor(n, A.data(), lda, &o, &factors, &report));
  const auto op = lasolve_op(in.ConsumeIntegralInRange(0, 2));
  checked(solve_with(factors, op, nrhs, B.data(), ldb, X.data(), ldx, in.ConsumeBool() ? &report : nullptr));
  double rcond, log_abs;
  int sign;
  checked(lasolve_rcond(factors, &rcond));
  checked(lasolve_log_abs_det(factors, &log_abs, &sign));
  lasolve_free(factors);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  FuzzedDataProvider in(data, size);
  if (in.ConsumeBool())
    call<double>(in, lasolve_dfactor, lasolve_dsolve_with, lasolve_dsolve);
  else
    call<float>(in, lasolve_sfactor, lasolve_ssolve_with, lasolve_ssolve);
  return 0;
}
