#!/usr/bin/env bash
# The files that the tool reads and writes. Usage: cli_files.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"

# npy SHAPE: a header of that shape, without data.
npy() {
  local header="{'descr': '<f8', 'fortran_order': False, 'shape': $1}"
  printf '\x93NUMPY\x01\x00%b\x00%s' "\\x$(printf '%x' ${#header})" "$header"
}

# What has no elements takes no time, however large its other size is.
printf '%s\n0 9999999999999999\n' "$array" >wide.mtx
npy '(0, 99999999999999)' >wide.npy
printf '%s\n0 0\n' "$array" >nothing.mtx
gzip -k wide.mtx wide.npy
expect 3 'wide.mtx:2:1: error: expected a square matrix, found 0 x 9999999999999999' --matrix wide.mtx
expect 3 'wide.npy: byte 60: error: expected a square matrix, found 0 x 99999999999999' --matrix wide.npy
expect 3 'wide.npy.gz: byte 60: error: expected a square matrix' --matrix wide.npy.gz
expect 3 'wide.mtx.gz:2:1: error: expected right-hand sides of 5 rows' --matrix uniform:n=5 --rhs wide.mtx.gz
for precision in fp64 fp32; do
  for rhs in wide.mtx wide.npy; do
    expect 0 'solved' --matrix nothing.mtx --rhs $rhs --precision $precision --device cpu --output empty.mtx
  done
done

# Memory is asked for before anything is made for a generator: under this limit a table of it would be refused otherwise.
# (A sanitizer cannot run under it.)
for generator in uniform:n=1000000000 randsvd:n=1000000000 graded:n=1000000000 bem:n=100000000; do
  (
    if (ulimit -v 4000000 && "$lasolve" --version) >/dev/null 2>&1; then ulimit -v 4000000; fi
    expect 6 'not enough host memory: ' --matrix $generator --device cpu --threads 1
    expect 6 'not enough host memory: ' --matrix $generator --in-place --device cpu --threads 1
    expect 6 'not enough host memory: ' generate $generator --output no.mtx --threads 1
    exit $failed
  ) || failed=1
done

# A file that is shortened while it is read.
if [ -n "${LASOLVE_SHORTEN-}" ]; then
  "$lasolve" generate uniform:n=300 --output shortened.mtx
  gzip -k shortened.mtx
  for format in npy csv tsv; do "$lasolve" generate uniform:n=300 --output shortened.$format; done
  python3 -c 'import zipfile; zipfile.ZipFile("shortened.npz", "w").write("shortened.npy", "A.npy")'
  mkdir rhs
  cp shortened.mtx rhs/shortened.mtx
  for file in shortened.* rhs/shortened.mtx; do
    option=--matrix
    [ "$file" = "${file#rhs/}" ] || option='uniform:n=300 --rhs'
    export LD_PRELOAD=$LASOLVE_SHORTEN ASAN_OPTIONS=verify_asan_link_order=0
    # shellcheck disable=SC2086
    expect 3 "$file: error: it was shortened, or its disk failed, while it was read" $option "$file" --device cpu
    unset LD_PRELOAD ASAN_OPTIONS
  done
fi

# From one format to another: what need not be square, a vector, a decimal comma, and NaN where it is asked for.
printf '1;2,5\n3;4\n5;6\n' >comma.csv
expect 0 '' convert comma.csv --decimal-comma --output comma.npy
expect 0 '' convert comma.npy --output comma.txt.gz
holds 'a matrix is another one in another format' [ "$("$lasolve" convert comma.txt.gz --output - --format csv)" = "$(printf '1,2.5\n3,4\n5,6')" ]
printf '1,nan\n' >nan.csv
expect 3 'nan.csv:1:3' convert nan.csv --output nan.npy
holds 'what is refused is written' [ ! -e nan.npy ]
expect 0 '' convert nan.csv --allow-nonfinite --output nan.npy
expect 3 'cannot open' convert none.mtx --output x.npy
expect 2 'the suffix must be' convert nan.csv --output x.foo
expect 2 'are one file' convert nan.csv --output ./nan.csv
expect 2 'no output' convert nan.csv
expect 2 'no file' convert --output x.npy

# A file has one use.
"$lasolve" generate spd:n=3 --output a.mtx
printf '%s\n3 1\n1\n2\n3\n' "$array" >b.mtx
ln -s b.mtx link.mtx
ln -s new.mtx dangling.mtx
mkdir folder
system=(--matrix a.mtx --rhs b.mtx --device cpu)
cp a.mtx a.before
expect 2 '--matrix a.mtx and --output ./a.mtx are one file' "${system[@]}" --output ./a.mtx
expect 2 '--rhs b.mtx and --output link.mtx are one file' "${system[@]}" --output link.mtx
expect 2 '--rhs b.mtx and --json folder/../b.mtx are one file' "${system[@]}" --json folder/../b.mtx
expect 2 '--output new.mtx and --json dangling.mtx are one file' "${system[@]}" --output new.mtx --json dangling.mtx
expect 2 '--output - and --json /dev/stdout are one file' "${system[@]}" --output - --json /dev/stdout
expect 2 '--json x and --csv ./x are one file' bench gemm --json x --csv ./x
expect 2 '--json - and --csv - are one file' bench gemm --json - --csv -
holds 'an input was overwritten' cmp -s a.mtx a.before
holds 'something was written' [ ! -e new.mtx ]
expect 0 '' "${system[@]}" --json /dev/null --output /dev/null

