# Not under ASan: what is read is fuzzed with it.
# The times of gradsync model beside published and measured ones. tests/test_model.sh has what it knows of wan_sync.
plan=$top/configs/wan-4site.ini
# Its links need hosts, and a device is left alone.
$ gradsync links -o links.data $plan
$ ls links.data
ln -s /dev/null device
$ gradsync model -q $plan --csv device
$ readlink device

# ---- published (Douillard et al. 2025, Table 4): each rate is met within a step of its grid, a factor of 1.21
$ for parameters in 1e9 1e10; do bash $top/mk/wan-needed.sh $gradsync $parameters | awk -F, '$2 == "model" { model[$1, $3] = $4 } $2 == "published" { r = model[$1, $3] / $4; n++; bad += !(r < 1.21 && r > 1 / 1.21) } END { print n, bad + 0 }'; done

# ---- measured: the error of each network and of all, beside the spread of the recording
cat >wan.csv <<'END'
run,platform,run_id,loss,config,size_B,sync_s,sync_ci_low_s,sync_ci_high_s,model_sync_s,label,strategy,transport,every,overlap,fragments,ranks,sites
1,a,1,0.0,ring,8,9.0,8.0,10.0,0.9
2,a,2,0.0,ring,8,1.0,0.95,1.05,0.9
2,a,2,0.0,"ring, odd",8,1.0,0.98,1.02,1.04
2,a,2,0.0,direct,8,2.0,2.0,2.0,2.0
3,b,1,0.001,ring,8,1.0,0.5,1.6,1.5
3,b,1,0.001,strategy=mpi,8,1.0,0.9,1.1,
END
sed -i '2,$s/$/,,ring,tcp,1,0,1,4,4/' wan.csv
printf '%s\n' run,sort 2,2 3,3 >stamp.csv && cut -d, -f1 stamp.csv >standing.csv
$ gradsync query -q --format csv --table wan.csv --table stamp.csv --table standing.csv -- "$(cat $top/figures/wan_{cells,errors}.sql)"

# ---- recordings before the smallest block was halved: each of 6 exchanges forwards 16 KiB, 1.3 ms. The version of
# wan_sync decides, not the time. The model in per cent of the measurement:
predicted() {
    gradsync query -q "$1" --export "$1.csv" 2>/dev/null && gradsync query --format lines --table "$1.csv/wan.csv" \
        "SELECT CAST(round(100 * model_sync_s / sync_s) AS INTEGER) FROM wan WHERE config = 'ring' AND size_B = 65536"
}
mkdir -p old/wan-lab-100-10/wan_sync
cp -rL $top/data/raw/wan-lab-100-10/wan_sync/20261122T020813Z-662f old/wan-lab-100-10/wan_sync
cp -r old new && chmod -R u+w new && rm new/*/*/*/MANIFEST.json
sed -i 's/"plugin":"1.0.0"/"plugin":"1.1.0"/' new/*/*/*/launch-*.jsonl
$ predicted old
$ predicted new
