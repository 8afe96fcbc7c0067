#!/usr/bin/env bash
# lasolve tune: what it keeps, and what later solves make of it. Usage: cli_tune.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
kept=$XDG_CACHE_HOME/lasolve/tuned.json
here=(--device cpu --threads 2)
tune=(tune "${here[@]}" --gemm tiled)

# silent ARGUMENTS...: the tool solves, and says nothing of what was tuned.
silent() {
  local said
  said=$("$lasolve" "$@" 2>&1) || failed=1
  holds "lasolve $* tells of tuning: $said" [ "$(grep -c -e tuned -e 'lasolve tune' <<<"$said")" = 0 ]
}

# What is tuned is kept, and the next solve says so. Which backend is faster is nobody's business here.
silent uniform:n=64 "${here[@]}"
expect 0 'nothing is kept' list --tuned
"$lasolve" "${tune[@]}" --n 48,96 --json tune.json >table || failed=1
holds 'there is no line for each size and method' [ "$(grep -cE '^(48|96) +(LU|Cholesky) ' table)" = 4 ]
holds 'the place is not said' grep -qF "kept in $kept" table
holds 'not all is kept' [ "$(grep -c '"factorization"' "$kept")" = 4 ]
holds 'more is left than the file' [ "$(find "$XDG_CACHE_HOME" -type f | wc -l)" = 1 ]
expect 0 'in LU at n = 48' uniform:n=48 "${here[@]}"
expect 0 'in LU at n = 96' uniform:n=192 "${here[@]}"
expect 0 'in Cholesky at n = 48' spd:n=40 "${here[@]}" --json -
expect 0 '(lasolve tune, 20' uniform:n=64 "${here[@]}" --transpose --in-place
silent uniform:n=193 "${here[@]}"
silent uniform:n=23 "${here[@]}"
expect 0 'yes' list --tuned "${here[@]}"
expect 0 '"made_by": "lasolve tune"' list --tuned --json -
holds 'JSON on standard output has other text' [ "$("$lasolve" list --tuned --json - | head -c 1)" = '{' ]

# What leaves something else than the default to it, and what was tuned elsewhere.
silent uniform:n=48 "${here[@]}" --no-tuned
silent uniform:n=48 "${here[@]}" --block-size 16
silent uniform:n=48 "${here[@]}" --schedule recursive
silent uniform:n=48 "${here[@]}" --gemm tiled
silent uniform:n=48 "${here[@]}" --gemm auto,tiled
silent uniform:n=48 "${here[@]}" --tune lu_leaf=4
silent uniform:n=48 "${here[@]}" --precision fp32
silent uniform:n=48 --device cpu --threads 1
expect 0 'no: threads: 2, not 1' list --tuned --device cpu --threads 1
cp "$kept" good.json
for field in name lasolve build; do
  sed "s/\"$field\": \"/&another /" good.json >"$kept"
  silent uniform:n=48 "${here[@]}"
done
expect 0 'no: build' list --tuned "${here[@]}"

# A choice that is planted is followed, by solves alone.
sed '/"chosen"/,/}/ { s/"gemm": "[^"]*"/"gemm": "naive"/; s/"block_size": [0-9]*/"block_size": 24/
  s/"schedule": "[^"]*"/"schedule": "left-looking"/ }; s/"speedup": [0-9.]*/"speedup": 1.25/' good.json >"$kept"
why='tuned: naive, left-looking, panels of at most 24 columns: 1.25 times as fast as the default in LU at n = 48 (lasolve tune, 20'
expect 0 "$why" uniform:n=48 "${here[@]}"
expect 0 "$why" uniform:n=48 "${here[@]}" --json -
expect 0 'backend     naive on cpu' uniform:n=48 "${here[@]}"
expect 0 'left-looking, panels of at most 24 columns, refinement' uniform:n=48 "${here[@]}"
expect 0 '"block_size": 48' compare --n 48 "${here[@]}" --gemm auto --unverified --repeat 2 --json -
"$lasolve" compare --n 48 "${here[@]}" --gemm auto --unverified --repeat 2 --json c.json >/dev/null
holds 'compare takes what is tuned' [ "$(grep -c '"gemm": "naive"' c.json)" = 0 ]
sed 's/"gemm": "naive"/"gemm": "gone"/' "$kept" >gone.json && cp gone.json "$kept"
silent uniform:n=48 "${here[@]}"

# So is one with a backend for small products; the report says which products that made.
sed '/"chosen"/,/}/ { s/"small_gemm": [^,]*/"small_gemm": "naive"/; s/"small_below_flops": [^,]*/"small_below_flops": 40000/
  s/"gemm": "[^"]*"/"gemm": "tiled"/; s/"block_size": [0-9]*/"block_size": 16/
  s/"schedule": "[^"]*"/"schedule": "right-looking"/ }; s/"speedup": [0-9.]*/"speedup": 1.25/' good.json >"$kept"
expect 0 'tuned: tiled and naive below 0.04 Mflop, right-looking, panels of at most 16 columns' uniform:n=96 "${here[@]}"
expect 0 '% of their operations; those below 0.04 Mflop' uniform:n=96 "${here[@]}"
expect 0 '"small_below_flops": 40000' uniform:n=96 "${here[@]}" --json -
expect 0 'tiled and naive below 0.04 Mflop' list --tuned "${here[@]}"
sed 's/"small_gemm": "naive"/"small_gemm": "gone"/' "$kept" >gone.json && cp gone.json "$kept"
silent uniform:n=96 "${here[@]}"

