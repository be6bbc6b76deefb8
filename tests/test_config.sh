#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Configs as users meet them: `gradsync plan` and `gradsync check`, what they print, what they
# refuse, in one line with the place and the remedy.
. "$(dirname "$0")/lib.sh"

local_ini=$top/configs/local.ini
config() { printf '%s\n' "$@" >x.ini; }
refuses() { # NAME REGEX LINE…   one line, exit 2, from plan and from check
    local name=$1 regex=$2
    shift 2
    config "$@"
    exits 2 "plan refuses $name" "$gradsync" plan x.ini
    one_line "$err" '… in one line'
    like "$err" "$regex" '… that says why'
    is "$out" '' '… and prints no plan'
    exits 2 '… as does check' "$gradsync" check x.ini
}

# ---- every config of the project ----

for ini in "$top"/configs/*.ini; do
    name=${ini##*/}
    run "$gradsync" plan "$ini"
    if [ $rc = 3 ]; then skip "plan $name" "$err"; else is "$rc$err" 0 "plan $name"; fi
    first=$out
    run "$gradsync" plan "$ini"
    is "$out" "$first" '… twice the same'
    run "$gradsync" check "$ini"
    if [ $rc = 3 ]; then skip "check $name" "$err"; else is "$rc" 0 "check $name"; fi
done

# ---- what plan prints ----

run "$gradsync" plan "$local_ini"
like "$out" '\[mpi_allreduce\] on local, 2 ranks on 1 node' 'plan names section, platform and ranks'
like "$out" 'recursive_doubling +8'$'\n' '… the cells'
like "$out" '48 cells in 12 groups, 3 launches' '… how many they are'
like "$out" 'memory: [0-9.]+ MiB a rank on the host' '… the memory'
like "$out" 'time: [0-9.]+ s to [0-9.]+ s' '… the time'
like "$out" 'seed: drawn at run' '… and the seed that is yet to be drawn'
like "$out" "next: gradsync run ([^ ',]+|'[^']+')\$" '… and what comes next'
ok '… and writes nothing' test ! -e data

config '[null]' '[slurm]' 'partition = main'
run "$gradsync" plan x.ini
like "$out" 'or in Slurm jobs: gradsync submit ' '… which [slurm] makes submit as well'

exits 2 'a workload mistyped' "$gradsync" plan x.ini -w nul
like "$err" "no workload section \[nul\], did you mean 'null'" '… has its nearest named'
config '[launch]' 'ranks = 4096' '[null]'
exits 3 'more ranks than this machine has room for' "$gradsync" plan x.ini
like "$out$err" "1 cell in .*x\.ini:2: key 'ranks': 4096 ranks, but this machine has [0-9]+ slots" '… are planned, and said'

config '[null]' 'size = 8:2MiB:x2' 'config = a, b, c, d'
run "$gradsync" plan x.ini
is "$(grep -cE '^  [0-9a-f]{16} ' <<<"$out")" 12 'of 76 cells the ends are shown'
like "$out" '64 more cells \(--all\)' '… and how to see the others'
run "$gradsync" plan x.ini --all
is "$(grep -cE '^  [0-9a-f]{16} ' <<<"$out")" 76 '--all shows them'
run "$gradsync" plan x.ini --json
is "$(jq -r '.[0] | [(.cells | length), (.cells | unique_by(.id) | length),
    (.groups | length), .seed // "none"] | join(" ")' <<<"$out")" \
    '76 76 19 none' '--json is JSON'
run "$gradsync" plan x.ini --set null:size=8,16 --set measure:seed=7 --set measure:launches=1
like "$out" '8 cells in 2 groups, 1 launch'$'\n' '--set overrides'
like "$out" 'seed: 7' '… a fixed section that the file lacks, too'
config '[null]' 'size = 8:79992:+8' 'config = a'
ok 'ten thousand cells' "$gradsync" plan x.ini
like "$out" '9999 cells in 9999 groups' '… are counted'

