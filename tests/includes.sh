#!/usr/bin/env bash
# scripts/check-includes finds each kind of include that is missing. Usage: includes.sh SOURCES
set -u
failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$1" && cp -r scripts src solvers engines gemm include lapack examples bench "$work" && cd "$work" || exit 1
export PYTHONDONTWRITEBYTECODE=1

expected=()
# without FILE INCLUDE WORDS: the file does not include it, and names the words.
without() {
  grep -q "^#include [\"<]$2[\">]" "$1" || expected+=("$1: includes $2")
  sed -i "\\|^#include [\"<]$2[\">]|d" "$1"
  expected+=("$1: names $3, and does not include")
}
# with FILE TEXT WORDS: the file has the text at its end.
with() {
  printf '%s\n' "$2" >>"$1"
  expected+=("$1: $3")
}
scripts/check-includes || failed=1
without src/io/input_file.cpp io/seen_by_signals.hpp SeenBySignals        # a class
without src/core/memory_kind.cpp core/misuse.hpp Misuse                   # an exception
without src/core/tuning.cpp core/process.hpp NeverDestroyed               # a template
without src/io/no_cuda/generators.cpp core/no_cuda/refuse.hpp refuse      # a function
without solvers/lu/recursive.cpp solvers/lu/steps.hpp LuSteps             # a template with arguments
without solvers/cards/group.hpp core/settled.hpp Settled                  # in a header
without src/plugin/cpu/device.cpp cstring std::memcmp                     # of the C library
without src/core/cuda_devices.cpp cctype std::isdigit                     # by way of others'
without src/bench/others.cpp algorithm std::max                           # in each standard header by chance
without src/worker/protocol.cpp fmt/format.h fmt::format                   # of other projects
without src/io/teller.hpp utility std::move
without src/plugin/plugin.cpp csignal std::signal # beside <signal.h>
without src/compare/tables.cpp lasolve/names.hpp name_of                  # of this namespace, where another has the name
without src/compare/record.cpp io/input_error.hpp io::InputError # of another namespace
without src/worker/child.cpp poll.h POLLIN                                # of POSIX
with src/io/table.cpp '#include "io/npy.cpp"' 'includes a source, io/npy.cpp'
with src/io/table.cpp 'static_assert(std::is_no_such_thing);' 'std::is_no_such_thing is in no row of scripts/declared_in.py'
with src/io/structure.cpp 'const int planted = with_element(1);' 'names with_element, which only another source declares'
said=$(scripts/check-includes) && failed=1
for words in "${expected[@]}"; do
  grep -qF "$words" <<<"$said" || {
    echo "not found: $words"
    failed=1
  }
done
exit $failed
