// Factorization: factored once, solves many right-hand sides.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "lasolve/triangular.hpp"
#include "parts.hpp"

namespace lasolve::python {
namespace {

/// A matrix of the library's as a NumPy array, which owns it.
template <class T>
nb::object owned(Matrix<T>&& made) {
  auto* const kept = new Matrix<T>(std::move(made));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Matrix<T>*>(p); });
  const std::size_t shape[] = {std::size_t(kept->rows()), std::size_t(kept->cols())};
  const std::int64_t strides[] = {1, kept->ld()};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), 2, shape, owner, strides));
}

/// L below the diagonal, whose ones are not there, and U: as LAPACK's getrf leaves them.
template <class T>
Matrix<T> packed_factors(Factorization<T>& factors) {
  const Matrix<T> L = factors.L();
  Matrix<T> U = factors.U();
  for (std::int64_t j = 0; j < L.cols(); ++j)
    std::copy(&L.data()[j * L.ld() + j] + 1, L.data() + j * L.ld() + L.rows(), &U.data()[j * U.ld() + j] + 1);
  return U;
}

/// A factorization of either type, and what it borrows.
class Factors {
 public:
  Factors(nb::handle a, bool copy, bool overwrite_a, const nb::kwargs& options) : a_(nb::borrow(a)) {
    Asked asked;
    asked.set_all(options);
    kernel_ = asked.kernel;
    if (!A_.take(a_) || A_.dimensions() != 2) {
      a_ = function("_arrays", "matrix")(a_);
      A_.require(a_);
    }
    if (A_.dimensions() != 2 || A_.size(0) != A_.size(1))
      throw std::invalid_argument("lasolve: a is to be a square matrix");
    const auto n = double(order());
    watch(asked, n * n * n * 2 / 3, A_.device().kind == Device::cuda);
    const After order_of_a = after(a_, A_.device());
    if (overwrite_a &&
        (A_.is_double() ? overwrite<double>(asked.options, order_of_a) : overwrite<float>(asked.options, order_of_a)))
      return;
    const Unlocked unlocked(order());
    if (A_.is_double())
      factor<double>(copy, asked.options, order_of_a);
    else
      factor<float>(copy, asked.options, order_of_a);
  }

  std::int64_t order() const { return A_.size(0); }
  bool overwrote_a() const { return overwrote_a_; }
  const Report& report() const {
    return std::visit([](const auto& f) -> const Report& { return f->report(); }, factors_);
  }
  /// f(the factorization), without the lock of the interpreter.
  template <class F>
  auto with(const F& f) {
    const Unlocked unlocked(order());
    return std::visit([&](auto& its) { return f(*its); }, factors_);
  }

  nb::object solve(nb::handle b, nb::handle trans) {
    nb::object given = nb::borrow(b);
    Array B, X;
    if (!B.take(given) || B.dimensions() == 0 || B.is_double() != A_.is_double()) {
      given = function("_arrays", "rhs")(given, A_.is_double());
      B.require(given);
    }
    const bool is_column = B.dimensions() == 1;
    const int core = is_column ? 1 : 2, d = B.dimensions();
    if (B.size(d - core) != order())
      throw std::invalid_argument("lasolve: b has " + std::to_string(B.size(d - core)) + " rows, and a " +
                                  std::to_string(order()));
    std::vector<std::int64_t> shape;
    for (int i = 0; i < d; ++i) shape.push_back(B.size(i));
    nb::object x = empty_like(given, shape, B.is_double());
    X.require(x, true);
    Batches batches;
    batches.add(B, core);
    const Op op = is_transposed_ ? flipped(op_of(trans)) : op_of(trans);
    const After order_of_b = after(given, B.device());
    std::vector<Report> reports;
    with([&]<class T>(Factorization<T>& f) {
      for (std::int64_t i = 0; i < batches.count(); ++i) {
        Report report = f.solve(B.matrix<const T>(batches.offset(B, core, i), is_column),
                                X.matrix<T>(batches.offset(X, core, i), is_column), op, order_of_b.stream);
        if (!is_clean(report, B.is_double())) reports.push_back(std::move(report));
      }
    });
    for (const Report& report : reports) tell(report);
    return finished(given, std::move(x));
  }

