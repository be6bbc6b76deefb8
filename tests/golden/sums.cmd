# Not under ASan: scripts.
# Needs git
# mk/sums.sh: data/SHA256SUMS lists every committed recording, and one that differs from its entry is found. Each check
# here finds what the other checks of `make verify` cannot find.
run_dir=data/raw/p/null/r1 sums=data/SHA256SUMS
add() { bash $top/mk/sums.sh --add $gradsync; }
verify() { bash $top/mk/sums.sh --check $gradsync; }
entered() { sed 's/^[0-9a-f]*  //' $sums; }
finished() { whole_run "$1" && manifest "$1"; }
fresh() { # a repository with one finished recording, entered and committed
    rm -rf data .git && finished $run_dir && git init -q . 2>/dev/null && add >/dev/null 2>&1 && git add -A
}

# ---- entering: every file of a finished recording, once
fresh
$ entered
cp $sums before
$ add && cmp before $sums
# Neither a recording of local nor one without a manifest is entered, unless it is committed.
finished data/raw/local/null/r3
whole_run data/raw/p/null/r2
$ add && cmp before $sums
git add data/raw/p
$ verify
$ add && verify
cp before $sums && manifest data/raw/p/null/r2
$ add && entered | grep -c r2
# A damaged recording adds no line.
fresh && cp $sums before && finished data/raw/p/null/r2 && echo x >>data/raw/p/null/r2/config.ini
$ add
$ cmp before $sums

# ---- verifying: what was edited is named, though it is sound in itself; entering does not accept it
fresh
$ verify
sed -i 's/10GB/99GB/' $run_dir/config.ini
sha=$(sha256sum <$run_dir/config.ini | cut -d' ' -f1)
sed -i "s/\"config_sha256\": \"[0-9a-f]*\"/\"config_sha256\": \"$sha\"/" $run_dir/plan.json
manifest $run_dir
$ gradsync check data/raw
$ verify
$ add >said 2>&1
$ verify >said
fresh && rm -r $run_dir
$ verify 2>&1 >said | sed -n 1p
fresh && sed -i '/config.ini/d' $sums
$ verify
fresh && finished data/raw/local/null/r3 && echo x >>data/raw/local/null/r3/config.ini
$ verify
mkdir nothing && cd nothing
$ verify
# Every recording of this tree is entered (else: make sums).
$ comm -23 <(git -C $top ls-files data/raw | LC_ALL=C sort) <(sed 's/^[0-9a-f]*  //' $top/data/SHA256SUMS | LC_ALL=C sort)
