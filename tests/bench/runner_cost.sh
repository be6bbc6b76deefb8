# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# runner_cost GRADSYNC FOLDER: "seconds from the start to the first sample, microseconds a sample
# that the runner adds", 2 ranks, around an operation that takes no time.
runner_cost() {
    local start recording at
    cat >"$2/null.ini" <<-'INI'
	[launch]
	ranks = 2
	oversubscribe = yes
	[measure]
	launches = 1
	blocks = 11
	max_blocks = 11
	samples = 20000
	discard = 0
	sample_time = 1ns
	warmup = 0
	warmup_ops = 1
	budget = 60s
	[null]
	size = 8
	time = 1ns
	INI
    start=$(date +%s.%N)
    "$1" run -q "$2/null.ini" --set platform:name=bench -o "$2/null"
    recording=$(echo "$2"/null/bench/null/*/launch-01.01.jsonl)
    at=$(grep -o '"type":"block".*"at":[0-9.]*' "$recording" | sed 's/.*"at"://')
    awk -v start="$start" 'NR == 1 { printf "%.2f ", $1 - start }' <<<"$at"
    # The median over blocks of the time from one block's start to the next's, a sample.
    awk 'NR > 1 { printf "%.9f\n", ($1 - last) / 20000 * 1e6 } { last = $1 }' <<<"$at" | sort -g |
        sed -n 5p
}
