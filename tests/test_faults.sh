#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What goes wrong costs the cell it goes wrong in: crashes, hangs, kills, signals, a full disk. After
# each nothing runs any more, the other cells are measured, and the failure is recorded as what it was.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0" # a crash is to look like one

base() {
    printf '%s\n' '[platform]' 'name = p' '[launch]' 'ranks = 2' 'oversubscribe = yes' '[measure]' \
        'launches = 1' 'retries = 0' 'deadline = 2s' 'warmup = 0' 'warmup_ops = 1' "$@"
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
fails() { lines "$1" fail | sed 's/.*"kind":"\([a-z]*\)".*/\1/' | paste -sd' '; }
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
launcher() { children "$top_pid" | head -n 1; }
shim() { for p in $(children "$(launcher)"); do [[ $(tr '\0' '\n' <"/proc/$p/environ") == *"OMPI_COMM_WORLD_RANK=$1"$'\n'* ]] && echo "$p"; done; }
rank() { children "$(shim "$1")"; }
completes() { # NAME: resume does
    ok "$1: resume" "$gradsync" resume -q "$dir"
    ok '… completes the run' "$gradsync" check "$dir"
    closed_once "$dir" 3 '… and nothing is done twice'
    gone '… no process is left'
}

# Answered at the end: silence takes half a minute to be noticed.
begin stop_mpirun
kill -STOP "$(launcher)" && echo "$top_pid" >stop_mpirun.pid
begin stop_all --set measure:retries=1
# shellcheck disable=SC2046
kill -STOP "$(launcher)" $(shim 0) $(shim 1) $(rank 0) $(rank 1) && echo "$top_pid" >stop_all.pid

# ---- faults of the plugin: each costs its own cell, and is called what it is ----

kinds='crash:crash prepare_crash:crash hang:hang wait:hang stop:hang exit:lost fail:failed
    prepare_fail:failed wrong:wrong skip:skip unfit:skip'
# shellcheck disable=SC2086
faults=$(printf ',%s' $kinds | sed 's/:[a-z]*//g')
exits 1 'a run with every fault' "$gradsync" run fault.ini -o every --set "null:fault=none,retry$faults"
dir=$(the_run every)
like "$err" 'gradsync: null: 9 of 13 cells failed; the first: fault=[a-z_]+ \([0-9a-f]{16}\): ' '… says how many failed'
ok '… is whole and final' "$gradsync" check "$dir"
deaths=$(fails "$dir" | tr ' ' '\n' | grep -cE 'crash|hang|lost')
attempts=$(ls "$dir"/launch-*.jsonl | wc -l)
ok '… in an attempt a death, and one more unless the last cell died' \
    [ "$deaths" = 6 -a $((attempts - deaths)) -ge 0 -a $((attempts - deaths)) -le 1 ]
cell() { # FAULT: its id
    sed -n '/"id"/{s/.*"id": "\([0-9a-f]*\)".*/\1/;h};/"params"/{/ fault='"$1"' /{x;p}}' "$dir/plan.json"
}
for pair in $kinds; do
    is "$(grep -h '"type":"fail"' "$dir"/*.jsonl | grep "\"cell\":\"$(cell "${pair%:*}")\"" | sed 's/.*"kind":"\([a-z]*\)".*/\1/')" \
        "${pair#*:}" "… ${pair%:*} is recorded as ${pair#*:}, once"
done
for good in none retry; do
    is "$(grep -h '"type":"group"' "$dir"/*.jsonl | grep -c "\"cell\":\"$(cell $good)\"")" 1 "… $good is measured, once"
done
gone '… and no process is left'
ok 'samples taken again are no failure' "$gradsync" run -q fault.ini -o again --set null:fault=retry
ok 'cells that do not fit are no failure' "$gradsync" run fault.ini -o unfit --set null:fault=none,unfit
like "$err" 'null: 1 of 2 cells skipped; the first: fault=unfit .*does not fit' '… and said'

