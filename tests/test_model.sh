#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync model and check: the four-site plan, inputs that are impossible, links of unequal or
# shared rates, and ten thousand sites.
. "$(dirname "$0")/lib.sh"
plan=$top/configs/wan-4site.ini

# $(of CSV SWEEP STRATEGY BITS EVERY COLUMN)
of() {
    csv "$1" 'get("sweep") == "'"$2"'" && get("strategy") == "'"$3"'" && get("bits") == '"$4"' &&
        get("every") == '"$5" "$6" | head -n 1
}
near() { # VALUE WANT RELATIVE
    awk -v x="$1" -v want="$2" -v by="$3" \
        'BEGIN { d = x - want; exit !(x != "" && (d < 0 ? -d : d) <= by * want) }'
}

# ---- the bound
bound() { # LINE…: of four sites with these links
    printf '%s\n' '[sites]' 'a = gpus=1' 'b = gpus=1' 'c = gpus=1' 'd = gpus=1' '[links]' \
        'rate = 100Mbit/s' 'rtt = 30ms' "$@" '[model]' 'parameters = 8e6' 'tokens = 1' \
        'compute = 1s' >bound.ini
    "$gradsync" model bound.ini | sed -n 's/.*no all-reduce takes less than //p'
}
clean=$(bound 'mtu = 1500')
is "$(bound 'mtu = 1500' 'loss = 0.01%' 'streams = 1')" "$clean" \
    'one stream of CUBIC that losses slow down does not raise the bound'
is "$(bound 'mtu = 1500' 'a-b = rate=5Mbit/s')" "$clean" \
    'a slow pair that a ring can avoid does not raise the bound'
unlike "$(bound 'mtu = 1500' 'a-b = rate=5Mbit/s' 'a-c = rate=5Mbit/s' 'a-d = rate=5Mbit/s')" \
    "^$clean\$" 'a site whose links are all slow raises the bound'

# ---- the four-site plan; tests/golden/model.cmd has what is printed of it
ok 'the model of the four-site plan is printed' \
    "$gradsync" model "$plan" --csv plan.csv --claims claims.csv
ok 'the CSV has the synchronisation time of a ring' \
    near "$(of plan.csv strategy ring 16 1 sync_s)" 31.2 0.001
ok 'the CSV has the efficiency of a ring' \
    near "$(of plan.csv strategy ring 16 1 efficiency)" 0.095 0.005
ok 'the CSV has the time to the target of a ring' \
    near "$(of plan.csv strategy ring 16 1 target_s)" $((76 * 86400)) 0.01
ok 'a quarter of the bits takes a quarter of the time' \
    near "$(of plan.csv every ring 4 100 sync_s)" 7.8 0.01
ok 'the CSV has the bytes on the wire of oneshot' \
    near "$(of plan.csv strategy oneshot 16 1 wire_B)" 7.8e9 1e-9

# ---- what a config may say of it
keys=$(for section in sites links model; do "$gradsync" help $section; done)
said=$(sed -n '/^\[sites\]/,$p' "$plan" | grep -v '^#' |
    sed -nE 's/^(alt|claim)\.//; s/^(one_site|two_nodes|one_node|okstate|sdstate|mizzou|sdsc|'\
'source) = ?.*//; s/ = .*//p')
is "$(for key in $said; do grep -q "^  $key " <<<"$keys" || echo "$key"; done)" '' \
    'help knows every key of the plan'
like "$("$gradsync" help lan)" 'a word of \[sites\].*lan +rate, B/s' \
    'help explains a word of a site by itself'

# ---- its links need hosts
fails1 2 '0 hosts for 4 sites; name one host of each site' "$gradsync" links -o links.data "$plan"
is "$(ls links.data 2>/dev/null)" '' 'nothing was measured'