# What is replaced keeps its mode, and what a link names is written.
: >old.json
chmod 640 old.json
ln -s named.json link.json
for json in old.json link.json; do expect 0 '' "${system[@]}" --json $json; done
holds '--json changed the mode of a file' [ "$(stat -c %a old.json)" = 640 ]
holds '--json replaced a link' [ -L link.json ]
holds '--json did not write what a link names' [ -s named.json ]

# Standard output, pipes and devices; data are not mixed with the report.
"$lasolve" "${system[@]}" --quiet --output x.mtx
for stdout in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
  for to in cat 'cat >out'; do
    "$lasolve" "${system[@]}" --output $stdout | eval "$to" >piped
    [ -e out ] && mv out piped
    holds "--output $stdout is not the solution" cmp -s piped x.mtx
    "$lasolve" "${system[@]}" --json $stdout 2>/dev/null | eval "$to" >piped
    [ -e out ] && mv out piped
    holds "--json $stdout is not JSON alone" [ "$(head -c 2 piped)$(tail -n 1 piped)" = '{}' ]
  done
  "$lasolve" "${system[@]}" --output $stdout >file
  holds "--output $stdout >file is not the solution" cmp -s file x.mtx
done
"$lasolve" "${system[@]}" --json same.json >same.json 2>/dev/null
holds '--json FILE >FILE is not JSON alone' [ "$(head -c 1 same.json)$(tail -n 1 same.json)" = '{}' ]
mkfifo pipe.mtx
timeout 60 cat pipe.mtx >piped &
"$lasolve" "${system[@]}" --quiet --output pipe.mtx --json >(cat >json)
wait
holds 'a pipe did not get the solution' cmp -s piped x.mtx
holds 'a pipe was replaced' [ -p pipe.mtx ]
expect 6 'cannot write /dev/full: No space left on device' "${system[@]}" --json /dev/full
expect 6 'cannot write /dev/full: No space left on device' "${system[@]}" --output /dev/full
# Where there is no room for a file, or its folder takes none, the old one stays, and nothing beside it.
mkdir full
printf 'old\n' | tee full/x.mtx >full/x.json
(
  ulimit -f 1 # KiB
  expect 6 'cannot write full/x.mtx: File too large' generate uniform:n=99 --output full/x.mtx
  expect 6 'cannot write full/x.json: File too large' "${system[@]}" --json full/x.json
  exit $failed
) || failed=1
as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups) # root writes everywhere
chmod 755 . && chmod 555 full
if ! "${as_nobody[@]}" test -w full && "${as_nobody[@]}" "$lasolve" --version >/dev/null; then
  for file in full/x.mtx full/new.mtx; do
    said=$("${as_nobody[@]}" "$lasolve" generate uniform:n=9 --output $file 2>&1)
    holds "a folder that is read-only: $said" [ "$?,$said" = "6,lasolve: cannot write $file: Permission denied" ]
  done
fi
chmod 755 full
if ((${#as_nobody[@]})) && "${as_nobody[@]}" "$lasolve" --version >/dev/null; then # in a folder such as /tmp
  mkdir sticky && chmod 1777 sticky
  echo theirs >sticky/x.mtx && chmod 666 sticky/x.mtx
  said=$("${as_nobody[@]}" "$lasolve" generate uniform:n=9 --output sticky/x.mtx 2>&1)
  holds "a file that may be written, but not replaced: $said" [ "$?,$said,$(cat sticky/x.mtx)" = \
    '6,lasolve: cannot write sticky/x.mtx: Operation not permitted,theirs' ]
fi
holds 'what could not be written is' [ "$(cat full/*; find full -type f | wc -l)" = $'old\nold\n2' ]
env --default-signal=PIPE "$lasolve" generate uniform:n=500 --output - 2>said | head -c 9 >begin
holds 'a reader that ends does not end the tool in silence' [ "${PIPESTATUS[0]},$(cat said begin)" = '141,%%MatrixM' ]
env --ignore-signal=PIPE "$lasolve" generate uniform:n=500 --output - 2>said | head -c 9 >begin
holds 'a reader that ends is not named' [ "${PIPESTATUS[0]},$(cat said)" = '6,lasolve: cannot write -: Broken pipe' ]
for closed in '--output -' '--json /dev/stdout' '--quiet --output closed.mtx --json /dev/fd/7'; do
  # shellcheck disable=SC2086
  said=$("$lasolve" "${system[@]}" $closed 2>&1 >&-)
  holds "$closed to what is closed: $said" [ "$?,${said##*: }" = '6,Bad file descriptor' ]
done
said=$("$lasolve" "${system[@]}" --output x.npy 2>&1 >&-)
holds "a report to what is closed: $said" [ "$?,${said##*: }" = '6,Bad file descriptor' ]
holds 'the report went into the solution' [ "$(head -c 6 x.npy | tail -c 5)" = NUMPY ]
said=$("$lasolve" "${system[@]}" --quiet --output b.npy <&- >&- 2>&-)
holds 'closed streams change the code' [ $? = 0 ]

# What a signal ends leaves no temporary file.
ulimit -c 0
"$lasolve" generate uniform:n=1 --output kept.mtx.gz
cp kept.mtx.gz before
for signal in INT TERM HUP QUIT PIPE XCPU; do
  env --default-signal "$lasolve" generate uniform:n=4000 --output kept.mtx.gz 2>said &
  until [ -n "$(find . -name '*.tmp' -size +0)" ] || ! kill -0 $!; do sleep 0.01; done
  kill -s $signal $!
  wait $! 2>/dev/null
  holds "SIG$signal: the code" [ $? = $((128 + $(kill -l $signal))) ]
  holds "SIG$signal left a temporary file" [ -z "$(find . -name '*.tmp')" ]
  holds "SIG$signal took the old file away" cmp -s kept.mtx.gz before
done
exit $failed
