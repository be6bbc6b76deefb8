#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Configs as users meet them: what `gradsync plan` and `gradsync check` print, and what they refuse,
# in one line with the place and the remedy.
. "$(dirname "$0")/lib.sh"

local_ini=$top/configs/local.ini
config() { printf '%s\n' "$@" >x.ini; }
# ---- every config of the project ----

for ini in "$top"/configs/*.ini; do
    name=${ini##*/}
    run "$gradsync" plan "$ini"
    accepted="plan accepts $name"
    if [ $rc = 3 ]; then skip "$accepted" "$err"; else is "$rc$err" 0 "$accepted"; fi
    first=$out
    run "$gradsync" plan "$ini"
    is "$out" "$first" "plan of $name prints the same a second time"
    run "$gradsync" check "$ini"
    accepted="check accepts $name"
    if [ $rc = 3 ]; then skip "$accepted" "$err"; else is "$rc" 0 "$accepted"; fi
done

# ---- what plan prints ----

run "$gradsync" plan "$local_ini"
like "$out" '\[mpi_allreduce\] on local, 2 ranks on 1 node' 'plan names section, platform and ranks'
like "$out" 'recursive_doubling +8'$'\n' 'plan prints the cells'
like "$out" '48 cells in 12 groups, 3 launches'
like "$out" 'memory: [0-9.]+ MiB per rank on the host' 'plan prints the memory per rank'
like "$out" 'time: [0-9.]+ s to [0-9.]+ s' 'plan prints the time'
like "$out" 'seed: drawn at run' 'plan says that the seed is drawn by the run'
like "$out" "next: gradsync run ([^ ',]+|'[^']+')\$" 'plan prints the next command'
ok 'plan writes nothing' test ! -e data

config '[measure]' 'blocks = 4' 'max_blocks = 4' '[null]'
run "$gradsync" plan x.ini
like "$out" '^1 cell in 1 workload: [0-9.]+ s, more .*time: [0-9.]+ s'$'\n'

config '[null]' '[slurm]' 'partition = main'
run "$gradsync" plan x.ini
like "$out" 'or in Slurm jobs: gradsync submit ' 'plan of a config with [slurm] names submit too'

fails 2 "no workload section \[nul\], did you mean 'null'" "$gradsync" plan x.ini -w nul
config '[launch]' 'ranks = 4096' '[null]'
exits 3 'plan exits with 3 for more ranks than this machine has slots' "$gradsync" plan x.ini
like "$out$err" "1 cell in .*x\.ini:2: key 'ranks': 4096 ranks, but this machine has [0-9]+ slots" \
    'plan prints the cells and says how many slots are lacking'

config '[null]' 'size = 8:2MiB:x2' 'config = a, b, c, d'
run "$gradsync" plan x.ini
is "$(grep -cE '^[0-9a-f]{16} ' <<<"$out")" 12 'plan prints the first and last of 76 cells'
like "$out" '64 more cells \(--all\)' 'plan says how to see the other cells'
run "$gradsync" plan x.ini --all
is "$(grep -cE '^[0-9a-f]{16} ' <<<"$out")" 76 'plan --all prints every cell'
run "$gradsync" plan x.ini --json
is "$(jq -r '.[0] | [(.cells | length), (.cells | unique_by(.id) | length),
    (.groups | length), .seed // "none"] | join(" ")' <<<"$out")" \
    '76 76 19 none' 'plan --json prints every cell as JSON'
run "$gradsync" plan x.ini --set null:size=8,16 --set measure:seed=7 --set measure:launches=1
like "$out" '8 cells in 2 groups, 1 launch'$'\n' '--set overrides keys of the config'
like "$out" 'seed: 7' '--set takes a fixed section that the config lacks'
config '[null]' 'size = 8:79992:+8' 'config = a'
prints '9999 cells in 9999 groups' "$gradsync" plan x.ini

# A printed command can be pasted: paths are quoted, and the options of the plan stay with it.
config '[null]' '[slurm]' 'partition = main'
mkdir 'a b' && cp x.ini 'a b/it.ini'
options="'a b/it.ini' --workload null --set measure:launches=2 --set 'null:config=a, b'"
run "$gradsync" plan 'a b/it.ini' -w null -s measure:launches=2 -s 'null:config=a, b'
is "$(sed -n 's/^next: //p' <<<"$out" | sed "s/, or in Slurm jobs: /|/")" \
    "gradsync run $options|gradsync submit $options" \
    'the next command of plan quotes its path and keeps the options'
run "$gradsync" check 'a b/it.ini' --set measure:launches=2
is "$err" "a b/it.ini: ok; next: gradsync plan 'a b/it.ini' --set measure:launches=2" \
    'the next command of check quotes its path and keeps the options'

