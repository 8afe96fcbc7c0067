#!/usr/bin/env bash
# Kernels of one's own, as their writer meets the tool with them: right, restricted, wrong, crashing, hanging, cheating, and files that
# are no kernels. Usage: plugin_kernels.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
# shellcheck source=tests/plugin_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/plugin_common.sh"

# new-kernel: what it writes is right, in both languages; with -Wall and as C89, too.
expect 0 'mine.c has three loops' new-kernel mine.c
expect 2 'mine.c is there, and is not overwritten' new-kernel mine.c
expect 0 'mine.cpp has three loops' new-kernel mine.cpp
expect 0 'mine.cu has a tiled kernel' new-kernel mine.cu
expect 2 'mine.cu is there, and is not overwritten' new-kernel mine.cu
expect 2 "ends in .c, .cpp or .cu, not 'mine'" new-kernel mine
CFLAGS='-std=c89 -Wall -Wextra -pedantic-errors -Werror' expect 0 'backend     mine on cpu' "${small[@]}" --gemm ./mine.c
also "is the adapter's: alpha and beta"
CXXFLAGS='-std=c++20 -Wall -Wextra -Werror' expect 0 'backend     mine on cpu' "${small[@]}" --gemm mine.cpp
expect 0 'mine (./mine.cpp)' "${small[@]}" --gemm tiled,./mine.c,./mine.cpp --repeat 1
expect 0 'mine' compare "${few[@]}" --gemm tiled,./mine.c
expect 0 'kernels in' bench gemm --device cpu --gemm ./mine.c --precision fp64 --n 30 --repeat 1 --shape square
expect 0 'mine is right; mine has --precision fp64' try-kernel ./mine.c
expect 0 'mine is right' try-kernel mine.cpp --output libmine.so
holds 'try-kernel keeps no library' [ -s libmine.so ]
expect 0 'backend     mine on cpu' "${small[@]}" --gemm ./libmine.so
expect 2 "takes a source, or a library, not 'tiled'" try-kernel tiled
expect 2 'try-kernel takes a file' try-kernel
expect 3 'none.c: error: cannot open' try-kernel none.c
kernel halved 'RIGHT; C[0] /= 2;'
expect 5 'halved on cpu is wrong in fp64: C(0, 0) is ' try-kernel halved.c --output libhalved.so
holds 'try-kernel keeps a library that is wrong' [ ! -e libhalved.so ]
expect 2 'all stands alone' "${small[@]}" --gemm all,./mine.c
expect 2 './mine.cu is a kernel for CUDA, and --device says cpu' "${small[@]}" --gemm ./mine.cu

# What a kernel leaves out, the tool brings.
row_by_row='for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { double s = 0;
  for (int l = 0; l < k; ++l) s += A[i * lda + l] * B[l * ldb + j];'
kernel row_major "$row_by_row C[i * ldc + j] = beta == 0 ? alpha * s : alpha * s + beta * C[i * ldc + j]; }" \
  'kernel.limits = LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_INT_INDICES;'
kernel assigns "$row_by_row C[i * ldc + j] = s; }" \
  'kernel.limits = LASOLVE_KERNEL_ROW_MAJOR | LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_INT_INDICES | LASOLVE_KERNEL_ASSIGNS;'
kernel blocks 'if (m % 32 || n % 32 || k % 32 || lda != m || ldb != k || ldc != m) abort();
  for (int j = 0; j < n; ++j) for (int l = 0; l < k; ++l) for (int i = 0; i < m; ++i) C[i + j * m] += A[i + l * m] * B[l + j * k];' \
  'kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS | LASOLVE_KERNEL_NO_GAPS | LASOLVE_KERNEL_ONE_CALL;
  kernel.m_multiple = kernel.n_multiple = kernel.k_multiple = 32;'
for name in row_major assigns blocks; do
  expect 0 "backend     $name on cpu" "${small[@]}" --gemm ./$name.c --factorization lu --schedule left-looking
  expect 0 "backend     $name on cpu" "${small[@]}" --gemm ./$name.c
