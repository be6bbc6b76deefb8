#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   wan-lab.sh GRADSYNC DATA JOBS [WORD]
#
# Records wan_sync in the lab: on every network of the list below whose name and a blank hold WORD, JOBS
# at a time. Each is a platform of its own; one that has a finished recording in DATA is left alone, an
# unfinished one is completed. A lab needs a processor for itself and one for each rank.
set -euo pipefail
cd "${0%/*}/.."
export gradsync=$1 data=$2
jobs=$3 word=${4:-}

# NAME CONFIG [SECTION OVERRIDES], the longest first. Left out is what would take half a minute a time:
# 256 MiB at 100 Mbit/s; of MPI's own algorithm, one stream of which does a few Mbit/s under loss, 16 MiB
# there. Of 256 MiB a ring is the baseline, of which two copies are measured.
networks() {
    local rate rtt name lossless
    for rtt in 50 30 10; do
        echo "wan-lab-1000-$rtt-large configs/wan-lab.ini wan_sync links:rtt=${rtt}ms wan_sync:size=256MiB" \
            "wan_sync:configs=ring,direct,strategy=mpi measure:baseline=ring"
    done
    echo wan-lab-every configs/wan-lab-every.ini
    echo wan-lab-unequal configs/wan-lab-unequal.ini
    echo wan-lab-unequal-100 configs/wan-lab-unequal.ini wan_sync links:rate=100Mbit/s links:mtu=1500 \
        "sites:west=gpus=1+up=25Mbit/s+down=25Mbit/s" "wan_sync:size=1MiB,4MiB"
    echo wan-lab-pairs configs/wan-lab.ini wan_sync launch:ranks=8 sites:{north,east,south,west}=gpus=2 \
        "wan_sync:size=64KiB,16MiB wan_sync:configs=strategy=mpi,ring,hierarchical"
    for rate in 100 1000; do
        for rtt in 50 30 10; do
            name=wan-lab-$rate-$rtt
            lossless=64KiB,1MiB,16MiB
            [ $rate = 100 ] || lossless+=,64MiB
            echo "$name configs/wan-lab.ini wan_sync links:rate=${rate}Mbit/s links:rtt=${rtt}ms wan_sync:size=$lossless"
            echo "$name-loss configs/wan-lab.ini wan_sync links:rate=${rate}Mbit/s links:rtt=${rtt}ms links:loss=0.1%" \
                "wan_sync:size=64KiB,1MiB,16MiB wan_sync:exclude=size=16MiB+strategy=mpi"
        done
    done
}

unfinished() { # of the runs of platform $1; fails when it has none at all
    local run any=1
    for run in "$data/$1"/*/*/; do
        [ ! -d "$run" ] || any=0
        [ -e "$run/MANIFEST.json" ] || echo "${run%/}"
    done
    return $any
}

# Begins the run or goes on with it. OVERRIDES are config, section and the rest of a network's line.
attempt() { # NAME LOG OVERRIDES
    local name=$1 log=$2 config=$3 section=${4:-} set=() o run
    shift $(($# < 4 ? $# : 4))
    for o in "platform:name=$name" "$@"; do set+=(--set "${o//+/ }"); done # + is a blank
    if run=$(unfinished "$name"); then
        set -- resume -q "${run%%$'\n'*}"
    else
        set -- run -q ${section:+-w "$section"} "${set[@]}" -o "$data" "$config"
    fi
    "$gradsync" lab -q "${set[@]}" "$config" -- "$gradsync" "$@" >"$log" 2>&1
}

record() { # NAME OVERRIDES
    local name=$1 log=$data/$1.log run
    shift
    shopt -s nullglob
    mkdir -p "$data"
    if run=$(unfinished "$name") && [ -z "$run" ]; then return; fi
    if attempt "$name" "$log" "$@"; then
        rm -f "$log"
    else
        echo "$name: $(tail -n 1 "$log") ($log)" >&2
        return 1
    fi
}
export -f unfinished attempt record

networks | awk -v word="$word" 'index($1 " ", word)' |
    xargs -P "$jobs" -I NETWORK bash -euo pipefail -c 'record NETWORK'
