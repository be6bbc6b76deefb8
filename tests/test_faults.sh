#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
# Waits
# Takes minutes
#
# What goes wrong costs only the cell it goes wrong in: crashes, hangs, kills, signals, a full disk.
# After each of them nothing runs any more, the other cells are measured, and the recording says
# what the failure was.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0" # a crash is to look like one

base() {
    printf '%s\n' '[platform]' 'name = p' '[launch]' 'ranks = 2' 'oversubscribe = yes' '[measure]' \
        'launches = 1' 'retries = 0' 'deadline = 5s' 'warmup = 0' 'warmup_ops = 1' "$@"
}
base 'blocks = 2' 'max_blocks = 2' 'budget = 100ms' '[null]' 'size = 8' >fault.ini
# Three groups of about a second each: time to be hit in.
base 'blocks = 20' 'max_blocks = 1000000' 'budget = 1s' 'precision = 0.01%' \
    '[null]' 'size = 8, 16, 32' 'spin = yes' 'time = 1ms' 'noise = 5%' >slow.ini

nobody() { ! pgrep -f -- "$dir" >/dev/null; }
gone() { # NAME: no process has the run folder's name among its arguments
    if until_true 60 nobody; then pass "$1"; else flunk "$1" "$(pgrep -af -- "$dir")"; fi
}
the_run() { ls -d "$1"/*/*/*; }
lines() { cat "$1"/launch-*.jsonl | grep "\"type\":\"$2\""; }
failed() { lines "$1" fail | sed 's/.*"kind":"\([a-z]*\)".*/\1/' | paste -sd' '; }
closed_once() { # DIR N NAME: N groups are closed, each in one attempt of its launch
    local closed
    closed=$(for f in "$1"/launch-*.jsonl; do
        sed -n "s/.*\"type\":\"group\",.*\"group\":\"\([0-9a-f]*\)\".*/${f##*/} \1/p" "$f" |
            sed 's/^launch-\([0-9]*\)\.[0-9]*\.jsonl/\1/'
    done)
    is "$(wc -l <<<"$closed") $(sort -u <<<"$closed" | wc -l)" "$2 $2" "$3"
}

begin() { # NAME [OPTION…]: slow.ini in the background, past its first block
    name=$1
    # A shell ignores SIGINT for what it starts in the background.
    env --default-signal=INT,HUP,TERM "$gradsync" run slow.ini -o "$name" "${@:2}" 2>"$name.err" &
    top_pid=$!
    until_true 60 started || flunk "$name starts" "$(cat "$name.err")"
    dir=$(the_run "$name")
}
started() { grep -qs '"type":"block"' "$name"/*/*/*/launch-01.01.jsonl; }
end() { # CODE NAME
    wait "$top_pid"
    is $? "$1" "$2"
    err=$(cat "$name.err")
}
children() { pgrep -P "$1" | sort -n; }
# gradsync has a keeper beside it.
launcher() { pgrep -P "$top_pid" -x "mpirun|orterun|prterun|mpiexec"; }
shim() {
    for p in $(children "$(launcher)"); do
        [[ $(tr '\0' '\n' <"/proc/$p/environ") == *"OMPI_COMM_WORLD_RANK=$1"$'\n'* ]] && echo "$p"
    done
}
rank() { children "$(shim "$1")"; }
completes() { # NAME: resume completes the run
    ok "$1: resume succeeds" "$gradsync" resume -q "$dir"
    ok "$1: the resumed run is sound" "$gradsync" check "$dir"
    closed_once "$dir" 3 "$1: resume measures nothing twice"
    gone "$1: resume leaves no process"
}

# Answered at the end: silence takes half a minute to be noticed.
begin stop_mpirun
kill -STOP "$(launcher)" && echo "$top_pid" >stop_mpirun.pid
begin stop_all --set measure:retries=1
# shellcheck disable=SC2046
kill -STOP "$(launcher)" $(shim 0) $(shim 1) $(rank 0) $(rank 1) && echo "$top_pid" >stop_all.pid

# ---- faults of the plugin: each costs its own cell, and is called what it is ----

