#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The linters, each only if it is here; fails if one has something to say.
set -uo pipefail
worst=0
files() { git ls-files "$@" | while IFS= read -r f; do [ -e "$f" ] && echo "$f"; done; }
lint() { # NAME COMMAND…
    local name=$1
    shift
    if ! command -v "$1" >/dev/null; then
        echo "lint: no $1 here: $name is left out"
    elif "$@"; then
        echo "lint: $name: nothing to say"
    else
        worst=1
    fi
}
mapfile -t c < <(files '*.c')
mapfile -t formatted < <(files '*.c' '*.h' '*.cu')
mapfile -t shell < <(git grep -lI '^#!.*bash\|shellcheck shell=' -- mk tests figures .ci plugins)
read -ra flags <<<"${CPPFLAGS//-MMD -MP/} $("${MPICC:-mpicc}" --showme:compile 2>/dev/null) -Iplugins/common"
if [ -n "${CUDA_HOME:-}" ]; then flags+=(-isystem "$CUDA_HOME/include"); fi
lint clang-format clang-format --dry-run -Werror "${formatted[@]}"
lint shellcheck shellcheck -x -P SCRIPTDIR "${shell[@]}"
lint clang-tidy clang-tidy --quiet --warnings-as-errors='*' "${c[@]}" -- "${flags[@]}"
exit $worst
