# Shared by scripts/demo and scripts/test: a Python, a virtual environment from a lock file, system packages.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${QUINTAIN_VENV:-$root/.venv}

stop() { printf 'quintain: %s\n' "$*" >&2; exit 1; }

# Install Debian packages, or say exactly what to ask an administrator for.
need_packages() {
  [ "$#" -gt 0 ] || return 0
  local as=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null || stop "these system packages are missing: $*.
Installing them needs rights that you do not have. Ask an administrator to run: apt-get install $*"
    as=(sudo -n)
  fi
  command -v apt-get >/dev/null || stop "these system packages are missing: $*.
This script installs them with apt-get, which is not here: install them by your system's own means and run it again."
  printf 'Installing system packages: %s\n' "$*" >&2
  "${as[@]}" apt-get update -qq >&2
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2 \
    || stop "apt-get could not install: $*"
}

find_python() {
  local candidate
  for candidate in python3.11 python3.12 python3.13 python3; do
    if command -v "$candidate" >/dev/null \
      && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s' "$candidate"
      return
    fi
  done
  stop "Python 3.11 or newer is needed and was not found."
}

# Make the virtual environment match the lock file $1; a second run with the same lock installs nothing.
use_environment() {
  local lock=$1 python stamp
  python=$(find_python)
  "$python" -c 'import ensurepip, venv' 2>/dev/null || need_packages python3-venv
  stamp="$venv/.installed-$(basename "$lock")"
  if [ ! -x "$venv/bin/python" ]; then "$python" -m venv "$venv"; fi
  if ! cmp -s "$lock" "$stamp"; then
    printf 'Installing Python packages into %s\n' "$venv" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e "$root" >&2
    cp "$lock" "$stamp"
  fi
}

# Install the CPU build of torch where the package index at hand has it; the GPU build is gigabytes that tests do not need.
use_cpu_torch() {
  local wanted found
  wanted=$(sed -n 's/.*"torch==\([0-9.]*\)".*/\1/p' "$root/pyproject.toml")
  if "$venv/bin/python" -c "import torch, sys; sys.exit(torch.__version__.split('+')[0] != '$wanted')" 2>/dev/null; then
    return
  fi
  found=$("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --dry-run --report - \
    "torch==$wanted" 2>/dev/null | "$venv/bin/python" -c \
    'import json, sys; print(json.load(sys.stdin)["install"][0]["metadata"]["version"])' 2>/dev/null || true)
  case $found in
    *+cpu) "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "torch==$wanted" >&2 ;;
    *) printf 'No CPU build of torch %s is at hand: the tests that need torch are skipped.\n' "$wanted" >&2 ;;
  esac
}
