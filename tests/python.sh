#!/usr/bin/env bash
# The wheel is built with the library and the tool of a build, which are not compiled again, and tested as installed. 77: what it takes
# is not there.
# python.sh SOURCES BUILD
set -euo pipefail
sources=$1 build=$2
folder=$build/python
venv=$folder/venv
python=$venv/bin/python

skip() {
  echo "no test of the Python package: $*"
  exit 77
}
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "it takes Python 3.10"
header=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
[[ -e $header ]] || skip "there is no $header: install python3-dev"
mkdir -p "$folder"
log=$folder/log
if ! cmp -s "$sources/python/requirements.txt" "$venv/requirements.txt"; then
  python3 -m venv "$venv" >"$log" 2>&1 || skip "python3 -m venv fails: install python3-venv"
  "$python" -m pip install -q --no-compile --disable-pip-version-check --retries 1 -r "$sources/python/requirements.txt" >"$log" 2>&1 ||
    skip "pip cannot install python/requirements.txt: $(tail -n 1 "$log")"
  cp "$sources/python/requirements.txt" "$venv"
fi

prefix=$folder/installed
for component in library development tool; do
  cmake --install "$build" --component "$component" --prefix "$prefix"
done >"$log"
"$python" -m pip install --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "$sources" \
  --config-settings=build-dir="$folder/build" --config-settings=cmake.define.CMAKE_PREFIX_PATH="$prefix" >"$log" 2>&1 || {
  tail -n 40 "$log"
  exit 1
}
cd "$folder" # so that what is imported is what was installed
"$python" -m pytest -q -p no:cacheprovider "$sources/python/tests"
