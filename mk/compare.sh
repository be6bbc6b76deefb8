#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   compare.sh CSV PART…   CSV/compare.csv, CSV/placebo.csv and CSV/chosen.csv from those of the parts, in
#                          the order of their runs. What stays as it was keeps its time.
set -euo pipefail
csv=$1
shift
parts=$(for part; do printf '%s\t%s\n' "$(tr '\n\t' '\001 ' <"$part/run")" "$part"; done | sort | cut -f2)
for table in compare placebo chosen; do
    out=$csv/$table.csv
    while IFS= read -r part; do printf '%s\0' "$part/$table.csv"; done <<<"$parts" |
        xargs -0 awk 'NR == 1 || FNR > 1' >"$out.new"
    if cmp -s "$out.new" "$out"; then rm "$out.new"; else mv "$out.new" "$out"; fi
done
