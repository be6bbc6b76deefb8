#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync advise and prove, on recordings whose truth is known. In a recording of `steps`, ctas=16
# shortens the step and ctas=32 lengthens it by `effect`; ctas=8 makes no difference.
# This test runs under ASan too.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/recording.sh
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
fresh() { rm -rf data; }
first() { head -n 1 <<<"$out"; }

two='1\.[0-9] to 2\.[0-9]' synthetic='shown in synthetic steps only\.$'
in_one='shorter in 1 of 1 step'
no_win='no setting was shown to shorten a step by 0\.5% or more on sim \(2 ranks\)'
cuda='"backend":"cuda","gemms":"1"'

# ---- a winner

steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=24'
ran 1 ctas=16 'RING/SIMPLE ctas=16'
exits 0 'advise on steps with a winner succeeds' "$gradsync" advise sim
like "$(first)" "^Try ctas=16 for 2 ranks on 1 node of sim: $two% $in_one, $synthetic" \
    'a winner of synthetic steps is worth a try, and no more'
like "$out" 'gradsync trial --arms ctas=16 -- COMMAND' 'the next command is a trial of the winner'
like "$out" "8 +ctas=16 +$two% +synthetic +RING/SIMPLE 24 -> 16 +advised" \
    'the row of the winner has the step, the level and what ran on both sides'
exits 0 'advise on the path of a run succeeds' "$gradsync" advise data/raw/sim/iter_proxy/1
like "$(first)" '^Try ctas=16' 'the path of a run gives the same advice as its platform'
exits 2 'a platform that does not exist is refused' "$gradsync" advise h900
one_line "$err" 'the error about the platform is one line'

fresh
steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=4'
exits 0 "a tuner's form of more CTAs than NCCL chooses succeeds" "$gradsync" advise --emit tuner sim
like "$out" '# ctas=16 is more than a tuner can choose' \
    'more CTAs than NCCL chooses are no rule of a tuner'
exits 0 'advise on more CTAs than NCCL chooses succeeds' "$gradsync" advise sim
unlike "$out" 'gradsync trial' 'more CTAs than NCCL chooses are not offered for a trial'

# ---- a gain that may be too small

fresh
steps 1 '' "$cuda" effect=0.004
exits 0 'advise on a gain of 0.4% succeeds' "$gradsync" advise
like "$(first)" "^Leave NCCL alone: $no_win; the largest possible gain left open is 0\.[45]%\.$" \
    'a gain of 0.4% is not advised'
like "$out" 'ctas=16 .* not advised: the gain may be below 0.5%' \
    'the row says that the gain may be below 0.5%'

# ---- nothing decided

fresh
steps 1 '' "$cuda" effect=0 spread=0.3
exits 0 'advise on noise succeeds' "$gradsync" advise sim
like "$(first)" "^Nothing was decided: $no_win; a gain of [0-9.]+% is still possible: measure again" \
    'a gain left open of more than ten times the bound decides nothing'

# ---- slower elsewhere

fresh
steps 1 '' "$cuda"
steps 2 other '"backend":"cuda","gemms":"4"'
swap 2
exits 0 'advise on a winner that lengthens another step succeeds' "$gradsync" advise sim
like "$(first)" "^Leave NCCL alone: $no_win without lengthening another; " \
    'a winner that lengthens another step is not advised'
like "$out" 'ctas=16 .* not advised: slower at other 8B?' 'the row names the step that is slower'
like "$out" $'\nNot advised: ctas=16, although '"$two% shorter in 8: it is slower in other 8" \
    'a sentence says why the winner of a step is not advised'
# ---- the latest run of a step counts, the highest level of a setting

fresh
steps 1 '' "$cuda"
steps 2 again "$cuda" effect=0
exits 0 'advise on a winner that is not found again succeeds' "$gradsync" advise sim
like "$(first)" '^Leave NCCL alone' 'a winner that is not found again is not advised'
manifest data/raw/sim/iter_proxy/1
exits 0 'advise on a complete run and a later unfinished one succeeds' "$gradsync" advise sim
like "$(first)" '^Try ctas=16' 'an unfinished run does not replace a complete one'
like "$err" 'without a newer run that is unfinished .*: gradsync resume data/raw/sim/iter_proxy/2\)' \
    'advise says which newer run is unfinished, and how to complete it'
