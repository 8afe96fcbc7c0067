#!/usr/bin/env bash
# lasolve compare: what it prints, writes and returns. Usage: cli_sweep.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
scripts=$data/../scripts
often=(--device cpu --threads 2 --unverified --warmup 0 --repeat 8)
fast=("${often[@]:0:7}" --repeat 3)

# A table with a row for each backend and size, and the same as Markdown and as data.
"$lasolve" compare "${fast[@]}" --n 40:80:x2 --gemm tiled,packed --baseline-solvers eigen --attribution \
  --json r.json --csv r.csv --trace t.json >table || failed=1
holds 'there is no row for each backend and size' [ "$(grep -c ' PASS$' table)" = 6 ]
holds 'speed-ups are not over the first' [ "$(grep -c '^.*tiled .* 1\.00 x .* PASS$' table)" = 2 ]
holds 'a size that is too small is not named' grep -q 'n = 40 is too small to tell kernels apart' table
holds 'no attribution' grep -q 'were updates free' table
holds 'the CSV has no row for each' [ "$(wc -l <r.csv)" = 7 ]
holds 'there is no interval of a speed-up' grep -qE 'packed .* [0-9.]+ x \([0-9.]+ \.\. [0-9.]+\)' table
holds 'rows are in no order' grep -qE '^order: n = 80: .+ [<=] .+ [<=] .+' table
holds 'errors are not told' [ "$(grep -cE ' ([0-9.]+e-[0-9]+|0\.0e\+00)  +([0-9.]+e-[0-9]+|0\.0e\+00)  +([0-9.]+e-[0-9]+|0\.0e\+00)  PASS$' table)" = 6 ]
expect 0 '| n | gemm |' compare "${fast[@]}" --n 40 --gemm tiled --markdown
expect 0 'fp32' compare "${fast[@]}" --n 40 --gemm tiled --precision fp64,fp32
expect 0 'n,gemm,precision' compare "${fast[@]}" spd:n=40 --gemm tiled --csv -
expect 0 '"recipe": "lu, right-looking, by ' compare "${fast[@]}" uniform:n=300 --gemm packed --json -
expect 0 '"matrix_hash"' compare "${fast[@]}" "$data/A.mtx" --gemm packed --json -
holds '--quiet is not quiet' [ -z "$("$lasolve" compare "${fast[@]}" --n 40 --gemm tiled --quiet 2>&1)" ]
holds 'progress goes to what is no terminal' [ -z "$("$lasolve" compare "${fast[@]}" --n 900 --gemm naive 2>&1 >/dev/null)" ]
if command -v python3 >/dev/null; then
  python3 - <<'PYTHON' || failed=1
import json
result, trace = json.load(open("r.json")), json.load(open("t.json"))
rows = result["rows"]
assert [(r["n"], r["gemm"]) for r in rows[:3]] == [(40, "tiled"), (40, "packed"), (40, "eigen (solver)")], rows
assert all(len(r["seconds_of_runs"]) == r["runs"] == 3 for r in rows)
for name in ("processor", "threads", "compiler", "flags", "lasolve", "driver", "cuda_devices"):
    assert name in result["environment"], name
assert all("slowed" in r for r in rows) and all("sm_clocks_mhz" in s for s in result["sizes"])
assert result["compare"]["seed"] == 1 and len(result["sizes"][0]["matrix_hash"]) == 16
assert all(r["forward_error"] < 1e-9 and r["componentwise_backward_error"] < 1e-12 and r["warnings"] == [] for r in rows), rows
assert all(len(r["processor_seconds_of_runs"]) == 3 for r in rows)
assert len(result["pairs"]) == 6 and all(r["against_first"]["low"] <= r["against_first"]["high"] for r in rows)
tasks = rows[3]["attribution"]["tasks"]
assert any(t.get("k", 0) > 0 for t in tasks) and rows[2]["attribution"] is None
assert sum(e["ph"] == "X" for e in trace["traceEvents"]) == sum(len(r["attribution"]["tasks"]) for r in rows if r["attribution"])
PYTHON
fi

