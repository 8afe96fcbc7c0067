#!/usr/bin/env bash
# The tool as a person meets it: exit codes, and what it says. Usage: cli.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"

printf '%s\n2 2\n1\n2\n2\n4\n' "$array" >singular.mtx
printf '%s\n2 2\n1\n2\n3,5\n4\n' "$array" >comma.mtx
printf '%s\n2 2\n1\n2\n2\n1\n' "$array" >indefinite.mtx
printf '%s\n3 1\n1\n2\n3\n' "$array" >long.mtx

expect 0 'passed' --matrix "$data/A.mtx" --rhs "$data/b.mtx" --gemm tiled --device cpu --output x.npy
expect 0 '"outcome": "solved"' --matrix uniform:n=50 --device cpu --json -
expect 0 'share' --matrix uniform:n=50 --device cpu --gemm naive,tiled
expect 0 'naive' list
expect 0 'device   capability' list
"$lasolve" list | grep -q 'this build has no CUDA' || expect 0 'has code for CUDA devices of compute capability' list
expect 0 '' generate spd:n=20,seed=2 --output spd.mtx.gz
expect 0 'Cholesky' --matrix spd.mtx.gz --device cpu
expect 0 'LU was used instead of Cholesky' --matrix indefinite.mtx --device cpu
expect 0 'classical' --matrix uniform:n=50 --precision fp32 --transpose --device cpu
expect 0 'made again' --matrix uniform:n=50 --in-place --transpose --device cpu
expect 2 'takes a generator' --matrix indefinite.mtx --in-place --device cpu
expect 0 'on cpu:0,1' --matrix uniform:n=300 --factorization lu --device cpu:0,1
expect 0 'cpu:2 ' --matrix spd:n=300 --factorization cholesky --precision fp32 --device cpu:0,1,2
expect 0 'cpu:0       204 columns' --matrix uniform:n=300 --factorization lu --device cpu:0,1 --card-shares 2,1 --block-size 16
expect 2 'shares for 3: give one for each' --matrix uniform:n=300 --device cpu:0,1 --card-shares 2,1,1
expect 2 'whole numbers, as 2,1, or auto' --matrix uniform:n=300 --device cpu:0,1 --card-shares 2:1
expect 2 'several cards make' --matrix uniform:n=50 --in-place --device cpu:0,1
expect 0 'cpu:2 ' --matrix diagdom:n=300 --factorization lu-nopivot --device cpu:0,1,2
expect 4 'not diagonally dominant' --matrix uniform:n=50 --factorization lu-nopivot --device cpu:0,1
expect 0 'note        out of core: A and its factors take 1.4 MiB' --matrix uniform:n=300 --device cpu --device-memory 500k
expect 0 'on cpu' --matrix spd:n=300 --factorization cholesky --precision fp32 --device cpu --device-memory 300k
expect 0 'note        out of core' --matrix diagdom:n=300 --factorization lu-nopivot --device cpu --device-memory 500k
expect 2 'at least' --matrix uniform:n=300 --device cpu --device-memory 1k
expect 2 'is of one device' --matrix uniform:n=300 --device cpu:0,1 --device-memory 1m
expect 2 'not with --device-memory' --matrix uniform:n=300 --in-place --device cpu --device-memory 1m
expect 0 'Cholesky' --matrix spd:n=50 --factorization cholesky --triangle upper --device cpu
printf '%s\n2 2\n4\n1\nnan\n3\n' "$array" >lower.mtx
expect 0 'passed' --matrix lower.mtx --factorization cholesky --triangle lower --device cpu
expect 0 'the true answer is 1' --matrix lower.mtx --factorization cholesky --triangle lower --precision fp32 --device cpu
expect 3 'lower.mtx:5:1' --matrix lower.mtx --factorization cholesky --device cpu
expect 2 'NaN or infinite' --matrix lower.mtx --factorization cholesky --triangle upper --device cpu
expect 0 'passed' --matrix diagdom:n=50 --factorization cholesky --triangle upper --device cpu
expect 0 'passed' --matrix diagdom:n=50 --factorization cholesky --triangle lower --in-place --device cpu
expect 5 'not symmetric' --matrix diagdom:n=50 --factorization cholesky --device cpu
printf '2 5\n1 2\n' >skew.txt
expect 5 'outcome         the matrix is not symmetric' skew.txt -f cholesky --device cpu
expect 0 'the solution was refined' --matrix growth:n=56 --device cpu
expect 0 'LU with tournament pivoting' --matrix uniform:n=40 --pivoting tournament --factorization lu --device cpu
expect 0 'partial pivoting was used instead' --matrix growth:n=56 --pivoting tournament --factorization lu --device cpu
expect 2 "Cholesky has no pivoting 'tournament'" --matrix spd:n=6 --pivoting tournament --factorization cholesky --device cpu
expect 5 'refinement may mend that' --matrix growth:n=56 --refine none --device cpu
printf '1 2e-20\n3 4e-20\n' >units.txt
expect 0 'in the scale of its column' units.txt --device cpu
printf '0 1e-310\n1e-310 0\n' >subnormal.txt
expect 0 'below the least normal number' subnormal.txt --device cpu
# One triangle means a symmetric matrix, with every method.
printf '4 0\n2 3\n' >lt.txt
printf '6\n5\n' >b2.txt
printf '1 nan\n2 1\n' >indefinite.txt
for options in '' '-f lu' '-f cholesky'; do
  # shellcheck disable=SC2086
  holds "--triangle lower $options: the other triangle counts" \
    [ "$("$lasolve" lt.txt --triangle lower $options -b b2.txt -q --device cpu | xargs printf '%.12g ')" = '1 1 ' ]
