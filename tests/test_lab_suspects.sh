#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# gradsync suspects between four emulated hosts: the link with 200 ms more is named. The hosts share the
# processors of one machine, so a busy one may make a rank a suspect too, or another link by a little;
# how often is what test_suspect_rates asks. The other links have 20 ms, so that the time of a message is
# not that of the scheduler.
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"
[ -e "$build/gradsync-rank" ] || skip_all 'built without MPI'

lab_config 200Mbit/s 20ms 'east-south = rtt=220ms'
sed -i 's/^south = gpus=1/&\nwest = gpus=1/; s/^ranks = 3/ranks = 4/; s/^nodes = 3/nodes = 4/
    s/^hosts = .*/hosts = north, east, south, west/' lab.ini
run lab -- "$gradsync" suspects lab.ini -q -o data -s pairs:size=64KiB -s pairs:gemm=64 \
    -s measure:blocks=3 -s measure:max_blocks=3
need_lab
is "$rc" 1 'a delayed link gives exit code 1'
links=$(grep '^suspect: link' <<<"$out")
like "$links" '^suspect: link of rank 1 and rank 2 \(network, east and south\): ' \
    'the delayed link is named'
others=$(grep -v 'rank 1 and rank 2' <<<"$links")
is "$(grep -v 'takes [0-9]\{1,2\}\.[0-9]% longer' <<<"$others")" '' 'no other link takes twice as long as its peers'
done_testing
