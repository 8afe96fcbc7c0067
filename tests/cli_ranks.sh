# Sourced by the tests of engines, in place of cli_common.sh.
# shellcheck shell=bash
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"

# As root in a container, on fewer cores than ranks.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none

# same FILE FILE: numbers differ by no more than roundoff.
same() {
  holds "$1 and $2 differ" awk 'NR == FNR { for (j = 1; j <= NF; ++j) x[FNR, j] = $j; rows = FNR; next }
    { for (j = 1; j <= NF; ++j) { d = $j - x[FNR, j]; if (d * d > 1e-18 * (1 + $j * $j)) exit 1 } }
    END { if (FNR != rows) exit 1 }' "$1" "$2"
}
