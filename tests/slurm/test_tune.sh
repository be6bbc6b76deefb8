#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# gradsync tune of a job whose ranks srun starts on two nodes, inside an allocation.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/slurm/lib.sh
. "$top/tests/slurm/lib.sh"
train=$build/examples/mpi_train
[ -x "$train" ] || skip_all 'built without MPI'
export OMPI_MCA_mpi_yield_when_idle=1
slurm_up

# On a machine that becomes busy, the time may end before the price is known.
printf '#!/bin/sh\necho "$SLURMD_NODENAME" >>nodes\nexec "%s" steps=0 compute_ms=2 MiB=1 buckets=8\n' "$train" >job
chmod +x job
run salloc -Q --nodes=2 --ntasks-per-node=1 "$gradsync" tune -o raw -m 2 --worth 99.9% -- \
    srun --mpi=pmix -N 2 -n 2 ./job
is "$(sort -u nodes | xargs)" 'n1 n2' 'the ranks are on two nodes'
like "$err" 'a step takes .*; the job communicates over MPI' 'what tune preloads reaches the ranks that srun starts'
like "$out$err" '^(Not shown: c|C)ommunication costs |no price|too few' 'it prints the price, or the reason why there is none'
ok 'no job is left' until_true 60 eval '[ -z "$(squeue -h)" ]'
slurm_down
no_orphans 'no process is left'
done_testing
