#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a user types and sees: help in a screen, names for files, the nearest right one for a typo,
# the table and the curve of show, and colour where it is wanted. (also under ASan)
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"
export GRADSYNC_PLUGIN_PATH=$build/plugins
unset NO_COLOR

# ---- help ----

ok 'help succeeds' "$gradsync" help
is "$(awk 'length > 80' <<<"$out")" '' 'help is at most 80 columns wide'
is "$(awk 'END { print NR <= 24 }' <<<"$out")" 1 'help fits a screen of 24 lines'
verbs=$("$gradsync" list verbs)
for verb in $verbs; do
    is "$([[ $out =~ (^|[^a-z])$verb([^a-z]|$) ]] && echo told)" told "help lists the verb $verb"
    is "$("$gradsync" help "$verb" | head -2)" "$("$gradsync" "$verb" --help | head -2)" \
        "help $verb is $verb --help"
    is "$("$gradsync" "$verb" --help | awk 'length > 80' | grep -v '^gradsync')" '' \
        "help of $verb fits 80 columns"
    like "$("$gradsync" "$verb" --help)" $'\nexample\n  gradsync '"$verb" \
        "help of $verb has an example"
done
for section in platform launch measure slurm cost limits reference links model; do
    ok "help has a page for $section" "$gradsync" help "$section"
    is "$(awk 'length > 80' <<<"$out")" '' "help of $section fits 80 columns"
done
like "$("$gradsync" help measure)" \
    'blocks .*integer .*default 20.*minimum blocks per launch.*1\.\.1000000' \
    'a key has its type, default, meaning and range'
like "$("$gradsync" help launches)" '\[measure\].*\[slurm\]' \
    'a key is found in every section that has it'
like "$("$gradsync" help config)" '\[measure\].*\[PLUGIN\]' 'help config lists the sections'

mkdir -p configs data/raw/p/null
printf '[platform]\nname = here\n[null]\nsize = 8, 64, 4KiB\nconfig = a, b\n' >configs/mine.ini
whole_run data/raw/p/null/20250101T000000Z-abcd
for verb in show compare advise; do
    ok "$verb takes a run as 'list recordings' prints it" "$gradsync" $verb \
        "$("$gradsync" list recordings | grep ^p/)"
done

# ---- names ----

prints '\[null\] on here' "$gradsync" plan mine
ok 'check takes a config by its bare name' "$gradsync" check mine
is "$("$gradsync" list configs | head -1)" mine 'list configs lists the bare names of configs'
is "$("$gradsync" list runs)" 20250101T000000Z-abcd 'list runs lists the ids of runs'
is "$("$gradsync" list plugins | grep -cx null)" 1 'list plugins lists the names of plugins'
ok 'show takes a run by its id' "$gradsync" show 20250101T000000Z-abcd
mkdir -p inst/bin inst/share/gradsync/configs elsewhere
cp "$gradsync" inst/bin
cp configs/mine.ini inst/share/gradsync/configs/far.ini
exits 0 'an installed config is found by its bare name' \
    env -C elsewhere "$tmp/inst/bin/gradsync" plan far
cp configs/mine.ini elsewhere/far.ini
sed -i 's/here/nearer/' elsewhere/far.ini
like "$(cd elsewhere && "$tmp/inst/bin/gradsync" plan far)" 'on nearer' \
    'a config in this folder goes before an installed one'

# ---- show ----

"$gradsync" run mine -q --set measure:launches=1 --set measure:blocks=2 --set measure:max_blocks=2 \
    --set launch:oversubscribe=yes --set null:effect=0.5 || flunk 'there is a run to show'
prints $'size +config .*\n8 .* a .*\n8 .* b ' "$gradsync" show
unlike "$out" $'\033' 'show uses no colour in a pipe'
on_a_terminal() { script -qec "$1" /dev/null </dev/null; }
if command -v script >/dev/null; then
    like "$(TERM=xterm-256color on_a_terminal "'$gradsync' show")" $'\033' \
        'show uses colours on a terminal'
    unlike "$(NO_COLOR=1 TERM=xterm on_a_terminal "'$gradsync' show")" $'\033' \
        'show uses no colour under NO_COLOR'
    like "$(NO_COLOR='' TERM=xterm on_a_terminal "'$gradsync' show")" $'\033' \
        'an empty NO_COLOR does not turn colours off'
    unlike "$(TERM=dumb on_a_terminal "'$gradsync' show")" $'\033' \
        'show uses no colour on a dumb terminal'