# A printed command can be pasted: paths are quoted, and the options of the plan stay with it.
config '[null]' '[slurm]' 'partition = main'
mkdir 'a b' && cp x.ini 'a b/it.ini'
run "$gradsync" plan 'a b/it.ini' -w null -s measure:launches=2 -s 'null:config=a, b'
is "$(sed -n 's/^next: //p' <<<"$out" | sed "s/, or in Slurm jobs: /|/")" \
    "gradsync run 'a b/it.ini' --workload null --set measure:launches=2 --set 'null:config=a, b'|gradsync submit 'a b/it.ini' --workload null --set measure:launches=2 --set 'null:config=a, b'" \
    'what comes next has its path quoted and the options'
run "$gradsync" check 'a b/it.ini' --set measure:launches=2
is "$err" "a b/it.ini: ok; next: gradsync plan 'a b/it.ini' --set measure:launches=2" '… after check too'

# ---- where configs come from ----

cp "$local_ini" 'a b/my config.ini'
exits 2 'a file name that is not a valid platform name' "$gradsync" plan 'a b/my config.ini'
like "$err" '^a b/my config\.ini: .*set \[platform\] name' '… says what to do'
ok 'paths with blanks' "$gradsync" plan 'a b/my config.ini' --set platform:name=mine
sed 's/$/\r/' "$local_ini" >local.ini
run "$gradsync" plan "$local_ini" && unix=$out
run "$gradsync" plan local.ini
is "${out%next: *}" "${unix%next: *}" 'lines that end in CR LF are the same cells'
run bash -c '"$0" plan <(printf "[platform]\nname = p\n[null]\n")' "$gradsync"
is "$rc" 0 'a config from a pipe'
run env LC_ALL=de_DE.UTF-8 "$gradsync" plan "$local_ini"
is "$out" "$unix" 'any locale'
exits 2 'a missing file' "$gradsync" plan none.ini
is "$err" 'none.ini: cannot be read: No such file or directory; it takes a path, or the name of a config in configs' '… is named'
exits 2 'a folder' "$gradsync" plan .
exits 2 'no config at all' "$gradsync" plan /dev/urandom
one_line "$err" '… in one line'

# ---- bad input ----

refuses 'an unknown section' "^x\.ini:1: \[nul\]: no plugin 'nul', did you mean 'null'" '[nul]'
refuses 'a misspelt section' '^x\.ini:1: .*\[mesure\], did you mean \[measure\]\?' \
    '[mesure]' 'launches = 3' '[null]'
refuses 'an unknown key' "^x\.ini:2: key 'siez': .*did you mean 'size'\?" '[null]' 'siez = 8'
refuses 'an unknown key of a fixed section' "^x\.ini:3: key 'rnks': .*did you mean 'ranks'\?" \
    '[null]' '[launch]' 'rnks = 2'
refuses 'a value out of range' "^x\.ini:2: key 'noise': '2' is not in range \(0\.\.1\)" \
    '[null]' 'noise = 2'
refuses 'a list where none may be' "^x\.ini:2: key 'ranks': '2, 4' is a list, but this key takes one value" \
    '[launch]' 'ranks = 2, 4' '[null]'
refuses 'an empty sweep' "^x\.ini:2: key 'size': an empty sweep" '[null]' 'size ='
refuses 'an empty range' "^x\.ini:2: key 'size': '16:8:x2' is an empty range" \
    '[null]' 'size = 16:8:x2'
refuses 'one rank for a collective' '^x\.ini:3: \[mpi_allreduce\] .*rank' \
    '[launch]' 'ranks = 1' '[mpi_allreduce]'
refuses 'size 0' '^x\.ini:2: ' '[mpi_allreduce]' 'size = 0'
refuses 'a size that is no multiple of the element' '^x\.ini:1: \[mpi_allreduce\] .*multiple' \
    '[mpi_allreduce]' 'size = 10'