  nb::object triangle(Factor which) {
    return std::visit([&](auto& f) { return owned(f->triangle(which)); }, factors_);
  }
  nb::object lu() {
    return std::visit([](auto& f) { return owned(packed_factors(*f)); }, factors_);
  }
  std::vector<std::int64_t> pivots() {
    return std::visit([](auto& f) { return f->pivots(); }, factors_);
  }

 private:
  template <class T>
  void factor(bool copy, const Options& options, After after) {
    const auto A = A_.matrix<const T>();
    factors_ = std::make_unique<Factorization<T>>(copy && !A.on_cuda() ? A.to_be_copied() : A, options, after);
  }

  /// Whether A could be.
  template <class T>
  bool overwrite(const Options& options, After after) {
    const auto A = to_overwrite<T>(a_, options);
    if (!A) return false;
    const Unlocked unlocked(order());
    factors_ = std::make_unique<Factorization<T>>(factored_in_place(*A, options, after));
    is_transposed_ = A->by_rows;
    return overwrote_a_ = true;
  }

  nb::object a_, kernel_;
  Array A_;
  bool overwrote_a_ = false, is_transposed_ = false;  // what was factored in the place of A
  std::variant<std::unique_ptr<Factorization<double>>, std::unique_ptr<Factorization<float>>> factors_;
};

/// A matrix of NumPy's by columns, or its transpose by columns.
struct ByColumns {
  ByColumns(nb::handle given) {
    array.require(given);
    const bool is_square = array.dimensions() == 2 && array.size(0) == array.size(1);
    if (!is_square) throw std::invalid_argument("lasolve: factors are square matrices");
    turned = array.stride(0) != 1 && array.size(0) > 1;
    if (turned ? array.stride(1) != 1 : array.size(1) > 1 && array.stride(1) < array.size(0))
      throw std::invalid_argument("lasolve: factors lie by columns or by rows");
  }
  template <class T>
  void solve(bool lower, bool unit, MatrixView<T> B, bool transposed) const {
    const std::int64_t n = array.size(0);
    const auto data = array.matrix<const T>().data();
    const MatrixView<const T> A(data, n, n, std::max(array.stride(turned ? 0 : 1), n));
    solve_triangular<T>(A, lower == turned ? Uplo::upper : Uplo::lower, unit, B,
                        transposed == turned ? Op::none : Op::transpose);
  }

  Array array;
  bool turned;
};

/// f(X by columns) of the type that X has, without the lock of the interpreter.
template <class F>
void with_columns(nb::handle x, const F& f) {
  Array X;
  X.require(x, true);
  const std::int64_t n = X.size(0), nrhs = X.size(1);
  const Unlocked unlocked(n);
  if (X.is_double())
    f(MatrixView<double>(X.matrix<double>().data(), n, nrhs, std::max(n, X.stride(1))));
  else
    f(MatrixView<float>(X.matrix<float>().data(), n, nrhs, std::max(n, X.stride(1))));
}

/// X ← op(A)⁻¹ X with P A = L U as getrf leaves it. X is by columns, and of the type of the factors.
void lu_solve(nb::handle lu, const std::vector<std::int64_t>& pivots, nb::handle x, nb::handle trans) {
  const ByColumns factors(lu);
  const bool transposed = op_of(trans) != Op::none;
  const std::int64_t n = factors.array.size(0);
  if (std::int64_t(pivots.size()) != n ||
      std::any_of(pivots.begin(), pivots.end(), [&](auto p) { return p < 0 || p >= n; }))
    throw std::invalid_argument("lasolve: pivots are n row numbers from 0");
  with_columns(x, [&]<class T>(MatrixView<T> X) {
    const auto exchange = [&](std::int64_t k) {
      for (std::int64_t j = 0; j < X.cols(); ++j) std::swap(X(k, j), X(pivots[std::size_t(k)], j));
    };
    if (!transposed)
      for (std::int64_t k = 0; k < n; ++k) exchange(k);
    factors.solve(!transposed, !transposed, X, transposed);
    factors.solve(transposed, transposed, X, transposed);
    if (transposed)
      for (std::int64_t k = n; k-- > 0;) exchange(k);
  });
}