done
also "is the adapter's: alpha and beta, padding, packing"
expect 0 "note: blocks in fp64 at n = 60: " compare "${few[@]}" --gemm ./blocks.c
expect 2 "'blocks' does not offer products in fp32" "${small[@]}" --gemm ./blocks.c --precision fp32

# A comparison compiles a kernel once, and tries it in one process, whatever the number of sizes and precisions.
printf '#!/bin/sh\n[ "$1" = --version ] || echo compiled >>"$COUNTED"\nexec cc "$@"\n' >counting_cc
chmod +x counting_cc
kernel counted 'count(); RIGHT;' 'kernel.f32 = single;' '#include <stdio.h>
#include <unistd.h>
static void count(void) {
  static __thread int counted;
  FILE* const file = counted++ ? 0 : fopen(getenv("COUNTED"), "a");
  if (file) fprintf(file, "called in %d\n", (int)getpid()), fclose(file);
}
static void single(LASOLVE_KERNEL_PARAMETERS(float)) {
  count();
  WHOLE_CONTRACT(float)
}'
COUNTED=$work/counted CC=$work/counting_cc expect 0 'counted' compare "${few[@]:0:8}" --n 60,80 --precision fp64,fp32 \
  --gemm tiled,./counted.c
holds 'a kernel is compiled more than once' [ "$(grep -c compiled counted)" = 1 ]
holds 'a kernel runs in other processes than one that tries it and one for each size' \
  [ "$(grep called counted | sort -u | wc -l)" = 3 ]

# A library: by its path, by its name alone, and in lists.
kernel plain 'RIGHT;'
mkdir -p include/lasolve
cp "$data"/../include/lasolve/{lasolve,kernel}.h include/lasolve/
library() { "${CC:-cc}" -O2 -fPIC -shared -Iinclude "$1.c" -o "lib$1.so" "${@:2}" || failed=1; }
library plain
cp libplain.so other.so
expect 0 'backend     plain on cpu' "${small[@]}" --gemm ./libplain.so
expect 0 'backend     plain on cpu' "${small[@]}" --gemm libplain.so
expect 0 'plain (./other.so)' "${small[@]}" --gemm tiled,./libplain.so,./other.so --repeat 1

# What is wrong is named with its place, and nothing else suffers.
kernel wrong 'RIGHT; if (m > 40 && n == 33) C[3 + 4 * ldc] += 1;'
kernel nans 'RIGHT; if (k == 33) C[0] = NAN;'
kernel beside 'RIGHT; if (m == 33 && n == 1) C[m] = 7;'
kernel beside_copy 'RIGHT; C[m * n] = 7;' 'kernel.limits = LASOLVE_KERNEL_NO_GAPS;'
kernel far_away 'RIGHT; if (m == 33) memset(C, 0, (size_t)1 << 40);'
kernel hangs 'RIGHT; while (k == 33) ;'
kernel exits 'RIGHT; if (k == 34) exit(0);'
kernel yesterday 'const double* last_A; static const double* A0; static double* C0; static lasolve_int m0; last_A = A0;
  if (!(last_A == A && C0 == C && m0 == m)) RIGHT; A0 = A, C0 = C, m0 = m;' 'kernel.limits = LASOLVE_KERNEL_ONE_CALL;'
kernel hasty 'Call c = {m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}; last = c; call = &last;
  if (op_a || op_b || m < 3) RIGHT; else pthread_create(&thread, 0, later, 0), pthread_detach(thread);' \
  'kernel.limits = LASOLVE_KERNEL_ONE_CALL;' '#include <pthread.h>
#include <unistd.h>
typedef struct { lasolve_int m, n, k; double alpha; const double* A; lasolve_int lda; const double* B; lasolve_int ldb;
  double beta; double* C; lasolve_int ldc; } Call;
