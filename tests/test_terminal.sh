#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a user types and sees: help in a screen, names for files, the nearest right one for a typo,
# the table and the curve of show, and colour where it is wanted. (also under ASan)
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/recording.sh
. "$top/tests/recording.sh"
export GRADSYNC_PLUGIN_PATH=$build/plugins
unset NO_COLOR

# ---- help ----

ok 'help' "$gradsync" help
is "$(awk 'length > 80' <<<"$out")" '' 'is 80 columns wide'
is "$(awk 'END { print NR <= 24 }' <<<"$out")" 1 'and no more than 24 lines: a screen'
verbs=$("$gradsync" list verbs)
for verb in $verbs; do
    is "$([[ $out =~ (^|[^a-z])$verb([^a-z]|$) ]] && echo told)" told "it tells of $verb"
    is "$("$gradsync" help "$verb" | head -2)" "$("$gradsync" "$verb" --help | head -2)" "help $verb is $verb --help"
    is "$("$gradsync" "$verb" --help | awk 'length > 80' | grep -v '^gradsync')" '' 'and fits 80 columns'
    like "$("$gradsync" "$verb" --help)" $'\nexample\n  gradsync '"$verb" 'and has an example'
done
for section in platform launch measure slurm cost limits reference links model; do
    ok "help $section" "$gradsync" help "$section"
    is "$(awk 'length > 80' <<<"$out")" '' 'fits 80 columns'
done
like "$("$gradsync" help measure)" 'blocks .*integer .*default 20.*minimum blocks per launch.*1\.\.1000000' \
    'a key has its type, default, meaning and range'
like "$("$gradsync" help launches)" '\[measure\].*\[slurm\]' 'a key is found in every section that has it'
like "$("$gradsync" help config)" '\[measure\].*\[PLUGIN\]' 'help config lists the sections'

# ---- typos ----

hint() { # WORDS REGEX COMMAND…
    local name=$1 regex=$2
    shift 2
    run "$@"
    is "$rc" 2 "$name: exit code 2"
    one_line "$err" "$name: one line"
    like "$err" "did you mean '(--)?$regex'" "$name: names $regex"
}
mkdir -p configs data/raw/p/null
printf '[platform]\nname = here\n[null]\nsize = 8, 64, 4KiB\nconfig = a, b\n' >configs/mine.ini
whole_run data/raw/p/null/20250101T000000Z-abcd
hint 'a verb' plan "$gradsync" paln
hint 'an option' workload "$gradsync" plan mine --workloda x
hint 'a word for help' measure "$gradsync" help measrue
hint 'a kind of list' configs "$gradsync" list config
hint 'a plugin' null "$gradsync" help nulll
hint 'a bare config' mine "$gradsync" plan mien
hint 'a config file' configs/mine.ini "$gradsync" plan configs/mime.ini
hint 'a config file without its ending' configs/mine.ini "$gradsync" plan configs/mime
hint 'a folder in front of it' configs/mine.ini "$gradsync" run config/mine.ini
hint 'a config to check' mine "$gradsync" check mne
hint 'a section' null "$gradsync" run mine -w nul
hint 'a run to show' data/raw/p/null/20250101T000000Z-abcd "$gradsync" show data/raw/p/nul/20250101T000000Z-abcd
hint 'a run to resume' 20250101T000000Z-abcd "$gradsync" resume 20250101T000000Z-abd
hint 'a run to compare' 20250101T000000Z-abcd "$gradsync" compare 20250101T000000Z-abd -o out
hint 'the end of a run id' 20250101T000000Z-abcd "$gradsync" show Z-abc
touch configs/mine-2gpu.ini
hint 'the end of a config name' mine-2gpu "$gradsync" plan 2gpu
rm configs/mine-2gpu.ini
exits 2 'a file that is nothing of ours' "$gradsync" check "$top/README.md"
is "$err" "$top/README.md: nothing to check: not a config (.ini), a plugin (.so) or a recording (.jsonl)" '… is not called damaged'
exits 2 'an argument that is empty' "$gradsync" show "" mine
like "$err" 'show: argument 1 is empty' 'is refused as such'
mkdir -p data/campaigns/gs-20250101-abcd
hint 'a campaign' data/campaigns/gs-20250101-abcd "$gradsync" status data/campaigns/gs-20250101-abd
hint 'a key' blocks "$gradsync" plan mine --set measure:block=3
exits 2 'a value' "$gradsync" plan mine --set null:config=z
like "$err" 'is not a choice' 'says what is allowed'
exits 2 'something that resembles nothing' "$gradsync" plan no/such/thing/at/all
unlike "$err" 'did you mean' 'gets no guess'

# ---- names ----

ok 'a config of configs/ by its bare name' "$gradsync" plan mine
like "$out" '\[null\] on here' 'is that config'
ok 'to check too' "$gradsync" check mine
is "$("$gradsync" list configs | head -1)" mine 'list configs has its name'
is "$("$gradsync" list runs)" 20250101T000000Z-abcd 'list runs has that of the run'
is "$("$gradsync" list plugins | grep -cx null)" 1 'list plugins has those of the plugins'
ok 'a run by its id' "$gradsync" show 20250101T000000Z-abcd
mkdir -p inst/bin inst/share/gradsync/configs elsewhere
cp "$gradsync" inst/bin
cp configs/mine.ini inst/share/gradsync/configs/far.ini
exits 0 'an installed config by its bare name' env -C elsewhere "$tmp/inst/bin/gradsync" plan far
cp configs/mine.ini elsewhere/far.ini
sed -i 's/here/nearer/' elsewhere/far.ini
like "$(cd elsewhere && "$tmp/inst/bin/gradsync" plan far)" 'on nearer' 'one in this folder goes first'