kinds='crash:crash prepare_crash:crash hang:hang wait:hang stop:hang exit:lost lost:lost
    fail:failed prepare_fail:failed wrong:wrong skip:skip unfit:skip'
# shellcheck disable=SC2086
faults=$(printf ',%s' $kinds | sed 's/:[a-z]*//g')
exits 1 'a run with every fault exits with 1' "$gradsync" run fault.ini -o every --set \
    "null:fault=none,retry$faults"
dir=$(the_run every)
like "$err" 'gradsync: null: 10 of 14 cells failed; the first: fault=[a-z_]+ \([0-9a-f]{16}\): '
ok 'a run with every fault is sound and final' "$gradsync" check "$dir"
deaths=$(failed "$dir" | tr ' ' '\n' | grep -cE 'crash|hang|lost')
attempts=$(ls "$dir"/launch-*.jsonl | wc -l)
ok 'each death of a rank costs one attempt' \
    [ "$deaths" = 7 -a $((attempts - deaths)) -ge 0 -a $((attempts - deaths)) -le 1 ]
cell() { # FAULT: its id
    sed -n '/"id"/{s/.*"id": "\([0-9a-f]*\)".*/\1/;h};/"params"/{/ fault='"$1"' /{x;p}}' \
        "$dir/plan.json"
}
for pair in $kinds; do
    is "$(grep -h '"type":"fail"' "$dir"/*.jsonl | grep "\"cell\":\"$(cell "${pair%:*}")\"" | sed \
        's/.*"kind":"\([a-z]*\)".*/\1/')" \
        "${pair#*:}" "the fault ${pair%:*} is recorded as ${pair#*:}, once"
done
like "$(lines "$dir" fail)" '"lost","why":"scripted fault .lost. after 0 samples","rank":0,' \
    'a process that the plugin gives up is recorded with the reason of the plugin'
for good in none retry; do
    is "$(grep -h '"type":"group"' "$dir"/*.jsonl | grep -c "\"cell\":\"$(cell $good)\"")" 1 \
        "the cell with fault=$good is measured once"
done
gone 'a run with every fault leaves no process'
ok 'a sample that is taken again is no failure' "$gradsync" run -q fault.ini -o again --set \
    null:fault=retry
says 'null: 1 of 2 cells skipped; the first: fault=unfit .*does not fit' "$gradsync" run fault.ini \
    -o unfit --set null:fault=none,unfit

exits 1 'a crash of rank 1 fails the run' "$gradsync" run fault.ini -o rank1 --set \
    null:fault=crash --set null:fault_rank=1
like "$(lines "$(the_run rank1)" fail)" \
    '"kind":"crash","why":"killed by SIGSEGV","rank":1,"host":"[^"]+","phase":"[a-z]+"' \
    'a crash is recorded with its rank, host and phase'
exits 1 'a cell that dies in every retry fails the run' "$gradsync" run fault.ini -o retries --set \
    null:fault=exit --set measure:retries=2
is "$(failed "$(the_run retries)")" 'lost lost lost' 'a cell with two retries is tried three times'
like "$err" 'launch 1 attempt 3: lost: \([0-9a-f]{16}\); exited with code 0'

# ---- faults of opening: nothing can be measured ----

for fault in open_crash open_exit open_fails; do
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -I"$top/runner" -fPIC -shared -DNAME=bad -DOPEN=$fault \
        -o bad.so "$top/tests/bad_plugins/bad.c" || flunk "$fault compiles"
    base '[bad]' 'size = 8, 16' >bad.ini
    fails1 1 '' env GRADSYNC_PLUGIN_PATH="$tmp" "$gradsync" run -q bad.ini -o $fault
    dir=$(the_run $fault)
    gone "a plugin with $fault leaves no process"
done
like "$err" 'gradsync: rank [01]: bad: rank [01] on .* \(log: launch-01.01.log\)'

"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -I"$top/runner" -fPIC -shared -DNAME=bad \
    -DSAMPLE=sample_in_ms -o bad.so "$top/tests/bad_plugins/bad.c" || flunk 'sample_in_ms compiles'
