#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the missing system packages that gradsync needs, as root or with sudo, on Debian and
# Ubuntu. Prints their list on other systems. Exits 3 if something is still missing.
set -euo pipefail

packages=(
    gcc libc6-dev make perl git pkg-config # builds it; perl runs the tests
    libiniparser-dev                       # reads configs
    libjansson-dev                         # reads and writes recordings
    libssl-dev libsodium-dev               # checksums of recordings
    libsqlite3-dev                         # queries of the tables, for why and the paper
    openmpi-bin libopenmpi-dev             # starts the ranks, and mpi_allreduce
    libhwloc-dev                           # binds them to processors near their GPUs
    libopenblas-dev                        # iter_proxy's compute
    gnuplot-nox fonts-dejavu-core          # the figures
    libcmocka-dev procps iproute2 jq       # the tests
)

# setup.sh paper: also LaTeX, for the paper.
if [ "${1:-}" = paper ]; then
    packages+=(latexmk texlive-latex-base texlive-latex-recommended texlive-fonts-recommended)
fi
# setup.sh slurm: also Slurm, for the tests of campaigns.
if [ "${1:-}" = slurm ]; then packages+=(slurm-wlm munge); fi
# setup.sh report: also a browser, for the tests of the report.
if [ "${1:-}" = report ]; then packages+=(chromium); fi

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

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
list_missing() {
    missing=()
    local p
    for p in "${packages[@]}"; do installed "$p" || missing+=("$p"); done
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
apt=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0)
"${apt[@]}" update
"${apt[@]}" install --no-install-recommends "${missing[@]}" >/dev/null
list_missing
if [ ${#missing[@]} -ne 0 ]; then
    echo "setup: apt-get did not install: ${missing[*]}" >&2
    exit 3
fi
echo "setup: done"