refuses 'an unequal zip' "^x\.ini:4: key 'zip': 'size' has 2 values and 'time' has 1" \
    '[null]' 'size = 8, 16' 'time = 1us' 'zip = size, time'
refuses 'a baseline that is not measured' "^x\.ini:2: key 'baseline': 'c' is not a config of \[null\]" \
    '[measure]' 'baseline = c' '[null]' 'config = a, b'
refuses 'a config without a workload' '^x\.ini: no workload section' '[launch]' 'ranks = 2'

config '[null]' 'size = 8, 512TiB' 'config = a, b'
exits 3 'plan says that memory will not do' "$gradsync" plan x.ini
like "$err" '^x\.ini:1: \[null\] needs 1536 TiB of memory on each of 2 ranks.*are free' \
    '… in one line with the numbers'
one_line "$err" '… and no more'
config '[platform]' 'device = another machine' '[null]' 'size = 512TiB'
ok 'a platform of other hardware is planned all the same' "$gradsync" plan x.ini
config '[null]'
exits 2 'an override that is none' "$gradsync" plan x.ini --set size=8
like "$err" "^gradsync: --set 'size=8' is not SECTION:KEY=VALUE" '… says what one looks like'
exits 2 'an override of what is not there' "$gradsync" plan x.ini --set nul:size=8
like "$err" 'did you mean \[null\]\?' '… names the nearest'

# ---- where faults are told ----

config '[null]' 'size = 8' '[null b]' 'siez = 8'
exits 2 'a fault in the second section' "$gradsync" plan x.ini
is "$out" '' '… is told without the plan of the first, below which it would be lost'
one_line "$err" '… once'
for bad in '[measure]|launches = x' '[launch]|nodes = 0'; do
    config "${bad%|*}" "${bad#*|}" '[null]' '[null b]' '[null c]'
    exits 2 "${bad#*|}, of three sections" "$gradsync" plan x.ini
    one_line "$err" '… is told once'
done
config '[launch]' 'ranks = 4096' '[null]' '[null b]'
run "$gradsync" plan x.ini
one_line "$err" 'too few slots for two sections are told once'
config '[nulll]' '[null]'
run bash -c '"$0" plan x.ini 2>&1 | tail -n 1' "$gradsync"
like "$out" "did you mean 'null'" 'the last line is the fault'

# ---- all of it at once ----

config '[measure]' 'launchs = 3' 'blocks = none' '[null]' 'siez = 8' 'noise = 2' '[mpi_alreduce]' \
    'odd line'
exits 2 'check' "$gradsync" check x.ini
is "$(cut -d: -f1,2 <<<"$err" | sort -t: -k2n | tr '\n' ' ')" \
    'x.ini:2 x.ini:3 x.ini:5 x.ini:6 x.ini:7 x.ini:8 ' '… reports every fault with its line'

# ---- a plugin whose library is missing here ----

mkdir lib && echo 'int absent(void) { return 1; }' >absent.c
"${CC:-gcc}" -fPIC -shared -o libabsent.so absent.c
"${CC:-gcc}" -fPIC -shared -o lib/needy.so absent.c -Wl,--no-as-needed -L. -labsent
rm libabsent.so
config '[needy]' '[null]' 'siez = 8'
export GRADSYNC_PLUGIN_PATH=$PWD/lib
exits 2 'a fault matters more than what this machine lacks' "$gradsync" plan x.ini
config '[needy]' '[null]'
exits 3 'a plugin that cannot be loaded here' "$gradsync" plan x.ini
like "$err" '^x\.ini:1: \[needy\]: .*libabsent\.so, which is not on this machine' '… names the library'
like "$out" '\[null\] on x' '… and does not keep the others from being planned'
exits 3 '… nor is it a fault of the config' "$gradsync" check x.ini

done_testing
