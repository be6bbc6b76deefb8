#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Forms of gradsync advise and the environment of compare --json, read back by those that they are for: values of other
# people's recordings are as they were, and nothing of them is run. What they say is in tests/golden/advise.cmd.
. "$(dirname "$0")/lib.sh"
. "$top/tests/steps.sh"

steps 1 '' "$cuda"
if python3 -c 'import torch.distributed as d; d.ProcessGroupNCCL.Options' 2>/dev/null; then
    ok 'PyTorch has the options of the form' python3 -c \
        'import sys; exec(sys.argv[1].replace("dist.init_process_group", "print"))' "$("$gradsync" advise --emit pytorch sim)"
else
    skip 'PyTorch has the options of the form' 'no PyTorch with NCCL here'
fi

long=$(printf 'x%.0s' {1..600})
nasty=("16 touch PWNED" '/etc/nccl/topo.xml' 'a=b=c' "$long" 'ü€𝄞' '' '#no comment' '!history'
    '*~ (a) [b] ?' '%s%n' 'a,b:c@d+e')
fresh
steps 1 '' '"bucket_cap":"25"'
edit 1 's/"iter_proxy"/"train"/; s/"mode":"overlapped"/"mode":""/; s/ctas=16/NASTY/'
values 1 NASTY "$(jq -nc '[$ARGS.positional | to_entries[] | {("V_\(.key)"): .value}] | add' \
    --args "${nasty[@]}")"
# The values, each behind its name, all ended by NUL.
for i in "${!nasty[@]}"; do printf 'V_%s=%s\0' "$i" "${nasty[i]}"; done >want
from_env() { grep -z '^V_' | sort -z -t_ -k2n; }
for form in env sbatch; do
    "$gradsync" advise --emit $form sim >form.sh
    rm -f PWNED
    env -i bash -c 'set -a; . ./form.sh; /usr/bin/env -0' | from_env >got
    ok "a shell reads all values of the form $form" cmp want got
    ok "the form $form runs nothing" test ! -e PWNED
done
"$gradsync" compare --json sim >compare.json
line=$(jq -r '.groups[].environment' compare.json)
bash -c "$line /usr/bin/env -0" | from_env >got
ok 'a shell reads all values of compare --json' cmp want got
ok 'the environment of compare --json runs nothing' test ! -e PWNED
jq -j '.groups[].variables | to_entries[] | "\(.key)=\(.value)\u0000"' compare.json | from_env >got
ok 'the variables of compare --json have all values' cmp want got
if python3 -c 'import sys' 2>/dev/null; then
    "$gradsync" advise --emit pytorch sim >form.py
    python3 -c 'exec(open("form.py", encoding="utf-8").read())
import os, sys
sys.stdout.buffer.write(b"".join(b"%s=%s\0" % i for i in os.environb.items()))' | from_env >got
    ok 'Python reads all values of the form pytorch' cmp want got
    ok 'the form pytorch runs nothing' test ! -e PWNED
fi
values 1 NASTY "$(jq -nc 'reduce range(11) as $i ({}; .["V_\($i)"] = "unset")')"
"$gradsync" advise --emit sbatch sim >form.sh
is "$(V_1=x bash -c '. ./form.sh; echo "${V_1-none}"')" none 'a form removes a variable that is unset'
line=$("$gradsync" compare --json sim | jq -r '.groups[].environment')
is "$(V_1=x bash -c "$line printenv V_1")" '' 'compare --json removes a variable that is unset'
values 1 NASTY '{"V_1":"a\\ntouch PWNED"}'
exits 1 'a value with a new line is refused' "$gradsync" advise --emit sbatch sim
done_testing
