#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What tune finds, and how long it takes: of two variables planted among ten harmless ones the one that costs more
# (tune proves one setting), a job with MPI within 90 s, and its gain and time against a grid by hand (every
# setting, five launches). Needs two idle processors and ten minutes. With two GPUs, seven minutes more for planted variables in a job with NCCL
# (planted.cu; CUDA_HOME, default /usr/local/cuda).
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$top/build}
[[ $build == /* ]] || build=$top/$build
train=$build/examples/mpi_train
[ -x "$train" ] || { echo 'bench tune: built without MPI' >&2 && exit 3; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gradsync-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
row() { # WHAT VALUE least|most TARGET UNIT
    awk -v w="$1" -v v="$2" -v how="$3" -v t="$4" -v u="$5" 'BEGIN {
        good = how == "least" ? v + 0 >= t : v + 0 <= t
        printf "%-64s %8.1f %-4s at %-5s %5s %-4s %s\n", w, v, u, how, t, u, v == "" ? "no answer" : good ? "ok" : "MISSED" }'
}
tune() { # ARGUMENT…: what it prints in the file said; the bench ends when it fails
    "$build/gradsync" tune -o raw "$@" >said 2>err || { echo "bench tune: exit $?: $(tail -n 3 err)" >&2 && exit 1; }
}
pasted() { grep -E '^(unset|export) ' said; } # of what tune printed, the lines to paste

# ---- planted variables

cat >job <<'JOB'
#!/bin/sh
echo >>starts
ms=100
[ "$NCCL_MAX_CTAS" = 1 ] && ms=$((ms + 30))
[ "$NCCL_P2P_DISABLE" = 1 ] && ms=$((ms + 50))
awk -v ms=$ms -v seed="$SEED$(wc -l <starts)" 'BEGIN {
    srand(seed)
    ms *= 1 + 0.01 * (rand() - 0.5)
    for (i = 0; i < 200; i++)
        printf "iter %d: loss 1.0, time %.3fms\n", i, ms * (1 + 0.02 * (rand() - 0.5)) }'
JOB
chmod +x job
named=0
export NCCL_MAX_CTAS=1 NCCL_P2P_DISABLE=1
for seed in 1 2 3 4 5; do
    : >starts
    SEED=$seed NCCL_A=1 NCCL_B=1 NCCL_C=1 NCCL_D=1 UCX_E=1 UCX_F=1 FI_G=1 FI_H=1 NCCL_I=1 NCCL_J=1 tune -q --seed $seed -- ./job
    [ "$(pasted)" != 'unset NCCL_P2P_DISABLE' ] || named=$((named + 1))
done
row 'the larger of two planted variables named, of 5 seeds' $named least 5 ''

# ---- the same in a job with NCCL: through host memory, in one thread block, where NVLink would do

gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
cuda=${CUDA_HOME:-/usr/local/cuda}
if [ "${gpus:-0}" -lt 2 ]; then
    echo "# planted variables in a job with NCCL: not measured, since it needs two GPUs; found ${gpus:-0}"
elif mpicc -O2 -o planted -x c "$top/tests/bench/planted.cu" -I"$cuda/include" -L"$cuda/lib64" -lcudart -lnccl; then
    named=0
    for seed in 1 2 3 4 5; do
        NCCL_IB_TIMEOUT=20 NCCL_IB_RETRY_CNT=7 NCCL_IB_SL=0 NCCL_IB_TC=0 NCCL_CROSS_NIC=2 UCX_LOG_LEVEL=warn FI_LOG_LEVEL=warn \
            NCCL_SOCKET_FAMILY=AF_INET NCCL_COLLNET_ENABLE=0 NCCL_LAUNCH_ORDER_IMPLICIT=0 tune -q -m 1.3 --no-price --seed $seed \
            -p planted --only NCCL_IB_,CROSS,UCX_,FI_,FAMILY,COLLNET,LAUNCH_ORDER,NCCL_P2P_DISABLE,NCCL_MAX_CTAS \
            -- env NCCL_NVLS_ENABLE=0 mpirun --bind-to none -n 2 ./planted
        [[ ! $(pasted) =~ ^unset\ (NCCL_MAX_CTAS|NCCL_P2P_DISABLE)$ ]] || named=$((named + 1))
    done
    row 'one of them in a job with NCCL on two GPUs' $named least 5 ''
fi

# ---- a job with MPI

unset NCCL_MAX_CTAS NCCL_P2P_DISABLE
pair=(mpirun --bind-to none --oversubscribe -n 2 "$train")
began=$SECONDS
tune -m 1.3 -- mpirun --oversubscribe -n 2 "$train"
sed 's/^/# /' said
row 'gradsync tune -m 1.3 -- mpirun -n 2 mpi_train: time' $((SECONDS - began)) most 90 s

# ---- against a grid by hand: small messages in which TCP is slow, and the user chose TCP

export OMPI_MCA_btl=tcp,self
job=("${pair[@]}" compute_ms=3 MiB=8)
settings=(OMPI_MCA_btl= OMPI_MCA_btl_tcp_links=2 OMPI_MCA_coll_tuned_allreduce_algorithm=4)
step_ms() { # [env arguments]: the median of the steps that the job prints
    env "$@" "${job[@]}" steps=1000 | sed -n 's/^step .*: \(.*\) ms/\1/p' | sort -n |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
of_five() { for _ in 1 2 3 4 5; do step_ms "$@"; done | sort -n | sed -n 3p; }
began=$SECONDS
base=$(of_five)
best=$base
by_setting=()
for i in 0 1 2; do
    set=("${settings[i]}")
    [ $i != 0 ] || set=(-u OMPI_MCA_btl)
    [ $i != 2 ] || set+=(OMPI_MCA_coll_tuned_use_dynamic_rules=1)
    ms=$(of_five "${set[@]}")
    echo "# by hand: ${set[*]}: $ms ms of $base ms"
    best=$(awk -v a="$best" -v b="$ms" 'BEGIN { print a < b ? a : b }')
    by_setting[i]=$ms
done
by_hand=$((SECONDS - began))
began=$SECONDS
tune -m "$(awk "BEGIN { print 0.19 * $by_hand / 60 }")" --no-price \
    --only OMPI_MCA_btl=unset,tcp_links,algorithm=4 -- "${job[@]}" steps=0
took=$((SECONDS - began))
sed 's/^/# /' said
# TCP over the loopback has a fast and a slow mode, by launch. So both gains are those of the grid.
case $(pasted) in
*'unset OMPI_MCA_btl'*) chosen=${by_setting[0]} ;;
*tcp_links=2*) chosen=${by_setting[1]} ;;
*algorithm=4*) chosen=${by_setting[2]} ;;
*) chosen=$base ;;
esac
row 'gain of what tune chose, of the largest gain, both by hand' \
    "$(awk "BEGIN { print 100 * (1 - $chosen / $base) / (1 - $best / $base) }")" least 90 %
row "time of tune, of the $by_hand s by hand" \
    "$(awk "BEGIN { print 100 * $took / $by_hand }")" most 20 %