else
    skip 'show uses colours on a terminal' 'no script(1) here'
fi
if command -v script >/dev/null && [ -d "$top/data/raw/h200-2gpu-steps" ]; then
    is "$(cd "$top" && NO_COLOR=1 on_a_terminal \
        "stty cols 80 rows 30; '$gradsync' show h200-2gpu-steps 2>&1" | tr -d '\r' |
        sed 's/…/./g' | awk 'length > 80' | grep -v '^next: \|^warning: ')" '' 'show fits 80 columns'
fi
show=$("$gradsync" show "$(echo "$top"/data/raw/h200-2gpu-collectives/*/*-zero-cta-70cb)")
is "$(grep -c 'NCCL ran RING/SIMPLE ctas=24 where policy=zero was asked' <<<"$show")" 1 \
    'show prints a long reason once, below the table'
like "$show" $'zero +overlapped +- +- +- +skip \\[[0-9]\\]\n' 'the row has its number'
# ---- which recording: here/null is of this machine, p/null was recorded elsewhere

prints 'null on p, run 20250101T000000Z-abcd' "$gradsync" show p
like "$err" '^(gradsync: )?platform p'$'(,|\n)' 'the message says which platform was chosen'
is "$("$gradsync" show 2>/dev/null | head -1)" "$("$gradsync" show here 2>/dev/null | head -1)" \
    'without a name, show takes the latest run of this machine'
like "$err$("$gradsync" show 2>&1 >/dev/null)" 'here, the latest of this machine.*; others: ' \
    'the message says that the latest run of this machine was chosen, and how to see others'
printf '%064d  %s\n' 0 "$(ls -d data/raw/here/*/*/)MANIFEST.json" >data/SHA256SUMS
like "$("$gradsync" show 2>&1 >/dev/null)" 'this machine has no recording' \
    'a recording listed in data/SHA256SUMS is not of this machine, whatever its host name'
cp -r data/raw/p data/raw/local-more && chmod -R u+w data/raw/local-more
sed -i '1s/"platform":"p"/"platform":"local-more"/' data/raw/local-more/*/*/*.jsonl
like "$("$gradsync" show 2>&1 >/dev/null)" 'this machine has no recording' \
    'nor is a platform whose name only begins with local'
rm -r data/raw/local-more
rm data/SHA256SUMS
whole_run data/raw/p/null/20990101T000000Z-abcd
like "$("$gradsync" show 2>/dev/null)" ' on here, ' \
    'without a name, show ignores a later run of another machine'
like "$("$gradsync" compare p 2>&1 >/dev/null)" 'without 1 older run' \
    'compare takes the latest run of a platform, and says how many it leaves out'
manifest data/raw/p/null/20250101T000000Z-abcd
unfinished=data/raw/p/null/20990101T000000Z-abcd
for verb in show compare; do
    run "$gradsync" $verb p
    like "$err" "without a newer run that is unfinished .*: gradsync resume $unfinished"
done
like "$("$gradsync" show p 2>/dev/null)" 'run 20250101' \
    'show takes a complete run before a newer unfinished one'