fresh
steps 1 '' "$cuda"
steps 2 '' "$cuda" effect=-0.02
edit 2 's/"workload":"iter_proxy"/"workload":"trial"/; s/"mode":"overlapped"/"mode":""/'
exits 0 'advise on a trial that contradicts synthetic steps succeeds' "$gradsync" advise sim
like "$(first)" "^Set ctas=32 for .* $two% $in_one, shown in a trial inside a job\.$" \
    'a trial overrides synthetic steps'
like "$out" 'Next: gradsync advise sim --emit train >mine.ini' \
    'training is the next level after a trial'
like "$out" 'gradsync prove sim -- COMMAND' 'the proof of a trial is another trial'

# ---- one launch

fresh
steps 1 '' "$cuda" launches=1
manifest data/raw/sim/iter_proxy/1
exits 0 'advise on one launch succeeds' "$gradsync" advise sim
like "$(first)" '^Nothing was decided on sim \(2 ranks\): one launch has no interval\. Measure .* --set measure:launches=5' \
    'one launch decides nothing, and the advice says how to measure more'
like "$out" '8 +auto +- +synthetic +undecided: one launch' 'the step of one launch is undecided'
rm data/raw/sim/iter_proxy/1/MANIFEST.json
exits 0 'advise on a run interrupted in its first launch succeeds' "$gradsync" advise sim
like "$(first)" 'one launch has no interval\. To complete the run: gradsync resume data/raw/sim/iter_proxy/1$' \
    'the advice on an interrupted run is to complete it'

# ---- real steps of the same GPUs on another platform

gpus() { # RUN NAME
    edit "$1" 's/"host":"h"/&,"gpu":{"name":"'"$2"'"}/'
}
fresh
steps 1 '' "$cuda"
gpus 1 'one GPU'
mkdir data/raw/other data/raw/else
cp -r data/raw/sim/iter_proxy data/raw/other
cp -r data/raw/sim/iter_proxy data/raw/else
sed -i 's/"run_id":"1"/"run_id":"2"/; s/"platform":"sim"/"platform":"other"/;
    s/"gemms":"1"/"gemms":"1","step":"a.step"/' data/raw/other/*/*/*.jsonl
sed -i 's/"run_id":"1"/"run_id":"3"/; s/"platform":"sim"/"platform":"else"/' \
    data/raw/else/*/*/*.jsonl
exits 0 'advise on synthetic steps beside real ones succeeds' "$gradsync" advise sim
like "$out" $'Real steps of the same GPUs are in other:\n  gradsync advise other' \
    'advice from synthetic steps names the platform with real steps of the same GPUs'
unlike "$("$gradsync" advise other)" 'Real steps' 'advice from real steps names no other platform'
sed -i 's/one GPU/another GPU/' data/raw/other/*/*/*.jsonl
unlike "$("$gradsync" advise sim)" 'Real steps' 'real steps of other GPUs are not named'

# ---- operations alone

fresh
steps 1 '' "$cuda"
edit 1 's/"workload":"iter_proxy"/"workload":"nccl_allreduce"/'
exits 0 'advise on all-reduces alone succeeds' "$gradsync" advise sim
like "$out" '^No advice for sim: no training step was compared with auto there' \
    'all-reduces alone are no ground for advice'
