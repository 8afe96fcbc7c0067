#!/usr/bin/env bash
# A program of docs/use-from-c.md, as its reader follows it: from an empty folder, with the library installed under PREFIX. The
# compiler is held to C89, but for CMake's.   c_page.sh PAGE PREFIX PROGRAM [CUDA]
# With CUDA, the folder of the toolkit, the program needs a device: without one it is built, and 77 returned.
set -euo pipefail
page=$(realpath -- "$1") prefix=$2 program=$3 cuda=${4-}
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

# The first block of C after the name of its file.
awk -v name="\`$program.c\`:" '$0 == name { found = 1 } inside && /^```$/ { exit } inside
                                found && /^```c$/ { inside = 1 }' "$page" >"$folder/$program.c"
commands=$(grep -E "^    (export PKG_CONFIG_PATH=|cc $program\.c )" "$page" | sed "s|PREFIX|$prefix|; s|CUDA/|$cuda/|g")
cd "$folder"
cc() { command "${CC:-cc}" -std=c89 -pedantic-errors "$@"; }
eval "$commands"
[ -x "$program" ]
if [ -n "$cuda" ] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo 'there is no CUDA device'
  exit 77
fi
said=$("./$program")
echo "$said"
[[ $said == 'x = -0.4, y = 2.6'* ]]
[ "$program" = solve ] || exit 0

# The same by CMake: where only C is enabled, and beside C++.
sed -n '/^```cmake$/,/^```$/{/^```/!p}' "$page" >CMakeLists.txt
for languages in C 'C CXX'; do
  sed -i "s/LANGUAGES [CX ]*/LANGUAGES $languages/" CMakeLists.txt
  cmake -B "build $languages" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "build $languages" >/dev/null
  [ "$("build $languages/solve")" = "$said" ]
done