# A baseline that was much faster, and one that was much slower.
"$lasolve" compare "${often[@]}" --n 64 --gemm tiled --json now.json --quiet || failed=1
scaled() {
  awk -v by="$1" '/"(processor_)?seconds_of_runs"/ { on = 1 } /]/ { on = 0 }
    on && /^ *[0-9]/ { comma = /,$/ ? "," : ""; sub(/,$/, ""); $0 = sprintf("%.17g", $1 * by) comma } 1' now.json >"$2"
}
scaled 0.000001 fast.json  # far beyond what a busy machine does
scaled 1000000 slow.json
cp fast.json faster.json
expect 7 'SLOWER' compare "${often[@]}" --n 64 --gemm tiled --baseline fast.json --fail-on slower
expect 0 'SLOWER' compare "${often[@]}" --n 64 --gemm tiled --baseline fast.json
expect 0 'FASTER' compare "${often[@]}" --n 64 --gemm tiled --baseline slow.json --fail-on slower
expect 0 'UNKNOWN (too few runs)' compare "${fast[@]}" --n 64 --gemm tiled --baseline now.json
expect 0 'not in it' compare "${fast[@]}" --n 64 --gemm packed --baseline now.json
expect 8 'it is not known whether these are slower: tiled in fp64 at n = 64 (UNKNOWN (too few runs))' \
  compare "${fast[@]}" --n 64 --gemm tiled --baseline now.json --fail-on slower
expect 8 'packed in fp64 at n = 64 (not in it)' \
  compare "${often[@]}" --n 64 --gemm tiled,packed --baseline slow.json --fail-on slower
expect 7 'SLOWER' compare "${often[@]}" --n 64 --gemm tiled,packed --baseline fast.json --fail-on slower
sed 's/"processor": "/&another /' now.json >other.json
expect 0 'the baseline was measured otherwise: processor' compare "${fast[@]}" --n 64 --gemm tiled --baseline other.json
expect 3 'expected the JSON of lasolve compare' compare "${fast[@]}" --baseline t.json
expect 3 'nowhere.json: error' compare "${fast[@]}" --baseline nowhere.json
expect 0 'SLOWER' compare "${often[@]}" --n 64 --gemm tiled --baseline fast.json,faster.json
expect 2 '--baseline has fast.json twice' compare "${fast[@]}" --baseline fast.json,fast.json
expect 2 'other.json was measured otherwise than fast.json' compare "${fast[@]}" --baseline fast.json,other.json
expect 2 'are one file' compare "${fast[@]}" --baseline fast.json,now.json --json now.json

# A sweep that is continued keeps what it has.
"$lasolve" compare "${fast[@]}" --n 40 --gemm tiled --json s.json --quiet || failed=1
before=$(grep -A4 '"seconds_of_runs"' s.json)
"$lasolve" compare "${fast[@]}" --n 40,50 --gemm tiled --json s.json --resume >table || failed=1
holds 'what was measured is measured again' [ "$(grep -A4 -m1 '"seconds_of_runs"' s.json)" = "$before" ]
holds 'what was not measured is left out' grep -q '^50 ' table
"$lasolve" compare "${fast[@]}" --n 45 --gemm tiled --json s.json --resume >table || failed=1
holds 'sizes that are not asked for are lost' [ "$(grep -cE '^(40|45|50) .* PASS$' table)" = 3 ]
expect 2 's.json has no packed in fp64 at n = 40, so that all rows of this size are measured again, and tiled in fp64 is not' \
  compare "${fast[@]}" --n 40 --gemm packed --json s.json --resume
expect 0 'n = 40 was measured again, since the file had no packed in fp64' \
  compare "${fast[@]}" --n 40 --gemm tiled,packed --json s.json --resume
