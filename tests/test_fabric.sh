#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync check --machine on this machine; tests/golden/fabric.cmd has it on synthetic trees.
. "$(dirname "$0")/lib.sh"

ok 'fabric succeeds on this machine' "$gradsync" check --machine
fails1 2 '' "$gradsync" check --machine --root nowhere

# What a recording says of it.
cat >one.ini <<'END'
[launch]
ranks = 2
oversubscribe = yes
[measure]
launches = 1
blocks = 2
max_blocks = 2
warmup = 1ms
[null]
END
ok 'a run whose fabric is recorded succeeds' "$gradsync" run -q one.ini -o data
ok 'the recording has the fabric of its node' grep -qE '"fabric": ?\{"ports"' \
    data/one/null/*/launch-01.01.jsonl
done_testing