run "$gradsync" check "$top/configs/wan-4site.ini"
is "${err##*$'\n'}" "$top/configs/wan-4site.ini: ok; next: gradsync model $top/configs/wan-4site.ini" \
    'check of a config with [model] and no workload names the model'

# ---- where configs come from ----

cp "$local_ini" 'a b/my config.ini'
fails 2 '^a b/my config\.ini: .*set \[platform\] name' "$gradsync" plan 'a b/my config.ini'
ok 'plan takes a path with blanks' "$gradsync" plan 'a b/my config.ini' --set platform:name=mine
sed 's/$/\r/' "$local_ini" >local.ini
run "$gradsync" plan "$local_ini" && unix=$out
run "$gradsync" plan local.ini
is "${out%next: *}" "${unix%next: *}" 'lines that end in CR LF give the same cells'
run bash -c '"$0" plan <(printf "[platform]\nname = p\n[null]\n")' "$gradsync"
is "$rc" 0 'plan takes a config from a pipe'
run env LC_ALL=de_DE.UTF-8 "$gradsync" plan "$local_ini"
is "$out" "$unix" 'plan prints the same in any locale'
exits 2 'a config file that does not exist is refused' "$gradsync" plan none.ini
missing='none.ini: cannot be read: No such file or directory; '
missing+='it takes a path, or the name of a config in configs'
is "$err" "$missing" 'the error names the file that does not exist'
exits 2 'a folder instead of a config is refused' "$gradsync" plan .
fails1 2 '' "$gradsync" plan /dev/urandom

# ---- bad input ----

cuts="a blank and ';' begin a comment, which would cut the command; quote the value"
printf '[train]
command = echo step time: 1; sleep 1
' >x.ini
run "$gradsync" check x.ini
one_line "$err" 'check does not say that such a command is missing'
printf '[train]\ncommand = "echo step time: {x} s; echo" ; said\nx = 1, 2\n' >quoted.ini
exits 0 'a quoted command may have a comment behind it' "$gradsync" plan quoted.ini
config '[null]' 'size = 8, 512TiB' 'config = a, b'
fails 3 '^x\.ini:1: \[null\] needs 1536 TiB of memory on each of 2 ranks.*are free' "$gradsync" \
    plan x.ini
config '[platform]' 'device = another machine' '[null]' 'size = 512TiB'
ok 'a platform of other hardware is planned without its memory' "$gradsync" plan x.ini
config '[null]'
fails 2 "^gradsync: --set 'size=8' is not SECTION:KEY=VALUE" "$gradsync" plan x.ini --set size=8
fails 2 'did you mean \[null\]\?' "$gradsync" plan x.ini --set nul:size=8

# ---- where faults are told ----

config '[launch]' 'ranks = 4096' '[null]' '[null b]'
run "$gradsync" plan x.ini
one_line "$err" 'too few slots for two sections are reported once'
config '[nulll]' '[null]'
run bash -c '"$0" plan x.ini 2>&1 | tail -n 1' "$gradsync"
like "$out" "did you mean 'null'" 'the last line of output is the fault'

config '[null]' 'siez = 8' 'noise = 2' 'tmie = 3'
fails 2 '^x\.ini:2: ' "$gradsync" plan x.ini

# ---- hosts reach ssh ----

config '[launch]' 'hosts = vm_1.example.org:4, 10.0.0.2, node[1-2,4]' '[null]'
exits 0 'names, addresses, slots and ranges of Slurm are hosts' "$gradsync" check x.ini

# ---- all of it at once ----

config '[measure]' 'launchs = 3' 'blocks = none' '[null]' 'siez = 8' 'noise = 2' '[mpi_alreduce]' \
    'odd line'
exits 2 'check refuses a config with several faults' "$gradsync" check x.ini
is "$(cut -d: -f1,2 <<<"$err" | sort -t: -k2n | tr '\n' ' ')" \
    'x.ini:2 x.ini:3 x.ini:5 x.ini:6 x.ini:7 x.ini:8 ' 'check reports every fault with its line'

# ---- a plugin whose library is missing here ----

mkdir lib && echo 'int absent(void) { return 1; }' >absent.c
"${CC:-gcc}" -fPIC -shared -o libabsent.so absent.c
"${CC:-gcc}" -fPIC -shared -o lib/needy.so absent.c -Wl,--no-as-needed -L. -labsent
rm libabsent.so
config '[needy]' '[null]' 'siez = 8'
export GRADSYNC_PLUGIN_PATH=$PWD/lib
exits 2 'a fault of the config matters more than a library that is missing' "$gradsync" plan x.ini
config '[needy]' '[null]'
fails 3 '^x\.ini:1: \[needy\]: .*libabsent\.so, which is not on this machine' "$gradsync" plan \
    x.ini
like "$out" '\[null\] on x' "a plugin that cannot be loaded does not stop the others' plan"
exits 3 'check exits with 3 for a plugin that cannot be loaded' "$gradsync" check x.ini

done_testing