holds 'rows of other sizes are lost' [ "$(grep -c '"seconds_of_runs"' s.json)" = 4 ]
expect 2 'was measured with other options' compare "${fast[@]}" --n 40 --seed 2 --gemm tiled --json s.json --resume
expect 0 '' compare "${fast[@]}" --n 40 --gemm tiled --json new.json --resume

# A kernel of floats alone: the precision that all have is taken, and said before anything is measured.
if command -v "${CC:-cc}" >/dev/null; then
  cat >floats.c <<'KERNEL'
#include <lasolve/kernel.h>
static void multiply(LASOLVE_KERNEL_PARAMETERS(float)) {
  for (lasolve_int j = 0; j < n; ++j)
    for (lasolve_int l = 0; l < k; ++l)
      for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] += A[i + l * lda] * B[l + j * ldb];
}
const lasolve_kernel* lasolve_plugin_kernel(void) {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.name = "floats";
  kernel.f32 = multiply;
  kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS;
  return &kernel;
}
KERNEL
  "$lasolve" compare "${fast[@]}" --n 40 --gemm tiled,./floats.c >table 2>said || failed=1
  holds 'the precision is not said before' grep -q 'note: in fp32, since floats has no products in fp64' said
  holds 'it is not that of all' [ "$(grep -cE '^40 +(tiled|floats) +fp32 .* PASS$' <(sed 's/^ *//' table))" = 2 ]
  "$lasolve" compare "${fast[@]}" --n 40 --gemm tiled,./floats.c --precision fp64 >table 2>said || failed=1
  holds 'a kernel without rows is not named before' grep -q 'note: floats has no rows in fp64.*--precision fp32' said
  expect 2 'floats has --precision fp32' compare "${fast[@]}" --n 40 --gemm ./floats.c --precision fp64
fi

# Rows are recipes: a list of words makes a row of each, in the first of which speed-ups are 1.
recipes=("${often[@]}" spd --n 120 --gemm tiled,packed --schedule right-looking,crout --factorization lu,cholesky)
"$lasolve" compare "${recipes[@]}" --baseline-solvers eigen --json recipes.json >table 2>said || failed=1
holds 'there is no row for each recipe' [ "$(grep -cE '^120 +(tiled|packed) +fp64 +(lu +(right-looking|crout)|cholesky +right-looking) .* PASS$' table)" = 6 ]
holds 'a baseline solver has not each method' [ "$(grep -cE '^120 +eigen \(solver\) +fp64 +(lu|cholesky) +- ' table)" = 2 ]
holds 'rows have no names' grep -qE '^order: n = 120: .*tiled \(lu, crout\)' table
holds 'who is left out is not said' grep -q "note: left out: Cholesky has no schedule 'crout'" said
holds 'who is left out is said for each' [ "$(grep -c 'left out' said)" = 1 ]
expect 2 "nothing to compare: left out: Cholesky has no schedule 'crout'" \
  compare "${fast[@]}" --n 40 --gemm tiled,packed --schedule crout --factorization cholesky
expect 2 "did you mean 'crout'" compare "${fast[@]}" --n 40 --gemm tiled --schedule auto,crot
expect 0 'are computed in fp32, not fp64' compare "${fast[@]}" --n 40 --gemm tiled --precision fp64,fp32 --storage auto,bf16
expect 0 'PASS' compare "${fast[@]}" --n 60 --gemm tiled --pivoting partial,tournament --refine none,classical,gmres
expect 0 'block-size auto' compare "${fast[@]}" --n 60 --gemm tiled --block-size 16,auto,32
"$lasolve" compare "${recipes[@]}" --baseline recipes.json >table 2>said || failed=1
holds 'a recipe is not found in the baseline' [ "$(grep -cE ' (SAME|FASTER|SLOWER|UNKNOWN) [+-]' table)" = 6 ]
expect 0 'not in it' compare "${recipes[@]}" --block-size 16 --baseline recipes.json
expect 2 'has no packed (lu, left-looking) in fp64' compare "${often[@]}" spd --n 120 --gemm packed -f lu \
  --schedule left-looking --json recipes.json --resume
