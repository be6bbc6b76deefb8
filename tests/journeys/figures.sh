#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes minutes
#
# A journey: make figures on a machine that has measured nothing.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/documents.sh"
command -v gnuplot >/dev/null || skip_all 'no gnuplot here'

a_checkout "$tmp/a_checkout"
cd "$tmp/a_checkout" || exit 1
unset BUILD GRADSYNC_PLUGIN_PATH
ok 'make figures measures and draws' make figures
latest=$(sed -n 's/^show the result: build.gradsync show //p' <<<"$out")
for file in figures/out/local/{mpi_allreduce-bandwidth.{svg,png,pdf},answer.svg} data/csv/{summary,compare}.csv; do
    ok "there is $file" test -s "$file"
done
prints 'GiB/s|MiB/s|GB/s|MB/s' "$gradsync" show "$latest"
prints 'local' "$gradsync" compare local
is "$(find figures/out data/csv -newer "$tmp/.out" -type f | head -n 1)" '' 'show and compare change no table and no figure'
ok 'make figures is called again' make figures
unlike "$out" 'FIGURE|REDUCE' 'it makes nothing a second time'
cd "$tmp" || exit 1
no_orphans 'nothing is left running'
done_testing
