# Sourced by the scripts: installs what is missing, configures and builds. Messages go to stderr; stdout is left alone.
# shellcheck shell=bash
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
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

# Configures a preset if that was not done before, and with it installs packages. What CMake has to say (no CUDA) is
# passed on. Where packages cannot be installed, the same software may be there in another way: CMake decides.
configure() {
  local preset=$1 build=$2 log=$2/build.log
  [[ -f $build/build.ninja ]] && return
  : >"$log"
  install_packages "$root/scripts/packages.txt" "$log" || true
  say "configuring ${build##*/}/"
  if (cd "$root" && cmake --preset "$preset") >>"$log" 2>&1; then
    sed -n 's/^-- \(No .*\)/lasolve: \1/p' "$log" >&2
  else
    local missing
    mapfile -t missing < <(missing_packages "$root/scripts/packages.txt")
    ((${#missing[@]} == 0)) || stop 6 "$log" "cannot configure; on Debian or Ubuntu it takes, as root: apt-get install ${missing[*]}"
    stop 70 "$log" "cannot configure"
  fi
}

# build PRESET DIRECTORY [TARGET...]: does nothing, quickly, when all is up to date.
build() {
  local preset=$1 build=$root/$2
  shift 2
  mkdir -p "$build"
  (
    flock 9 # one build at a time
    configure "$preset" "$build"
    ninja -C "$build" "$@" 2>&1 | tee "$build/build.log" | sed -un '0,/Building/s/.*Building.*/lasolve: building…/p' >&2 ||
      stop 70 "$build/build.log" "the build failed"
  ) 9>"$build/.lock"
}
