#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A secret in a config or on the command line reaches the ranks, and nothing that is recorded.
. "$(dirname "$0")/lib.sh"

command -v mpirun >/dev/null || skip_all 'no mpirun here'
cat >here.ini <<'END'
[launch]
ranks = 1
# once: A_TOKEN=hunter2
prefix = env WANDB_API_KEY=hunter2 ./with
[measure]
launches = 2
budget = 50ms
warmup = 1ms
[null]
size = 8
END
printf '#!/bin/sh\necho "$WANDB_API_KEY $MORE_PASSWORD" >>"%s/got"\nexec "$@"\n' "$PWD" >with &&
    chmod +x with
sed -i "s,\./with,$PWD/with," here.ini
exits 0 'a config with a secret runs' "$gradsync" run -q here.ini -o raw
run_dir=$(echo raw/here/null/*)
is "$(sort -u got)" 'hunter2 ' 'the ranks get the secret of the config'
is "$(grep -rl hunter2 raw)" '' 'nothing that is recorded contains the secret'
like "$(cat "$run_dir/config.ini")" 'WANDB_API_KEY=\(hidden\)' \
    'the recorded config has the name of the secret and hides its value'

unset WANDB_API_KEY
rm -f "$run_dir"/MANIFEST.json "$run_dir"/launch-02.*
fails1 2 'config.ini: .launch. holds a secret, which is not recorded: run the config again' "$gradsync" resume "$run_dir"

exits 0 'a config with a command runs' "$gradsync" run -q here.ini -o raw5 --set "launch:prefix=$PWD/with"
run_dir=$(echo raw5/here/null/*)
rm -f "$run_dir"/MANIFEST.json "$run_dir"/launch-*
cp -r raw5 copied && run_dir=${run_dir/raw5/copied} && rm -f got
fails 2 "config.ini: you did not begin .* then: $gradsync resume --commands $run_dir\$" "$gradsync" \
    resume "$run_dir"
exits 2 'so is a launch of it' "$gradsync" resume --launch 1 "$run_dir"
ok 'the command did not run' test ! -e got
WANDB_API_KEY=hunter3 exits 0 'resume --commands runs the command' "$gradsync" resume --commands \
    "$run_dir"
is "$(tail -n 1 got)" 'hunter3 ' 'the ranks were started by the command'

exits 0 'a secret in --set is accepted' "$gradsync" run here.ini -o raw2 --set measure:launches=1 \
    --set "launch:prefix=env MORE_PASSWORD=hunter4 $PWD/with"
is "$(tail -n 1 got)" ' hunter4' 'the ranks get the secret of --set'
is "$(grep -rl hunter raw2)$err" "$(grep -v hunter <<<"$err")" \
    'no file and no message contains the secret of --set'

printf '[slurm]\nsetup = export A_KEY=hunter2\n' >>here.ini
fails 2 'it holds a secret.*export NAME=\$\(cat FILE\)' "$gradsync" submit --dry-run here.ini

# ---- what ranks and launchers print

printf '#!/bin/sh\necho "A_TOKEN=hunter5, said"\nenv >&2\necho "{\\"api_key\\": \\"hunter6\\"}" >&2\nexec "$@"\n' >prints && chmod +x prints
MY_API_KEY=hunter7 exits 0 'a run whose launcher prints secrets is measured' "$gradsync" run -q here.ini -o raw3 \
    --set measure:launches=1 --set "launch:prefix=env WANDB_API_KEY=hunter2 $PWD/prints"
is "$(grep -rl hunter raw3)" '' 'its log has none of them'
is "$(grep -Eoh '^(A_TOKEN|MY_API_KEY)=.hidden.' raw3/here/null/*/*.log | sort | xargs)" 'A_TOKEN=(hidden) MY_API_KEY=(hidden)' 'but their names'

# ---- the command and the output of a tune

cat >job <<'END'
echo "MY_TOKEN=hunter5 and more"; echo "Authorization: Bearer hunter6"; echo "token is hunter8"
env; env -0; echo "args: Namespace(api_key='hunter8')"
for i in $(seq 60); do echo "step time: 20 ms"; sleep 0.02; done
END
words=(--api-key hunter8 --wandb_key=hunter8 TOKEN=hunter8 https://u:hunter8@h/)
B_SECRET=hunter9 exits 0 "tune answers with secrets in its words" "$gradsync" tune -q -o raw4 -m 0.3 --only IGNORE_CPU -- bash job "${words[@]}"
is "$(grep -rl hunter raw4)" '' 'no file contains a secret'
like "$(head -qn1 raw4/*/*/*/launch-*.jsonl)" '"line":"bash job --api-key [^"]*hidden[^"]*--wandb_key' 'the recording holds the command, without its secrets'
rm -rf raw4
B_SECRET=hunter9 exits 0 'tune answers with a secret in env' "$gradsync" tune -q -o raw4 -m 0.3 --only IGNORE_CPU -- \
    env HF_TOKEN=hunter8 bash job 'a
b'
is "$(grep -rl hunter raw4)" '' 'no file contains that secret'
run_dir=$(dirname raw4/job/train/*/tune.json)
is "$(jq -r '.command[-1]' "$run_dir"/tune.json)" 'a
b' 'a word of several lines is recorded as it is'
fails1 2 'the command holds a secret, which is not recorded: type the command again' "$gradsync" resume "$run_dir"

done_testing
