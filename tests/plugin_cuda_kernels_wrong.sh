#!/usr/bin/env bash
# CUDA kernels of one's own that are wrong, on another stream, out of bounds, endless, cheating: what is wrong is named with its place.
# Usage: plugin_cuda_kernels_wrong.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
# shellcheck source=tests/plugin_cuda_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/plugin_cuda_common.sh"

kernel plain 'RIGHT;'
kernel wrong 'RIGHT; if (m > 40 && n == 33) PUT(C + 3 + 4 * ldc, 1e9);'
kernel beside 'RIGHT; if (m == 33 && n == 1) PUT(C + m, 7);'
kernel beside_copy 'RIGHT; PUT(C + m * n, 7);' 'kernel.limits = LASOLVE_KERNEL_NO_GAPS;'
kernel far_away 'RIGHT; if (m == 33) PUT(C + (1ll << 40), 7);'
kernel hangs 'RIGHT; if (k == 33) endless<<<1, 1, 0, cudaStream_t(data)>>>(C);' '' \
  '__global__ void endless(volatile double* C) { while (C[0] != 0.123456789) ; }'
kernel other_stream 'data = 0; RIGHT; (void)cudaStreamSynchronize(0);'
kernel no_launch 'RIGHT; if (n == 33) put<<<1, 5000, 0, cudaStream_t(data)>>>(C, 0);'
kernel yesterday 'static const double* A0; static double* C0; static lasolve_int m0;
  if (!(A0 == A && C0 == C && m0 == m)) RIGHT; A0 = A, C0 = C, m0 = m;'
kernel crashes 'RIGHT; if (n == 33) *C = 1;'
said_of() { # NAME TEXT: what a solve says of a kernel
  expect 5 "$2" "${solve[@]}" --gemm "./$1.cu" --patience 10
}
said_of wrong 'wrong on cuda'
said_of wrong ' is wrong in fp64: C(3, 4) is 1000000000, not '
said_of beside 'it wrote 7 beside C, below the last row: C(33, 0)'
said_of beside_copy 'wrote beside a matrix that it was given'
said_of far_away 'an illegal memory access was encountered'
said_of hangs 'it gave no answer for 10 s'
said_of other_stream 'it works on another'
said_of no_launch 'it failed: invalid '
said_of yesterday 'yesterday on cuda'
said_of crashes 'it crashed (SIGSEGV: Segmentation fault)'
"$lasolve" compare --n 600 --repeat 2 --patience 10 --gemm naive,./wrong.cu,./far_away.cu,./hangs.cu,./plain.cu \
  >table 2>said
holds "compare returns $?, not 5" [ $? -eq 5 ]
holds 'the rows of right kernels are not whole' [ "$(grep -cE '^600 +(naive|plain) .* PASS$' table)" = 2 ]
holds 'the rows of wrong kernels are missing' [ "$(grep -cE '^600 +(wrong|far_away|hangs) .*FAIL: ' table)" = 3 ]
exit "$failed"
