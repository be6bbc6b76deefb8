# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The part `peers` of wan.sh: wan_sync beside Open MPI, Gloo and PCCL, each at its best, in one lab
# and one run. For each network and congestion control: every library tries its settings at
# each size, then all take turns ROUNDS times with the best ones.
#   PEERS        of mpi gloo pccl; default: mpi and those whose source is given
#   GLOO_SRC     source of Gloo (github.com/pytorch/gloo); built in PEERS_BUILD
#   PCCL_SRC     source of PCCL (github.com/PrimeIntellect-ai/pccl) with its submodules
#   PEERS_BUILD  default: peers of the build folder
#   NETS         Mbit/s:ms:congestion..., default: 100 at 10 and 30 ms, 500 and 1000 at 10, both
#                congestion controls
#   MTU, ROUNDS (3), ITERATIONS of a round (3); TUNE_UP_TO bytes: larger sizes take the settings
#                that are the best there, which is quicker and less fair
# shellcheck disable=SC2154,SC2034 # $tmp $build $gradsync $sites $missed are those of wan.sh
peer_sizes='65536 1048576 16777216'
tune_up_to=${TUNE_UP_TO:-16777216}
: "${PEERS_BUILD:=$build/peers}" "${ROUNDS:=3}" "${ITERATIONS:=3}"
declare -A peer_try

# What each library tries, as settings of the environment that the programs take.
tuned='OMPI_MCA_coll_tuned_use_dynamic_rules=1,OMPI_MCA_coll_tuned_allreduce_algorithm'
peer_try[mpi]="OMPI_MCA_btl_tcp_links=1 $tuned=3 $tuned=3,OMPI_MCA_btl_tcp_eager_limit=262144 \
$tuned=4 $tuned=4,OMPI_MCA_btl_tcp_links=4 $tuned=5,\
OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize=262144 $tuned=6 \
$tuned=6,OMPI_MCA_btl_tcp_links=4"
peer_try[gloo]='PEER_ALGORITHM=1 PEER_ALGORITHM=2 PEER_ALGORITHM=1,PEER_SEGMENT=256 '\
'PEER_ALGORITHM=1,PEER_PARTS=4 PEER_ALGORITHM=1,PEER_PARTS=8 PEER_ALGORITHM=2,PEER_PARTS=4'
peer_try[pccl]='PEER_PARTS=1 PEER_PARTS=4 PEER_PARTS=8'

build_mpi() { OMPI_CC="${CC:-gcc}" mpicc -O2 -std=c11 -D_GNU_SOURCE -o "$1" "$peers/mpi.c"; }
build_gloo() {
    [ -n "${GLOO_SRC:-}" ] || { echo 'GLOO_SRC names no source' >&2; return 1; }
    cmake -S "$GLOO_SRC" -B "$PEERS_BUILD/gloo-build" -DCMAKE_BUILD_TYPE=Release \
        -DBUILD_TEST=OFF -DBUILD_BENCHMARK=OFF -DUSE_CUDA=OFF -DUSE_REDIS=OFF &&
        cmake --build "$PEERS_BUILD/gloo-build" --target gloo -j2 &&
        "${CXX:-g++}" -O2 -std=c++17 -I"$GLOO_SRC" -I"$PEERS_BUILD/gloo-build" -o "$1" \
            "$peers/gloo.cc" "$PEERS_BUILD/gloo-build/gloo/libgloo.a" -lpthread
}
build_pccl() {
    local archives
    [ -n "${PCCL_SRC:-}" ] || { echo 'PCCL_SRC names no source' >&2; return 1; }
    cmake -S "$PCCL_SRC" -B "$PEERS_BUILD/pccl-build" -DCMAKE_BUILD_TYPE=Release \
        -DPCCL_BUILD_CUDA_SUPPORT=OFF && cmake --build "$PEERS_BUILD/pccl-build" --target pccl -j2 \
        || return 1
    mapfile -t archives < <(find "$PEERS_BUILD/pccl-build/" -name '*.a')
    "${CXX:-g++}" -O2 -std=c++20 -I"$PCCL_SRC/include" -I"$PCCL_SRC/ccoip/public_include" -o "$1" \
        "$peers/pccl.cc" -Wl,--start-group "${archives[@]}" -Wl,--end-group -fopenmp -lpthread
}

# Fills peer_names with what could be built; says why of the others.
build_peers() {
    local p
    peers=tests/bench/peers peer_names=''
    mkdir -p "$PEERS_BUILD"
    for p in ${PEERS:-mpi ${GLOO_SRC:+gloo} ${PCCL_SRC:+pccl}}; do
        if [ -z "${peer_try[$p]:-}" ]; then
            echo "wan.sh: no peer '$p': mpi gloo pccl" >&2
            exit 2
        elif [ -n "$(find "$PEERS_BUILD/$p" -newer "$peers/$p".c* -newer "$peers/peer.h" \
            2>/dev/null)" ]; then
            peer_names+=" $p" # built before
        elif "build_$p" "$PEERS_BUILD/$p" >"$PEERS_BUILD/$p.log" 2>&1; then
            peer_names+=" $p"
        else
            printf '%s: not built: %s; see %s\n' "$p" "$(tail -n 1 "$PEERS_BUILD/$p.log")" \
                "$PEERS_BUILD/$p.log"
            missed=1
        fi
    done
}

