# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Run folders written by hand, for tests of what reads them:
#   new_run DIR [LAUNCHES]         config.ini and plan.json of two groups: G with configs a and b, H
#                                  with config a alone and cell S, which was never measured
#   header DIR LAUNCH ATTEMPT      starts launch-LL.AA.jsonl
#   line DIR LAUNCH ATTEMPT JSON   appends to it
#   cell DIR LAUNCH ATTEMPT GROUP CELL COPY CONFIG SIZE
#   block DIR LAUNCH ATTEMPT CELL COPY NUMBER TIMES      10 iterations a sample
#   closed DIR LAUNCH ATTEMPT GROUP CELL CONVERGED
#   whole_run DIR                  2 launches of 2 blocks of every cell but S, which is skipped;
#                                  no manifest
#   manifest DIR                   MANIFEST.json of what is there
# shellcheck disable=SC2034 # for the tests
G=aaaaaaaaaaaaaaaa H=bbbbbbbbbbbbbbbb
A=0000000000000001 B=0000000000000002 C=0000000000000003 S=0000000000000004

new_run() {
    local size8='"size_B": 8, "busbw_factor": 1.0' size16='"size_B": 16, "busbw_factor": 1.0'
    mkdir -p "$1"
    printf '[limits]\nbusbw = 10GB/s\n[launch]\nranks = 2\n[null]\nsize = 8, 16\n' >"$1/config.ini"
    cat >"$1/plan.json" <<END
{"launches": ${2:-2}, "seed": 7, "config_sha256": "$(sha256sum <"$1/config.ini" | cut -d' ' -f1)",
 "cells": [
 {"id": "$A", "group": "$G", "config": "a", "mode": "", "params": "size=8 config=a", $size8},
 {"id": "$B", "group": "$G", "config": "b", "mode": "", "params": "size=8 config=b", $size8},
 {"id": "$C", "group": "$H", "config": "a", "mode": "", "params": "size=16 config=a", $size16},
 {"id": "$S", "group": "$H", "config": "b", "mode": "", "params": "size=16 config=b", $size16}]}
END
}
recording() { printf '%s/launch-%02d.%02d.jsonl' "$1" "$2" "$3"; }
line() { echo "$4" >>"$(recording "$1" "$2" "$3")"; }
header() {
    local json='{"type":"header","schema":1,"gradsync":"0.1.0","commit":"c",'
    json+='"run_id":"'"${1##*/}"'","platform":"p","workload":"null","label":"",'
    json+='"launch":'"$2"',"attempt":'"$3"',"started":"2025-01-01T00:00:00Z",'
    json+='"seed":7,"overrides":[],'
    json+='"ranks":2,"nodes":1}'
    line "$1" "$2" "$3" "$json"
}
cell() {
    local json='{"type":"cell","cell":"'"$5"'","group":"'"$4"'","copy":'"$6"','
    json+='"config":"'"$7"'","mode":"",'
    json+='"params":{"size":"'"$8"'","config":"'"$7"'"},"size_B":'"$8"',"busbw_factor":1.0,'
    json+='"span":false,"iters":10,"metrics":[{"name":"steps","unit":"1"}],"baseline":true}'
    line "$1" "$2" "$3" "$json"
}
block() {
    local json='{"type":"block","cell":"'"$4"'","copy":'"$5"',"block":'"$6"',"at":1.5,"iters":10,'
    json+='"skew_ns":30,"spread_ns":40,"metrics":{"steps":'"$6"'},"time_ns":['"$7"']}'
    line "$1" "$2" "$3" "$json"
}
closed() {
    local count json
    count=$(grep -c '"type":"block","cell":"'"$5"'","copy":0' "$(recording "$1" "$2" "$3")")
    json='{"type":"group","group":"'"$4"'","blocks":2,"cells":[{"cell":"'"$5"'","copy":0,"blocks":'
    line "$1" "$2" "$3" "$json$count"',"converged":'"$6"',"half_width":0.01}]}'
}
whole_run() {
    local launch json
    new_run "$1"
    for launch in 1 2; do
        header "$1" "$launch" 1
        cell "$1" "$launch" 1 $G $A 0 a 8
        cell "$1" "$launch" 1 $G $A 1 a 8
        cell "$1" "$launch" 1 $G $B 0 b 8
        for n in 1 2; do
            block "$1" "$launch" 1 $A 0 $n "1000$launch,10100,10200"
            block "$1" "$launch" 1 $B 0 $n "2000$launch,20100,20200"
            block "$1" "$launch" 1 $A 1 $n "1000$launch,10100,10300"
        done
        closed "$1" "$launch" 1 $G $A true
        json='{"type":"fail","cell":"'"$S"'","copy":0,"kind":"skip","why":"no \"b\", here",'
        json+='"rank":0,"host":"h","phase":"prepare"}'
        line "$1" "$launch" 1 "$json"
        cell "$1" "$launch" 1 $H $C 0 a 16
        block "$1" "$launch" 1 $C 0 1 '40000'
        block "$1" "$launch" 1 $C 0 2 '40000,40007'
        closed "$1" "$launch" 1 $H $C false
        line "$1" "$launch" 1 '{"type":"end","at":2.5,"status":"complete"}'
    done
}
# $(of DIR CELL COLUMN): a field of the row of a cell in summary.csv
of() { csv "$1/summary.csv" 'get("cell_id") == "'"$2"'"' "$3"; }
manifest() {
    local f comma=''
    rm -f "$1/MANIFEST.json"
    {
        printf '{"schema":1,"files":{'
        for f in "$1"/*; do
            printf '%s"%s":{"bytes":%d,"sha256":"%s"}' "$comma" "${f##*/}" "$(stat -c %s "$f")" \
                "$(sha256sum <"$f" | cut -d' ' -f1)"
            comma=,
        done
        printf '}}\n'
    } >"$1/.manifest"
    mv "$1/.manifest" "$1/MANIFEST.json"
}

