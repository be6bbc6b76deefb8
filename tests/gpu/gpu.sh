# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of the GPU plugins share, after lib.sh:
#   $gpus                 how many there are, or GPUS; skips the test below 2
#   config NAME BODY…     NAME.ini for all of them, short and without waiting
#   measure NAME          runs it; keeps rc, out and err; $recording is its .jsonl, of whose
#                         failures the first are shown
#   lost KIND             how many cells it lost that way
gpus=${GPUS:-$(! command -v nvidia-smi >/dev/null || nvidia-smi -L 2>/dev/null | grep -c '^GPU ')}
[ "${gpus:-0}" -ge 2 ] || skip_all "needs two GPUs, found ${gpus:-0}"

config() {
    local name=$1
    shift
    cat >"$name.ini" <<-END
	[launch]
	ranks = $gpus
	oversubscribe = yes
	args = -x NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
	[measure]
	launches = 1
	blocks = 2
	max_blocks = 2
	samples = 1
	warmup = 1ms
	warmup_ops = 1
	deadline = 30s
	retries = 0
	END
    printf '%s\n' "$@" >>"$name.ini"
}

# shellcheck disable=SC2154 # gradsync is of lib.sh
measure() {
    run "$gradsync" run -q "$1.ini" -o "data-$1"
    recording=$(find "data-$1" -name 'launch-01.01.jsonl' | sort | head -n 1)
    [ "$rc" = 0 ] || diag "$err" "$(grep -h '"type":"fail"' "$recording" | head -n 5)"
}

lost() { grep -h '"type":"fail"' "$recording" | grep -c "\"kind\":\"$1\"" || true; }