exits 1 'a plugin whose times are 1000 times too long fails the run' \
    env GRADSYNC_PLUGIN_PATH="$tmp" "$gradsync" run -q bad.ini -o in_ms
like "$(lines "$(the_run in_ms)" fail)" 'last longer than end_ns - start_ns' \
    'the record says that the time of the sample is longer than the sample'

# ---- kills ----

for n in 0 1 2; do
    begin kill_rank$n --set measure:retries=1 --set launch:ranks=3
    kill -KILL "$(rank $n)"
    end 0 "a run survives SIGKILL to rank $n with a retry"
    is "$(failed "$dir")" crash "SIGKILL to rank $n is recorded as a crash"
    like "$(lines "$dir" fail)" '"why":"killed by SIGKILL","rank":'$n',' \
        "the record of a killed rank $n has its signal and rank, and no guess about memory"
    like "$err" "killed by SIGKILL \(rank $n on [^ ]+\)"
    closed_once "$dir" 3 "every group is closed once after SIGKILL to rank $n"
    gone "no process is left after SIGKILL to rank $n"
done

# Each rank several times: it is stopped at work, and where it waits for the others.
for n in 0 1 2 0 1 2; do
    rm -rf stop_rank$n
    begin stop_rank$n --set measure:retries=1 --set launch:ranks=3
    kill -STOP "$(rank $n)"
    end 0 "a run survives SIGSTOP to rank $n with a retry"
    like "$(failed "$dir")$(lines "$dir" fail)" \
        '^hang.*"why":"no progress for [^"]*: stopped by a signal \(state T\)","rank":'$n',"host":"' \
        "the record of a stopped rank $n names that rank alone"
    closed_once "$dir" 3 "every group is closed once after SIGSTOP to rank $n"
    gone "no process is left after SIGSTOP to rank $n"
done

begin kill_shim --set measure:retries=1
kill -KILL "$(shim 1)"
end 0 'a run survives SIGKILL to a shim with a retry'
is "$(failed "$dir")" lost 'SIGKILL to a shim is recorded as lost'
closed_once "$dir" 3 'every group is closed once after SIGKILL to a shim'
gone 'no process is left after SIGKILL to a shim'

begin kill_mpirun --set measure:retries=1
kill -KILL "$(launcher)"
end 0 'a run survives SIGKILL to mpirun with a retry'
is "$(failed "$dir")" lost 'SIGKILL to mpirun is recorded as lost'
like "$(lines "$dir" fail)" 'mpirun was killed by signal 9' 'the record says that mpirun was killed'
closed_once "$dir" 3 'every group is closed once after SIGKILL to mpirun'
gone 'no process is left after SIGKILL to mpirun'

begin kill_gradsync
kill -KILL "$top_pid"
end 137 'SIGKILL to gradsync ends it'
gone 'no process is left after SIGKILL to gradsync'
completes 'SIGKILL to gradsync'

for signal in INT TERM HUP USR1; do
    begin "sig$signal"
    kill -$signal "$top_pid"
    end 1 "SIG$signal to gradsync exits with 1"
    like "$err" "gradsync: interrupted; .* $gradsync resume $dir"
    like "$(tail -n 1 "$dir/launch-01.01.jsonl")" '"status":"interrupted"' \
        "SIG$signal closes the recording as interrupted"
    is "$(failed "$dir")" '' "SIG$signal records no failure"
    gone "no process is left after SIG$signal"
    completes "SIG$signal to gradsync"
done

begin quiet_int -q
kill -INT "$top_pid"
end 1 'SIGINT to a quiet run exits with 1'
one_line "$err" 'a quiet run says how to resume in one line'

begin int_twice --set null:fault=hang --set null:fault_after=10 --set measure:deadline=30s
hangs() { ps -o stat= -p "$(rank 0)" | grep -q '^S'; } # one that works spins
until_true 60 hangs || flunk 'rank 0 hangs' "$(ps -ef)"
kill -INT "$top_pid"
until_true 60 grep -q 'again to stop now' int_twice.err || flunk 'the first signal is answered'
kill -INT "$top_pid"
end 1 'a second SIGINT ends a run whose rank hangs'
is "$(failed "$dir")" '' 'a second SIGINT records no failure'
gone 'no process is left after a second SIGINT'

