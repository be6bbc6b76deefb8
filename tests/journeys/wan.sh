#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# A journey: training between sites. A plan says how often to synchronise; wan_sync is
# measured between the emulated sites of a lab.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/lab.sh"
[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'

lab_config 100Mbit/s 20ms '[model]' 'parameters = 1e6' 'tokens = 1000' 'compute = 10ms' \
    '[wan_sync]' 'size = 64KiB' 'strategy = mpi, ring, direct, hierarchical, oneshot' 'site_ranks = 1' \
    '[wan_links]' 'way = alone' 'round = 1, 2, 3' 'measure = 300ms'
exits 0 'the config is accepted' "$gradsync" check lab.ini
prints 'ring' "$gradsync" model lab.ini
run lab -- "$gradsync" run -q -o data lab.ini
need_lab
is "$rc" 0 'every strategy is measured between the sites of a lab'
diag "$err"
exits 0 'the recording is sound' "$gradsync" check data
prints 'oneshot' "$gradsync" show data/lab/wan_sync/*
prints 'mpi' "$gradsync" compare data
run lab -- "$gradsync" links -o data --write measured.ini lab.ini
is "$rc" 0 'the links are measured'
[ $rc = 0 ] || diag "$err"
prints 'RTT' "$gradsync" model measured.ini
no_orphans 'nothing is left running'
done_testing