# ---- its claims
is "$(for v in impossible unreached contradicted possible; do grep -c ",$v,[^vr]" claims.csv; \
    done | xargs)" \
    '10 2 2 1' 'the claims table has a verdict for each claim'
like "$(grep ',efficiency,' claims.csv)" ',1.0,0.09[0-9]*,unreached,' \
    'an efficiency that rests on the mfu of the plan is not called impossible'
# ---- faults, each one line at its key
refused() { # REGEX SETTING…
    local regex=$1 set=()
    shift
    for s; do set+=(--set "$s"); done
    fails1 2 "$regex" "$gradsync" model "$plan" "${set[@]}"
}
refused 'mfu.*120% of the peak is impossible: 374.4 TFLOP/s per GPU, the peak is 312' model:mfu=120%
refused 'compute.*impossible.* take 1.638 s at 100% of the peak' model:compute=1s
refused '--set: key .okstate-sdsc.: an RTT of 2 ms is impossible: 18[0-9]+ km' \
    links:okstate-sdsc=rtt=2ms
refused 'rtt.: an RTT of 10 ms is impossible' links:rtt=10ms
refused 'micro_batch.* 8 GPUs x 16 sequences x 8192 tokens = 1048576 tokens; a step has 524288' \
    model:micro_batch=16 model:sequence=8192
refused 'gpus.*16 GPUs, but the sites have 8' model:gpus=16
refused "every.*'0' is not in range" model:every=0
refused "bits.*'0' is not in range" model:bits=0
refused '8 fragments in 4 steps' model:every=4 model:fragments=8
refused "unknown key 'upp', did you mean 'up'" 'sites:okstate=upp=1Gbit/s'
refused "targets.*'120%'" model:targets=120%
refused '2 steps of overlap' model:overlap=2
refused "up: 'fast' is not" 'sites:okstate=gpus=2 up=fast'
refused "no site 'okstat' in \[sites\], did you mean 'okstate'" links:okstat-sdsc=rtt=40ms
refused 'lat=… and lon=… together' 'sites:okstate=gpus=2 lat=3'
refused "unknown key in \[model\], did you mean 'mfu'" model:mfuu=1
refused "did you mean 'claim.time'" model:claim.tiem=1h
refused "loss: '100%' is not in range" links:okstate-sdsc=loss=100%
refused 'nodes=9 needs at least as many gpus' 'model:alt.x=gpus=8 nodes=9'
sed '/^\[model\]/i[link okstate-sdsc]\nrate = 1Mbit/s\n' "$plan" >old.ini
exits 2 'a section of one link is refused' "$gradsync" model old.ini
like "$err" 'write the link in \[links\]: A-B = ' 'the message says where to write the link'
ln -s /dev/null device
fails 1 'not a regular file' "$gradsync" model -q "$plan" --csv device
ok 'the device is left alone' test -L device
exits 2 'model without a config is refused' "$gradsync" model

