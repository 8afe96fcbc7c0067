#!/usr/bin/env bash
# Files of other programs: the line that converts each, which overwrites nothing. Usage: cli_foreign.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"

if command -v iconv >/dev/null; then
  for name in A.csv "it's a.csv" B.mtx plain; do
    printf '4,1\n2,3\n' >utf8
    [ "$name" != B.mtx ] || printf '%s\n2 2\n4\n2\n1\n3\n' "$array" >utf8
    iconv -f UTF-8 -t UTF-16 utf8 >"$name"
    converts "$name"
    converts "$name" # whose first name is taken by now
    iconv -f UTF-8 -t UTF-16LE utf8 >"$name"
    converts "$name"
    iconv -f UTF-8 -t UTF-16BE utf8 >"$name"
    converts "$name"
    gzip -kf "$name"
    converts "$name.gz"
  done
  holds 'the name does not say what was done' [ -f A-utf8.csv ]
  expect 3 'iconv -f UTF-16BE -t UTF-8 FILE >FILE-utf8' - <A.csv
fi

printf 'MATLAB 7.3 MAT-file' >A.mat
expect 3 "sys.argv[2], h5py.File(sys.argv[1])['A'][:].T)\" A.mat A.npy" A.mat
expect 3 "'A' stands for the name of the array, as this lists them:" A.mat
expect 3 'h5py.File(sys.argv[1]).visit(print)" A.mat' A.mat
touch A.npy
expect 3 'A.mat A-2.npy' A.mat
gzip -k A.mat
expect 3 'h5py.File(gzip.open(sys.argv[1]))' A.mat.gz
expect 3 ' A.mat.gz A-2.npy' A.mat.gz
mv A.mat "it's A.mat"
expect 3 " 'it'\\''s A.mat' 'it'\\''s A.npy'" "it's A.mat"
expect 3 " ./-A.mat ./-A.npy" --matrix=-A.mat < <(cp "it's A.mat" ./-A.mat)
expect 3 ' FILE FILE.npy' - <"it's A.mat"
printf '\x80\x04\x95' >A.pkl
expect 3 'pickle.load(open(sys.argv[1], '"'rb')); numpy.save(" A.pkl
expect 3 'load none that you do not trust' A.pkl
echo '[[4, 1], [2, 3]]' >A.json
expect 3 'numpy.save(sys.argv[2], [[*map(float, r.split())] for r in t.split('"']')[:-2]])\" A.json" A.json
echo '[4 1; 2 3]' >A.m
expect 3 'A.m:1:1: error: expected a row of numbers in each line, found a list in brackets' A.m

if command -v python3 >/dev/null; then
  python3 - <<'PYTHON'
import gzip, struct, zipfile, zlib
def element(type, data):
    return struct.pack("<II", type, len(data)) + data + b"\0" * (-len(data) % 8)
def array(name, kind=6):
    name = struct.pack("<HH", 1, len(name)) + name.ljust(4, b"\0") if len(name) <= 4 else element(1, name)
    return element(14, element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack("<ii", 1, 1)) + name + element(9, struct.pack("<d", 1)))
header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
packed = lambda data: struct.pack("<II", 15, len(zlib.compress(data))) + zlib.compress(data)
open("one.mat", "wb").write(header + array(b"text", 4) + array(b"stiffness"))
open("packed.mat", "wb").write(header + packed(array(b"K")) + packed(array(b"loads")))
open("four.mat", "wb").write(struct.pack("<iiiii", 0, 1, 1, 0, 2) + b"M\0" + struct.pack("<d", 1))
open("cut.mat", "wb").write((header + packed(array(b"K")))[:140])
def npy(type, shape):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (type, shape)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
for name, members in ("sparse", ("indices", "indptr", "format", "shape", "data")), ("two", ("A", "B")):
    with zipfile.ZipFile(name + ".npz", "w") as archive:
        for member in members: archive.writestr(member + ".npy", npy("<f8", "(0, 0)"))
    open(name + ".npz.gz", "wb").write(gzip.compress(open(name + ".npz", "rb").read()))
