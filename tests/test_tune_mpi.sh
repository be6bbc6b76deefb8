#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes minutes
# Waits
#
# gradsync tune, a job inside which settings are compared: real ranks of MPI.
. "$(dirname "$0")/lib.sh"
train=$build/examples/mpi_train
[ -x "$train" ] && command -v mpirun >/dev/null || skip_all 'built without MPI'

tune() { "$gradsync" tune -o raw --seed 3 "$@"; }
run_of() { find raw -name tune.json -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2; }
export OMPI_MCA_mpi_yield_when_idle=1 # other tests run beside
ranks=(mpirun --oversubscribe -n 2 "$train" steps=0 rest=1)
exits 0 'tune answers for a job with MPI' tune -m 2 -l 2 --only algorithm=3,algorithm=4 -- "${ranks[@]}" compute_ms=4 MiB=4 buckets=2
like "$(head -n 1 <<<"$out")" \
    '^(Not shown: c|C)ommunication costs -?[0-9.]+% \[-?[0-9.]+, -?[0-9.]+\] of the step \([0-9.]+ .s of [0-9.]+ .s\), in [0-9]+ launches\.' \
    'the first line is the price'
priced=$(head -n 1 <<<"$out")
like "$err" 'a step takes [0-9.]+ .?s; the job communicates over MPI'
like "$err" 'recordings: price raw/job/trial/[^ ]*, settings raw/job/train/' 'all recordings are named below the folder of -o'
like "$(sed -n 2p <<<"$out")" '^(Set|No setting of 2)' 'the setting follows, or that there is none'
for algorithm in 3 4; do
    like "$out" $'\n'"OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=$algorithm"$'\n' \
        'a long name has a line of its own, and nothing is cut off it'
done
like "$("$gradsync" compare raw/job 2>/dev/null)" "$(grep -v '^  \|^export' <<<"$out" | head -n 2 | sed 's/[][().+]/./g')" \
    'compare of the folder prints what tune printed'
exits 0 'show draws them' "$gradsync" show "$(run_of)" --svg bars.svg
price=$(find raw -path '*/trial/*' -name MANIFEST.json -printf '%h\n')
is "$(jq -rs '[.[] | select(.type == "cell") | .config] | unique | join(" ")' "$price"/launch-01.01.jsonl)" \
    'OMPI_MCA_coll_tuned_use_dynamic_rules=1/OMPI_MCA_coll_tuned_allreduce_algorithm=3 OMPI_MCA_coll_tuned_use_dynamic_rules=1/OMPI_MCA_coll_tuned_allreduce_algorithm=4 auto control half none one' \
    'one launch has the price, the settings and a control'
is "$("$gradsync" compare "$price" | head -n 1)" "$priced" 'compare prints the price that tune printed'
exits 0 'the recordings of a job with MPI are sound' "$gradsync" check "$price"
is "$(find raw -name '.trial*' | wc -l)" 0 'no file of the ranks is left'
no_orphans 'no process of the job is left'

# --proof 0 measures all settings to the end, in several launches. Here the second launch fails.
echo 'mpi: OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=4' >table
exits 0 'with --proof 0 settings are measured' tune -m 2 --proof 0 --no-price --arms table -- \
    sh -c '[ ! -e second ] || exit 7; touch second; exec "$@"' sh "${ranks[@]}" compute_ms=4 MiB=1
like "$out" '^Settings in the running job, in 1 launch; none was to be proven' 'those of the first launch count'
like "$err" 'launch 2 is not counted: crash: exit code 7; .*its output is in raw/job/train/.*/launch-02.01.log' 'and it says why the second does not'
like "$("$gradsync" compare "$(run_of)")" 'Of: sh -c .*compute_ms=4 MiB=1 \(price ' 'compare names the job'