# ---- inside the lab

# PEER SETTINGS ITERATIONS BYTES…: "BYTES SECONDS", a line an iteration. A used port rests.
peer_time() {
    local p=$1 settings=${2//,/ } n=$3 folder
    shift 3
    folder=$(mktemp -d "$tmp/meet.XXXXXX")
    port=$((${port:-48200} + 1))
    # shellcheck disable=SC2086 # settings are words
    env $settings PEER_PORT="$port" timeout 120 mpirun --bind-to none -n "$sites" \
        --host north,east,south,west -x PEER_PORT -x PEER_PARTS -x PEER_ALGORITHM \
        -x PEER_SEGMENT "$PEERS_BUILD/$p" "$folder" "$n" "$@" 2>>"$tmp/peers.err" |
        grep -E '^[0-9]+ [0-9.]+$'
}
# PEER: its best settings for each size into the file best, "PEER BYTES SETTINGS"
peer_tune() {
    local s b tried
    for s in ${peer_try[$1]}; do
        # shellcheck disable=SC2086 # sizes are words
        peer_time "$1" "$s" 1 $tune_sizes | sed "s/^/$s /"
    done >"$tmp/tried.$1" || true
    for b in $peer_sizes; do
        tried=$b
        [ "$b" -le "$tune_up_to" ] || tried=$tune_up_to
        awk -v b="$tried" -v as="$1 $b" '$2 == b && (!n || $3 < n) { n = $3; s = $1 }
            END { if (n) print as, s }' "$tmp/tried.$1"
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
peer_turn() {
    local p=$1 b s
    if [ "$p" = ours ]; then
        ours_time
        return
    fi
    for b in $peer_sizes; do
        s=$(awk -v p="$p" -v b="$b" '$1 == p && $2 == b { print $3 }' "$tmp/best")
        [ -z "$s" ] || peer_time "$p" "$s" "$ITERATIONS" "$b" | sed "s/^/$p /" >>"$tmp/times"
    done
}
peers_inside() {
    local p i
    tune_sizes=$(tr ' ' '\n' <<<"$peer_sizes $tune_up_to" | sort -nu |
        awk -v n="$tune_up_to" '$1 <= n')
    for p in $peer_names; do peer_tune "$p"; done
    for ((i = 0; i < ROUNDS; i++)); do
        for p in $(tr ' ' '\n' <<<"ours $peer_names" | sort -R); do peer_turn "$p"; done
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
    for p in $peer_names; do
        m=$(peer_median "$p" "$4")
        printf '  %s %8s' "$p" "${m:--}"
        if [ -n "$m" ] && [ -n "$ours" ] && awk "BEGIN { exit !($m < $ours) }"; then
            note+=" BEHIND $p ($(calc 2 "$ours / $m")x)"
        fi
    done
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
    export -f peer_time peer_tune ours_time peer_turn peers_inside
    export tmp gradsync sites PEERS_BUILD ROUNDS ITERATIONS peer_names peer_sizes tune_up_to
    declare -p peer_try >"$tmp/try"
    if ! "$gradsync" lab -q "$tmp/peers.ini" -- bash -c ". $tmp/try; peers_inside" \
        2>"$tmp/err"; then
        printf '%4s Mbit/s %3s ms %-5s: not measured: %s\n' "$1" "$2" "$3" \
            "$(tail -n 1 "$tmp/err")"
        missed=1
        return
    fi
    for b in $peer_sizes; do peer_line "$1" "$2" "$3" "$b"; done
    sed "s/${tuned//,/\\,}=/algorithm=/; s/OMPI_MCA_//g; s/PEER_//g; s/^/    best: /" "$tmp/best"
    jq -r '"    \(100 * .late / .delivered * 10 | round / 10)% of the packets were over 1 ms late"' \
        "$tmp/stats"
}
peers_all() {
    local net
    mtu=${MTU:-$mtu}
    build_peers
    echo "$(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg); MTU $mtu; milliseconds, medians of" \
        "$((ROUNDS * ITERATIONS)); peers with their best settings"
    for net in ${NETS:-100:10:cubic 100:10:bbr 100:30:cubic 100:30:bbr 500:10:cubic 500:10:bbr \
        1000:10:cubic 1000:10:bbr}; do
        IFS=: read -r rate rtt congestion <<<"$net"
        peer_network "$rate" "$rtt" "$congestion"
    done
}
