#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The NCCL tuner plugin over a longer time: visits that last seconds, ten million calls, and threads
# under TSan.
. "$(dirname "$0")/lib.sh"
. "$top/tests/tuner.sh"

trial 'blocks = 2' 'visit_ms = 1000' 'warmup = 10'
exits 0 'all ranks agree when visits last a given time' job steps=900 step_us=20000 parts=20 ranks=2
is "$(lines visit | jq '(.steps >= 25 and .steps <= 51)' | sort -u)" true \
    'visits of a given time have the steps that fit into it'

trial 'steps = 64' 'ranks = 2'
run "$build/bench/usage" "$build/bench/tuner_calls" "$plugin" 10000000
memory=$(tail -n 1 <<<"$out" | cut -d' ' -f3)
ok 'ten million calls stay within 32 MiB' test "$rc $((memory <= 32 << 20))" = '0 1'
unset GRADSYNC_TRIAL
tsan=$tmp/tsan
if ! echo 'int main(void) { return 0; }' | gcc -fsanitize=thread -x c -o tsan.ok - \
    2>/dev/null || ! ./tsan.ok; then
    skip 'four threads with two communicators each have no race' 'gcc has none here'
else
    ok 'the plugin builds with TSan' \
        make -s -C "$top" BUILD="$tsan" TELL='>/dev/null' CFLAGS='-O1 -g -fsanitize=thread' \
        "$tsan/libnccl-tuner-gradsync.so" "$tsan/tuner/job"
    trial 'steps = 4' 'warmup = 5' 'blocks = 3'
    plugin=$tsan/libnccl-tuner-gradsync.so build=$tsan
    exits 0 'four ranks as threads agree, with two communicators each' \
        job as=threads ranks=4 second=1 steps=400 abi=5
    is "$err" '' 'four threads with two communicators each have no race'
    is "$(last)" 'hold 15' 'four ranks as threads make all visits'
    unset GRADSYNC_TRIAL
fi
no_orphans 'nothing is left running'
done_testing
