#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync tune: jobs whose step is known. ./job prints step times that depend on its environment; its
# noise is drawn from the number of its starts. Jobs with MPI and NCCL: test_tune_mpi.sh, test_tune_nccl.sh.
# Takes minutes
. "$(dirname "$0")/lib.sh"

tune() { "$gradsync" tune -o raw --seed 3 "$@"; }
run_of() { find raw -name tune.json -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2; }
proof_of() { find raw -name '*-proof-*' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2; }

cat >job <<'END'
#!/bin/sh
# job: 200 steps of 100 ms, longer with some variables, and a little faster or slower in each start
[ -z "$NCCL_NEEDED" ] && [ -n "$NEEDS" ] && { echo "no route to host"; exit 5; }
[ -n "$WAIT" ] && [ "$(wc -l <starts)" = "$WAIT" ] && { touch waiting; cat gate; }
echo "$LD_PRELOAD" >>starts
ms=100
[ "$NCCL_MAX_CTAS" = 1 ] && ms=$((ms + 30))
[ "$NCCL_P2P_DISABLE" = 1 ] && ms=$((ms + 50))
[ "$FASTER" = 1 ] && ms=$((ms - 20))
awk -v ms=$ms -v seed="$(wc -l <starts)" 'BEGIN {
    srand(seed)
    ms *= 1 + 0.004 * (rand() - 0.5)
    for (i = 0; i < 200; i++)
        printf "iter %d: loss 1.0, time %.3fms\n", i, ms * (1 + 0.02 * (rand() - 0.5)) }'
END
chmod +x job
: >starts
harmless='NCCL_A=1 NCCL_B=1 NCCL_C=1 NCCL_D=1 UCX_E=1 UCX_F=1 FI_G=1 FI_H=1 NCCL_I=1 NCCL_J=1'

# ---- a setting is found, proven and recorded

# shellcheck disable=SC2086
exits 0 'tune answers' env $harmless NCCL_MAX_CTAS=1 NCCL_P2P_DISABLE=1 \
    "$gradsync" tune -o raw --seed 3 -- ./job
like "$(head -n 1 <<<"$out")" \
    '^Run without NCCL_P2P_DISABLE: steps 27\.[0-9]% shorter \[2[67]\.[0-9], 2[78]\.[0-9]\], proven in 4 launches that did not choose it' \
    'the worse of two planted variables among ten harmless ones is named, no other, with the proof'
is "$(grep ^unset <<<"$out" | xargs)" 'unset NCCL_P2P_DISABLE' \
    'the lines to paste follow'
run=$(run_of) proof=$(proof_of) answer=$out
exits 0 'check accepts both recordings' "$gradsync" check "$run" "$proof"
prints 'unset.*training +faster' "$gradsync" compare --all "$proof"
is "$("$gradsync" compare "$proof" 2>/dev/null | sed -n 's/^.* -\([0-9.]*%\) \[-\([0-9.]*\), -\([0-9.]*\)\].*/\1 shorter [\3, \2]/p')" \
    "$(sed -n '1s/.*steps \([0-9.]*% shorter \[[^]]*\]\).*/\1/p' <<<"$answer")" \
    'compare prints the numbers of the proof that tune printed'
exits 0 'show accepts a proof' "$gradsync" show "$proof"
mkdir data && ln -s ../raw data/raw
is "$("$gradsync" show 2>/dev/null | head -n 1)" "${answer%%$'\n'*}" 'without a name, show prints the answer of the last tune'
unlike "$err" 'missing' 'show misses nothing'
exits 0 'reduce accepts all of them' "$gradsync" query raw --export csv
is "$(jq -r 'select(.type == "header") | .tune | "\(.command) \(.stage)"' "$proof"/launch-01.01.jsonl)" \
    'job proof' 'the header names the program and the stage'
is "$(find raw -name '.trial*' | wc -l)" 0 'no file of the ranks is left'
starts=$(wc -l <starts)
prints '^Run without' "$gradsync" resume "$run"
is "$(wc -l <starts)" "$starts" 'resume of a finished run starts nothing'

prints '^No setting of [0-9]+ was shown to shorten the step by 1%' env NCCL_A=1 NCCL_B=1 \
    "$gradsync" tune -o raw --seed 3 -- ./job