manifest data/raw/sim/iter_proxy/1
mv data/raw/sim/iter_proxy/1 data/raw/sim/iter_proxy/9
chmod u+w data/raw/sim/iter_proxy/9/*.jsonl
truncate -s -9 "$(ls data/raw/sim/iter_proxy/9/*.jsonl | tail -n 1)"
run "$gradsync" advise sim
like "$err" 'truncated: .*foreign: ' 'advise on a renamed run reports its damage too'
mv data/raw/sim/iter_proxy/9 data/raw/sim/iter_proxy/1
rm data/raw/sim/iter_proxy/1/MANIFEST.json
exits 0 'a form from all-reduces alone succeeds' "$gradsync" advise --emit env sim
like "$out" '^# Nothing to set: no steps were measured on sim\.$' \
    'a form from all-reduces alone sets nothing'

# ---- a setting that NCCL did not take

fresh
steps 1 '' "$cuda"
ran 1 ctas=16 'RING/SIMPLE ctas=8'
ran 1 ctas=32 'TREE/SIMPLE ctas=32'
exits 0 'advise on a setting that NCCL clamped succeeds' "$gradsync" advise sim
like "$(first)" '^Leave NCCL alone' 'a setting that NCCL clamped is not advised'
like "$out" 'ctas=16 .* not advised: clamped by NCCL' 'the row says that NCCL clamped the setting'
exits 0 'advise --check succeeds' "$gradsync" advise --check sim
like "$out" 'ctas=16 +0 +1 +0 +RING/SIMPLE ctas=8 at ' \
    'advise --check counts the settings that were clamped'
like "$out" 'ctas=32 +1 +0 +0 +-' 'advise --check counts the settings that took effect'
ran 1 auto 'RING/LL ctas=4'
edit 1 's/"config":"ctas=8"/"config":"tree"/; s/RING\/SIMPLE ctas=8/RING\/LL128 ctas=8/'
edit 1 's/"config":"ctas=16"/"config":"tree\/LL128"/'
exits 0 'advise --check succeeds where NCCL replaced an algorithm' "$gradsync" advise --check sim
like "$out" 'tree/LL128 +0 +0 +1 ' \
    'advise --check counts the algorithm that was replaced as ignored'

# ---- forms

fresh
steps 1 '' "$cuda"
emit() { run "$gradsync" advise --emit "$1" sim; }
emit env
like "$out" "^# ctas=16: $two% shorter steps, level of evidence: synthetic, 1 of 1 " \
    'a form names its evidence'
is "$(grep -v '^#' <<<"$out")" $'NCCL_MIN_CTAS=16\nNCCL_MAX_CTAS=16' \
    'the form env sets the variables'
is "$(bash -c 'set -a; . /dev/stdin; env' <<<"$out" | grep ^NCCL_ | sort | xargs)" \
    'NCCL_MAX_CTAS=16 NCCL_MIN_CTAS=16' 'a shell reads the form env'
emit nccl.conf
is "$(grep -vcE '^(#.*|NCCL_[A-Z_]+=[A-Za-z0-9:;]+)$' <<<"$out")" 0 \
    'the form nccl.conf has comments, and assignments without blanks, as NCCL reads them'
is "$(grep -v '^#' <<<"$out")" $'NCCL_MIN_CTAS=16\nNCCL_MAX_CTAS=16' \
    'the form nccl.conf sets the variables'
emit pytorch
like "$out" $'\noptions.config.min_ctas = 16\noptions.config.max_ctas = 16\ndist.init_' \
    'the form pytorch sets the options'
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
emit megatron
if py 'import yaml' 2>/dev/null; then
    is "$(py 'import sys, yaml; print(yaml.safe_load(sys.argv[1]))' "$out")" \
        "{'dp': {'min_ctas': 16, 'max_ctas': 16}}" 'a parser of YAML reads the form megatron'
else
    skip 'a parser of YAML reads the form megatron' 'no python3 with yaml here'
fi
is "$(grep -v '^#' <<<"$out")" $'dp:\n  min_ctas: 16\n  max_ctas: 16' \
    'the form megatron sets the keys'
emit deepspeed
is "$(grep -v '^#' <<<"$out")" 'NCCL_MIN_CTAS=16 NCCL_MAX_CTAS=16 deepspeed train.py' \
    'the form deepspeed sets the variables of a command'
is "$(bash -c 'deepspeed() { env; }; . /dev/stdin' <<<"$out" | grep ^NCCL_ | sort | xargs)" \
    'NCCL_MAX_CTAS=16 NCCL_MIN_CTAS=16' 'a shell runs the form deepspeed'
emit sbatch
is "$(grep -v '^#' <<<"$out" | bash -c '. /dev/stdin; echo $NCCL_MAX_CTAS')" 16 \
    'the form sbatch is a shell script'
emit train
echo "$out" >mine.ini
exits 0 'the form train is a config' "$gradsync" plan mine.ini
like "$out" 'NCCL_MIN_CTAS=unset.*NCCL_MIN_CTAS=16/NCCL_MAX_CTAS=16' \
    'the form train compares the setting with its absence'
is "$(sed -n 's/^name = //p; s/^ranks = //p' mine.ini | xargs)" 'sim 2' \
    'the form train is for the same platform and ranks'
sed -i -e 's/^command = .*/command = "for i in 1 2 3 4; do echo step time: $i ms; done"/' \
    -e 's/^launches = 5/launches = 2/' mine.ini
