#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# wan_sync between four sites in a lab, beside Open MPI's all-reduce in the same run, each figure
# next to what it is held to. Exits 1 when one is missed. The sites, their ranks and the relay share
# this machine: one that is busy, or has few cores, measures itself.
#   wan.sh [PART…]   see parts= at the end; all of them without one; peers, beside another library, by this name alone
# MBIT is the rate of all but bulk and latency, 1000; their sizes go with it.
# shellcheck disable=SC2317 # parts are called by name
. "$(dirname "$0")/lib.sh"
sites=4 mtu=9000 mbit=${MBIT:-1000}

config() { # FILE MBIT RTT_MS LINE…: sites of that rate; lines of [wan_sync]
    local file=$1 mbit=$2 rtt=$3 slow='' names=(north east south west)
    shift 3
    [ "${slow_mbit:-}" ] && slow=" up=${slow_mbit}Mbit/s down=${slow_mbit}Mbit/s"
    {
        printf '[platform]\nname = bench\n[sites]\n'
        printf '%s = gpus=1\n' "${names[@]}" | sed "s,^south.*,&$slow,"
        printf '[links]\nrate = %sMbit/s\nrtt = %sms\nloss = %s\nmtu = %s\n' "$mbit" "$rtt" \
            "${loss:-0}" "$mtu"
        printf '[launch]\nranks = %s\nnodes = %s\nhosts = %s\nbind = none\n' "$sites" "$sites" \
            "$(IFS=, && echo "${names[*]}")"
        printf '[measure]\nlaunches = 1\nblocks = %s\nmax_blocks = %s\nsamples = 1\ndiscard = 0\n' \
            "${blocks:-7}" "${blocks:-7}"
        printf 'warmup = 1ms\nwarmup_ops = 1\nbudget = 1ms\ndeadline = 120s\n[wan_sync]\n'
        printf '%s\n' "$@"
    } >"$file"
}

