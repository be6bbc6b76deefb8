#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What show, compare and the report say of a machine on which other programs ran: they warn,
# once. They say nothing of a machine that only our own ranks kept busy.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

hosts='"hosts":[{"rank":0,"host":"h","cores":2},{"rank":1,"host":"h","cores":2}]'
# run_with NAME RANK0 RANK1 [HOSTS]: a run whose readings are these members of each rank's object
run_with() {
    local dir=raw/$1/p/null/20250101T000000Z-aaaa f
    whole_run "$dir"
    for f in "$dir"/launch-*.jsonl; do
        sed -i "1s/\"nodes\":1/\"nodes\":1,${4:-$hosts}/" "$f"
        health="{\"type\":\"health\",\"group\":\"$G\",\"block\":2,\"before\":{}"
        sed -i "\$i $health,\"after\":{\"0\":{$2},\"1\":{$3}}}" "$f"
    done
    run "$gradsync" show "$dir"
    said=$(grep 'not idle' <<<"$err")
}
quiet() { is "$said" '' "$1"; }

run_with busy '"load1":6.7,"busy_cores":2.0,"own_cores":0.3' '"own_cores":0.3'
warning='warning: raw/busy/p/null/20250101T000000Z-aaaa: load 6.7 on 2 cores'
like "$said" "^$warning, other programs used 1.4 of them: not idle" \
    'show warns of cores that other programs used'
run_with all '"load1":2.4,"busy_cores":2.01,"own_cores":1.0' '"own_cores":0.98'
quiet 'show does not warn if our ranks keep every core busy'
run_with many '"load1":12.0,"busy_cores":12.0,"own_cores":1.0' '"own_cores":1.0' \
    "${hosts//:2\}/:64\}}"
like "$said" 'load 12\.0 on 64 cores, other programs used 10\.0' \
    'show warns of other programs on a machine with room for both'

run_with half '"load1":6.7,"busy_cores":2.0,"own_cores":0.3' '"own_cores":0.3'
sed -i 's/"busy_cores":2.0/"busy_cores":0.6/' raw/half/p/null/*/launch-02.01.jsonl
like "$("$gradsync" show raw/half/p/null/* 2>&1 >/dev/null)" 'other programs used 0\.7 of them: not idle' \
    'half of the launches are no minority: they count'

# Older recordings have the load average alone.
run_with old '"load1":6.7' ''
like "$said" "^warning: raw/old/p/null/20250101T000000Z-aaaa: load 6.7 on 2 cores: not idle" \
    'an older recording is judged by its load average'
run_with oldidle '"load1":3.9' ''
quiet 'a load of two per rank is taken as our own in an older recording'
run_with part '"load1":2.9,"busy_cores":2.0,"own_cores":0.3' '"load1":2.9'
quiet 'nor do its readings tell of others where one rank does not tell what it used'
run_with three '"load1":1.0,"busy_cores":0.4,"own_cores":0.2' '"own_cores":0.2' \
    "${hosts%]},{\"rank\":2,\"host\":\"h\",\"cores\":2}]"
is "$rc" 0 'show reads a recording of three ranks'
run_with lab '"load1":30.0' '' "\"lab\":{\"schema\":1},$hosts"
quiet 'show does not warn of a lab, which watches itself'

# ---- compare, report ----

run "$gradsync" compare raw/busy
is "$(grep -c 'not idle' <<<"$err")" 1 'compare warns of other programs'
mkdir raw/both && cp -r raw/busy/p raw/both/p && cp -r raw/old/p raw/both/q
sed -i 's/"platform":"p"/"platform":"q"/' raw/both/q/*/*/launch-*
run "$gradsync" compare raw/both
is "$(grep -c 'not idle' <<<"$err")" 1 'compare of two runs warns once'
like "$err" 'not idle; 1 more of 2 runs' 'compare says how many more runs were not idle'
ok 'the report is written' "$gradsync" report -q -r raw/busy -f none -o page.html
like "$(<page.html)" 'not idle' 'the report warns of them, too'

done_testing