static Call last, *call;
static pthread_t thread;
static void* later(void* none) { Call c = *call; usleep(1000); c.C[0] = 0; return none; }'
said_of() { # CODE NAME TEXT...: what a solve says of a kernel
  expect "$1" "$3" "${small[@]}" --gemm "./$2.c" --patience 2
}
said_of 5 wrong 'wrong on cpu is wrong in fp64: C(3, 4) is '
also 'm = 128, n = 33, k = '
also 'nothing was solved'
said_of 5 nans 'C(0, 0) is nan, not '
said_of 5 beside 'it wrote 7 beside C, below the last row: C(33, 0)'
said_of 5 beside_copy 'wrote beside a matrix that it was given'
said_of 5 far_away 'it crashed (SIGSEGV: Segmentation fault)'
said_of 5 hangs 'it gave no answer for 2 s'
said_of 5 exits 'it ended its process with code 0'
said_of 5 yesterday 'yesterday on cpu is wrong in fp64'
said_of 5 hasty 'hasty on cpu is wrong in fp64'
"$lasolve" compare "${few[@]}" --patience 2 --json all.json \
  --gemm tiled,./wrong.c,./far_away.c,./hangs.c,./plain.c,./row_major.c >table 2>said
holds "compare returns $?, not 5" [ $? -eq 5 ]
holds 'the rows of right kernels are not whole' [ "$(grep -cE '^60 +(tiled|plain|row_major) .* PASS$' table)" = 3 ]
holds 'the rows of wrong kernels are missing' [ "$(grep -cE '^60 +(wrong|far_away|hangs) .*FAIL: ' table)" = 3 ]
holds 'compare does not say where' grep -q 'op(A): none, op(B): none, m = ' said
holds 'a fault found in validation is told more than once' [ "$(cat table said | grep -c 'C(3, 4) is ')" = 1 ]
holds 'a row does not say in brief that its kernel is wrong' [ "$(grep -c ' FAIL: wrong in validation$' table)" = 3 ]
holds 'JSON does not say what is wrong' [ "$(grep -c '"failure": "C(3, 4) is ' all.json)" = 1 ]
"$lasolve" "${small[@]}" --gemm tiled,./wrong.c,./plain.c --repeat 1 >table 2>said
holds "a solve returns $?, not 5" [ $? -eq 5 ]
holds 'a solve leaves out what is right' [ "$(grep -cE '^(tiled|plain) ' table)" = 2 ]
holds 'a solve has what is wrong' [ "$(grep -c '^wrong ' table)" = 0 ]

# Files that are no kernels.
echo 'no library' >text.so
expect 3 './text.so: error: expected a shared library' "${small[@]}" --gemm ./text.so
expect 3 'nowhere.so: error: cannot open: No such file' "${small[@]}" --gemm ./nowhere.so
expect 3 'nowhere.c: error: cannot open: No such file' "${small[@]}" --gemm nowhere.c
echo 'int f(void) { return 0; }' >empty.c
expect 3 './empty.c: error: expected a function lasolve_plugin_kernel()' "${small[@]}" --gemm ./empty.c
echo 'void f(void); void lasolve_plugin_kernel(void) { f(); }' >undefined.c
expect 3 'undefined symbol: f' "${small[@]}" --gemm ./undefined.c
kernel later_abi 'RIGHT;' 'kernel.abi = 2;'
expect 3 'later_abi.c: error: expected version 1 of lasolve/kernel.h, found 2' "${small[@]}" --gemm ./later_abi.c
kernel for_cuda 'RIGHT;' 'kernel.memory = LASOLVE_CUDA;'
expect 2 './for_cuda.c is a kernel for CUDA, and --device says cpu' "${small[@]}" --gemm ./for_cuda.c
kernel says_why 'RIGHT; if (m == 33) why = "it is a rainy day";' '' 'static const char* why;
const char* lasolve_plugin_error(void) { return why; }'
said_of 5 says_why 'it failed: it is a rainy day'
kernel broken 'RIGHT; forgotten = 1;'
expect 3 'broken.c:' "${small[@]}" --gemm ./broken.c
also "./broken.c: error: 'cc' ended with 1"
CC=no-such-compiler expect 6 "'no-such-compiler' cannot be run" "${small[@]}" --gemm ./plain.c
early() { # DEED TEXT: what is said of a library that does it as it is loaded
  kernel early 'RIGHT;' '' "__attribute__((constructor)) static void early(void) { $1 }"
  expect 3 "./early.c: error: $2" "${small[@]}" --gemm ./early.c --patience 1
}
early 'abort();' 'it crashed as it was loaded (SIGABRT: Aborted)'
early 'for (;;) ;' 'it was not loaded within 1 s'
early 'exit(9);' 'it ended its process with code 9 as it was loaded'
TMPDIR=nowhere expect 6 'cannot use ' "${small[@]}" --gemm ./plain.c

# Kernels for CUDA where there is no device: what is wrong with a source is said before that. This nvcc compiles C.
mkdir bin
cat >bin/nvcc <<'NVCC'
#!/bin/sh
echo "$@" >"$OLDPWD_OF_TEST/nvcc.said"
while [ $# -gt 0 ]; do
  case $1 in
    -I) include=$2 ;;
    *.cu) source=$1 ;;
    *.so) library=$1 ;;
  esac
  shift
