#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync advise and prove, on recordings whose truth is known. In a recording of `steps`, ctas=16
# shortens the step and ctas=32 lengthens it by `effect`; ctas=8 makes no difference.
# Run also under ASan.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
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
no_win='no setting was shown to shorten a step by more than 0\.5% on sim \(2 ranks\)'
cuda='"backend":"cuda","gemms":"1"'

# ---- a winner

steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=24'
ran 1 ctas=16 'RING/SIMPLE ctas=16'
exits 0 'steps with a winner' "$gradsync" advise sim
like "$(first)" "^Try ctas=16 for 2 ranks on 1 node of sim: $two% $in_one, $synthetic" \
    'are worth a try, no more: they are synthetic'
like "$out" 'gradsync trial --arms ctas=16 -- COMMAND' 'the next command raises the level'
like "$out" "8 +ctas=16 +$two% +synthetic +RING/SIMPLE ctas=24 +RING/SIMPLE ctas=16 +advised" \
    'its row has the step, the level and what ran on both sides'
exits 0 'a run by its path' "$gradsync" advise data/raw/sim/iter_proxy/1
like "$(first)" '^Try ctas=16' 'has the same advice'
exits 2 'a platform that is not there' "$gradsync" advise h900
one_line "$err" 'is an error of one line'

fresh
steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=4'
exits 0 'more CTAs than NCCL chooses' "$gradsync" advise --emit tuner sim
like "$out" '# ctas=16 is more than a tuner can choose' 'are no rule of a tuner'
exits 0 'nor are they' "$gradsync" advise sim
unlike "$out" 'gradsync trial' 'for a trial'

# ---- a gain that may be too small

fresh
steps 1 '' "$cuda" effect=0.004
exits 0 'a gain of 0.4%' "$gradsync" advise
like "$(first)" "^Leave NCCL alone: $no_win; the largest possible gain left open is 0\.[45]%\.$" \
    'is not advised'
like "$out" 'ctas=16 .* not advised: the gain may be below 0.5%' 'though it is a verdict'

# ---- slower elsewhere

fresh
steps 1 '' "$cuda"
steps 2 other '"backend":"cuda","gemms":"4"'
swap 2
exits 0 'a winner that lengthens another step' "$gradsync" advise sim
like "$(first)" "^Leave NCCL alone: $no_win without lengthening another; " 'is not advised'
like "$out" 'ctas=16 .* not advised: slower at other 8B?' 'its row names that step'

# ---- the latest run of a step counts, the highest level of a setting

fresh
steps 1 '' "$cuda"
steps 2 again "$cuda" effect=0
exits 0 'a winner that is not found again' "$gradsync" advise sim
like "$(first)" '^Leave NCCL alone' 'is not advised'
fresh
steps 1 '' "$cuda"
steps 2 '' "$cuda" effect=-0.02
edit 2 's/"workload":"iter_proxy"/"workload":"trial"/; s/"mode":"overlapped"/"mode":""/'
exits 0 'a trial that contradicts synthetic steps' "$gradsync" advise sim
like "$(first)" "^Set ctas=32 for .* $two% $in_one, shown in a trial inside a job\.$" \
    'overrides them'
like "$out" 'higher level: gradsync train CONFIG' 'and training is the next level'
like "$out" 'gradsync prove sim -- COMMAND' 'its proof is a trial'

# ---- operations alone

fresh
steps 1 '' "$cuda"
edit 1 's/"workload":"iter_proxy"/"workload":"nccl_allreduce"/'
exits 0 'all-reduces alone' "$gradsync" advise sim
like "$out" '^No advice for sim: no training step was compared with auto there' 'are no advice'
exits 0 'nor are they' "$gradsync" advise --emit env sim
like "$out" '^# Nothing to set: no steps were measured on sim\.$' 'in a form'

# ---- a setting that NCCL did not take