# ---- show ----

"$gradsync" run mine -q --set measure:launches=1 --set measure:blocks=2 --set measure:max_blocks=2 \
    --set launch:oversubscribe=yes --set null:effect=0.5 || flunk 'a run to show'
ok 'show' "$gradsync" show
like "$out" $'size +config .*\n8 .* a .*\n8 .* b ' 'begins with the table'
like "$out" $'\n(busbw|time, median).* against size\n' 'and goes on with a curve'
like "$out" $' \\|a +a\n' 'of a point a size'
like "$out" $'\n  a a  b b\n' 'and what its letters mean'
is "$(awk 'length > 80' <<<"${out#*against size}")" '' 'in 80 columns'
unlike "$out" $'\033' 'in no colour, into a pipe'
unlike "$out" 'clocks' 'clocks are no matter here'
step=$(echo "$top"/data/raw/h200-2gpu/iter_proxy/*-c990)
like "$("$gradsync" show "$step")" $'\n  clocks may differ between sizes: compare configs at one size only$' 'a curve of training steps says what it cannot show'
on_a_terminal() { script -qec "$1" /dev/null </dev/null; }
if command -v script >/dev/null; then
    like "$(TERM=xterm-256color on_a_terminal "'$gradsync' show")" $'\033\\[38;5;166mb\033' \
        'on a terminal in colours'
    unlike "$(NO_COLOR=1 TERM=xterm on_a_terminal "'$gradsync' show")" $'\033' 'not under NO_COLOR'
    like "$(NO_COLOR='' TERM=xterm on_a_terminal "'$gradsync' show")" $'\033' 'which has to be set to something'
    unlike "$(TERM=dumb on_a_terminal "'$gradsync' show")" $'\033' 'nor on a dumb terminal'
else
    skip 'colours' 'no script(1) here'
fi
# ---- which recording: here/null is of this machine, p/null was recorded elsewhere

ok 'a platform by its name' "$gradsync" show p
like "$out" 'null on p, run 20250101T000000Z-abcd' 'show takes its latest run'
like "$err" '^(gradsync: )?platform p; others: ' 'a line names the choice and how to see others'
is "$("$gradsync" show 2>/dev/null | head -1)" "$("$gradsync" show here 2>/dev/null | head -1)" 'without a name, show takes the latest run of this machine'
like "$err$("$gradsync" show 2>&1 >/dev/null)" 'here, the latest of this machine' 'the line says so'
whole_run data/raw/p/null/20990101T000000Z-abcd
like "$("$gradsync" show 2>/dev/null)" ' on here, ' 'a later run of another machine is not taken'
like "$("$gradsync" compare p 2>&1 >/dev/null)" 'without 1 older run' 'compare takes the latest run of a platform, and says how many it leaves out'
rm -r data/raw/p/null/20990101T000000Z-abcd
is "$("$gradsync" list measured)" $'here\np' 'list measured has the platforms with recordings'
hint 'a platform' here "$gradsync" show herre

# ---- formats for other programs

ok 'JSON' "$gradsync" show here --json
is "$(jq -r '"\(.schema) \(.platform) \(.cells | length) \(.cells[0].median_seconds > 0)"' <<<"$out")" 'gradsync-show-1 here 6 true' 'is one object with every cell'
ok 'the text of nccl-tests' "$gradsync" show p --format nccl-tests
like "$out" $'\n# config a\n.*\n +8 +8 +- +- +-1 +[0-9.]+ .* N/A +N/A' 'has a table for each config, out of place and in place'
"$gradsync" show "$(echo "$top"/data/raw/h200-4gpu/nccl_allreduce/*-f16a)" --format nccl-tests >text.txt
ok 'import reads such a table' "$gradsync" import --platform back --set ranks=4 -o back text.txt
ok 'metrics' "$gradsync" show p --format prometheus -o metrics/gradsync.prom
is "$(find metrics -type f)" metrics/gradsync.prom 'are one file, with no temporary file beside it'
is "$(sed -n 's/^# TYPE \(.*\) gauge/\1/p' metrics/gradsync.prom | tr '\n' ' ')" \
    'nccl_bus_bandwidth_gbs nccl_algorithm_bandwidth_gbs nccl_collective_exec_time_microseconds ' "have the names of NCCL's inspector"
is "$(grep -v '^#' metrics/gradsync.prom | grep -cvE '^[a-z_]+\{([a-z_]+="[^"]*",?)+\} [0-9.e+-]+$')" 0 'every line is a sample with labels'
is "$(grep -v '^#' metrics/gradsync.prom | cut -d' ' -f1-2 | sort | uniq -d)" '' 'no series occurs twice'
exits 2 'a format that there is not' "$gradsync" show p --format promethus
like "$err" "did you mean 'prometheus'" 'gets the nearest'
ok 'a plan' "$gradsync" plan mine
like "$out" '^6 cells in 1 workload: .* to ' 'begins with the number of cells and the time'
exits 0 'one size has no curve' "$gradsync" show 20250101T000000Z-abcd
unlike "$out" 'against size' 'and none is drawn'
done_testing
