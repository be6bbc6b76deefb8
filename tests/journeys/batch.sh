#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# A journey: a config is measured in Slurm jobs, here in a Slurm of this test's own.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/slurm/lib.sh
. "$top/tests/slurm/lib.sh"
slurm_up

small small.ini
submitted small.ini
settled
status_is 0 'status takes complete runs into raw'
exits 0 'they are sound' "$gradsync" check raw
is "$("$gradsync" query -q --format lines 'SELECT count(DISTINCT launch) FROM launches' raw)" 3 'all three launches are there'
prints '.' "$gradsync" compare raw
slurm_down
no_orphans 'nothing is left running'
done_testing