exits 0 'the form train runs' "$gradsync" train -q mine.ini
rm -r data/raw/sim/train
emit tuner
is "$(grep -v '^#' <<<"$out")" 'allreduce,0,-1,-1,-1,16,1,2' \
    'the form tuner has only the ranks and nodes that were measured'
echo "$out" >rules.csv
export NCCL_TUNER_CONFIG_FILE=rules.csv NCCL_TUNER_PLUGIN=$build/libnccl-tuner-gradsync.so
run "$build/tuner/job"
unset NCCL_TUNER_CONFIG_FILE NCCL_TUNER_PLUGIN
like "$out" 'channels=16 ' 'the tuner plugin applies the rules of the form'
is "$err" '' 'the tuner plugin accepts the rules without a message'
exits 2 'a form that does not exist is refused' "$gradsync" advise --emit envi sim
like "$err" "no form 'envi', did you mean 'env'" 'the error names the nearest form'
edit 1 's/ctas=16/tree/g'
emit pytorch
like "$out" '# In the environment, .*: NCCL_ALGO=allreduce:tree' \
    'an algorithm is set in the environment, for the collective that has it'
swap 1
steps 2 '' "$cuda" effect=0
edit 2 's/"config":"ctas=16"/"config":"tree"/'
emit env
like "$out" '^# Nothing to set on sim with 2 ranks on 1 node: no setting is advised\.$' \
    'a form without advice is a comment that says so'
is "$rc" 0 'a form without advice is no error'

fresh
steps 1 '' "$cuda"
edit 1 's/"config":"ctas=16"/"config":"ctas=16\/bucket_cap=50MiB"/'
emit pytorch
like "$out" 'DistributedDataParallel\(model, bucket_cap_mb=50\)' 'a bucket size is an option of DDP'
emit env
like "$out" "# Also set DDP's bucket_cap_mb=50" 'a bucket size is no variable'
emit tuner
is "$(grep -cv '^#' <<<"$out")" 0 'a bucket size is no rule of a tuner'
exits 2 'prove refuses a bucket size, which a trial cannot switch' "$gradsync" prove sim -- true
one_line "$err" 'the error about the bucket size is one line'

fresh
steps 1 '' '"bucket_cap":"25"'
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/NCCL_MAX_CTAS=16/'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/'
exits 0 'advise on a training succeeds' "$gradsync" advise sim
like "$(first)" "^Set NCCL_MAX_CTAS=16 for .* $two% $in_one, shown in training\.$" \
    'a training is the highest level'
unlike "$out" 'NCCL ran' 'without a recording of what NCCL ran there is no column for it'
exits 0 'prove has no step to replay after a training' "$gradsync" prove sim
like "$err" '^prove: NCCL_MAX_CTAS=16 was shown in a training; measure it again: gradsync train CONFIG$' \
    'prove names the setting and the command that measures a training again'
emit sbatch
is "$(grep -v '^#' <<<"$out")" 'export NCCL_MAX_CTAS=16' 'the form of a training sets its variables'
fresh
steps 1 '' "$cuda" effect=0
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/'
edit 1 's/"size":"8",//; s/"size_B":8/"size_B":0/'
exits 0 'advise on a training without a winner succeeds' "$gradsync" advise sim
like "$(first)" '^Keep bucket_cap=25: no setting was shown' \
    'a training without a winner keeps its baseline'
like "$out" 'job +ctas=16' 'a training without a size is called a job'
steps 2 other '"backend":"cuda","gemms":"4"' effect=0
edit 2 's/"ctas=/&1/g'
sed -i 's/0.1%/1%/' data/raw/sim/iter_proxy/2/config.ini
exits 0 'advise on a training and a synthetic step succeeds' "$gradsync" advise sim
like "$(first)" '^Change nothing: no setting was shown to shorten a step by 1% or more' \
    'without one baseline the advice names none, and the widest bound of a verdict is the least gain'

# ---- what was set in NCCL's environment for all settings alike

