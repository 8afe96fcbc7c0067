#!/usr/bin/env bash
# lasolve compare --copies and --beside, on files of CUDA that are planted, and the picture of them. Usage: cli_copies.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
scripts=$data/../scripts
fast=(--device cpu --threads 2 --unverified --warmup 0 --repeat 3)
if ! command -v python3 >/dev/null; then
  echo "there is no python3 to plant files with"
  exit 77
fi

# What makes no sense.
"$lasolve" compare "${fast[@]}" --n 40,160 --gemm tiled,packed --json cpu.json --quiet || failed=1
sed 's/"device": "cpu"/"device": "cuda:0"/' cpu.json >cuda.json
expect 0 'note: --copies: on the CPU there is nothing to copy' compare "${fast[@]}" --n 40 --gemm tiled --copies
holds 'a CPU has copies' [ -z "$("$lasolve" compare "${fast[@]}" --n 40 --gemm tiled --copies | grep 'from host')" ]
expect 3 'nowhere.json: error: cannot open' compare "${fast[@]}" --n 40 --gemm tiled --beside nowhere.json --json -
echo '{}' >none.json
expect 3 'none.json: error: expected the JSON of lasolve compare' compare "${fast[@]}" --n 40 --gemm tiled --beside none.json --json -
expect 2 'cpu.json was measured on cpu, and this is on cpu' compare "${fast[@]}" --n 40 --gemm tiled --beside cpu.json --json -
expect 2 'cuda.json has n = 40 in fp64, n = 160 in fp64; this has n = 50 in fp64, n = 60 in fp64' \
  compare "${fast[@]}" --n 50,60 --gemm tiled --beside cuda.json --json -
expect 2 'no size in common' compare "${fast[@]}" --n 40 --gemm tiled --precision fp32 --beside cuda.json --json -
expect 2 'no size in common' compare "${fast[@]}" uniform:n=50 --gemm tiled --beside cuda.json --json -
expect 2 '--beside takes a generated matrix' compare "${fast[@]}" "$data/A.mtx" --gemm tiled --beside cuda.json --json -
expect 2 '--copies takes a generated matrix' compare "${fast[@]}" "$data/A.mtx" --gemm tiled --copies
expect 2 '--beside FILE is drawn by --report' compare "${fast[@]}" --n 40 --gemm tiled --beside cuda.json
expect 2 'are one file' compare "${fast[@]}" --n 40 --gemm tiled --beside cuda.json --json cuda.json
expect 2 "--beside takes a name, not ''" compare "${fast[@]}" --n 40 --gemm tiled --beside '' --json -

# What is beside is kept, and not judged. A sweep is continued with it.
sed 's/"matrix_hash": "./&x/' cuda.json >other.json
expect 0 'other.json has another matrix at n = 40' compare "${fast[@]}" --n 40 --gemm tiled --beside other.json --json x.json
"$lasolve" compare "${fast[@]}" --n 40 --gemm tiled --beside cuda.json --json both.json --quiet || failed=1
"$lasolve" compare "${fast[@]}" --n 40,160 --gemm tiled --beside cuda.json --json both.json --resume >table || failed=1
holds 'there are rows of another device' [ "$(grep -c ' PASS$' table)" = 2 ]
sed 's/"copies": false/"copies": true/' both.json >copies.json
expect 2 'was measured with other options' compare "${fast[@]}" --n 40 --gemm tiled --json copies.json --resume

# Where lines cross: planted, so that it is known.
cat >plant.py <<'PYTHON'
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import copies
result = json.load(open("both.json"))
assert [r["device"] for r in result["rows"]] == ["cpu"] * 2 and len(result["beside"]["rows"]) == 4, result["beside"]
assert result["beside"]["environment"]["processor"] == result["environment"]["processor"]
assert copies.curves({**result, "beside": None}, "fp64") == {}, "one line is no picture"
def plant(rows, gemm, n, seconds, from_host=None):
    row = next(r for r in rows if (r["gemm"], r["n"]) == (gemm, n))
    row.update(seconds=seconds, median_seconds_from_host=from_host)
