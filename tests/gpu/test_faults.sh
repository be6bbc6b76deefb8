#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On GPUs: a rank that is killed or stopped, a size that does not fit, more ranks than GPUs, an
# algorithm that NCCL refuses: each a clear line, the rest is measured, nothing hangs or stays
# behind.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/gpu/gpu.sh"

# The measuring process of the highest rank: the last started that has no child of its own.
victim() {
    local pid
    for pid in $(marked); do
        [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") == *gradsync-rank* ]] || continue
        [ -n "$(cat "/proc/$pid/task/$pid/children")" ] || echo "$pid"
    done | tail -n 1
}
measuring() { compgen -G "data-long/*/*/*/launch-01.01.jsonl" >/dev/null &&
    grep -q '"type":"block"' data-long/*/*/*/launch-01.01.jsonl; }

config long '[nccl_allreduce]' 'size = 1MiB' 'configs = auto, ring/Simple'
sed -i -e 's/^blocks = .*/blocks = 100000/' -e 's/^max_blocks = .*/max_blocks = 100000/' \
    -e 's/^deadline = .*/deadline = 5s/' long.ini
echo 'budget = 20s' >budget && sed -i '/^samples/r budget' long.ini
for signal in KILL STOP; do
    rm -rf data-long
    "$gradsync" run -q long.ini -o data-long >out 2>err &
    runner=$!
    if until_true 60 measuring; then
        kill -"$signal" "$(victim)"
        SECONDS=0
        wait "$runner"
        isnt $? 0 "SIG$signal to a rank makes the run fail"
        ok "SIG$signal to a rank ends the run within the deadline" test "$SECONDS" -lt 45
        ok "SIG$signal to a rank is recorded as a crash, a hang or a loss" \
            grep -qhE '"kind":"(crash|hang|lost)"' data-long/*/*/*/launch-01.01.jsonl
    else
        flunk "SIG$signal: a block is measured within a minute" "$(cat err)"
    fi
    no_orphans "SIG$signal to a rank leaves no process"
done

config large '[nccl_allreduce]' 'size = 1KiB, 4TiB' 'configs = auto'
run "$gradsync" run -q large.ini -o data-large
recording=$(find data-large -name 'launch-01.01.jsonl')
is "$(lost skip)" 1 'a size that does not fit is skipped'
ok 'the recording says how much device memory was asked for' \
    grep -q 'device memory needed' "$recording"
ok 'the sizes beside one that does not fit are measured' grep -q '"type":"block"' "$recording"

config refused '[nccl_allreduce]' 'size = 1KiB' 'configs = auto, pat'
measure refused
ok 'an algorithm that NCCL does not have is skipped with its reason' \
    grep -q '"kind":"skip".*' "$recording"

config many '[nccl_allreduce]' 'size = 1KiB' 'configs = auto'
visible=$(nvidia-smi -L | grep -c '^GPU ')
sed -i "s/^ranks = .*/ranks = $((visible + 1))/" many.ini
fails 3 'GPUs?:? .*ranks|ranks .*GPUs|shares GPU' "$gradsync" run -q many.ini -o data-many

CUDA_VISIBLE_DEVICES='' exits 3 \
    'a run with hidden GPUs exits with 3' "$gradsync" run -q refused.ini -o data-none
done_testing
