#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# make bench-steps without GPUs: its table of levels that agree and that do not, and its script on
# MPI and on the stand-in for a training.
. "$(dirname "$0")/lib.sh"

table() { awk -f "$top/tests/bench/steps_table.awk" "$@"; }
cat >results <<'END'
a alone auto 0.2 0 0 0
a alone ctas=8 0.3 -9 -10 -8
a step auto 21 0 0 0
a step ctas=8 22 2.5 2 3
a trial auto 20 0 0 0
a trial ctas=8 - 1.8 1.5 2.1
a training auto 20 0 0 0
a training ctas=8 20.4 2.0 1.6 2.4
a training auto-again 20 0.1 -0.3 0.4
b step auto 30 0 0 0
b step ctas=8 30 -2 -2.5 -1.5
b trial failed torchrun: no such file
b training auto 20 0 0 0
b training ctas=8 20.4 2.0 1.6 2.4
c step absent nothing imports it
END
out=$(table results)
good=$(sed -n '/^a/,/^b/p' <<<"$out") bad=$(sed -n '/^b/,/^c/p' <<<"$out")
like "$good" 'alone +0.200 +-9.00 \[-10.00, -8.00\]' 'a level has its numbers'
unlike "$good" 'MISSED|FAILED' 'levels that agree miss nothing'
like "$good" 'trial differs from training by at most 0.5 points +ok -0.20 \(ctas=8\)' \
    'the trial must agree with training to half a point'
like "$good" 'as long as PyTorch.s, within 10% +ok \+5.0%' \
    'the replayed step must be as long as the real one to 10%'
like "$good" 'alone has verdicts contrary to training: +ctas=8' \
    'the level alone must agree with nothing, and its contrary verdicts are printed'
like "$bad" 'step differs from training by at most 1 points +MISSED -4.00' \
    'a step with another ratio than training is MISSED'
like "$bad" 'step has no verdict contrary to training +MISSED +ctas=8' \
    'a step with a contrary verdict is MISSED'
like "$bad" 'within 10% +MISSED \+50.0%' 'a step with another time is MISSED'
like "$bad" 'trial +FAILED: torchrun: no such file' 'a level that fails is FAILED'
like "$out" 'step +not available: nothing imports it' 'a level that is not available does not fail'

rehearse() {
    env GPUS=2 HOST=1 OUT="$tmp/bench" CONFIGS=ring BUDGET=1 STEPS=ddp-small "$@" \
        bash "$top/tests/bench/steps.sh"
}
mkdir 'a b' && cp "$build/tuner/job" 'a b'
prints 'synthetic +[0-9.]+ +[-+][0-9.]+ \[' rehearse LEVELS='synthetic trial training' \
    JOB="'$tmp/a b/job' steps=500 step_us=2000"
like "$out" 'trial +[0-9.]+ +[-+][0-9.]+ \[' 'the script measures a trial'
exits 1 'the script exits with 1 when a level fails' rehearse LEVELS=trial JOB=false
like "$out" 'trial +FAILED' 'the table says that the level failed'
exits 2 'the script refuses an unknown step' rehearse STEPS=x
done_testing
