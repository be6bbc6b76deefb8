#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync model: what it knows of wan_sync and of its config, and how far it is from what was published and
# measured. tests/golden has what it prints.
. "$(dirname "$0")/lib.sh"
plan=$top/configs/wan-4site.ini

# ---- what a config may say of it; tests/golden/model.cmd has what is printed of plans
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

ln -s /dev/null device
fails 1 'not a regular file' "$gradsync" model -q "$plan" --csv device
ok 'the device is left alone' test -L device
# ---- published: Douillard et al. 2025, Table 4, through the command line
for parameters in 1e9 1e10; do
    is "$(bash "$top/mk/wan-needed.sh" "$gradsync" $parameters | awk -F, '
        $2 == "model" { model[$1, $3] = $4 }
        $2 == "published" { r = model[$1, $3] / $4; n++; bad += !(r < 1.21 && r > 1 / 1.21) }
        END { print n, bad + 0 }')" "$([ $parameters = 1e9 ] && echo 24 || echo 15) 0" \
        "every published rate for $parameters parameters is met within a step of its grid"
done

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
is "$(constant FRAME_B plugins/common/wan_model.c)" \
    "$(sed -n 's/.*sizeof(struct tcp_frame) == \([0-9]*\).*/\1/p' \
        "$top/plugins/wan_sync/transport/tcp.h")" \
    "the model counts a frame's head with the bytes that it has"
done_testing