done
expect 0 'is not positive: LU was used instead of Cholesky' indefinite.txt --triangle lower --device cpu
expect 0 'LU with partial pivoting' indefinite.txt --triangle lower -f lu --device cpu
expect 4 'not positive definite' indefinite.txt --triangle lower -f cholesky --device cpu
expect 0 'Cholesky' --matrix spd:n=50 --triangle upper --in-place --device cpu
expect 2 'triangle' --matrix spd:n=5 --triangle left
expect 2 'nothing to refine with' --matrix uniform:n=5 --in-place --precision fp32
expect 5 'larger than the HPL check allows' --matrix growth:n=120 --in-place --device cpu
singular=(--matrix hilbert:n=100 --device cpu)
expect 5 'no digit of the solution can be trusted' "${singular[@]}" --output far.mtx
[ ! -e far.mtx ] || { echo "a solution that cannot be trusted was written"; failed=1; }
expect 0 'no digit of the solution can be trusted' "${singular[@]}" --allow-ill-conditioned --output far.mtx
[ -s far.mtx ] || { echo "a solution that was asked for all the same was not written"; failed=1; }
expect 5 '"outcome": "ill_conditioned"' "${singular[@]}" --json -
expect 5 '"digits": 0.0' "${singular[@]}" --json -
expect 5 'ill_conditioned' "${singular[@]}" --gemm naive,tiled
expect 5 'no digit' "${singular[@]}" --factorization lu --in-place
expect 0 'solved' "${singular[@]}" --no-condition
expect 0 'the pivots' "${singular[@]}" --no-condition
expect 0 '"rcond": null' "${singular[@]}" --no-condition --json -
rcond=$("$lasolve" --matrix uniform:n=50 --device cpu --json -)
[[ $rcond =~ '"rcond": '[0-9] ]] || { echo "JSON has no reciprocal condition number"; failed=1; }
expect 0 'digits of the solution may be trusted' --matrix uniform:n=50 --device cpu
printf '%s\n3 3\n1e-200\n0\n0\n0\n1\n0\n0\n0\n1e200\n' "$array" >scaled.mtx
expect 0 '1.00e+00 with its rows scaled: about 15 digits' --matrix scaled.mtx --device cpu
expect 0 'about 1 digit of the solution' randsvd:n=50,kappa=1e14 --device cpu
expect 2 "did you mean '--matrix'" --matrx x
expect 2 "did you mean 'tiled'" --matrix uniform:n=5 --gemm tilde
expect 2 "did you mean 'cholesky'" --matrix uniform:n=5 --factorization colesky
expect 2 'no matrix' --gemm tiled
expect 2 '--threads takes at most 1024, not 100000' --matrix uniform:n=5 --threads 100000
expect 3 'comma.mtx:5:1: error: expected a number, found "3,5"' --matrix comma.mtx
expect 3 'cannot open' --matrix nowhere.mtx
expect 3 'expected right-hand sides of 2 rows' --matrix indefinite.mtx --rhs long.mtx
expect 4 'column 1' --matrix singular.mtx --device cpu --output no.mtx
expect 4 'order 2' --matrix indefinite.mtx --factorization cholesky --device cpu
expect 5 'larger than the HPL check allows' --matrix growth:n=120 --device cpu --refine none
expect 6 '' --matrix uniform:n=5 --device cuda:99
expect 6 'memory' --matrix uniform:n=900000 --device cpu
expect 6 'cannot' --matrix uniform:n=5 --device cpu --output /nowhere/x.mtx
expect 2 "does not offer products in fp16; on cpu these do: naive" --matrix uniform:n=5 --device cpu --gemm packed --precision fp16
expect 2 'on cpu these do: naive, tiled' --matrix uniform:n=5 --precision tf32 --device cpu --gemm eigen
expect 0 'factors in fp32, products in tf32, residuals in fp64' --matrix spd:n=200 --precision tf32 --device cpu --gemm tiled
expect 0 'fp64 factors were used instead' --matrix randsvd:n=100,kappa=1e6 --precision tf32 --device cpu --gemm tiled --refine classical
expect 0 'refinement gmres' --matrix randsvd:n=100,kappa=1e6 --precision tf32 --device cpu --gemm tiled
expect 0 'error bound' --matrix uniform:n=600 --accuracy 1e-15 --bounds --device cpu
expect 0 'residuals in double-double' --matrix randsvd:n=60,kappa=1e12 --residual extra --device cpu
expect 2 'is of a refinement' --matrix uniform:n=6 --residual extra --refine none
expect 2 'nothing to refine with' --matrix uniform:n=6 --residual extra --in-place
expect 0 'scaled      rows and columns of A' --matrix uniform:n=30 --equilibrate on --device cpu
expect 0 'scaled      rows and columns of A' --matrix uniform:n=300 --equilibrate on --device cpu:0,1
expect 0 'scaled      rows and columns of A' --matrix uniform:n=300 --equilibrate on --device cpu --device-memory 500k
expect 0 'before the first update and after each' --matrix uniform:n=60 --precision fp32 --history --device cpu
expect 0 '"residual_history": [' --matrix uniform:n=60 --precision fp32 --history --device cpu --json -
expect 2 'the roundoff of fp64' --matrix uniform:n=6 --accuracy 1e-17
expect 0 '"products": "tf32"' --matrix spd:n=20 --precision tf32 --device cpu --gemm naive --json -
expect 0 'lu_columns_0' list --tuning --device cpu
expect 0 '"family": "cpu"' list --tuning --device cpu --json -
expect 0 'at most 10 columns' --matrix uniform:n=50 --device cpu --tune lu_columns_0=10
expect 2 "did you mean 'lu_step'" --matrix uniform:n=5 --tune lu_stepp=4
expect 2 'lu_leaf takes a whole number of at least 1' --matrix uniform:n=5 --tune lu_leaf=0
expect 2 'lu_from_2 is 5, which is less than lu_from_1' --matrix uniform:n=5 --device cpu --tune lu_from_2=5
expect 2 'takes NAME=VALUE' --matrix uniform:n=5 --tune lu_leaf
expect 2 'only cuda has it' --matrix uniform:n=5 --device cpu --tune lu_soon_columns=5
expect 2 "no option '--tuning'" --matrix uniform:n=5 --tuning
# What is asked for in words of others, or twice.
expect 2 'a generator takes a size: uniform:n=1000' uniform -n 100
expect 2 'the size of a generated matrix is written uniform:n=1000' uniform --n 100
expect 2 'a generator takes a size: spd:n=1000' generate spd --output no.mtx
expect 2 "not 'gpu'; did you mean 'cuda'" uniform:n=4 -d gpu
expect 2 '--rhs takes a file, and uniform:n=4 is a generator' uniform:n=4 --rhs uniform:n=4
expect 2 '--format csv and --output no.mtx: the suffix says mtx' uniform:n=4 --format csv --output no.mtx
expect 2 'the suffix says mtx' generate uniform:n=4 --format csv --output no.mtx
expect 0 '1024 threads share ' uniform:n=4 --threads 1024 --device cpu
expect 2 "takes a whole number of at least 1 or all, not '-3'" uniform:n=4 --threads -3
holds 'a build without CUDA says that it has none' \
  [ -z "$("$lasolve" list | grep -q 'this build has no CUDA' && "$lasolve" uniform:n=4 --gemm tiled | grep '^note')" ]

