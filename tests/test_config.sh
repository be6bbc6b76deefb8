#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The configs of the project, and what plan and check say of this machine. tests/golden/plan.cmd has what they
# print, tests/bad/config what they refuse.
. "$(dirname "$0")/lib.sh"

config() { printf '%s\n' "$@" >x.ini; }
for ini in "$top"/configs/*.ini; do
    grep -qE '^\[(mpi_allreduce|nccl_allreduce|iter_proxy|wan_sync|wan_links)\]' "$ini" || continue # of jobs alone
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
run "$gradsync" check "$top/configs/wan-4site.ini"
is "${err##*$'\n'}" "$top/configs/wan-4site.ini: ok; next: $gradsync model $top/configs/wan-4site.ini" \
    'check of a config with [model] and no workload names the model'
ok 'plan writes nothing' test ! -e data

config '[launch]' 'ranks = 4096' '[null]'
exits 3 'plan exits with 3 for more ranks than this machine has slots' "$gradsync" plan x.ini
like "$out$err" "1 cell in .*x\.ini:2: key 'ranks': 4096 ranks, but this machine has [0-9]+ slots" \
    'plan prints the cells and says how many slots are lacking'
config '[launch]' 'ranks = 4096' '[null]' '[null b]'
run "$gradsync" plan x.ini
one_line "$err" 'too few slots for two sections are reported once'
config '[null]' 'size = 8, 512TiB' 'config = a, b'
fails 3 '^x\.ini:1: \[null\] needs 1536 TiB of memory on each of 2 ranks.*are free' "$gradsync" \
    plan x.ini
config '[nulll]' '[null]'
run bash -c '"$0" plan x.ini 2>&1 | tail -n 1' "$gradsync"
like "$out" "did you mean 'null'" 'the last line of output is the fault'

# ---- a plugin whose library is missing here

mkdir lib && echo 'int absent(void) { return 1; }' >absent.c
"${CC:-gcc}" -fPIC -shared -o libabsent.so absent.c
"${CC:-gcc}" -fPIC -shared -o lib/needy.so absent.c -Wl,--no-as-needed -L. -labsent
rm libabsent.so
config '[needy]' '[null]' 'siez = 8'
export GRADSYNC_PLUGIN_PATH=$PWD/lib:$GRADSYNC_PLUGIN_PATH
exits 2 'a fault of the config matters more than a library that is missing' "$gradsync" plan x.ini
config '[needy]' '[null]'
fails 3 '^x\.ini:1: \[needy\]: .*libabsent\.so, which is not on this machine' "$gradsync" plan \
    x.ini
like "$out" '\[null\] on x' "a plugin that cannot be loaded does not stop the others' plan"
exits 3 'check exits with 3 for a plugin that cannot be loaded' "$gradsync" check x.ini

done_testing
