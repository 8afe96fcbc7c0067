#!/usr/bin/env bash
# lasolve plan: what it prints, writes and refuses. Usage: cli_plan.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
printf '%s\n2 2\n1\n2\n2\n1\n' "$array" >indefinite.mtx
printf '%s\n2 2\n1e-310\n0\n0\n1e-310\n' "$array" >subnormal.mtx
printf '%s\n3 1\n1\n2\n3\n' "$array" >long.mtx

expect 0 'n = 40, panels of at most 16 columns, in steps of 4' plan --matrix uniform:n=40 --block-size 16
expect 0 'waits for' plan --matrix uniform:n=40 --block-size 16
expect 0 'n = 2,' plan --matrix indefinite.mtx --schedule left-looking
expect 0 'nothing has to wait' plan --matrix spd:n=40 --factorization cholesky --schedule recursive --lanes 1
expect 0 '"waits_for"' plan --matrix uniform:n=900000 --block-size 90000 --json -
expect 0 '</svg>' plan --matrix spd:n=40 --factorization cholesky --svg -
expect 0 '' plan --matrix uniform:n=40 --quiet --json plan.json --svg plan.svg
expect 0 'n = 40, panels of' plan uniform:n=40 --svg other.svg
for files in '--svg other.svg' '--json other.json'; do
  # shellcheck disable=SC2086 # it is split into words
  holds "plan $files prints the table as well" [ -z "$("$lasolve" plan uniform:n=40 $files | grep '^ *task ')" ]
done
expect 0 '--lanes' plan --help
expect 0 'lowered for the kernels of h200' plan uniform:n=2000 --card h200
expect 0 'lookahead_update' plan uniform:n=2000 --card h200
expect 0 'chain, panels, near, soon, bulk beside, bulk, far' plan uniform:n=20000 --card h200 --quick-products
expect 0 'update                 2' plan uniform:n=200 --block-size 100 --lanes 1
expect 0 'bulk 2' plan spd:n=2000 --factorization cholesky --schedule left-looking --card h200
expect 0 '</svg>' plan spd:n=6000 -f cholesky -s left-looking --card a100 --svg -
expect 0 'A[0:2000, 0:128]' plan uniform:n=2000 --card a100
expect 0 'A[0:2000, 0:64]' plan uniform:n=2000 --card rtx4090
expect 0 '2, to which block columns are dealt out' plan uniform:n=2000 --cards 2
expect 0 'send              1: copies' plan uniform:n=2000 --block-size 500 --step 500 --cards 2
expect 0 'of card 0' plan uniform:n=2000 --cards 2 --lanes 1
expect 0 '1: chain</text>' plan uniform:n=2000 --cards 2 --svg -
expect 0 'recipes     0: lu, right-looking, by plan' plan uniform:n=2000
expect 0 '(found before)' plan uniform:n=4k -f auto -s auto --card a100
expect 0 'after 0 (not' plan uniform:n=4k -f auto -s auto
expect 0 'after 0 (too coarse)' plan uniform:n=2000 --precision fp32
expect 0 'solve       by plan, 7 at once' plan uniform:n=2000 --rhs-columns 7
expect 0 '"requires": "symmetric with a positive diagonal"' plan spd:n=2000 -f cholesky --json -
expect 0 '"keeps_rhs": false' plan spd:n=2000 -f cholesky --json -
expect 0 '"reason": "too_coarse"' uniform:n=300 --precision fp32 --json -
expect 0 '"scales_up": true' subnormal.mtx -f lu --json -
expect 0 '"recipe": 0' uniform:n=300 --precision fp32 -f lu --json -
expect 0 'send              1: copies' plan uniform:n=9000 --card h200 --device cuda:0,1
expect 0 'by leaf' plan uniform:n=10 --device cpu
expect 0 'by cards' plan uniform:n=2000 --cards 2
expect 0 'by cards, in shares of 2,1,1' plan uniform:n=2000 --cards 3 --card-shares 2,1,1
expect 0 '"card_shares": "1,3"' plan uniform:n=2000 --device cpu:0,1 --card-shares 1,3 --json -
expect 0 'lu-nopivot, right-looking, by cards' plan uniform:n=2000 --cards 2 -f lu-nopivot
expect 0 'lu-nopivot, left-looking, by out of core' plan uniform:n=300 -f lu-nopivot --device-memory 500k
expect 2 'over 16 cards at most' plan uniform:n=10 --cards 2000000000
expect 2 'the index of a card is 255 at most' plan uniform:n=2000 --device cpu:256,257
expect 2 'over several cards the schedule is right-looking' plan uniform:n=2000 --cards 2 -s crout
expect 2 'over several cards the schedule is right-looking' plan uniform:n=2000 --device cpu:0,1 -s left-looking
expect 2 'leaves nothing to refine with' plan uniform:n=2000 --in-place -p fp32
expect 2 "did you mean 'a100'" plan uniform:n=5 --card a10
expect 2 '--lanes 4' plan uniform:n=5 --card h200 --lanes 1
expect 2 'do not go together' plan uniform:n=5 --card h200 --step 2
expect 2 'no matrix' plan
expect 2 "did you mean 'recursive'" plan --matrix uniform:n=5 --schedule recursiv
expect 2 "takes 1, 4, not '3'" plan --matrix uniform:n=5 --lanes 3
expect 2 'at least 1' plan --matrix uniform:n=5 --step 0
expect 2 "plan --help' lists" plan --matrix uniform:n=5 --stpe 2
expect 2 'are one file' plan --matrix uniform:n=5 --json - --svg -
expect 3 'expected a square matrix, found 3 x 1' plan --matrix long.mtx