exits 1 'a crash on rank 1' "$gradsync" run fault.ini -o rank1 --set null:fault=crash --set null:fault_rank=1
like "$(lines "$(the_run rank1)" fail)" '"kind":"crash","why":"killed by SIGSEGV","rank":1,"host":"[^"]+","phase":"[a-z]+"' \
    '… is recorded with its rank, host and phase'
exits 1 'retries' "$gradsync" run fault.ini -o retries --set null:fault=exit --set measure:retries=2
is "$(fails "$(the_run retries)")" 'lost lost lost' '… are one more than none'
like "$err" 'launch 1 attempt 3: lost: \([0-9a-f]{16}\); exited with code 0' '… each said as it happens'

# ---- faults of opening: nothing can be measured ----

for fault in open_crash open_exit open_fails; do
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -I"$top/runner" -fPIC -shared -DNAME=bad -DOPEN=$fault \
        -o bad.so "$top/tests/bad_plugins/bad.c" || flunk "$fault compiles"
    base '[bad]' 'size = 8, 16' >bad.ini
    exits 1 "$fault" env GRADSYNC_PLUGIN_PATH="$tmp" "$gradsync" run -q bad.ini -o $fault
    one_line "$err" '… is one line'
    dir=$(the_run $fault)
    gone '… and leaves no process'
done
like "$err" 'gradsync: rank [01]: bad: rank [01] on .* \(log: launch-01.01.log\)' 'a failed open says which rank, and why'

# ---- kills ----

for n in 0 1 2; do
    begin kill_rank$n --set measure:retries=1 --set launch:ranks=3
    kill -KILL "$(rank $n)"
    end 0 "SIGKILL to rank $n: tried again"
    is "$(fails "$dir")" crash '… recorded as a crash'
    like "$(lines "$dir" fail)" '"why":"killed by SIGKILL","rank":'$n',' '… by its signal and rank, with no guess about memory'
    like "$err" "killed by SIGKILL \(rank $n on [^ ]+\)" '… and is said so, with the host'
    closed_once "$dir" 3 '… all is measured once'
    gone '… no process is left'
done

# Each rank several times: it is stopped at work, and where it waits for the others.
for n in 0 1 2 0 1 2 0 1 2; do
    rm -rf stop_rank$n
    begin stop_rank$n --set measure:retries=1 --set launch:ranks=3
    kill -STOP "$(rank $n)"
    end 0 "SIGSTOP to rank $n: tried again"
    like "$(fails "$dir")$(lines "$dir" fail)" '^hang.*"why":"stopped by SIGSTOP \(state T\)","rank":'$n',"host":"[^"]+"' \
        '… and that rank alone is named'
    closed_once "$dir" 3 '… all is measured once'
    gone '… no process is left'
done

begin kill_shim --set measure:retries=1
kill -KILL "$(shim 1)"
end 0 'SIGKILL to a shim: tried again'
is "$(fails "$dir")" lost '… recorded as lost'
closed_once "$dir" 3 '… all is measured once'
gone '… no process is left'

begin kill_mpirun --set measure:retries=1
kill -KILL "$(launcher)"
end 0 'SIGKILL to mpirun: tried again'
is "$(fails "$dir")" lost '… recorded as lost'
like "$(lines "$dir" fail)" 'mpirun was killed by signal 9' '… that says why'
closed_once "$dir" 3 '… all is measured once'
gone '… no process is left'

begin kill_gradsync
kill -KILL "$top_pid"
end 137 'SIGKILL to gradsync'
gone '… takes everything with it'
completes '… and can be resumed'

for signal in INT TERM HUP USR1; do
    begin "sig$signal"
    kill -$signal "$top_pid"
    end 1 "SIG$signal to gradsync"
    like "$err" "gradsync: interrupted; .* gradsync resume $dir" '… says how to resume'
    like "$(tail -n 1 "$dir/launch-01.01.jsonl")" '"status":"interrupted"' '… and closes the recording'
    is "$(fails "$dir")" '' '… with no failure'
    gone '… no process is left'
    completes '… and can be resumed'
done

begin quiet_int -q
kill -INT "$top_pid"
end 1 'SIGINT to a quiet run'
one_line "$err" '… still says how to resume'