mkdir -p home/bin
printf '#!/bin/bash\ntouch up\nsleep 100 & sleep 100\n' >home/bin/mpirun && chmod +x home/bin/mpirun
MPI_HOME=$tmp/home env --default-signal=INT,HUP,TERM "$gradsync" run slow.ini -o early 2>early.err &
top_pid=$! name=early
until_true 60 [ -e up ]
kill -INT "$top_pid"
end 1 'SIGINT before a rank has started exits with 1'
dir=$(the_run early)
gone 'no process is left after an early SIGINT'

printf '#!/bin/bash\nexec "%s" "$@"\n' "$(command -v mpirun)" >home/bin/mpirun
"$gradsync" run slow.ini -o pipe 2>&1 | head -n 1 >/dev/null
is "${PIPESTATUS[0]}" 0 'a run goes on when the reader of its output leaves'

# ---- two at once ----

begin busy
exits 2 'resume of a run that is going on is refused' "$gradsync" resume "$dir"
is "$err" "$dir: another gradsync is measuring into it; wait for it, or end it first" \
    'the error says what to do'
end 0 'the run that is going on ends well'
closed_once "$dir" 3 'a refused resume disturbs no group'

# ---- no room ----

cat >full.sh <<'END'
mkdir full && mount -t tmpfs -o size=4m none full &&
    head -c $((4 * 1048576 - 49152)) /dev/zero >full/ballast || exit 77
"$gradsync" run -q full.ini -o full
code=$?
dir=$(ls -d full/*/*/*)
wc -l <"$dir/launch-01.01.jsonl" >full.lines
rm full/ballast
"$gradsync" resume -q "$dir" && "$gradsync" check -q "$dir" && cp -r "$dir" kept && exit $code
END
sed 's/^max_blocks.*/max_blocks = 20/; s/^size = .*/size = 8:512:x2/; s/^time.*//; s/^spin.*//
    s/^precision/samples = 200\n&/' slow.ini >full.ini
export gradsync
if run unshare -rm bash full.sh && [ $rc != 77 ] && [[ $err != *unshare* ]]; then
    is "$rc" 1 'a run on a full disk exits with 1'
    like "$err" 'launch-01\.01\.jsonl: cannot write: No space left on device; free some space'
    one_line "$err" 'the error about a full disk is one line'
    name='lines written before the disk was full are kept'
    [ "$(cat full.lines)" -gt 3 ] && pass "$name" || flunk "$name"
    closed_once kept 7 'the run is completed once the disk has room'
else
    skip 'a run on a full disk exits with 1' 'needs a mount of its own'
fi
fails 1 'cannot write: File too large; raise the file size limit' "$gradsync" run -q full.ini -o \
    limit --set 'launch:prefix=prlimit --fsize=20000' --set 'launch:args=--mca btl self,tcp'
dir=$(the_run limit)
is "$(tail -c 1 "$dir/launch-01.01.jsonl" | od -An -c | tr -d ' ')" '\n' \
    'a recording cut by the file size limit ends with a whole line'
gone 'no process is left after the file size limit'

# ---- those that nobody hears of but by their silence ----

finish() { # NAME WHO
    name=$1 top_pid=$(cat "$1.pid")
    dir=$(the_run "$name")
    end 0 "a run survives SIGSTOP to $2"
    like "$err" 'launch 1 attempt 1: hang: .*no message from the ranks for 3[0-9] s'
    closed_once "$dir" 3 "every group is closed once after SIGSTOP to $2"
}
finish stop_mpirun 'mpirun, whose ranks went on'
finish stop_all 'mpirun and all ranks, with a retry'
is "$(failed "$dir")" hang 'SIGSTOP to mpirun and all ranks is recorded as a hang'
no_orphans 'no process is left at the end'

done_testing
