# For bench/run and tests/run: makes sure that Debian or Ubuntu packages are installed. Sourced, not run.

# Prints those of the named packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
  done
}

# Whether packages may be installed, as root or through sudo without a password.
may_install() {
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

install_command="apt-get install -y --no-install-recommends"

install_packages() {
  local sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  echo "Installing $*"
  $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive $install_command -qq "$@" >/dev/null
}

# Installs what is missing where that is allowed; elsewhere it says what to install, and stops.
require_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not Debian or Ubuntu: install what these packages hold, then configure with CMake: $*" >&2
    exit 1
  fi
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if may_install; then
    install_packages $missing
  else
    echo "These packages are missing; install them and run this again:" >&2
    echo "  sudo apt-get update && sudo $install_command $missing" >&2
    exit 1
  fi
}

# The same for packages that not every release has, and without which something is left out. They stop nothing.
want_packages() {
  local missing
  missing=$(available_packages "$@")
  [ -n "$missing" ] || return 0
  if may_install; then
    install_packages $missing
  else
    echo "Some tests are skipped without these packages: $missing" >&2
  fi
}

# Of the named packages, those that this release has and that are not installed.
available_packages() {
  local package
  for package in $(missing_packages "$@"); do
    if apt-cache show "$package" >/dev/null 2>&1; then printf '%s ' "$package"; fi
  done
}

build_packages=(g++ cmake ninja-build ocl-icd-opencl-dev opencl-c-headers opencl-clhpp-headers pocl-opencl-icd
                libboost-dev libcli11-dev nlohmann-json3-dev libclblast-dev libopenblas0-pthread libxxhash-dev
                libzstd-dev libboost-wave-dev libboost-thread-dev zlib1g-dev)

# The folder of nvcc, where there is one, so that CMake finds the toolkit.
find_nvcc() {
  command -v nvcc 2>/dev/null || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }
}
