#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What gradsync model --plan chooses for links: the order of a ring around a slow one, the strategy,
# the wire and how often; what it says to set elsewhere. And wan_sync with strategy=auto on this host.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"

links() { # LINE…: four sites with these links, and a training
    printf '%s\n' '[sites]' 'north = gpus=1' 'east = gpus=1' 'south = gpus=1' 'west = gpus=1' \
        '[links]' 'rate = 100Mbit/s' 'rtt = 10ms' "$@" '[model]' 'parameters = 16.777216e6' \
        'tokens = 8192' 'bits = 8' "compute = ${compute:-1s}"
}

links 'north-east = rate=20Mbit/s' >slow.ini
prints 'ring +north, south, east, west: 2.02 s instead of 10.1 s' "$gradsync" model --plan \
    slow.ini
like "$out" 'strategy = ring, order = rate' 'wan_sync is told to order the ring by rate'
like "$out" 'OpenDiLoCo --hv.local-steps [0-9]+' 'OpenDiLoCo gets the number of local steps'
like "$out" 'NCCL_NSOCKS_PERTHREAD=4' 'NCCL gets as many sockets as there are streams'

links >equal.ini
run "$gradsync" model --plan equal.ini
like "$out" 'ring +in the order of \[sites\]' 'equal links keep the order of [sites]'

compute=100s links >long.ini
run "$gradsync" model --plan long.ini
like "$out" 'every = 1, fragments = 1' 'where every step can wait, each synchronises'
unlike "$out" OpenDiLoCo 'then no settings of DiLoCo are given'

compute=100ms links >short.ini
run "$gradsync" model --plan short.ini
like "$out" 'wire = int[84], every = [1-9][0-9]+, fragments = 8, overlap = 1'

every=$(sed -n 's/.*every = \([0-9]*\),.*/\1/p' <<<"$out")
is "$((every % 8))" 0 'each fragment has a step of its own'
like "$out" 'sync_steps=[0-9]+ --fault_tolerance.num_fragments=8' 'torchtitan gets the fragments'
their=$(sed -n 's/.*sync_steps=\([0-9]*\) .*/\1/p' <<<"$out")
is "$((their > every))" 1 \
    'torchtitan, which sends 8 bits and hides less, synchronises less often than wan_sync'
is "$((their % 8))" 0 'each of its fragments has a step of its own'
like "$out" 'OpenDiLoCo --hv.local-steps [0-9]+ --hv.hivemind-compression uniform8bit'
like "$out" 'quantized_datatype=pcclUint8' 'PCCL gets the quantisation'

# Data parallelism with the backward pass needs every = 15 to 181 here; what others can do is less.
run "$gradsync" model --plan "$top/configs/wan-4site.ini"
like "$out" 'every = 32, fragments = 8, overlap = 1' 'wan_sync overlaps, and waits for 32 steps'
like "$out" $'local-steps 18[0-9] --hv.hivemind-compression fp16\n +95% of the time is compute'
run "$gradsync" model "$top/configs/wan-4site.ini"
like "$out" '95% +[0-9.]+ Gbit/s +181 +91 +46'

exits 0 'a target that waiting makes impossible is told' "$gradsync" model --plan short.ini --set \
    model:straggle=50ms
is "$out" 'no value of every reaches 95% compute: [model] straggle leaves 66.7%; lower it, or [model] targets' \
    'no plan is printed that nobody can follow'
sed '/^[esw][a-z]* = gpus/d; /^north-/d' slow.ini >one.ini
fails 2 'one.ini: \[sites\] has one site; a plan is for two' "$gradsync" model --plan one.ini
fails 2 'leave out --csv or --plan' "$gradsync" model --plan slow.ini --csv plan.csv
run "$gradsync" model --plan equal.ini --set links:loss=1% --set links:streams=4
like "$out" 'losses +1% of the packets leave .*set congestion = bbr or streams'
run "$gradsync" model --plan equal.ini --set links:streams=100
like "$out" 'streams = 64, .*NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=32'

links 'north-east = rate=20Mbit/s' 'windwo = 3MiB' >typo.ini
printf '%s\n' '[launch]' 'ranks = 4' 'oversubscribe = yes' '[mpi_allreduce]' 'size = 64KiB' >>typo.ini
fails 2 "typo.ini:.*unknown key in .links., did you mean 'window'" "$gradsync" plan typo.ini

links 'congestion = bbr' 'rtt = 200ms' 'streams = 16' | sed '/^rtt = 10ms/d' >far.ini
run "$gradsync" model --plan far.ini
like "$out" 'congestion = bbr' 'the congestion control is that of the links'
like "$out" 'default_qdisc=fq' 'BBR gets the queue that it needs'
like "$out" 'streams = 16' 'the streams are those of the links'
links 'rtt = 200ms' | sed '/^rtt = 10ms/d; s/100Mbit/1Gbit/' >fat.ini
run "$gradsync" model --plan fat.ini
like "$out" "tcp_rmem='4096 131072 50331648'" 'a buffer holds two bandwidth-delay products'

if [ -e "$build/plugins/wan_sync.so" ]; then
    printf '%s\n' '[sites]' 'a = gpus=1' 'b = gpus=1' >auto.ini
    printf '%s\n' '[launch]' 'ranks = 3' 'oversubscribe = yes' 'bind = none' '[measure]' \
        'launches = 1' 'blocks = 1' 'max_blocks = 1' 'samples = 1' 'warmup = 0' '[wan_sync]' \
        'size = 64KiB' 'strategy = auto, ring' 'site_ranks = 1' >>auto.ini
    exits 0 'strategy=auto gives the right sum' "$gradsync" run -q -o data auto.ini
    like "$(cat data/auto/wan_sync/*/launch-*.jsonl)" '"key":"strategy","value":"[a-z_]+"' \
        'the recording names the strategy that it chose'
    exits 0 'sites without rates have tables, without a model' "$gradsync" reduce -q -o csv data
else
    skip 'strategy=auto gives the right sum' 'wan_sync is not built here'
fi
no_orphans 'no process is left running'
done_testing
