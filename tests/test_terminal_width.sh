#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Verbs that print a table fit the columns of a terminal, on the recordings of this repository.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip_all 'no script(1) here'
export GRADSYNC_PLUGIN_PATH=$build/plugins

on_a_terminal() { script -qec "$1" /dev/null </dev/null; }
on_columns() { # COLUMNS VERB [PLATFORM…]
    local columns=$1
    shift
    (cd "$top" && NO_COLOR=1 on_a_terminal "stty cols $columns rows 30; '$gradsync' $* 2>&1") |
        tr -d '\r' | sed 's/…/./g'
}
for columns in 80 100; do
    for verb in compare advise show 'advise --check' plan; do
        for platform in h200-4gpu h200-2gpu h200-2gpu-steps h200-2gpu-collectives h200-2x2-sock; do
            [ -d "$top/data/raw/$platform" ] || continue
            is "$(on_columns $columns "$verb" $platform | grep -v '^next: \|^warning: ' |
                awk -v n=$columns 'length > n')" '' "$verb $platform fits $columns columns"
        done
    done
    ok "compare fits the lines of a terminal of $columns columns" \
        test "$(on_columns $columns compare h200-4gpu | wc -l)" -le 30
    [ ! -d "$top/data/raw/h200-4gpu" ] || like "$(on_columns $columns advise h200-4gpu)" \
        'backward 256MiB +auto ' "advise on $columns columns has a row for each step"
done
done_testing
