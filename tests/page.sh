#!/usr/bin/env bash
# A page of docs/, as its reader follows it: from an empty folder, with the library installed under PREFIX.
#   page.sh PAGE PREFIX
set -euo pipefail
page=$1 prefix=$2
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

# block LANGUAGE: the first of the page.
block() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`/!p;/^\`\`\`\$/q}" "$page"
}

block cpp >"$folder/solve.cpp"
block cmake >"$folder/CMakeLists.txt"
block text >"$folder/expected"
cd "$folder"
cmake -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build build >/dev/null
build/solve >said
diff expected said
