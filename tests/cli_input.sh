#!/usr/bin/env bash
# What people have their matrices in. Usage: cli_input.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
cpu=(--device cpu --no-condition)

printf '# by numpy.savetxt\n4.0e+00 1.0e+00\n2.0e+00 3.0e+00\n' >A.txt
printf '4,1\r\n2,3\r\n' >A.csv
printf '4;1\n2;3\n' >A
printf '4\t1\n2\t3\n' >A.tsv
printf '%s\n2 2\n4\n2\n1\n3\n' "$array" >A.mtx
printf '6\n8\n' >b.txt
gzip -k A.csv
for file in A.txt A.csv A A.tsv A.mtx A.csv.gz; do
  "$lasolve" --matrix $file --rhs b.txt "${cpu[@]}" --output - --format csv >x
  holds "$file is not read as the others" [ "$(paste -sd, x)" = 1,2 ]
  "$lasolve" --matrix - --rhs b.txt "${cpu[@]}" --output x.tsv -q <$file
  holds "$file is not read from standard input" [ "$(paste -sd, x.tsv)" = 1,2 ]
  # shellcheck disable=SC2002
  cat $file | "$lasolve" --matrix A.txt --rhs - "${cpu[@]}" --output x.csv -q
  holds "$file is not read from a pipe" [ "$(paste -sd' ' x.csv)" = '1,0 0,1' ]
done
(read -r _ && "$lasolve" --matrix - --rhs b.txt "${cpu[@]}" --output x.csv -q) <A.txt
holds 'standard input is not read from where it stands' [ "$(paste -sd, x.csv)" = 1,2 ]
expect 2 'both standard input' --matrix - --rhs -
expect 2 "did you mean 'csv'" --matrix A.txt --format cvs
expect 3 '<stdin>:1:1: error: expected a number, found "x"; is it a header row?' --matrix - "${cpu[@]}" < <(echo x,y)
printf '1,2\n3\n' >ragged.csv
expect 3 'ragged.csv:2:2: error: expected 2 numbers, as the first row has, found 1' --matrix ragged.csv
printf '4\t\t1\n2\t3\n' >tabs
expect 3 'tabs:1:3: error: expected a number, found an empty field; --format txt takes tabs for blanks' --matrix tabs
expect 0 'passed' --matrix tabs --format txt "${cpu[@]}"
head -c 300000000 /dev/zero | gzip >zeros.csv.gz
expect 2 "'lots'" --matrix A.txt --max-memory lots
if (ulimit -d 1000000 && "$lasolve" --version) >/dev/null 2>&1; then # AddressSanitizer takes more
  expect 6 'zeros.csv.gz: error: its content, more than ' --matrix zeros.csv.gz --max-memory 200m
  expect 0 'passed' --matrix A.txt --max-memory 1g "${cpu[@]}"
fi
printf '1,2\n3,NaN\n' >nan.csv
expect 3 'nan.csv:2:3: error: expected a finite number, found "NaN"' --matrix nan.csv
printf '%s\n2 2\n4 1\n2 3\n' "$array" >rows.mtx
expect 0 'rows.mtx:3:1: note: each line holds 2 numbers, as if it were a row' --matrix rows.mtx "${cpu[@]}"
expect 2 'the suffix must be .mtx, .npy, .csv' --matrix A.txt --output x.npz
"$lasolve" generate uniform:n=3 --output g.csv
holds 'a generated table is not one' [ "$(wc -l <g.csv)$(head -n 1 g.csv | tr -cd ,)" = '3,,' ]

if command -v python3 >/dev/null; then # which has ZIP
  python3 - <<'PYTHON'
