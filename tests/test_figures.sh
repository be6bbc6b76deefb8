#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From recordings to figures, in a checkout of its own whose path has spaces: real recordings in,
# the same bytes out however often and with however many jobs, and nothing done that need not be.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

command -v gnuplot >/dev/null || skip_all 'no gnuplot here'

tree="$tmp/a checkout with spaces"
mkdir -p "$tree/build"
(cd "$top" && tar cf - GNUmakefile mk figures/*.gp figures/*.sql figures/{draw,known,panel,panels} \
    runner plugins configs \
    gradsync.pc.in tests/unit tests/bench) | tar xf - -C "$tree"
(cd "$build" && tar cf - runner plugins ./*.a gradsync gradsync-rank commit.* deps.ok) | tar xf - \
    -C "$tree/build"
cd "$tree" || exit 1
# Of `make`, quiet but for what it does; the build is not what is tested here.
draw() { make --no-print-directory "${@:--j2}" BUILD=build drawn; }
bytes() { find data/csv figures/out -type f ! -name stamp -print0 | sort -z | xargs -0 sha256sum; }
times() { find data/csv figures/out -type f -printf '%T@ %p\n' | sort -k2; }

# The same two recordings of H200s, as of two platforms; nothing is measured here.
recorded() { # PLATFORM RUN
    local run
    run=data/raw/$1/$(basename "$(dirname "$2")")/$(basename "$2")
    mkdir -p "$run" && cp "$2"/*.ini "$2"/*.json* "$run" && chmod -R u+w "$run"
    sed -i "1s/\"platform\":\"[^\"]*\"/\"platform\":\"$1\"/" "$run"/launch-*.jsonl
    manifest "$run"
    chmod a-w "$run" "$run"/*
}
for platform in one two; do
    recorded $platform "$top/data/raw/h200-2x2-sock/nccl_allreduce/20261121T192435Z-3b5b"
    recorded $platform "$top/data/raw/h200-4gpu/iter_proxy/20261121T111537Z-backward-7c01"
    ok "the recordings of platform $platform are sound" ./build/gradsync check data/raw/$platform
done

exits 0 'make -j1 draws the figures' draw -j1
like "$out" 'REDUCE  data/raw' 'make says what it reduces'
unlike "$err" 'warning' 'gnuplot draws the figures without a warning'
for platform in one two; do
    for name in nccl_allreduce-{bandwidth,latency,ratios-forest,sizes-verdict_map} \
        iter_proxy-backward-size-16MiB-{by-ctas,decomposition,ecdf,ranks} \
        iter_proxy-backward-overlapped-{latency,ratios-forest,sizes-verdict_map} answer; do
        file=figures/out/$platform/$name
        drawn="$(head -c 5 "$file.svg" 2>/dev/null)"
        drawn+="$(tail -c +2 "$file.png" 2>/dev/null | head -c 3)"
        drawn+="$(head -c 5 "$file.pdf" 2>/dev/null)"
        is "$drawn" '<?xmlPNG%PDF-' "$platform/$name exists as SVG, PNG and PDF"
    done
done
is "$(find figures/out -type f | wc -l)" 108 \
    'no other files are drawn than these and the figures of the configs'
is "$(grep -c 'CreationDate (D:2000' figures/out/one/nccl_allreduce-latency.pdf)" 1 \
    'a PDF does not hold the time at which it was made'
like "$(<figures/out/one/iter_proxy-backward-size-16MiB-decomposition.svg)" \
    'parts and time are separate medians: parts need not add up' 'the figure says why parts need not end at the time'
like "$(<figures/out/one/iter_proxy-backward-size-16MiB-ecdf.svg)" \
    'share of all samples; marks: their median and p95' 'a distribution says whose median it marks'
for table in samples summary iteration compare; do
    ok "data/csv/$table.csv has rows" test "$(wc -l <data/csv/$table.csv)" -gt 1
done
first=$(bytes)

before=$(times)
exits 0 'a second run succeeds' draw
is "$out$err" '' 'a second run prints nothing'
is "$(times)" "$before" 'a second run touches no file'

rm -rf data/csv figures/out
exits 0 'make -j8 draws everything anew' draw -j8
is "$(bytes)" "$first" '-j8 writes the same bytes as -j1'

# ---- tables that were deleted or emptied

rm data/csv/compare.csv data/csv/iteration.csv
: >data/csv/summary.csv
exits 0 'drawing succeeds after tables were lost' draw
is "$(find data/csv/{compare,summary,iteration}.csv -size +0 | wc -l)" 3 \
    'tables that were deleted or emptied are made again'
is "$(bytes)" "$first" 'and the figures are the same'

# ---- one recording's cone

edited_cell=$(grep -m 1 -o '"type":"block","cell":"[0-9a-f]*"' \
    data/raw/two/nccl_allreduce/*/launch-01.01.jsonl)
