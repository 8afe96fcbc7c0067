#!/usr/bin/env bash
# What the tool explains, and how it may be called. Usage: cli_help.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"

# The short form, and sizes as people write them.
printf '4,1\n2,3\n' >A.csv
cp A.csv plain
expect 0 'A.csv, 2 x 2' A.csv --device cpu
expect 0 'plain, 2 x 2' plain --device cpu
expect 0 'A.csv, 2 x 2' --device cpu A.csv
expect 0 '64 x 64' uniform:n=2^6 --device cpu
expect 0 'uniform:n=1e2, 100 x 100' --matrix uniform:n=1e2 --device cpu
expect 0 'panels of at most 16 columns' uniform:n=100 --block-size 1.6e1 --device cpu
expect 0 'tiled' bench gemm --device cpu --gemm tiled --shape 1e1x2^4x64 --precision fp64
expect 2 "expected a size after n=, found '1.5'; 8192, 8k and 1e4 are sizes" uniform:n=1.5
expect 2 "there is no command and no file 'tilde'" tilde
expect 2 "did you mean 'generate'" genrate
expect 2 'right-hand sides are given as --rhs FILE' A.csv plain
expect 3 'nowhere.mtx: error: cannot open' nowhere.mtx
expect 6 'TiB wanted' uniform:n=900k --device cpu

# Help: each command says its own, and every topic that is listed is there.
expect 0 'Commands:' --help
expect 0 'Commands:' -h
expect 0 '--factorization' solve --help
expect 0 '--factorization' A.csv --help
expect 0 'Topics:' help
for command in solve compare tune list generate convert bench new-kernel try-kernel help; do
  expect 0 "lasolve ${command/solve/[solve]}" help $command
done
expect 0 'randsvd' generate --help
holds 'generate --help tells of solving' [ -z "$("$lasolve" generate --help | grep -e --gemm -e --rhs)" ]
expect 2 "no option '--gemm'" generate uniform:n=3 --gemm tiled --output x.mtx
expect 2 "did you mean 'phases'" help phase
while read -r _ _ topic _; do
  expect 0 '' help "$topic"
done < <("$lasolve" help | sed -n '/^Topics:/,$p' | grep '^ ')
"$lasolve" uniform:n=50 --precision fp32 --device cpu --json report.json -q
grep -A20 '"phases": {' report.json | sed -n '2,/}/s/.*"\(.*\)".*/\1/p' >phases
holds 'no phases were found' [ -s phases ]
while read -r phase; do
  expect 0 "  $phase " help phases
done <phases
holds 'a line of help is too long' [ -z "$(for c in solve compare tune list generate convert bench new-kernel try-kernel; do "$lasolve" $c --help; done | grep -E '.{103}')" ]

# One name a thing. The names of the release before are taken, and said.
expect 0 'note: --with-copies is --copies now' bench gemm --device cpu --gemm tiled --precision fp64 --shape 8x8x8 --with-copies
for former in '-n 8' -n8; do
  # shellcheck disable=SC2086 # it is split into words
  expect 0 'note: -n is --block-size now' uniform:n=40 --device cpu $former
  # shellcheck disable=SC2086
  expect 0 'panels of at most 8 columns' uniform:n=40 --device cpu $former
  # shellcheck disable=SC2086
  expect 0 'panels of at most 8 columns' plan uniform:n=40 $former
done
expect 0 'eigen' help --usable peers # as completions of the release before ask
expect 0 'note: --peers is --baseline-solvers now' compare --n 20 --gemm naive --device cpu --peers eigen --quiet --unverified --repeat 1
holds 'what is former is in the help' [ -z "$(for c in solve plan bench compare; do "$lasolve" $c --help; done | grep -e --with-copies -e --peers -e '-n, --block')" ]

# An option is not the value of the one before it.
expect 2 "--csv takes FILE, and is followed by the option '--report'" compare --csv --report x
expect 2 "--json takes FILE, and is followed by the option '-q'" uniform:n=4 --json -q
expect 2 "--gemm takes NAMES, and is followed by the option '--device'" uniform:n=4 --gemm --device cpu
holds 'a file has the name of an option' [ ! -e --report ]

# The manual page and completion.
"$lasolve" help --man >lasolve.1
for option in --factorization --copies --completion --triangle --fail-on --within; do
  holds "the manual page lacks $option" grep -q -e "${option//-/\\\\-}" lasolve.1
done
if command -v groff >/dev/null; then
  holds "the manual page: $(groff -man -Tutf8 -ww -K utf8 lasolve.1 2>&1 >/dev/null)" \
    [ -z "$(groff -man -Tutf8 -ww -K utf8 lasolve.1 2>&1 >/dev/null)" ]
fi
if command -v mandoc >/dev/null; then
  holds "mandoc: $(mandoc -Tlint -Wwarning lasolve.1)" [ "$(mandoc -Tlint -Wwarning lasolve.1 | grep -vc 'missing date')" = 0 ]