# ---- links of their own
cat >links.ini <<'EOF'
[sites]
a = gpus=1 up=1Gbit/s
b = gpus=1 up=1Gbit/s
c = gpus=1 up=1Gbit/s
d = gpus=1 up=1Gbit/s
[links]
rtt = 10ms
[model]
parameters = 1e9
tokens = 1e6
compute = 1s
strategy = ring
EOF
sync() { # SETTING…: sync_s of each strategy
    local set=()
    for s; do set+=(--set "$s"); done
    "$gradsync" model -q links.ini "${set[@]}" --csv links.csv && awk -F, \
        '$2 == "strategy" { print $3, $11 }' links.csv
}
cat >pair.ini <<'EOF'
[platform]
name = pair
[sites]
a = gpus=1
b = gpus=1
c = gpus=1
d = gpus=1
[links]
rate = 1Gbit/s
rtt = 10ms
b-d = rate=70Mbit/s
[model]
parameters = 1.3e9
tokens = 524288
compute = 3.3s
strategy = direct
targets = 9%, 95%
EOF
run "$gradsync" model pair.ini
like "$out" 'direct \* +38.9 s'
like "$out" $'\n  9% +b-d [1-9][0-9.]+ Mbit/s ' 'where one pair is the reason, its rate is named'
like "$out" '95% +1[0-9.]+ Gbit/s\*' 'where it is not enough, the rate of the sites is'
like "$out" 'and b-d as fast as its sites' 'with what the pair needs too'
like "$out" 'leave out b: .*27.7 s in place of 38.9 s'
run "$gradsync" model pair.ini --set model:strategy=ring
unlike "$out" 'leave out' 'no site is left out for what fewer sites gain by themselves'
run "$gradsync" model pair.ini --set sites:d='gpus=1 up=50Mbit/s'
like "$out" 'leave out d: without it a synchronisation takes [0-9.]+ s in place of 416 s'
run "$gradsync" model --plan pair.ini --set sites:d='gpus=1 up=50Mbit/s' --set model:targets=1%
like "$out" 'leave out d' 'the plan says so too'
two=()
for site in a b c d; do two+=(--set "sites:$site=gpus=2"); done
run "$gradsync" model pair.ini "${two[@]}" --set model:strategy=best
like "$out" 'hierarchical \* +31.2 s .*hierarchical has the shortest'
like "$out" 'ring +36.4 s +4.55 GB' 'a ring is of all ranks, as wan_sync runs it'
run "$gradsync" model pair.ini "${two[@]/gpus=2/gpus=2 ranks=1}"
like "$out" 'ring +31.2 s +3.9 GB' 'with ranks=1 the GPUs of a site are one rank'

is "$(sync | awk '{ printf "%s %.3f ", $1, $2 }')" \
    'ring 24.005 direct 24.005 oneshot 48.005 hierarchical 24.005 ' \
    'equal links give the times of the formulas for every strategy'
is "$(sync 'links:a>b=rate=250Mbit/s' | awk '/^ring/ { printf "%.1f", $2 }')" 96.0 \
    'a ring is as slow as its slowest link: a quarter of the rate takes four times as long'
is "$(sync 'links:a>c=rate=250Mbit/s' | awk '/^ring/ { printf "%.1f", $2 }')" 24.0 \
    'a slow link that the ring does not use does not slow the ring'
is "$(sync 'links:a-c=rate=250Mbit/s' | awk '/^oneshot/ { printf "%.0f", $2 }')" 64 \
    'a slow link slows an exchange of all with all, which uses it'
is "$(sync 'sites:a=gpus=1 up=250Mbit/s' | awk '/^(ring|direct)/ { printf "%.0f ", $2 }')" \
    '96 64 ' 'a slow site slows a ring more than direct exchange with unequal shares'
is "$(sync 'links:shared.sea=rate=1Gbit/s links=a-b,c-d' | awk '/^ring/ { printf "%.2f", $2 }')" \
    48.01 'two links that share one line have half of its rate each'
is "$(sync links:mtu=1500 | awk '/^ring/ { printf "%.2f", $2 }')" 25.30 \
    'headers and acknowledgements take their share of the rate'
is "$(sync links:loss=0.1% links:streams=1 | awk '/^ring/ { print ($2 > 200) }')" 1 \
    'packet loss slows a single stream'
is "$(sync links:loss=0.1% links:streams=64 | awk '/^ring/ { printf "%.1f", $2 }')" 24.0 \
    'many streams make up for packet loss'
is "$(sync links:window=250e3 | awk '/^ring/ { printf "%.1f", $2 }')" 120.0 \
    'a window of 250 kB at 10 ms limits the rate of a stream'
is "$(sync links:shared.x=rate=1Gbit/s 2>&1 | grep -c 'write rate=')" 1 \
    'a shared line without links is refused'

