#!/usr/bin/env bash
# Kernels of one's own, as their writer meets the tool with them: right, restricted, wrong, crashing, hanging, cheating, and files that
# are no kernels. Usage: own_kernels.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
small=(uniform:n=150 --device cpu --threads 2 --block-size 16)
few=(--device cpu --threads 2 --repeat 2 --warmup 0 --block-size 16 --n 60)
larger=("${few[@]:0:10}" --n 150)
export TMPDIR=$work/tmp
mkdir tmp
unset CC CXX CFLAGS CXXFLAGS LDFLAGS LDLIBS CUDACXX NVCCFLAGS CUDAFLAGS

# new-kernel: what it writes is right, in both languages; with -Wall and as C89, too.
expect 0 'mine.c has three loops' new-kernel mine.c
expect 2 'mine.c is there, and is not overwritten' new-kernel mine.c
expect 0 'mine.cpp has three loops' new-kernel mine.cpp
expect 0 'mine.cu has a tiled kernel' new-kernel mine.cu
expect 2 'mine.cu is there, and is not overwritten' new-kernel mine.cu
expect 2 "ends in .c, .cpp or .cu, not 'mine'" new-kernel mine
CFLAGS='-std=c89 -Wall -Wextra -pedantic-errors -Werror' expect 0 'backend     mine on cpu' "${small[@]}" --gemm ./mine.c
expect 0 "is the adapter's: alpha and beta" "${small[@]}" --gemm ./mine.c
CXXFLAGS='-std=c++20 -Wall -Wextra -Werror' expect 0 'backend     mine on cpu' "${small[@]}" --gemm mine.cpp
expect 0 'mine (./mine.cpp)' "${small[@]}" --gemm naive,./mine.c,./mine.cpp --repeat 1
expect 0 'mine' compare "${few[@]}" --gemm naive,./mine.c
expect 0 'kernels in' bench gemm --device cpu --gemm ./mine.c --precision fp64 --n 30 --repeat 1 --shape square
expect 2 'all stands alone' "${small[@]}" --gemm all,./mine.c
expect 2 './mine.cu is a kernel for CUDA, and --device says cpu' "${small[@]}" --gemm ./mine.cu

# kernel NAME BODY [SETTINGS] [BEFORE]: NAME.c, with the body of a function, what is set in the record, and what stands before it.
kernel() {
  cat >"$1.c" <<KERNEL
#include <lasolve/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define WHOLE_CONTRACT(T)                                                                              \\
  for (lasolve_int i = 0; i < m; ++i)                                                                  \\
    for (lasolve_int j = 0; j < n; ++j) {                                                              \\
      T sum = 0;                                                                                       \\
      for (lasolve_int l = 0; l < k; ++l)                                                              \\
        sum += (op_a ? A[l + i * lda] : A[i + l * lda]) * (op_b ? B[j + l * ldb] : B[l + j * ldb]);    \\
      C[i + j * ldc] = beta == 0 ? alpha * sum : alpha * sum + beta * C[i + j * ldc];                  \\
    }
${4-}
static void right(LASOLVE_KERNEL_PARAMETERS(double)) { WHOLE_CONTRACT(double) }
#define RIGHT right(data, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc)
static void multiply(LASOLVE_KERNEL_PARAMETERS(double)) { $2 }
const lasolve_kernel* lasolve_plugin_kernel(void) {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.name = "$1";
  kernel.f64 = multiply;
  ${3-}
  return &kernel;
}
KERNEL
}

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
  expect 0 "backend     $name on cpu" "${small[@]}" --gemm ./$name.c
  expect 0 "backend     $name on cpu" "${small[@]}" --gemm ./$name.c --factorization lu --schedule left-looking
done
expect 0 "is the adapter's: alpha and beta, padding, packing" "${small[@]}" --gemm ./blocks.c
expect 0 "note: blocks in fp64 at n = 60: " compare "${few[@]}" --gemm ./blocks.c
expect 2 "'blocks' does not offer products in fp32" "${small[@]}" --gemm ./blocks.c --precision fp32

