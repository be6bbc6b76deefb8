#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes minutes
#
# gradsync tune, a job inside which settings are compared: a pretended NCCL (tests/engine).
. "$(dirname "$0")/lib.sh"
job=$build/engine/pretended/job
[ -x "$job" ] || skip_all 'tests/engine is not built here'

tune() { "$gradsync" tune -o raw --seed 3 "$@"; }
export LD_LIBRARY_PATH=$build/engine/pretended PRETEND_NS_PER_KIB=40000
printf 'any: NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4\nany: NCCL_PRETEND=wrong\nany: NCCL_BUFFSIZE=1\n' >mine
exits 0 'tune answers for a job with NCCL' tune -m 3 -l 4 --arms mine -- "$job" 2 1000000 ms=4 calls=4 kib=1024
# On a busy machine the launches of a proof may differ too much to prove it.
fast='NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4' proven='steps [0-9.]+% shorter .* proven in [234] launches .* gets back [0-9]+% \[[0-9]+, [0-9]+\] of what'
like "$(sed -n 2p <<<"$out")" "^(Set $fast: $proven|No setting of 2 was shown .*; in [234] launches of its proof the steps of $fast were [0-9.]+% shorter)" \
    'the setting that is faster in a copy goes to the proof'
like "$err" 'tune: NCCL_PRETEND=wrong: cannot be compared in the job: rank [0-9]: .*wrong' \
    'a copy with wrong sums is named and left out'
echo 'any: NCCL_PRETEND=wrong' >wrong
prints '^No setting was tried: none can be compared in this job, as said above\.$' tune -m 2 -l 2 --no-price --arms wrong -- "$job" 2 1000000 ms=4 calls=4 kib=1024
run env NCCL_P2P_DISABLE=1 "$gradsync" tune -o raw -m 2 -l 3 --seed 3 --only P2P_DISABLE -- "$job" 2 1000000 ms=4 calls=4 kib=1024
like "$out" '(Run |the steps of )without NCCL_P2P_DISABLE(: steps| were [0-9.]+% shorter)' 'a variable that makes the job slow is found, too'

printf 'any: NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4\n' >one
run tune -m 3 -l 2 --arms one -- "$job" 2 80 ms=4 calls=4 kib=1024
like "$err" 'left: first launch, again: launch 2' 'a job that ends before its settings are decided is started again'
like "$out" '(Set NCCL_SOCKET|No setting of 1 was shown .*; in . launch(es)? of its proof|looked shorter|^Not proven)' 'and the best goes to the proof'

run tune -m 1.2 --no-price --arms one -- bash -c 'sleep 30; exec "$@"' - "$job" 2 1000000 ms=4 calls=4 kib=1024
like "$out" "^Not proven: $fast: steps [0-9.]+% shorter \[.*\] where settings were compared, but there was no time for a proof" \
    'a clear gain comes first, also if there is no time for its proof'
like "$err" 'no time for a proof, which takes about .*: use --minutes [0-9]+' 'with the minutes that it needs'
is "$(find raw -name '*-proof-*' -newer one -empty; "$gradsync" compare "$(find raw -name '*-tune-*' | sort | tail -n 1)" 2>/dev/null | head -n 1)" \
    "$(head -n 1 <<<"$out")" 'compare prints the same'

ok 'a job with a static NCCL compiles' gcc -std=c11 -DLINKED -w -o static "$top"/tests/engine/{job,nccl,cuda}.c
run tune -m 1 -l 2 --only NTHREADS=2 -- ./static 2 1000000 ms=4
like "$err" 'no price: NCCL is linked statically into .*/static, so its calls are not seen' 'the file with a static NCCL is named'

if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
    fails 1 'full cannot be written to: No space left on device' tune -m 1 -o full --arms one -- "$job" 2 1000000 ms=4
    umount full
else
    skip 'a full disk' 'this user cannot mount'
fi
no_orphans 'no process of these jobs is left'
done_testing
