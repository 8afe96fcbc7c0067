#!/usr/bin/env bash
# What the compiler says of calls that make no sense: one sentence of the library, which tells what to write. Of the others, nothing.
#   refused.sh COMPILER INCLUDE-FOLDER EIGEN-INCLUDE-FOLDER
set -euo pipefail
compiler=$1 include=$2 eigen=$3
temporary=$(mktemp -d)
trap 'rm -rf -- "$temporary"' EXIT
failures=0

cat >"$temporary/before.hpp" <<'PROGRAM'
#include <lasolve/async.hpp>
#include <lasolve/lasolve.hpp>
#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <array>
#include <complex>
#include <optional>
#include <span>
#include <vector>
PROGRAM
LC_ALL=C "$compiler" -std=c++20 -I"$include" -I"$eigen" -x c++-header "$temporary/before.hpp" -o "$temporary/before.hpp.gch"

# compile LINE...: of a program in which each stands in a function of its own, the k-th in line k of lines.cpp.
compile() {
  cat >"$temporary/call.cpp" <<'PROGRAM'
#include "before.hpp"
using Rows = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;
Eigen::MatrixXd matrix();
using Device = lasolve::Matrix<double, lasolve::Cuda>;
using Sparse = Eigen::SparseMatrix<double>;
std::vector<double> elements();
// Of Eigen, it seems, but neither a matrix nor an expression.
struct Odd {
  using Scalar = double;
  enum { IsRowMajor = 0 };
  double* data();
};
#define CALL(k) \
void call##k(Eigen::MatrixXd& A, Eigen::MatrixXd& B, Eigen::MatrixXd& X, const Eigen::MatrixXd& C, Eigen::MatrixXf& F, Eigen::MatrixXi& I, \
          Eigen::MatrixXcd& Z, Rows& R, Rows& S, const Rows& T, std::vector<double>& v, std::vector<std::vector<double>>& vv, double* p, \
          double (&a)[3][3], double (&b)[3], double (&x)[3], std::array<double, 3>& y, Sparse& E, Odd& odd, \
          Device& dA, Device& dB, Device& dX, const Device& dC, lasolve::Matrix<float, lasolve::Cuda>& dF, lasolve::Context& context, \
          CUstream_st* stream)
PROGRAM
  local k=0 line
  for line in "$@"; do
    k=$((k + 1))
    printf '#line %s "lines.cpp"\nCALL(%s) { %s }\n' $k $k "$line" >>"$temporary/call.cpp"
  done
  LC_ALL=C "$compiler" -std=c++20 -fsyntax-only -I"$include" -I"$eigen" "$temporary/call.cpp" >"$temporary/said" 2>&1
}

# refused SENTENCE LINE: an error of that sentence, and no other. accepted LINE: none. Both are looked at together, at the end.
sentences=() calls=() right=()
refused() { sentences+=("$1") calls+=("$2"); }
accepted() { right+=("$1"); }

# A call that is compiled alone, and judged.
refuse() {
  if compile "$2"; then
    echo "compiles: $2"
  elif ! grep -qF -- "$1" "$temporary/said"; then
    echo "says nothing of '$1': $2"
    grep -m 3 'error:' "$temporary/said"
  elif [[ $(grep -c 'error:' "$temporary/said") -ne 1 ]]; then
    echo "says more than '$1': $2"
    grep 'error:' "$temporary/said"
  else
    return 0
  fi
  failures=$((failures + 1))
}

accept() {
  compile "$1" && return
  echo "does not compile: $1"
  head -n 20 "$temporary/said"
  failures=$((failures + 1))
}