# A comparison compiles a kernel once, and tries it in one process, whatever the number of sizes and precisions.
printf '#!/bin/sh\necho compiled >>"$COUNTED"\nexec cc "$@"\n' >counting_cc
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
  --gemm naive,./counted.c
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
expect 5 'm = 128, n = 33, k = ' "${small[@]}" --gemm ./wrong.c
expect 5 'nothing was solved' "${small[@]}" --gemm ./wrong.c
said_of 5 nans 'C(0, 0) is nan, not '
said_of 5 beside 'it wrote 7 beside C, below the last row: C(33, 0)'
said_of 5 beside_copy 'wrote beside a matrix that it was given'
said_of 5 far_away 'it crashed (SIGSEGV: Segmentation fault)'
said_of 5 hangs 'it gave no answer for 2 s'
said_of 5 exits 'it ended its process with code 0'
said_of 5 yesterday 'yesterday on cpu is wrong in fp64'
said_of 5 hasty 'hasty on cpu is wrong in fp64'
"$lasolve" compare "${few[@]}" --patience 2 --json all.json \
  --gemm naive,./wrong.c,./far_away.c,./hangs.c,./plain.c,./row_major.c >table 2>said
holds "compare returns $?, not 5" [ $? -eq 5 ]
holds 'the rows of right kernels are not whole' [ "$(grep -cE '^60 +(naive|plain|row_major) .* PASS$' table)" = 3 ]
holds 'the rows of wrong kernels are missing' [ "$(grep -cE '^60 +(wrong|far_away|hangs) .*FAIL: ' table)" = 3 ]
holds 'compare does not say where' grep -q 'op(A): none, op(B): none, m = ' said
"$lasolve" "${small[@]}" --gemm naive,./wrong.c,./plain.c --repeat 1 >table 2>said
holds "a solve returns $?, not 5" [ $? -eq 5 ]
holds 'a solve leaves out what is right' [ "$(grep -cE '^(naive|plain) ' table)" = 2 ]
holds 'a solve has what is wrong' [ "$(grep -c '^wrong ' table)" = 0 ]

# The clock: what a library defines is nobody else's; and where it changes what others call, its times are not believed.
kernel own_clock 'RIGHT;' '' '#include <time.h>
int clock_gettime(clockid_t id, struct timespec* t) { (void)id; t->tv_sec = t->tv_nsec = 0; return 0; }'
expect 0 'own_clock' "${small[@]}" --gemm ./own_clock.c
holds 'the clock stands' [ "$("$lasolve" "${small[@]}" --gemm ./own_clock.c --json - | grep -c '"total_seconds": 0.0,')" = 0 ]
patch='#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long hidden;
static int slow_clock(clockid_t id, struct timespec* t) {
  const int code = syscall(SYS_clock_gettime, id, t);
  const long long ns = t->tv_sec * 1000000000LL + t->tv_nsec - hidden;
  t->tv_sec = ns / 1000000000, t->tv_nsec = ns % 1000000000;
  return code;
}
static void put(ElfW(Addr) base, const ElfW(Rela)* r, size_t bytes, const ElfW(Sym)* symbols, const char* names) {
  for (size_t i = 0; i < bytes / sizeof *r; ++i) {
    if (strcmp(names + symbols[ELF64_R_SYM(r[i].r_info)].st_name, "clock_gettime") != 0) continue;
    void** const at = (void**)(base + r[i].r_offset);
    mprotect((void*)((size_t)at & ~4095ul), 4096, PROT_READ | PROT_WRITE);
    *at = (void*)slow_clock;
  }
}
static int visit(struct dl_phdr_info* info, size_t size, void* none) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC || info->dlpi_addr == 0 || strstr(info->dlpi_name, "vdso")) continue;
    const ElfW(Rela) *jumps = 0, *others = 0;
    const ElfW(Sym)* symbols = 0;
    const char* names = 0;
    size_t jump_bytes = 0, other_bytes = 0;
    for (const ElfW(Dyn)* d = (void*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); d->d_tag; ++d) {
      if (d->d_tag == DT_JMPREL) jumps = (void*)d->d_un.d_ptr;
      if (d->d_tag == DT_PLTRELSZ) jump_bytes = d->d_un.d_val;
      if (d->d_tag == DT_RELA) others = (void*)d->d_un.d_ptr;
      if (d->d_tag == DT_RELASZ) other_bytes = d->d_un.d_val;
      if (d->d_tag == DT_SYMTAB) symbols = (void*)d->d_un.d_ptr;
      if (d->d_tag == DT_STRTAB) names = (void*)d->d_un.d_ptr;
    }
    if (!symbols || !names) continue;
    put(info->dlpi_addr, jumps, jump_bytes, symbols, names);
    put(info->dlpi_addr, others, other_bytes, symbols, names);
  }
  return 0;
}'
kernel early_clock 'RIGHT;' 'hidden = 1000000000; dl_iterate_phdr(visit, 0);' "$patch"
kernel late_clock 'static int done; if (!done) done = 1, dl_iterate_phdr(visit, 0); RIGHT; hidden += 100000;' '' "$patch"
if [ "$(uname -m)" = x86_64 ]; then
  export CFLAGS=-D_GNU_SOURCE
  expect 3 './early_clock.c: error: it changes the clock' "${small[@]}" --gemm ./early_clock.c
  expect 0 'note        the clock was changed while it ran' "${small[@]}" --gemm ./late_clock.c
  expect 5 'FAIL: the clock was changed while it ran' compare "${larger[@]}" --gemm naive,./late_clock.c
  expect 5 'lasolve: the clock was changed while kernels ran' bench gemm --device cpu --gemm ./late_clock.c --precision fp64 \
    --n 30 --repeat 20 --shape square
  unset CFLAGS