# A solution that is not accurate has no digits; what failed for several backends is said once.
expect 5 'it tells nothing of a solution that is not accurate' --matrix growth:n=120 --device cpu --refine none
holds 'digits are claimed of a solution that is not accurate' \
  grep -q '"digits": null' <("$lasolve" growth:n=120 --refine none --device cpu --json - 2>/dev/null)
holds 'in place digits are claimed' grep -q '"digits": null' <("$lasolve" growth:n=120 --in-place --device cpu --json - 2>/dev/null)
holds 'one backend is named' [ "$("$lasolve" singular.mtx --device cpu -q 2>&1)" = \
  'lasolve: the matrix is singular: column 1 (counted from 0) has no pivot other than zero' ]
said=$("$lasolve" hilbert:n=30 --gemm naive,tiled --repeat 1 --warmup 0 --device cpu 2>&1)
holds 'columns run together' grep -q '[0-9] ill_conditioned$' <<<"$said"
holds 'the same is said for each backend' [ "$(grep -c '^lasolve: naive, tiled: ' <<<"$said")" = 1 ]

# X is somewhere, or it is said that it is not.
"$lasolve" lt.txt --rhs b2.txt --gemm naive,tiled --repeat 2 --device cpu >several 2>report
holds 'several backends print no solution' [ "$(wc -l <several)" = 2 ]
holds 'whose it is, is not said' grep -q '^X is that of naive; the others' report
said=$("$lasolve" lt.txt --rhs b2.txt --device cpu --json - 2>&1 >/dev/null)
holds 'X is nowhere' [ "$said" = 'lasolve: X was not written: standard output has the JSON; --output FILE writes X' ]
holds '--quiet is not quiet' [ -z "$("$lasolve" lt.txt --rhs b2.txt --device cpu --json - -q 2>&1 >/dev/null)" ]

