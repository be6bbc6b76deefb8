#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync advise, on recordings whose truth is known. In a recording of `steps`, ctas=16
# shortens the step and ctas=32 lengthens it by `effect`; ctas=8 makes no difference.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"
export GRADSYNC_PLUGIN_PATH=$build/plugins

# steps RUN LABEL PARAMS [KEY=VALUE…]: a run of one step, in data/raw/sim/iter_proxy
steps() {
    local run=data/raw/sim/iter_proxy/$1 label=$2 params=$3
    shift 3
    mkdir -p "${run%/*}"
    "$build/sim/make_campaign" "$run" groups=1 spread=0.0005 "$@"
    printf '[measure]\nequivalence = 0.1%%\n' >"$run/config.ini"
    sed -i -e "s/\"params\":{/&$params,/" -e "s/\"label\":\"\"/\"label\":\"$label\"/" \
        -e 's/"c0"/"auto"/g; s/"c1"/"ctas=8"/g; s/"c2"/"ctas=16"/g; s/"c3"/"ctas=32"/g' \
        -e 's/"null"/"iter_proxy"/; s/"mode":""/"mode":"overlapped"/' "$run"/*.jsonl
}
edit() { # RUN PROGRAM: of sed
    sed -i "$2" "data/raw/sim/iter_proxy/$1"/*.jsonl
}
swap() { edit "$1" 's/ctas=16/ctas=x/g; s/ctas=32/ctas=16/g; s/ctas=x/ctas=32/g'; }
# ran RUN CONFIG TEXT: what NCCL ran, in every launch
ran() {
    local f
    for f in "data/raw/sim/iter_proxy/$1"/*.jsonl; do
        awk -v config="\"config\":\"$2\"" -v text="$3" '
            index($0, "\"type\":\"cell\"") && index($0, config) {
                match($0, /"cell":"[0-9a-f]+"/)
                printf "{\"type\":\"note\",%s,\"copy\":0,", substr($0, RSTART, RLENGTH)
                print "\"key\":\"ran\",\"value\":\"" text "\"}" }
            { print }' "$f" >new && mv new "$f"
    done
}
# values RUN CONFIG JSON: parameters of the cells of a config, as a training records them
values() {
    local f
    for f in "data/raw/sim/iter_proxy/$1"/*.jsonl; do
        jq -c --arg config "$2" --argjson values "$3" \
            'if .type == "cell" and .config == $config then .params += $values else . end' \
            "$f" >new && mv new "$f"
    done
}
fresh() { rm -rf data; }
# Rows whose gain is above what their step leaves open.
above_open() {
    sed -n 's/.* \(-\{0,1\}[0-9.]*\) to \(-\{0,1\}[0-9.]*\)%  *\([0-9.]*\)%  .*/\2 \3/p' <<<"$out" |
        awk '$1 > $2 + 0.051'
}
first() { head -n 1 <<<"$out"; }
answers() { # NAME REGEX [ARGUMENT…]: the first line of advise (of sim)
    [ $# != 2 ] || set -- "$@" sim
    exits 0 "advise: $1" "$gradsync" advise "${@:3}"
    like "$(first)" "$2" "$1"
}

two='1\.[0-9] to 2\.[0-9]' replayed='shown in replayed steps\.'
in_one='shorter in 1 of 1 step'
no_win='no setting was shown to shorten a step by 0\.5% or more on sim \(2 ranks\)'
synthetic='"backend":"cuda","gemms":"1"' cuda='"backend":"cuda","gemms":"1","step":"a.step"'

# ---- a winner

steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=24'
ran 1 ctas=16 'RING/SIMPLE ctas=16'
answers 'a winner of replayed steps is advised, in the step that it shortens' \
    "^Set ctas=16 for 2 ranks on 1 node of sim in 8: $two% $in_one, $replayed"
like "$out" 'gradsync trial --arms ctas=16 -- COMMAND' 'the next command is a trial of the winner'
like "$out" "8 +ctas=16 +$two% +[0-9.]+% +step +RING/SIMPLE 24 -> 16 +advised"
answers 'the path of a run gives the same advice as its platform' '^Set ctas=16' \
    data/raw/sim/iter_proxy/1
fails1 2 '' "$gradsync" advise h900

fresh
steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=4'
exits 0 'advise on more CTAs than NCCL chooses succeeds' "$gradsync" advise sim
unlike "$out" 'gradsync trial --arms ctas=16' 'more CTAs than NCCL chooses are not offered for a trial'

# ---- synthetic steps lead to no advice

fresh
steps 1 '' "$synthetic"
answers 'a winner of synthetic steps is no advice' \
    "^No advice from synthetic steps: ctas=16 is $two% shorter in 1 of 1 of them on sim"
like "$out" $'\nNext: gradsync tune -- COMMAND\n' 'the command asks the job of the user'
like "$out" 'ctas=16 .* shorter: ask your own job' 'the row of the winner says so too'
unlike "$out" '^(Try|Set) ' 'nothing is to be tried or set'
run "$gradsync" advise --emit env sim
is "$out" '# Nothing to set on sim with 2 ranks on 1 node: no setting is advised.' \
    'a form from synthetic steps sets nothing'
steps 2 real "$cuda" effect=0
edit 2 's/ctas=16/ctas=x/; s/"size_B":8/"size_B":16/'
answers 'a step that never ran a setting gets no advice for it' '^Change nothing: '

# ---- a gain that may be too small

fresh
steps 1 '' "$cuda" effect=0.004
exits 0 'advise on a gain of 0.4% succeeds' "$gradsync" advise
like "$(first)" "^Change nothing: $no_win\. A gain above 0\.[4-9]% is ruled out in this step\.$" \
    'a gain of 0.4% is not advised'
like "$out" 'ctas=16 .* not advised: the gain may be below 0.5%'

# ---- nothing decided

fresh
steps 1 '' "$cuda" effect=0 spread=0.3
answers 'a gain left open of more than ten times the bound decides nothing' \
    "^Nothing was decided: $no_win\. A gain of [0-9.]+% is still possible: measure again"

# ---- slower elsewhere

fresh
steps 1 '' "$cuda"
steps 2 other '"backend":"cuda","gemms":"4","step":"a.step"'
swap 2
answers 'a winner that lengthens another step is not advised' \
    "^Change nothing: $no_win without lengthening another\. "
like "$out" 'ctas=16 .* not advised: slower at other 8B?' 'the row names the step that is slower'
is "$(above_open)" '' 'a setting that is slower in another step counts in what a step leaves open'
like "$out" $'\nNot advised: ctas=16, although '"$two% shorter in 8: it is slower in other 8"
fresh
steps 1 '' "$cuda" effect=0
steps 2 other '"backend":"cuda","gemms":"4","step":"a.step"' launches=1
answers 'one launch closes no step' \
    ' is ruled out in 1 step\. Nothing is ruled out in 1 step where a setting has no interval'
for platform in h200-2gpu-steps h100-2gpu-steps h200-4gpu; do
    exits 0 "advise on $platform succeeds" "$gradsync" advise "$top/data/raw/$platform"
    is "$(above_open)" '' "no row of $platform is above what its step leaves open"
done
like "$(first)" 'No advice' 'synthetic recordings lead to no advice'

# ---- the latest run of a step counts, the highest level of a setting

fresh
steps 1 '' "$cuda"
steps 2 again "$cuda" effect=0
answers 'a winner that is not found again is not advised' '^Change nothing: '
manifest data/raw/sim/iter_proxy/1
answers 'an unfinished run does not replace a complete one' '^Set ctas=16'
like "$err" 'without a newer run that is unfinished .*: gradsync resume data/raw/sim/iter_proxy/2\)' \
    'advise says which newer run is unfinished, and how to complete it'
fresh
steps 1 '' "$cuda"
steps 2 '' "$cuda" effect=-0.02
edit 2 's/"workload":"iter_proxy"/"workload":"trial"/; s/"mode":"overlapped"/"mode":""/'
answers 'a trial overrides synthetic steps' \
    "^Set ctas=32 for .*: $two% $in_one, shown in a trial inside a job\.$"
# ---- one launch

fresh
steps 1 '' "$cuda" launches=1
manifest data/raw/sim/iter_proxy/1
answers 'one launch decides nothing, and the advice says how to measure more' \
    '^Nothing was decided on sim \(2 ranks\): one launch has no interval\. Measure .* --set measure:launches=5'
like "$out" '8 +auto +- +- +step +inconclusive: one launch' 'the step of one launch is inconclusive'
rm data/raw/sim/iter_proxy/1/MANIFEST.json
answers 'the advice on an interrupted run is to complete it' \
    'one launch has no interval\. To complete the run: gradsync resume data/raw/sim/iter_proxy/1$'

# ---- operations alone

fresh
steps 1 '' "$cuda"
edit 1 's/"workload":"iter_proxy"/"workload":"nccl_allreduce"/'
prints '^No advice for sim: no training step was compared with auto there' "$gradsync" advise sim
manifest data/raw/sim/iter_proxy/1
mv data/raw/sim/iter_proxy/1 data/raw/sim/iter_proxy/9
chmod u+w data/raw/sim/iter_proxy/9/*.jsonl
truncate -s -9 "$(ls data/raw/sim/iter_proxy/9/*.jsonl | tail -n 1)"
run "$gradsync" advise sim
like "$err" 'truncated: .*foreign: ' 'advise on a renamed run reports its damage too'
mv data/raw/sim/iter_proxy/9 data/raw/sim/iter_proxy/1
rm data/raw/sim/iter_proxy/1/MANIFEST.json
prints '^# Nothing to set: no steps were measured on sim\.$' "$gradsync" advise --emit env sim

# ---- a setting that NCCL did not take

fresh
steps 1 '' "$cuda"
ran 1 ctas=16 'RING/SIMPLE ctas=8'
ran 1 ctas=32 'TREE/SIMPLE ctas=32'
answers 'a setting that NCCL clamped is not advised' '^Change nothing: '
like "$out" 'ctas=16 .* not advised: clamped by NCCL' 'the row says that NCCL clamped the setting'
# ---- forms

fresh
steps 1 '' "$cuda"
emit() { run "$gradsync" advise --emit "$1" sim; }
emit env
like "$out" "^# ctas=16: $two% shorter steps, level of evidence: step, 1 of 1 "
is "$(grep -v '^#' <<<"$out")" $'NCCL_MIN_CTAS=16\nNCCL_MAX_CTAS=16' \
    'the form env sets the variables'
is "$(bash -c 'set -a; . /dev/stdin; env' <<<"$out" | grep ^NCCL_ | sort | xargs)" \
    'NCCL_MAX_CTAS=16 NCCL_MIN_CTAS=16' 'a shell reads the form env'
emit pytorch
like "$out" $'\noptions.config.min_ctas = 16\noptions.config.max_ctas = 16\ndist.init_'
py() { python3 -c "$@"; }
if py 'import sys' 2>/dev/null; then
    ok 'Python accepts the form pytorch' \
        py 'import sys; compile(sys.argv[1], "form", "exec")' "$out"
    if py 'import torch.distributed as d; d.ProcessGroupNCCL.Options' 2>/dev/null; then
        ok 'PyTorch has the options of the form' py \
            'import sys; exec(sys.argv[1].replace("dist.init_process_group", "print"))' "$out"
    else
        skip 'PyTorch has the options of the form' 'no PyTorch with NCCL here'
    fi
else
    skip 'Python accepts the form pytorch' 'no python3 here'
fi
emit sbatch
is "$(grep -v '^#' <<<"$out" | bash -c '. /dev/stdin; echo $NCCL_MAX_CTAS')" 16 \
    'the form sbatch is a shell script'
fails 2 "no form 'envi', did you mean 'env'" "$gradsync" advise --emit envi sim
edit 1 's/ctas=16/tree/g'
emit pytorch
like "$out" $'\nos.environ\\["NCCL_ALGO"\\] = "allreduce:tree"'
swap 1
steps 2 '' "$cuda" effect=0
edit 2 's/"config":"ctas=16"/"config":"tree"/'
emit env
like "$out" '^# Nothing to set on sim with 2 ranks on 1 node: no setting is advised\.$'
is "$rc" 0 'a form without advice is no error'

fresh
steps 1 '' "$cuda"
edit 1 's/"config":"ctas=16"/"config":"ctas=16\/bucket_cap=50MiB"/'
emit pytorch
like "$out" 'DistributedDataParallel\(model, bucket_cap_mb=50\)' 'a bucket size is an option of DDP'
emit env
like "$out" "# Also set DDP's bucket_cap_mb=50" 'a bucket size is no variable'

fresh
steps 1 '' '"bucket_cap":"25"'
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/NCCL_MAX_CTAS=16/'
values 1 NCCL_MAX_CTAS=16 '{"NCCL_MAX_CTAS":"16"}'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/'
answers 'a training is the highest level' \
    "^Set NCCL_MAX_CTAS=16 for .* $two% $in_one, shown in training\.$"
unlike "$out" 'NCCL ran' 'without a recording of what NCCL ran there is no column for it'
emit sbatch
is "$(grep -v '^#' <<<"$out")" 'export NCCL_MAX_CTAS=16' 'the form of a training sets its variables'
fresh
steps 1 '' "$cuda" effect=0
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/'
edit 1 's/"size":"8",//; s/"size_B":8/"size_B":0/'
answers 'a training without a winner changes nothing' '^Change nothing: no setting was shown'
like "$out" 'job +ctas=16' 'a training without a size is called a job'
steps 2 other '"backend":"cuda","gemms":"4","step":"a.step"' effect=0
edit 2 's/"ctas=/&1/g'
sed -i 's/0.1%/1%/' data/raw/sim/iter_proxy/2/config.ini
answers 'the widest bound of a verdict is the least gain' \
    '^Change nothing: no setting was shown to shorten a step by 1% or more'

# ---- values of other people's recordings: each form, read back, has them as they are

long=$(printf 'x%.0s' {1..600})
nasty=("16 touch PWNED" '/etc/nccl/topo.xml' 'a=b=c' "$long" 'ü€𝄞' '' '#no comment' '!history'
    '*~ (a) [b] ?' '%s%n' 'a,b:c@d+e')
fresh
steps 1 '' '"bucket_cap":"25"'
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/NASTY/'
values 1 NASTY "$(jq -nc '[$ARGS.positional | to_entries[] | {("V_\(.key)"): .value}] | add' \
    --args "${nasty[@]}")"
want() { # the values, each behind its name, all ended by NUL
    local i
    for i in "${!nasty[@]}"; do printf 'V_%s=%s\0' "$i" "${nasty[i]}"; done
}
from_env() { grep -z '^V_' | sort -z -t_ -k2n; }
want >want
for form in env sbatch; do
    "$gradsync" advise --emit $form sim >form.sh
    rm -f PWNED
    env -i bash -c 'set -a; . ./form.sh; /usr/bin/env -0' | from_env >got
    ok "a shell reads all values of the form $form" cmp want got
    ok "the form $form runs nothing" test ! -e PWNED
done
"$gradsync" compare --json sim >compare.json
line=$(jq -r '.groups[].environment' compare.json)
bash -c "$line /usr/bin/env -0" | from_env >got
ok 'a shell reads all values of compare --json' cmp want got
ok 'the environment of compare --json runs nothing' test ! -e PWNED
jq -j '.groups[].variables | to_entries[] | "\(.key)=\(.value)\u0000"' compare.json | from_env >got
ok 'the variables of compare --json have all values' cmp want got
if python3 -c 'import sys' 2>/dev/null; then
    "$gradsync" advise --emit pytorch sim >form.py
    python3 -c 'exec(open("form.py", encoding="utf-8").read())
import os, sys
sys.stdout.buffer.write(b"".join(b"%s=%s\0" % i for i in os.environb.items()))' | from_env >got
    ok 'Python reads all values of the form pytorch' cmp want got
    ok 'the form pytorch runs nothing' test ! -e PWNED
fi
values 1 NASTY "$(jq -nc 'reduce range(11) as $i ({}; .["V_\($i)"] = "unset")')"
"$gradsync" advise --emit sbatch sim >form.sh
is "$(V_1=x bash -c '. ./form.sh; echo "${V_1-none}"')" none 'a form removes a variable that is unset'
line=$("$gradsync" compare --json sim | jq -r '.groups[].environment')
is "$(V_1=x bash -c "$line printenv V_1")" '' 'compare --json removes a variable that is unset'
values 1 NASTY '{"V_1":"a\\ntouch PWNED"}'
exits 1 'a value with a new line is refused' "$gradsync" advise --emit sbatch sim

# ---- what was set in NCCL's environment for all settings alike

with_env() { # RUN JSON: the environment in the headers
    edit "$1" 's/"type":"header",/&"env":{'"$2"'},/'
}
fresh
steps 1 '' "$cuda"
with_env 1 '"NCCL_NVLS_ENABLE":"0","NCCL_VERSION":"2.28","NCCL_DEBUG":"INFO","OMPI_MCA_x":"1"'
alone='Measured with NCCL_NVLS_ENABLE=0 in the environment of the ranks; without it nothing was measured\.'
prints $'^Set ctas=16 [^\n]*\n'"$alone"$'\n' "$gradsync" advise sim
for form in env pytorch sbatch; do
    emit $form
    like "$out" $'\n# '"$alone"$'\n' "the form $form names the variable"
done
edit 1 's/"NCCL_NVLS_ENABLE":"0"/"NCCL_MIN_CTAS":"8","NCCL_NET":"IB","NCCL_IB_HCA":"a,b"/'
prints 'Measured with NCCL_IB_HCA=a,b NCCL_NET=IB in .*; without them nothing was measured\.' \
    "$gradsync" advise sim
steps 2 other '"backend":"cuda","gemms":"4","step":"a.step"'
with_env 2 '"NCCL_NET":"IB"'
prints 'ranks, in other runs with NCCL_NET=IB\.' "$gradsync" advise sim

exits 0 'advise on a job that ran without a variable succeeds' \
    "$gradsync" advise "$top/data/raw/h100-2gpu-sock"
like "$out" 'Measured with NCCL_NVLS_ENABLE=0 NCCL_SHM_DISABLE=1 in' \
    'a variable that the setting leaves out is no condition'

# ---- the advised setting in each step that it shortens

fresh
steps 1 '' "$cuda"
steps 2 other '"backend":"cuda","gemms":"4","step":"a.step"'
near() { # RUN FACTOR: times of ctas=32
    local f
    for f in "data/raw/sim/iter_proxy/$1"/*.jsonl; do
        jq -c --argjson x "$2" 'if .type == "block" and .cell == "0000000000000004"
            then .time_ns |= map(. * $x | floor) else . end' "$f" >new && mv new "$f"
    done
}
near 1 0.9
near 2 1.1
answers 'a setting that shortens both steps is advised' \
    '^Set ctas=16 for .* shorter in 2 of 2 steps'
is "$(grep -c 'ctas=16 .*  advised$' <<<"$out")" 2 \
    'the rows show the advised setting, not a faster one that lengthens another step'
like "$out" 'Not advised: ctas=32, although' 'the sentence below the answer names the faster one'

# ---- of settings that are not distinguishable, the one with the fewest changes

fresh
steps 1 '' "$cuda"
near 1 0.9605
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/FAST=1/'
edit 1 's/ctas=32/NCCL_MAX_CTAS=16\/FAST=1/; s/ctas=8/NCCL_MAX_CTAS=16/'
values 1 NCCL_MAX_CTAS=16 '{"NCCL_MAX_CTAS":"16"}'
values 1 FAST=1 '{"FAST":"1"}'
values 1 NCCL_MAX_CTAS=16/FAST=1 '{"NCCL_MAX_CTAS":"16","FAST":"1"}'
answers 'a change that shortens nothing is not advised' '^Set FAST=1 for '
near 1 0.98
answers 'a change that shortens the step is advised' '^Set NCCL_MAX_CTAS=16/FAST=1 for '

# ---- settings of a program

fresh
steps 1 '' "$cuda"
edit 1 's/ctas=16/zero\/symmetric/'
emit env
like "$out" 'for zero: ncclConfig_t.CTAPolicy = NCCL_CTA_POLICY_ZERO\.'
like "$out" 'for symmetric: .*ncclCommWindowRegister with NCCL_WIN_COLL_SYMMETRIC\.'

# ---- iteration times of another program

fresh
for config in b25 b50; do
    for n in 1 2 3 4 5; do
        mkdir -p it$n
        for i in 1 2 3 4 5 6 7 8 9 10; do
            echo "95.$((i * n % 7))"
        done >"it$n/iteration_times_$config.txt"
    done
done
sed -i 's/^95/100/' it?/iteration_times_b25.txt
exits 0 'iteration times are imported' "$gradsync" import --as-launches --platform \
    sim --set ranks=8 -o data/raw it?/iteration_times_*.txt
answers 'imported iteration times are called steps, and the reason for no advice is named' \
    '^No advice for sim: the imported iteration times show b50 [0-9.]+ to [0-9.]+% shorter than b25, but gradsync advises only from its own recordings'
like "$("$gradsync" compare sim)" 'no floor +faster' 'imported launches have no floor'
like "$("$gradsync" compare --all sim)" 'no floor .* faster' 'the rows of --all say so too'

done_testing
