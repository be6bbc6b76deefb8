#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Recordings, campaigns and folders come from other people: they are data. No text of theirs runs as
# code in make, a shell, gnuplot or a terminal, none of their links is followed, and none of their
# files is waited for. Also run under ASan.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

# ---- texts of recordings

whole_run raw/p/null/r1
edit() { # MEMBER VALUE: of header, cell, note or fail line; VALUE is text inside a JSON string
    rm -rf data && mkdir -p data/raw/p/null && cp -r raw/p/null/r1 data/raw/p/null/r1
    MEMBER=$1 VALUE=$2 awk '
        BEGIN { member = ENVIRON["MEMBER"]; value = ENVIRON["VALUE"] }
        { at = match($0, "\"" member "\":\"[^\"]*\"")
          if (at) $0 = substr($0, 1, RSTART - 1) "\"" member "\":\"" value "\"" substr($0, RSTART \
              + RLENGTH)
          print }' raw/p/null/r1/launch-01.01.jsonl >data/raw/p/null/r1/launch-01.01.jsonl
    ! cmp -s raw/p/null/r1/launch-01.01.jsonl data/raw/p/null/r1/launch-01.01.jsonl
}
printable_only() {
    local wide=$'\xc2[\x80-\x9f]\\|\xe2\x80[\xa8-\xae]\\|\xe2\x81[\xa6-\xa9]'
    ! grep -q $'[\001-\010\013-\037\177]' <<<"$1" && ! grep -q "$wide" <<<"$1"
}
readers() { # each reader that prints or writes texts
    printf '%s\n' 'check data/raw' 'query --export csv' 'show data/raw/p/null/r1' 'compare' \
        'report -o page.html'
}
refused() { # WHAT
    local verb wrong=''
    while read -r verb; do
        # shellcheck disable=SC2086
        run "$gradsync" $verb
        [ $rc = 1 ] && [[ $err == *damaged* ]] && printable_only "$out$err" ||
            wrong+="$verb: $rc $err; "
    done < <(readers)
    is "$wrong" '' "$1 is refused by every reader"
}
forged='a\"\n1,2,3\nx,\",`touch PWNED`'
for member in platform workload run_id config params group cell; do
    [ $member != params ] || continue
    edit $member "$forged" || diag "not edited: $member"
    refused "a newline, quotes and a command in $member"
done
for value in '\u001b[31mred' '\u0085c1' 'right\u202eleft' '../../etc' '<b>' '-rf'; do
    edit platform "$value"
    refused "platform '$value'"
done
for value in '\u001b]0;x' '\u009bC1' 'a\u2066b' '<script>' '-rf' '$(x)'; do
    edit config "$value"
    refused "config '$value'"
done
for member in started host phase commit; do
    edit $member '\u001b[2J'
    run "$gradsync" check data/raw
    like "$rc $err" "^1 .*'$member' = '.*' is not printable text" \
        "check refuses an escape sequence in $member"
done
ok 'no text of a recording ran as a command' test ! -e PWNED

# ---- texts of configs, tables and plans

for text in $'\xc2\x85' $'\xe2\x80\xae' $'\f'; do
    for line in "# $text" "title = a${text}b"; do
        printf '[platform]\nname = p\n%s\n[launch]\nranks = 1\n[null]\nsize = 8\n' "$line" >odd.ini
        fails 2 '^odd.ini:3: ' "$gradsync" check odd.ini
        ok 'the error about the config is printable' printable_only "$err"
    done
done
rm -rf data && mkdir -p data/raw/p/null && cp -r raw/p/null/r1 data/raw/p/null/r1
"$gradsync" query -q data/raw --export csv
for text in $'\e[31m' $'\xc2\x9b' $'\xe2\x81\xa6'; do
    sed -i "2s/^[^,]*,/a${text},/" csv/{summary,compare,launches}.csv
    exits 1 'a control character in a table ends a query' "$gradsync" query --table csv/compare.csv 'SELECT * FROM compare'
    ok 'nothing of it is printed' printable_only "$out$err"
    sed -i "2s/^[^,]*,/p,/" csv/{summary,compare,launches}.csv
done

for launches in 0 9000000000000000000 '"many"'; do
    sed "s/\"launches\": 2/\"launches\": $launches/" raw/p/null/r1/plan.json \
        >data/raw/p/null/r1/plan.json
    while read -r verb; do
        # shellcheck disable=SC2086
        run timeout 60 "$gradsync" $verb
        like "$rc $err" '^1 .*plan.json: damaged: launches' \
            "a plan of $launches launches ends ${verb%% *}"
    done < <(readers)
done

# ---- names of folders

run "$gradsync" check $'no\e[31mwhere'
ok 'an error names a folder with printable characters only' printable_only "$err"
for name in 'a;touch PWNED' 'a b' "a'b" 'a$(touch PWNED)b' 'a:b' 'a#b' '-a' $'a\nb'; do
    rm -rf data && mkdir -p "data/raw/$name/null" && cp -r raw/p/null/r1 "data/raw/$name/null/r1"
    fails1 1 '' "$gradsync" help recordings
done
rm -rf data && mkdir -p data/raw/p/null && cp -r raw/p/null/r1 data/raw/p/null/r1
is "$("$gradsync" help recordings)" p/null/r1 'a plain name is listed'
touch 'data/raw/p/null/r1/launch-$(shell touch PWNED).jsonl'
exits 1 'a file with a command in its name ends the list of recordings' "$gradsync" help recordings
mkdir configs && touch 'configs/a;b.ini'
exits 1 'a config with a command in its name ends the list of platforms' "$gradsync" help platforms

# ---- make and gnuplot

mkdir -p tree/build && cd tree || exit 1
(cd "$top" && tar cf - GNUmakefile mk figures/*.gp figures/*.sql figures/{draw,known,plot}) |
    tar xf - -C .
cat >build/gradsync <<END
#!/bin/bash
exec '$gradsync' "\$@"
END
chmod +x build/gradsync
mkdir -p 'data/raw/x;touch PWNED;' configs
mkdir -p 'data/raw/x;touch PWNED;/null' && cp -r ../raw/p/null/r1 'data/raw/x;touch PWNED;/null/r1'
for goal in sound-tables sound-drawn; do
    fails 2 '\*\*\* data/raw/x;touch PWNED;: is not a name' make --no-print-directory BUILD=build \
        $goal
done
ok 'make runs no command in the name of a folder' test ! -e PWNED
cd .. || exit 1
if command -v gnuplot >/dev/null; then
    asked() { # of a table, by the query of a figure
        printf 'config\n"%s"\n' "${T//\"/\"\"}" >t.csv
        "$gradsync" query --format lines --table t.csv "SELECT 'x = ' || quote(config) || '; print x' FROM t" >x.gp
    }
    for text in 'a`touch PWNED`b' "it's" 'a"b\n@x'; do
        T=$text asked
        is "$(gnuplot x.gp 2>&1)" "$text" "gnuplot prints the text '$text' of a table and does not run it"
    done
    is "$("$gradsync" query --format lines --table t.csv "SELECT 'two' || char(10, 13) || 'lines', NULL, 2e-6")" \
        'two  lines 2e-06' 'no text begins another line of a panel'
    ok 'gnuplot runs no command in a text' test ! -e PWNED
    printf 'ratio\nsystem("touch PWNED")\n' >t.csv
    fails 1 't.csv:2: ratio: .*system.* must be a number' "$gradsync" query --format lines --table t.csv 'SELECT ratio FROM t'
else
    skip 'gnuplot runs no command in a text' 'no gnuplot here'
fi
done_testing
