#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The documents are right word for word: their commands run in a checkout that has measured nothing
# yet, and the numbers that they show are what their commands print.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/documents.sh
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
like "$out" 'against size' 'the commands for figures of this machine draw a curve'
like "$out" 'figures/out/local/mpi_allreduce-bandwidth.svg' \
    'the commands for figures of this machine name a figure'
follow docs/plugins.md 'A new plugin'
like "$out" 'figures/out/local/foo-latency.svg' 'the commands for a new plugin draw a figure of it'
follow docs/plugins.md 'A plugin in ten minutes'
like "$out" 'strides' 'the method that is added in ten minutes is measured'
like "$out" 'figures/out/local/scan-latency.svg' 'the figure of the plugin of ten minutes is drawn'
follow docs/plugins.md 'A plugin outside the tree'
like "$out" 'mpi_allgather on local.*ring' \
    'the plan of the example outside the tree names its methods'
git init -q "$tmp/a_checkout"
follow CONTRIBUTING.md 'A recording from new hardware'
is "$(git -C "$tmp/a_checkout" diff --cached --name-only | cut -d/ -f1-3 | sort -u | paste \
    -sd' ')" \
    'configs/mine.ini data/SHA256SUMS data/raw/mine' \
        'a recording from new hardware is staged with its config and checksums'
ok 'a recording from new hardware gets a report page' test -s \
    "$tmp/a_checkout/figures/out/report-mine.html"

# ---- the numbers ----

mkdir -p "$tmp/numbers/data/raw" "$tmp/numbers/data/csv/wan" && cd "$tmp/numbers" || exit 1
for p in h200-2gpu h200-2gpu-steps h200-2gpu-collectives h200-4gpu; do ln -s "$top/data/raw/$p" data/raw; done
ln -s "$top/paper" "$top/configs" .
ln -s "$build" build
ok 'the recordings behind the numbers are reduced' "$gradsync" reduce -q data/raw -o data/csv
ok 'the recordings behind the numbers are compared' "$gradsync" compare -q data/raw -o data/csv
ok 'the recordings are compared with what is best alone' "$gradsync" compare -q --best-of comm \
    data/raw -o data/csv
ok 'the runs that were measured again are compared' "$gradsync" compare -q --again \
    data/csv/compare.csv -o data/csv
ok 'the repeats of what is best alone are compared' "$gradsync" compare -q --again \
    data/csv/chosen.csv -o data/csv/chosen
ok 'the limits behind the numbers are written' "$gradsync" limits -q -o data/csv configs/*.ini
"$gradsync" transitions -q data/csv
"$gradsync" model -q wan-4site --csv data/csv/wan/wan-4site.csv --claims \
    data/csv/wan/wan-4site-claims.csv
bash "$top/mk/wan-needed.sh" "$gradsync" >data/csv/wan/needed.csv
awk -f "$top/figures/csv.awk" -f "$top/figures/wan_errors.awk" data/csv/wan.csv \
    >data/csv/wan/model-error.csv
for document in README.md docs/answer.md; do
    ok "the commands of $document succeed" bash "$top/mk/readme.sh" "$top/$document"
    is "$(diff <(printf '%s\n' "$out") "$top/$document")" '' \
        "the commands print what $document shows (else: make readme)"
    is "$(sed '/^```/,/^```/d; /^|/d' "$top/$document" |
        grep -nE '[0-9.]+ ?(%|GB/s|µs|us|ms)( |$|,|\.)' | grep -v '95%')" '' \
        "no number of $document stands outside its tables and commands"
done
grep -ohE '(\]\(|`)(docs|configs|runner|plugins|paper|tests|mk)/[a-zA-Z0-9_./-]*[)`]' \
    "$top/README.md" "$top/CONTRIBUTING.md" "$top"/docs/*.md |
    tr -d '](`)' | grep -vE 'scan|NAME|paper\.pdf' | sort -u >"$tmp/paths"
isnt "$(wc -l <"$tmp/paths")" 0 'the documents name files of the tree'
is "$(cd "$top" && while read -r path; do [ -e "$path" ] || echo "$path"; done <"$tmp/paths")" '' \
    'every file that the documents name exists'
no_orphans 'no process is left'
done_testing