import struct, zipfile
def npy(values, shape, type="<f8", letter="d"):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (type, shape)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%d%s" % (len(values), letter), *values)
for name, compression in ("stored.npz", zipfile.ZIP_STORED), ("deflated.npz", zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(name, "w", compression) as archive:
        for array, content in ("A", npy([4, 1, 2, 3], "(2, 2)")), ("b", npy([6, 8], "(2,)")):
            with archive.open(array + ".npy", "w", force_zip64=True) as member:  # as numpy.savez does
                member.write(content)
open("b.npy", "wb").write(npy([6, 8], "(2,)", "<i4", "i"))
PYTHON
  for archive in stored.npz deflated.npz; do
    "$lasolve" --matrix $archive:A --rhs $archive:b "${cpu[@]}" --output - --format csv >x
    holds "$archive is not read" [ "$(paste -sd, x)" = 1,2 ]
    expect 3 "$archive: error: expected one array, found 2: A, b; $archive:A names one" --matrix $archive
    expect 3 "$archive: error: expected an array \"C\", found A, b" --matrix $archive:C
  done
  expect 0 'b.npy: note: int32 elements became float64' --matrix A.csv --rhs b.npy "${cpu[@]}" --output x.npy
  "$lasolve" --matrix A.csv --rhs b.npy "${cpu[@]}" --output x.npy --quiet
  holds 'a vector does not come back as one' grep -aq "'shape': (2,)" x.npy
fi
# A path that the system does not take is no internal error.
long=$(printf 'long,%.0s' {1..60})
for command in solve compare; do expect 3 'File name too long' $command "$long.mtx"; done
expect 2 "there is no GEMM backend 'long'" compare --gemm "${long%,}"
# What separates numbers, and what marks decimals.
printf '4,0;1,0\n2,0;3,0\n' >de.csv
printf '1,5\n2,5\n' >b_de.csv
expect 3 'de.csv:1:2: error: expected a semicolon, found ",0"; --decimal-comma takes a comma for the decimal mark' de.csv
"$lasolve" de.csv --rhs b_de.csv --decimal-comma "${cpu[@]}" -q >x
holds '--decimal-comma is not read as with points' cmp -s x <("$lasolve" A.csv --rhs <(tr , . <b_de.csv) "${cpu[@]}" -q)
expect 0 "b_de.csv: note: a comma separates, so these are 2 columns; if 1,5 means 1.5 there, --decimal-comma reads it, or 'tr , . <b_de.csv' makes it so" \
  A.csv --rhs b_de.csv "${cpu[@]}"
holds '--quiet hides that a comma may mean decimals' grep -q 'a comma separates, so these are 2 columns' \
  <("$lasolve" A.csv --rhs b_de.csv "${cpu[@]}" -q 2>&1 >/dev/null)
printf '1;5\n2;5\n' >b_2.csv
holds 'a note on columns that nobody can mistake' [ -z "$("$lasolve" A.csv --rhs b_2.csv "${cpu[@]}" 2>&1 | grep 'a comma separates')" ]
for separator in ',' ';' '\t' ' '; do
  printf '0%b1.5\n1%b2.5\n' "$separator" "$separator" >b_index
  expect 0 'b_index: note: the first column is 0, 1, …: is it an index? ' A.csv --rhs b_index "${cpu[@]}"
  eval "$(sed -n 's/.*index? \(.*\) leaves it out$/\1/p' <<<"$said")" >b_cut
  holds "the first column is not left out of $(cat b_index)" [ "$(tr -d ' ' <b_cut | paste -sd' ')" = '1.5 2.5' ]
done
holds '--quiet hides that there may be an index' grep -q 'is it an index' <("$lasolve" A.csv --rhs b_index "${cpu[@]}" -q 2>&1 >/dev/null)
printf '0;1,5\n1;2,5\n' | gzip >b_index.csv.gz
expect 0 "gzip -dc b_index.csv.gz | cut -d';' -f2- leaves it out" A --rhs b_index.csv.gz --decimal-comma "${cpu[@]}"
printf '0\n6\n8\n' >b_header
expect 3 'found 3; the first row is 0, 1, …: is it a header? tail -n +2 b_header leaves it out' A.csv --rhs b_header "${cpu[@]}"
printf 'x\n1\n2\n' >b_named
expect 3 'tail -n +2 b_named leaves it out' A.csv --rhs b_named "${cpu[@]}"
printf '; a remark\n1;2\n3;4\n' >remark.csv
expect 3 'tail -n +2 remark.csv leaves out the header' remark.csv
printf '1\n1.#INF\n' >b_inf.txt
expect 3 'b_inf.txt:2:1: error: expected a finite number, found "1.#INF"' A.csv --rhs b_inf.txt

# What is no square, and what is singular or sparse by its structure.
printf '1 2 3\n4 5 6\n' >wide
printf '1 5\n3 4\n2 6\n' >tall
printf '0;1,5;2\n1;3;4,5\n' >indexed.csv
expect 3 "belongs into a file of its own, for --rhs; the first column is 0, 1, …: is it an index? cut -d';' -f2- indexed.csv leaves it out" indexed.csv --decimal-comma
cut -d';' -f2- indexed.csv >cut.csv
expect 0 'solved' cut.csv --decimal-comma "${cpu[@]}"
printf '0,1\n4,1\n2,3\n' >headed.csv
expect 3 'found 3 x 2; the first row is 0, 1, …: is it a header? tail -n +2 headed.csv leaves it out' headed.csv
expect 3 'wide:1:1: error: expected a square matrix, found 2 x 3; a last column that is b belongs into a file of its own' wide
expect 3 'wide:1:1: error: expected a square matrix, found 2 x 3; least squares are not offered' wide --rhs b.txt
expect 3 "tall:1:1: error: expected a square matrix, found 3 x 2; least squares are not offered: LAPACK's gels" tall
{
  echo '%%MatrixMarket matrix coordinate real general'
  echo '20000 20000 100'
  for ((k = 1; k <= 100; k++)); do echo "$((k * 150)) $((k * 101 + (k > 30))) 1.5"; done
} >few.mtx
(
  if (ulimit -v 2500000 && "$lasolve" --version) >/dev/null 2>&1; then ulimit -v 2500000; fi
  expect 4 'the matrix is singular: column 0 (counted from 0) has no pivot other than zero' few.mtx --device cpu --threads 1
  expect 4 'note        column 0 (counted from 0) is zero, so nothing was factored' few.mtx --device cpu --threads 1
  expect 4 '2.5e-05 % of the entries are not zero: sparse solvers' few.mtx --device cpu --threads 1
  exit $failed
) || failed=1
printf '1 0 2\n0 0 0\n3 0 4\n' >empty
expect 4 'column 1 (counted from 0) has no pivot other than zero' empty "${cpu[@]}"
expect 4 '"outcome": "singular"' empty "${cpu[@]}" --json -
expect 4 'the leading minor of order 2 is not positive' empty "${cpu[@]}" -f cholesky
{
  echo '%%MatrixMarket matrix coordinate real symmetric'
  echo '1200 1200 2399'
  for ((k = 1; k <= 1200; k++)); do echo "$k $k 4"; done
  for ((k = 2; k <= 1200; k++)); do echo "$k $((k - 1)) -1"; done
} >band.mtx
expect 0 "note        all entries are within 3 diagonals of 2399: LAPACK's gbsv solves banded systems" band.mtx "${cpu[@]}"

# What is too small for a double.
printf '1e-320 4 1\n2 -3e-330 1\n2 0e-400 2.5e-309\n' >small
expect 0 'small:1:1: note: 3 entries, the first here, below 2.2e-308 lost digits; 1 became 0' small "${cpu[@]}"
printf '%s\n2 2\n4\n1.0-310\n0\n3\n' "$array" >small.mtx
expect 0 'small.mtx:4:1: note: an entry below 2.2e-308 lost digits' small.mtx "${cpu[@]}"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 2 3\n2 1 -1e-400\n' >small.mtx
expect 0 'small.mtx:5:5: note: an entry below 2.2e-308 lost digits; 1 became 0' small.mtx "${cpu[@]}"
holds 'zeros are taken for numbers that are too small' [ -z "$("$lasolve" <(printf '4 0.00000000000000000000000\n-0 3\n') "${cpu[@]}" 2>&1 | grep 2.2e-308)" ]

# What takes long says so before it begins.
"$lasolve" uniform:n=6000 --gemm naive --threads 1 "${cpu[@]}" >/dev/null 2>said &
for ((k = 0; k < 600; k++)); do
  if [ -s said ] || ! kill -0 $! 2>/dev/null; then break; fi
  sleep 0.1
done
kill $! 2>/dev/null
wait $! 2>/dev/null
holds 'nothing is said before a long solve' grep -Eq '^lasolve: solving takes about [0-9]+ (s|min), as far as the rate of a small product tells, and 549.3 MiB of memory$' said

# A solution without --output is on standard output, the report is not.
"$lasolve" --matrix A.csv --rhs b.txt "${cpu[@]}" >x 2>report
holds 'the solution is not printed alone' [ "$(cat x)" = $'1\n2' ]
holds 'the report is not on standard error' grep -q '^outcome *solved' report
holds '--quiet takes the solution away' [ "$("$lasolve" --matrix A.csv --rhs b.txt "${cpu[@]}" -q 2>&1)" = $'1\n2' ]
"$lasolve" --matrix A.csv --rhs b.txt "${cpu[@]}" -q --format npy >x.npy
holds '--format npy prints no .npy' cmp -s x.npy <("$lasolve" --matrix A.csv --rhs b.txt "${cpu[@]}" --output - --format npy)
"$lasolve" --matrix A.csv --rhs b.txt "${cpu[@]}" --json - >json 2>/dev/null
holds '--json - is not JSON alone' [ "$(head -c 1 json)$(tail -n 1 json)" = '{}' ]
expect 4 'no solution was written' --matrix <(printf '1 2\n2 4\n') --rhs b.txt "${cpu[@]}"
printf '7\n' >before.txt
expect 4 'no solution was written; before.txt is as it was before' --matrix <(printf '1 2\n2 4\n') --rhs b.txt "${cpu[@]}" --output before.txt
holds 'a solve that fails changes its output' [ "$(cat before.txt)" = 7 ]
"$lasolve" generate uniform:n=100 --output g.npy
"$lasolve" --matrix spd:n=100 --rhs g.npy "${cpu[@]}" -q >all
holds 'a pipe does not get all of a long solution' [ "$(wc -lw <all | xargs)" = '100 10000' ]
holds 'digits are lost' "$lasolve" --matrix spd:n=100 --rhs g.npy "${cpu[@]}" --output x.npy -q
"$lasolve" --matrix <(printf '1\n') --rhs <(head -n 1 all | cut -d' ' -f1) "${cpu[@]}" -q >one
holds 'a number is not read back as itself' [ "$(cat one)" = "$(head -n 1 all | cut -d' ' -f1)" ]
if command -v script >/dev/null; then
  script -qec "'$lasolve' --matrix spd:n=100 --rhs g.npy --device cpu -q" /dev/null >terminal
  holds 'a terminal gets more than head and tail' [ "$(wc -l <terminal)" = 23 ]
  holds 'what is left out is not said' grep -q '^... 78 more rows; --output FILE writes all' terminal
fi
exit "$failed"
