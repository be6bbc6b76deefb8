#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# gradsync suspects names real ranks of MPI that are made faulty (tests/mpi/faulty.c).
. "$(dirname "$0")/lib.sh"
command -v mpirun >/dev/null || skip_all 'needs mpirun'

few=(-s launch:oversubscribe=yes -s measure:launches=2 -s measure:blocks=3
    -s measure:max_blocks=3 -s measure:sample_time=1ms -s measure:warmup=1ms)

ok 'the library that makes ranks faulty compiles' "${MPICC:-mpicc}" -D_GNU_SOURCE -Wall -Wextra \
    -shared -fPIC -o faulty.so "$top/tests/mpi/faulty.c"
faulty() { # FAULT RANKS ARGUMENT…
    run "$gradsync" suspects -q -o real --ranks "$2" "${few[@]}" -s pairs:backend=host \
        -s launch:prefix="env FAULT=$1 LD_PRELOAD=$tmp/faulty.so" "${@:3}"
}
faulty silent 3 -s pairs:patience=5s
is "$rc" 1 'ranks whose messages do not arrive give exit code 1'
like "$out" 'link of rank 1 and rank 2 \(on .*\): did not answer in time'
unlike "$(grep 'link of rank 0' <<<"$out")" 'did not answer' 'the other pairs answer'
faulty slow 2 -s measure:launches=3
is "$rc" 1 'a rank that computes 20 times as much gives exit code 1'
gemm=$(grep 'GEMM' <<<"$out") # a busy machine makes other suspects
like "$gemm" '^suspect: rank 1 \(on .*GEMM takes [0-9.]+% longer than its peers' \
    'the rank that computes 20 times as much is named'
unlike "$gemm" 'rank 0 \(.*GEMM' 'the other rank does not compute slowly'

no_orphans 'no process is left'
done_testing
