# Not under ASan: what is read is fuzzed with it.
# gradsync advise, on recordings whose truth is known (tests/steps.sh): ctas=16 shortens the step and ctas=32 lengthens
# it by 2%; ctas=8 makes no difference.
. $top/tests/steps.sh
emit() { gradsync advise --emit "$1" sim; }

# ---- a winner of replayed steps
steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=24'
ran 1 ctas=16 'RING/SIMPLE ctas=16'
$ gradsync advise sim
$ diff <(gradsync advise data/raw/sim/iter_proxy/1) <(gradsync advise sim)
$ gradsync advise h900
# More CTAs than NCCL chooses are not offered for a trial.
fresh && steps 1 '' "$cuda"
ran 1 auto 'RING/SIMPLE ctas=4'
$ gradsync advise sim

# ---- synthetic steps lead to no advice, and a step that never ran a setting gets none for it
fresh && steps 1 '' "$synthetic"
$ gradsync advise sim
$ emit env
steps 2 real "$cuda" effect=0
edit 2 's/ctas=16/ctas=x/; s/"size_B":8/"size_B":16/'
$ gradsync advise sim

# ---- a gain that may be too small, and one that is left open
fresh && steps 1 '' "$cuda" effect=0.004
$ gradsync advise
fresh && steps 1 '' "$cuda" effect=0 spread=0.3
$ gradsync advise sim

# ---- a winner that lengthens another step: it counts in what that step leaves open
fresh && steps 1 '' "$cuda"
steps 2 other "$other" && swap 2
$ gradsync advise sim
# One launch closes no step.
fresh && steps 1 '' "$cuda" effect=0
steps 2 other "$other" launches=1
$ gradsync advise sim
# No row is above what its step leaves open.
above_open() { sed -n 's/.* \(-\{0,1\}[0-9.]*\) to \(-\{0,1\}[0-9.]*\)%  *\([0-9.]*\)%  .*/\2 \3/p' | awk '{ n++ } $1 > $2 + 0.051; END { print n " rows" }'; }
$ for platform in h200-2gpu-steps h100-2gpu-steps h200-4gpu; do gradsync advise $top/data/raw/$platform 2>/dev/null | above_open; done

# ---- the latest run of a step counts, if it is complete; a trial counts more than a synthetic step
fresh && steps 1 '' "$cuda"
steps 2 again "$cuda" effect=0
$ gradsync advise sim
manifest data/raw/sim/iter_proxy/1
$ gradsync advise sim
fresh && steps 1 '' "$cuda"
steps 2 '' "$cuda" effect=-0.02
edit 2 's/"workload":"iter_proxy"/"workload":"trial"/; s/"mode":"overlapped"/"mode":""/'
$ gradsync advise sim

# ---- one launch, of a finished run and of an interrupted one
fresh && steps 1 '' "$cuda" launches=1
manifest data/raw/sim/iter_proxy/1
$ gradsync advise sim
rm data/raw/sim/iter_proxy/1/MANIFEST.json
$ gradsync advise sim | sed -n 1p