with_env() { # RUN JSON: the environment in the headers
    edit "$1" 's/"type":"header",/&"env":{'"$2"'},/'
}
fresh
steps 1 '' "$cuda"
with_env 1 '"NCCL_NVLS_ENABLE":"0","NCCL_VERSION":"2.28","NCCL_DEBUG":"INFO","OMPI_MCA_x":"1"'
alone='Measured with NCCL_NVLS_ENABLE=0 in the environment of the ranks; without it nothing was measured\.'
exits 0 'advise on a recording with a variable of NCCL succeeds' "$gradsync" advise sim
like "$out" $'^Try ctas=16 [^\n]*\n'"$alone"$'\n' 'the variable is named below the answer'
for form in env nccl.conf pytorch megatron deepspeed sbatch train tuner; do
    emit $form
    like "$out" $'\n# '"$alone"$'\n' "the form $form names the variable"
done
emit train
is "$(grep ^NCCL_NVLS_ENABLE <<<"$out")" 'NCCL_NVLS_ENABLE = 0' \
    'the form train sets the variable on both sides'
echo "$out" >mine.ini
exits 0 'the form train with the variable is a config' "$gradsync" plan mine.ini
like "$out" '2 cells in 1 group, ' 'the form train compares two configs'
edit 1 's/"NCCL_NVLS_ENABLE":"0"/"NCCL_MIN_CTAS":"8","NCCL_NET":"IB","NCCL_IB_HCA":"a,b"/'
exits 0 'advise on a recording with a variable of the setting succeeds' "$gradsync" advise sim
like "$out" 'Measured with NCCL_IB_HCA=a,b NCCL_NET=IB in .*; without them nothing was measured\.' \
    'a variable that the setting sets is no condition'
emit train
like "$out" $'\n# Also export NCCL_IB_HCA=a,b\nNCCL_NET = IB\n' \
    'a value that would be a list is left to the user'
steps 2 other '"backend":"cuda","gemms":"4"'
with_env 2 '"NCCL_NET":"IB"'
exits 0 'advise on recordings with unlike variables succeeds' "$gradsync" advise sim
like "$out" 'ranks, in other runs with NCCL_NET=IB\.' 'unlike variables are named for both runs'

# ---- the advised setting in each step that it shortens

