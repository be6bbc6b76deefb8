#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tuner plugin beside NVIDIA's example plugin, both with one file of rules, and beside no tuner:
# all-reduces of 8 B to 128 MiB. The rule is for 128 KiB to 8 MiB; no rule matches the other sizes.
# The three take turns: one launch each a round, in another order each round. The ratios and their
# 95% intervals are over the rounds. Exits 1 if a target is missed.
#   NCCL_SRC  NCCL's source, or the folder of its example tuner; without it ours is beside no tuner
#   ROUNDS    default: 8
#   LAUNCHES  default: graph stream. The plugin's time is within a stream's; a graph has its choice
#   SIZES     default: every fourth power of two from 8 B to 128 MiB
#   HOST      1: without GPUs, to try this script: MPI, which asks no tuner
. "$(dirname "$0")/gpu_common.sh"

rounds=${ROUNDS:-8} launches=${LAUNCHES:-graph stream} arms='none ours'
ours=$build/libnccl-tuner-gradsync.so rules=$tmp/rules.csv
first=131072 last=8388608
echo "allreduce,$first,$last,ring,simple,8,-1,-1" >"$rules"
workload='[nccl_allreduce]'
keys="launch = ${launches// /, }"
if [ -n "${HOST:-}" ]; then workload='[mpi_allreduce]' keys=; fi
cat >"$tmp/tuner.ini" <<END
[launch]
ranks = $gpus
[measure]
launches = 1
blocks = 8
max_blocks = 8
samples = 1
warmup = 20ms
$workload
size = ${SIZES:-8B:128MiB:x4}
configs = auto
$keys
END

# The example has been in two places of NCCL's source.
for folder in "${NCCL_SRC:-}"{/plugins/tuner/example,/ext-tuner/example,}; do
    [ -n "${NCCL_SRC:-}" ] && [ -f "$folder/plugin.c" ] || continue
    "${CC:-cc}" -O2 -w -shared -fPIC -I"$folder/nccl" -o "$tmp/example.so" "$folder/plugin.c"
    arms="$arms theirs"
    break
done
[ -z "${NCCL_SRC:-}" ] || [ -e "$tmp/example.so" ] || {
    echo "bench-gpu: NCCL_SRC=$NCCL_SRC has no plugins/tuner/example/plugin.c:" \
        'name the source of NCCL' >&2
    exit 2
}
[ -n "${NCCL_SRC:-}" ] ||
    echo "# NVIDIA's example tuner: not measured, NCCL_SRC names no source of NCCL"

measure() { # ROUND ARM: the table "csv-ROUND-ARM"
    local name=$1-$2 tuner=()
    case $2 in
    ours) tuner=(NCCL_TUNER_PLUGIN="$ours" NCCL_TUNER_CONFIG_FILE="$rules") ;;
    theirs) tuner=(NCCL_TUNER_PLUGIN="$tmp/example.so" NCCL_TUNER_CONFIG_FILE="$rules") ;;
    esac
    env -u NCCL_TUNER_PLUGIN -u NCCL_TUNER_CONFIG_FILE "${tuner[@]}" \
        "$gradsync" run -q "$tmp/tuner.ini" -o "$tmp/$name" >&2
    "$gradsync" reduce -q "$tmp/$name" -o "$tmp/csv-$name"
}

SECONDS=0
for ((round = 0; round < rounds; round++)); do
    read -ra turn <<<"$arms"
    for ((i = 0; i < ${#turn[@]}; i++)); do
        measure "$round" "${turn[(i + round) % ${#turn[@]}]}"
    done
done
code=0
awk -v first=$first -v last=$last -f "$top/figures/csv.awk" -f "$top/tests/bench/tuner_table.awk" \
    "$tmp"/csv-*/launches.csv || code=$?
echo "# tuner: took $SECONDS s, $rounds rounds"
exit $code
