# Not under ASan: what is read is fuzzed with it.
# gradsync query --export: recordings that are written by hand here become the tables that are expected.
# rows DIR COLUMN…: of summary.csv, in the order of the plan
rows() { csv "$1/summary.csv" 1 cell_id "${@:2}" | sed "s/^$A/A/; s/^$B/B/; s/^$C/C/; s/^$S/S/"; }
failed() { # DIR LAUNCH ATTEMPT CELL KIND WHY
    line "$1" "$2" "$3" '{"type":"fail","cell":"'"$4"'","copy":0,"kind":"'"$5"'","why":"'"$6"'","rank":1,"host":"h","phase":"verify"}'
}

# ---- the tables of a whole run
whole_run raw/p/null/r1
$ gradsync query raw --export csv
$ sed -n '1~3p' csv/samples.csv | head -n 6
$ cat csv/summary.csv
$ cat csv/metrics.csv csv/iteration.csv
# A limit is known of the hardware: that of the platform's config today holds for every table.
mkdir configs && printf '[limits]\nbusbw = 20GB/s\n' >configs/p.ini
$ gradsync query -q raw --export today && rows today limit_Bps limit_fraction median_s
printf '[limits]\nmemory = 1TB/s\n' >configs/p.ini
$ gradsync query -q raw --export today && rows today limit_Bps limit_fraction median_s
rm -r configs

# ---- the same bytes: again, in a German locale, and from a store that took runs one after another or lost one
cp -r csv first
$ gradsync query raw --export csv && diff -r first csv
mkdir locale
$ (cd locale && env LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 $gradsync query ../raw --export csv) && diff -r first locale/csv
cp -r raw one && mkdir -p kept/data && whole_run raw/p/null/r9
sed -i 's/"platform":"p"/"platform":"a-b"/' raw/p/null/r9/launch-0?.01.jsonl
$ gradsync query raw --export both
$ csv both/summary.csv 1 run_id platform config | uniq
$ gradsync query raw raw --export twice
cp -r raw kept/data/raw
kept() { (cd kept && rm -rf csv && gradsync query -q --export csv); }
kept
mv kept/data/raw/p/null/r9 kept
$ kept && diff -r first kept/csv
mv kept/r9 kept/data/raw/p/null/ && mv kept/data/raw/p/null/r1 kept
gradsync query -q raw/p/null/r9 --export other
$ kept && diff -r other kept/csv
mv kept/r1 kept/data/raw/p/null/
$ kept && diff -r both kept/csv

# ---- which blocks count: of the attempt that closed a group, then those of the latest, as not converged
two() { gradsync query -q two --export two.csv && rows two.csv median_s n converged status reason | sed 1q; }
new_run two/a 1
for attempt in 1 2 3; do
    header two/a 1 $attempt
    cell two/a 1 $attempt $G $A 0 a 8
    block two/a 1 $attempt $A 0 1 $((attempt == 2 ? 10000 : 40000 + 10000 * attempt))
    [ $attempt != 2 ] || closed two/a 1 2 $G $A true
done
$ two
sed -i '/"type":"group"/d' "$(recording two/a 1 2)"
$ two
failed two/a 1 3 $A wrong 'sum off'
$ two
# A cell that crashed in one launch counts with the other launch.
new_run died/a 2
for launch in 1 2; do
    header died/a $launch 1
    cell died/a $launch 1 $G $A 0 a 8
    block died/a $launch 1 $A 0 1 '10000'
    failed died/a $launch 1 $A crash SIGSEGV
    header died/a $launch 2
    cell died/a $launch 2 $G $B 0 b 8
    block died/a $launch 2 $B 0 1 '20000'
    [ $launch = 2 ] && cell died/a $launch 2 $G $A 0 a 8 && block died/a $launch 2 $A 0 1 '30000'
    closed died/a $launch 2 $G $B true
done
$ gradsync query died --export died.csv && rows died.csv median_s status reason
# A cell whose size is no traffic has no bandwidth; the last of several failures of one kind is the reason.
whole_run notraffic/r
sed -i 's/"busbw_factor":1.0/"busbw_factor":0.0/' notraffic/r/launch-*.jsonl
sed -i '/"type":"end"/d' notraffic/r/launch-02.01.jsonl
for why in first last; do failed notraffic/r 2 1 $S skip $why; done
$ gradsync query notraffic --export notraffic.csv && rows notraffic.csv median_s algbw_Bps busbw_Bps reason