mkdir -p short/job/train && cp -r "$(run_of)" short/job/train
jq '.flags[0] = "u"' short/job/train/*/tune.json >new && mv new short/job/train/*/tune.json && rm short/job/train/*/MANIFEST.json
prints '^No setting of [0-9]+ was shown .* For 1 more there was no time\.' "$gradsync" compare short/job/train/*
rm -r short

printf '# mine\nFASTER=1  # it is faster\nsocket: NCCL_OTHER=1\n' >mine
exits 0 'settings come from a file' tune -c mine --only FASTER -- ./job
like "$out" '^Set FASTER=1: steps (19\.[0-9]|20\.[0-9])% shorter' 'a setting of the file is proven'
like "$out" $'\nexport FASTER=1\n' 'the line to paste follows'
answer=$out
exits 0 'a finished run is resumed' "$gradsync" resume "$(run_of)"
is "$out" "$answer" 'a resumed tune prints the same, also what the setting changes'
exits 0 'tune runs with an object that the user preloads' env LD_PRELOAD=libm.so.6 \
    "$gradsync" tune -o raw -c mine --only FASTER -l 2 -- ./job
like "$(tail -n 1 starts)" 'libm.so.6' 'the object of the user is still loaded'

cat >conf <<'END'
#!/bin/sh
# NCCL's: a variable that is set, also to nothing, counts more than the file.
ms=100
[ "${NCCL_MAX_CTAS-$(sed -n 's/^NCCL_MAX_CTAS = //p' "$NCCL_CONF_FILE")}" = 1 ] && ms=130
for i in $(seq 100); do echo "iter $i: loss 1.0, time $ms.$((i % 7))ms"; done
END
chmod +x conf
export NCCL_CONF_FILE=$PWD/nccl.conf
printf '# of the site\nNCCL_MAX_CTAS = 1\nNCCL_NVLS_ENABLE=0\nNCCL_DEBUG=WARN\n' >nccl.conf
exits 0 'tune answers for a user with nccl.conf' tune --only CTAS -l 2 -- ./conf
like "$out" '^Run without NCCL_MAX_CTAS: steps 2[23]\.[0-9]% shorter' 'a line of nccl.conf is named'
like "$out" 'export NCCL_MAX_CTAS=  # or remove its line from nccl.conf' 'the line to paste leaves it out'
unlike "$("$gradsync" tune -n -- ./conf)" 'allreduce:nvls|NVLSTree|DEBUG' 'NVLS is not switched on where nccl.conf has it off'
unlike "$(NCCL_MAX_CTAS=2 "$gradsync" tune -n -- ./conf)" 'without.*without NCCL_MAX_CTAS' \
    'a variable that is set counts, and not its line in nccl.conf'
unset NCCL_CONF_FILE

cat >torn <<'END'
#!/bin/sh
[ "$A" ] && ms=50.0 || ms=100.0
for i in $(seq 100); do echo "iter $i: loss 1.0, time ${ms}ms"; done
printf 'iter 101: loss 1.0, time 1'
sleep 100
END
chmod +x torn
echo 'A=1' >torn.txt
exits 0 'a job that is ended while it writes a line has an answer' tune -o torn.raw -m 0.5 -l 2 \
    -c torn.txt --only A=1 -- ./torn
is "$(jq -r 'select(.type == "block") | .time_ns[0]' torn.raw/job/train/*/launch-*.jsonl | sort -u | xargs)" \
    '100000000 50000000' 'the torn line is no step time'

# ---- launches of the proof that fail, or disagree with the race

cat >fails_late <<'END'
#!/bin/sh
echo >>fresh
[ "$FASTER" ] && [ "$(wc -l <fresh)" -ge ${FROM:-10} ] && { [ "$SLOWER" ] || exit 132; unset FASTER; }
exec ./job
END
chmod +x fails_late
exits 0 'tune answers although a launch of its proof fails' tune -c mine --only FASTER -l 3 -- ./fails_late
is "$(wc -l <fresh)" 12 'there are the first launch, a race of two, and a proof of three times three'
like "$out" 'proven in 2 launches that did not choose it \(not counted: launch 3: FASTER=1 failed\)\.' \
    'the launch that failed is not counted, and the answer says why'