/// X ← A⁻¹ X with A = C Cᵀ, or, of an upper C, A = Cᵀ C.
void cho_solve(nb::handle c, bool lower, nb::handle x) {
  const ByColumns factor(c);
  with_columns(x, [&]<class T>(MatrixView<T> X) {
    factor.solve(lower, false, X, !lower);
    factor.solve(lower, false, X, lower);
  });
}

constexpr const char* no_copies =
    "lasolve: a Factorization is not copied, nor pickled: it may be used by many threads as it is; other processes "
    "take lu_factor(a), "
    "which is two arrays, or a itself";

nb::object pivots_array(Factors& factors) {
  return nb::module_::import_("numpy").attr("array")(factors.pivots(), "int32");
}

}  // namespace

Op op_of(nb::handle trans) {
  std::string word;
  int number = -1;
  if (nb::try_cast(trans, number) ? number == 0 : nb::try_cast(trans, word) && word == "N") return Op::none;
  if (number == 1 || number == 2 || word == "T" || word == "C") return Op::transpose;
  throw std::invalid_argument("lasolve: trans is 0, 1, 2, 'N', 'T' or 'C'");
}

void bind_factorization(nb::module_& m) {
  m.def("lu_solve", lu_solve);
  m.def("cho_solve", cho_solve);
  nb::class_<Factors>(m, "Factorization", R"(P A = L U or A = L L^T: factored once, solves many right-hand sides.

Parameters
----------
a : (n, n) array of float64 or float32; others are converted
    With copy=False it is borrowed, and must not change while this lives.
copy : bool
    Keep a copy of a, with which solutions are checked and refined.
overwrite_a : bool
    Overwrite a with its factors, where `solve` would with overwrite_a=True: solutions are then not checked.
**options
    As of `solve`: gemm, device, precision, accuracy, and those that `lasolve.keywords()` lists.

Raises
------
ValueError
    Sizes, words, NaN or infinities in a.
TypeError
    Complex elements, unknown keywords.

Notes
-----
A matrix that cannot be factored is no error here: `report.outcome` says so, and `solve` raises LinAlgError.
Any threads may use it; solves come one after the other.)")
      .def(nb::init<nb::handle, bool, bool, const nb::kwargs&>(), nb::arg("a"), nb::arg("copy") = true,
           nb::arg("overwrite_a") = false, nb::arg("options"))
      .def("__reduce_ex__", [](const Factors&, int) -> nb::object { throw nb::type_error(no_copies); })
      .def("solve", &Factors::solve, nb::arg("b"), nb::arg("trans") = 0, R"(x with op(a) x = b.

Parameters
----------
b : (n,), (n, k) or (..., n, k) array
trans : 0 or "N": a; 1 or "T", 2 or "C": its transpose

Returns
-------
x : array of the shape, kind and device of b

Raises
------
LinAlgError
    The matrix is singular, or not positive definite.)")
      .def_prop_ro(
          "report", [](const Factors& f) { return Report(f.report()); }, "What the factorization did.")
      .def_prop_ro(
          "rcond", [](Factors& f) { return f.with([](auto& its) { return its.rcond(); }); },
          "An estimate of 1 / (|A| |A^-1|), in the 1-norm; of a row-major a in the infinity norm.")
      .def_prop_ro(
          "logdet",
          [](Factors& f) {
            const LogDeterminant d = f.with([](auto& its) { return its.log_abs_det(); });
            return nb::make_tuple(d.sign, d.log_abs);
          },
          "(sign, log|det a|), as numpy.linalg.slogdet gives.")
      .def_prop_ro(
          "L", [](Factors& f) { return f.triangle(Factor::L); }, "The lower factor; of a row-major a that of a.T.")
      .def_prop_ro(
          "U", [](Factors& f) { return f.triangle(Factor::U); }, "The upper factor; of a row-major a that of a.T.")
      .def_prop_ro("lu", &Factors::lu, "L below the diagonal, and U: as lu_factor. Of a row-major a those of a.T.")
      .def_prop_ro("overwrote_a", &Factors::overwrote_a, "Whether the factors are in the memory of a.")
      .def_prop_ro("pivots", pivots_array, "Row k was exchanged with row pivots[k].")
      .def("__repr__", [](Factors& f) { return function("_report", "text")(Report(f.report())); });
}

}  // namespace lasolve::python