# ---- warm-up is left out, of other metrics as well; a slow first level is taken for it
warm() { # DIR TIME…: a launch of a block for each
    local n=0 time
    new_run "$1" 1 && header "$1" 1 1 && cell "$1" 1 1 $G $A 0 a 8
    for time in "${@:2}"; do block "$1" 1 1 $A 0 $((++n)) "$time"; done
    closed "$1" 1 1 $G $A true
}
level() { for n in $(seq "$1" "$2"); do echo $((10000 + n % 3)); done; }
warms() { gradsync query -q "$1" --export "$1.csv" && rows "$1.csv" warmup_blocks blocks n converged median_s ci_low_s skew_s note | sed 1q && tail -n 1 "$1.csv/metrics.csv"; }
warm warm/w 50000 50000 $(for n in {3..12}; do echo $((10000 + n * 5 % 9)); done)
$ warms warm
# Two blocks are no level; more than a fifth of the values are, and nothing is dropped.
warm starts/w 500000 500000 $(level 3 30)
$ warms starts
warm change/w $(for n in {1..13}; do echo 50000; done) $(level 14 30)
for n in {1..30}; do # the skew of a warm block is its number
    echo "s/\"block\":$n,\\(.*\"skew_ns\":\\)30/\"block\":$n,\\1$((n < 14 ? 90 : n))/"
done | sed -i -f - "$(recording change/w 1 1)"
$ warms change
$ cat change.csv/launches.csv
$ gradsync show change

# ---- convergence: the interval of the row against `precision`, whatever a launch recorded
wide() { # DIR SECOND: two launches, the second at SECOND ns
    new_run "$1" 2
    for launch in 1 2; do
        header "$1" $launch 1
        cell "$1" $launch 1 $G $A 0 a 8
        for n in 1 2 3; do block "$1" $launch 1 $A 0 $n $((launch == 1 ? 100000 : $2)); done
        closed "$1" $launch 1 $G $A true
    done
}
wide wide/w 104000
$ gradsync query -q wide --export wide.csv && rows wide.csv converged | sed -n 1p
printf '[measure]\nprecision = 5%%\n' >>wide/w/config.ini
sed -i "s/\"config_sha256\": \"[0-9a-f]*/\"config_sha256\": \"$(sha256sum <wide/w/config.ini | cut -d' ' -f1)/" wide/w/plan.json
$ gradsync query -q wide --export wide.csv && rows wide.csv converged | sed -n 1p

# ---- clocks that are held down, and a steady state of few operations
health() { # LAUNCH BLOCK REASONS
    line held/w "$1" 1 '{"type":"health","group":"'$G'","block":'"$2"',"before":{"0":{"load1":1,"gpu":{"throttle":['"$3"']}},"1":{"load1":1}},"after":{"0":{"gpu":{"throttle":["power_cap"]}}}}'
}
wide held/w 100000
sed -i '/"type":"group"/d; s/"params":{/"params":{"metric":"T_ss",/' held/w/launch-0?.01.jsonl
for launch in 1 2; do
    health $launch 1 '"power_cap"'
    health $launch 2 '"idle"'
    closed held/w $launch 1 $G $A true
done
held() { gradsync query -q held --export held.csv && rows held.csv iterations throttled algbw_Bps busbw_Bps note | sed -n 1p; }
$ held
# The smallest number of iterations of any timed sample; the bus bandwidth has the factor of the collective.
sed -i '/"type":"block"/s/"iters":10/"iters":20/' held/w/launch-02.01.jsonl
$ held
sed -i -E 's/("busbw_factor": ?)1[.0]*/\11.5/' held/w/plan.json held/w/launch-0?.01.jsonl
$ held

# ---- steps, imported without a plan
step() { # DIR LAUNCH CELL CONFIG MODE
    line "$1" "$2" 1 '{"type":"cell","cell":"'"$3"'","group":"'$G'","copy":0,"config":"'"$4"'","mode":"'"$5"'","params":{"size":"1024"},"size_B":1024,"busbw_factor":0.0,"iters":1,"metrics":[],"baseline":false}'
}
visit() { # DIR LAUNCH CELL BLOCK TIMES
    line "$1" "$2" 1 '{"type":"block","cell":"'"$3"'","copy":0,"block":'"$4"',"iters":1,"skew_ns":0,"metrics":{},"time_ns":['"$5"']}'
}
# iterations DIR: the rows of iteration.csv, numbers with six digits
iterations() {
    gradsync query -q "$1" --export "$1.csv" && awk -F, 'NR > 1 { for (i = 1; i <= NF; i++) printf "%s%s",
        $i ~ /[.]/ ? sprintf("%.6g", $i) : $i, i < NF ? "," : "\n" }' "$1.csv/iteration.csv"
}
mkdir -p steps/s
for launch in 1 2; do
    header steps/s $launch 1
    step steps/s $launch c0 '' compute
    step steps/s $launch b1 ring/LL comm
    step steps/s $launch s1 ring/LL sequential
    step steps/s $launch o1 ring/LL overlapped
    for n in 1 2 3; do # clocks drift from block to block: what is inside one block does not mind
        visit steps/s $launch c0 $n $((10000000 * n))
        visit steps/s $launch b1 $n 4000000
        visit steps/s $launch s1 $n $((10000000 * n + 4000000))
        visit steps/s $launch o1 $n $((10000000 * n + 1000000)),$((10000000 * n + 1000000))
    done
    closed steps/s $launch 1 $G o1 true