open("complex.npy", "wb").write(npy("<c16", "(1, 1)"))
open("objects.npy", "wb").write(npy("|O", "(1, 1)"))
open("short.npy", "wb").write(npy("<f8", "(40000, 40000)"))
PYTHON
  expect 3 "scipy.io.loadmat(sys.argv[1])['stiffness'])\" one.mat one.npy" one.mat
  expect 3 "['K'])\" packed.mat packed.npy" packed.mat
  expect 3 'in it are K, loads' packed.mat
  expect 3 "['M'])\" four.mat" four.mat
  expect 3 "'A' stands for the name of the array" cut.mat
  expect 3 'scipy.sparse.load_npz(sys.argv[1]).toarray())" sparse.npz sparse.npy' sparse.npz
  expect 3 'load_npz(gzip.open(sys.argv[1]))' sparse.npz.gz
  expect 3 'two.npz.gz:A names one' two.npz.gz
  expect 0 'solved' two.npz.gz:A --device cpu
  expect 3 'A, B; -:A names one' - <two.npz
  expect 0 'solved' -:B --device cpu <two.npz
  expect 3 'two.npz:B names one' --rhs two.npz uniform:n=3
  expect 3 'found "<c16": complex numbers, and only real systems are solved' complex.npy
  expect 3 'found "|O": objects of Python' objects.npy
  expect 3 'expected 12800000000 bytes (11.9 GiB) of data, found 0 bytes: is the file complete?' short.npy
fi

# Tables that are nearly right.
table() { # TEXT ROWS: what is said of a table
  printf '%b' "$2" >table.csv
  expect 3 "$1" table.csv
}
leaves() { # TEXT ROWS: what is said, and leaves a table that is solved
  local command
  table "$1" "$2"
  command=$(sed -En 's/.*(\? |; )((tail|cut|LC_ALL=C sed) .*) leaves .*/\2/p' <<<"$said" | sed 's/.*has none; //')
  eval "$command" >left.csv
  holds "$command leaves no table of 2 rows and columns" [ "$(grep -v '^#' left.csv | tr -s ';,\t' ' ' | wc -lw | xargs)" = '2 4' ]
}
leaves 'is it a header row of pandas? to_csv(..., index=False, header=False) has none' ',a,b\n0,4,1\n1,2,3\n'
leaves "has none; tail -n +2 table.csv | cut -d';' -f2- leaves out header and index" ';nœud_0;nœud_1\n0;4;1\n1;2;3\n'
leaves "has none; tail -n +2 table.csv | cut -f2- leaves out header and index" '\tα\tβ\na\t4\t1\nb\t2\t3\n'
leaves 'is it a header row? tail -n +2 table.csv leaves it out' 'a,b\n4,1\n2,3\n'
leaves 'is it a header row? tail -n +2 table.csv leaves it out' 'a,b\n1,4\n2,3\n'
leaves "is it a header row? tail -n +2 table.csv | cut -d';' -f2- leaves header and index out" 'Nœud;x;y\nÉ 1;4.5;1\nÉ 2;2;3\n'
also 'found "Nœud"'
leaves 'is it a header row? tail -n +3 table.csv | cut -d, -f2- leaves header and index out' '# by hand\nid,x,y\n1,4,1\n2,2,3\n'
leaves 'is it a header row? tail -n +2 table.csv leaves it out' '"a";"b"\n"4";"1"\n"2";"3"\n'
leaves "LC_ALL=C sed -E '/" 'x,y\n"a,b",4,1\n# c,d\n"e",2,3\n'
leaves "LC_ALL=C sed -E '/" '"Gr\xfcn, A",4,1\n"e",2,3\n'
leaves "LC_ALL=C sed -E '/" '"a;b";4;1\n# c;d\n"e";2;3\n'
leaves "LC_ALL=C sed -E '/" '"a\tb"\t4\t1\n# c\td\ne\t2\t3\n'
leaves 'does a name stand before each row? cut -d, -f2- table.csv leaves it out' 'x,4,1\ny,2,3\n'
leaves "does a name stand before each row? LC_ALL=C sed -E 's/^[[:blank:]]*[^#[:blank:]]+//' table.csv leaves it out" 'x 4 1\ny 2 3\n'
table 'table.csv:1:1: error: expected a number, found ""4""; numbers stand without quotes' '"4","1"\n"2","3"\n'
table 'table.csv:1:1: error: expected a number, found "NA"; is a value missing?' 'NA,1\n2,3\n'
table '; --allow-nonfinite reads it' '4,nan\n2,3\n'
printf '%% by hand\n4 1\n%% and\n2 3\n' >table
expect 0 'solved' table --device cpu
printf '4 5%%\n2 3\n' >table
expect 3 'table:1:3: error: expected a number, found "5%"' table
printf '%%Matrix Market matrix array real general\n1 1\n1\n' >table
expect 3 'expected the banner %%MatrixMarket' table
printf '%%MatrixMarket matrix array real general\n1 1\n1\n' >table # which has one %
expect 0 'solved' table --device cpu
exit "$failed"
