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
said=''
expect() {
  local code=$1 text=$2
  shift 2
  said=$("$lasolve" "$@" 2>&1)
  local got=$?
  if [ $got -ne "$code" ] || [[ $said != *"$text"* ]]; then
    printf 'lasolve %s\n  expected %s and "%s", got %s:\n%s\n' "$*" "$code" "$text" $got "$said"
    failed=1
  fi
}

# also TEXT: what the tool said last has this text, too.
also() {
  if [[ $said != *"$1"* ]]; then
    printf 'expected also "%s" in:\n%s\n' "$1" "$said"
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

# line FILE: the line that converts it, as the tool says it.
line() { "$lasolve" "$1" 2>&1 | sed -En 's/^  (iconv|gzip|python3|bzip2|xz|zstd|tar|unzip) /\1 /p' | head -n 1; }

# converts FILE [COMMAND...]: the line that is said is run, leaves the file as it is, and makes one that is solved, or of which the
# command succeeds with its name.
converts() {
  local before there command made file=$1
  shift
  before=$(cksum <"$file") command=$(line "$file")
  there=$(find . -maxdepth 1 -type f | sort)
  if ! eval "$command"; then
    printf '%s: this fails: %s\n' "$file" "$command"
    failed=1
  fi
  holds "$file was changed by: $command" [ "$(cksum <"$file")" = "$before" ]
  made=$(comm -13 <(echo "$there") <(find . -maxdepth 1 -type f | sort))
  holds "$file: not one file is made by: $command" [ -f "$made" ]
  if [ $# -gt 0 ]; then
    holds "$file: what is made is another matrix: $command" "$@" "$made"
  else
    holds "$made is not solved" "$lasolve" "$made" --device cpu -q
  fi
}
