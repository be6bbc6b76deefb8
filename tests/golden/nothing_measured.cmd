# Not under ASan: what is read is fuzzed with it.
# A later run in which nothing was measured, as on a machine without the GPUs, does not stand in for an earlier one: not
# in show, not in the figures, not in the report.
old=raw/p/null/20250101T000000Z-aaaa new=raw/p/null/20250202T000000Z-bbbb
whole_run $old && new_run $new && header $new 1 1
for id in $A $B $C $S; do
    line $new 1 1 '{"type":"fail","cell":"'"$id"'","copy":0,"kind":"skip","why":"no GPU","rank":0,"host":"h","phase":"prepare"}'
done
for group in $G $H; do line $new 1 1 '{"type":"group","group":"'"$group"'","blocks":0,"cells":[]}'; done
line $new 1 1 '{"type":"end","at":2.5,"status":"complete"}'
$ gradsync show raw
$ gradsync show $new
stored() { # OUT RUN…: the data of the figures of these runs
    rm -rf data figures && mkdir -p data/raw/p/null && cp -r "${@:2}" data/raw/p/null && cp -r $top/figures figures && ln -sf /bin/true figures/plot
    gradsync query -q --export data/csv && GRADSYNC=$gradsync figures/draw panels p null && cp -r data/csv/drawn/panels/p/null $1
}
stored before $old && stored after $old $new
$ diff -r before after && wc -l <before/list
# A run that has only begun has a table of contrasts with its header.
mkdir -p begun/p/null/20250303T000000Z-cccc && : >begun/p/null/20250303T000000Z-cccc/launch-01.01.jsonl
$ gradsync query -q begun/p/null/20250303T000000Z-cccc --export begun.csv && wc -l <begun.csv/compare.csv

# ---- other programs that disturbed a launch: it is left out, but half of the launches are kept
hosts='"hosts":[{"rank":0,"host":"h","cores":2},{"rank":1,"host":"h","cores":2}]'
loaded() { # NAME READING…: the reading of rank 0 in each launch
    local dir=data/$1/p/null/20250101T000000Z-aaaa f
    whole_run "$dir"
    sed -i 's/"launches": 2/"launches": 3/' "$dir/plan.json"
    sed 's/"launch":2/"launch":3/' "$dir/launch-02.01.jsonl" >"$dir/launch-03.01.jsonl"
    for f in "$dir"/launch-*.jsonl; do
        shift
        sed -i "1s/\"nodes\":1/\"nodes\":1,$hosts/" "$f"
        sed -i "\$i {\"type\":\"health\",\"group\":\"$G\",\"block\":2,\"before\":{},\"after\":{\"0\":{$1},\"1\":{\"own_cores\":0.3}}}" "$f"
    done
    gradsync show "$dir"
}
idle='"load1":1,"busy_cores":0.7,"own_cores":0.3' busy='"load1":3,"busy_cores":2.0,"own_cores":0.3'
alone='"gpu":{"others":0}' beside='"gpu":{"others":1}'
$ loaded one "$idle" "$busy" "$idle"
$ loaded two "$busy" "$busy" "$idle"
$ loaded gpu "$idle,$alone" "$idle,$alone" "$idle,$beside"
# The recording that led to this rule.
$ gradsync compare --all $top/data/raw/h200-2gpu-steps/iter_proxy/20261123T031706Z-ddp-72f2 | grep -o 'launch 1 left out.*\|^[0-9]* contrasts.*' | sort | uniq -c