whole_run data/raw/p/null/20990101T000001Z-abcd
sed -i '/"type":"block"/d' data/raw/p/null/20990101T000001Z-abcd/*.jsonl
manifest data/raw/p/null/20990101T000001Z-abcd
like "$("$gradsync" show p 2>&1 >/dev/null)" \
    '; newer: data/raw/p/null/20990101T000001Z-abcd, all cells failed; ' \
    'show names a newer run in which all cells failed'
rm -r data/raw/p/null/20990101T000001Z-abcd
rm data/raw/p/null/20250101T000000Z-abcd/MANIFEST.json
mkdir -p data/raw/empty && cp $unfinished/plan.json data/raw/empty
run "$gradsync" show data/raw/empty
like "$err" 'nothing was measured in data/raw/empty; .*gradsync resume data/raw/empty'
rm -r data/raw/empty
sed -i '1s/"ranks":2/"lab":{"host":"'"$(hostname)"'"},&/' data/raw/p/null/20990101T000000Z-abcd/*
like "$("$gradsync" show 2>/dev/null)" ' on p, run 20990101' \
    'a run in a lab of this machine is a run of this machine'
rm -r data/raw/p/null/20990101T000000Z-abcd
is "$("$gradsync" list measured)" $'here\np' 'list measured has the platforms with recordings'
fails1 2 "did you mean 'here'" "$gradsync" show herre

# ---- formats for other programs

ok 'show --json succeeds' "$gradsync" show here --json
is "$(jq -r '"\(.schema) \(.platform) \(.cells | length) \(.cells[0].median_seconds > 0)"' \
    <<<"$out")" 'gradsync-show-1 here 6 true' 'show --json prints one object with every cell'
prints $'\n# config a\n.*\n +8 +8 +- +- +-1 +[0-9.]+ .* N/A +N/A' "$gradsync" show p --format \
    nccl-tests
"$gradsync" show "$(echo "$top"/data/raw/h200-4gpu/nccl_allreduce/*-f16a)" --format nccl-tests \
    >text.txt
ok 'import reads what show wrote in the nccl-tests format' \
    "$gradsync" import --platform back --set ranks=4 -o back text.txt
collectives=$(echo "$top"/data/raw/h200-2gpu-collectives/nccl_allreduce/*-40a9)
"$gradsync" show "$collectives" --format nccl-tests >collectives.txt
row() { sed -n "/starting: $1/,/^# Avg/s/^ *65536 //p" collectives.txt | head -n 1 | cut -c1-40 |
    xargs; }
is "$(row all_gather_perf)" '8192 float none -1' \
    'the nccl-tests format counts the elements of a block, and an all-gather has no operation'
is "$(row broadcast_perf)" '16384 float none 0' 'a broadcast has a root'
"$gradsync" show "$collectives" --format nccl-tests-json >collectives.json
is "$(jq -r '.[] | .args[0]' collectives.json | sort | uniq -c | xargs)" "4 all_gather_perf $(
    )4 alltoall_perf 3 broadcast_perf 3 reduce_perf 3 reduce_scatter_perf 3 sendrecv_perf" \
    'the JSON of nccl-tests has a report for each table'
jq '.[0]' collectives.json >report.json
ok 'import reads a report that show wrote' "$gradsync" import --platform report -o back report.json
is "$("$gradsync" show "$(echo back/report/*/*)" --json | jq -r '[.cells[].median_seconds * 1e9 |
    round] | join(" ")')" "$(jq -r '[.results[].out_of_place.time * 1e3 | round] | join(" ")' \
    report.json)" 'the imported times are those of the report'
ok 'show --format prometheus succeeds' \
    "$gradsync" show p --format prometheus -o metrics/gradsync.prom
is "$(find metrics -type f)" metrics/gradsync.prom \
    'metrics are written to one file, with no temporary file beside it'
is "$(sed -n 's/^# TYPE \(.*\) gauge/\1/p' metrics/gradsync.prom | tr '\n' ' ')" \
    'nccl_bus_bandwidth_gbs nccl_algorithm_bandwidth_gbs nccl_collective_exec_time_microseconds ' \
    "metrics have the names of NCCL's inspector"
is "$(grep -v '^#' metrics/gradsync.prom | grep \
    -cvE '^[a-z_]+\{([a-z_]+="[^"]*",?)+\} [0-9.e+-]+$')" 0 \
    'every line of the metrics is a sample with labels'
is "$(grep -v '^#' metrics/gradsync.prom | cut -d' ' -f1-2 | sort | uniq -d)" '' \
    'no series of the metrics occurs twice'
is "$("$gradsync" show "$collectives" --format prometheus | grep -o 'collective="[A-Za-z]*"' |
    sort -u | tr -d '\n')" "$(printf 'collective="%s"' AllGather AlltoAll Broadcast Reduce \
    ReduceScatter SendRecv)" 'each metric names its collective'
fails 2 "did you mean 'prometheus'" "$gradsync" show p --format promethus
prints '^6 cells in 1 workload: .* to ' "$gradsync" plan mine
done_testing
