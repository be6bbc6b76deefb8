#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A line of a recording that was altered after it was measured is refused by every verb that reads
# recordings, and no manifest is written over it. The edits are random; SEED=N repeats those of a
# run.
. "$(dirname "$0")/lib.sh"

seed=${SEED:-$RANDOM} edits=60
RANDOM=$seed
diag "SEED=$seed"

printf '%s\n' '[platform]' 'name = tiny' '[launch]' 'ranks = 1' \
    '[measure]' 'launches = 2' 'blocks = 6' 'budget = 1s' 'warmup = 1ms' \
    '[null]' 'size = 8, 16' 'configs = a, b' >tiny.ini
ok 'a run to be edited succeeds' "$gradsync" run -q tiny.ini -o whole/data/raw
run_dir=$(cd whole && echo data/raw/*/*/*)
chmod -R u+w whole
cp whole/"$run_dir"/launch-01.01.jsonl measured.jsonl
rm "whole/$run_dir/MANIFEST.json"
lines=$(wc -l <measured.jsonl)
is "$(sed -n '$s/.*"sha256":"\(.*\)"}/\1/p' measured.jsonl)" \
    "$(sed '$s/,"sha256":.*//' measured.jsonl | head -c -1 | sha256sum | cut -d' ' -f1)" \
    'the last line has the digest of the file before it'

# One random edit of measured.jsonl. Lines removed from the end are not among them: they are what a
# kill leaves, and what is left is as it was measured.
edit() { # KIND
    local n=$((RANDOM % lines + 1)) m=$((RANDOM % (lines - 1) + 1)) at=$RANDOM
    [ "$m" -lt "$n" ] || m=$((m + 1))
    awk -v kind="$1" -v n="$n" -v m="$m" -v at="$at" -v last="$lines" '
        { line[NR] = $0 }
        END {
            if (kind == "delete" && n == last) n--
            for (i = 1; i <= NR; i++) {
                s = line[i]
                if (i == n && kind == "delete") continue
                if (kind == "swap") s = line[i == n ? m : i == m ? n : i]
                if (i == n && kind == "digit") {
                    digits = gsub(/[0-9]/, "&", s); k = at % digits + 1
                    for (c = 1; c <= length(s); c++)
                        if (substr(s, c, 1) ~ /[0-9]/ && !--k)
                            s = substr(s, 1, c - 1) (substr(s, c, 1) + 1) % 10 substr(s, c + 1)
                }
                if (i == n && kind == "blank") sub(/,/, ", ", s)
                print s
                if (i == n && kind == "double") print s
                if (i == n && kind == "eightfold") for (c = 1; c < 8; c++) print s
                if (i == m && kind == "copy") print line[n]
            }
        }' ../measured.jsonl
}

# What reads recordings. Each is to exit with 1 and name the edited file.
readers=(check show reduce compare resume)
read_by() { # VERB
    case $1 in
    check) "$gradsync" check "$run_dir/launch-01.01.jsonl" ;;
    reduce) "$gradsync" query data/raw --export csv ;;
    compare) "$gradsync" compare data/raw ;;
    *) "$gradsync" "$1" "$run_dir" ;;
    esac
}
cp -r whole edited && cd edited || exit
accepted=()
for ((i = 0; i < edits; i++)); do
    kinds=(delete double swap digit eightfold copy blank)
    kind=${kinds[i % ${#kinds[@]}]}
    edit "$kind" >"$run_dir/launch-01.01.jsonl"
    for verb in "${readers[@]}"; do
        run read_by "$verb"
        [ "$rc" = 1 ] && [[ $err == *launch-01.01.jsonl:* ]] || accepted+=("$verb/$kind/$i:$rc")
    done
done
reads=$((edits * ${#readers[@]}))
diag "$edits edits of a recording of $lines lines, read by ${#readers[@]} verbs:" \
    "$((reads - ${#accepted[@]})) of $reads refused"
is "${accepted[*]:0:9}" '' 'every reader refuses every edit'
is "$(find . -name MANIFEST.json)" '' 'no manifest vouches for an edited recording'

cp ../measured.jsonl "$run_dir/launch-01.01.jsonl"
ok 'the lines as they were measured are shown' "$gradsync" show "$run_dir"
sed -i 's/"label": ""/"label": "x"/' "$run_dir/plan.json"
exits 1 'resume refuses an edited plan' "$gradsync" resume "$run_dir"
like "$err" 'launch-01\.01\.jsonl:1: foreign: recorded with another plan\.json'
cp "../whole/$run_dir/plan.json" "$run_dir/"
sed '$d' ../measured.jsonl >"$run_dir/launch-01.01.jsonl"
ok 'a recording without its last line is accepted, as a kill may leave it' "$gradsync" check \
    "$run_dir/launch-01.01.jsonl"

# Recordings of version 0.1: they have no digest, and their order and counts alone are checked.
for f in "$run_dir"/launch-*.jsonl; do sed -i '$s/,"sha256":"[0-9a-f]*"//; 1s/"gradsync":"[^"]*"/"gradsync":"0.1.0"/' "$f"; done
exits 0 'a run that an older gradsync began is completed' "$gradsync" resume "$run_dir"
chmod u+w "$run_dir"/*
rm "$run_dir/MANIFEST.json"
sed -i '0,/"type":"block"/{/"type":"block"/{p;p;p;p;p;p;p}}' "$run_dir/launch-01.01.jsonl"
refused=()
for verb in "${readers[@]}"; do
    run read_by "$verb"
    [ "$rc" = 1 ] && [[ $err == *'launch-01.01.jsonl:'*'comes after block'* ]] && refused+=("$verb")
done
is "${refused[*]}" "${readers[*]}" \
    'a block eight times in an older recording is refused by every reader'

# What tune kept of its jobs: one that was altered, or is none, is named, and the others are answered.
mkdir -p jobs/data/raw && cp -r "$top/data/raw/h200-2gpu-nvlink" jobs/data/raw && chmod -R u+w jobs && cd jobs || exit
exits 0 'jobs of tune are compared' "$gradsync" compare h200-2gpu-nvlink
sound=$out jobs=(data/raw/*/train/*-tune-*)
sed -i 's/"step_s": /&1/' "${jobs[0]}/tune.json"
fails 1 "${jobs[0]}/tune.json: edited since the run was completed" "$gradsync" compare h200-2gpu-nvlink
is "$(grep -c '^Of: ' <<<"$out"),$(grep -c tune.json <<<"$err")" "$(($(grep -c '^Of: ' <<<"$sound") - 1)),1" 'one line names it'
chmod u+w "${jobs[0]}" && rm "${jobs[0]}/MANIFEST.json" && echo '{"command": ["x"]}' >"${jobs[0]}/tune.json"
fails 1 'tune.json: damaged: it has no platform; restore the file' "$gradsync" compare h200-2gpu-nvlink
like "$out" $'\nOf: ' 'the other jobs have their answer'
done_testing