# ---- streaming
streaming="--set model:every=100 --set model:fragments=10"
# shellcheck disable=SC2086 # words
like "$("$gradsync" model links.ini $streaming --set model:overlap=2)" 'ring \* .* 100% ' \
    'streaming hides a synchronisation that fits beside the steps'
# shellcheck disable=SC2086 # words
like "$("$gradsync" model links.ini $streaming --set model:overlap=1 --set model:backward=0)" \
    $'ring \\*[^\n]* 87.7% ' 'fewer steps of overlap hide less'

# ---- data parallel: 1.57 s of synchronisation beside a backward pass of 2.19 s
beside() { "$gradsync" model "$plan" --set links:rate=20Gbit/s --set model:claim.efficiency=95% \
    "$@"; }
like "$(beside --set model:backward=66.7%)" $'efficiency +possible' \
    'an exchange that fits into the backward pass costs nothing'
like "$(beside)" $'efficiency +unreached' \
    'without overlap the same plan does not reach the same efficiency'
ok 'as many steps of overlap as lie between synchronisations are allowed' \
    "$gradsync" model -q links.ini --set model:overlap=1

# ---- published: Douillard et al. 2025, Table 4, through the command line
for parameters in 1e9 1e10; do
    is "$(bash "$top/mk/wan-needed.sh" "$gradsync" $parameters | awk -F, '
        $2 == "model" { model[$1, $3] = $4 }
        $2 == "published" { r = model[$1, $3] / $4; n++; bad += !(r < 1.21 && r > 1 / 1.21) }
        END { print n, bad + 0 }')" "$([ $parameters = 1e9 ] && echo 24 || echo 15) 0" \
        "every published rate for $parameters parameters is met within a step of its grid"
done

# ---- the network: streams, windows, what any transport could do
is "$(sync links:rtt=318ms links:streams=1 | awk '/^ring/ { printf "%.0f", 24 / $2 * 1000 }')" 79 \
    'one stream at 318 ms has the window of Linux: 79 Mbit/s'
is "$(sync links:rtt=318ms | awk '/^ring/ { printf "%.0f", $2 }')" 24 \
    'without streams the rate is what they deliver together'
lossy=(--set links:loss=0.01% --set links:streams=1 --set links:mtu=1500 \
    --set model:claim.sync_time=40s)
like "$("$gradsync" model "$plan" "${lossy[@]}")" \
    'sync_time +unreached .*whatever the algorithm; ring with this plan.s streams takes' \
    'a limit of one stream is not called the limit of any algorithm'
like "$("$gradsync" model "$plan" "${lossy[@]}")" \
    'losses +0.01% of the packets leave [0-9.]+% of the rate of .* to 1 stream of cubic; set '\
'congestion = bbr or streams = [0-9]+' 'where losses limit CUBIC the model says what does better'
unlike "$("$gradsync" model "$plan" "${lossy[@]}" --set links:congestion=bbr)" $'\n  losses ' \
    'BBR does not need this advice'
is "$(sync model:sync=12s | awk '/^ring/ { print $2 }')" 12.0 \
    'a measured synchronisation replaces the computed one'

# ---- counts, targets, alternatives
is "$(sync model:parameters=1B)" "$(sync)" '1B parameters are read as 1e9'
like "$("$gradsync" model links.ini --set model:targets=50%,99.5%)" $'\n  50% .*\n  99.5% ' \
    'the targets of the table can be set'
like "$("$gradsync" model "$plan" --set model:bits=8)" 'two_nodes +104 ms' \
    'alternatives send the bits of the plan'

