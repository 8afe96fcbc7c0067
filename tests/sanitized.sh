#!/usr/bin/env bash
# A program under a sanitizer, or with a malloc of its own, and the library installed under PREFIX, which knows nothing of it. 77:
# the compiler has no such sanitizer.   sanitized.sh COMPILER PREFIX address|thread|leak|undefined|own-malloc
set -euo pipefail
compiler=$1 prefix=$2 way=$3
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
programs=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/consumer
library=$(dirname -- "$(find "$prefix" -name 'liblasolve.*' -print -quit)")
export PKG_CONFIG_PATH=$library/pkgconfig LD_LIBRARY_PATH=$library

if [[ $way == own-malloc ]]; then
  under=("$programs/own_malloc.cpp")
else
  under=("-fsanitize=$way")
  echo 'int main() {}' >"$folder/empty.cpp"
  if ! "$compiler" "${under[@]}" "$folder/empty.cpp" -o "$folder/empty" 2>/dev/null || ! "$folder/empty"; then
    echo "$compiler has no -fsanitize=$way that runs here"
    exit 77
  fi
fi
read -ra flags < <(pkg-config --cflags --libs lasolve)
"$compiler" -std=c++20 -g -O1 "${under[@]}" "$programs/sanitized.cpp" "${flags[@]}" -o "$folder/program"
"$folder/program"