# Ctrl-C during the first launch: the options are kept, and nobody else may go on beside
echo 'mpi: OMPI_MCA_btl_tcp_links=3' >links
(exec env --default-signal=INT "$gradsync" tune -o stopped -m 1 -l 2 -c links --only links=3 --no-price -- "${ranks[@]}") >told 2>&1 &
pid=$!
ok 'there are visits' until_true 60 eval 'grep -qs "\"visit\"" stopped/.trial*/*.jsonl'
fails1 1 'is measured by another gradsync' "$gradsync" resume stopped/job/train/*tune*
kill -INT $pid
wait $pid
is $? 1 'Ctrl-C ends tune with 1'
like "$(cat told)" 'the measurements are kept; continue with: .*gradsync resume stopped/job/train/' 'it says how to go on'
no_orphans 'Ctrl-C leaves no process'
exits 0 'resume goes on' "$gradsync" resume stopped/job/train/*tune*
like "$out" '^(Set|No setting of 1 .*|No setting was tried)' 'with --only and --candidates as before'
unlike "$out$err" 'ommunication costs' 'and with --no-price'

fails 1 'tune: the job has one rank, which does not communicate: start it with two or more' \
    tune -m 0.3 -- mpirun --oversubscribe -n 1 "$train" steps=0 compute_ms=1 MiB=1
run tune -m 1.5 -l 2 --only algorithm=3 -- "${ranks[@]}" compute_ms=1 MiB=1 need=2
like "$err" 'the job hung where communication is left out .*it completed no visit for [0-9]+ s and was killed' \
    'a job that hangs without communication is killed, and tune says so'
no_orphans 'no process of these jobs is left'

# Steps for whose price the minutes are too few
fails 1 'the price takes about [0-9.]+ .*, which is more than the [0-9.]+ .?s that are left: use --minutes [1-9][0-9]*; settings and their proof need --minutes [1-9]' \
    tune -m 0.8 -- "${ranks[@]}" compute_ms=1000 MiB=1

# Equal all-reduces: the pause before the first of each step tells the steps apart
cat >equal.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static double v[50000];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double t = MPI_Wtime();
    for (long s = 1;; s++) {
        usleep(20000);
        for (int i = 0; i < 4; i++)
            MPI_Allreduce(MPI_IN_PLACE, v, 50000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (!rank && s % 10 == 0) {
            printf("step time: %.2f ms\n", (MPI_Wtime() - t) * 100);
            fflush(stdout);
            t = MPI_Wtime();
        }
    }
}
END
ok 'a job with equal all-reduces compiles' mpicc -O1 -o equal equal.c
run tune -m 1 -l 2 --only algorithm=3 -- mpirun --oversubscribe -n 2 ./equal
# The pauses tell only on a machine that is not too busy (tests/unit/test_step_sequence.c has a clock of its own).
like "$err" 'a step takes [0-9.]+ m?s(; the job|, by the lines that the job prints; .*; visits are periods of [12] collectives?, [24] a step)' \
    'the step of a job with equal all-reduces is its own, or the sentence says what a visit is'

# A job that checks its sums
cat >checks.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int v[50000];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (;;) {
        usleep(5000);
        v[0] = 1;
        MPI_Allreduce(MPI_IN_PLACE, v, 50000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (v[0] != 2) {
            fprintf(stderr, "wrong sum %d\n", v[0]);
            exit(3);
        }
    }
}
END
ok 'a job that checks its sums compiles' mpicc -O1 -o checks checks.c
exits 0 'it has settings' tune -m 2 -l 2 --only algorithm=3 -- mpirun --oversubscribe -n 2 ./checks
like "$err" 'the job crashed where communication is left out \([a-z]+\): exit code 3; its last line: wrong sum [01]' \
    'a job that crashes without communication is named with its own last line'
is "$(grep -c 'the job crashed' <<<"$err")" 1 'and communication stays in place from then on'
like "$err" 'tune: a period of [1-8] collectives? takes [0-9.]+ .?s, which is a step if a step has so many; ' \
    'where all collectives are alike, it says what it takes for a step'
like "$out" '^(Set|No setting of 1 was)' 'the setting is compared'

# A sequence that never repeats
cat >strange.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
static double v[50000];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (;;) {
        usleep(10000);
        MPI_Allreduce(MPI_IN_PLACE, v, 10000 + rand() % 40000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}
END
ok 'a job without steps compiles' mpicc -O1 -o strange strange.c
exits 1 'tune of it ends with 1' tune -m 0.7 -- mpirun --oversubscribe -n 2 ./strange
is "$(grep -c "tune: no step is found yet: the sequence of [0-9]* collectives .* let it print lines such as 'step time: 12.3 ms'" <<<"$err")" 1 \
    'long before its deadline tune says once that nothing repeats, and what to do'
like "$err" 'it has no steps: the sequence of its [0-9]+ collectives did not repeat' 'and at the end that it was so'

# Jobs that only send: with nothing else, or besides a broadcast of an object, which the ranks read
cat >sends.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
static char v[200000];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (;;) {
        usleep(4000);
        MPI_Sendrecv_replace(v, 50000, MPI_BYTE, !rank, 0, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (argc < 2)
            continue;
        v[0] = 'x' + rank;
        MPI_Bcast(v, 200000, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (v[0] != 'x')
            exit(4);
    }
}
END
ok 'a job that sends compiles' mpicc -O1 -o sends sends.c
fails 1 'failed: ended after [0-9.]+ s: it sends and receives: [0-9.]+ [KM]iB in [0-9]+ calls of a rank so far, and 0 B in 0 collectives; ' \
    tune -m 1 -- mpirun --oversubscribe -n 2 ./sends
exits 0 'a broadcast of an object stays in place' tune -m 0.5 -l 2 --only algorithm=3 -- mpirun --oversubscribe -n 2 ./sends objects
like "$err" 'no price: no collective of the step has 64 KiB or more; .*; sends, receives and broadcasts of bytes, [0-9.]+ of [0-9.]+ [kM]B a step,' \
    'there is no price, and the reason is what was found'
like "$err" 'no all-reduce repeats, so its algorithms are not compared' 'what cannot act is not compared'
unlike "$err" 'crash|hung' 'and nothing crashed'
done_testing
