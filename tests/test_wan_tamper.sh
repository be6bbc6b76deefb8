#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tier: slow
#
# Somebody between two ranks of wan_sync alters, repeats, drops and swaps what they send: a proxy in
# the TCP connections, without the key. Each ends the run in one line that names the two ranks.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
flags=(-std=c11 -D_GNU_SOURCE -I"$top/plugins" -I"$top/runner")
"${CC:-gcc}" "${flags[@]}" -o tamper "$top/tests/tamper.c" &&
    "${CC:-gcc}" "${flags[@]}" -DPRELOAD -shared -fPIC -o redirect.so "$top/tests/tamper.c" ||
    skip_all 'no compiler here'

cat >w.ini <<'END'
[platform]
name = w
[launch]
ranks = 2
oversubscribe = yes
bind = none
[measure]
launches = 1
blocks = 1
max_blocks = 1
samples = 1
discard = 0
budget = 1ms
warmup = 1ms
warmup_ops = 1
retries = 0
[wan_sync]
size = 1MiB
block = 16KiB
streams = 2
probe = 0
timeout = 5s
END
port=$((20000 + $$ % 4000)) # below those that the kernel gives away
echo "port = $port" >>w.ini
export TAMPER_FROM=$port TAMPER_TO=$((port + 4000))
between() { # FAULT PROTECTION: a run with the proxy between its ranks
    ./tamper "$TAMPER_TO" "$port" "$1" >tamper.out &
    local proxy=$!
    until_true 60 test -s tamper.out
    rm -rf data
    run env LD_PRELOAD="$PWD/redirect.so" timeout 60 "$gradsync" run -q -o data w.ini \
        --set "wan_sync:protection=$2"
    lines=$(cat data/*/*/*/launch-*.jsonl 2>/dev/null)
    kill "$proxy" && wait "$proxy" 2>/dev/null
    rm -f tamper.out
}
pair='a frame from rank 1 \([^)]*\) to rank 0 \([^)]*\) was altered, repeated, left out or swapped'
for fault in payload head repeat drop swap; do
    between "$fault" proof
    is "$rc" 1 "$fault: the run ends with 1"
    like "$lines" "\"type\":\"fail\".*$pair" "$fault: the recording names the two ranks"
    one_line "$err" "$fault: one line is printed"
    like "$err" "$pair" "$fault: the line names the two ranks"
    unlike "$lines" '"type":"block"' "$fault: nothing is measured"
done
between byte encryption
is "$rc" 1 'an altered byte of an encrypted connection ends the run with 1'
like "$err" "$pair" 'the line names the two ranks of the encrypted connection'

between none proof
is "$rc:$(grep -c '"type":"block"' <<<"$lines")" 0:1 'a proxy that alters nothing is not noticed'
like "$lines" '"protection":"proof"' 'the recording says that frames were proved'
like "$lines" '"key":"tcp_keys","value":"X25519 over MPI"' 'the recording says where keys came from'
between payload none
is "$rc" 1 'without protection an altered block makes a wrong sum'
like "$lines" '"kind":"wrong"' 'the wrong sum is found by its value alone'

no_orphans 'no process is left running'
done_testing
