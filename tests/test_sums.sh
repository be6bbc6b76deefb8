#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mk/sums.sh: data/SHA256SUMS lists every committed recording, and a recording that differs from its
# entry is found. Each check here finds what the other checks of `make verify` cannot find.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"
command -v git >/dev/null || skip_all 'no git here'

run_dir=data/raw/p/null/r1
sums=data/SHA256SUMS
add() { bash "$top/mk/sums.sh" --add "$gradsync"; }
verify() { bash "$top/mk/sums.sh" --check "$gradsync"; }
fresh() { # a repository with one finished recording, entered and committed
    cd "$tmp" && rm -rf checkout && mkdir checkout && cd checkout || exit 1
    whole_run $run_dir
    manifest $run_dir
    git init -q . && add >/dev/null 2>&1 && git add -A
}

# ---- entering recordings

fresh
is "$(sed 's/^[0-9a-f]*  //' $sums | sort)" "$(find $run_dir -type f | sort)" \
    'every file of a finished recording is entered'
before=$(cat $sums)
ok 'entering twice succeeds' add
is "$(cat $sums)" "$before" 'a file is entered once'

whole_run data/raw/local/null/r3
manifest data/raw/local/null/r3
ok 'entering succeeds with a recording of local' add
is "$(cat $sums)" "$before" 'a recording of local is not entered'
whole_run data/raw/p/null/r2
add >/dev/null 2>&1
is "$(cat $sums)" "$before" 'a recording without a manifest is not entered'
git add data/raw/p
exits 1 'a committed recording without a manifest and without an entry fails' verify
ok 'a committed recording without a manifest is entered' add
ok 'after that, verify passes' verify
printf '%s\n' "$before" >$sums
manifest data/raw/p/null/r2
ok 'another finished recording is entered' add
entered() { grep -c r2 $sums; }
is "$(entered)" "$(find data/raw/p/null/r2 -type f | wc -l)" \
    'its files are added to the list'

fresh
before=$(cat $sums)
whole_run data/raw/p/null/r2
manifest data/raw/p/null/r2
echo x >>data/raw/p/null/r2/config.ini
exits 1 'a damaged recording cannot be entered' add
is "$(cat $sums)" "$before" 'a damaged recording adds no line'

# ---- verifying

fresh
prints "the $(wc -l <$sums) files in $sums" verify

sed -i 's/10GB/99GB/' $run_dir/config.ini
sha=$(sha256sum <$run_dir/config.ini | cut -d' ' -f1)
sed -i "s/\"config_sha256\": \"[0-9a-f]*\"/\"config_sha256\": \"$sha\"/" $run_dir/plan.json
manifest $run_dir
ok 'an edited recording with a new manifest is sound in itself' "$gradsync" check data/raw
exits 1 'an edited recording with a new manifest fails' verify
like "$out" "$run_dir/config.ini: FAILED" 'the edited file is named'
like "$err" "git checkout" 'the error says what to do'
unlike "$out" 'recording is sound' 'no line says that all is well'
add >/dev/null 2>&1
exits 1 'entering recordings does not accept an edited one' verify

fresh
rm -r $run_dir
fails 1 "$run_dir/config.ini" verify

fresh
sed -i '/config.ini/d' $sums
fails 1 "$run_dir/config.ini: committed but not in $sums; 'make sums' enters it" verify

fresh
whole_run data/raw/local/null/r3
manifest data/raw/local/null/r3
echo x >>data/raw/local/null/r3/config.ini
fails 1 'local/null/r3/config.ini: edited' verify

cd "$tmp" && mkdir nothing && cd nothing || exit
exits 0 'a folder without recordings passes' verify
is "$err" '' 'nothing is missed there'

# ---- this tree

is "$(comm -23 <(git -C "$top" ls-files data/raw | LC_ALL=C sort) \
    <(sed 's/^[0-9a-f]*  //' "$top/$sums" | LC_ALL=C sort))" '' \
    'every recording of this tree is entered (else: make sums)'

no_orphans 'no process is left running'
done_testing
