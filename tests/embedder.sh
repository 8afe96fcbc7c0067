#!/usr/bin/env bash
# The tool and a program with the library get the same bits of X, on a device. Usage: embedder.sh LASOLVE EMBEDDER DEVICE
set -u
lasolve=$1 embedder=$2 device=$3 failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache # nothing is tuned
if [ "$device" != cpu ] && ! "$lasolve" uniform:n=4 -q --device "$device"; then exit 77; fi

# same_bits METHOD N NRHS: of A.npy and B.npy.
same_bits() {
  "$lasolve" A.npy --rhs B.npy --device "$device" -f "$1" -q --output X.npy || failed=1
  "$embedder" "$device" "$1" "$2" "$3" A.npy B.npy X || failed=1
  tail -c $((8 * $2 * $3)) X.npy | cmp - X && return
  echo "$1, n = $2, $3 right-hand sides: the tool and the library have solutions of different bits"
  failed=1
}

for n in 4 65 600; do
  "$lasolve" generate "uniform:n=$n,seed=2" --output many.npy
  seq "$n" >one.txt && "$lasolve" convert one.txt --output one.npy
  for method in lu cholesky; do
    "$lasolve" generate "$([ $method = lu ] && echo uniform || echo spd):n=$n" --output A.npy
    cp one.npy B.npy && same_bits $method "$n" 1
    cp many.npy B.npy && same_bits $method "$n" "$n"
  done
done
exit $failed
