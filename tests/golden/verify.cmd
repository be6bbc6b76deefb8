# Not under ASan: what is read is fuzzed with it.
# An edited, truncated, missing or foreign recording is found and named, by the manifest and, where that was made to
# fit, by what the recording itself says. tests/unit/test_manifest.c has every fault of a manifest.
run_dir=data/p/null/r1
first=$(recording $run_dir 1 1) second=$(recording $run_dir 2 1)
fresh() { rm -rf data && whole_run $run_dir && manifest $run_dir; }
fresh
$ gradsync check data
$ gradsync check $run_dir && gradsync check $first && gradsync check $first $second data
$ (cd $run_dir && gradsync check . && gradsync check launch-01.01.jsonl)

# ---- files that gradsync did not write
echo '{"train_batch_size": 8}' | tee ds.json >foreign.jsonl
$ gradsync check ds.json
$ gradsync check foreign.jsonl
: >nothing && : >nothing.jsonl && mkdir empty
$ gradsync check nothing
$ gradsync check nothing.jsonl
$ gradsync check nowhere
$ gradsync check empty
$ gradsync show empty
$ gradsync check
# No message tells a user to remove a folder.
$ grep -rhoE '"[^"]*(remove|delete) (its|the) (run )?folder' $top/runner $top/plugins --include='*.[ch]'

# ---- against the manifest, and the recording against itself
faulty() { fresh && "$@"; gradsync check data; } # COMMAND that damages it
edit() { sed -i "$1" $first; }
refit() { sed -i "$1" $first && manifest $run_dir; }
$ faulty edit 's/"time_ns":\[1/"time_ns":[2/'
$ gradsync check $first
$ faulty rm $first
$ faulty rm $run_dir/MANIFEST.json
$ for schema in 0 2; do faulty sed -i "s/\"schema\": *1\\b/\"schema\": $schema/" $run_dir/MANIFEST.json; done
$ faulty mv $run_dir data/p/null/r2
$ faulty eval 'mv $first $(recording $run_dir 9 1) && manifest $run_dir'
$ faulty refit '5s/\[.*\]/[]/'
fresh && rm $run_dir/plan.json
$ gradsync check $first
# All faults at once, twenty of a file.
$ faulty eval "refit '5s/\\[.*\\]/[]/; 6s/\"iters\":10,//; 8s/^/x/'; sed -i '5s/,10100/,0/' $second; manifest $run_dir"
fresh && for n in 1 2; do sed 1d $second; done >>$first && refit '2,$s/^{/[/'
$ gradsync check data 2>&1 | tail -n 2
# A torn last line is no fault.
fresh && printf '{"type":"block"' >>$second && manifest $run_dir
$ gradsync check $second

# ---- a run without its manifest, in a folder whose name needs quotes, and without its plan
fresh && rm $run_dir/MANIFEST.json && cp -r $run_dir 'a b'
$ gradsync show $run_dir
$ gradsync show 'a b' >shown
$ gradsync check 'a b'
$ gradsync show $run_dir >/dev/full
rm $run_dir/plan.json
$ gradsync show $run_dir

# ---- make verify
sums() { bash $top/mk/sums.sh "$1" $gradsync; }
rm -rf data && whole_run data/raw/p/null/r1 && manifest data/raw/p/null/r1 && whole_run data/raw/p/null/r2
$ sums --add && cut -d/ -f5 data/SHA256SUMS | sort -u
$ sums --check
# An unfinished run that was entered is not told of, and one whose manifest was lost is not called harmless.
cp data/SHA256SUMS kept && sha256sum data/raw/p/null/r2/launch-01.01.jsonl >>data/SHA256SUMS
$ sums --check
mv kept data/SHA256SUMS && mv data/raw/p/null/r1/MANIFEST.json kept
$ sums --check
mv kept data/raw/p/null/r1/MANIFEST.json && sed -i '5s/,10100/,0/' data/raw/p/null/r2/launch-01.01.jsonl
$ sums --check
