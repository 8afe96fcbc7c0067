#!/usr/bin/env bash
# scripts/check-questions finds each question that is planted, accepts what is none, and names exceptions that except nothing.
# Usage: questions.sh SOURCES
set -u
sources=$1 failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cp -r "$sources"/{include,src,solvers,gemm,bench,engines,lapack,python} "$work"
check() { "$sources/scripts/check-questions" "$work" >"$work/said"; }
# holds MESSAGE COMMAND...
holds() {
  "${@:2}" && return
  echo "$1"
  cat "$work/said"
  failed=1
}

holds 'there is a question' check
# found WHAT LINE, and accepted LINE: in a file that may not ask.
expected=''
found() {
  echo "$2" >>"$work/src/cli/planted.cpp"
  expected+="src/cli/planted.cpp:$(wc -l <"$work/src/cli/planted.cpp"): asks $1: $2"$'\n'
}
accepted() { echo "$1" >>"$work/src/cli/planted.cpp"; }
found 'which method it is' 'if (method == Method::lu) f();'
found 'which method it is' 'const bool cholesky = r.method!=Method::cholesky;'
found 'which method it is' 'if (Method::lu_nopivot == m) f();'
found 'which method it is' 'case Method::cholesky:'
found 'which method it is' 'switch (recipe.method) {'
found 'which method it is' 'const Method m = symmetric ? Method::cholesky : given;'
found 'which method it is' 'return Method::lu;'
found 'for a property that one method has' 'if (record_of(recipe.method).has_leaf) f();'
found 'for a property that one method has' 'return method->is_dominant || f();'
found 'for a property that one method has' 'const bool symmetric = factors.method().is_symmetric;'
found 'for a property that one method has' 'if (method_.is_symmetric) f();'
found 'for a property that one method has' 'return is_lu ? a : b;'
found 'for a property that one method has' 'if (task.is(lu_task::combine)) f();'
found 'for a property that one method has' 'if (task.is(lu_nopivot_task::panel)) f();'
found 'which type it is' 'if constexpr (sizeof(T) == 8) f();'
found 'which type it is' 'constexpr int side = sizeof(typename X::T) < 8 ? 1 : 2;'
found 'which type it is' 'constexpr int side = sizeof(T) > 4 ? 1 : 2;'
found 'which type it is' 'if constexpr (std::is_same_v<T, double>) f();'
found 'which type it is' 'using W = std::conditional_t<std::is_same_v<F, T>, A, B>;'
accepted 'if (options.factorization == Method::automatic) f();'
accepted 'options.factorization = Method::lu;'
accepted 'if (facts.is_symmetric) f();'
accepted 'if (record_of(method).may_grow) f();'
accepted 'if (task.is(any_task::send)) f();'
accepted 'const std::size_t bytes = n * sizeof(T);'
accepted 'if constexpr (std::is_same_v<Space, Cuda>) f();'
accepted 'static_assert(std::is_same_v<T, double>);'
accepted 'f();  // as if (method == Method::lu)'
check && echo 'what is found is no error' && failed=1
holds "it is not this that is found: $expected" diff <(printf %s "$expected") "$work/said"
rm "$work/src/cli/planted.cpp"

echo 'if (method == Method::lu) f();' >"$work/solvers/lu/planted.cpp"
holds 'a method may not ask about itself' check
echo 'if (method_.is_symmetric) f();' >>"$work/solvers/driver/solver.hpp"
check && echo 'one question more than is excepted is no error' && failed=1
holds 'it is not that question' grep -q '^solvers/driver/solver.hpp:[0-9]*: asks for a property that one method has' "$work/said"
sed -i '/method_.is_symmetric/d' "$work/solvers/driver/solver.hpp"
echo 'return method == Method::lu;' >"$work/python/src/planted.cpp"
check && echo 'a question of Python is no error' && failed=1
holds 'it is not that of Python' grep -q '^python/src/planted.cpp:1: asks which method it is' "$work/said"
rm "$work/python/src/planted.cpp"
rm "$work/solvers/lu/planted.cpp" "$work/src/core/likely_method.hpp"
check && echo 'an exception that excepts nothing is not named' && failed=1
holds 'it is not that exception' grep -qxF 'src/core/likely_method.hpp: asks no more which method it is' "$work/said"
exit $failed
