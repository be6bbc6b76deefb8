#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The description of the tables: what help says of them, docs/tables.md, and the files themselves.
. "$(dirname "$0")/lib.sh"

# ---- the files and their descriptions

config mine.ini 2 '[iter_proxy]' 'backend = host' 'size = 1KiB' 'gemm = 16' 'mode = compute, comm, sequential, overlapped' \
    'configs = auto, ring'
exits 0 'steps are measured' "$gradsync" run -q mine.ini
exits 0 'the recording is reduced' "$gradsync" query -q data/raw --export csv
echo >plain
exits 1 'a table below a file is refused' "$gradsync" model -q "$top/configs/wan-4site.ini" \
    --csv plain/x.csv
is "$err" 'plain/x.csv: cannot be written: Not a directory (a file has the name of a folder)' \
    'the error names the table and the fault'
may_not_write() { # COMMAND…: as a user whom the modes of files bind
    if [ "$(id -u)" != 0 ]; then "$@"; else setpriv --bounding-set=-dac_override "$@"; fi
}
chmod 555 csv
if may_not_write test -w csv; then
    skip 'a folder of another user is refused' 'this user may write everywhere'
else
    exits 1 'a folder of another user is refused' may_not_write "$gradsync" query -q data/raw --export csv
    like "$err" '^csv/summary.csv: cannot be written: Permission denied' 'the error names the file'
fi
chmod 755 csv
tables=$("$gradsync" help tables | sed -n 's/^  \([a-z]*\.csv\)$/\1/p')
is "$(xargs -n 1 <<<"$tables" | sort | xargs)" "$(cd csv && echo *.csv)" \
    'help lists every table that is written, and no other'
described() { # TABLE: the columns that its help describes
    "$gradsync" help "$1" |
        sed -nE 's/^  ([a-zA-Z0-9_]+) +(text|integer|number|yes or no)(, [^ ]+)?$/\1/p' | paste -sd,
}
for table in $tables; do
    is "$(described "$table")" "$(sed -E '1s/(,param_[a-z_]+)+$/,param_NAME/; 1q' "csv/$table")" \
        "help $table describes its columns in their order"
done
for table in 'model --csv' 'model --claims'; do
    "$gradsync" model -q "$top/configs/wan-4site.ini" --"${table#*--}" model.csv
    is "$(described "$table")" \
        "$(head -n 1 model.csv)" "help '$table' describes its columns in their order"
done
is "$("$gradsync" help --markdown | grep '^| `[a-zA-Z0-9_]*` .*|  |$')" '' \
    'every column that is described is in a table'
is "$("$gradsync" help --markdown | awk -F'|' 'NF > 6 && !/\\[|]/')" '' \
    'a bar inside a description ends no field of the list'

# ---- a word

word() { # WORD REGEX NAME
    prints "$2" "$gradsync" help "$1"
    is "$(awk 'length > 80' <<<"$out")" '' "help $1 fits 80 columns"
}
word chosen.csv $'^chosen.csv, written by .gradsync query --export.' 'a table that reduce writes says so'
word samples.csv $'^samples.csv, written by .gradsync query --export.\n +One row for each sample' \
    'help of a table says what a row is, and what writes it'
word median_s 'of summary.csv, launches.csv.*median_s +number, s' \
    'help of a column gives its tables, type and unit'
word floor 'A/A floor: ' 'help of floor explains it'
word busbw 'busbw_Bps +number, B/s' 'a column is found without its unit'
word T_ss 'back to back' 'help of T_ss explains it'
word overlap 'iteration.csv.*min\(A, B\).*again.csv.*yes or no' \
    'a name with two meanings is described for each table'
word launches 'a column of summary.csv'
fails 2 "did you mean 'floor'" "$gradsync" help florr

is "$(bash "$top/mk/docs.sh" "$gradsync" "$top/docs/tables.md" | diff - "$top/docs/tables.md")" '' \
    'docs/tables.md has the lists of this version: make docs writes them'
done_testing