begin int_twice --set null:fault=hang --set null:fault_after=50 --set measure:deadline=30s
hangs() { ps -o stat= -p "$(rank 0)" | grep -q '^S'; } # one that works spins
until_true 60 hangs || flunk 'rank 0 hangs' "$(ps -ef)"
kill -INT "$top_pid"
until_true 60 grep -q 'again to stop now' int_twice.err || flunk 'the first signal is answered'
kill -INT "$top_pid"
end 1 'SIGINT twice while a rank hangs'
is "$(fails "$dir")" '' '… ends at once'
gone '… no process is left'

mkdir -p home/bin
printf '#!/bin/bash\ntouch up\nsleep 100 & sleep 100\n' >home/bin/mpirun && chmod +x home/bin/mpirun
MPI_HOME=$tmp/home env --default-signal=INT,HUP,TERM "$gradsync" run slow.ini -o early 2>early.err &
top_pid=$! name=early
until_true 60 [ -e up ]
kill -INT "$top_pid"
end 1 'SIGINT before a rank has started'
dir=$(the_run early)
gone '… no process is left'

printf '#!/bin/bash\nexec "%s" "$@"\n' "$(command -v mpirun)" >home/bin/mpirun
"$gradsync" run slow.ini -o pipe 2>&1 | head -n 1 >/dev/null
is "${PIPESTATUS[0]}" 0 'a reader that leaves does not end a run'

# ---- two at once ----

begin busy
exits 2 'resume of a run that is going on' "$gradsync" resume "$dir"
is "$err" "$dir: process $top_pid is measuring into it; wait for it, or end it first" '… is refused, and says who has it'
end 0 '… and the run goes on'
closed_once "$dir" 3 '… undisturbed'

# ---- no room ----

cat >full.sh <<'END'
mkdir full && mount -t tmpfs -o size=4m none full && head -c $((4 * 1048576 - 49152)) /dev/zero >full/ballast || exit 77
"$gradsync" run -q full.ini -o full
code=$?
dir=$(ls -d full/*/*/*)
wc -l <"$dir/launch-01.01.jsonl" >full.lines
rm full/ballast
"$gradsync" resume -q "$dir" && "$gradsync" check -q "$dir" && cp -r "$dir" kept && exit $code
END
sed 's/^max_blocks.*/max_blocks = 20/; s/^size = .*/size = 8:512:x2/; s/^time.*//; s/^spin.*//; s/^precision/samples = 200\n&/' slow.ini >full.ini
export gradsync
if run unshare -rm bash full.sh && [ $rc != 77 ] && [[ $err != *unshare* ]]; then
    is "$rc" 1 'a full disk'
    like "$err" 'launch-01\.01\.jsonl: cannot write: No space left on device; free some space' '… is said with the remedy'
    one_line "$err" '… once'
    [ "$(cat full.lines)" -gt 3 ] && pass '… what was recorded is kept' || flunk '… what was recorded is kept'
    closed_once kept 7 '… and with room the run is completed'
else
    skip 'a full disk' 'needs a mount of its own'
fi
exits 1 'a file size limit' "$gradsync" run -q full.ini -o limit --set 'launch:prefix=prlimit --fsize=20000' \
    --set 'launch:args=--mca btl self,tcp'
like "$err" 'cannot write: File too large; raise the file size limit' '… is said with the remedy'
dir=$(the_run limit)
is "$(tail -c 1 "$dir/launch-01.01.jsonl" | od -An -c | tr -d ' ')" '\n' '… and leaves whole lines'
gone '… no process is left'

# ---- those that nobody hears of but by their silence ----

finish() { # NAME WHO
    name=$1 top_pid=$(cat "$1.pid")
    dir=$(the_run "$name")
    end 0 "SIGSTOP to $2"
    like "$err" 'launch 1 attempt 1: hang: .*no message from the ranks for 3[0-9] s' '… is noticed'
    closed_once "$dir" 3 '… and all is measured once'
}
finish stop_mpirun 'mpirun, whose ranks went on'
finish stop_all 'mpirun and all ranks: tried again'
is "$(fails "$dir")" hang '… recorded as a hang'
no_orphans '… no process is left'

done_testing
