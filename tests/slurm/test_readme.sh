#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The batch of docs/clusters.md, line by line, on a real Slurm.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/slurm/lib.sh
. "$top/tests/slurm/lib.sh"
# shellcheck source=tests/documents.sh
. "$top/tests/documents.sh"
command -v gnuplot >/dev/null || skip_all 'no gnuplot here'
slurm_up

a_checkout "$tmp/a_checkout"
cd "$tmp/a_checkout" || exit 1
printf '\n[slurm]\nexclusive = no\n' >>configs/local.ini
unset BUILD GRADSYNC_PLUGIN_PATH
commands "$top/docs/clusters.md" 'Slurm' >"$tmp/commands"
while IFS= read -r line; do
    ok "the documented command works: $line" bash -c "$line"
    case $line in
    *--dry-run*) like "$out" 'sbatch' '--dry-run shows what would be submitted' && is \
        "$(ls data/campaigns 2>/dev/null)" '' '--dry-run makes no campaign' ;;
    *submit*) camp=$(cat campaign) && settled ;; # a reader looks again until then
    *status*) is "$(ls -d data/raw/local/*/*/MANIFEST.json | wc -l)" 2 \
        'status copies both workloads, whole' ;;
    esac
done <"$tmp/commands"
ok 'the figures of the batch are drawn' test -s figures/out/local/mpi_allreduce-bandwidth.svg
cd "$tmp" || exit 1
slurm_down
no_orphans 'no process is left'
done_testing
