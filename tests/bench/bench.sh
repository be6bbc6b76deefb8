#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Speed and memory, each figure beside what it is held to. What was measured is this machine at this
# moment: a busy machine misses targets. Exits 1 when one is missed.
. "$(dirname "$0")/lib.sh"

echo "on $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); load $(cut \
    -d' ' -f1 /proc/loadavg)"

# ---- reduce, on one core. The best of three says what the program takes, not what else ran.

most=0
for n in 10000 100000 1000000; do
    "$build/sim/make_campaign" "$tmp/raw$n" groups=1 configs=1 launches=1 blocks=$((n / 200)) \
        samples=100 manifest=1
    cat "$tmp/raw$n"/*.jsonl >/dev/null
    best_of 3 taskset -c 0 "$gradsync" query -q "$tmp/raw$n" --export "$tmp/csv"
    eval "wall$n=$wall cpu$n=$cpu"
    most=$(awk "BEGIN { print ($mib > $most ? $mib : $most) }")
    chmod -R u+w "$tmp/raw$n" && rm -r "$tmp/raw$n" "$tmp/csv"
done
# shellcheck disable=SC2154 # by eval, above
{
    row 'reduce: million samples a second of CPU time, 10^6 samples' "$(calc 2 "1 / $cpu1000000")" \
        '>=' 1.5 'M/s'
    row 'reduce: time of 10^6 samples over ten times that of 10^5' \
        "$(calc 2 "$wall1000000 / (10 * $wall100000)")" '<=' 1.2 ''
    printf '%-58s %10s s\n' 'reduce: 10^4 samples' "$(calc 3 "$wall10000")" 'reduce: 10^5 samples' \
        "$(calc 3 "$wall100000")" 'reduce: 10^6 samples' "$(calc 3 "$wall1000000")"
}
row 'reduce: most memory, 10^4 to 10^6 samples' "$(calc 1 "$most")" '<=' 64 MiB

# ---- tables of all recordings that are here, and figures of one platform, in a copy of this checkout

mkdir "$tmp/tree"
tar cf - --exclude=./data/csv --exclude="./data/gradsync.db*" --exclude=./figures/out \
    --exclude="./.*" --exclude=./build . | tar \
    xf - -C "$tmp/tree"
mkdir -p "$tmp/tree/build"
(cd "$build" && tar cf - runner plugins ./*.a gradsync gradsync-rank commit.* deps.ok) | tar xf - \
    -C "$tmp/tree/build"
in_tree() { best_of 1 env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$tmp/tree" BUILD=build "$@"; }
in_tree -j2 all # what the copy of the build lacks
in_tree tables
row 'make tables, cold, s' "$(calc 2 "$wall")" '<=' 5 s
in_tree -j2 figures PLATFORM=h200-2gpu
row 'make -j2 figures of a platform, after the tables, s' "$(calc 2 "$wall")" '<=' 10 s
in_tree figures PLATFORM=h200-2gpu
row 'make figures of a platform, nothing to do, s' "$(calc 3 "$wall")" '<=' 0.3 s

# ---- import, of each format that a file may be long in, and compare; the best of three by CPU time

tests/make_nccl_output cycles=15000 >"$tmp/table.txt"
tests/make_nccl_json per_iter=1 iters=80000 >"$tmp/report.json"
awk 'BEGIN { for (i = 1; i <= 5000000; i++) printf "%.3f\n", 9 + i % 997 / 1000 }' >"$tmp/times.txt"
for file in table.txt report.json times.txt; do
    output=$tmp/imported best_of 3 "$gradsync" import -q --platform bench --set ranks=8 -o "$tmp/imported" "$tmp/$file"
    row "import: MB a second of CPU time, $file" \
        "$(calc 0 "$(wc -c <"$tmp/$file") / 1e6 / $cpu")" '>=' 50 MB/s
    row "import: most memory, $file" "$(calc 1 "$mib")" '<=' 64 MiB
done
rm "$tmp/table.txt" "$tmp/report.json" "$tmp/times.txt"
if [ -d data/raw/h200-4gpu ]; then
    best_of 1 "$gradsync" compare data/raw/h200-*
    row 'compare: the recordings of the H200s, s' "$(calc 2 "$wall")" '<=' 5 s
fi

# ---- a campaign of 10,000 cells, without Slurm's own time: its programs here answer at once

mkdir "$tmp/slurm"
cat >"$tmp/slurm/scontrol" <<'SH'
#!/bin/bash
[ "$2" = config ] && echo 'MaxArraySize            = 1001'
[ "$2" != partition ] ||
    echo 'PartitionName=main Default=YES MaxNodes=UNLIMITED MaxTime=UNLIMITED State=UP TotalNodes=4'
SH
printf '#!/bin/bash\necho 12\n' >"$tmp/slurm/sbatch"
printf '#!/bin/bash\n' >"$tmp/slurm/squeue"
chmod +x "$tmp"/slurm/*
printf '%s\n' '[platform]' 'name = big' '[measure]' 'launches = 5' '[null]' 'size = 8:8000:+8' \
    'config = a, b' \
    'effect = 0, 1%, 2%, 3%, 4%' >"$tmp/big.ini"
verb() { # VERB ARGUMENT…: its wall and CPU time in two rows
    output=$tmp/campaigns PATH=$tmp/slurm:$PATH best_of 2 "$gradsync" "$@"
    row "$1 of 10,000 cells, s" "$(calc 3 "$wall")" '<=' 1 s
    row "$1 of 10,000 cells by CPU time, s" "$(calc 3 "$cpu")" '<=' 1 s
}
submitted() { # FOLDER CONFIG: its campaign in $camp
    camp=$(PATH=$tmp/slurm:$PATH "$gradsync" submit -q -o "$1" "$2")
}
verb plan "$tmp/big.ini"
verb submit -q -o "$tmp/campaigns" "$tmp/big.ini"
submitted "$tmp/big" "$tmp/big.ini"
exit=1 verb status -o "$tmp/none" "$camp" # nothing is measured

# ---- status copies 290 MB in five recordings of a finished run

printf '%s\n' '[platform]' 'name = p' '[measure]' 'launches = 5' '[null]' 'size = 8' >"$tmp/small.ini"
submitted "$tmp/small" "$tmp/small.ini"
run=$(echo "$camp"/*/*/*)
"$build/sim/make_campaign" "$tmp/${run##*/}" groups=1 configs=1 blocks=40000 samples=100
mv "$tmp/${run##*/}"/launch-*.jsonl "$run"
# The one cell of the plan and its group are those that the recordings measure.
for key in group id; do
    planned=$(grep -o "\"$key\": \"[0-9a-f]\{16\}\"" "$run/plan.json" | head -n 1 | cut -d'"' -f4)
    sed -i "s/$planned/0000000000000001/" "$run/plan.json"
