#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a rank measures and records, on scripted samples; also under ASan.
. "$(dirname "$0")/lib.sh"

# measure NAME SETTING… runs the config below into a folder of its own; $rec is its recording of
# launch 1, attempt 1.
cat >c.ini <<'END'
[platform]
name = here
[launch]
ranks = 2
oversubscribe = yes
[measure]
launches = 1
blocks = 6
max_blocks = 6
samples = 4
discard = 0
warmup = 0
warmup_ops = 1
retries = 0
seed = 5
[null]
size = 8
time = 1ms
config = a, b
END
measure() {
    local folder="$tmp/$1 of it" s set=()
    shift
    for s; do set+=(--set "$s"); done
    run "$gradsync" run c.ini -q -o "$folder" "${set[@]}"
    dir=$(echo "$folder"/here/null/*)
    rec=$dir/launch-01.01.jsonl
}

of() { # TYPE EXPRESSION [RECORDING]: what jq makes of each whole line of that type
    head -n "$(wc -l <"${3:-$rec}")" "${3:-$rec}" | jq -r --arg type "$1" '
        def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
        def yes: if . then "yes" else "no" end;
        def ms: [.time_ns[] / 1e6] | join(" ");
        def converged: "\(.blocks) \([.cells[].converged | yes] | join(" "))";
        select(.type == $type) | '"$2"
}
count() { of "$1" "${2:-1}" | grep -c . || true; }
# The cells of a block in the order in which they were visited, a line a block.
visits() {
    of block '"\(.block) \(.cell).\(.copy)"' |
        awk '{ v[$1] = v[$1] " " $2 } END { for (b = 1; b in v; b++) print v[b] }'
}

# ---- what is in a recording ----
UCX_TLS=sm NCCL_API_KEY=hunter2 OTHER_SECRET=hunter3 measure plain null:noise=0.01
is "$rc" 0 'a run that measures all exits with 0'
is "$err" '' '-q says nothing'
is "$(head -n 1 "$rec" | cut -c1-16)" '{"type":"header"' \
    'the header is the first line of a recording'
is "$(tail -n 1 "$rec" | cut -c1-12)" '{"type":"end' 'the end is the last line of a recording'
is "$(of end .status)" complete 'the end of a whole recording says complete'
is "$(of header '"\(.ranks) \(.clock.name) \([.hosts[].rank] | join(","))"')" \
    '2 CLOCK_MONOTONIC 0,1' 'the header has the ranks, the clock and every host'
is "$(of header .config)" "$(cat c.ini)" 'the header has the config as it was'
is "$(of header '.env.UCX_TLS + .env.NCCL_API_KEY')" 'sm(hidden)' \
    'the header has the environment that tunes communication'
unlike "$(cat "$rec")" hunter 'a recording has no secret of the environment'
is "$(count group)" 1 'one group was closed'
is "$(count health)" 6 'health is read around every block'
is "$(of health '[.before, .after] | all(.["0"] | has("load1")) | yes' | sort -u)" yes \
    'health is read before and after a block'

# ---- blocks ----
is "$(of cell '"\(.config)\(.copy)"' | sort | paste -sd' ')" 'a0 a1 b0' \
    'the baseline is measured twice and the other config once'
is "$(of block '"\(.cell).\(.copy)"' | sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" \
    '6 6 6' \
    'every block visits each copy once'
is "$(of block '.time_ns | length' | sort -u)" 4 'a visit keeps as many samples as asked for'
is "$(of group '[.cells[].blocks] | join(" ")')" '6 6 6' 'the group line counts the blocks'
visits >plain.order
isnt "$(sed -n '1p;3p;5p' plain.order | sort -u | wc -l)" 1 'the order changes from block to block'
is "$(sed -n 2p plain.order | tr ' ' '\n' | tac | paste -sd' ' | sed 's/ $//')" \
    "$(sed -n 1p plain.order | sed 's/^ //')" 'an even block is the mirror of the one before'
of block '[.block] + .time_ns | join(",")' >plain.times
measure again null:noise=0.01
is "$(visits)" "$(cat plain.order)" 'the same seed visits in the same order'
is "$(of block '[.block] + .time_ns | join(",")')" "$(cat plain.times)" \
    'the same seed takes the same samples'
measure alone null:config=a
is "$(of cell '"\(.config)\(.copy)"' | paste -sd' ')" a0 \
    'a config that is compared with nothing is there once'

# ---- samples ----
measure short null:time=1us measure:sample_time=100us
is "$(of block '.iters >= 100 and .iters <= 300 | yes' | sort -u)" yes \
    'iterations make a sample long enough'
is "$(of block '(.time_ns | median) == 1000 * .iters | yes' | sort -u)" yes \
    'the time of a sample is that of all its iterations'
is "$(of cell .iters | sort -u | wc -l)" 1 \
    'both copies of the baseline have the same number of iterations'
measure slow null:warmup=3 measure:discard=1
is "$(of block 'select(.block == 1) | ms' | sort -u | paste -sd,)" \
    '2 1 1 1' 'one sample warms up, one is thrown away, and the third is kept'
measure time null:warmup=3 measure:warmup=18ms
is "$(of block ms | sort -u)" '1 1 1 1' 'warmup seconds of operations come before the first block'
measure ranks null:noise=0.2 measure:samples=200 measure:blocks=2 measure:max_blocks=2
is "$(of block '.spread_ns > 0 and (.time_ns | median) > 1.05e6 * .metrics.slowdown | yes' |
    sort -u)" yes 'the time is the slowest rank, other metrics are combined as they declare'
measure retry_one null:fault=retry null:fault_rank=1 null:fault_after=9
is "$rc $(of block '.time_ns | length' | sort -u) $(count fail)" '0 4 0' \
    'a sample that one rank alone calls invalid is taken again'

# ---- faults ----
measure wrong null:fault=wrong null:fault_rank=1 null:fault_config=b null:fault_after=12
is "$rc" 1 'a wrong result makes exit code 1'
is "$(of fail '"\(.kind) \(.rank) \(.phase)"')" 'wrong 1 verify' \
    'a wrong result is recorded with its rank'
is "$(of block .block | sort -n | uniq -c | awk '{ print $1 }' | paste -sd' ')" '3 3 2 2 2 2' \
    'a block with a wrong result is not recorded, and the other cells go on'
is "$(of group '.cells | length')" 2 \
    'a cell with a wrong result is not among those that the group closed'
measure unverified measure:verify=no null:fault=wrong
is "$rc $(count fail)" '0 0' 'verify = no does not look for wrong results'
measure failing null:fault=fail null:fault_rank=1 null:fault_config=a null:fault_after=6
is "$(of fail '"\(.kind) \(.rank) \(.why)"')" "failed 1 scripted fault 'fail' after 6 samples" \
    'a failure is recorded in the words of the rank that failed'
is "$(of group '[.cells[].copy] | join(" ")')" 0 'both copies of a failed baseline are dropped'
measure skipping null:fault=skip null:fault_config=b
is "$rc $(of fail .kind) $(of group '.cells | length')" '0 skip 2' 'a skipped cell is no failure'
measure waiting null:fault=wait null:fault_rank=1 null:fault_config=b measure:deadline=3s
is "$(of fail '"\(.kind) \(.rank) \(.phase)"')" 'hang 1 warmup' 'a hang is ended by the deadline'
like "$(of fail .why)" 'abort' 'a rank that hangs is ended by abort() first'
measure stopped null:fault=stop null:fault_rank=1 null:fault_config=b null:fault_after=8 \
    measure:deadline=3s
like "$(of fail '"\(.kind) \(.rank) \(.why)"')" '^hang 1 .*state T' \
    'a stopped rank is killed, and recorded as stopped'
is "$(of group '1' "$dir/launch-01.02.jsonl")" 1 'the attempt after a killed rank measures the rest'
no_orphans 'no process of a killed attempt is left'

# ---- a full disk ----
# The limit is on files that the ranks write: without shared memory that is the recording alone.
if command -v prlimit >/dev/null; then
    full=(launch:args='--mca btl self,tcp' measure:blocks=200 measure:max_blocks=200)
    measure full "${full[@]}" launch:prefix='prlimit --fsize=20000'
    is "$rc" 1 'a recording that cannot grow ends the run with 1'
    one_line "$err" 'a recording that cannot grow is reported in one line'
    like "$err" 'launch-01.01.jsonl.*File too large.*ulimit -f'
    ok 'lines recorded before the limit of a file are whole' of block 1
    is "$(tail -c 1 "$rec" | od -An -c | tr -d ' ')" '\n' 'the limit of a file tears no line'
else
    skip 'a recording that cannot grow ends the run with 1' 'no prlimit'
fi

# ---- an interrupt ----
cat >slow.ini <<'END'
[platform]
name = here
[launch]
ranks = 2
oversubscribe = yes
[measure]
launches = 1
blocks = 20
max_blocks = 20
samples = 5
warmup = 0
[null]
size = 8, 16
time = 10ms
spin = yes
END
"$gradsync" run slow.ini -q -o slow 2>slow.err &
pid=$!
has_block() { grep -qs '"type":"block"' slow/here/null/*/launch-01.01.jsonl; }
until_true 100 has_block || flunk 'the run begins' "$(cat slow.err)"
kill -TERM $pid
wait $pid
is $? 1 'an interrupted run exits with 1'
dir=$(echo slow/here/null/*)
rec=$dir/launch-01.01.jsonl
is "$(of end .status)" interrupted 'the recording of an interrupted run is closed'
before=$(count group)
ok 'resume measures the rest of an interrupted run' "$gradsync" resume -q "$dir"
rec=$dir/launch-01.02.jsonl
is "$((before + $(count group))) $(of end .status)" '2 complete' \
    'an interrupted and resumed run has each group once'

# ---- the rank program ----
fails1 2 '' "$build/gradsync-rank" "$dir"
exits 2 'a rank refuses to start among fewer ranks than planned' "$build/gradsync-rank" "$dir" 1 9
like "$out" 'ranks=2 in the plan, but 1 ranks were started'
no_orphans 'no process is left'

done_testing
