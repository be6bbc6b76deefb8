#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a rank measures and records, on scripted samples; also under ASan.
# shellcheck disable=SC2016 # perl, not the shell, expands them
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"

[ -e "$build/plugins/null.so" ] || skip_all "no null plugin here"

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

# of TYPE EXPRESSION prints the perl expression of each line of that type, $_ being the object.
of() {
    perl -MJSON::PP -e '
        my ($file, $type, $do) = @ARGV;
        sub median { my @s = sort { $a <=> $b } @_; ($s[$#s / 2] + $s[@s / 2]) / 2 }
        sub true { $_[0] ? "yes" : "no" }
        open my $in, "<", $file or die "$file: $!\n";
        while (my $line = <$in>) {
            last unless $line =~ /\n$/;
            local $_ = decode_json $line;
            print eval($do) // die($@), "\n" if $_->{type} eq $type;
        }' "${3:-$rec}" "$1" "$2"
}
count() { of "$1" "${2:-1}" | grep -c . || true; }
joined() { of "$@" | paste -sd' ' -; }
# The cells of a block in the order in which they were visited, a line a block.
visits() {
    of block '"$_->{block} $_->{cell}.$_->{copy}"' |
        awk '{ v[$1] = v[$1] " " $2 } END { for (b = 1; b in v; b++) print v[b] }'
}

# ---- what is in a recording ----
UCX_TLS=sm NCCL_API_KEY=hunter2 OTHER_SECRET=hunter3 measure plain null:noise=0.01
is "$rc" 0 'a run that measures all exits with 0'
is "$err" '' '-q says nothing'
is "$(head -n 1 "$rec" | cut -c1-16)" '{"type":"header"' 'the header is the first line'
is "$(tail -n 1 "$rec" | cut -c1-12)" '{"type":"end' 'the end is the last'
is "$(of end '$_->{status}')" complete 'and says complete'
is "$(of header '"$_->{ranks} $_->{clock}{name} " . join ",", map { $_->{rank} } @{$_->{hosts}}')" \
    '2 CLOCK_MONOTONIC 0,1' 'the header has the ranks, the clock and every host'
is "$(of header '$_->{config}')" "$(cat c.ini)" 'and the config as it was'
is "$(of header '$_->{env}{UCX_TLS} . $_->{env}{NCCL_API_KEY}')" 'sm(hidden)' 'and what tunes communication'
unlike "$(cat "$rec")" hunter 'but no secret of the environment'
is "$(count group)" 1 'one group was closed'
is "$(count health)" 6 'health is read around every block'
is "$(of health 'true exists $_->{before}{0}{load1} && exists $_->{after}{0}{load1}' | sort -u)" yes 'before and after'

# ---- blocks ----
is "$(of cell '"$_->{config}$_->{copy}"' | sort | paste -sd' ')" 'a0 a1 b0' 'the baseline is there twice, the other once'
is "$(of block '"$_->{cell}.$_->{copy}"' | sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" '6 6 6' \
    'each is visited once a block'
is "$(of block 'scalar @{$_->{time_ns}}' | sort -u)" 4 'a visit keeps as many samples as asked for'
is "$(of group 'join " ", map { $_->{blocks} } @{$_->{cells}}')" '6 6 6' 'the group line counts the blocks'
visits >plain.order
isnt "$(sed -n '1p;3p;5p' plain.order | sort -u | wc -l)" 1 'the order changes from block to block'
is "$(sed -n 2p plain.order | tr ' ' '\n' | tac | paste -sd' ' | sed 's/ $//')" \
    "$(sed -n 1p plain.order | sed 's/^ //')" 'an even block is the mirror of the one before'
of block 'join ",", $_->{block}, @{$_->{time_ns}}' >plain.times
measure again null:noise=0.01
is "$(visits)" "$(cat plain.order)" 'the same seed visits in the same order'
is "$(of block 'join ",", $_->{block}, @{$_->{time_ns}}')" "$(cat plain.times)" 'and takes the same samples'
measure other measure:seed=6
isnt "$(visits)" "$(cat plain.order)" 'another seed does not'
measure alone null:config=a
is "$(of cell '"$_->{config}$_->{copy}"' | paste -sd' ')" a0 'a config that is compared with nothing is there once'

# ---- samples ----
measure short null:time=1us measure:sample_time=100us
is "$(of block 'true $_->{iters} >= 100 && $_->{iters} <= 300' | sort -u)" yes 'iterations make a sample long enough'
is "$(of block 'true median(@{$_->{time_ns}}) == 1000 * $_->{iters}' | sort -u)" yes \
    'and its time is that of all of them'
is "$(of cell '$_->{iters}' | sort -u | wc -l)" 1 'the same number for both copies of the baseline'
measure slow null:warmup=3 measure:discard=1
is "$(of block 'join " ", map { $_ / 1e6 } @{$_->{time_ns}} if $_->{block} == 1' | sort -u | paste -sd,)" \
    ',2 1 1 1' 'one sample warms up, one is thrown away, and the third is kept'
measure discard null:warmup=3 measure:discard=2
is "$(of block 'join " ", map { $_ / 1e6 } @{$_->{time_ns}}' | sort -u)" '1 1 1 1' \
    'discard throws away what follows a switch'
measure ops null:warmup=3 measure:warmup_ops=3
is "$(of block 'join " ", map { $_ / 1e6 } @{$_->{time_ns}}' | sort -u)" '1 1 1 1' \
    'warmup_ops operations come before the first block'
measure time null:warmup=3 measure:warmup=18ms
is "$(of block 'join " ", map { $_ / 1e6 } @{$_->{time_ns}}' | sort -u)" '1 1 1 1' 'and warmup seconds of them'
measure ranks null:noise=0.2 measure:samples=200 measure:blocks=2 measure:max_blocks=2
is "$(of block 'true $_->{spread_ns} > 0 && median(@{$_->{time_ns}}) > 1.05e6 * $_->{metrics}{slowdown}' |
    sort -u)" yes 'the time is the slowest rank, other metrics are combined as they declare'
measure retry null:config=a null:fault=retry null:fault_rank=-1 null:fault_after=3
is "$rc $(count fail) $(of block 'join " ", map { $_ / 1e6 } @{$_->{time_ns}}' | sort -u)" '0 0 1 1 1 1' \
    'an invalid sample is taken again'
measure retry_one null:fault=retry null:fault_rank=1 null:fault_after=9
is "$rc $(of block 'scalar @{$_->{time_ns}}' | sort -u) $(count fail)" '0 4 0' 'also when one rank alone calls it so'

# ---- when to stop ----
measure calm measure:max_blocks=50
is "$(of group '"$_->{blocks} " . join " ", map { true $_->{converged} } @{$_->{cells}}')" '6 yes yes yes' \
    'it stops at `blocks` when all have converged'
measure noisy null:noise=0.3 measure:max_blocks=9
is "$(of group '"$_->{blocks} " . join " ", map { true $_->{converged} } @{$_->{cells}}')" '9 no no no' \
    'and at max_blocks when they have not'
measure budget null:noise=0.3 measure:max_blocks=1000 measure:budget=1ms
is "$(of group '"$_->{blocks} " . join " ", map { true $_->{converged} } @{$_->{cells}}')" '3 no no no' \
    'a spent budget ends it after three blocks'

# ---- faults ----
measure wrong null:fault=wrong null:fault_rank=1 null:fault_config=b null:fault_after=12
is "$rc" 1 'a wrong result makes exit code 1'
is "$(of fail '"$_->{kind} $_->{rank} $_->{phase}"')" 'wrong 1 verify' 'it is recorded with its rank'
is "$(of block '$_->{block}' | sort -n | uniq -c | awk '{ print $1 }' | paste -sd' ')" '3 3 2 2 2 2' \
    'its block is not; the other cells go on'
is "$(of group 'scalar @{$_->{cells}}')" 2 'and it is not among those that the group closed'
measure unverified measure:verify=no null:fault=wrong
is "$rc $(count fail)" '0 0' 'verify = no looks at nothing'
measure failing null:fault=fail null:fault_rank=1 null:fault_config=a null:fault_after=6
is "$(of fail '"$_->{kind} $_->{rank} $_->{why}"')" "failed 1 scripted fault 'fail' after 6 samples" \
    'the words are those of the rank that failed'
is "$(of group 'join " ", map { "$_->{copy}" } @{$_->{cells}}')" 0 'both copies of a failed baseline are dropped'
measure skipping null:fault=skip null:fault_config=b
is "$rc $(of fail '$_->{kind}') $(of group 'scalar @{$_->{cells}}')" '0 skip 2' 'a skipped cell is no failure'
measure waiting null:fault=wait null:fault_rank=1 null:fault_config=b measure:deadline=3s
is "$(of fail '"$_->{kind} $_->{rank} $_->{phase}"')" 'hang 1 warmup' 'a hang is ended by the deadline'
like "$(of fail '$_->{why}')" 'abort' 'first by abort()'
measure stopped null:fault=stop null:fault_rank=1 null:fault_config=b null:fault_after=8 measure:deadline=3s
like "$(of fail '"$_->{kind} $_->{rank} $_->{why}"')" '^hang 1 .*state T' 'a stopped rank is killed, and named as such'
is "$(of group '1' "$dir/launch-01.02.jsonl")" 1 'and the next attempt measures the rest'
no_orphans 'nothing is left of it'

# ---- a full disk ----
# The limit is on files that the ranks write: without shared memory that is the recording alone.
if command -v prlimit >/dev/null; then
    full=(launch:args='--mca btl self,tcp' measure:blocks=200 measure:max_blocks=200)
    measure full "${full[@]}" launch:prefix='prlimit --fsize=20000'
    is "$rc" 1 'a recording that cannot grow ends the run with 1'
    one_line "$err" 'in one line'
    like "$err" 'launch-01.01.jsonl.*File too large.*ulimit -f' 'that names the file and the remedy'
    ok 'what was recorded before is whole' of block 1
    is "$(tail -c 1 "$rec" | od -An -c | tr -d ' ')" '\n' 'no line is torn'
else
    skip 'a full disk' 'no prlimit'
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
until_true 30 has_block
kill -TERM $pid
wait $pid
is $? 1 'an interrupted run exits with 1'
dir=$(echo slow/here/null/*)
rec=$dir/launch-01.01.jsonl
is "$(of end '$_->{status}')" interrupted 'its recording is closed'
before=$(count group)
ok 'resume measures the rest' "$gradsync" resume -q "$dir"
rec=$dir/launch-01.02.jsonl
is "$((before + $(count group))) $(of end '$_->{status}')" '2 complete' 'each group once'

# ---- the rank program ----
exits 2 'a rank without its arguments says how it is used' "$build/gradsync-rank" "$dir"
one_line "$err" 'in one line'
exits 2 'a rank that was started with others than planned refuses' "$build/gradsync-rank" "$dir" 1 9
like "$out" 'ranks=2 in the plan, but 1 ranks were started' 'and says so to its supervisor'
no_orphans 'nothing is left'

done_testing
