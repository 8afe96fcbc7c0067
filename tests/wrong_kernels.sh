#!/usr/bin/env bash
# What `bench gemm` says of kernels that are wrong, that crash or that do not come back, and that it measures the others.
# Usage: wrong_kernels.sh LASOLVE
set -u
lasolve=$1 failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache

"$lasolve" bench gemm --device cpu --precision fp64,fp32,bf16 --shape square,2100x120x3 --n 40 --repeat 1 --warmup 0 --threads 1 \
  --gemm eigen,ignores_op_a,loses_a_step,large,crashes,aborts,exits,hangs --patience 6 --json bench.json --csv bench.csv >said 2>&1
code=$?
[ $code -eq 5 ] || { echo "the exit code is $code, not 5"; failed=1; }

# says TEXT: lines of the output in one line.
says() {
  [[ $(tr -s ' \n' ' ' <said) == *"$1"* ]] || { echo "nowhere is '$1'"; failed=1; }
}
at='C <- -1*op(A)*op(B) + 1*C in'
says 'ignores_op_a on cpu is wrong in fp64: C(0, '
says "$at fp64, op(A): transpose, op(B): none, m = "
says 'loses_a_step on cpu is wrong in fp32: C(0, 0) is '
says 'loses_a_step on cpu is wrong in bf16: C(0, 0) is '
says 'large on cpu is wrong in fp32: C(1234, 56) is '
says 'm = 2100, n = 120, k = 3 lda = 2112'
says 'crashes on cpu is wrong in fp64: it crashed (SIGSEGV: Segmentation fault)'
says "$at fp64, op(A): none, op(B): transpose, m = 33, n = 1, k = 0 lda = 39"
says 'aborts on cpu is wrong in fp64: it crashed (SIGABRT: Aborted)'
says "$at fp64, op(A): none, op(B): transpose, m = 1, n = 1, k = 128 lda = 7"
says 'exits on cpu is wrong in fp64: it ended its process with code 0'
says 'hangs on cpu is wrong in fp64: it gave no answer for 6 s'
says 'm = 1, n = 1, k = 33'

# timed BACKEND PRECISION RIGHT: in both products, once if it is right.
timed() {
  local runs=0
  [ "$3" = no ] || runs=1
  [ "$(grep -cE "^$2,.*,$1,cpu,$3,[^,]*,$runs," bench.csv)" = 2 ] || { echo "$1 in $2: right $3, runs $runs: is not so"; failed=1; }
}
timed eigen fp64 yes
timed eigen fp32 yes
timed crashes fp64 no
timed crashes fp32 yes
timed aborts fp64 no
timed large fp32 no
timed hangs fp64 no
timed loses_a_step bf16 no

if command -v python3 >/dev/null; then
  python3 - <<'PYTHON' || failed=1
import json
faults = {(r["gemm"], r["precision"]): r["fault"] for r in json.load(open("bench.json"))["results"]}
crash, large, step = faults["crashes", "fp64"], faults["large", "fp32"], faults["loses_a_step", "bf16"]
assert faults["crashes", "fp32"] is None and faults["eigen", "fp64"] is None
assert crash["kind"] == "crashed" and crash["op_b"] == "transpose" and crash["m"] == 33, crash
assert large["kind"] == "wrong_element" and (large["i"], large["j"], large["wrong"]) == (1234, 56, 1), large
assert large["found"] == large["expected"] + 1 and large["bound"] == 0, large
assert step["k"] % 8 == 5, step
assert faults["hangs", "fp64"]["kind"] == "no_answer"
PYTHON
fi

# compare names them, and measures the others at every size.
"$lasolve" compare --device cpu --n 40,150 --precision fp64,fp32 --repeat 2 --warmup 0 --threads 1 \
  --gemm eigen,ignores_op_a,loses_a_step,crashes,aborts,exits --json compare.json >said 2>&1
code=$?
[ $code -eq 5 ] || { echo "compare: the exit code is $code, not 5"; failed=1; }
says 'crashes on cpu is wrong in fp64: it crashed (SIGSEGV: Segmentation fault)'
says 'ignores_op_a on cpu is wrong in fp64: C(0, '
says 'loses_a_step on cpu is wrong in fp32: C(0, 0) is '
for reason in 'crashed (SIGSEGV' 'C(0, 0) is '; do
  [ "$(grep -cF "$reason" said)" = "$(grep -F "$reason" said | grep -c ' is wrong in ')" ] || { echo "'$reason' is said again"; failed=1; }
done
[ "$(grep -c ' FAIL: wrong in validation$' said)" -ge 8 ] || { echo 'rows do not say in brief that they are wrong'; failed=1; }
"$lasolve" compare --device cpu --n 60 --unverified --repeat 2 --warmup 0 --threads 1 --block-size 5 --factorization lu \
  --gemm eigen,doubles,throws,starves --json unverified.json >>said 2>&1
says 'doubles in fp64 at n = 60: '
says 'throws in fp64 at n = 60: no luck'
says 'starves in fp64 at n = 60: not enough host memory'
"$lasolve" tune --device cpu --n 40 --threads 1 --factorization lu --gemm ignores_op_a,crashes,eigen --json tune.json >>said 2>&1
[ $? = 5 ] || { echo "tune did not return 5 where a backend is wrong"; failed=1; }
says 'ignores_op_a is left out, since it is wrong: C(0, '
says 'crashes is left out, since it is wrong: it crashed (SIGSEGV'
if command -v python3 >/dev/null; then
  python3 - <<'PYTHON' || failed=1
import json
tried = {t["gemm"] for r in json.load(open("tune.json"))["results"] for s in r["steps"] for t in s["tried"]}
assert "eigen" in tried and not tried & {"ignores_op_a", "crashes"}, tried
rows = {(r["n"], r["gemm"], r["precision"]): r for r in json.load(open("compare.json"))["rows"]}
for n in (40, 150):
    assert rows[n, "eigen", "fp64"]["runs"] == rows[n, "eigen", "fp32"]["runs"] == rows[n, "crashes", "fp32"]["runs"] == 2, rows
    assert not rows[n, "crashes", "fp64"]["passed"] and rows[n, "crashes", "fp64"]["runs"] == 0
assert len(rows) == 2 * 8, list(rows)
rows = {r["gemm"]: r for r in json.load(open("unverified.json"))["rows"]}
assert rows["eigen"]["passed"] and rows["eigen"]["runs"] == 2
assert not any(rows[name]["passed"] for name in ("doubles", "throws", "starves"))
PYTHON
fi
[ $failed -eq 0 ] || cat said
exit $failed
