#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   wan-needed.sh GRADSYNC [1e10]   the rate that a share of compute needs, by `gradsync model` and as
#                                   published, for 1e9 (or 1e10) parameters
#
# Published: Douillard et al. 2025 (Streaming DiLoCo), Table 4, two sites, on a grid of rates whose
# neighbours differ by a factor of 1.21. Prints CSV; rates in bit/s.
set -euo pipefail
gradsync=$1
config=$(mktemp --suffix=.ini)
csv=$(mktemp)
trap 'rm -f "$config" "$csv"' EXIT
cat >"$config" <<'END'
[platform]
name = needed
[sites]
a = gpus=1
b = gpus=1
[links]
rate = 1Gbit/s
rtt = 1us
[model]
tokens = 1
strategy = ring
END

# model TARGETS SETTING…: lines of "share rate" for a few targets
model() {
    local targets=$1 set=()
    shift
    for s; do set+=(--set "model:$s"); done
    "$gradsync" model -q "$config" --set "model:targets=$targets" "${set[@]}" --csv "$csv"
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["sweep"] == "target" { printf "%.2f,%.6g\n", $at["efficiency"], 8 * $at["rate_Bps"] }' "$csv"
}

# row NAME EVERY FRAGMENTS OVERLAP BITS PUBLISHED…: published in Gbit/s for 50, 80, 90, 95, 99%
row() {
    local name=$1 set=("parameters=$parameters" "compute=$compute" "every=$2" "fragments=$3" "overlap=$4" "bits=$5") at i
    shift 5
    for i in 30 40 50 60 70 80 90; do
        model "$(seq -s, -f '%g%%' "$i" $((i + 9)))" "${set[@]}" | sed "s/^/$name,model,/"
    done
    for at in 50 80 90 95 99; do
        [ $# = 0 ] || { echo "$name,published,0.$at,${1}e9" && shift; }
    done
}

echo schedule,kind,utilisation,rate_bps
if [ "${2:-1e9}" = 1e9 ]; then
    parameters=1e9 compute=0.1s
    row 'every step' 1 1 0 16 86.8 152.6 184.2 222.3
    row 'every 100 steps' 100 1 0 16 1.4 6.2 13.3 23.3 86.8
    row 'in 8 fragments' 100 8 0 16 1.4 5.2 9.1 16 28.1
    row 'and overlap' 100 8 1 16 1.4 4.3 6.2 9.1 11
    row 'and 4 bits' 100 8 1 4 0.4 0.9 1.7 2 3
else
    parameters=1e10 compute=0.8s
    row 'every 100 steps' 100 1 0 16 1.7 7.5 16 33.9 104.8
    row 'in 16 fragments and overlap' 100 16 1 16 1.7 3.6 5.2 6.2 7.5
    row 'and 4 bits' 100 16 1 4 0.4 0.9 1.4 1.4 1.7
fi