# Right-hand sides that lie.
printf '6 5\n' >row.txt
expect 0 'row.txt: note: a row of 2 numbers was taken for a column' lt.txt --rhs row.txt --device cpu
holds 'a row is no column' \
  cmp -s <("$lasolve" lt.txt --rhs row.txt -q --device cpu) <("$lasolve" lt.txt --rhs b2.txt -q --device cpu)
printf '6,5,4\n' >row3.csv
expect 3 'found 1 with 3 numbers: it takes a row for each number' lt.txt --rhs row3.csv
printf '1,2\n3,4\n5,6\n' >three.csv
expect 3 'each of the 3 rows has 2 numbers: is it transposed?' lt.txt --rhs three.csv

# What would do with less memory, where there is any that would.
free_kib=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)
n=$(awk "BEGIN { print int(sqrt($free_kib * 1024 / 10)) }")
expect 6 'would fit: --in-place (' uniform:n="$n" --device cpu
expect 6 'would fit: n = ' uniform:n=1m --device cpu

[ -s x.npy ] || { echo "x.npy was not written"; failed=1; }
[ ! -e no.mtx ] || { echo "a solution of a singular system was written"; failed=1; }
[ -z "$(find . -name '*.tmp*')" ] || { echo "a temporary file was left"; failed=1; }
exit $failed
