#!/usr/bin/env bash
# Each kind of line that the tool offers for files of others is run, and makes the matrix that was in them. Skipped where Python has
# no NumPy, SciPy and h5py. Usage: cli_foreign_lines.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
has_all() { "$1" -c 'import numpy, scipy.io, scipy.sparse, h5py' 2>/dev/null; }
if ! has_all python3; then
  has_all /usr/bin/python3 || {
    echo 'skipped: python3 has no numpy, scipy and h5py'
    exit 77
  }
  PATH=/usr/bin:$PATH
fi

python3 - <<'PYTHON'
import gzip, json, pickle
import h5py, numpy, scipy.io, scipy.sparse
A = numpy.array([[4.0, 1.0], [2.0, 3.0]])
symmetric = numpy.array([[4.0, 1.0], [1.0, 3.0]])
S = scipy.sparse.csc_matrix(A)
scipy.io.savemat("dense.mat", {"title": "text", "K": A})
scipy.io.savemat("dense_packed.mat", {"stiffness_matrix": A}, do_compression=True)
scipy.io.savemat("sparse.mat", {"A": S}, do_compression=True)
scipy.io.savemat("collection.mat", {"Problem": {"name": "of SuiteSparse", "A": S, "id": 1.0}}, do_compression=True)
scipy.io.savemat("struct.mat", {"model": {"K": A, "loads": 1.0}})
scipy.io.savemat("four.mat", {"M": A}, format="4")
scipy.io.savemat("four_sparse.mat", {"M": S}, format="4")
def matlab_73(name, fill):
    with h5py.File(name, "w", userblock_size=512) as file: fill(file)
    with open(name, "r+b") as file: file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))
def sparse(file):
    group = file.create_group("A")
    group.attrs["MATLAB_sparse"] = numpy.uint64(2)
    group["data"], group["ir"], group["jc"] = S.data, S.indices.astype("u8"), S.indptr.astype("u8")
matlab_73("seven.mat", lambda file: file.create_dataset("A", data=A.T))
matlab_73("seven_sparse.mat", sparse)
with h5py.File("plain.h5", "w") as file: file["A"] = A
pickle.dump(A, open("dense.pkl", "wb"))
pickle.dump(S, open("sparse.pkl", "wb"))
scipy.sparse.save_npz("sparse.npz", S)
json.dump(A.tolist(), open("list.json", "w"))
open("print.txt", "w").write(str(A) + "\n")
open("repr.txt", "w").write(repr(A.astype("f4")) + "\n")
open("wide.txt", "w").write(str(numpy.eye(29) + numpy.ones((29, 29))) + "\n")
open("column.txt", "w").write(str(A.sum(axis=1)) + "\n")
scipy.io.hb_write("unsymmetric.rua", S)
scipy.io.hb_write("lower.rua", scipy.sparse.csc_matrix(numpy.tril(symmetric)))
open("symmetric.rsa", "w").write(open("lower.rua").read().replace("RUA", "RSA"))
A.tofile("raw.bin")
A.astype("f4").tofile("raw4.bin")
numpy.save("objects.npy", S)
PYTHON
printf '6\n8\n' >b.txt
printf '6\n7\n' >b_symmetric.txt
# shellcheck disable=SC2317 # they are called by converts
{
  is_A() { [ "$("$lasolve" "$1" --rhs b.txt --device cpu -q --no-condition | paste -sd,)" = 1,2 ]; }
  is_symmetric_A() { [ "$("$lasolve" "$1" --rhs b_symmetric.txt --device cpu -q --no-condition | paste -sd,)" = 1,2 ]; }
  is_rhs() { [ "$(printf '4 1\n2 3\n' | "$lasolve" - --rhs "$1" --device cpu -q --no-condition | paste -sd,)" = 1,1 ]; }
}
for file in dense.mat dense_packed.mat sparse.mat collection.mat struct.mat four.mat four_sparse.mat seven.mat seven_sparse.mat \
  plain.h5 dense.pkl sparse.pkl sparse.npz list.json print.txt repr.txt unsymmetric.rua raw.bin raw4.bin; do
  converts $file is_A
  gzip -k $file
  converts $file.gz is_A
done
converts symmetric.rsa is_symmetric_A
converts wide.txt
converts column.txt is_rhs
expect 3 'in it are Problem.name, Problem.A, Problem.id' collection.mat
expect 3 'in it are model.K, model.loads' struct.mat
expect 3 'objects of Python; save A.astype(float), or A.toarray() of a sparse matrix' objects.npy
for file in seven.mat plain.h5 seven_sparse.mat seven.mat.gz; do
  listing=$("$lasolve" $file 2>&1 | sed -n '/as this lists them:/{n;s/^  //p}')
  holds "$file: its names are not listed by: $listing" [ "$(eval "$listing" | head -n 1)" = A ]
done

printf '4,1\n2,3\n' >A.csv
python3 - <<'PYTHON'
import bz2, lzma, tarfile, zipfile
text = open("A.csv", "rb").read()
open("b.csv.bz2", "wb").write(bz2.compress(text))
open("x.csv.xz", "wb").write(lzma.compress(text))
zipfile.ZipFile("folder.zip", "w").write("A.csv", "in/A.csv")
for name, mode in ("one.tar", "w"), ("one.tar.gz", "w:gz"):
    with tarfile.open(name, mode, format=tarfile.PAX_FORMAT, pax_headers={"comment": "no file"}) as archive:
        archive.add("A.csv", "in/A.csv")
PYTHON
cp b.csv.bz2 plain
if command -v bzip2 >/dev/null; then converts b.csv.bz2 is_A && converts plain is_A; fi
if command -v xz >/dev/null; then converts x.csv.xz is_A; fi
if command -v zstd >/dev/null; then zstd -q A.csv -o z.csv.zst && converts z.csv.zst is_A; fi
if command -v unzip >/dev/null; then converts folder.zip is_A; fi
converts one.tar is_A
converts one.tar.gz is_A
holds 'the name does not say what was done' [ -f b.csv ]
python3 -c 'import zipfile; a = zipfile.ZipFile("A.xlsx", "w"); [a.writestr(n, "x") for n in ("docProps/app.xml", "[Content_Types].xml")]'
expect 3 'A.xlsx: error: expected a matrix that lasolve reads, found a workbook of a spreadsheet: save its sheet as CSV' A.xlsx
exit "$failed"
