#!/usr/bin/env bash
# lasolve compare --copies on a device. Returns 77 where there is none. Usage: cuda_copies.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
if ! "$lasolve" uniform:n=64 --device cuda --quiet >/dev/null 2>said; then
  cat said
  exit 77
fi
few=(--device cuda --unverified --repeat 3)

# Each backend is timed both ways, small systems and those whose matrix arrives while it is factored.
"$lasolve" compare "${few[@]}" --n 32,700,4096 --copies --json gpu.json --csv gpu.csv >table || failed=1
holds 'the table has no times with copies' grep -qE '^ *n +gemm +precision +solve +from host ' table
holds 'copies have a note on CUDA' [ -z "$(grep 'nothing to copy' table)" ]
holds 'the CSV has no times with copies' [ "$(awk -F, 'NR > 1 && $NF > 0' gpu.csv | wc -l)" = "$(($(wc -l <gpu.csv) - 1))" ]
"$lasolve" compare "${few[@]}" --n 700 --gemm tensor,naive --precision fp64,fp32 --copies --json - >mixed.json || failed=1
"$lasolve" compare "${few[@]}" spd:n=2000 --gemm tensor --copies --attribution --json - >cholesky.json || failed=1
"$lasolve" compare "${few[@]}" --n 700 --gemm tensor --json - >without.json || failed=1
expect 2 'was measured with other options' compare "${few[@]}" --n 32,700,4096 --json gpu.json --resume
before=$(grep -A4 '"seconds_from_host"' gpu.json)
"$lasolve" compare "${few[@]}" --n 32,700,4096 --copies --json gpu.json --resume --quiet || failed=1
holds 'what was measured is measured again' [ "$(grep -A4 '"seconds_from_host"' gpu.json)" = "$before" ]

# Either device may be the one that is beside.
"$lasolve" compare --device cpu --unverified --repeat 3 --n 32,700 --gemm packed --beside gpu.json --json cpu.json --quiet || failed=1
expect 0 '' compare "${few[@]}" --n 32,700 --gemm tensor --copies --beside cpu.json --json both.json
expect 2 'gpu.json was measured on cuda:0, and this is on cuda:0' compare "${few[@]}" --n 32 --gemm tensor --beside gpu.json --json -
if command -v python3 >/dev/null; then
  python3 - <<'PYTHON' || failed=1
import json
def rows(name):
    return json.load(open(name))["rows"]
for name in ("gpu.json", "mixed.json", "cholesky.json", "both.json"):
    for r in rows(name):
        assert r["passed"] and len(r["seconds_from_host"]) >= 3, (name, r["gemm"], r["n"], r["failure"], r["seconds_from_host"])
        assert min(r["seconds_from_host"]) > 0 and r["median_seconds_from_host"] in r["seconds_from_host"], (name, r["gemm"], r["n"])
assert all(r["seconds_from_host"] == [] and r["median_seconds_from_host"] is None for r in rows("without.json"))
assert rows("cholesky.json")[0]["factorization"] == "cholesky"
beside = json.load(open("cpu.json"))["beside"]["rows"]
assert any(r["median_seconds_from_host"] for r in beside) and all(r["device"] == "cuda:0" for r in beside)
PYTHON
fi
exit "$failed"
