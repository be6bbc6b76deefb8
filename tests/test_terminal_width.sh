#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Verbs that print a table fit the columns of a terminal, on the recordings of this repository.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip_all 'no script(1) here'
export GRADSYNC_PLUGIN_PATH=$build/plugins:$build/tests/plugins

on_a_terminal() { script -qec "$1" /dev/null </dev/null; }
on_columns() { # COLUMNS VERB [PLATFORM…]
    local columns=$1
    shift
    (cd "$top" && NO_COLOR=1 on_a_terminal "stty cols $columns rows 30; PATH='$build':\$PATH gradsync $* 2>&1") |
        tr -d '\r' | sed 's/…/./g'
}
fits() { # NAME VERB…: on $columns; lines of messages, and commands, may be longer
    local table
    ok "$1 succeeds on $columns columns" on_columns "$columns" "${@:2}"
    table=$(grep -v '^next: \|^  gradsync \|^warning: \|^platform \|^[0-9]* contrasts come from one ' <<<"$out")
    isnt "$table" '' "$1 prints a table on $columns columns"
    is "$(awk -v n="$columns" 'length > n' <<<"$table")" '' "$1 fits $columns columns"
}
columns=80
for verb in compare show plan; do
    for platform in h200-4gpu h200-2gpu h200-2gpu-steps h200-2gpu-collectives h200-2x2-sock; do
        fits "$verb $platform" "$verb" $platform
    done
done
columns=100
fits 'compare h200-4gpu' compare h200-4gpu
done_testing
