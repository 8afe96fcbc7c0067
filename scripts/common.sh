# Sourced by the scripts: installs what is missing, configures and builds. Messages go to stderr; stdout is left alone.
# shellcheck shell=bash
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# Where somebody compiles through ccache: without this it takes no file that has precompiled headers.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
trap 'exit 130' INT

say() { printf 'lasolve: %s\n' "$*" >&2; }

# The Debian packages of a list that are not installed (all of them where there is no dpkg).
missing_packages() {
  LC_ALL=C comm -23 <(LC_ALL=C sort "$1") <(
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | LC_ALL=C sort -u)
}

# install_packages LIST LOG: fails when a package of the list is missing and cannot be installed.
install_packages() {
  local as_root=() missing
  mapfile -t missing < <(missing_packages "$1")
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || return 1
  if ((EUID != 0)); then
    command -v sudo >/dev/null || return 1
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
  local install=("${apt[@]}" install -y --no-install-recommends "${missing[@]}")
  { "${install[@]}" || { "${apt[@]}" update && "${install[@]}"; }; } </dev/null >>"$2" 2>&1
}

# stop STATUS LOG MESSAGE...: ends the script, showing the end of the log.
stop() {
  tail -n 40 "$2" >&2
  say "${*:3} (all of it: $2)"
  exit "$1"
}

# For which CUDA devices a build has to have code: none, all that the toolkit can, or the architectures of this machine's
# devices, as CMake names them. Empty: what the preset says.
code=

# What this machine has, as in `code`. Hopper's own instructions are in code for 90a only. A device that the toolkit
# does not know, or that does not say what it is, takes what a build for all has.
code_for_this_machine() {
  local numbers number nvcc known architectures=()
  if ! command -v nvidia-smi >/dev/null; then
    if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then echo all; else echo none; fi
    return
  fi
  numbers=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sed '/^[0-9]*$/!d' | sort -nu)
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  known=$("$nvcc" --list-gpu-arch 2>/dev/null | tr '\n' ' ')
  for number in $numbers; do
    ((number >= 80)) || continue
    [[ " $known" == *" compute_$number "* ]] || { echo all && return; }
    [[ $number != 90 ]] || number=90a
    architectures+=("$number-real")
  done
  local IFS=';'
  echo "${architectures[*]:-none}"
}

# Whether a build is configured, and has the code. One that was configured by hand is what somebody wanted.
serves() {
  [[ -f $1/build.ninja ]] || return 1
  [[ -n $code && $code != none && -f $1/.code ]] || return 0
  local has
  has=$(<"$1/.code")
  [[ $has == all || $has == "$code" ]]
}

# Configures a preset if that was not done before, and with it installs packages. What CMake has to say (no CUDA) is
# passed on. Where packages cannot be installed, the same software may be there in another way: CMake decides.
configure() {
  local preset=$1 build=$2 log=$2/build.log arguments=() whom=''
  if serves "$build"; then return; fi
  case $code in
    '') ;;
    none) arguments=(-DLASOLVE_CUDA=OFF) whom=' for the CPU: this machine has no GPU that CUDA runs on' ;;
    all) arguments=(-DLASOLVE_CUDA=AUTO -ULASOLVE_CUDA_ARCHITECTURES) whom=', with CUDA if there is a toolkit' ;;
    *) arguments=(-DLASOLVE_CUDA=AUTO "-DLASOLVE_CUDA_ARCHITECTURES=$code") whom=" for the GPU of this machine, $code" ;;
  esac
  local more
  read -ra more <<<"${LASOLVE_CMAKE_ARGS:-}"
  arguments+=("${more[@]}")
  : >"$log"
  install_packages "$root/scripts/packages.txt" "$log" || true
  say "configuring ${build##*/}/$whom"
  if (cd "$root" && cmake --preset "$preset" "${arguments[@]}") >>"$log" 2>&1; then
    sed -n 's/^-- \(No .*\)/lasolve: \1/p' "$log" >&2
    [[ -z $code ]] || echo "$code" >"$build/.code"
  else
    local missing
    mapfile -t missing < <(missing_packages "$root/scripts/packages.txt")
    ((${#missing[@]} == 0)) || stop 6 "$log" "cannot configure; on Debian or Ubuntu it takes, as root: apt-get install ${missing[*]}"
    stop 70 "$log" "cannot configure"
  fi
}

# Reads what ninja says, and counts: on one line of a terminal, elsewhere on a few lines.
progress() {
  trap '' INT # the end comes when ninja is gone
  local line quarter shown=-1
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ [BL] ]] || continue # building, linking
    quarter=$((4 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    if [[ -t 2 ]]; then
      printf '\r\e[Klasolve: building, %s of %s' "${BASH_REMATCH[@]:1}" >&2
    elif ((quarter > shown)); then
      say "building, ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
    fi
    shown=$quarter
  done
  if [[ -t 2 ]] && ((shown >= 0)); then printf '\r\e[K' >&2; fi
}

# build PRESET DIRECTORY [TARGET...]: does nothing, quickly, when all is up to date.
build() {
  local preset=$1 build=$root/$2
  shift 2
  mkdir -p "$build"
  (
    trap 'exit 130' INT # a subshell does not inherit it
    flock 9             # one build at a time
    configure "$preset" "$build"
    ninja -C "$build" "$@" 2>&1 | tee "$build/build.log" | progress ||
      stop 70 "$build/build.log" "the build failed"
  ) 9>"$build/.lock"
}
