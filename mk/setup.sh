#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the missing system packages that gradsync needs, as root or with sudo, on Debian and
# Ubuntu. Prints their list on other systems. Exits 3 if something is still missing.
#   setup.sh           what `make all` and `gradsync tune` need
#   setup.sh figures   also what `make figures` needs: gnuplot, and OpenBLAS for iter_proxy
#   setup.sh check     also what `make check` needs
#   setup.sh paper     also LaTeX
#   setup.sh slurm     also Slurm, for the tests of campaigns
#   setup.sh report    also a browser, for the tests of the report
set -euo pipefail

packages=(
    gcc libc6-dev make           # builds it
    libiniparser-dev             # reads configs
    libjansson-dev               # reads and writes recordings
    libssl-dev libsodium-dev     # checksums of recordings
    libsqlite3-dev               # tables and queries
    openmpi-bin libopenmpi-dev   # starts the ranks, and mpi_allreduce
)
figures=(gnuplot-nox fonts-dejavu-core libopenblas-dev)
check=("${figures[@]}" perl git pkg-config libcmocka-dev procps iproute2 jq)
paper=("${figures[@]}" latexmk texlive-latex-base texlive-latex-recommended texlive-fonts-recommended)
case ${1:-} in
figures) packages+=("${figures[@]}") ;;
check) packages+=("${check[@]}") ;;
paper) packages+=("${paper[@]}") ;;
slurm) packages+=("${check[@]}" slurm-wlm munge) ;;
report) packages+=("${check[@]}" chromium) ;;
esac

elsewhere() {
    cat <<'TXT'
gradsync: this is neither Debian nor Ubuntu. Install these with your package manager:
  gcc 10+, GNU make 4.3+, bash, perl, git, pkg-config
  iniparser 4.1+, jansson 2.10+, libsodium, OpenSSL 1.1+, SQLite 3.35+, an MPI with mpicc and mpirun (Open MPI; MPI_HOME=…),
  OpenBLAS, gnuplot 5.4+ with the cairo terminals, DejaVu Sans, cmocka 1.1.5+
  Fedora:    dnf install gcc make perl perl-Test-Harness git pkgconf iniparser-devel jansson-devel libsodium-devel openssl-devel sqlite-devel
             openmpi-devel openblas-devel gnuplot dejavu-sans-fonts libcmocka-devel
  openSUSE:  zypper install gcc make perl git pkgconf libiniparser-devel libjansson-devel libsodium-devel libopenssl-devel sqlite3-devel
             openmpi4-devel openblas-devel gnuplot dejavu-fonts libcmocka-devel
TXT
    CC=${CC:-gcc} exec bash "$(dirname "$0")/found.sh" --require
}

list_missing() {
    local installed p
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
    missing=()
    for p in "${packages[@]}"; do
        grep -qx "installed $p" <<<"$installed" || missing+=("$p")
    done
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then elsewhere; fi
list_missing
if [ ${#missing[@]} -eq 0 ]; then
    echo "setup: all ${#packages[@]} packages are installed"
    exit 0
fi

if [ "$(id -u)" = 0 ]; then
    as_root=(env)
elif command -v sudo >/dev/null; then
    as_root=(sudo)
else
    echo "setup: installing packages needs root or sudo. Ask your administrator for these; nothing else needs root:"
    echo "  apt-get install --no-install-recommends ${missing[*]}"
    exit 3
fi

echo "setup: installing ${missing[*]}"
apt=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o APT::Keep-Downloaded-Packages=false
    # Neither the descriptions of all packages of Debian nor apt's copies of their lists, 100 MiB.
    -o Acquire::Languages=none -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
# Where there is no man, as in containers, nobody reads the documentation of packages.
if ! command -v man >/dev/null; then
    for unread in 'exclude=/usr/share/doc/*' 'include=/usr/share/doc/*/copyright' 'exclude=/usr/share/man/*' 'exclude=/usr/share/locale/*' \
        'exclude=/usr/share/javascript/*' 'exclude=/usr/share/info/*'; do
        apt+=(-o "Dpkg::Options::=--path-$unread")
    done
fi
"${apt[@]}" update
"${apt[@]}" install --no-install-recommends "${missing[@]}" >/dev/null
list_missing
if [ ${#missing[@]} -ne 0 ]; then
    echo "setup: apt-get did not install: ${missing[*]}" >&2
    exit 3
fi
echo "setup: done"
