# Sourced by the tests of the tool, which take LASOLVE DATA: a folder of its own, and what the tool is expected to do.
# shellcheck shell=bash
set -u
lasolve=$1 data=$2 failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache # what is tested does not depend on what the user has tuned
array='%%MatrixMarket matrix array real general'

# expect CODE TEXT ARGUMENTS...: the tool ends with the code and says the text.
expect() {
  local code=$1 text=$2 said
  shift 2
  said=$("$lasolve" "$@" 2>&1)
  local got=$?
  if [ $got -ne "$code" ] || [[ $said != *"$text"* ]]; then
    printf 'lasolve %s\n  expected %s and "%s", got %s:\n%s\n' "$*" "$code" "$text" $got "$said"
    failed=1
  fi
}

# holds MESSAGE COMMAND...: the command succeeds, or the message is shown.
holds() {
  if ! "${@:2}"; then
    echo "$1"
    failed=1
  fi
}