fresh
steps 1 '' "$cuda"
steps 2 other '"backend":"cuda","gemms":"4"'
near() { # RUN FACTOR: times of ctas=32
    local f
    for f in "data/raw/sim/iter_proxy/$1"/*.jsonl; do
        jq -c --argjson x "$2" 'if .type == "block" and .cell == "0000000000000004"
            then .time_ns |= map(. * $x | floor) else . end' "$f" >new && mv new "$f"
    done
}
near 1 0.9
near 2 1.1
exits 0 'advise on a step with a faster setting succeeds' "$gradsync" advise sim
like "$(first)" '^Try ctas=16 for .* shorter in 2 of 2 steps' \
    'a setting that shortens both steps is advised'
is "$(grep -c 'ctas=16 .*  advised$' <<<"$out")" 2 \
    'the rows show the advised setting, not a faster one that lengthens another step'
like "$out" 'Not advised: ctas=32, although' 'the sentence below the answer names the faster one'

# ---- of settings that are not distinguishable, the one with the fewest changes

fresh
steps 1 '' "$cuda"
near 1 0.9605
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/FAST=1/'
edit 1 's/ctas=32/NCCL_MAX_CTAS=16\/FAST=1/; s/ctas=8/NCCL_MAX_CTAS=16/'
exits 0 'advise on two settings that are alike succeeds' "$gradsync" advise sim
like "$(first)" '^Set FAST=1 for ' 'a change that shortens nothing is not advised'
near 1 0.98
exits 0 'advise on two settings that are not alike succeeds' "$gradsync" advise sim
like "$(first)" '^Set NCCL_MAX_CTAS=16/FAST=1 for ' 'a change that shortens the step is advised'

# ---- a step that was measured again has one name

fresh
steps 1 '' "$cuda"
steps 2 other '"backend":"cuda","gemms":"4"' effect=0
steps 3 proof-1 "$cuda"
edit 3 's/"type":"header",/&"proof_of":"1",/; s/"config":"ctas=\(8\|32\)"/"config":"x\1"/'
exits 0 'advise after a proof in a section of its own succeeds' "$gradsync" advise sim
like "$out" $'\nShorter in 8\\.\n' 'the sentence names the step as the table does'

# ---- settings of a program

fresh
steps 1 '' "$cuda"
edit 1 's/ctas=16/zero\/symmetric/'
emit env
like "$out" 'for zero: ncclConfig_t.CTAPolicy = NCCL_CTA_POLICY_ZERO\.' \
    'the policy is named as a program sets it'
like "$out" 'for symmetric: .*ncclCommWindowRegister with NCCL_WIN_COLL_SYMMETRIC\.' \
    'symmetric memory is named as a program gets it'

# ---- the command of a training

fresh
cat >speed.ini <<'END'
[platform]
name = speed
[measure]
launches = 3
[train]
command = "for i in 1 2 3 4 5 6 7 8 9 10; do echo step time: {size}.{level}$i ms; done"
level = 6, 1, 9
size = 4, 5
axes = size
END
exits 0 'a training is measured' "$gradsync" train -q speed.ini
exits 0 'the form train after a training succeeds' "$gradsync" advise --emit train speed
is "$(grep -v '^#' <<<"$out" | grep -A9 '\[train\]')" \
    "$(sed -n '/\[train\]/,$p' speed.ini | sed 's/^level = .*/level = 6, 1/')" \
    'the form train after a training has its command, with two values of the setting'
unlike "$out" 'Also set' 'the form train after a training leaves nothing to be set'
echo "$out" >mine.ini
exits 0 'the form train after a training is a config' "$gradsync" plan mine.ini
like "$out" '4 cells in 2 groups, 3 launches'$'\n' 'it compares the setting with its baseline'
exits 0 'a plan of one config succeeds' "$gradsync" plan mine.ini --set train:level=6
like "$out" '2 cells in 2 groups, 3 launches; one config: nothing to compare' \
    'the plan says that one config compares nothing'
run "$gradsync" prove data/raw/speed
is "$rc $out" '0 ' 'prove of a training by its path ends without an answer'

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
exits 0 'advise on imported iteration times succeeds' "$gradsync" advise sim
like "$(first)" '^No advice for sim: the imported iteration times show b50 [0-9.]+ to [0-9.]+% shorter than b25, but gradsync advises only from its own recordings' \
    'imported iteration times are called steps, and the reason for no advice is named'
like "$("$gradsync" compare sim)" 'no floor +faster' 'imported launches have no floor'
like "$("$gradsync" compare --all sim)" 'no floor .* faster' 'the rows of --all say so too'

# ---- proof inside a job, which plays NCCL and its ranks: there ctas=8 shortens a step

fresh
steps 1 '' "$cuda"
edit 1 's/ctas=8/ctas=4/g; s/ctas=16/ctas=8/g'
prove() { # NAME FACTOR: of the time of a step with ctas=8
    exits 0 "$1" "$gradsync" prove sim --steps 8 --blocks 6 --launches 5 -- \
        "$build/tuner/job" steps=280 step_us=6000 "factor=$2"
}
lines() { # TYPE FILTER FILE…
    local type=$1 filter=$2
    shift 2
    cat "$@" | jq -r "select(.type == \"$type\") | $filter" | sort -u | xargs
}
prove 'a proof in a job succeeds' 0.1
like "$out" $'\nctas=8: kept, gain [0-9.]+ to [0-9.]+% at level trial \(run ' \
    'a proof in a job confirms the advice'
is "$(lines header '"\(.launch) \(.proof_of)"' data/raw/sim/trial/*/*.jsonl)" \
    '1 1 2 1 3 1 4 1 5 1' \
    'a proof in a job has five launches that name the run it proves'
exits 0 'advise after a proof in a job succeeds' "$gradsync" advise sim
like "$(first)" "^Set ctas=8 .*% $in_one, shown in a trial inside a job, proved on other data\.$" \
    'advice that was proved has the gain and level of its proof'
prove 'a proof that fails exits with 0' 5
like "$out" $'\nctas=8: not kept, gain -' 'a proof that fails says that the setting is not kept'
exits 0 'advise after a failed proof succeeds' "$gradsync" advise sim
like "$(first)" '^Leave NCCL alone' 'advice whose proof failed is withdrawn'
exits 0 'prove without advice succeeds' "$gradsync" prove sim -- "$build/tuner/job"
like "$err" 'no setting is advised on sim; the job was not started' \
    'prove without advice starts no job'

# ---- proof: real steps of this machine, with `ring` made faster than it is

fresh
cat >mine.ini <<'END'
[launch]
ranks = 2
prefix = env BY=recording
[measure]
launches = 3
blocks = 4
max_blocks = 4
samples = 1
warmup = 1ms
warmup_ops = 1
budget = 10ms
deadline = 600s
[iter_proxy]
backend = host
size = 64KiB, 256KiB
buckets = 2
gemm = 64
gemms = 4
mode = compute, overlapped
configs = auto, ring, recursive_doubling
END
exits 0 'steps are measured on this machine' "$gradsync" run -q mine.ini
chosen=$(echo data/raw/mine/iter_proxy/*)
for f in "$chosen"/*.jsonl; do
    awk '{ sub(/,"chain":"[0-9a-f]*"/, ""); match($0, /"cell":"[0-9a-f]+"/)
        id = substr($0, RSTART, RLENGTH) }
        /"type":"cell"/ { ring[id] = /"config":"ring"/ }
        /"type":"block"/ {
            time = (ring[id] ? 2e5 : 1e7) + 100 * ++n
            sub(/"time_ns":\[[0-9,]*\]/, "\"time_ns\":[" int(time) "]") }
        { print }' "$f" >new && mv new "$f"
done
rm "$chosen/MANIFEST.json"
exits 0 'advise on steps in which ring wins succeeds' "$gradsync" advise mine
like "$(first)" \
    "^Try ring .* of mine: 9[78]\.[0-9] to 9[78]\.[0-9]% shorter in 2 of 2 steps, $synthetic" \
    'ring is worth a try if it wins'
like "$out" "Prove it .*gradsync prove mine --set 'launch:prefix=env BY=recording'" \
    'ring is worth a proof if it wins, whose command has the prefix of the recording'
is "$(grep -c 'gradsync prove' <<<"$out")" 1 'the command of the proof is there once'
exits 0 "a form of a setting that is not NCCL's succeeds" "$gradsync" advise --emit env mine
like "$out" '^# ring is advised on mine, but is not a setting of NCCL\.$' \
    "no form sets what is not NCCL's"
exits 2 'a proof does not run a command of a recording' "$gradsync" prove mine
like "$err" "config\.ini:3: key 'prefix': a command of a recording .* --set 'launch:prefix=env BY=" \
    'the error says how to give the command'
"$gradsync" prove mine -o stopped --set measure:budget=600s --set measure:max_blocks=100000 \
    --set 'launch:prefix=env BY=user' >said 2>why &
pid=$!
begun() { grep -qs '"type":"block"' stopped/mine/*/*proof-1*/*.jsonl; }
ok 'a long proof begins' until_true 60 begun
kill -TERM "$pid"
wait "$pid"
like "$(<why)" 'not started: .* proof-2; run it with: gradsync prove mine --set .* -o stopped$' \
    'an interrupted proof names the command that proves the other steps'
exits 0 'the proof of ring succeeds' "$gradsync" prove mine --set measure:launches=2 \
    --set 'launch:prefix=env BY=user'
is "$(grep -cE '^ring: (kept|not kept|undecided), gain .* at level synthetic \(run ' <<<"$out")" 2 \
    'the proof says of each step whether the gain was kept'
is "$(lines header .proof_of data/raw/mine/iter_proxy/*proof*/*.jsonl)" "${chosen##*/}" \
    'the header of the proof names the run that it proves'
what='"\(.config) \(.params.size) \(.mode)"'
is "$(lines cell "$what" data/raw/mine/iter_proxy/*proof*/*.jsonl)" \
    "$(echo {auto,ring}' '{256,64}'KiB overlapped')" \
        'the proof measures the advised cells and no others'
exits 0 'advise after the proof of ring succeeds' "$gradsync" advise mine
like "$out" 'ring .*; proof: (kept|not kept|undecided)' 'the advice has the outcome of its proof'
unlike "$out" 'ring +9[78]\.' 'the advice has the gain of its proof'
done_testing
