#!/usr/bin/env bash
# A project in C that has the library in its own tree gets that alone, and decides how it is built. Nothing is compiled.
# subproject.sh SOURCES
set -euo pipefail
sources=$1
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
failed=0
expect() {
  "${@:2}" || {
    echo "not so: $1"
    failed=1
  }
}
says() { grep -qE -- "$@" "$folder/said"; }
never() { ! says "$@"; }

# With what the tool alone needs out of reach.
cmake -S "$sources/tests/consumer/subproject" -B "$folder/build" -G Ninja -DLASOLVE="$sources" -DLASOLVE_CUDA=OFF \
  -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON >"$folder/said" 2>&1 || {
  cat "$folder/said"
  exit 1
}
cp "$folder/build/CMakeCache.txt" "$folder/said"
expect 'the parent has its own build type' says '^CMAKE_BUILD_TYPE:STRING=$'
expect 'the parent has its own tests' never '^BUILD_TESTING'
ninja -C "$folder/build" -t targets all >"$folder/said"
expect 'the library is there' says '^lasolve/liblasolve.a: '
expect 'nothing else is built' never '^lasolve/[^:]*(tool|cli|whole|bench|baseline_solvers|tests|examples)'
ninja -C "$folder/build" -t commands parent >"$folder/said"
expect 'it runs on other machines' never 'march=native'
expect 'a program of C is linked with the C++ library' says 'cc .* -o parent .*liblasolve\.a.* -l(std)?c\+\+'
cp "$folder/build/lasolve/cmake_install.cmake" "$folder/said"
expect 'the parent decides what is installed' never 'liblasolve|include/lasolve'
exit $failed