fi
"$lasolve" help --completion bash >completion.bash
holds 'the completion is no bash' bash -n completion.bash
# completed WORDS...: what bash offers for the last of them.
completed() {
  bash -c 'source ./completion.bash; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _lasolve; echo "${COMPREPLY[*]}"' - "$@"
}
holds 'bash: a method' [ "$(completed lasolve A.mtx --factorization c)" = cholesky ]
holds 'bash: a letter' [ "$(completed lasolve -p '')" = 'fp64 fp32 tf32 fp16 bf16' ]
holds 'bash: a backend' [ "$(completed lasolve A.mtx --gemm nai)" = naive ]
holds 'bash: an option' [ "$(completed lasolve bench gemm --cop)" = --copies ]
holds 'bash: options of the command alone' [ "$(completed lasolve generate --rh)" = '' ]
holds 'bash: a baseline solver' [ "$(completed lasolve compare --baseline-solvers op)" = openblas ]
holds 'bash: a command' [ "$(completed lasolve gen)" = generate ]
holds 'bash: a topic' [ "$(completed lasolve help pha)" = phases ]
holds 'bash: help of a command' [ "$(completed lasolve help ben)" = bench ]
holds 'bash: what bench takes' [ "$(completed lasolve bench '')" = gemm ]
holds 'bash: a generator' [ "$(completed lasolve unif)" = uniform:n= ]
holds 'bash: a generator to generate' [ "$(completed lasolve generate sp)" = spd:n= ]
holds 'bash: the generator is there' [ "$(completed lasolve uniform : n =)" = '' ]
holds 'bash: a list' [ "$(completed lasolve uniform:n=4 --gemm tiled,nai)" = tiled,naive ]
holds 'bash: with =, which breaks words' [ "$(completed lasolve --gemm = nai)" = naive ]
holds 'bash: with = at the end' [ "$(completed lasolve -m A.csv --device =)" = 'auto cpu cuda' ]
holds 'bash: with =, which does not' [ "$(completed lasolve --gemm=nai)" = naive ]
holds 'bash: a tuning value' [ "$(completed lasolve A.csv --tune lu_st)" = lu_step= ]
holds 'bash: files beside commands' [ "$(completed lasolve plai)" = plain ]
: >mine.c
holds 'bash: a kernel of ones own in a list' [ "$(completed lasolve A.csv --gemm tiled,./mi)" = tiled,./mine.c ]
holds 'bash: files and folders' [ "$(mkdir -p 'a folder' && completed lasolve solve a\ fo)" = 'a\ folder/' ]
# What can be used here is asked of the tool, and not of the machine that made the completion.
can_be_used=$("$lasolve" help --usable gemm)
holds 'bash: not all backends that can be used are offered' \
  [ "$(completed "$lasolve" A.csv --gemm '' | tr ' ' '\n' | sort | xargs)" = "$(tr ' ' '\n' <<<"$can_be_used" | sort | xargs)" ]
holds 'a backend that can be used is refused' "$lasolve" uniform:n=20 --gemm "$(tr ' ' '\n' <<<"$can_be_used" | grep -vx -e all -e auto | paste -sd,)" --quiet
if ! "$lasolve" compare --n 20 --gemm naive --baseline-solvers cusolver --quiet --unverified --repeat 1 2>/dev/null; then
  holds 'bash: a baseline solver that cannot be used is offered' [ "$(completed "$lasolve" compare --baseline-solvers cu)" = '' ]
fi
if [ -z "$("$lasolve" help --usable device | grep cuda)" ]; then
  holds 'bash: a device that is not there is offered' [ "$(completed "$lasolve" A.csv --device c)" = cpu ]
fi
if ! "$lasolve" list | grep -q ' cuda '; then
  holds 'bash: a backend that the build lacks' [ "$(completed lasolve A.csv --gemm cub)" = '' ]
fi
"$lasolve" help --completion zsh >_lasolve
if command -v zsh >/dev/null; then holds 'the completion is no zsh' zsh -n _lasolve; fi
holds 'zsh: no methods' grep -q 'auto lu cholesky' _lasolve
expect 2 "takes bash, zsh, not 'fish'" help --completion fish
holds 'list says more than once why there is no CUDA' \
  [ "$("$lasolve" list | grep -c -e 'toolkit' -e 'no CUDA driver' -e 'has no CUDA device')" -le 1 ]

# What pages and headers say of backends and versions is so. The reference of tables, which is another thing, is blas or else eigen.
sources=$data/..
says_eigen=$(grep -nE 'blas`?,? (or )?else `?eigen' "$sources"/include/lasolve/*.h* "$sources"/README.md "$sources"/docs/*.md "$sources"/docs/reference/*.md | grep -v -e '| reference |' -e 'The reference')
holds "auto is not eigen where there is no OpenBLAS: $says_eigen" [ -z "$says_eigen" ]
kept=$(grep -o 'COMPATIBILITY Same[A-Za-z]*Version' "$sources/cmake/LasolveInstall.cmake" | sed 's/.*Same//; s/Version//; s/.*/\L&/')
holds "lasolve.h promises more than the $kept version that CMake does" grep -q "later library of the same $kept version" "$sources/include/lasolve/lasolve.h"
exit "$failed"
