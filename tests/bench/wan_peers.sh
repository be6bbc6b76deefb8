# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The part `peers` of wan.sh: wan_sync beside Open MPI at its best, in one lab and one run. For each
# network and congestion control: Open MPI tries its settings at each size, then both take turns
# ROUNDS times with the best ones.
#   NETS         Mbit/s:ms:congestion..., default: 100 at 10 and 30 ms, 500 and 1000 at 10, both
#                congestion controls
#   MTU, ROUNDS (3), ITERATIONS of a round (3); TUNE_UP_TO bytes: larger sizes take the settings
#                that are the best there, which is quicker and less fair
# shellcheck disable=SC2154,SC2034 # $tmp $build $gradsync $sites $missed are those of wan.sh
peer_sizes='65536 1048576 16777216'
tune_up_to=${TUNE_UP_TO:-16777216}
: "${ROUNDS:=3}" "${ITERATIONS:=3}"

# What Open MPI tries, as settings of the environment.
tuned='OMPI_MCA_coll_tuned_use_dynamic_rules=1,OMPI_MCA_coll_tuned_allreduce_algorithm'
peer_try="OMPI_MCA_btl_tcp_links=1 $tuned=3 $tuned=3,OMPI_MCA_btl_tcp_eager_limit=262144 \
$tuned=4 $tuned=4,OMPI_MCA_btl_tcp_links=4 $tuned=5,\
OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize=262144 $tuned=6 \
$tuned=6,OMPI_MCA_btl_tcp_links=4"

# ---- inside the lab

