#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   numbers.sh GRADSYNC CSV        prints the numbers of the paper as macros for TeX: from the recordings,
#                                  and from the tables in CSV that no recording has
#   numbers.sh GRADSYNC CSV NAME…  prints NAME = VALUE of these, as text
set -euo pipefail
gradsync=$1 csv=$2 && shift 2
macros() { # SQL-FILE…: beside error_rates.csv, all tables are those of `make tables`
    local tables=() file
    for file in paper/contrasts.sql figures/price.sql figures/links.sql paper/in_job.sql "$csv"/{error_rates,limits,again,wan/needed,wan/model-error}.csv; do
        [ ! -e "$file" ] || tables+=(--table "$file")
    done
    "$gradsync" query -q --format tex "${tables[@]}" -- "$(cat "$@")"
}
[ $# != 0 ] || { macros paper/error_rates.sql paper/numbers.sql && exit; }
all=$(macros paper/numbers.sql | sed 's/^.*gs@v@\(.*\)\\endcsname{\(.*\)}$/\1 = \2/
    s/\$-\$/−/g; s/\\textmu{}/µ/g; s/\\\([%_#&]\)/\1/g; s/~/ /g; s,\\slash{},/,g')
for name; do grep -F -- "$name = " <<<"$all" | grep "^${name//./[.]} = "; done
