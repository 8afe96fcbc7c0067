#!/usr/bin/env bash
# Kernels of one's own in CUDA, as their writer meets the tool with them: right, restricted, and with a mistake that the compiler finds.
# Usage: plugin_cuda_kernels.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
# shellcheck source=tests/plugin_cuda_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/plugin_cuda_common.sh"

"$lasolve" new-kernel mine.cu >/dev/null

# A kernel alone puts the run on the device; so it does among others.
expect 0 'backend     mine on cuda' "${solve[@]}" --gemm ./mine.cu
expect 0 "is the adapter's: " "${solve[@]}" --gemm ./mine.cu
expect 0 'backend     mine on cuda' "${solve[@]}" --gemm mine.cu --precision fp32
expect 0 'backend     mine on cuda' spd:n=600 --gemm ./mine.cu
expect 0 'mine' compare --gemm naive,./mine.cu --n 512 --repeat 2 --precision fp64,fp32
expect 0 'kernels in' bench gemm --gemm ./mine.cu --n 300 --repeat 1 --shape square
$nvcc -O3 -shared -Xcompiler -fPIC -arch=native -I "$data/../include" mine.cu -o libmine.so || failed=1
expect 0 'mine (./libmine.so)' "${solve[@]}" --gemm ./mine.cu,./libmine.so --repeat 1
"$lasolve" new-kernel other.c >/dev/null
expect 2 "'other' is a kernel for the CPU and 'mine' one for CUDA: they run in different places" "${solve[@]}" \
  --gemm ./other.c,./mine.cu
expect 2 './mine.cu is a kernel for CUDA, and --device says cpu' "${solve[@]}" --gemm ./mine.cu --device cpu
NVCCFLAGS='-Xcompiler -Wall,-Wextra,-Werror -Werror all-warnings' expect 0 'mine on cuda' "${solve[@]}" --gemm ./mine.cu

# What the compiler says is shown with its line.
kernel broken 'RIGHT; forgotten = 1;'
expect 3 'broken.cu(' "${solve[@]}" --gemm ./broken.cu
expect 3 "./broken.cu: error: '" "${solve[@]}" --gemm ./broken.cu
exit "$failed"