if command -v python3 >/dev/null; then
  python3 - <<'PYTHON' || failed=1
import json
rows = json.load(open("recipes.json"))["rows"]
assert rows[0]["name"] == "tiled (lu, right-looking)" and rows[0]["speedup_over_first"] == 1, rows[0]
assert rows[3]["options"] == {"factorization": "lu", "schedule": "crout"} and rows[3]["recipe"].startswith("lu, crout, "), rows[3]
assert len({(r["name"]) for r in rows}) == 8
PYTHON
fi

# What fails is named.
expect 6 'TiB wanted' compare "${fast[@]}" --n 300k --gemm tiled
expect 5 'FAIL' compare "${fast[@]}" <(printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n4\n') --gemm tiled
expect 2 "the size is said twice" compare "${fast[@]}" uniform:n=40 --n 40
expect 2 "the matrix of a file has its size" compare "${fast[@]}" "$data/A.mtx" --n 40
expect 2 "--n takes BEGIN:END:xFACTOR" compare "${fast[@]}" --n 40:80
expect 2 "did you mean 'packed'" compare "${fast[@]}" --gemm packd
expect 2 "--baseline-solvers takes openblas, eigen, cusolver, not 'mkl'" compare "${fast[@]}" --baseline-solvers eigen,mkl
expect 2 '--fail-on slower takes --baseline' compare "${fast[@]}" --fail-on slower
expect 2 '--resume takes --json' compare "${fast[@]}" --resume
expect 2 '--noise takes a number above 0' compare "${fast[@]}" --noise -1
expect 6 'cannot write nowhere/x.json' compare "${fast[@]}" --json nowhere/x.json

# A baseline solver that cannot run here, or runs on another device, is left out, if another is there.
expect 0 'note: --baseline-solvers leaves out cusolver: ' compare "${fast[@]}" --n 40 --gemm tiled --baseline-solvers cusolver,openblas,eigen
"$lasolve" compare "${fast[@]}" --n 40 --gemm tiled --baseline-solvers cusolver,eigen --json - >solvers.json || failed=1
holds 'JSON does not say who is left out' [ "$(grep -c 'leaves out cusolver' solvers.json)" = 1 ]
holds 'a baseline solver has no row' grep -q '"gemm": "eigen (solver)"' solvers.json
holds 'a baseline solver that is left out has a row' [ "$(grep -c '"gemm": "cusolver' solvers.json)" = 0 ]
expect 2 '--baseline-solvers: none can run: cusolver: ' compare "${fast[@]}" --n 40 --gemm tiled --baseline-solvers cusolver

# The report, where there is what draws it; else the package is named before anything is measured.
if python3 -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  expect 0 '' compare "${fast[@]}" --n 40,80 --gemm tiled,packed --baseline-solvers eigen --report page.html
  holds 'the report has no pictures' [ "$(grep -c '<svg' page.html)" -ge 3 ]
  cat >drawn.py <<'PYTHON'
import base64, gzip, json, re
page = open("page.html").read()
result = json.loads(gzip.decompress(base64.b64decode(re.search("data:application/gzip;base64,([^\"]+)", page)[1])))
assert len(result["rows"]) == 6
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["date"]), result["date"]
assert result["command"].startswith("lasolve compare --device cpu ") and "--n 40,80 " in result["command"], result["command"]
visible = re.sub(r"<[^>]*>", " ", page)
assert result["command"] in visible and result["date"][:10] in visible, "date and command line are not on the page"
assert re.search(r'<p class="answer">At n = 80 a whole solve is fastest with <code>', page), "the answer does not stand first"
pictures = re.findall(r"<svg.*?</svg>", page, re.S)
of = {}  # of each backend, the colours in which it is drawn, and in how many pictures
for picture in pictures:
    for name, drawn in re.findall(r'<g id="p\d+-of-([\w-]+)">(.*?)</g>', picture, re.S):
        of.setdefault(name, []).append(set(re.findall(r"var\(--(c\d)\)", drawn)))
assert set(of) == {"tiled", "packed", "eigen-solver"} and all(len(drawn) >= 3 for drawn in of.values()), of
assert all(len(set().union(*drawn)) == 1 for drawn in of.values()), f"a backend has several colours: {of}"
assert len(set().union(*(drawn[0] for drawn in of.values()))) == 3, f"backends have the same colour: {of}"
shares = [float(share) for picture in pictures for share in re.findall(r'id="p\d+-share-([\d.]+)"', picture)]
assert shares and max(shares) <= 100, f"more than all of the time: {shares}"
assert "fp64, n = 80</text>" in pictures[0] and "fp64, n = 40 to 80</text>" in pictures[2], "a picture does not say what it is of"
assert page.index("<th>speed-up then</th>") < page.index("<th>wall</th>"), "what one looks for does not stand first"
PYTHON
  holds 'the report is not what it should be' python3 drawn.py
  holds 'the report needs the network' [ -z "$(grep -oE '(src|href)="https?:' page.html)" ]

  # Updates by their shape, as the text has them.
  "$lasolve" compare "${fast[@]}" --n 100,300 --gemm tiled,packed --precision fp64,fp32 --block-size 24 --attribution \
    --report page.html >text || failed=1
  cat >updates.py <<'PYTHON'
import re
text = [line.split() for line in re.search(r"\nupdates C <-.*?\n\n.*?\n(.*?)\n\n", open("text").read(), re.S)[1].splitlines()]
drawn = {}
for n, details in re.findall(r"<summary>Updates by shape, n = (\d+)</summary>(.*?)</details>", open("page.html").read(), re.S):
    rows = re.findall(r"<tr>(<td.*?)</tr>", details)
    drawn[n] = [[n] + " ".join(re.findall(r"<td[^>]*>(.*?)</td>", row)).split() for row in rows]
assert list(drawn) == ["300", "100"] and len(text) > 20, (list(drawn), len(text))
for n in drawn:
    assert drawn[n] == [line for line in text if line[0] == n], (n, drawn[n], text)
PYTHON
  holds 'updates by shape are not those of the text' python3 updates.py
  holds 'there is more than one place for them' [ "$(grep -o 'class="beside"' page.html | wc -l)" = 1 ]

  # Where the first python3 has no matplotlib, and the system's has.
  if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    ln -s /usr/bin/python3 without
    ./without -S -c 'import matplotlib' 2>/dev/null ||
      holds "the system's python3 is not tried" ./without -S "$scripts/pictures" --check
  fi
else
  expect 6 'python3-matplotlib' compare "${fast[@]}" --n 40 --gemm tiled --report page.html
fi

# No two lines of a picture look alike, and 16 are told apart without their colours.
if command -v python3 >/dev/null; then
  holds 'lines look alike' python3 - "$scripts" <<'PYTHON'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from colours import COLOURS, Looks, line_style
def looks(style, *left_out):
    filled = "hollow" if style["markerfacecolor"] == COLOURS["page"] else "full"
    return tuple(value for name, value in {**style, "markerfacecolor": filled}.items() if name not in left_out)
styles = [line_style(at) for at in range(32)]
assert len({looks(s) for s in styles}) == 32 and all(s["color"] in COLOURS["series"] for s in styles)
assert len({looks(s, "color") for s in styles[:16]}) == 16
assert len({looks(s, "linestyle") for s in styles[:16]}) == 16, "points have no line"

# A backend has one colour in all precisions, and no two lines of ten backends in three precisions are alike.
rows = [{"gemm": f"g{at}", "precision": p, "peer": False} for p in ("fp64", "fp32", "tf32") for at in range(10)]
drawn = Looks(rows)
assert len({looks(drawn.style(r)) for r in rows}) == 30
assert all(drawn.style(r)["color"] == drawn.style(rows[at % 10])["color"] for at, r in enumerate(rows))
PYTHON
fi
exit "$failed"