# In a lab of its own: once as it is, then, with `both`, MPI_Allreduce alone with Open MPI's ring.
# False where it cannot be measured: this machine is too busy or too small for such a lab. Fills
# samples: "CONFIG MODE TIME SYNC_TIME EXPOSED", a line a sample; Open MPI's ring is mpi_ring.
measure() { # CONFIG [both]
    rm -rf "$tmp/data" "$tmp/ring"
    cat >"$tmp/inside" <<INSIDE
set -e
${before:-}
$gradsync run -q -o $tmp/data $1 >&2
[ '${2:-}' = both ] || exit 0
export OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=4
$gradsync run -q -o $tmp/ring $1 --set wan_sync:configs=strategy=mpi >&2
INSIDE
    if ! "$gradsync" lab -q "$1" -- bash "$tmp/inside" 2>"$tmp/err"; then
        printf '%s: not measured: %s\n' \
            "$(sed -n 's/^rate = //p' "$1"), $(sed -n 's/^rtt = //p' "$1")" \
            "$(tail -n 1 "$tmp/err")"
        missed=1
        return 1
    fi
    samples=$(for d in data ring; do
        [ -d "$tmp/$d" ] || continue
        values "$tmp/$d" | sed \
            "s/^strategy=mpi /$(if [ "$d" = ring ]; then echo mpi_ring; else echo mpi; fi) /"
    done)
}
# RUNS: "CONFIG TIME SYNC_TIME EXPOSED", a line a block of a sample
values() {
    local cells
    cells=$(grep -h '"type":"cell"' "$1"/bench/wan_sync/*/launch-*.jsonl |
        sed -E 's/.*"cell":"([^"]*)".*"copy":([0-9]+).*"config":"([^"]*)".*/\1.\2 \3/')
    grep -h '"type":"block"' "$1"/bench/wan_sync/*/launch-*.jsonl |
        sed -E 's/.*"cell":"([^"]*)","copy":([0-9]+).*"sync_time":([^,]*),"exposed":([^,]*),'\
'.*"time_ns":\[([0-9]+)\].*/\1.\2 \5 \3 \4/' |
        awk -v cells="$cells" '
            BEGIN { n = split(cells, line, "\n"); for (i = 1; i <= n; i++) { split(line[i], f, " '\
'"); name[f[1]] = f[2] } }
            { print name[$1], $2 * 1e-9, $3, $4 }'
}
# CONFIG COLUMN: sorted values;  median, highest
column() { awk -v c="$1" -v k="$2" '$1 == c { print $k }' <<<"$samples" | sort -g; }
median() { column "$@" | awk \
    '{ x[NR] = $1 } END { print NR ? (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 : "nan" }'; }
highest() { column "$@" | tail -n 1; }

# MBIT RTT_MS BYTES: seconds of a ring pipelined by bytes at the link's goodput, wan.h's bound
physical() {
    calc 6 "2 * ($sites - 1) / $sites * $3 / ($1 * 125000 * ($mtu - 52) / ($mtu + 26)) + $2 / 2000"
}

if [ "${1:-}" = peers ]; then # beside another library; by this name alone
    . tests/bench/wan_peers.sh && peers_all
    exit $missed
fi

bulk() {
    local rate rtt mib share beside bound ours theirs
    for line in '100 10 4 93 0' '100 50 20 93 0' '1000 10 40 95 1.25' '1000 50 192 95 2'; do
        read -r rate rtt mib share beside <<<"$line"
        config "$tmp/bulk.ini" "$rate" "$rtt" "size = ${mib}MiB" 'configs = ring, strategy=mpi'
        measure "$tmp/bulk.ini" both || continue
        bound=$(physical "$rate" "$rtt" $((mib * 1048576)))
        ours=$(median ring 2) theirs=$(printf '%s\n' "$(median mpi 2)" "$(median mpi_ring 2)" |
            sort -g | head -n 1)
        row "$rate Mbit/s, $rtt ms, $mib MiB: ring, % of the bound, median" \
            "$(calc 1 "100 * $bound / $ours")" '>=' "$share" '%'
        row '  worst' "$(calc 1 "100 * $bound / $(highest ring 2)")" '>=' 85 '%'
        printf '%-62s %10s %%\n' '  Open MPI, its own choice' \
            "$(calc 1 "100 * $bound / $(median mpi 2)")" \
            '  Open MPI, its ring' "$(calc 1 "100 * $bound / $(median mpi_ring 2)")"
        [ "$beside" = 0 ] || row '  times the better of both' "$(calc 2 "$theirs / $ours")" '>=' \
            "$beside" 'x'
    done
}

# MIB at 1000 Mbit/s: as many bytes at this rate
scaled() { calc 0 "$1 * 1048576 * $mbit / 1000 / 4 - 0.5" | awk '{ print 4 * $1 }'; }

latency() {
    local c best='' t
    config "$tmp/latency.ini" 1000 30 'size = 64KiB' \
        'configs = ring, direct, oneshot, strategy=mpi'
    measure "$tmp/latency.ini" || return 0
    for c in ring direct oneshot mpi; do
        t=$(median "$c" 2)
        printf '%-62s %10s ms\n' "1000 Mbit/s, 30 ms, 64 KiB: $c" "$(calc 2 "1000 * $t")"
        if [ "$c" != mpi ] && { [ -z "$best" ] || awk "BEGIN { exit !($t < $best) }"; }; then \
            best=$t; fi
    done
    row '  the best, over log2 S one-way delays' "$(calc 2 "$best / (2 * 0.015)")" '<=' 1.2 'x'
}

# A stream that loses one packet in a thousand has some forty on its way: eight do not fill this
# line. Eight bandwidth-delay products a site and more, as in bulk.
loss() {
    local bound
    loss=0.1% config "$tmp/loss.ini" "$mbit" 30 "size = $(scaled 128)" 'configs = ring, streams=24'
    measure "$tmp/loss.ini" || return 0
    bound=$(physical "$mbit" 30 "$(scaled 128)")
    printf '%-62s %10s %%\n' "$mbit Mbit/s, 30 ms, 0.1% loss: ring, 8 streams, % of the bound" \
        "$(calc 1 "100 * $bound / $(median ring 2)")"
    row '  24 streams' "$(calc 1 "100 * $bound / $(median streams=24 2)")" '>=' 85 '%'
}

# A site at a quarter of the others. The linear program gives it no share: it sends the buffer once.
unequal() {
    local bound
    slow_mbit=$((mbit / 4)) blocks=3 config "$tmp/unequal.ini" "$mbit" 30 "size = $(scaled 128)" \
        'configs = ring, direct'
    measure "$tmp/unequal.ini" || return 0
    bound=$(calc 6 "$(scaled 128) / ($mbit / 4 * 125000 * ($mtu - 52) / ($mtu + 26)) + 0.030")
    row "$mbit Mbit/s, 30 ms, one site a quarter: direct, % of the bound" \
        "$(calc 1 "100 * $bound / $(median direct 2)")" '>=' 90 '%'
    row '  times the ring of equal shares' "$(calc 2 "$(median ring 2) / $(median direct 2)")" \
        '>=' 1.3 'x'
}

echo "on $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); load $(cut \
    -d' ' -f1 /proc/loadavg)"
parts='bulk latency loss unequal'
for part in "${@:-$parts}"; do
    for p in $part; do
        [[ " $parts " == *" $p "* ]] || {
            echo "wan.sh: no part '$p': $parts" >&2
            exit 2
        }
        "$p"
    done
done
exit $missed
