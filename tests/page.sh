#!/usr/bin/env bash
# The programs of a page of docs/, as its reader follows it: from an empty folder, with the library installed under PREFIX.
#   page.sh PAGE PREFIX
# A block behind a line that ends in a file's name and a colon is that file; a block of text is what the program before it prints.
set -euo pipefail
page=$1 prefix=$2
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

awk -v folder="$folder/" '
  match($0, /`[A-Za-z_]+\.(cpp|txt)`[^`]*:$/) { split(substr($0, RSTART), words, "`"); name = words[2] }
  /^```/ && inside { inside = 0; file = ""; next }
  /^```/ {
    inside = 1
    if ($0 == "```text" && program != "") file = folder program ".expected"
    else if (name != "" && !(name in seen)) {
      file = folder name
      seen[name] = 1
      if (sub(/\.cpp$/, "", name)) program = name
      name = ""
    }
    next
  }
  inside && file != "" { print > file }
' "$page"
cd "$folder"
cmake -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build build --parallel 2 >/dev/null
for expected in *.expected; do
  "build/${expected%.expected}" | diff "$expected" - || { echo "${expected%.expected} prints something else" && exit 1; }
done
