#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Bad inputs: each file of tests/bad, without the lines that say what must come of it:
#   # want: EXIT MESSAGE   the exit code and the one line of error; … stands for any text
#   # run: COMMAND         what reads it, FILE is its name; without this line plan and check do
# RENEW=1 (make golden) writes those messages anew that differ.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

# What some of them are read beside: the tables of one recording.
whole_run raw/p/null/r
mkdir configs && printf '[measure]\nlaunches = 2\n[null]\nsize = 8, 16\nconfigs = a, b\n' >configs/p.ini
"$gradsync" query -q raw --export csv

refuses() { # COMMAND [first]: as wanted, in one line or the first one, and nothing is left behind
    run eval "$1"
    [ "${2:-}" = first ] && err=${err%%$'\n'*}
    if [ "${RENEW:-}" ] && ! [[ "$rc $err" =~ ^$regex$ ]]; then
        err=$(sed 's/ (cell: .*)$/ (cell: …)/; s/\\/\\\\/g' <<<"$err")
        sed -i "1c\\# want: $rc $err" "$case"
    elif [[ "$rc $err" =~ ^$regex$ ]] && [ -z "$out$(ls -d refused data 2>/dev/null)" ]; then
        pass "$name: $1"
    else
        flunk "$name: $1" "got  $rc $err"$'\n'"want $want"$'\n'"$out"
    fi
}

for case in "$top"/tests/bad/*/*; do
    file=${case##*/} name=${case#"$top/tests/"}
    want=$(sed -n '1s/^# want: //p' "$case") command=$(sed -n '2s/^# run: //p' "$case")
    regex=$(sed 's/[][\.*^$(){}?+|]/\\&/g; s/…/.*/g' <<<"$want")
    sed '1d; 2{/^# run: /d}' "$case" >"$file"
    if [ -n "$command" ]; then refuses "${command//FILE/$file}"; else
        refuses "gradsync plan $file"
        # check goes on to further faults.
        [ "${RENEW:-}" ] || refuses "gradsync check $file" first
    fi
    rm -f "$file"
done
done_testing
