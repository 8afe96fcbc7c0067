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