like "$err" "tune: proof, launch 3 of 3: FASTER=1: crash: exit code 132 \(a shell's code for signal 4, SIGILL\)" \
    'an exit code above 128 is printed as what it is'
rm fresh
prints '^No setting of 1 was shown .*; in 3 launches of its proof the steps of FASTER=1 were 0\.[0-9]% (shorter|longer) \[.*\], and a gain below [0-9.]+% would not have been proven\.' \
    env SLOWER=1 FROM=4 "$gradsync" tune -o raw --seed 3 -c mine --only FASTER -l 3 -- ./fails_late
like "$(tail -n 1 <<<"$out")" '^FASTER=1 .* (99|100|101)\.?[0-9]* ms \[.*\] in its proof, not proven$' \
    'the bar of a setting whose proof failed has the numbers of the proof'
is "$("$gradsync" compare "$(run_of)" 2>/dev/null | head -n 4)" "$out" 'compare prints the same'
rm fresh
prints '^Not proven: FASTER=1: steps [0-9.]+% shorter \[.*\] where settings were compared, but 1 launch of its proof is too few to tell \(not counted: launch 2: FASTER=1 failed; launch 3: FASTER=1 failed\)\.' \
    env FROM=7 "$gradsync" tune -o raw --seed 3 -c mine --only FASTER -l 3 -- ./fails_late

# ---- no time for any setting

cat >slowing <<'END'
#!/bin/sh
echo >>slow
[ "$(wc -l <slow)" -lt 2 ] || sleep 4
awk 'BEGIN { for (i = 0; i < 200; i++) printf "iter %d: loss 1.0, time %.3fms\n", i, 100 + i % 3 }'
END
chmod +x slowing
exits 0 'tune ends without a setting where the first round takes all the time' \
    tune -o slow.raw -m 0.06 --only CPU_AFFINITY -- ./slowing
is "$out" 'No setting was tried: the time was too short, or the job ended early; use more --minutes.' 'it says that none was tried'

# ---- a loaded host

echo 'int getloadavg(double *v, int n) { (void)n; v[0] = 5000; return 1; }' >load.c
ok 'a load average is compiled' gcc -shared -fPIC -o load.so load.c
exits 0 'tune answers on a loaded host' env LD_PRELOAD="$PWD/load.so" "$gradsync" tune -o raw --seed 3 -c mine --only FASTER -l 2 -- ./job
is "$(grep -c 'tune: other programs were busy on this host: a load average of [0-9.]* on [0-9]* processors' <<<"$err")" 1 'and says so once'

# ---- a launcher that refuses, and whose last line does not say why

while IFS='|' read -r message advice; do
    fails 1 "tune: the command: failed: $advice; its output is in raw/job/train/.*/launch-01.01.log$" \
        "$gradsync" tune -o raw -- sh -c "echo '$message'; echo Good luck.; exit 1"
done <<'END'
You can override this protection by adding the --allow-run-as-root option|Open MPI does not start as root: type mpirun --allow-run-as-root
There are not enough slots available in the system to satisfy the 9|Open MPI starts no more ranks than processors: ask for fewer, or type mpirun --oversubscribe
mpirun could not find anything to do.|mpirun was given no program
mpirun was unable to find the specified executable file, and therefore|mpirun did not find the program
mpirun was unable to launch the specified application as it could not|mpirun cannot start the program
END
failed=$(run_of)
fails 1 'no answer, since the job was not measured; its output is in' "$gradsync" compare "$failed"
fails 1 'has no answer: the job was not measured' "$gradsync" show "$failed" --svg bars.svg

# ---- a job that needs a variable

says 'tune: without NCCL_NEEDED: crash: exit code 5; its last line: no route to host' env NEEDS=1 \
    NCCL_NEEDED=1 NCCL_MAX_CTAS=1 "$gradsync" tune -o raw --seed 3 --only CTAS,NEEDED -- ./job
like "$out" '^Run without NCCL_MAX_CTAS' 'another setting is proven'

# ---- an interruption

rm -f starts && : >starts && mkfifo gate
(WAIT=4 NCCL_MAX_CTAS=1 NCCL_A=1 NCCL_B=1 NCCL_C=1 exec "$gradsync" tune -o raw --seed 3 -- ./job) \
    >told 2>&1 &