sed '/"default"/,/}/ s/"gemm": "[^"]*"/"gemm": "gone"/' good.json >"$kept"
silent uniform:n=48 "${here[@]}"

# A file that is broken or another's is named, and does no harm.
for text in '' '{' '[1, 2]' '{"schema_version": 9, "made_by": "lasolve tune"}'; do
  echo "$text" >"$kept"
  expect 0 "note        $kept: error: expected what lasolve tune keeps" uniform:n=48 "${here[@]}"
done
silent uniform:n=48 "${here[@]}" --no-tuned
expect 0 "$kept: error: expected what lasolve tune keeps" list --tuned
expect 0 "$kept: error: expected what lasolve tune keeps" list --tuned --json -
expect 2 'is where results are kept' "${tune[@]}" --n 48 --json "$kept"
expect 0 'it is ignored and replaced' "${tune[@]}" --n 48 --factorization lu
expect 0 'in LU at n = 48' uniform:n=48 "${here[@]}"
rm "$kept" && mkdir "$kept"
expect 0 'it is no file; it is ignored' uniform:n=48 "${here[@]}"
expect 6 'it is not a regular file' "${tune[@]}" --n 48
rmdir "$kept"

# Methods are those of the table, and each is tuned on what it requires.
expect 0 'LU without interchanges' "${tune[@]}" --n 40 --factorization lu-nopivot,lu
expect 0 'in LU without interchanges at n = 40' diagdom:n=40 "${here[@]}" -f lu-nopivot

# To an accuracy the precision is chosen, and solves to the same accuracy take it.
expect 0 'LU to 1e-12' "${tune[@]}" --n 48 --factorization lu --accuracy 1e-12 --json accurate.json
expect 0 'fp64 to 1e-12' list --tuned "${here[@]}"
sed '/"chosen"/,/}/ { s/"precision": [^,]*/"precision": "fp32"/; s/"gemm": "[^"]*"/"gemm": "tiled"/; s/"block_size": [0-9]*/"block_size": 24/; s/"schedule": "[^"]*"/"schedule": "right-looking"/; s/"small_gemm": [^,]*/"small_gemm": null/ }' \
  "$kept" >accurate && cp accurate "$kept"
expect 0 'tuned: tiled, right-looking, panels of at most 24 columns, factors in fp32: ' uniform:n=48 "${here[@]}" --accuracy 1e-12
expect 0 'precision   fp32: factors in fp32' uniform:n=48 "${here[@]}" --accuracy 1e-12
silent uniform:n=48 "${here[@]}" --accuracy 1e-13
silent uniform:n=48 "${here[@]}" --accuracy 1e-12 --refine none
silent uniform:n=48 "${here[@]}" --accuracy 1e-12 --precision fp16
expect 2 'one --precision is fp64' "${tune[@]}" --n 48 --accuracy 1e-12 --precision fp32
expect 0 'LU to 1e-12' "${tune[@]}" --n 48 --factorization lu --accuracy 1e-12 --precision auto --json auto.json
grep -q '"precision": "fp32"\|factors in fp32' auto.json || { echo 'of precisions that are left open only one was tried' >&2; exit 1; }

# Forgotten; and the places where it is kept.
cp good.json "$kept"
expect 0 "$kept is removed" tune --forget
expect 0 'nothing is kept' tune --forget
silent uniform:n=48 "${here[@]}"
expect 0 '' "${tune[@]}" --n 40 --factorization cholesky --quiet
holds '--quiet keeps nothing' [ -s "$kept" ]
touch file
XDG_CACHE_HOME=$work/file expect 6 "cannot make the folder $work/file/lasolve: Not a directory" "${tune[@]}" --n 40
XDG_CACHE_HOME='' HOME=$work/home expect 0 "kept in $work/home/.cache/lasolve/tuned.json" "${tune[@]}" --n 40
XDG_CACHE_HOME='' HOME='' expect 6 'neither XDG_CACHE_HOME nor HOME is set' "${tune[@]}" --n 40
XDG_CACHE_HOME='' HOME='' silent uniform:n=40 "${here[@]}"

# Time that is too short, and wrong words.
expect 0 'not known: the time ran out' "${tune[@]}" --n 700 --factorization lu --within 0.001
expect 6 'TiB wanted' "${tune[@]}" --n 300k --factorization lu
expect 2 "--factorization takes lu, cholesky, lu-nopivot, not 'qr'" tune --factorization qr
expect 2 "--factorization takes lu, cholesky, lu-nopivot, not 'auto'" tune --factorization auto
expect 2 '--within takes a number above 0' tune --within 0
expect 2 "did you mean 'tiled'" tune --device cpu --gemm tilde --n 40
expect 2 'does not offer products in tf32' tune --device cpu --precision tf32 --n 40
expect 2 'two lists' list --tuned --tuning
expect 2 "did you mean 'tune'" tunee
if command -v python3 >/dev/null; then
  python3 - <<'PYTHON' || failed=1
import json
result = json.load(open("tune.json"))
assert [(r["n"], r["factorization"]) for r in result["results"]] == [(48, "lu"), (48, "cholesky"), (96, "lu"), (96, "cholesky")]
for r in result["results"]:
    assert r["kept"] and r["steps"][0]["what"] == "backends" and not r["ran_out_of_time"], r
    assert all(t["seconds_of_runs"] for t in r["steps"][0]["tried"][:1])
    assert r["chosen"]["gemm"] in {t["gemm"] for t in r["steps"][0]["tried"]}
PYTHON
fi
exit "$failed"