# ---- operations alone, and a run with another name and a damage
fresh && steps 1 '' "$cuda"
edit 1 's/"workload":"iter_proxy"/"workload":"nccl_allreduce"/'
$ gradsync advise sim
$ emit env
manifest data/raw/sim/iter_proxy/1
mv data/raw/sim/iter_proxy/1 data/raw/sim/iter_proxy/9 && chmod u+w data/raw/sim/iter_proxy/9/*.jsonl
truncate -s -9 data/raw/sim/iter_proxy/9/launch-05.01.jsonl
$ gradsync advise sim

# ---- a setting that NCCL did not take
fresh && steps 1 '' "$cuda"
ran 1 ctas=16 'RING/SIMPLE ctas=8'
ran 1 ctas=32 'TREE/SIMPLE ctas=32'
$ gradsync advise sim

# ---- forms: tests/test_advise.sh has them read back
fresh && steps 1 '' "$cuda"
$ emit env
$ emit pytorch
$ emit sbatch
$ emit envi
edit 1 's/ctas=16/tree/g'
$ emit pytorch
swap 1
steps 2 '' "$cuda" effect=0
edit 2 's/"config":"ctas=16"/"config":"tree"/'
$ emit env
# A bucket size is an option of DDP, and no variable.
fresh && steps 1 '' "$cuda"
edit 1 's/"config":"ctas=16"/"config":"ctas=16\/bucket_cap=50MiB"/'
$ emit pytorch
$ emit env
# Settings of a program.
fresh && steps 1 '' "$cuda"
edit 1 's/ctas=16/zero\/symmetric/'
$ emit env

# ---- a training is the highest level; without a size it is called a job
fresh && steps 1 '' '"bucket_cap":"25"'
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/NCCL_MAX_CTAS=16/'
values 1 NCCL_MAX_CTAS=16 '{"NCCL_MAX_CTAS":"16"}'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/'
$ gradsync advise sim
$ emit sbatch
fresh && steps 1 '' "$cuda" effect=0
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/'
edit 1 's/"config":"auto"/"config":"bucket_cap=25"/; s/"size":"8",//; s/"size_B":8/"size_B":0/'
$ gradsync advise sim
# The widest bound of a verdict is the least gain.
steps 2 other "$other" effect=0
edit 2 's/"ctas=/&1/g'
sed -i 's/0.1%/1%/' data/raw/sim/iter_proxy/2/config.ini
$ gradsync advise sim | sed -n 1p

# ---- what was set in NCCL's environment for all settings alike
with_env() { edit "$1" 's/"type":"header",/&"env":{'"$2"'},/'; } # RUN JSON
fresh && steps 1 '' "$cuda"
with_env 1 '"NCCL_NVLS_ENABLE":"0","NCCL_VERSION":"2.28","NCCL_DEBUG":"INFO","OMPI_MCA_x":"1"'
$ gradsync advise sim | grep 'Measured with'
$ for form in env pytorch sbatch; do emit $form | grep 'Measured with'; done
edit 1 's/"NCCL_NVLS_ENABLE":"0"/"NCCL_MIN_CTAS":"8","NCCL_NET":"IB","NCCL_IB_HCA":"a,b"/'
$ gradsync advise sim | grep 'Measured with'
steps 2 other "$other" && with_env 2 '"NCCL_NET":"IB"'
$ gradsync advise sim | grep 'Measured with'
# A variable that the setting leaves out is no condition.
$ gradsync advise $top/data/raw/h100-2gpu-sock 2>/dev/null | grep 'Measured with'

# ---- the rows show the advised setting, not a faster one that lengthens another step
near() { # RUN FACTOR: times of ctas=32
    for f in "data/raw/sim/iter_proxy/$1"/*.jsonl; do
        jq -c --argjson x "$2" 'if .type == "block" and .cell == "0000000000000004"
            then .time_ns |= map(. * $x | floor) else . end' "$f" >new && mv new "$f"
    done
}
fresh && steps 1 '' "$cuda" && near 1 0.9
steps 2 other "$other" && near 2 1.1
$ gradsync advise sim

# ---- of settings that are not distinguishable, the one with the fewest changes
fresh && steps 1 '' "$cuda" && near 1 0.9605
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/FAST=1/'
edit 1 's/ctas=32/NCCL_MAX_CTAS=16\/FAST=1/; s/ctas=8/NCCL_MAX_CTAS=16/'
values 1 NCCL_MAX_CTAS=16 '{"NCCL_MAX_CTAS":"16"}'
values 1 FAST=1 '{"FAST":"1"}'
values 1 NCCL_MAX_CTAS=16/FAST=1 '{"NCCL_MAX_CTAS":"16","FAST":"1"}'
$ gradsync advise sim
near 1 0.98
$ gradsync advise sim | sed -n 1p

# ---- iteration times of another program have no floor, and lead to no advice
fresh
for config in b25 b50; do
    for n in 1 2 3 4 5; do
        mkdir -p it$n
        for i in {1..10}; do echo "95.$((i * n % 7))"; done >"it$n/iteration_times_$config.txt"
    done
done
sed -i 's/^95/100/' it?/iteration_times_b25.txt
gradsync import -q --as-launches --platform sim --set ranks=8 -o data/raw it?/iteration_times_*.txt
$ gradsync advise sim
$ gradsync compare sim
$ gradsync compare --all sim
