# The four-site plan: its answer, and what its claims come to.
plan=$top/configs/wan-4site.ini
$ gradsync model $plan
$ gradsync check $plan 2>&1 | tail -n 3
$ gradsync check $plan --set model:claim.time=80d..90d --set model:claim.efficiency=9% 2>&1 | grep -c warning
$ gradsync model $plan --set links:okstate-sdsc=rate=100Mbit/s | grep slowest
$ gradsync model $plan --set links:rate=100Gbit/s | grep sync_time
# The tables that it writes, and how many claims have which verdict.
$ gradsync model -q $plan --csv plan.csv --claims claims.csv && csv claims.csv 1 verdict | sort | uniq -c
$ cut -d, -f2,3,5,6,11,12,15,17 plan.csv | grep 'sweep\|strategy\|every,ring,4.0,100' | sed -E 's/([0-9]\.[0-9]{3})[0-9]*/\1/g'
# The bound: neither losses that slow one stream nor a slow pair that a ring can avoid raise it, a site whose links
# are all slow does.
bound() { # LINE…: of four sites with these links
    printf '%s\n' '[sites]' 'a = gpus=1' 'b = gpus=1' 'c = gpus=1' 'd = gpus=1' '[links]' 'rate = 100Mbit/s' \
        'rtt = 30ms' 'mtu = 1500' "$@" '[model]' 'parameters = 8e6' 'tokens = 1' 'compute = 1s' >bound.ini
    gradsync model bound.ini | sed -n 's/.*no all-reduce takes less than //p'
}
$ bound
$ bound 'loss = 0.01%' 'streams = 1'
$ bound 'a-b = rate=5Mbit/s'
$ bound 'a-b = rate=5Mbit/s' 'a-c = rate=5Mbit/s' 'a-d = rate=5Mbit/s'
# Faults, each one line at its key.
refused() { for s; do set -- "$@" --set "$s" && shift; done && gradsync model $plan "$@"; }
$ refused model:mfu=120%
$ refused model:compute=1s
$ refused links:okstate-sdsc=rtt=2ms
$ refused links:rtt=10ms
$ refused model:gpus=16
$ refused model:every=0
$ refused model:bits=0
$ refused model:every=4 model:fragments=8
$ refused sites:okstate=upp=1Gbit/s
$ refused model:targets=120%
$ refused model:overlap=2
$ refused 'sites:okstate=gpus=2 up=fast'
$ refused links:okstat-sdsc=rtt=40ms
$ refused 'sites:okstate=gpus=2 lat=3'
$ refused model:mfuu=1
$ refused model:claim.tiem=1h
$ refused links:okstate-sdsc=loss=100%
sed '/^\[model\]/i[link okstate-sdsc]\nrate = 1Mbit/s\n' $plan >old.ini
$ gradsync model old.ini | sed -n 4p
$ gradsync model
# One pair that is the reason, and sites whose absence gains; a ring is of all ranks, as wan_sync runs it.
printf '%s\n' '[platform]' 'name = pair' '[sites]' 'a = gpus=1' 'b = gpus=1' 'c = gpus=1' 'd = gpus=1' '[links]' \
    'rate = 1Gbit/s' 'rtt = 10ms' 'b-d = rate=70Mbit/s' '[model]' 'parameters = 1.3e9' 'tokens = 524288' \
    'compute = 3.3s' 'strategy = direct' 'targets = 9%, 95%' >pair.ini
pair() { for s; do set -- "$@" --set "$s" && shift; done && gradsync model pair.ini "$@"; }
$ pair
$ pair model:strategy=ring | grep 'choose\|leave\|faster by'
$ pair 'sites:d=gpus=1 up=50Mbit/s' | grep 'choose\|leave\|faster by'
$ gradsync model --plan pair.ini --set 'sites:d=gpus=1 up=50Mbit/s' --set model:targets=1% | grep 'leave out'
$ pair sites:{a,b,c,d}=gpus=2 model:strategy=best | grep 'choose\|leave\|faster by'
$ pair sites:{a,b,c,d}='gpus=2 ranks=1' | grep ring
# Links of their own: equal ones give the times of the formulas, a ring is as slow as its slowest link, which others
# need not use; headers, losses and windows take their share, streams make up for losses. One stream at 318 ms has
# the window of Linux.
printf '%s\n' '[sites]' 'a = gpus=1 up=1Gbit/s' 'b = gpus=1 up=1Gbit/s' 'c = gpus=1 up=1Gbit/s' \
    'd = gpus=1 up=1Gbit/s' '[links]' 'rtt = 10ms' '[model]' 'parameters = 1e9' 'tokens = 1e6' 'compute = 1s' \
    'strategy = ring' >links.ini
sync() { # SETTING…: the time of each strategy
    for s; do set -- "$@" --set "$s" && shift; done
    gradsync model -q links.ini "$@" --csv links.csv &&
        awk -F, '$2 == "strategy" { printf "%s%s %.3f", n++ ? "  " : "", $3, $11 } END { if (n) print "" }' links.csv
}
$ sync
$ sync 'links:a>b=rate=250Mbit/s'
$ sync 'links:a>c=rate=250Mbit/s'
$ sync 'links:a-c=rate=250Mbit/s'
$ sync 'sites:a=gpus=1 up=250Mbit/s'
$ sync links:mtu=1500
$ sync links:loss=0.1% links:streams=1
$ sync links:loss=0.1% links:streams=64
$ sync links:window=250e3
$ sync links:rtt=318ms links:streams=1
$ sync links:rtt=318ms
$ sync model:sync=12s
$ sync model:parameters=1B
# Streaming hides a synchronisation that fits beside the steps; fewer steps of overlap hide less.
streaming() { gradsync model links.ini --set model:every=100 --set model:fragments=10 "$@" | grep 'ring \*'; }
$ streaming --set model:overlap=2
$ streaming --set model:overlap=1 --set model:backward=0
$ gradsync model -q links.ini --set model:overlap=1
$ gradsync model links.ini --set model:targets=50%,99.5% | grep -A 3 target
# Data parallel: 1.57 s of synchronisation beside a backward pass of 2.19 s.
beside() { gradsync model $plan --set links:rate=20Gbit/s --set model:claim.efficiency=95% "$@" | grep efficiency; }
$ beside --set model:backward=66.7%
$ beside
# A limit of one stream is not called the limit of any algorithm; BBR needs no advice about losses.
lossy() { gradsync model $plan --set links:loss=0.01% --set links:streams=1 --set links:mtu=1500 --set model:claim.sync_time=40s "$@"; }
$ lossy | grep 'losses\|sync_time'
$ lossy --set links:congestion=bbr | grep 'losses\|sync_time'
# Sites: 64 at most.
sites() { echo '[sites]' && printf 's%d = gpus=2\n' $(seq $1) && printf '%s\n' '[links]' 'rate = 1Gbit/s' 'rtt = 10ms' '[model]' 'parameters = 1e9' 'tokens = 1e9' 'peak = 312e12'; }
sites 65 >many.ini && sites 64 >enough.ini
$ gradsync model many.ini
$ gradsync model -q enough.ini
