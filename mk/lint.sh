#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the linters that are installed; fails if one reports anything.
set -uo pipefail
worst=0
: "${CPPFLAGS:?is not set; run it with: make lint}"
files() { git ls-files "$@" | while IFS= read -r f; do [ -e "$f" ] && echo "$f"; done; }
lint() { # NAME COMMAND…
    local name=$1
    shift
    if ! command -v "$name" >/dev/null; then
        echo "lint: $name is not installed; skipped"
    elif "$@"; then
        echo "lint: $name: ok"
    else
        worst=1
    fi
}
mapfile -t c < <(files '*.c' ':!tests/bad_plugins') # those are bad on purpose
mapfile -t formatted < <(files '*.c' '*.h' '*.cu')
mapfile -t shell < <(git grep -lI '^#!.*bash\|shellcheck shell=' -- mk tests figures .ci plugins runner ':!*.out')
flags=$(mktemp -d)
trap 'rm -rf "$flags"' EXIT
for flag in ${CPPFLAGS//-MMD -MP/} $("${MPICC:-mpicc}" --showme:compile 2>/dev/null) -Iplugins/common ${CUDA_HOME:+-I"$CUDA_HOME/include"}; do
    [[ $flag != -I[!/]* ]] || flag=-I$PWD/${flag#-I}
    printf '%s\n' "$flag"
done >"$flags/compile_flags.txt"
# shellcheck disable=SC2317 # called through lint
tidy() { # it counts what it then leaves out, on stderr
    printf '%s\0' "${c[@]}" | xargs -0 -n 6 -P "$(nproc)" clang-tidy --quiet --warnings-as-errors='*' -p "$flags" \
        2> >(grep -v '^[0-9]* warnings\? generated\.$' >&2)
}
if bash mk/rooms.sh; then echo 'lint: rooms: ok'; else worst=1; fi
lint clang-format clang-format --dry-run -Werror "${formatted[@]}"
lint shellcheck shellcheck -x -P SCRIPTDIR "${shell[@]}"
lint clang-tidy tidy
exit $worst
