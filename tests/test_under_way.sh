#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Configs one after another, their figures drawn while they are under way, in a
# checkout of its own.
. "$(dirname "$0")/lib.sh"

mkdir -p tree/build tree/all
(cd "$top" && tar cf - GNUmakefile mk figures/*.gp figures/*.sql figures/{draw,known,plot} \
    runner plugins configs \
    gradsync.pc.in) | tar xf - -C tree
(cd "$build" && tar cf - runner plugins ./*.a gradsync gradsync-rank commit.* deps.ok) | tar xf - \
    -C tree/build
cd tree || exit 1
rm configs/*wan*
config() { # NAME LINE…
    printf '%s\n' '[platform]' "name = $1" '[launch]' 'oversubscribe = yes' '[measure]' \
        'launches = 2' 'warmup = 0' "${@:2}" \
        '[null]' 'size = 8, 64' 'config = a, b' 'spin = yes' 'time = 100us' 'noise = 20%' \
        >"all/$1.ini"
}
config one 'blocks = 2' 'max_blocks = 2'
config two 'blocks = 3' 'max_blocks = 100000' 'precision = 0.01%' 'budget = 1h'

build/gradsync run -q all/one.ini
build/gradsync run -q all/two.ini 2>run.err &
pid=$!
second() { grep -qs '"type":"block"' data/raw/two/null/*/launch-01.01.jsonl; }
until_true 60 second || flunk 'the second config is under way' "$(cat run.err)"
says 'unfinished: data/raw/two/null/[^ ]*: .*gradsync show' build/gradsync query --export csv
unlike "$err" 'raw/one' 'reduce calls no finished run unfinished'
is "$(cut -d, -f2 csv/summary.csv | sort -u | tr '\n' ' ')" 'one platform two ' \
    'the tables have both platforms'
if command -v gnuplot >/dev/null; then
    says 'unfinished: data/raw/two/null/[^ ]*: only its measured cells' make --no-print-directory \
        -j2 BUILD=build drawn
    isnt "$(ls figures/out/one 2>/dev/null)" '' 'the finished platform has figures'
else
    skip 'figures are drawn while the campaign is under way' 'no gnuplot here'
fi
kill -TERM $pid
wait $pid
is $? 1 'a signal ends the campaign with 1'
no_orphans 'no process is left'
done_testing