done
megabytes=$(du -sm "$run" | cut -f1)
output=$tmp/copied PATH=$tmp/slurm:$PATH best_of 3 "$gradsync" status -o "$tmp/copied" "$camp"
for file in "$run"/launch-*.jsonl; do
    cmp "$file" "$tmp"/copied/*/*/*/"${file##*/}" || { echo 'bench: status has not copied it' >&2 && exit 1; }
done
row 'status copies with checksums' "$(calc 0 "$megabytes * 1.048576 / $wall")" '>=' 200 MB/s
row 'status copies with checksums, by CPU time' "$(calc 0 "$megabytes * 1.048576 / $cpu")" '>=' 200 MB/s

# ---- the runner around an operation that takes no time, in 2 ranks

cat >"$tmp/cost.ini" <<'INI'
[launch]
ranks = 2
oversubscribe = yes
[measure]
launches = 1
blocks = 11
max_blocks = 11
samples = 20000
discard = 0
sample_time = 1ns
warmup = 0
warmup_ops = 1
budget = 60s
[null]
size = 8
time = 1ns
INI
start=$(date +%s.%N)
"$gradsync" run -q "$tmp/cost.ini" --set platform:name=bench -o "$tmp/cost"
at=$(grep -ho '"type":"block".*"at":[0-9.]*' "$tmp"/cost/*/*/*/launch-01.01.jsonl | sed 's/.*"at"://')
first=$(awk -v start="$start" 'NR == 1 { printf "%.2f", $1 - start }' <<<"$at")
# The median over blocks of the time from one block's start to the next's, a sample.
cost=$(awk 'NR > 1 { printf "%.9f\n", ($1 - last) / 20000 * 1e6 } { last = $1 }' <<<"$at" | sort -g | sed -n 5p)
row 'start to first sample, 2 ranks, s' "$first" '<=' 1 s
row 'runner, a sample beside the operation, us' "$(calc 2 "$cost")" '<=' 2 us

# ---- mpi_allreduce against a bare loop, in the same processes

mpirun=${MPIRUN:-${MPI_HOME:+$MPI_HOME/bin/}mpirun}
"$mpirun" --oversubscribe -n 2 "$build/bench/bare_allreduce" "$build/plugins/mpi_allreduce.so" \
    >"$tmp/bare"
cat "$tmp/bare"
exit $missed