# ---- the data of figures, of tables instead of recordings

asked() { # OUT NAME OF CSV…: the data that figures/draw NAME OF has of the tables in these files
    local out=$1 name=$2 of=$3 table is
    shift 3
    if [ ! -e figures ]; then # a copy asks a store of its own, and draws nothing
        cp -r "$top/figures" figures
        printf '#!/bin/sh\n' >figures/plot
    fi
    rm -rf tables data/csv/drawn && mkdir tables && : >tables/runs
    local given=(--table tables/stamp.csv --table tables/run.csv --table tables/standing.csv)
    for is; do # runs have numbers in the order in which files name them
        [ -s "$is" ] || continue
        table=$(basename "$is" .csv)
        awk -F, -v table="$table" '
            FILENAME == "tables/runs" { known[$2] = ++n; next }
            FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            FNR == 1 { print table == "samples" ? "run,cell_id,copy,counts,iters,times_json" : at["run_id"] ? "run," $0 : $0; next }
            at["run_id"] && !($at["run_id"] in known) {
                known[$at["run_id"]] = ++n
                print n "," $at["run_id"] "," $at["platform"] "," (at["workload"] ? $at["workload"] : "") "," $at["label"] >>"tables/runs"
            }
            table == "samples" { printf "%d,%s,%s,1,1,[%.15g]\n", known[$at["run_id"]], $at["cell_id"], $at["copy"], 1e9 * $at["time_s"]; next }
            { print (at["run_id"] ? known[$at["run_id"]] "," : "") $0 }' tables/runs "$is" >"tables/$table.csv"
        [ "$table" = samples ] && table=block
        given+=(--table "$table=tables/$(basename "$is")")
    done
    { echo run,run_id,platform,workload,label && cat tables/runs; } >tables/run.csv
    cut -d, -f1 tables/run.csv >tables/standing.csv
    awk -F, 'BEGIN { print "run,sort" } { printf "%d,%06d\n", $1, $1 }' tables/runs >tables/stamp.csv
    { printf '#!/bin/bash\nshift\nexec %q query' "$gradsync" && printf ' %q' "${given[@]}" && echo ' "$@"'; } >tables/ask
    chmod +x tables/ask
    # shellcheck disable=SC2086 # PLATFORM/WORKLOAD are two words
    MAY_BE_EMPTY=yes GRADSYNC=tables/ask figures/draw "$name" ${of/\// } && rm -rf "$out" && cp -r "data/csv/drawn/$name${of:+/$of}" "$out"
}
panels() { # OUT P/W FOLDER [TRANSITIONS]
    asked "$1" panels "$2" "$3"/{summary,iteration,compare,chosen,samples}.csv ${4:+"$4"} &&
        find "$1" -name '*.plot' -exec sed -i 's/; /\n/g; s/\([0-9]\)\.0\(e\|\>\)/\1\2/g; s/e\([-+]\)0/e\1/g' {} +
}
