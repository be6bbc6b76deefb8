#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How often `gradsync suspects` names a rank that gets 2 to 10% less of its processor, and how often a
# rank of a machine without a fault. Two ranks on this machine; a cgroup (cpu.max, or version 1's quota)
# slows one of them, in periods of 10 ms. Run it as root on an idle machine:
#   bash tests/bench/suspects.sh TRIALS [ARGUMENT of gradsync suspects…] >>trials.csv
#   bash tests/bench/suspects.sh table <trials.csv
# A trial is one run for each slowdown of $SLOW (default: 0 2 5 10, in percent). $GRADSYNC is the program.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
gradsync=${GRADSYNC:-$top/build/gradsync}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

table() {
    awk -F, '{ n[$1]++; as[$1, $4]++ }
        END { for (s in n) printf "%s%% slower: right %d, right and others %d, wrong %d, none %d, failed %d, of %d\n",
            s, as[s, "right"], as[s, "both"], as[s, "wrong"], as[s, "none"], as[s, "failed"], n[s] }' |
        sort -n
}
[ "${1:-}" = table ] && table && exit
trials=${1:?number of trials} && shift

group=/sys/fs/cgroup/cpu/gradsync-bench.$$
[ -d /sys/fs/cgroup/cpu ] || group=/sys/fs/cgroup/gradsync-bench.$$
mkdir "$group" || exit 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"; rmdir "$group"' EXIT

limit() { # PERCENT of time that is taken away
    local period=10000 quota=$((100 * (100 - $1)))
    if [ -e "$group/cpu.max" ]; then
        echo "$quota $period" >"$group/cpu.max"
    else
        echo -1 >"$group/cpu.cfs_quota_us"
        echo "$period" >"$group/cpu.cfs_period_us"
        [ "$1" = 0 ] || echo "$quota" >"$group/cpu.cfs_quota_us"
    fi
}

cat >"$tmp/slow" <<'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != "$SLOW_RANK" ] || echo $$ >"$SLOW_GROUP/cgroup.procs"
exec "$@"
END
chmod +x "$tmp/slow"

trial() { # SLOWDOWN RANK ARGUMENT…: a line slowdown,rank,exit code,who was named,what could have been seen
    local slow=$1 rank=$2 said rc named who=none
    shift 2
    limit "$slow"
    said=$(SLOW_RANK=$rank SLOW_GROUP=$group "$gradsync" suspects -q -o "$tmp/data" --ranks 2 \
        -s pairs:backend=host -s launch:prefix="$tmp/slow" "$@")
    rc=$?
    named=$(sed -n 's/^suspect: rank \([0-9]*\) .*/\1/p' <<<"$said" | sort -u | paste -sd' ')
    [ "$rc" = 0 ] || who=failed
    [ "$named" = "" ] || who=wrong
    [[ $slow = 0 || $named != *"$rank"* ]] || who=both
    [[ $slow = 0 || $named != "$rank" ]] || who=right
    echo "$slow,$rank,$rc,$who,\"$(head -n 1 <<<"$said" | tr -d '"')\""
}

for ((i = 0; i < trials; i++)); do
    # shellcheck disable=SC2086
    for slow in ${SLOW:-0 2 5 10}; do trial $slow $((i % 2)) "$@"; done
done
