#!/usr/bin/env bash
# The page on plugin kernels, followed as it stands: its files have as many lines as it says, and its commands of lasolve do their work,
# though comparisons make fewer runs of smaller products.
#   plugin_kernels_page.sh PAGE LASOLVE
set -euo pipefail
page=$(realpath "$1") tool=$2
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd "$folder"

# A line that begins with `NAME`, and ends with a colon is about the block behind it.
awk '/^`[^`]*`, .*:$/ { split($0, part, "`"); file = part[2] }
     /^```/ { inside = !inside; if (!inside) file = ""; next }
     inside && file { print > file }' "$page"
# shellcheck disable=SC2016 # the backquotes are those of the page
while IFS='`' read -r _ file rest; do
  said=$(grep -oE '[0-9]+' <<<"$rest")
  [ "$(wc -l <"$file")" = "$said" ] || { echo "$file does not have $said lines"; exit 1; }
done < <(grep -E '^`[^`]*`, yours, [0-9]+ lines:$' "$page")
[ -s textbook.c ] && [ -s blocks.cpp ] && [ -s cblas.c ] && [ -s naive_sgemm.cu ] && [ -s tiles.cu ] && [ -s with_cublas.cu ]

# shellcheck disable=SC2317 # it is called by eval
lasolve() {
  if [ "$1" = compare ]; then
    set -- "${@/256,512/64,100}" --repeat 10
    set -- "${@/%512/100}"
  fi
  "$tool" "$@"
}
followed=0
while IFS= read -r command; do
  if [[ $command == *cblas.c* ]] && ! echo '#include <cblas.h>' | ${CC:-cc} -E -x c - >/dev/null 2>&1; then
    echo "left out, for there is no cblas.h: $command"
    continue
  fi
  if [[ $command == *.cu* && $command != *new-kernel* ]]; then # without a device a source is compiled, where there is a compiler
    eval "$command" >said 2>&1 || grep -q 'takes a CUDA device: ' said || { cat said; exit 1; }
    continue
  fi
  eval "$command" >said 2>&1 || { printf '%s\n' "$command"; cat said; exit 1; }
  followed=$((followed + 1))
done < <(sed -n 's/^    \(\([A-Z]*=[^ ]* \)*lasolve [a-z].*\)$/\1/p' "$page")
[ $followed -ge 4 ] || { echo "only $followed commands were found"; exit 1; }
