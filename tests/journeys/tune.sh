#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# A journey: gradsync tune in front of a job that trains over MPI; no GPU is needed.
. "$(dirname "$0")/../lib.sh"
[ -x "$build/examples/mpi_train" ] || skip_all 'built without MPI'

# Open MPI does not start as root unless a variable allows it. gradsync sets that variable.
exits 0 'tune answers' env -u OMPI_ALLOW_RUN_AS_ROOT -u OMPI_ALLOW_RUN_AS_ROOT_CONFIRM "$gradsync" tune --minutes 1 -o raw -- mpirun --oversubscribe -n 2 "$build/examples/mpi_train" rest=1
like "$out" '^(Not shown: c|C)ommunication costs ' 'the first line is the price of communication'
like "$out" $'\n(Run |Set |Switch |No setting )' 'a setting is named, or there is none'
answer=$out
found=$(find raw -name tune.json -printf '%h\n')
exits 0 'the recordings are sound' "$gradsync" check raw
prints '.' "$gradsync" compare raw
exits 0 'a finished tune is resumed' "$gradsync" resume "$found"
is "$out" "$answer" 'it prints the same answer'
no_orphans 'nothing is left running'
done_testing