# The first sample of each block.
edit_a_cell() { sed -i "/$edited_cell/s/\"time_ns\":\[/&9/" "$recording"; }

recording=$(echo data/raw/two/nccl_allreduce/*/launch-01.01.jsonl)
chmod -R u+w data/raw/two
touch "$recording"
exits 0 'drawing succeeds after a recording is touched' draw
like "$out" 'REDUCE  data/raw' 'the recordings are reduced'
is "$(grep -c . <<<"$out")" 1 'unchanged tables draw nothing'
draw -j2 >/dev/null

cp "$recording" "$tmp/sound"
edit_a_cell
fails 2 'launch-01.01.jsonl: edited since' draw
like "$err" "${recording%/*}: left out of tables and figures"
is "$(cut -d, -f2,3 data/csv/summary.csv | sort -u | tr '\n' ' ')" \
    'one,iter_proxy one,nccl_allreduce platform,workload two,iter_proxy ' \
    'the tables have no row of the edited recording'
is "$(find figures/out/two -name '*.svg' | sed 's,.*/,,; s/-.*//' | sort | uniq -c | xargs)" \
    '1 answer.svg 11 iter_proxy' \
    'the figures of the sound recording are drawn'
unlike "$err" 'No rule to make' 'make does not add an error of its own'
exits 2 'the next run fails too' draw
mv "$tmp/sound" "$recording"
exits 0 'drawing succeeds when the recording is restored' draw
is "$(bytes)" "$first" 'the restored recording gives the first bytes again'
edit_a_cell
rm "${recording%/*}/MANIFEST.json"
exits 0 'drawing succeeds after one cell has other samples' draw
is "$(grep -o 'FIGURE.*' <<<"$out" | sort)" 'FIGURE  figures/out/two/nccl_allreduce-bandwidth
FIGURE  figures/out/two/nccl_allreduce-latency
FIGURE  figures/out/two/nccl_allreduce-ratios-forest
FIGURE  figures/out/two/nccl_allreduce-sizes-verdict_map' \
    'only the four figures with this cell are drawn again'

touch figures/ecdf.gp
exits 0 'drawing succeeds after a gnuplot script is touched' draw
is "$(grep -o 'FIGURE.*' <<<"$out" | sort)" \
    'FIGURE  figures/out/one/iter_proxy-backward-size-16MiB-ecdf
FIGURE  figures/out/one/iter_proxy-backward-size-64MiB-ecdf
FIGURE  figures/out/two/iter_proxy-backward-size-16MiB-ecdf
FIGURE  figures/out/two/iter_proxy-backward-size-64MiB-ecdf' \
    'only the figures of this script are drawn again'

cp figures/ecdf.gp "$tmp/ecdf.gp"
echo 'this is no command' >figures/ecdf.gp
touch figures/bandwidth.gp
exits 2 'a figure that cannot be drawn is an error' draw -j1
is "$(grep -c 'FIGURE.*-ecdf$' <<<"$out") $(grep -c 'FIGURE.*-bandwidth$' <<<"$out")" '4 2' \
    'a figure that cannot be drawn does not stop the others'
cp "$tmp/ecdf.gp" figures/ecdf.gp
exits 0 'drawing succeeds when the script is restored' draw

mv data/raw/two "$tmp/two"
exits 0 'drawing succeeds after a platform is removed' draw
is "$(find figures/out -type f -path '*two*' | wc -l)$(grep -c ',two,' data/csv/summary.csv)" 00 \
    'a removed platform leaves no figure and no row'
mv "$tmp/two" data/raw/two
exits 0 'drawing succeeds after the platform is back' draw
is "$(find figures/out -type f | wc -l)" 108 'all figures are back'

# ---- some of the figures

figures_of() {
    make --no-print-directory -j2 BUILD=build drawn "$@" >/dev/null 2>&1 &&
        cd figures/out && ls -d ./*/*.svg
}
echo "0  data/raw/two/nccl_allreduce/$(basename data/raw/two/nccl_allreduce/*)/MANIFEST.json" \
    >data/SHA256SUMS
rm -r figures/out
is "$(figures_of ONLY=own | cut -d- -f1 | sort | uniq -c | xargs)" \
    "1 ./one/answer.svg 11 ./one/iter_proxy 4 ./one/nccl_allreduce \
1 ./two/answer.svg 11 ./two/iter_proxy" \
    'only recordings that are not part of the repository are drawn'
git init -q . && git add -f data/raw/two/iter_proxy && rm -r figures/out/two
is "$(figures_of ONLY=own | grep -c '^./two/')" 0 'nor recordings that git knows'
rm -rf .git && (figures_of ONLY=own >/dev/null)
is "$(figures_of ONLY=two CONFIGS=auto,ctas=8 | wc -l)" 28 'the figures of other platforms are kept'
is "$(grep -h '^array label' data/csv/panels/two/iter_proxy/*-overlapped.plot)" \
    "array label[2] = ['auto', 'ctas=8']" \
    'CONFIGS limits the configs in a figure'
is "$(cut -d, -f1-2 data/csv/summary.csv | sort -u | wc -l)" 5 'the tables have every recording'
before=$(bytes)
exits 2 'a config of CONFIGS that no recording has is an error' draw -j2 ONLY=two CONFIGS=auto,foo
like "$err" "^CONFIGS: no recording to draw has a config 'foo'; there are: auto, "
is "$(find figures/out -type f | sort)" "$(cut -c67- <<<"$before" | grep figures/out)" 'no figure is deleted'
(figures_of ONLY=two CONFIGS=auto,ring/LL128 >/dev/null)
blue() { cat figures/out/two/*latency.svg | grep -cE 'rgb\(0,114,178\)|#0072B2'; }
is "$(blue | grep -c '^[1-9]')" 1 'ring/LL128 is blue'
other='#111111 #222222 #333333 #444444 #555555 #666666 #777777 #888888'
is "$(figures_of ONLY=two CONFIGS=auto,ring/LL128 COLOURS="$other" | wc -l)|$(blue)" '30|0' \
    'COLOURS gives the configs other colours'
fails 2 "COLOURS='#12345': must be eight colours" env COLOURS='#12345' figures/draw latency x y
drawn=$(bash mk/drawn.sh data/csv/drawings "$gradsync")
like "$drawn" 'figures/out/two/answer.svg' '`make figures` prints the path of each figure'
is "$(grep -cE '^(Set|Change|Nothing|No advice) .* two[ (]' <<<"$drawn")" 1 \
    'one line says what to set'
like "$drawn" 'show the result: build/gradsync show data/raw/two/' \
    'the command that shows the run is named'
printf '%s\n' '[platform]' 'name = two' '[mpi_allreduce]' >configs/two-more.ini
fails 2 "^two-more: " make --no-print-directory BUILD=build drawn ONLY=two-more
rm configs/two-more.ini data/SHA256SUMS

# ---- what make figures does on top

mkdir -p data/raw/local/x/y && touch data/raw/local/x/y/MANIFEST.json
exits 0 'measure.sh succeeds if local was measured' bash mk/measure.sh /bin/echo
is "$out$err" '' 'a machine that was measured is not measured again'
rm -r data/raw/local
exits 0 'measure.sh succeeds if local was not measured' bash mk/measure.sh /bin/echo
is "$out" 'run configs/local.ini' 'a machine that was not measured is measured'
mkdir -p data/raw/local/x/y && touch data/raw/local/x/y/plan.json
exits 0 'measure.sh succeeds if a run was interrupted' bash mk/measure.sh /bin/echo
is "$out" 'resume data/raw/local/x/y' 'an interrupted run is completed'
exits 0 'a failed cell does not stop the figures' bash mk/measure.sh /bin/false
printf '#!/bin/sh\nexit 3\n' >cannot && chmod +x cannot
exits 3 'a machine that cannot measure stops them' bash mk/measure.sh ./cannot
rm -r data/raw/local

fails 2 "no target 'figurs', did you mean 'figures'" make --no-print-directory BUILD=build figurs
fails 2 "no variable 'PLATFROM', did you mean 'PLATFORM'" make --no-print-directory BUILD=build \
    PLATFROM=h200-4gpu report

# ---- what may be in a table

mkdir -p panel/part
columns='run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,median_s,'
columns+='ci_low_s,ci_high_s,busbw_Bps,limit_Bps,reason'
printf '%s\n' "$columns" \
    'r,p,w,,a,"x, ""y""",,2,1,8,size=8 dtype=f32,1e-6,1e-6,2e-6,8e6,,"one, two"' \
    'r,p,w,,b,"x, ""y""",,2,1,16,size=16 dtype=f32,1e-6,1e-6,2e-6,1.6e7,,' \
    'r,p,w,,c,"x, ""y""",,2,1,32,size=32 dtype=f32,2e-6,1e-6,2e-6,1.6e7,,' \
    'r,p,w,,d,"x, ""y""",,2,1,8,size=8 dtype=f64,3e-6,1e-6,2e-6,8e6,,' \
    'r,p,w,,e,z,,2,1,64,size=64 dtype=f32,,,,,,"crash, and no number"' \
    's,p,w,,a,"x, ""y""",,2,1,8,size=8 dtype=f32,5e-6,1e-6,2e-6,8e6,,' >panel/part/summary.csv
: >panel/part/iteration.csv
exits 0 'a table may have quotes, commas, axes and cells without a number' panels \
    panel/out p/w panel/part
is "$(cd panel/out && echo *)" 'figures.mk w-dtype-f32.plot' \
    'each value of an axis that has a curve gets a panel'
like "$(cat panel/out/w-dtype-f32.plot)" $'label\\[1\\] = \\[\'x, "y"\'\\]' \
    'a panel keeps quotes and commas of a name'
like "$(cat panel/out/w-dtype-f32.plot)" $'\n8 5e-06|\n8 5e-6' \
    'the last measurement of a cell counts'

# ---- a config that ran what the baseline ran is first in nothing and best of nothing, and switches
# are by what ran
mkdir -p same/part
compared='run_id,platform,workload,label,mode,size_B,params,baseline,config,launches,ratio,'
compared+='ratio_low,ratio_high,floor,verdict'
{
    sed 1q panel/part/summary.csv
    for size in 8 16 32; do
        for row in auto:2.0 twin:1.5 tree:3.0; do
            echo \
                "r,p,w,,${row%:*}$size,${row%:*},,2,1,$size,size=$size,${row#*:}e-6,1e-6,4e-6,8e6,,"
        done
    done
} >same/part/summary.csv
{
    echo "$compared"
    for size in 8 16 32; do
        echo "r,p,w,,,$size,size=$size,auto,twin,5,0.75,0.7,0.8,0.001,same operation"
        echo "r,p,w,,,$size,size=$size,auto,tree,5,1.5,1.4,1.6,0.001,slower"
    done
} >same/part/compare.csv
{
    printf 'platform,workload,label,config,mode,params,ranks,nodes,kind,size_B,from_B,to_B,change,'
    printf 'verdict,reason\n'
    echo 'p,w,,auto,,,2,1,switch,11,8,16,,recorded,RING/LL ctas=4 to RING/LL128 ctas=4'
    echo 'p,w,,auto,,,2,1,CTAs,22,16,32,,recorded,RING/LL128 ctas=4 to RING/LL128 ctas=8'
} >same/transitions.csv
: >same/part/iteration.csv
FEATURES=same/transitions.csv exits 0 'panels are made of one operation under two names' panels same/out p/w same/part
is "$(sed -n '/^\$curve/,/^EOD/p' same/out/w.plot | awk 'NF > 6 { print $8 }' | tr '\n' ' ')" \
    '1 1 1 0 0 0 0 0 0 ' 'the baseline is the best config, and its twin is not'
is "$(awk '/^\$curve/ { on = 1 } on && $1 == 8 { printf "%.4g %.4g %.4g,", $9, $10, $11 }' \
    same/out/w.plot)" \
    '1 0.999 1.001,0.75 0.7 0.8,1.5 1.4 1.6,' \
    'ratios to the baseline are those of the verdicts; its own interval is the A/A floor'
is "$(sed -n '/^\$map/,/^EOD/p' same/out/w-sizes.plot | awk '$2 == 1 { print $3 }' | tr '\n' ' ')" \
    '5 5 5 ' "the verdict 'same operation' has a value of its own in the map"
is "$(sed -n '/^\$marks/,/^EOD/p' same/out/w.plot | cut -d' ' -f1,4- | sed -n 2p)" \
    '11 1 "to LL128" 1' 'a switch is marked with what ran after it'
like "$(<same/out/w.plot)" $'\nmarks = 1\n' 'a change of CTAs alone is not marked'
for figure in latency bandwidth; do
    exits 0 "a curve with a single mark is drawn ($figure)" figures/draw $figure same/out/w.plot \
        "$tmp/single"
done
sed 's/p,w,,auto,,,2,1,switch,11,8,16/p,w,,tree,,,2,1,switch,11,8,16/' \
    same/transitions.csv >same/other.csv
FEATURES=same/other.csv exits 0 'panels are made with a mark beside the curve of the words' panels same/wordless p/w same/part
exits 0 'a mark without words is drawn' figures/draw latency same/wordless/w.plot "$tmp/wordless"
# A table of more parameters, as when another platform was recorded, has the same marks.
printf 'size_B,param_size,param_gemms\n4294967296,8,\n' >wide.csv
is "$("$gradsync" query --format lines --table wide.csv 'SELECT size_B, params FROM wide')" '4294967296 size=8' \
    'a parameter that a row does not have is not among its parameters, and a size over 2 GiB keeps its digits'
figures/draw verdict_map same/out/w-sizes.plot "$tmp/map" && figures/draw forest \
    same/out/w-ratios.plot "$tmp/forest"
sed "s/^n_sizes = .*/n_sizes = 6/; s/'twin'/'tree\/Simple'/; s/^array size.*/array size[6] = [2**18, 2**20, 2**22, 2**24, 2**26, 2**28]/" \
    same/out/w-sizes.plot >same/six.plot
ok 'a map of six sizes is drawn' figures/draw verdict_map same/six.plot "$tmp/six"
is "$(grep -oE '>(256 K|1 M|4 M|16 M|64 M|256 M)iB<' "$tmp/six.svg" | wc -l)" 6 'each size of a map has a label if there is room'
ok 'the map or the forest names the same operation' grep -q 'same operation' "$tmp/map.svg" \
    "$tmp/forest.svg"
{
    sed 1q panel/part/summary.csv
    for row in auto:2.50 twin:2.40 fast:2.45; do
        for mode in comm overlapped; do
            time=${row#*:}e-4
            name=${row%:*}
            echo "r,p,w,,$name$mode,$name,$mode,2,1,8,size=8 gemms=1,$time,2.3e-4,2.6e-4,8e6,,"
        done
    done
} >same/part/summary.csv
{
    echo "$compared"
    for mode in comm overlapped; do
        echo "r,p,w,,$mode,8,size=8 gemms=1,auto,twin,5,0.96,0.95,0.97,0.001,same operation"
        echo "r,p,w,,$mode,8,size=8 gemms=1,auto,fast,5,0.98,0.97,0.99,0.001,faster"
    done
} >same/part/compare.csv
{
    printf 'run_id,platform,workload,label,config,ranks,nodes,size_B,params,compute_s,comm_s,'
    printf 'sequential_s,overlapped_s,overlapped_ci_low_s,overlapped_ci_high_s,exposed_s,hidden_s\n'
    for row in auto:2.50 twin:2.40 fast:2.45; do
        time=${row#*:}e-4
        printf 'r,p,w,,%s,2,1,8,size=8 gemms=1,1e-4,' "${row%:*}"
        echo "$time,3e-4,$time,2.3e-4,2.6e-4,1.5e-4,0.5e-4"
    done
} >same/part/iteration.csv
echo 'run_id,cell_id,platform,workload,copy,time_s' >same/part/samples.csv
exits 0 'panels are made of a step with one operation under two names' panels \
    same/step p/w same/part
is "$(grep -hE '^(array (by|again)_time|first_time)' same/step/*.plot | sort -u)" \
    'array again_time[3] = [0, 1, 0]
array by_time[3] = [3, 1, 2]
first_time = 3' 'configs are in the order of their times, and a twin is never named first'
ok 'the figure of ranks is drawn with a twin' figures/draw ranks \
    "$(grep -l '^array again_time' same/step/*.plot | head -n 1)" "$tmp/ranks"
like "$(<"$tmp/ranks.svg")" 'same operation' 'the figure of ranks names the same operation'

sed -i '/,comm,.*,fast,/s/0.98,.*/1.02,1.01,1.03,0.001,slower/' same/part/compare.csv
exits 0 'panels are made of a config whose median and ratios disagree' panels \
    same/ratios p/w same/part
is "$(grep -h '^first_comm' same/ratios/*.plot)" 'first_comm = 1' \
    'the ratios in the same blocks decide which config is the fastest alone, as in the answer'

# ---- each kind of figure with one row, with no row, and with everything beyond the axes

is "$(grep -l 'with labels' figures/*.gp)" '' \
    'no script plots labels: gnuplot 5.4 crashes where the only row is NaN'
few() { # HEADER EDITS OUT: the tables of same/, with the lines that EDITS of sed leave
    mkdir -p "$3/part"
    for table in summary iteration compare samples; do sed "$2" same/part/$table.csv >"$3/part/$table.csv"; done
    : >"$3/transitions.csv"
    FEATURES=$3/transitions.csv panels "$3/out" p/w "$3/part"
}
drawn_all() { # OUT: draws every figure of the panels there
    local drawing script name
    while IFS=, read -r _ script _ name; do
        name=${name%%)*}
        figures/draw "$script" "$1/out/${name##*/}.plot" "$tmp/few-$script" || return 1
    done <"$1/out/figures.mk"
}
for name in auto twin fast; do
    for time in 2.3 2.4 2.6; do echo "r,${name}overlapped,p,w,0,${time}e-4"; done
done >>same/part/samples.csv
exits 0 'a step of two configs has panels' few x '/twin/d' same/two
exits 0 'its figures, with one contrast each, are drawn' drawn_all same/two
is "$(grep -c forest same/two/out/figures.mk)" 1 'a forest of one row is among them'
exits 0 'a step of one config has panels' few x '/twin/d; /fast/d' same/one
exits 0 'its figures are drawn' drawn_all same/one
exits 0 'tables without a row have panels' few x '1!d' same/none
is "$(cat same/none/out/figures.mk)" '' 'tables without a row have no figure'
exits 0 'a contrast far beyond the axis has panels' few x \
    '/twin/d; s/,0.98,0.97,0.99,/,1.5,0.001,900,/; s/,1.02,1.01,1.03,/,1.5,0.001,900,/' same/cut
exits 0 'its figures are drawn' drawn_all same/cut
ok 'an interval that leaves the picture has an arrow' grep -q '→' "$tmp/few-forest.svg"
{
    sed 1q panel/part/summary.csv
    for size in 8 16 32; do echo "r,p,w,,auto$size,auto,,2,1,$size,size=$size,2e-6,1e-6,4e-6,8e6,,"; done
    for row in one:8:1e-3 two:16:1e-9 three:32:2e-6; do
        IFS=: read -r name size time <<<"$row"
        echo "r,p,w,,$name,$name,,2,1,$size,size=$size,$time,${time%e*}e-12,9e3,8e6,1e9,"
    done
} >same/part/summary.csv
exits 0 'curves of one point each, cut on both sides, have panels' few x '/twin/d' same/points
exits 0 'they are drawn' drawn_all same/points
sed 1q data/csv/compare.csv >compare.csv
sed 1q data/csv/chosen.csv >chosen.csv
bash figures/panel "$gradsync" empty.plot 'compare.csv chosen.csv' answer
ok 'an answer without a row is drawn' figures/draw answer empty.plot "$tmp/few"
echo platform,kind,claim,quantity,unit,low,high,reached,limit_source,fraction,verdict >limits.csv
for of in claims wan_claims; do
    bash figures/panel "$gradsync" empty.plot limits.csv $of
    ok "a panel of $of without a row is not drawn" grep -qx 'n = 0' empty.plot
done

# ---- synchronisations between sites: networks of one rate alone, and no line of one point

wan_panel() { # NAME: of wan.csv, on stdout
    bash figures/panel "$gradsync" "$1.plot" wan.csv wan_cells wan_sync && cat "$1.plot"
}
wan_row() { # PLATFORM CONFIG SIZE RATE RTT BOUND: of four sites
    echo "r,$1,,$2,$2,tcp,fp32,4,4,$3,1,0,1,,$4,$5,0,0.5,0.5,0.5,0.5,$6"
}
{
    printf 'run_id,platform,label,config,strategy,transport,wire,ranks,sites,size_B,every,overlap,fragments,step_s,'
    printf 'rate_Bps,rtt_s,loss,'
    printf 'sync_s,sync_ci_low_s,sync_ci_high_s,model_sync_s,bound_s\n'
    for size in 65536 16777216; do # three sites have four times the rate of the fourth
        wan_row unequal ring $size 3125000 0.03 "$(awk "BEGIN { print $size / 3125000 + 0.015 }")"
    done
} >wan.csv
is "$(wan_panel sync_rtt_small | grep -x 'n = 0')" 'n = 0' 'a panel without equal rates has no line'
for size in 65536 16777216; do
    wan_row equal ring $size 12500000 0.03 "$(awk "BEGIN { print 1.5 * $size / 12500000 + 0.015 }")"
done >>wan.csv
wan_row equal direct 65536 12500000 0.03 0.0228643 >>wan.csv
is "$(wan_panel sync_size_slow | grep -E '^(detail|array)')" "detail = '4 sites, 100 Mbit/s, RTT 30 ms'
array label[2] = ['ring', 'lower bound']" 'a network of unequal rates and a lone point are left out'
is "$(wan_panel sync_rtt_small | grep -x 'n = 0')" 'n = 0' 'one RTT gives no line'
rm -rf data/raw data/csv figures/out
mkdir -p data/raw/wan-lab-unequal-100/wan_sync
cp -r "$top/data/raw/wan-lab-unequal-100/wan_sync/20261123T202653Z-890b" data/raw/wan-lab-unequal-100/wan_sync
exits 0 'drawing succeeds where nothing is to be drawn against the size or the RTT' draw
is "$(cd figures/out/wan && echo *)" 'modelled.pdf modelled.png modelled.svg' \
    'such a figure is not drawn'
exits 0 'drawing it again succeeds' draw
is "$out$err" '' 'and prints nothing'

no_orphans 'no process is left running'
done_testing
