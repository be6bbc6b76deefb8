#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   wan-lab.sh GRADSYNC DATA JOBS [WORD]
#
# Records wan_sync in the lab: on every network of the list below whose name holds WORD, JOBS of them
# at a time. Each is a platform of its own; one that has a finished recording in DATA is left alone, an
# unfinished one is completed. A lab wants a processor for itself and one for each rank: a run whose
# lab could not keep its times ends unfinished and is told here.
set -euo pipefail
cd "${0%/*}/.."
export gradsync=$1 data=$2
jobs=$3 word=${4:-}

# NAME CONFIG [SECTION OVERRIDES]. Where a synchronisation would take half a minute the size is left out:
# 256 MiB at 100 Mbit/s, and under loss, where one stream of MPI's does a few Mbit/s.
networks() {
    local rate rtt loss sizes
    for rate in 1000 100; do
        for rtt in 10 30 50; do
            for loss in 0 0.1; do
                sizes=64KiB,1MiB,16MiB
                [ $rate$loss != 10000 ] || sizes+=,256MiB
                echo "wan-lab-$rate-$rtt$([ $loss = 0 ] || echo -loss) configs/wan-lab.ini wan_sync links:rate=${rate}Mbit/s" \
                    "links:rtt=${rtt}ms links:loss=$loss% wan_sync:size=$sizes"
            done
        done
    done
    echo wan-lab-every configs/wan-lab-every.ini
    echo wan-lab-unequal configs/wan-lab-unequal.ini
}

unfinished() { # of the runs of platform $1; fails when it has none at all
    local run any=1
    for run in "$data/$1"/*/*/; do
        [ ! -d "$run" ] || any=0
        [ -e "$run/MANIFEST.json" ] || echo "${run%/}"
    done
    return $any
}

record() {
    local name=$1 config=$2 section=${3:-} set=() o run log=$data/$1.log
    shift $(($# < 3 ? $# : 3))
    for o in "platform:name=$name" "$@"; do set+=(--set "$o"); done
    shopt -s nullglob
    if run=$(unfinished "$name"); then
        [ -n "$run" ] || return 0
        set -- resume -q "${run%%$'\n'*}"
    else
        set -- run -q ${section:+-w "$section"} "${set[@]}" -o "$data" "$config"
    fi
    mkdir -p "$data"
    if "$gradsync" lab -q "${set[@]}" "$config" -- "$gradsync" "$@" >"$log" 2>&1; then
        rm -f "$log"
    else
        echo "$name: $(tail -n 1 "$log") ($log)" >&2
        return 1
    fi
}
export -f unfinished record

networks | awk -v word="$word" 'index($1, word)' |
    xargs -P "$jobs" -I NETWORK bash -euo pipefail -c 'record NETWORK'