fresh
steps 1 '' "$cuda"
ran 1 ctas=16 'RING/SIMPLE ctas=8'
ran 1 ctas=32 'TREE/SIMPLE ctas=32'
exits 0 'a setting that NCCL clamped' "$gradsync" advise sim
like "$(first)" '^Leave NCCL alone' 'is not advised'
like "$out" 'ctas=16 .* not advised: clamped by NCCL' 'for this reason'
exits 0 'what took effect' "$gradsync" advise --check sim
like "$out" 'ctas=16 +0 +1 +0 +RING/SIMPLE ctas=8 at ' 'is counted'
like "$out" 'ctas=32 +1 +0 +0 +-' 'by setting'
ran 1 auto 'RING/LL ctas=4'
edit 1 's/"config":"ctas=8"/"config":"tree"/; s/RING\/SIMPLE ctas=8/RING\/LL128 ctas=8/'
edit 1 's/"config":"ctas=16"/"config":"tree\/LL128"/'
exits 0 'an algorithm that NCCL replaced' "$gradsync" advise --check sim
like "$out" 'tree/LL128 +0 +0 +1 ' 'is ignored'

# ---- forms

fresh
steps 1 '' "$cuda"
emit() { run "$gradsync" advise --emit "$1" sim; }
emit env
like "$out" "^# ctas=16: $two% shorter steps, level of evidence: synthetic, 1 of 1 " \
    'a form names its evidence'
is "$(grep -v '^#' <<<"$out")" $'NCCL_MIN_CTAS=16\nNCCL_MAX_CTAS=16' 'env'
emit nccl.conf
is "$(grep -v '^#' <<<"$out")" $'NCCL_MIN_CTAS=16\nNCCL_MAX_CTAS=16' 'nccl.conf'
emit pytorch
like "$out" $'\noptions.config.min_ctas = 16\noptions.config.max_ctas = 16\ndist.init_' \
    'pytorch'
emit megatron
is "$(grep -v '^#' <<<"$out")" $'dp:\n  min_ctas: 16\n  max_ctas: 16' 'megatron'
emit deepspeed
is "$(grep -v '^#' <<<"$out")" 'NCCL_MIN_CTAS=16 NCCL_MAX_CTAS=16 deepspeed train.py' 'deepspeed'
emit sbatch
is "$(grep -v '^#' <<<"$out" | bash -c '. /dev/stdin; echo $NCCL_MAX_CTAS')" 16 \
    'sbatch is a shell script'
emit tuner
is "$(grep -v '^#' <<<"$out")" 'allreduce,0,-1,-1,-1,16,1,2' \
    'tuner: only for the ranks and nodes that were measured'
echo "$out" >rules.csv
export NCCL_TUNER_CONFIG_FILE=rules.csv NCCL_TUNER_PLUGIN=$build/libnccl-tuner-gradsync.so
run "$build/tuner/job"
unset NCCL_TUNER_CONFIG_FILE NCCL_TUNER_PLUGIN
like "$out" 'channels=16 ' 'and the tuner plugin takes them'
is "$err" '' 'without complaint'
exits 2 'a form that is not there' "$gradsync" advise --emit envi sim
like "$err" "no form 'envi', did you mean 'env'" 'has its nearest named'
edit 1 's/ctas=16/tree/g'
emit pytorch
like "$out" '# In the environment, .*: NCCL_ALGO=allreduce:tree' \
    'an algorithm goes through the environment, for the collective that has it'
swap 1
steps 2 '' "$cuda" effect=0
edit 2 's/"config":"ctas=16"/"config":"tree"/'
emit env
like "$out" '^# Nothing to set on sim with 2 ranks on 1 node: no setting is advised\.$' \
    'without advice a form is a comment that says so'
is "$rc" 0 'and no error'

fresh
steps 1 '' "$cuda"
edit 1 's/"config":"ctas=16"/"config":"ctas=16\/bucket_cap=50MiB"/'
emit pytorch
like "$out" 'DistributedDataParallel\(model, bucket_cap_mb=50\)' 'a bucket size is an option of DDP'
emit env
like "$out" "# Also set DDP's bucket_cap_mb=50" 'and no variable'
emit tuner
is "$(grep -cv '^#' <<<"$out")" 0 'nor a rule of a tuner'
exits 2 'nor can a trial switch it' "$gradsync" prove sim -- true
one_line "$err" 'which is said'

fresh
steps 1 '' '"bucket_cap":"25"'
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/NCCL_MAX_CTAS=16/'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/'
exits 0 'a training' "$gradsync" advise sim
like "$(first)" "^Set NCCL_MAX_CTAS=16 for .* $two% $in_one, shown in training\.$" 'is the highest level'
emit sbatch
is "$(grep -v '^#' <<<"$out")" 'export NCCL_MAX_CTAS=16' 'its variables are set'
fresh
steps 1 '' "$cuda" effect=0
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/'
exits 0 'a training without a winner' "$gradsync" advise sim
like "$(first)" '^Keep bucket_cap=25: no setting was shown' 'keeps its baseline'

