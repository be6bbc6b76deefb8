#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What a rank of wan_sync holds beside its buffer, by every strategy between six ranks of this host.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
! under_asan || skip_all 'ASan keeps what is freed'
mib=96
blocks=1 config m.ini 6 'discard = 0' 'deadline = 300s' 'retries = 0' '[wan_sync]' 'probe = 10ms'
# KiB of the rank that ever held most.
peak_now() {
    local p
    for p in $(marked); do
        [ "$(cat "/proc/$p/comm" 2>/dev/null)" = gradsync-rank ] &&
            sed -n 's/^VmHWM:[ \t]*\([0-9]*\).*/\1/p' "/proc/$p/status" 2>/dev/null
    done | sort -g | tail -n 1
}
ended() {
    local now
    now=$(peak_now)
    if [ "${now:-0}" -gt "$peak" ]; then peak=$now; fi
    ! kill -0 "$runner" 2>/dev/null
}
peak_of() { # STRATEGY BYTES [SET]: $peak in MiB
    peak=0
    rm -rf data
    timeout 300 "$gradsync" run -q -o data m.ini --set "wan_sync:strategy=$1" \
        --set "wan_sync:size=$2" ${3:+--set "$3"} 2>err &
    runner=$!
    until_true 300 ended
    wait "$runner"
    rc=$? peak=$((peak / 1024))
}
peak_of ring 4096 wan_sync:compute=5s # long enough to be seen
nearly_none=$peak
ok 'a rank with a buffer that is nearly none is seen' test $nearly_none -gt 5
for strategy in ring direct oneshot hierarchical; do
    ranks=1
    if [ $strategy = hierarchical ]; then ranks=2; fi
    peak_of $strategy $((mib * 1048576)) wan_sync:site_ranks=$ranks
    is "$rc" 0 "$strategy: six ranks sum $mib MiB"
    beside=$((peak - nearly_none - mib))
    ok "$strategy: a rank holds at most 64 MiB beside its buffer" test $beside -le 64
    diag "$strategy: $beside MiB"
done
no_orphans 'no process is left running'
done_testing
