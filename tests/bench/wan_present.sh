#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A training step with a synchronisation among four sites of a lab, with on_loss=continue: how much
# less is done when a site is cut off and returns once in each cycle? Counts the synchronisations of
# as many seconds without and with cuts, and computes from the time that a cut costs what a cycle of
# ten minutes gives.
#   CYCLES=3 CYCLE=60 DOWN=15 TIMEOUT=3 STRATEGY=direct COMPUTE=1s wan_present.sh
. "$(dirname "$0")/lib.sh"
export CYCLES=${CYCLES:-3} CYCLE=${CYCLE:-60} DOWN=${DOWN:-15}
timeout=${TIMEOUT:-3}
export gradsync OMPI_MCA_btl_tcp_if_include=ctl0 # a network of its own

cat >"$tmp/lab.ini" <<END
[platform]
name = bench
[sites]
north = gpus=1
east = gpus=1
south = gpus=1
west = gpus=1
[links]
rate = 100Mbit/s
rtt = 30ms
mtu = 9000
[lab]
late = 100%
[launch]
ranks = 4
nodes = 4
hosts = north, east, south, west
bind = none
[measure]
launches = 1
blocks = 100000
max_blocks = 100000
budget = 1h
samples = 1
discard = 0
warmup = 0
warmup_ops = 1
deadline = 300s
[wan_sync]
size = 4MiB
compute = ${COMPUTE:-1s}
strategy = ${STRATEGY:-direct}
timeout = ${timeout}s
on_loss = continue
END

cat >"$tmp/inside" <<'END'
lines() { cat data/*/*/*/launch-*.jsonl 2>/dev/null; }
count() { lines | grep -c "$1"; }
whole() { count '"type":"block"'; }
fewer() { count '"key":"left_out"'; }
state() { echo "$1 $(date +%s.%N) $(whole) $(fewer)"; }
links() { # its links, not the site: MPI's network stays
    for site in north east west; do gradsync lab-set "$1 $site-south" >/dev/null; done
}
gradsync run -q -o data lab.ini 2>err &
runner=$!
while [ "$(whole)" -lt 3 ] && kill -0 $runner 2>/dev/null; do sleep 0.2; done
state calm
sleep $((CYCLES * CYCLE))
state cuts
for ((i = 0; i < CYCLES; i++)); do
    links down
    sleep "$DOWN"
    links up
    sleep $((CYCLE - DOWN))
done
state end
kill -INT $runner
wait $runner
END
cd "$tmp"
"$gradsync" lab -q lab.ini -- bash inside >states || { cat states err >&2; exit 1; }
awk -v cycles="$CYCLES" -v cycle="$CYCLE" -v down="$DOWN" '
    { at[$1] = $2; whole[$1] = $3; fewer[$1] = $4 }
    END {
        calm = (whole["cuts"] - whole["calm"]) / (at["cuts"] - at["calm"])
        s = at["end"] - at["cuts"]; w = whole["end"] - whole["cuts"]; f = fewer["end"] - fewer["cuts"]
        lost = (1 - (w + f) / s / calm) * cycle
        missed = (1 - (w + 0.75 * f) / s / calm) * cycle
        printf "without cuts: %.3f synchronisations/s\n", calm
        printf "with a cut of %d s every %d s: %d of 4 sites, %d of 3, in %.1f s\n", down, cycle, w, f, s
        printf "goodput: %.1f%% of the steps, %.1f%% of the gradients\n", 100 * (1 - lost / cycle), 100 * (1 - missed / cycle)
        printf "a cut costs %.1f s of steps, or %.1f s with the gradients of the absent site\n", lost, missed
        printf "every 600 s: %.1f%% of the steps, %.1f%% of the gradients\n", 100 * (1 - lost / 600), 100 * (1 - missed / 600)
    }' states
echo 'time of the longest synchronisations without a site:'
cat data/*/*/*/launch-*.jsonl | sed -n 's/.*"key":"present","value":"3 of 4[^:]*: \([0-9.]*\) s.*/\1/p' |
    sort -rn | head -n $((2 * CYCLES)) | tr '\n' ' '
echo
cp states "${STATES:-/dev/null}"
