#!/usr/bin/env bash
# Makes what the fuzzer begins with: seeds.sh FOLDER makes FOLDER/{matrix_market,npy,npz,table,generator,options,plan,c_interface,product,recipes}.
set -euo pipefail
mkdir -p "$1"/{matrix_market,npy,npz,table,generator,options,plan,c_interface,product,recipes}
cd "$1"

n=0
market() {
  n=$((n + 1))
  printf '%%%%MatrixMarket matrix %b\n%b' "$1" "$2" >"matrix_market/$n.mtx"
}
market 'array real general' '2 3\n1\n2.5\n-3e4\n.5D-1\n5\n6\n'
market 'array real symmetric' '% a comment\n3 3\n1 2 3 4 5 6\n'
market 'array integer skew-symmetric' '3 3\n1\n2\n3\n'
market 'coordinate real symmetric' '3 3 3\n1 1 1.0-103\n1 2 2\n3 2 3\n'
market 'coordinate real general' '9 9 2\n1 1 1\n3 2 3\n'
market 'array real general' '2 1\nnan\n-inf\n'
market 'array real general' '0 99\n'
market 'coordinate real general' '2 3 2\n1 1 1.5\n2 3 -2\n'
market 'coordinate pattern symmetric' '2 2 2\n1 1\n2 1\n'
market 'coordinate integer general' '2 2 3\n1 1 4\n1 1 5\n2 1 9007199254740992\n'
market 'array real general' '1 2\n1.7976931348623157e308\n4.9406564584124654e-324\n'
market 'array real general' '1 1\n123456789012345678901234567890.123456789e-400\n'

# npy NAME VERSION TYPE FORTRAN SHAPE DATA
npy() {
  local header="{'descr': '$3', 'fortran_order': $4, 'shape': $5, }" bytes
  bytes="\\x$(printf '%x' ${#header})\\x00"
  [[ $2 = 1 ]] || bytes+='\x00\x00'
  printf "\x93NUMPY\x0$2\x00$bytes%s$6" "$header" >"npy/$1.npy"
}
one='\x00\x00\x00\x00\x00\x00\xf0\x3f'
npy square 1 '<f8' False '(2, 2)' "$one$one$one$one"
npy fortran 2 '<f8' True '(1, 2)' "$one$one"
npy big 3 '>f4' False '(2,)' '\x3f\x80\x00\x00\x7f\x80\x00\x00'
npy empty 1 '<f4' False '(0, 7)' ''
gzip -k npy/*.npy matrix_market/*.mtx

# zip NAME METHOD SIZE CRC DATA: an archive of one member, a.npy, of which all is given as printf escapes or numbers
le() { # BYTES NUMBER
  local k
  for ((k = 0; k < $1; k++)); do printf '\\x%02x' $(($2 >> 8 * k & 255)); done
}
zip() {
  local data=$5 size packed fields
  size=$3 packed=$(printf %b "$data" | wc -c)
  fields="$(le 2 20)$(le 2 0)$(le 2 "$2")$(le 4 0)$(le 4 "$4")$(le 4 "$packed")$(le 4 "$size")$(le 2 5)$(le 2 0)"
  {
    printf 'PK\x03\x04%b' "$fields" && printf 'a.npy%b' "$data"
    printf 'PK\x01\x02%b%b%b' "$(le 2 20)" "$fields" "$(le 14 0)" && printf a.npy
    printf 'PK\x05\x06%b' "$(le 4 0)$(le 2 1)$(le 2 1)$(le 4 51)$(le 4 $((35 + packed)))$(le 2 0)"
  } >"npz/$1.npz"
}
member=$(od -An -v -tx1 npy/square.npy | tr -d ' \n' | sed 's/../\\x&/g')
size=$(wc -c <npy/square.npy)
read -r crc _ < <(gzip -c npy/square.npy | tail -c 8 | od -An -tu4)
zip stored 0 "$size" "$crc" "$member"
zip deflated 8 "$size" "$crc" "$(gzip -nc npy/square.npy | tail -c +11 | head -c -8 | od -An -v -tx1 | tr -d ' \n' | sed 's/../\\x&/g')"
gzip -k npz/*.npz

n=0
for text in '1 2\n3 4\n' '1,2\n3,4\n' '1;2.5\r\n3;4e5\r\n' '1\t2\n3\t4' '# a comment\n 1 2 # more\n\n3 -inf\n' 'a,b\n1,2\n' '1,,2\n' \
  '1 2 #N/A\n' '1.#INF,-1.#IND\n' 'sep=;\n1,5;2\n' '1,2\r3,4\r' '"4,000.5","1"\n' ',0,1\n0,4,5\n' '1,5\t2,5\n' '1.0-103 2\n' '[[1. 2.]\n [3. 4.]]'; do
  n=$((n + 1))
  printf %b "$text" >table/$n
done
gzip -k table/*

n=0
for text in uniform:n=3 spd:n=4,seed=5 randsvd:n=6,kappa=1e8,seed=7 diagdom:n=2 growth:n=9 graded:n=3,bits=100 \
  hilbert:n=5 bem:n=16; do
  n=$((n + 1))
  printf %s "$text" >generator/$n
done

# Command lines, as the tests have them: a line for each word.
n=0
while read -r words; do
  n=$((n + 1))
  tr ' ' '\n' <<<"$words" >options/$n
done <<'END'
solve uniform:n=10 -f lu -s right-looking -d cpu --gemm naive,tiled --repeat 3 --warmup 0
spd:n=100 -f cholesky -p fp32 --storage bf16 --refine gmres --residual extra
uniform:n=200 -d cpu:0,1 --bounds --equilibrate on --history --json - --quiet
uniform:n=300 --device-memory 400k --accuracy 1e-14 --pivoting tournament --no-condition -t
a.mtx --rhs b.npy --output x.csv --format txt --decimal-comma --triangle upper --in-place
uniform:n=9 --engine scalapack --ranks 4 --threads all --tune leaf=8 --patience 9 --version
list --tuning --device cuda --tune leaf=8 --json -
list --tuned --threads 2
generate hilbert:n=5 -o x.npy.gz --threads 2 -q
convert -:A --output - --format mtx --allow-nonfinite
compare --n 1k:16k:x2,2^5,1e3 --gemm all --precision fp64,fp32 --noise 0.5 --seed 3 --fail-on slower --baseline a,b
compare uniform --baseline-solvers openblas,eigen --copies --unverified --markdown --trace t --resume
END
n=0
while read -r words; do
  n=$((n + 1))
  tr ' ' '\n' <<<"~$words" >plan/$n  # ~: n = 63
done <<'END'
-f lu -s right-looking --lanes 1 --block-size 8
-f lu -s left-looking --card h200 --rhs-columns 3 --quick-products
-f cholesky -p fp32 --storage bf16 --cards 2 --json=-
-f auto -d cpu:0,1 --pivoting tournament --no-condition --svg=-
-f lu --device-memory 400k --step 4 --accuracy 1e-14 --equilibrate on
-f lu-nopivot --in-place --tune leaf=8 --residual extra --bounds
END

# Of numbers: any bytes.
for k in 1 2 3 4; do
  cat npz/*.npz options/* | tail -c +$((99 * k)) | head -c $((250 * k)) | tee c_interface/$k recipes/$k >product/$k
done
