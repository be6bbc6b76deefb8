# Not under ASan: tests/test_train.sh is.
# gradsync train: its plan, its warnings, and commands that fail. ./steps N US prints N step times.
cat >steps <<'END'
#!/bin/sh
for i in $(seq "$1"); do echo "took $2 us"; done
END
chmod +x steps
config() { printf '%s\n' '[platform]' 'name = here' '[measure]' 'launches = 1' 'seed = 7' '[train]' "$@" >x.ini; }
train() { gradsync train "$@" -o raw 2>&1; }
last='time = took ([^ ]+) us'
config 'command = ./steps 60 $((100000 + {cost}))' "$last" 'unit = us' 'cost = 0, 3000, 100'
$ gradsync plan x.ini --set measure:launches=5
$ gradsync plan x.ini --set train:FAST=unset,1
$ gradsync help train
$ gradsync check $top/docs/examples/train/buckets.ini

# ---- warnings: fewer step times than others, another unit, too few to leave out the warm-up
warnings() { train x.ini | grep -o 'warning.*' | sed 's/took [0-9.]* [mu]*s/took T/'; }
config 'command = ./steps {n} 10' "$last" 'unit = us' 'n = 60, 20'
$ warnings
config 'command = ./steps 10 100000' "$last"
$ warnings
config 'command = ./steps 7 10' "$last" 'unit = us'
$ warnings
config 'command = ./steps 8 10' "$last" 'unit = us'
$ warnings

# ---- commands that fail
fault() { config "command = '$1'" 'time = x=(.*)$' 'n = 1, 2' && train -q x.ini; }
$ fault 'echo {n}'
config "command = 'echo {n}'" 'n = 1, 2'
$ train -q x.ini
$ fault 'echo x=0 {n} | cut -c-3'
$ fault 'echo; echo x=-{n}'
$ fault 'echo x=nan; : {n}'
$ fault 'echo x={n}s'
$ fault 'kill -SEGV $$; : {n}'
$ fault 'echo why {n}; echo -----; exit 1'
$ fault './none {n}'
$ train x.ini | grep 'nothing was' | sed 's/20[0-9]*T[0-9]*Z-[0-9a-f]*/RUN/g'
# So many times are recorded.
$ fault '[ {n} != 1 ] || seq -f x=%.0f 300001; exit 1'
$ jq 'select(.type == "fail") | .printed_ns | length' raw/here/train/*/skipped-01.01.jsonl | sort -n | tail -n 1
config "command = '[ {n} != 2 ] || { echo boom; exit 3; }; ./steps 30 100000'" "$last" 'unit = us' 'n = 1, 2, 3'
$ train -q x.ini
config "command = './steps 30 100000; [ {n} != 2 ] || { echo bad end; exit 3; }'" "$last" 'unit = us' 'n = 1, 2'
$ train -q x.ini
config "command = 'test -z \"\$(cat)\" && test \"\$(cut -d\" \" -f6 /proc/\$\$/stat)\" = \$\$ && echo alone'" 'time = (alone)'
$ train -q x.ini <<<'some input'

# ---- faults of the config
config 'command = echo x=1' 'MY_TOKEN = abc'
$ train x.ini
printf '[null]\n' >none.ini
$ train none.ini
$ OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_MCA_orte_precondition_transports=x train x.ini
# A doubled brace is a brace, and braces of the shell stay as they are.
config "command = echo x | awk '{{print}' >/dev/null && echo \${HOME:+x}=1" 'time = x=(.*)'
$ train -q x.ini
