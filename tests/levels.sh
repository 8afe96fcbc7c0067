#!/usr/bin/env bash
# Code for one set of instructions stays in its objects, and each is taken where it is asked for.
# Usage: levels.sh NM TOOL DATA LEVELS OBJECT...
set -u
nm=$1 tool=$2 data=$3 levels=$4 failed=0
shift 4

(($# > 0)) || { echo 'there are no objects of levels'; exit 1; }
for object; do
  # A weak symbol, or another that somebody else may define, could be taken for that of the whole program.
  while read -r _ kind name; do
    case $kind:$name in
      [a-zB-TX-Z]:_ZN7lasolve*) ;;
      *) echo "${object##*/} defines $name ($kind)" && failed=1 ;;
    esac
    level=${object%.cpp.o} level=${level##*.}
    [[ $name == *"${#level}$level"* ]] || { echo "${object##*/} defines $name, which is not in the namespace $level" && failed=1; }
  done < <("$nm" --defined-only --extern-only "$object" | awk 'NF == 3')
done

if [[ $levels != one_level ]]; then
  for level in ${levels//;/ }; do
    solved=$(LASOLVE_CPU=$(sed "s/x86_64/x86-64/; s/_/-/" <<<"$level") "$tool" --matrix "$data/A.mtx" --device cpu 2>&1) ||
      { echo "$level: $solved" && failed=1; }
  done
  ! LASOLVE_CPU=pentium "$tool" --matrix "$data/A.mtx" --device cpu >/dev/null 2>&1 || { echo 'LASOLVE_CPU=pentium is taken' && failed=1; }
fi
exit "$failed"
