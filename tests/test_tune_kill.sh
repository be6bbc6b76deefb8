#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
# Takes minutes
#
# A process of tune is killed, stopped or interrupted, in each stage: gradsync, the launcher, the guard of the launch, a
# rank. No process and no shared memory is left. A launch that was killed proves no setting. One line names the
# cause. The whole matrix, as a table: bash tests/test_tune_kill.sh --all
. "$(dirname "$0")/lib.sh"

train=$build/examples/mpi_train
if [ ! -x "$train" ] || ! command -v mpirun >/dev/null; then skip_all 'built without MPI'; fi
export OMPI_MCA_mpi_yield_when_idle=1
echo 'any: MUCH_FASTER=1' >candidates
echo 'mpi: OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=3' >>candidates
cat >job <<END
#!/bin/sh
sleep 1 # of loading
exec mpirun --oversubscribe -n 2 $train steps=0 rest=1 MiB=1 buckets=2 compute_ms=\$((MUCH_FASTER ? 3 : SLOW ? 700 : 60))
END
chmod +x job

begin() { # STAGE, in the background: $pid, what it says is in told
    local only=(-m 3 --only MUCH_FASTER --no-price) slow=0
    case $1 in
    learn) slow=1 ;;
    price | copies) only=(-m 1 --only algorithm=3) ;;
    esac
    rm -rf raw && mkdir raw
    (exec env --default-signal=INT SLOW=$slow "$gradsync" tune -o raw -l 2 --seed 3 -c candidates "${only[@]}" -- ./job) >told 2>&1 &
    pid=$!
}
wrote() { grep -qs "$1" raw/.trial*/*.jsonl; }
in_stage() { # STAGE
    case $1 in
    learn) wrote '"type":"comm"' ;;
    price) wrote '"turn","arm":"none"' && [ "$(cat raw/.trial*/*.jsonl | grep -c '"visit"')" -ge 8 ] ;;
    copies) wrote '"turn","arm":"s[0-9]' ;;
    launches) grep -q 'left: launches, round' told && wrote '"visit"' ;;
    proof) grep -q 'left: proof' told && wrote '"visit"' ;;
    esac
}
victim() { # WHO
    case $1 in
    gradsync) echo $pid ;;
    guard) pgrep -P $pid ;;
    launcher) family $pid | grep mpirun ;;
    rank) family $pid | grep mpi_train | tail -n 1 ;;
    esac | cut -d' ' -f1
}
family() { # PID: the processes that descend from it, with their names
    local child
    for child in $(pgrep -P "$1"); do
        ps -o pid=,comm= -p "$child" | xargs
        family "$child"
    done
}
hurt() { # STAGE WHO SIGNAL: $ended, its exit code; false: the stage was not reached
    local target
    begin "$1"
    until_true 60 eval 'in_stage '"$1"' || ! kill -0 $pid 2>/dev/null'
    in_stage "$1" || { kill -KILL $pid 2>/dev/null; wait $pid; return 1; }
    for rank in $(family $pid | grep mpi_train | cut -d' ' -f1); do grep -o '/dev/shm/[^ ]*' "/proc/$rank/maps"; done | sort -u >segments
    target=$(victim "$2" | head -n 1)
    kill "-$3" "$target"
    [ "$2$3" != gradsyncSTOP ] || { sleep 2 && kill -CONT $pid; }
    until_true 150 eval '! kill -0 $pid 2>/dev/null'
    wait $pid
    ended=$?
}
segments() { # that the ranks had, and that are still there
    while read -r segment; do [ ! -e "$segment" ] || echo "$segment"; done <segments
}
why() { grep -v 'left: \|thrown away\|step takes\|recordings:\|took ' told | cut -c1-150 | head -n 2 | tr '\n' '|'; }

if [ "${1-}" = --all ]; then
    printf '%-9s %-9s %-5s %-3s %s\n' stage who what rc 'what it says'
    for stage in learn price copies launches proof; do
        for case in gradsync:KILL gradsync:INT gradsync:STOP launcher:KILL launcher:STOP guard:KILL guard:STOP rank:KILL rank:STOP; do
            hurt $stage ${case%:*} ${case#*:} || { printf '%-9s %-9s %-5s not reached\n' $stage ${case%:*} ${case#*:}; continue; }
            until_true 30 tap_alone
            printf '%-9s %-9s %-5s %-3s %s%s%s\n' $stage ${case%:*} ${case#*:} "$ended" "$(why)" \
                "$(tap_alone || echo ' RUNS ON')" "$(segments | sed 's/^/ LEFT: /')"
        done
    done
    exit 0
fi

check() { # STAGE WHO SIGNAL CODE REGEX
    local name="SIG$3 of $2, stage $1"
    ok "$name: the stage is reached" hurt "$1" "$2" "$3"
    is "$ended" "$4" "$name: the exit code"
    like "$(cat told)" "$5" "$name: one line says why"
    unlike "$(cat told)" 'algorithm=3: .*proven' "$name: nothing false is proven"
    no_orphans "$name: nothing runs on"
    is "$(segments)" '' "$name: no shared memory is left"
}
check learn rank KILL 1 'tune: the command: crash: .*; its last line: mpirun noticed that process rank [01] .* exited on signal 9'
check learn launcher KILL 1 'tune: the command: crash: exit code 137 \(a shell.s code for signal 9, SIGKILL\)'
check learn rank STOP 1 'tune: the command: hang: (no step was found in 3[0-9] s|it completed no visit for [0-9]+ s and was killed); process [0-9]+ of it was stopped \(SIGSTOP\)'
check price rank STOP 0 'the job hung.*it completed no visit for [0-9]+ s and was killed; process [0-9]+ of it was stopped \(SIGSTOP\)'
check copies guard KILL 1 'tune: the command: lost: the process that guards the launch was killed or stopped'
check launches gradsync INT 1 'tune: interrupted; the measurements are kept; continue with: .*gradsync resume raw/'
check proof gradsync KILL 137 'left: proof'
is "$(find raw -name '*-proof-*' -type d | wc -l), $(find raw -path '*-proof-*' -name MANIFEST.json | wc -l)" '1, 0' 'a proof that was killed is not sealed'
exits 0 'resume goes on' "$gradsync" resume raw/job/train/*tune*
like "$out" 'MUCH_FASTER=1' 'and has the answer'
is "$(find raw -name '.trial*' | wc -l)" 0 'no file of the ranks is left'
done_testing