done
# Another attempt, which closed no group: none of its blocks counts.
sed '/"type":"group"/d; 1s/"attempt":1/"attempt":2/; s/"time_ns":\[/&9/' "$(recording steps/s 1 1)" >"$(recording steps/s 1 2)"
# A = 10, 20, 30 ms, B = 4 ms, C = A + B, D = A + 1 ms: exposed 1 ms, hidden 3 ms, overlap (C - D) / B = 0.75
$ iterations steps && head -n 1 steps.csv/iteration.csv
# The second copy of compute is no part of a step, and no step is decomposed with the modes of another config.
cp -r steps twice && sed -i '/"cell":"c0"/{ p; s/"copy":0/"copy":1/; s/"time_ns":\[/&9/ }' twice/s/*.jsonl
$ iterations twice && diff steps.csv/iteration.csv twice.csv/iteration.csv
cp -r steps lone && sed -i '/"config":"ring\/LL"/{ p; s/"cell":"./&_/; s,ring/LL,tree/LL, }' lone/s/*.jsonl
sed -i '/"block","cell":"o1"/{ p; s/"cell":"./&_/ }; /"cell":"[bs]_1"/d' lone/s/*.jsonl
$ iterations lone && csv lone.csv/summary.csv 1 cell_id config mode status
# B = 50 us, 0.3% of A: what C - D is of it is noise.
cp -r steps little && sed -i '/"cell":"b1"/s/\[4000000\]/[50000]/' little/s/*.jsonl
$ iterations little
# A step is decomposed in the blocks where every mode is warm.
mkdir -p warming/s && header warming/s 1 1
for mode in compute comm sequential overlapped; do step warming/s 1 "$mode" a $mode; done
for n in {1..12}; do
    for mode in compute comm sequential overlapped; do
        time=$((10000000 + n * 5 % 9))
        [ $mode = compute ] && [ $n -le 2 ] && time=50000000
        visit warming/s 1 $mode $n $time
    done
done
$ iterations warming

# ---- damage: the tables stay as they were
whole_run torn/r
printf '{"type":"block","cell":"%s","copy":0,"blo' $C >>"$(recording torn/r 2 1)"
$ gradsync query torn --export torn.csv
# An attempt that was killed before its first line adds nothing.
: >"$(recording torn/r 2 2)"
$ gradsync query -q torn --export torn.csv && diff <(sed s/r1/r/ first/summary.csv) torn.csv/summary.csv
damage() { # SED
    rm -rf bad bad.csv before && whole_run bad/r && gradsync query -q bad --export bad.csv && cp -r bad.csv before
    sed -i "$1" "$(recording bad/r 2 1)"
    gradsync query bad --export bad.csv
    echo "$? $(diff -r before bad.csv)"
}
$ damage '5s/^/x/'
$ damage '5s/\[/[x/'
$ damage '5d;1d'
$ damage '5s/"iters":10/"iters":0/'
$ damage '5s/'$A'/'$C'/'
$ damage '1s/"schema":1/"schema":2/'
$ damage '2s/'$G'/cccccccccccccccc/'
$ damage '1s/"run_id":"r"/"run_id":"q"/'
$ damage '1s/"workload":"null"/"workload":"other"/'
rm -rf bad && whole_run bad/r && manifest bad/r
$ gradsync query bad --export bad.csv
sed -i 's/10100,/10101,/' "$(recording bad/r 1 1)"
$ gradsync query bad --export bad.csv
# Both damaged runs are named, listed and left out if they may be.
rm -rf bad && whole_run bad/r && whole_run bad/s && sed -i 5s/^/x/ bad/?/launch-01.01.jsonl
$ gradsync query bad --export bad.csv
whole_run bad/t
$ gradsync query -q bad --export sound.csv --damaged list
$ cat list && csv sound.csv/summary.csv 1 run_id | uniq
mkdir empty && : >file
$ gradsync query empty --export none.csv
$ gradsync query nowhere --export none.csv
$ gradsync query raw --export file/csv
# A limit on the size of a file stands in for a full disk: it fails in the same place.
$ (ulimit -f 1; trap '' XFSZ; gradsync query raw --export limited) 2>&1 | sed 's|limited/[^:]*|FILE|'
$ find . -name '.*.csv*' -o -path './limited/*.csv'