pid=$!
until_true 60 test -e waiting
kill -TERM $pid
wait $pid # the job waits at its gate for ever
is $? 1 'an interrupted tune ends the launch at once, with exit code 1'
no_orphans 'an interrupted tune leaves no process'
like "$(cat told)" 'the measurements are kept; continue with: .*gradsync resume raw/job/train/' \
    'an interrupted tune says how to go on'
n=$(wc -l <starts)
like "$("$gradsync" compare "$(run_of)" 2>&1)" ': not complete; continue with: .*gradsync resume raw/job/train/' 'and compare says so, too'
run=$(run_of) && run=elsewhere/moved/${run#raw/}
mkdir elsewhere && mv raw elsewhere/moved
fails1 2 "you did not begin this in this folder, and it holds a command: .* --commands $run$" "$gradsync" resume "$run"
exits 0 'resume --commands goes on where the recordings were moved' \
    env NCCL_MAX_CTAS=1 NCCL_A=1 NCCL_B=1 NCCL_C=1 "$gradsync" resume --commands "$run"
like "$out" '^Run without NCCL_MAX_CTAS' 'a resumed tune has the answer'
ok 'nothing is written where the recordings were' test ! -e raw
starts=$(wc -l <starts)
mv elsewhere/moved raw
exits 0 'a finished run that was moved finds its proof' "$gradsync" resume --commands "$(run_of)"
is "$(wc -l <starts)" "$starts" 'and starts nothing'
cp -r "$(run_of)" alone
fails 2 'alone is not in a folder job/train of recordings; .* move all of them' "$gradsync" resume alone
is "$(jq -rs '[.[] | select(.type == "cell") | .config] | group_by(.) | map(length) | max' \
    "$(run_of)"/launch-01.*.jsonl)" 1 'nothing of the first round is measured twice'
ok 'a resumed tune measures the rest' test "$(wc -l <starts)" -gt "$n"
no_orphans 'an interrupted tune leaves no process'

# ---- bad input: one line each

bad() { # REGEX COMMAND...
    fails1 1 "$1" tune -q -m 0.1 -- "${@:2}"
}
bad 'it ended after .*: no collective of NCCL or MPI .* it prints no step times' true
bad 'its last line: hi' echo hi
bad 'its last line: Open RTE was unable to open it: x;' 'printf "%s\n" ----- "Open RTE was unable" "to open it: x" "" Good luck. ----- ----- "An internal error has" ok -----; exit 1'
bad 'exit code 3; its last line: why' 'echo why; exit 3'
bad 'exit code 3; its first error: RuntimeError: why' 'echo "RuntimeError: why"; echo cleaning up; exit 3'
bad 'exit code 3; its last line: x.py: error: why' 'echo "Error: ignored"; echo "x.py: error: why"; exit 3'
bad 'hang: no step was measured in .*; ended' sleep 1000
bad 'exit code 2; its last line: .*/dev/tty' 'read x </dev/tty'
# shellcheck disable=SC2016
bad 'it ended after .*: no collective' 'sleep 1000 & setsid sleep 1000 & exit 0'
no_orphans 'no process of these commands is left'
wrong() { # REGEX ARGUMENTS...
    local regex=$1
    shift
    fails 2 "$regex" tune "$@"
}
starts=$(wc -l <starts)
wrong "'nosuch': no such command in PATH" -- nosuch
fails 1 'cannot be made: ' tune -o /proc/nowhere -- ./job
wrong "put '--' before the command: $gradsync tune -- mpirun " mpirun -n 2 ./job
wrong "'./nosuch' cannot be run: No such file" -- ./nosuch
touch program
wrong "'./program' cannot be run: Permission denied" -- ./program
wrong "only 'NOSUCH': no setting contains one of these words" --only NOSUCH -- true
wrong "minutes 'x': must be a number" -m x -- ./job
wrong "worth '2': must be a share" --worth 2 -- ./job
wrong "emit 'x': must be env or pytorch" --emit x -- ./job
wrong "library '/nolib.so': cannot be read: .*; give the path of a libnccl.so" --library /nolib.so -- ./job
row() { # WANT LINE: a file whose second line is refused, before anything is started
    printf 'A=1\n%s\n' "$2" >row.txt
    wrong "^[^ ]*row.txt:2: $1" -c row.txt -- ./job
    one_line "$err" "the line about '$2' is one"
}
row "'NCCL': must be NAME=VALUE" 'NCCL A'
row "'ib': must be NAME=VALUE.* a link at the start of the line ends with ':'" 'ib A=1'
row 'there is no setting behind the link' 'ib:'
row "'torch:nosuch=1' is no switch: must be torch:NAME=VALUE, NAME one of" 'ib: torch:nosuch=1'
row "'torch:bucket_cap_mb=x': must be like torch:bucket_cap_mb=50" 'torch:bucket_cap_mb=x'
row "'LD_PRELOAD' cannot be a setting: tune sets it itself" 'socket: LD_PRELOAD=x'
is "$(wc -l <starts)" "$starts" 'a file with a fault is refused before the job starts'
wrong 'none.txt: cannot be read' -n -c none.txt -- ./job
printf '# none\n\n' >none.txt
wrong 'none.txt: has no setting; a line is LINK: NAME=VALUE' --arms none.txt -- ./job
wrong 'is a pipe, which can be read once only' -n -c <(echo 'any: A=1') -- ./job

# ---- what would be tried

exits 0 'dry-run lists the settings' env NCCL_FOO=1 NCCL_DEBUG=INFO "$gradsync" tune -n -- ./job
like "$out" 'any: NCCL_FOO=unset' 'dry-run lists the variables of the user'
unlike "$out" 'NCCL_DEBUG' 'dry-run lists no variables that do not tune'
printf 'p2p: NCCL_ALGOO=Ring NCCL_MAX_CTAS=3\n' >slips
is "$("$gradsync" tune -n -c slips -- ./job 2>&1 >/dev/null)" 'slips:1: warning: NCCL_ALGOO is tried as it is; did you mean NCCL_ALGO?' 'a slip is told'
cat >over_sockets <<'END'
#!/bin/sh
[ -z "$NCCL_DEBUG_FILE" ] || echo 'NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0' >"${NCCL_DEBUG_FILE%%%*}x"
exec ./job
END
chmod +x over_sockets
OMPI_MCA_btl=tcp,self NCCL_TESTS=here prints '^No setting was tried: there is none for this link' \
    "$gradsync" tune -o raw --only OMPI_MCA,NCCL_TESTS -- ./over_sockets
prints 'NCCL_NVLS_ENABLE=0 is set and stays' env NCCL_NVLS_ENABLE=0 "$gradsync" tune -n -- ./job
grep '^[a-z0-9]*: ' <<<"$out" >all
is "$("$gradsync" tune -n --arms all -- ./job | grep -c '^[a-z0-9]*: ')" "$(wc -l <all)" 'its lines are a file for --arms and --candidates'
unlike "$(NCCL_NVLS_ENABLE=0 "$gradsync" tune -n -- ./job)" 'allreduce:nvls|NVLSTree|NCCL_NVLS_ENABLE=unset' \
    'NVLS is never switched on where it is off'

# ---- switches of PyTorch

if command -v python3 >/dev/null; then
    mkdir -p fake/torch/nn/parallel own
    touch fake/torch/__init__.py fake/torch/nn/__init__.py fake/torch/nn/parallel/__init__.py
    cat >fake/torch/nn/parallel/distributed.py <<'END'
class DistributedDataParallel:
    def __init__(self, module, bucket_cap_mb=25, static_graph=False):
        print("bucket", bucket_cap_mb, static_graph)
END
    echo 'print("own")' >own/sitecustomize.py
    echo 'from torch.nn.parallel.distributed import DistributedDataParallel as D; D(1, 25)' >train.py
    torch() { # [NAME=VALUE...]
        env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$top/runner/job/torch:$tmp/own:$tmp/fake" \
            GRADSYNC_TORCH_OUT="$tmp" "$@" python3 train.py
    }
    ok 'a rank starts' torch LOCAL_RANK=0 GRADSYNC_TORCH=bucket_cap_mb=100,static_graph=1
    is "$out" $'own\nbucket 100.0 True' "a switch is applied, and the user's own sitecustomize runs"
    like "$err" 'gradsync: DistributedDataParallel: bucket_cap_mb=100' 'a rank says what it changed'
    like "$(cat torch.*)" $'ddp\nchanged DistributedDataParallel: bucket_cap_mb=100' \
        'a rank tells tune what it changed'
    rm -f torch.*
    ok 'another process starts' torch GRADSYNC_TORCH=bucket_cap_mb=100
    is "$out$err" $'own\nbucket 25 False' 'in a process that is no rank nothing is changed'
    is "$(find . -maxdepth 1 -name 'torch.*')" '' 'a process that is no rank writes nothing'

    # Steps over Gloo, which nothing sees; they print no times.
    mkdir -p gloo
    cp -r fake/torch gloo/torch
    cat >gloo/torch/distributed.py <<'END'
get_backend = lambda group: "gloo"
END
    cat >gloo/torch/nn/parallel/distributed.py <<'END'
import torch.distributed
class DistributedDataParallel:
    process_group = None
    def __init__(self, module):
        self.hooks = []
    def register_forward_pre_hook(self, hook):
        self.hooks.append(hook)
END
    cat >gloo.py <<'END'
import time
from torch.nn.parallel.distributed import DistributedDataParallel as D
ddp = D(1)
while True:
    for hook in ddp.hooks:
        hook(ddp, ())
    time.sleep(0.01)
END
    began=$SECONDS
    exits 1 'tune of a job over Gloo ends with 1' env LOCAL_RANK=0 PYTHONPATH="$tmp/gloo" \
        PYTHONDONTWRITEBYTECODE=1 "$gradsync" tune -o raw -- python3 gloo.py
    like "$err" 'tune: the command: failed: .*its DDP uses Gloo, .* and it prints no step times that gradsync knows' 'it says so'
    ok 'it does not wait for its deadline of three minutes' test $((SECONDS - began)) -lt 150

    # A rank whose GPU memory doubles with larger buckets, and whose DDP knows no view.
    cat >fake/torch/cuda.py <<'END'
import os
is_initialized = lambda: True
max_memory_allocated = lambda: 2000 if "=100" in os.environ.get("GRADSYNC_TORCH", "") else 1000
END
    cat >heavy.py <<'END'
import os, time, torch.cuda
from torch.nn.parallel.distributed import DistributedDataParallel as D
D(1, 25)
time.sleep(1.2)
ms = 50 if "=100" in os.environ.get("GRADSYNC_TORCH", "") else 100
for i in range(200):
    print("iter %d: loss 1.0, time %.3fms" % (i, ms + i % 3 / 10), flush=True)
END
    exits 0 'tune answers for a job whose memory grows' env LOCAL_RANK=0 PYTHONPATH="$tmp/fake" \
        PYTHONDONTWRITEBYTECODE=1 "$gradsync" tune -o raw --only bucket -l 2 -- python3 heavy.py
    like "$err" 'bucket_cap_mb=100: not advised: it needs 100% more memory' \
        'a setting that needs more memory is not advised, and named'
    like "$err" 'gradient_as_bucket_view=1: did not take effect' \
        'a switch that the job does not have is named'
    like "$out" '^No setting of 3 was shown' 'none of them wins'
    is "$(jq '.base_memory_B == 1000' "$(run_of)"/tune.json)" true 'resume will know the memory of the job as it is'
    exits 0 'tune takes more memory where it may' env LOCAL_RANK=0 PYTHONPATH="$tmp/fake" \
        PYTHONDONTWRITEBYTECODE=1 "$gradsync" tune -o raw --only cap_mb=100 --memory 99.9% -l 2 \
        -- python3 heavy.py
    like "$err" 'needs 100% more memory' '--memory is a bound'
fi

# ---- a committed recording with a price and settings: the arms of the price are no settings

example=$top/docs/examples/trainer
prints '^Communication costs 72\.0% ' "$gradsync" compare "$example"
unlike "$out" 'none|control' 'compare names no arm of a price among the settings'
like "$out" $'\nNCCL_P2P_DISABLE=unset +-70\.8% \[-73\.5, -67\.9\] +16\n' 'it prints the settings that the first launch compared'
unlike "$out" 'change nothing|inconclusive' 'and no verdict, since another launch proves'
is "$("$gradsync" query "SELECT group_concat(config, ' ') AS arms FROM (SELECT config FROM compare WHERE level = 'price' ORDER BY 1)" "$example" | tail -n 1)" \
    'control half none one' 'query tells them by their level'

no_orphans 'no process is left'
done_testing
