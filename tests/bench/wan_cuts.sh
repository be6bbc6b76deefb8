#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Cuts a site off, or the link between two, at a random moment of a run between four sites in a
# lab: does the run name it, and how long after the cut does it end? One row for each strategy
# and each kind of cut; the cuts go round the sites and the pairs. Exits 1 when a cut was
# misnamed or a run ended later than the time-out and two seconds.
#   TRIALS=20 FIRST=0 CONFIGS="mpi ring …" CUTS="site pair" JOBS=2 VERBOSE=1 wan_cuts.sh
. "$(dirname "$0")/lib.sh"
trials=${TRIALS:-20} timeout=3
strategies=(ring direct oneshot hierarchical)
configs=${CONFIGS:-mpi ${strategies[*]}}
export gradsync timeout

cat >"$tmp/lab.ini" <<END
[platform]
name = bench
[sites]
north = gpus=1
east = gpus=1
south = gpus=1
west = gpus=1
[links]
rate = 40Mbit/s
rtt = 20ms
mtu = 9000
[launch]
ranks = 4
nodes = 4
hosts = north, east, south, west
bind = none
[measure]
launches = 1
blocks = 100
max_blocks = 100
budget = 1h
samples = 1
discard = 0
warmup = 0
warmup_ops = 1
deadline = 300s
[wan_sync]
size = 4MiB
timeout = ${timeout}s
probe = 200ms
END

cat >"$tmp/inside" <<'END'
sites=(north east south west)
pairs=('east north' 'north south' 'north west' 'east south' 'east west' 'south west')
sent() {
    gradsync lab enter south -- awk '/wan0:/ { print $10 }' /proc/net/dev
}
# TRIAL: "yes|no SECONDS CUT: what the run said"
trial() {
    local strategy=$config what begin runner named=no t0 t1
    case $cut in
    site) what=${sites[$1 % 4]} ;;
    pair) what=${pairs[$1 % 6]} ;;
    esac
    begin=$(sent)
    "$gradsync" run -q -o "$1" lab.ini --set wan_sync:strategy="$strategy" 2>"$1.err" &
    runner=$!
    while kill -0 $runner 2>/dev/null && [ "$(sent)" -lt $((begin + 2000000)) ]; do sleep 0.1; done
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    gradsync lab set "down ${what/ /-}" >/dev/null || kill $runner
    t0=$EPOCHREALTIME
    wait $runner
    t1=$EPOCHREALTIME
    gradsync lab set reset >/dev/null
    case $cut in
    site)
        grep -q ': no answer between' "$1.err" &&
            ! grep -o 'no answer between [a-z]* and [a-z]*' "$1.err" | grep -qvw "$what" && named=yes
        ;;
    pair) grep -q ": no answer between ${what/ / and }$" "$1.err" && named=yes ;;
    esac
    echo "$named $(awk "BEGIN { print $t1 - $t0 }") $what: $(grep -v 'incomplete;' "$1.err" |
        tr '\n' '|')" # one line
}
for ((t = first; t < first + trials; t++)); do trial $t; done
END

cell() { # CONFIG CUT: its trials
    mkdir -p "$tmp/$1.$2"
    cp "$tmp/lab.ini" "$tmp/$1.$2"
    export config=$1 cut=$2 trials first=${FIRST:-0}
    cd "$tmp/$1.$2"
    "$gradsync" lab -q lab.ini -- bash "$tmp/inside" >trials 2>err
}
report() { # "CONFIG CUT"
    local in=$tmp/${1/ /.}
    sed 's/^/# /' "$in/err"
    { if [ "${VERBOSE:-}" ]; then cat; else grep '^no' || true; fi; } <"$in/trials" | sed 's/^/# /'
    row "${1% *}: a ${1#* } is cut: runs that name it" "$(grep -c '^yes' "$in/trials" || true)" '==' \
        "$trials" runs
    row '  worst time to the end' "$(awk '$2 > x { x = $2 } END { printf "%.1f", x }' \
        "$in/trials")" '<=' $((timeout + 2)) s
}

begun=()
for config in $configs; do
    for cut in ${CUTS:-site pair}; do
        if [ "${#begun[@]}" -ge "${JOBS:-2}" ]; then
            wait "${begun[0]%% *}" || true
            report "${begun[0]#* }"
            begun=("${begun[@]:1}")
        fi
        cell "$config" "$cut" &
        begun+=("$! $config $cut")
    done
done
for one in "${begun[@]}"; do
    wait "${one%% *}" || true
    report "${one#* }"
done
exit $missed