# ---- proof inside a job, which plays NCCL and its ranks: there ctas=8 shortens a step

fresh
steps 1 '' "$cuda"
edit 1 's/ctas=8/ctas=4/g; s/ctas=16/ctas=8/g'
prove() { # NAME FACTOR: of the time of a step with ctas=8
    exits 0 "$1" "$gradsync" prove sim --steps 8 --blocks 6 --launches 5 -- \
        "$build/tuner/job" steps=400 step_us=2000 "factor=$2"
}
lines() { # TYPE FILTER FILE…
    local type=$1 filter=$2
    shift 2
    cat "$@" | jq -r "select(.type == \"$type\") | $filter" | sort -u | xargs
}
prove 'a proof in a job' 0.2
like "$out" $'\nctas=8: kept, gain [0-9.]+ to [0-9.]+% at level trial \(run ' 'confirms the advice'
is "$(lines header '"\(.launch) \(.proof_of)"' data/raw/sim/trial/*/*.jsonl)" '1 1 2 1 3 1 4 1 5 1' \
    'in five launches that name the run'
exits 0 'advice after it' "$gradsync" advise sim
like "$(first)" "^Set ctas=8 .*% $in_one, shown in a trial inside a job, proved on other data\.$" \
    'has its gain and its level'
prove 'a proof that fails' 5
like "$out" $'\nctas=8: not kept, gain -' 'says so'
exits 0 'advice after that' "$gradsync" advise sim
like "$(first)" '^Leave NCCL alone' 'is withdrawn'
exits 0 'nothing is left to prove' "$gradsync" prove sim -- "$build/tuner/job"
like "$err" 'no setting is advised on sim; the job was not started' 'and no job is started'

# ---- proof: real steps of this machine, with `ring` made faster than it is

fresh
cat >mine.ini <<'END'
[launch]
ranks = 2
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
exits 0 'steps of this machine' "$gradsync" run -q mine.ini
chosen=$(echo data/raw/mine/iter_proxy/*)
for f in "$chosen"/*.jsonl; do
    awk '{ sub(/,"chain":"[0-9a-f]*"/, ""); match($0, /"cell":"[0-9a-f]+"/); id = substr($0, RSTART, RLENGTH) }
        /"type":"cell"/ { ring[id] = /"config":"ring"/ }
        /"type":"block"/ {
            time = (ring[id] ? 2e5 : 1e7) + 100 * ++n
            sub(/"time_ns":\[[0-9,]*\]/, "\"time_ns\":[" int(time) "]") }
        { print }' "$f" >new && mv new "$f"
done
rm "$chosen/MANIFEST.json"
exits 0 'steps in which ring wins' "$gradsync" advise mine
like "$(first)" "^Try ring .* of mine: 9[78]\.[0-9] to 9[78]\.[0-9]% shorter in 2 of 2 steps, $synthetic" \
    'are worth a try'
like "$out" 'gradsync prove mine' 'and a proof'
exits 0 'of a setting that is none of NCCL' "$gradsync" advise --emit env mine
like "$out" '^# ring is advised on mine, but is no setting of NCCL\.$' 'no form is written'
exits 0 'the proof' "$gradsync" prove mine --set measure:launches=2
is "$(grep -cE '^ring: (kept|not kept|undecided), gain .* at level synthetic \(run ' <<<"$out")" 2 \
    'says of each step whether the gain was kept'
is "$(lines header .proof_of data/raw/mine/iter_proxy/*proof*/*.jsonl)" "${chosen##*/}" \
    'its header names the run that it proves'
what='"\(.config) \(.params.size) \(.mode)"'
is "$(lines cell "$what" data/raw/mine/iter_proxy/*proof*/*.jsonl)" \
    "$(echo {auto,ring}' '{256,64}'KiB overlapped')" 'it measures those cells and no others'
exits 0 'advice after the proof' "$gradsync" advise mine
like "$out" 'ring .*; proof: (kept|not kept|undecided)' 'carries it'
unlike "$out" 'ring +9[78]\.' 'and its gain is that of the proof'
done_testing
