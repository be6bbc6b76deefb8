#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/run: which tests it picks, and that one failure is enough. The tests it runs here are made
# for this: each notes that it ran.
. "$(dirname "$0")/lib.sh"

mkdir -p tests/slurm tests/unit build/asan/tests build/tests
cp "$top/tests/run" "$top/tests/tap" tests
made() { # FILE EXIT-CODE [HEADER]: a test of one assertion
    printf '#!/bin/bash\n%s\necho "%s${BUILD##*/build}" >>ran\necho 1..1; echo "ok 1"; exit %s\n' \
        "${3:-#}" "$1" "$2" >"$1"
    chmod +x "$1"
}
made tests/test_quick.sh 0
made tests/test_long.sh 0 '# Tier: slow (it waits)'
made tests/test_memory.sh 0 '# also under ASan'
made tests/slurm/test_batch.sh 0 '# Tier: slow'
made build/tests/test_unit 0
touch build/tests/test_unit.d tests/unit/test_unit.c
# What an older build left: tests whose source is gone, and one that is no longer for ASan.
made build/tests/test_gone 1
made build/asan/tests/test_gone 1
made build/asan/tests/test_gone.sh 1
made build/asan/tests/test_quick.sh 1

picked() { # NAME WANT COMMAND…
    local name=$1 want=$2
    shift 2
    rm -f ran
    ok "$name: the command succeeds" env BUILD=build "$@"
    is "$(sort ran | paste -sd' ')" "$want" "$name: these tests ran, each once"
}
fast='build/tests/test_unit tests/test_memory.sh tests/test_quick.sh'
picked 'no argument runs the fast tests' "$fast" bash tests/run
like "$out" $'Files=3, Tests=3, .*\nResult: PASS$' "the last lines are prove's summary"
picked '--all runs every test' "build/tests/test_unit tests/slurm/test_batch.sh tests/test_long.sh \
tests/test_memory.sh tests/test_memory.sh/asan tests/test_quick.sh" bash tests/run --all
picked '--asan runs the ASan copies only' 'tests/test_memory.sh/asan' bash tests/run --asan
picked 'TESTS picks from the slow tests too' 'tests/slurm/test_batch.sh tests/test_long.sh' \
    TESTS='batch|long' bash tests/run
picked 'TESTS picks from --all' 'tests/test_memory.sh tests/test_memory.sh/asan' \
    TESTS=memory bash tests/run --all
picked 'a named test runs whatever TESTS says' 'tests/test_long.sh' \
    TESTS=memory bash tests/run tests/test_long.sh
fails1 2 'no test matches TESTS=nosuch' env BUILD=build TESTS=nosuch bash tests/run

made tests/test_broken.sh 1
rm -f ran
exits 1 'a failed test fails the run' env BUILD=build CI=true bash tests/run
is "$(grep -c test_broken.sh ran)" 1 'a failed test is not run again, in CI neither'
like "$out" $'\nResult: FAIL$' "the last line is prove's"

# ---- the tiers of this tree

is "$(cd "$top" && grep -L '^# Tier: slow' tests/slurm/test_*.sh | xargs -n 1 basename | paste -sd' ')" \
    test_readme.sh 'one Slurm test is fast: the path that docs/clusters.md shows'
like "$(sed -n '$p' "$top/.ci/run")" '^make check-all$' 'CI runs every test'
no_orphans 'nothing is left running'
done_testing