# SETTINGS ITERATIONS BYTES…: "BYTES SECONDS", a line an iteration.
peer_time() {
    local settings=${1//,/ }
    shift
    # shellcheck disable=SC2086 # settings are words
    env $settings timeout 120 mpirun --bind-to none -n "$sites" --host north,east,south,west \
        "$tmp/mpi" "$@" 2>>"$tmp/peers.err" | grep -E '^[0-9]+ [0-9.]+$'
}
# The best settings for each size into the file best, "mpi BYTES SETTINGS"
peer_tune() {
    local s b tried
    for s in $peer_try; do
        # shellcheck disable=SC2086 # sizes are words
        peer_time "$s" 1 $tune_sizes | sed "s/^/$s /"
    done >"$tmp/tried" || true
    for b in $peer_sizes; do
        tried=$b
        [ "$b" -le "$tune_up_to" ] || tried=$tune_up_to
        awk -v b="$tried" -v as="mpi $b" '$2 == b && (!n || $3 < n) { n = $3; s = $1 }
            END { if (n) print as, s }' "$tmp/tried"
    done >>"$tmp/best"
}
# "NAME BYTES SECONDS" into the file times
ours_time() {
    rm -rf "$tmp/ours"
    "$gradsync" run -q -o "$tmp/ours" "$tmp/peers.ini" >/dev/null 2>>"$tmp/peers.err" || return 0
    jq -r 'select(.type == "cell" or .type == "block") | if .type == "cell"
        then "cell \(.cell).\(.copy) \(.config) \(.size_B)"
        else "\(.cell).\(.copy) \(.time_ns[0] * 1e-9)" end' "$tmp"/ours/*/*/*/launch-*.jsonl |
        awk '$1 == "cell" { name[$2] = $3 " " $4; next } { print name[$1], $2 }' >>"$tmp/times"
}
mpi_time() {
    local b s
    for b in $peer_sizes; do
        s=$(awk -v b="$b" '$2 == b { print $3 }' "$tmp/best")
        [ -z "$s" ] || peer_time "$s" "$ITERATIONS" "$b" | sed "s/^/mpi /" >>"$tmp/times"
    done
}
peers_inside() {
    local p i
    tune_sizes=$(tr ' ' '\n' <<<"$peer_sizes $tune_up_to" | sort -nu |
        awk -v n="$tune_up_to" '$1 <= n')
    peer_tune
    for ((i = 0; i < ROUNDS; i++)); do
        for p in $(printf '%s\n' ours mpi | sort -R); do "${p}_time"; done
    done
    "$gradsync" lab set stats >"$tmp/stats"
}

# ---- what is printed

peer_median() { # NAME BYTES: milliseconds
    awk -v n="$1" -v b="$2" '$1 == n && $2 == b { print $3 }' "$tmp/times" | sort -g |
        awk '{ x[NR] = $1 } END { if (NR) printf "%.1f", \
            500 * (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) }'
}
# MBIT RTT_MS BYTES: milliseconds; parts to their owners and the sums back, each sum leaving as soon as
# it can, or everything to everybody in one delay
peer_bound() {
    awk -v m="$1" -v r="$2" -v b="$3" -v s="$sites" -v mtu="$mtu" 'BEGIN {
        B = m * 125 * (mtu - 52) / (mtu + 26)
        way = (s - 1) / s * b / B
        two = way + r / 2 + (way > r / 2 ? way : r / 2)
        all = (s - 1) * b / B + r / 2
        printf "%.1f", all < two ? all : two }'
}
peer_line() { # MBIT RTT CONGESTION BYTES
    local p m best='' ours='' bound note='' percent
    bound=$(peer_bound "$1" "$2" "$4")
    for p in ring direct oneshot; do
        m=$(peer_median "$p" "$4")
        if [ -n "$m" ] && { [ -z "$ours" ] || awk "BEGIN { exit !($m < $ours) }"; }; then
            ours=$m best=$p
        fi
    done
    printf '%4s Mbit/s %3s ms %-5s %6s KiB  bound %8s  ours %8s (%s)' "$1" "$2" "$3" $(($4 / 1024)) \
        "$bound" "${ours:--}" "${best:-none}"
    m=$(peer_median mpi "$4")
    printf '  mpi %8s' "${m:--}"
    if [ -n "$m" ] && [ -n "$ours" ] && awk "BEGIN { exit !($m < $ours) }"; then
        note+=" BEHIND mpi ($(calc 2 "$ours / $m")x)"
    fi
    if [ -n "$ours" ]; then
        percent=$(calc 1 "100 * $bound / $ours")
        printf '  %5s%% of the bound' "$percent"
        if [ "$4" -ge 16777216 ] && awk "BEGIN { exit !($percent < 95) }"; then
            note+=' MISSED 95%'
        fi
        if [ "$4" -le 65536 ] && awk "BEGIN { exit !($ours > 1.2 * $bound) }"; then
            note+=' MISSED 1.2x'
        fi
    fi
    [ -z "$note" ] || missed=1
    printf '%s\n' "${note:- ok}"
}
peer_network() { # MBIT RTT CONGESTION
    local b
    rm -f "$tmp/best" "$tmp/times" "$tmp/stats"
    : >"$tmp/times"
    {
        blocks=$ITERATIONS config /dev/stdout "$1" "$2" 'size = 64KiB, 1MiB' \
            'configs = ring, direct, oneshot' '[wan_sync large]' 'size = 16MiB' \
            'configs = ring'
    } | sed "s/^\[links\]/&\ncongestion = $3/" >"$tmp/peers.ini"
    export -f peer_time peer_tune ours_time mpi_time peers_inside
    export tmp gradsync sites ROUNDS ITERATIONS peer_sizes peer_try tune_up_to
    if ! "$gradsync" lab -q "$tmp/peers.ini" -- bash -c peers_inside 2>"$tmp/err"; then
        printf '%4s Mbit/s %3s ms %-5s: not measured: %s\n' "$1" "$2" "$3" \
            "$(tail -n 1 "$tmp/err")"
        missed=1
        return
    fi
    for b in $peer_sizes; do peer_line "$1" "$2" "$3" "$b"; done
    sed "s/${tuned//,/\\,}=/algorithm=/; s/OMPI_MCA_//g; s/^/    best: /" "$tmp/best"
    jq -r '"    \(100 * .late / .delivered * 10 | round / 10)% of the packets were over 1 ms late"' \
        "$tmp/stats"
}
peers_all() {
    local net
    mtu=${MTU:-$mtu}
    OMPI_CC="${CC:-gcc}" mpicc -O2 -std=c11 -D_GNU_SOURCE -o "$tmp/mpi" tests/bench/mpi_time.c
    echo "$(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg); MTU $mtu; milliseconds, medians of" \
        "$((ROUNDS * ITERATIONS)); Open MPI with its best settings"
    for net in ${NETS:-100:10:cubic 100:10:bbr 100:30:cubic 100:30:bbr 500:10:cubic 500:10:bbr \
        1000:10:cubic 1000:10:bbr}; do
        IFS=: read -r rate rtt congestion <<<"$net"
        peer_network "$rate" "$rtt" "$congestion"
    done
}
