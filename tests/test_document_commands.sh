#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The commands that the documents show run word for word in a checkout that has measured nothing yet.
. "$(dirname "$0")/lib.sh"
. "$top/tests/documents.sh"
unset GRADSYNC_PLUGIN_PATH
command -v gnuplot >/dev/null || skip_all 'no gnuplot here'

a_checkout "$tmp/a_checkout"
follow() { # FILE HEADING: its commands in one shell, which ends at the first that fails
    commands "$top/$1" "$2" >"$tmp/commands"
    isnt "$(wc -l <"$tmp/commands")" 0 "$1, $2: there are commands"
    ok "$1, $2: every command succeeds" env -u BUILD -C "$tmp/a_checkout" CC="${CC:-gcc}" bash \
        -euo pipefail "$tmp/commands"
}

follow docs/measuring.md 'Figures of this machine'
like "$out" 'figures/out/local/mpi_allreduce-bandwidth.svg'
follow docs/plugins.md 'A new plugin'
like "$out" 'figures/out/local/foo-latency.svg' 'the commands for a new plugin draw a figure of it'
follow docs/plugins.md 'A plugin in ten minutes'
like "$out" 'strides' 'the method that is added in ten minutes is measured'
like "$out" 'figures/out/local/scan-latency.svg' 'the figure of the plugin of ten minutes is drawn'
follow docs/plugins.md 'A plugin outside the tree'
like "$out" 'mpi_allgather on local.*ring'
git init -q "$tmp/a_checkout"
follow CONTRIBUTING.md 'A recording from new hardware'
is "$(git -C "$tmp/a_checkout" diff --cached --name-only | cut -d/ -f1-3 | sort -u | paste \
    -sd' ')" \
    'configs/mine.ini data/SHA256SUMS data/raw/mine' \
        'a recording from new hardware is staged with its config and checksums'
ok 'a recording from new hardware gets a report page' test -s \
    "$tmp/a_checkout/figures/out/report-mine.html"

no_orphans 'no process is left'
done_testing