# Calls are compiled together. An error belongs to the line of lines.cpp that was named last. The compiler says a thing once of the same
# types: the calls that did not get their sentence, and it alone, are compiled together again, until none of them does; then each alone.
judge_refused() {
  local left=("${!calls[@]}") next lines i k
  while ((${#left[@]})); do
    lines=() next=()
    for i in "${left[@]}"; do lines+=("${calls[i]}"); done
    compile "${lines[@]}" || true
    awk 'match($0, /lines[.]cpp:[0-9]+/) { line = substr($0, RSTART + 10, RLENGTH - 10) } / error: / { print line ":" $0 }' \
      "$temporary/said" >"$temporary/errors"
    for k in "${!left[@]}"; do
      i=${left[k]}
      [[ $(grep -c "^$((k + 1)):" "$temporary/errors") -eq 1 ]] && grep "^$((k + 1)):" "$temporary/errors" | grep -qF -- "${sentences[i]}" ||
        next+=("$i")
    done
    rounds=$((rounds + 1))
    ((${#next[@]} < ${#left[@]})) || alone=("${left[@]}")
    left=("${next[@]}")
    ((${#alone[@]} == 0)) || break
  done
  for i in "${alone[@]}"; do refuse "${sentences[i]}" "${calls[i]}"; done
}
rounds=0 alone=()

accepted 'lasolve::solve(A, B, X); lasolve::solve(A, v, v); lasolve::solve(a, b, x); lasolve::solve(A, C, X); lasolve::solve(a, v, y);'
accepted 'lasolve::solve(R, B, X); lasolve::solve(R, S, S); lasolve::solve(A, T, S); lasolve::solve(A.transpose(), B, X);'
accepted 'lasolve::solve(A, Eigen::VectorXd(v.size()), X); lasolve::solve(lasolve::row_major(v, 3, 3), b, x);'
accepted 'lasolve::solve({p, 3, 3, 3}, {p, 3, 1, 3}, {p, 3, 1, 3});'
accepted 'lasolve::Factorization<double> f(A), g(a), h(R), m(lasolve::row_major(p, 3, 3)); f.solve(B, X); f.solve(R, S); f.solve(v, b);'
accepted 'lasolve::Factorization<double> f(A.topLeftCorner(3, 3)), g(lasolve::Matrix<double>(3, 3)), h(std::move(f)); f = std::move(g);'
accepted 'lasolve::Factorization<double> f(A, {}, context), g(R, {}, context), h = {A.topRows(3), {}, context}; f = std::move(h);'
accepted 'lasolve::Factorization<double> f(lasolve::Matrix<double>(3, 3), {}, context), g(std::move(dA), {}, context, stream);'
accepted 'lasolve::Factorization<double> f(dA), g(dC, {}, stream), h(dA, {}, context); f.solve(dB, dX); f.solve(dC, dX.view(), {}, stream);'
accepted 'struct Own : lasolve::Factorization<double> { using Factorization::Factorization; }; Own f(A), g(std::move(f)); g = Own(A, {}, context);'
accepted 'std::optional<lasolve::Factorization<double>> f; f.emplace(A, lasolve::Options(), context); auto g = std::move(f); g->solve(B, X);'
accepted 'lasolve::solve(A, B, X.topRows(3)); lasolve::solve(A, B, Eigen::Map<Eigen::MatrixXd>(p, 3, 3)); lasolve::solve(R, T, S.topRows(3));'
accepted 'lasolve::solve(A, elements(), std::span(v)); lasolve::solve(A, matrix(), lasolve::column_major(p, 3, 3));'
accepted 'lasolve::solve(A, b, lasolve::MatrixView<double>(v)); lasolve::solve(A, T, lasolve::row_major(v, 3, 3));'
accepted 'lasolve::solve(A, B, Eigen::Ref<Eigen::MatrixXd>(X)); lasolve::Factorization<double> f(A); f.solve(v, std::span(y)); f.solve(B, X.col(0));'
# What may be of a temporary is copied; the type of a factorization is that of A.
accepted 'lasolve::Factorization<double> f(matrix().transpose()), g(matrix().topRows(3), {}, context), h(Eigen::Ref<const Eigen::MatrixXd>(A + A));'
accepted 'lasolve::Factorization f(A); lasolve::Factorization<double>& g = f; g.solve(B, X); lasolve::Factorization h(std::move(f)); g = std::move(h);'
accepted 'lasolve::Factorization f(F, {.gemm = "tiled"}); lasolve::Factorization<float>& g = f; lasolve::Factorization<float> h(std::move(g));'
accepted 'lasolve::Factorization f(A.transpose()); lasolve::Factorization<double>& g = f; g.solve(B, X); lasolve::Factorization h(dA, {}, context, stream);'
accepted 'auto f = lasolve::factor_async(dA, {}, context), g = lasolve::factor_async(std::move(dA), {}, context); f.solve_async(dB, dX); f = std::move(g);'
accepted 'lasolve::AsyncFactorization<double> f(dA, {}, context), g = {dC, {}, context}; f.solve_async(dC, dX.view(), lasolve::Op::transpose);'
accepted 'lasolve::Matrix<double> M(3, 3); lasolve::solve(M, lasolve::Matrix<double>(3, 3), M); lasolve::solve(M.view(), std::as_const(M).view(), M.view());'
accepted 'lasolve::Options o; lasolve::solve(A, B, X, o); lasolve::solve(A, B, X, {}, lasolve::Op::transpose); lasolve::solve(A, B, X, std::move(o));'
# What the sentences say to write.
accepted 'Eigen::MatrixXd r = A + B, s = I.cast<double>(), t = Eigen::SparseMatrix<int>(3, 3).cast<double>();'
accepted 'Eigen::MatrixXd s(E), t(E + E), u(A.triangularView<Eigen::Lower>()), w(Eigen::PermutationMatrix<3>(Eigen::Vector3i(0, 1, 2)));'
accepted 'lasolve::Factorization<double> factors(dA); factors.solve(dB, dX);'

refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A + A, B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A, A * B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(A.inverse());'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(A); f.solve(2 * B, X);'
refused 'the solution is written to X' 'lasolve::solve(A, B, C);'
refused 'the solution is written to X' 'lasolve::solve(R, S, T);'
refused 'the solution is written to X' 'lasolve::Factorization<double> f(A); f.solve(B, C);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(I, B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(Z, B, X);'
refused 'A, B and X are of different types' 'lasolve::solve(F, B, X);'
refused 'A, B and X are of different types' 'lasolve::solve(A, F, X);'
refused 'A, B and X are of different types' 'lasolve::Factorization<double> f(F);'
refused 'A, B and X are of different types' 'lasolve::Factorization<double> f(A); f.solve(F, F);'
accepted 'lasolve::solve(R, S, X);'
accepted 'lasolve::Factorization<double> f(matrix());'
accepted 'lasolve::Factorization<double> f(std::move(A));'
refused 'the solution is written to X' 'lasolve::solve(A, B, Eigen::MatrixXd(3, 3));'
refused 'the solution is written to X' 'lasolve::Factorization<double> f(A); f.solve(B, (2 * X).eval());'
refused 'Factorization<double>, or Factorization<float>' 'lasolve::Factorization<int> f(A);'
refused 'which is a temporary' 'lasolve::Factorization<double> f(lasolve::row_major(elements(), 3, 3));'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(vv, v, v);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(p, b, x);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(3, b, x);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(E, B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A, E, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A, B, E);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A, B, Sparse(3, 3));'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(E + E, B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A, Eigen::SparseVector<double>(3), X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(Eigen::Ref<Sparse>(E), B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(E.leftCols(2).transpose(), B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A.triangularView<Eigen::Lower>(), B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(A.selfadjointView<Eigen::Lower>(), B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(Eigen::DiagonalMatrix<double, 3>(1, 2, 3), B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(Eigen::PermutationMatrix<3>(), B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(odd, B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(E);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(Sparse(3, 3));'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(A); f.solve(E, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(A); f.solve(B, E);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::solve(Eigen::SparseMatrix<int>(3, 3), B, X);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(A); f.solve(lasolve::Matrix<int>(3, 3), X);'

refused 'a view only borrows the memory of a Matrix' 'lasolve::Factorization<double> f(lasolve::Matrix<double>(3, 3).view());'
refused 'a view only borrows the memory of a Matrix' 'lasolve::Matrix<double> M(3, 3); lasolve::solve(A, B, std::move(M).view());'
refused 'a view only borrows the memory of a Matrix' 'lasolve::factor_async(Device(3, 3).view(), {}, context);'

# What is left out, or is something else.
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization f(E);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization f(I);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization f(A + A, {}, context);'
accepted 'lasolve::Factorization f(matrix());'
refused 'the solution is not returned, but written to X' 'lasolve::solve(A, B);'
refused 'the solution is not returned, but written to X' 'lasolve::Factorization<double> f(A); auto solution = f.solve(B);'
refused 'behind the matrices come lasolve::Options' 'lasolve::solve(A, B, X, "tiled");'
refused 'behind the matrices come lasolve::Options' 'lasolve::solve(A, B, X, lasolve::Op::transpose);'
refused 'behind the matrices come lasolve::Options' 'lasolve::Factorization<double> f(A, "tiled");'
refused 'behind the matrices come lasolve::Options' 'lasolve::Factorization f(A, context);'
refused 'behind the matrices come lasolve::Options' 'lasolve::Factorization<double> f(dA, stream);'
refused 'how many rows and columns it is' 'lasolve::solve(lasolve::row_major(v), b, x);'
refused 'how many rows and columns it is' 'lasolve::solve(A, B, lasolve::column_major(p, 3));'
refused 'how many rows and columns it is' 'lasolve::Factorization<float> f(lasolve::row_major(std::array<float, 9>()));'

# With a context, or a stream, behind the options.
accepted 'lasolve::Factorization<double> f(matrix(), {}, context);'
accepted 'lasolve::Factorization<double> f = {matrix(), {}, context};'
accepted 'lasolve::Factorization<double> f(matrix(), lasolve::Options(), std::as_const(context));'
accepted 'lasolve::Factorization<double> f(Rows(3, 3), {}, lasolve::Context());'
accepted 'lasolve::Factorization<double> f(elements());'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(A + A, {}, context);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(E, {}, context);'
refused 'A, B and X are of different types' 'lasolve::Factorization<double> f(F, {}, context);'
refused 'A, B and X are of different types' 'lasolve::Factorization<double> f(dF, {}, context, stream);'
refused 'A, B and X are of different types' 'lasolve::Factorization<double> f(std::move(dF), {}, stream);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(vv, {}, context);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(p, {}, context);'
refused 'a matrix is dense, of double or float, and in memory' 'lasolve::Factorization<double> f(3, {}, context);'

# A solution that would be gone.
refused 'the solution is written to X' 'lasolve::solve(A, B, std::vector<double>(3));'
refused 'the solution is written to X' 'lasolve::solve(A, B, std::array<double, 3>());'
refused 'the solution is written to X' 'lasolve::solve(A, B, lasolve::Matrix<double>(3, 3));'
refused 'the solution is written to X' 'lasolve::solve(R, S, Rows(3, 3));'
refused 'the solution is written to X' 'lasolve::Factorization<double> f(A); f.solve(v, elements());'
refused 'the solution is written to X' 'lasolve::Factorization<double> f(A); f.solve(B, lasolve::Matrix<double>(3, 3));'
refused 'the solution is written to X' 'lasolve::Factorization<double> f(dA); f.solve(dB, Device(3, 3), lasolve::Op::none, stream);'
refused 'the solution is written to X' 'lasolve::solve(A, B, lasolve::MatrixView<const double>(v));'
refused 'the solution is written to X' 'lasolve::solve(A, B, std::span<const double>(v));'

# Memory of a device.
accepted 'lasolve::solve(dA, dB, dX);'
accepted 'lasolve::solve(dA.view(), dB.view(), dX.view());'
accepted 'lasolve::solve(dA, B, X);'
accepted 'lasolve::solve(A, B, dX);'
accepted 'lasolve::solve(dF, dF, dF);'
accepted 'lasolve::Factorization<double> f(dA); f.solve(dB, X);'
accepted 'lasolve::Factorization<double> f(dA); f.solve(B, dX);'
refused 'the solution is written to X' 'lasolve::Factorization<double> f(dA); f.solve(dB, dC);'
refused 'A, B and X are of different types' 'lasolve::Factorization<double> f(dA); f.solve(dB, dF);'
refused 'A, B and X are of different types' 'lasolve::Factorization<double> f(dA); f.solve(dF, dF, {}, stream);'

# Calls that do not wait.
refused "use of deleted function" 'lasolve::AsyncFactorization<double> f(dA, {}, context); f.solve_async(Device(3, 3), dX);'

compile "${right[@]}" || for line in "${right[@]}"; do accept "$line"; done
judge_refused
echo "${#right[@]} calls compile; ${#calls[@]} are refused in $rounds rounds, ${#alone[@]} of them looked at alone"

# An older standard is told what is needed, by every header, and nothing else.
for header in "$include"/lasolve/*.hpp; do
  for standard in c++11 c++17; do
    echo "#include <lasolve/${header##*/}>" >"$temporary/older.cpp"
    LC_ALL=C "$compiler" "-std=$standard" -fsyntax-only -I"$include" "$temporary/older.cpp" >"$temporary/said" 2>&1 || true
    [[ $(grep -c 'error:' "$temporary/said") -ne 1 ]] || ! grep -qF 'lasolve needs C++20' "$temporary/said" || continue
    echo "$standard is told something else by ${header##*/} than what is needed"
    grep -m 3 'error:' "$temporary/said"
    failures=$((failures + 1))
  done
done

# Each header can be the only one.
alone() {
  local header=$1
  echo "#include <lasolve/${header##*/}>" >"$temporary/alone.${2#-x}"
  LC_ALL=C "$compiler" "${@:2}" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$temporary/alone.${2#-x}" >"$temporary/said" 2>&1 || {
    echo "cannot be the only one: ${header##*/}, ${*:2}"
    grep -m 3 'error:' "$temporary/said"
    failures=$((failures + 1))
  }
}
for header in "$include"/lasolve/*.hpp "$include"/lasolve/*.h; do alone "$header" -xc++ -std=c++20; done
for header in "$include"/lasolve/*.h; do alone "$header" -xc -std=c89; done

# A report that nobody looks at.
for line in 'lasolve::solve(A, B, X);' 'f.solve(B, X);' 'lasolve::factor_async(dA, {}, context).wait();'; do
  compile c++20 "lasolve::Factorization<double> f(A); $line" || true
  grep -q 'warning: ignoring returned value of type .*nodiscard' "$temporary/said" && continue
  echo "nothing is said of a report that nobody looks at: $line"
  failures=$((failures + 1))
done

# Headers are included with -I where pkg-config says where they are, so that warnings in them are a program's own.
if ! LC_ALL=C "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Werror \
  -fsyntax-only -I"$include" "$(dirname -- "${BASH_SOURCE[0]}")/consumer/warnings.cpp" >"$temporary/said" 2>&1; then
  echo 'the compiler warns of the headers'
  grep -m 10 'error:' "$temporary/said"
  failures=$((failures + 1))
fi

exit $((failures > 0))
