#!/usr/bin/env bash
# Each command of the tool that README shows works as it is written there, but with small matrices.
# Usage: cli_readme.sh LASOLVE DATA
set -u
lasolve=$1 readme=$2/../README.md failed=0
readme=$(realpath "$readme")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
for name in A.mtx A.npy A.csv; do "$lasolve" generate uniform:n=40 --output "$name" || exit 1; done
for name in b.mtx b.csv; do "$lasolve" A.mtx --quiet --output "$name" || exit 1; done

commands=$(sed -n '/^## What do you want/,/^## What one kernel/s/^    \(lasolve .*\)/\1/p' "$readme" | sed 's/ *#.*//')
[ "$(wc -l <<<"$commands")" -ge 12 ] || {
  echo "README shows too few commands: $commands"
  exit 1
}
# shellcheck disable=SC2317 # it is called by eval
lasolve() { "$lasolve" "$@"; }
draws=yes # what draws is not part of the build
python3 -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null || draws=no
while IFS= read -r command; do
  [ $draws = yes ] || command=$(sed -E 's/ --report [^ ]+//' <<<"$command")
  small=$(sed -E 's/n=[0-9]+k/n=60/; s/(compare .*)--n [0-9kx:]+/\1--unverified --repeat 2 --n 40,60/; s/--n [0-9]+k --k [0-9,]+/--n 70 --k 16,24/; s/--shape square/--shape square --n 16/; s/gemm --/gemm --repeat 1 --/; s/tune --n [0-9kx:]+/tune --gemm tiled --n 40,60/' <<<"$command")
  if ! (eval "$small") >said 2>&1 </dev/null; then
    printf 'README: %s\n  as: %s\n' "$command" "$small"
    sed 's/^/  /' said
    failed=1
  fi
done <<<"$commands"
exit $failed
