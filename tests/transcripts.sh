#!/usr/bin/env bash
# The transcripts of a page, run from its first to its last: what a command says is what stands below it, but for numbers, the
# backend, and the phases, which depend on the machine. Files that the page shows with cat are there. Usage: transcripts.sh LASOLVE PAGE
set -u
lasolve=$(realpath -- "$1") page=$(realpath -- "$2") failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
# shellcheck disable=SC2317 # it is called by eval
lasolve() { "$lasolve" "$@" --device cpu; }
same() { # without what depends on the machine
  sed -E '/^(phase|read|panel|solve|check|other|total|factor|swap|trsm|gemm|refine) /d; s/^backend .*/backend/; s/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/N/g; s/ +$//' |
    grep -v '^$'
}

commands=0 command='' expected=''
finish() {
  [ -n "$command" ] || return
  commands=$((commands + 1))
  if [[ $command == 'cat '* && ! -e ${command#cat } ]]; then
    printf '%s' "$expected" >"${command#cat }"
    return
  fi
  local said
  said=$(eval "$command" 2>&1 | same)
  if [ "$said" != "$(same <<<"$expected")" ]; then
    printf '$ %s\nthe page says:\n%s\nit says:\n%s\n' "$command" "$(same <<<"$expected")" "$said"
    failed=1
  fi
}
while IFS= read -r text; do
  if [[ $text == '    $ '* ]]; then
    finish
    command=${text#'    $ '} expected=''
  elif [[ $text == '    '* || (-z $text && -n $command) ]]; then
    expected+=${text#'    '}$'\n'
  else
    finish
    command='' expected=''
  fi
done <"$page"
finish
[ $commands -ge 5 ] || { echo "$page has too few commands" && failed=1; }
exit $failed
