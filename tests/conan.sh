#!/usr/bin/env bash
# The recipe for Conan makes a package of this tree, with what the system has, and a program is built with it. 77: there is no Conan.
# conan.sh SOURCES
set -euo pipefail
sources=$1
conan=$(command -v "${CONAN:-conan}") || {
  echo 'there is no conan: pip install conan'
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
export CONAN_HOME=$folder
"$conan" profile detect >/dev/null 2>&1
# Without optimization, which would take most of the time; and nothing is built in the tree.
options=(--no-remote --build=missing -s compiler.cppstd=20 -s build_type=Debug -o '&:from_system=True'
  -c "tools.cmake.cmake_layout:test_folder=$folder/test")
"$conan" create "$sources/packaging/conan" "${options[@]}" >"$folder/log" 2>&1 || {
  tail -n 40 "$folder/log"
  exit 1
}
grep -q '^lasolve .*solved, x = (0.8, 1.4)' "$folder/log" || {
  tail -n 40 "$folder/log"
  exit 1
}
