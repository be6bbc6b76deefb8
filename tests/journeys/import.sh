#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A journey: tables of nccl-tests, of the OSU benchmarks and lists of step times become recordings.
. "$(dirname "$0")/../lib.sh"

"$top/tests/make_nccl_output" version=2.17.9 ranks=8 min=1024 max=4194304 >nccl.txt
cat >osu.txt <<'END'

# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       2.44              2.40              2.49        1000
1048576               312.50            310.01            315.25         100
END
for launch in 1 2 3 4 5; do
    mkdir $launch
    for config in plain,100 tuned,80; do
        awk -v l=$launch -v ms=${config#*,} 'BEGIN { srand(l); for (i = 0; i < 200; i++) printf "%.3f\n", ms + l / 10 + rand() }' \
            >$launch/iteration_times_${config%,*}.txt
    done
done
exits 0 'a table of nccl-tests is imported' "$gradsync" import -o raw --platform a100 nccl.txt
exits 0 'a table of OSU is imported' "$gradsync" import -o raw --platform cpus --set ranks=4 osu.txt
exits 0 'step times of two settings are imported' "$gradsync" import -o raw --platform job --set ranks=8 --as-launches \
    ./?/iteration_times_*.txt
exits 0 'the recordings are sound' "$gradsync" check raw
prints '4MiB +no +[a-z]+ +- +56.7 us' "$gradsync" show raw/a100/*/*
prints '1MiB .* 31[25] us' "$gradsync" show raw/cpus/*/*
prints 'tuned' "$gradsync" compare raw
prints '^a100$' "$gradsync" query -q --format lines 'SELECT DISTINCT platform FROM summary WHERE busbw_Bps > 1e11' raw
done_testing