fi

# Right where it is tried, and wrong where it is timed.
is_tried='#include <stdio.h>
static int tried;
__attribute__((constructor)) static void look(void) {
  char words[99] = "";
  FILE* const file = fopen("/proc/self/cmdline", "r");
  for (size_t i = 0, n = fread(words, 1, 98, file); i < n; ++i) if (!words[i]) words[i] = 32;
  fclose(file);
  tried = strstr(words, "bench verify") != 0;
}'
kernel two_faced 'RIGHT; if (!tried && m > 8) C[0] += 1;' '' "$is_tried"
expect 5 'HPL check' "${small[@]}" --gemm ./two_faced.c
expect 5 'FAIL: ' compare "${larger[@]}" --gemm naive,./two_faced.c
expect 5 'WRONG: C(0, 0) is ' bench gemm --device cpu --gemm ./two_faced.c --precision fp64 --n 30 --repeat 1 --shape square

# One that ends or stops the process in a timed run, or writes where nobody looks, is named. The others are measured without it.
kernel late_crash 'RIGHT; if (!tried && m > 50) *(volatile int*)8 = 0;' '' "$is_tried"
kernel late_exit 'RIGHT; if (!tried && m > 50) exit(0);' '' "$is_tried"
kernel late_loop 'RIGHT; while (!tried && m > 50) ;' '' "$is_tried"
"$lasolve" compare "${few[@]:0:10}" --n 40,100,150 --patience 3 --json late.json \
  --gemm naive,./late_crash.c,./late_exit.c,./late_loop.c,./plain.c >table 2>said
holds "compare returns $?, not 5" [ $? -eq 5 ]
holds 'a small size does not have all rows' [ "$(grep -cE '^ *40 .* PASS$' table)" = 5 ]
holds 'rows of right kernels are not whole' [ "$(grep -cE '^1[05]0 +(naive|plain) .* PASS$' table)" = 4 ]
for why in 'late_crash .*FAIL: in a timed solve it crashed (SIGSEGV: ' \
  'late_exit .*FAIL: in a timed solve it ended its process with code 0' \
  'late_loop .*FAIL: in a timed solve it gave no answer for 3'; do
  holds "compare does not say twice: $why" [ "$(grep -c "$why" table)" = 2 ]
done

# No product of a timed run was computed in a run before: this one makes a mistake where it was.
kernel remembers 'RIGHT; if (!tried && m > 8) C[0] += is_known(m, n, k, A, lda, B, ldb);' \
  'kernel.limits = LASOLVE_KERNEL_ONE_CALL;' "$is_tried"'
static int is_known(long m, long n, long k, const double* A, long lda, const double* B, long ldb) {
  static unsigned long known[100000], count;
  unsigned long hash = m + 1000 * n + 1000000 * k, bits;
  for (long j = 0; j < k; ++j)
    for (long i = 0; i < m; ++i) memcpy(&bits, A + i + j * lda, 8), hash = 31 * hash + bits + bits / 4294967296;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < k; ++i) memcpy(&bits, B + i + j * ldb, 8), hash = 31 * hash + bits + bits / 4294967296;
  for (unsigned long i = 0; i < count; ++i) if (known[i] == hash) return 1;
  if (count < 100000) known[count++] = hash;
  return 0;
}'
expect 0 'PASS' compare "${larger[@]}" --gemm naive,./remembers.c

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
said_of 5 says_why 'it threw: the kernel failed: it is a rainy day'
kernel broken 'RIGHT; forgotten = 1;'
expect 3 'broken.c:' "${small[@]}" --gemm ./broken.c
expect 3 "./broken.c: error: 'cc' ended with 1" "${small[@]}" --gemm ./broken.c
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
expect 6 './libfor_cuda.so loads, but it takes a CUDA device: ' compare --n 60 --gemm naive,./libfor_cuda.so
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
expect 3 './broken.cu: error: ' "${nowhere[@]}" --gemm ./broken.cu
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
