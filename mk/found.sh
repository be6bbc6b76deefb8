#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Lists the libraries and programs found here, and what is left out without the others.
#   found.sh             prints it
#   found.sh --require   prints only what is missing and required, and fails if anything is
#   found.sh --lacks X   prints one line with the remedy if X is missing, else nothing
set -euo pipefail
cc=${CC:-gcc} mpicc=${MPICC:-mpicc} cuda=${CUDA_HOME:-} nccl=${NCCL_HOME:-}

# shellcheck disable=SC2317 # called through need and want
has_header() { # HEADER [COMPILER…]
    local header=$1
    shift
    printf '#include <%s>\n' "$header" | "${@:-$cc}" -E -x c - >/dev/null 2>&1
}

only=
[ "${1:-}" != --lacks ] || only=$2

found=() left_out=() missing=()
need() { # NAME WHY COMMAND…
    local name=$1 why=$2
    shift 2
    [ -z "$only" ] || return 0
    if "$@" >/dev/null 2>&1; then found+=("$name"); else missing+=("$name ($why)"); fi
}
want() {
    local name=$1 why=$2
    shift 2
    [ "$name" = "${only:-$name}" ] || return 0
    if "$@" >/dev/null 2>&1; then found+=("$name"); else left_out+=("$name: $why"); fi
}

need "$cc" 'the C compiler' command -v "$cc"
need iniparser 'reads configs' has_header iniparser.h "$cc" -I/usr/include/iniparser -I/usr/local/include/iniparser
need jansson 'writes recordings' has_header jansson.h
need OpenSSL 'checksums of recordings' has_header openssl/evp.h
need libsodium 'checksums of recordings' has_header sodium.h
need SQLite 'tables and queries' has_header sqlite3.h
need MPI 'starts the ranks; set MPI_HOME=… if it is elsewhere' has_header mpi.h "$mpicc"
want OpenBLAS 'iter_proxy is left out; make setup-figures installs it' has_header cblas.h
want gnuplot 'make figures cannot draw; make setup-figures installs it' command -v gnuplot
want LaTeX 'make paper cannot run; make setup-paper installs it' command -v latexmk
want cmocka 'make check cannot run; make setup-check installs it' has_header cmocka.h
want CUDA 'the GPU plugins are left out; set CUDA_HOME=… if it is elsewhere' test -f "$cuda/include/cuda_runtime.h"
want NCCL 'nccl_allreduce is left out; set NCCL_HOME=… if it is elsewhere' test -f "$nccl/include/nccl.h"

if [ -n "$only" ]; then
    for line in "${left_out[@]}"; do printf '%s is missing, so %s\n' "$only" "${line#*: }"; done
    exit 0
fi

join() {
    local text
    text=$(printf ', %s' "$@")
    printf '%s' "${text:2}"
}
if [ "${1:-}" != --require ] || [ ${#missing[@]} -eq 0 ]; then
    printf 'found     %s\n' "$(join "${found[@]}")"
    for line in "${left_out[@]}"; do printf 'without   %s\n' "$line"; done
    for line in "${missing[@]}"; do printf 'MISSING   %s; make setup installs it\n' "$line"; done
    exit 0
fi
printf 'gradsync: cannot be built here without %s; make setup installs them\n' "$(join "${missing[@]}")" >&2
exit 3
