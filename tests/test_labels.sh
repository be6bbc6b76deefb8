#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Settings with characters that a label of a recording may not have, long ones, and folders with line feeds:
# what a reader would refuse is refused before anything is measured, and nothing is cut.
. "$(dirname "$0")/lib.sh"

cat >job <<'END'
t=20; [ -n "$NCCL_ALGO$NCCL_X" ] && t=10; echo "x is $NCCL_X, path $PYTHONPATH"
for i in $(seq 60); do echo "step time: $t ms"; sleep 0.0$t; done
END
tune() { "$gradsync" tune -q -o raw -m 0.8 "$@" -- bash job; }

echo 'any: NCCL_ALGO=allreduce:ring;allgather:ring' >legal
long=$(printf '/opt/p%04d:' $(seq 1 900))/needed
PYTHONPATH=$long exits 0 'a legal value of NCCL with a semicolon is proven' tune -c legal --only 'ring;all'
like "$out" "^Set NCCL_ALGO=allreduce:ring;allgather:ring: .*export NCCL_ALGO='allreduce:ring;allgather:ring'" \
    'it is printed as it is, and quoted'
exits 0 'the recordings are sound' "$gradsync" check raw
like "$(grep -ho 'path .*' raw/job/train/*/launch-01.01.log)" "$long"$'\n' 'a long variable is not cut'
rm -rf raw
printf '%s\n' 'any: NCCL_X=a"b\$c;{x}|%3B' >odd
exits 0 'any value is a setting' tune -c odd --only NCCL_X -e pytorch
like "$out" 'os.environ\["NCCL_X"\] = "a\\"b\\\\\$c;\{x\}\|%3B"' 'it is quoted for Python'
is "$(grep -ho 'x is a.*, ' raw/job/train/*tune*/launch-01.01.log | sort -u)" 'x is a"b\$c;{x}|%3B, ' 'the job got it'
exits 0 'its recordings are sound' "$gradsync" check raw
prints 'NCCL_X=a%22b%5C%24c%3B%7Bx%7D%7C%253B' "$gradsync" compare raw/job/train/*proof*
echo 'any: 1A=x' >digit
fails 2 "digit:1: '1A=x': must be NAME=VALUE" tune -c digit

fails1 2 "tune: the folder of recordings 'a b': its path has a line feed" "$gradsync" tune -q -o $'a\nb' -- bash job
fails 2 "the folder of recordings 'a b': its path has a line feed" "$gradsync" run -q "$top/configs/local.ini" -o $'a\nb'
ok 'nothing was measured' test ! -e $'a\nb'

sed 's/NCCL_PROTO=Simple/NCCL_ALGO="allreduce:ring;allgather:ring"/' "$top/tests/cases/two_settings_one_log/log.txt" |
    head -n 9 >log
exits 0 'a log with such a setting is imported' "$gradsync" import -q -o imported --platform x log
exits 0 'and its recording is sound' "$gradsync" check imported
fails1 2 "import: config='-x': must be a label" "$gradsync" import -o dash --platform x --set config=-x log
ok 'nothing was imported' test ! -e dash
done_testing