if command -v python3 >/dev/null; then
  # What is printed before is what a solve has, and takes.
  printf '%s\n2 2\n1e-320\n0\n0\n1e-320\n' "$array" >least.mtx
  printf '%s\n2 2\n1e-300\n2e-300\n1e300\n1e300\n' "$array" >scaled.mtx
  while read -r words; do
    # shellcheck disable=SC2086 # they are split into words
    expect 0 '' plan $words --quiet --json before.json
    # shellcheck disable=SC2086
    "$lasolve" $words --allow-ill-conditioned --quiet --json after.json >/dev/null 2>&1
    holds "of '$words' other recipes are printed than one is taken of" python3 -c '
import json
plan, solve = (json.load(open(name)) for name in ("before.json", "after.json"))
taken, shown = solve["recipe_taken"], solve["recipes"][solve["recipe"]]
others = {name for name in taken if taken[name] != shown[name]}
assert plan["recipes"] == solve["recipes"], (plan["recipes"], solve["recipes"])
assert (taken["refine"] or "none") == solve["refine"] and others <= {"refine"}, others'
  done <<'END'
subnormal.mtx -f lu -s right-looking -d cpu
least.mtx -f auto -s right-looking -d cpu
scaled.mtx -f lu -s right-looking -d cpu
randsvd:n=200,kappa=1e10 -f lu -p fp32 -d cpu
uniform:n=10 -f auto -d cpu
uniform:n=30 -d cpu -f lu
uniform:n=100 -f auto -d cpu
spd:n=100 -f auto -d cpu -p fp32 --storage bf16
uniform:n=100 -f lu --in-place -d cpu
uniform:n=200 -f lu -d cpu:0,1
uniform:n=200 -f lu -d cpu:0,1 --card-shares 3,1
uniform:n=300 -f lu -d cpu --device-memory 400k
diagdom:n=200 -f lu-nopivot -d cpu:0,1
diagdom:n=300 -f lu-nopivot -d cpu --device-memory 400k
diagdom:n=10 -f lu-nopivot -d cpu
uniform:n=200 -f lu -d cpu --bounds --equilibrate on --residual extra
spd:n=100 -f cholesky --triangle upper -d cpu --accuracy 1e-14
uniform:n=200 -f lu -d cpu --pivoting tournament --no-condition
END
  holds "plan.json is no JSON" python3 -c 'import json; json.load(open("plan.json"))'
  holds "plan.svg is no XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("plan.svg")'
fi

# The pictures of the pages are what their commands draw.
for page in "$data"/../docs/how-{lu,cholesky}-works.md; do
  words=$(sed -n 's/^    lasolve \(plan .*\) --svg plan.svg$/\1/p' "$page")
  picture=$(sed -n 's/^!\[.*](\(pictures\/.*\.svg\))$/\1/p' "$page")
  # shellcheck disable=SC2086 # it is split into words
  expect 0 '' $words --quiet --svg drawn.svg
  holds "docs/$picture is not what 'lasolve $words' draws" cmp drawn.svg "$data/../docs/$picture"
  rm -f drawn.svg
done
exit $failed