ours, its = result["rows"], result["beside"]["rows"]
plant(ours, "tiled", 40, 1.0), plant(ours, "tiled", 160, 4.0)
plant(its, "tiled", 40, 4.0, 4.5), plant(its, "tiled", 160, 2.0, 3.0)
plant(its, "packed", 40, 5.0, 4.0), plant(its, "packed", 160, 1.0, 3.5)
lines = copies.curves(result, "fp64")
assert lines[copies.CUDA] == {40: (4.0, "tiled"), 160: (1.0, "packed")}, lines
assert lines[copies.COPIES] == {40: (4.0, "packed"), 160: (3.0, "tiled")}, lines
[(n, time, passes)] = copies.crossings(lines[copies.CPU], lines[copies.CUDA])
assert abs(n - 80) < 1e-9 and abs(time - 2) < 1e-9 and passes, "the middle of both logarithms"
[(n, time, passes)] = copies.crossings(lines[copies.CUDA], lines[copies.CPU])
assert abs(n - 80) < 1e-9 and not passes
assert copies.crossings({40: (1, ""), 80: (1, ""), 160: (1, "")}, {40: (2, ""), 80: (2, ""), 160: (1.5, "")}) == []
assert len(copies.crossings({1: (1, ""), 2: (1, ""), 4: (1, "")}, {1: (2, ""), 2: (.5, ""), 4: (2, "")})) == 2
assert copies.crossings({1: (1, ""), 2: (1, "")}, {1: (2, ""), 4: (.5, "")}) == [], "one size in common"
said = copies.says(result, lines)
assert "Without copies, the GPU passes the CPU at n ≈ 80." in said and "With copies, the GPU passes the CPU at n ≈ 130." in said, said
said = copies.says(result, {copies.CPU: lines[copies.CPU], copies.CUDA: {40: (9, ""), 160: (9, "")}})
assert "Without copies, the CPU is ahead at all sizes from n = 40 to 160." in said, said
assert "<td>4.00</td>" in copies.table_of(lines) and "<td>packed</td>" in copies.table_of(lines), copies.table_of(lines)
solver = dict(ours[0], gemm="a baseline solver", peer=True, seconds=1e-9)
assert copies.curves({**result, "rows": ours + [solver]}, "fp64") == lines, "a baseline solver is a whole solver"
json.dump(result, open("planted.json", "w"))
only = {**result, "rows": its, "beside": None, "environment": {**result["environment"], "cuda_devices": ["Planted"]}}
said = copies.says(only, copies.curves(only, "fp64"))
assert "Copies make a solve 1.00 to 3.00 times as long." in said and "GPU: Planted." in said, said
json.dump(only, open("only.json", "w"))
for at, row in enumerate(its):  # phases that overlap: the second half of the rows does not say how
    wall = row["seconds"]
    row["attribution"] = {"wall_seconds": wall, "phases_overlap": True, "tasks": [], "phase_flops": {},
        "phases_busy_seconds": {"gemm": 1.95 * wall, "panel": 0.9 * wall},
        "phases_exclusive_seconds": {"gemm": 0.6 * wall, "panel": 0.375 * wall} if at < len(its) / 2 else None}
json.dump({**only, "rows": its[: len(its) // 2]}, open("exclusive.json", "w"))
json.dump({**only, "rows": its[len(its) // 2 :]}, open("busy.json", "w"))
PYTHON
holds 'lines do not cross where they should' python3 plant.py "$scripts"

# The picture.
draws() { python3 "$scripts/pictures" "$@"; }
if draws --check 2>/dev/null; then
  title='Solve time with and without copies'
  "$lasolve" compare "${fast[@]}" --n 40,160 --gemm tiled --beside cuda.json --report page.html --quiet || failed=1
  holds 'the report has no picture of both devices' grep -q "<h2>$title</h2>" page.html
  "$lasolve" compare "${fast[@]}" --n 40,160 --gemm tiled --report page.html --quiet || failed=1
  holds 'there is a picture of one device' [ "$(grep -c "$title" page.html)" = 0 ]
  draws --report <planted.json >page.html
  holds 'the picture does not say where lines cross' grep -q "aria-label=\"$title\\. .*n ≈ 80\\." page.html
  holds 'a crossing has no mark' [ "$(grep -cE '<text[^>]*>n ≈ (80|130)</text>' page.html)" = 2 ]
  holds 'a picture has a colour of its own' [ -z "$(grep -oE '#(0[1-4]){3}|#0[45]01[0-9a-f]{2}' page.html)" ]
  draws --report <only.json >page.html
  holds 'there is no picture of CUDA alone' grep -q "aria-label=\"$title\\. .*Copies make a solve" page.html
  draws --report <exclusive.json >page.html
  holds 'shares of phases are not those of exclusive time' grep -qE '<td>60\.0 %</td><td>37\.5 %</td>' page.html
  draws --report <busy.json >>page.html
  holds 'busy times are drawn as parts of the wall time' [ "$(grep -c '<h2>Where the time goes' page.html)" = 1 ]
  holds 'a share is above 100 %' [ -z "$(grep -oE '>1[0-9]{2}(\.[0-9])? %<' page.html | grep -v '>100')" ]
  draws --svg before <only.json && draws --svg after <planted.json
  holds 'a file lacks the crossings' [ "$(grep -lE '>n ≈ 80<' after/*.svg | wc -l)" = 1 ]
  holds 'the files are not read by day and night' python3 "$scripts/../tests/pictures.py" after/*.svg
  holds 'CUDA alone has crossings' [ "$(grep -lE '>n ≈ ' before/*.svg | wc -l)" = 0 ]
fi
exit "$failed"
