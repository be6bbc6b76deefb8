#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What run says of a machine on which other programs run: the words of show.
. "$(dirname "$0")/lib.sh"

cat >busy.ini <<'END'
[platform]
name = p
[launch]
ranks = 2
oversubscribe = yes
[measure]
launches = 1
warmup = 1500ms
[mpi_allreduce]
size = 1MiB
END
others=()
for _ in $(seq $(($(nproc) + 2))); do
    while :; do :; done &
    others+=($!)
done
run "$gradsync" run busy.ini -o busy
kill "${others[@]}"
wait "${others[@]}" 2>/dev/null
told=$(grep '^warning: .*: not idle' <<<"$err")
# How busy a machine is seen to be depends on the machine. Whatever the recording says of it, run
# must tell as show does.
"$gradsync" show busy >/dev/null 2>shown
shown=$(grep '^warning: .*: not idle' shown)
if [ -n "$told$shown" ]; then is "$told" "$shown" 'run warns once, in the words of show'; else
    skip 'run warns once, in the words of show' \
        "no load was seen: $(grep -h '"type":"health"' busy/*/*/*/launch-*.jsonl | tail -n 1)"
fi
run "$gradsync" run -q busy.ini -o quiet
is "$err" '' 'run -q does not warn'
mkdir configs && printf '%s\n' '[platform]' 'name = other' '[null]' >configs/other.ini
printf '%s\n' '[platform]' 'name = other' '[launch]' 'ranks = 1' '[measure]' 'blocks = 2' \
    '[null more]' 'size = 8' >more.ini
"$gradsync" run -q more.ini --set 'null more:size=16' -o more
ok 'a run is shown, though the config of its platform has no such section' "$gradsync" show more
no_orphans 'no process is left'
done_testing