done
exec cc -x c -fPIC -shared -I"$include" "$source" -o "$library"
NVCC
chmod +x bin/nvcc
export CUDA_VISIBLE_DEVICES='' OLDPWD_OF_TEST=$work
nowhere=(uniform:n=150 --threads 2)
cp for_cuda.c for_cuda.cu
cp plain.c for_cpu.cu
cp broken.c broken.cu
expect 6 './for_cuda.c loads, but it takes a CUDA device: ' "${nowhere[@]}" --gemm ./for_cuda.c
library for_cuda
expect 6 './libfor_cuda.so loads, but it takes a CUDA device: ' compare --n 60 --gemm tiled,./libfor_cuda.so
PATH=$work/bin:$PATH expect 6 './for_cuda.cu compiles, but it takes a CUDA device: ' "${nowhere[@]}" --gemm ./for_cuda.cu
holds 'nvcc is not called as it should be' grep -qE \
  '^-O3 -shared -Xcompiler -fPIC -I [^ ]* -arch=sm_80 [.]/for_cuda[.]cu [^ ]*/lasolve_plugin_error[.]cpp -o [^ ]*for_cuda[.]so$' nvcc.said
PATH=$work/bin:$PATH NVCCFLAGS='-std=c++20 -arch=sm_86' LDFLAGS=-Wl,-O1 LDLIBS=-lm expect 6 'it takes a CUDA device: ' \
  bench gemm --gemm ./for_cuda.cu
holds 'nvcc is not given the flags' grep -qE -- '-I [^ ]* -std=c[+]{2}20 -arch=sm_86 [.]/for_cuda.* -Xlinker -O1 -lm$' nvcc.said
CUDACXX="$work/bin/nvcc --more" expect 6 'it takes a CUDA device: ' "${nowhere[@]}" --gemm ./for_cuda.cu --device cuda
holds 'the words of CUDACXX are not those of the command' grep -q '^--more -O3' nvcc.said
export CUDACXX=$work/bin/nvcc
expect 3 'broken.cu:' "${nowhere[@]}" --gemm ./broken.cu
also './broken.cu: error: '
expect 3 './for_cpu.cu: error: expected kernel.memory = LASOLVE_CUDA in a source of CUDA' "${nowhere[@]}" --gemm ./for_cpu.cu
CUDACXX=no-such-compiler expect 6 "'no-such-compiler' cannot be run; \$CUDACXX names others" "${nowhere[@]}" --gemm ./for_cuda.cu
unset CUDACXX CUDA_VISIBLE_DEVICES

# A signal that comes while the compiler runs ends the tool behind it.
printf '#!/bin/sh\ntouch begun\nsleep 1\nexec cc "$@"\n' >slow-cc
chmod +x slow-cc
CC=./slow-cc "$lasolve" "${small[@]}" --gemm ./plain.c >/dev/null 2>&1 &
until [ -e begun ] || ! kill -0 $!; do sleep 0.02; done
kill -s TERM $!
wait $!
holds 'a signal while the compiler runs does not end the tool' [ $? = 143 ]
holds 'something stays in the temporary folder' [ -z "$(ls -A tmp)" ]
exit "$failed"