# ---- too many sites
{
    echo '[sites]'
    for i in $(seq 65); do echo "s$i = gpus=2"; done
    printf '[links]\nrate = 1Gbit/s\nrtt = 10ms\n[model]\nparameters = 1e9\ntokens = 1e9\n'
    echo 'peak = 312e12'
} >many.ini
fails 2 '\[sites\] has 65 sites; at most 64' "$gradsync" model many.ini
sed -i '/^s65 =/d' many.ini
exits 0 'a plan of 64 sites is answered' "$gradsync" model many.ini
# ---- how far it is from what was measured
cat >wan.csv <<'EOF'
platform,run_id,loss,config,size_B,sync_s,sync_ci_low_s,sync_ci_high_s,model_sync_s,label,strategy,transport,every,overlap,fragments,ranks,sites
a,1,0.0,ring,8,9.0,8.0,10.0,0.9
a,2,0.0,ring,8,1.0,0.95,1.05,0.9
a,2,0.0,"ring, odd",8,1.0,0.98,1.02,1.04
a,2,0.0,direct,8,2.0,2.0,2.0,2.0
b,1,0.001,ring,8,1.0,0.5,1.6,1.5
b,1,0.001,strategy=mpi,8,1.0,0.9,1.1,
EOF
sed -i '2,$s/$/,,ring,tcp,1,0,1,4,4/' wan.csv
is "$("$gradsync" query -q --format csv --table wan.csv -- "$(cat "$top"/figures/wan_{cells,errors}.sql)")" \
    'network,loss,cells,median_error,worst_error,median_spread,spread_at_worst,worst_beyond,'\
'worst_config,worst_size_B
a,0,3,0.040000,0.100000,0.020000,0.050000,0.050000,ring,8
b,0.001,1,0.500000,0.500000,0.550000,0.550000,0.000000,ring,8
all without loss,,3,0.040000,0.100000,0.020000,0.050000,0.050000,ring,8
all with loss,,1,0.500000,0.500000,0.550000,0.550000,0.000000,ring,8' \
    "the model's error is listed by network and in all, beside the spread of the recording"

# ---- recordings before the smallest block was halved: each of 6 exchanges forwards 16 KiB, 1.3 ms
predicted() { # CSV: the model in per cent of the measurement
    "$gradsync" query --format lines --table "$1/wan.csv" "SELECT CAST(round(100 * model_sync_s / sync_s) AS INTEGER)
        FROM wan WHERE config = 'ring' AND size_B = 65536"
}
mkdir -p old/wan-lab-100-10/wan_sync
ln -s "$top/data/raw/wan-lab-100-10/wan_sync/20261122T020813Z-662f" old/wan-lab-100-10/wan_sync
ok 'a recording of 100 Mbit/s is reduced' "$gradsync" reduce -q old -o old.csv
is "$(predicted old.csv)" 99 'a recording is modelled with the smallest block that it had'
cp -rL old new && chmod -R u+w new && rm new/*/*/*/MANIFEST.json
sed -i 's/"plugin":"1.0.0"/"plugin":"1.1.0"/' new/*/*/*/launch-*.jsonl
ok 'the same recording of wan_sync 1.1.0 is reduced' "$gradsync" reduce -q new -o new.csv
is "$(predicted new.csv)" 90 'the version of wan_sync decides on the smallest block, not the time'

# ---- what it knows of wan_sync stands there
constant() { # NAME FILE: of a #define, as a number
    awk -v name="$1" '$1 == "#define" && $2 == name { print $3 + 0 }' "$top/$2"
}
is "$(constant HEADROOM runner/reduce/wan_table.c)" \
    "$(constant PACE_HEADROOM plugins/wan_sync/transport/tcp_parts.h)" \
    'the model and wan_sync have the same pacing headroom'
is "$(constant PIECES plugins/common/wan_model.c)" \
    "$(constant PIPELINE plugins/wan_sync/strategy.c)" \
    'the model and wan_sync cut a part into the same number of pieces'
is "$(constant FRAME_B plugins/common/wan_model.c)" \
    "$(sed -n 's/.*sizeof(struct tcp_frame) == \([0-9]*\).*/\1/p' \
        "$top/plugins/wan_sync/transport/tcp_parts.h")" \
    "the model counts a frame's head with the bytes that it has"
done_testing
