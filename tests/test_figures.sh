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
(cd "$top" && tar cf - GNUmakefile mk figures/*.gp figures/*.sql figures/{draw,known,plot} \
    runner plugins configs \
    gradsync.pc.in tests/unit tests/bench) | tar xf - -C "$tree"
(cd "$build" && tar cf - runner plugins ./*.a gradsync gradsync-rank commit.* deps.ok) | tar xf - \
    -C "$tree/build"
cd "$tree" || exit 1
# Of `make`, quiet but for what it does; the build is not what is tested here.
draw() { make --no-print-directory "${@:--j2}" BUILD=build drawn; }
bytes() { find data/csv figures/out -type f ! -name stamp -print0 | sort -z | xargs -0 sha256sum; }
times() { find data/csv figures/out -type f -printf '%T@ %p\n' | sort -k2; }

# Two recordings of H200s, one of them as of two platforms; nothing is measured here.
recorded() { # PLATFORM RUN
    local run
    run=data/raw/$1/$(basename "$(dirname "$2")")/$(basename "$2")
    mkdir -p "$run" && cp "$2"/*.ini "$2"/*.json* "$run" && chmod -R u+w "$run"
    sed -i "1s/\"platform\":\"[^\"]*\"/\"platform\":\"$1\"/" "$run"/launch-*.jsonl
    manifest "$run"
    chmod a-w "$run" "$run"/*
}
recorded one "$top/data/raw/h200-2x2-sock/nccl_allreduce/20261121T192435Z-3b5b"
recorded two "$top/data/raw/h200-2x2-sock/nccl_allreduce/20261121T192435Z-3b5b"
recorded two "$top/data/raw/h200-4gpu/iter_proxy/20261121T111537Z-backward-7c01"
ok 'the recordings are sound' ./build/gradsync check data/raw

exits 0 'make -j1 draws the figures' draw -j1
like "$out" 'REDUCE  data/raw' 'make says what it reduces'
unlike "$err" 'warning' 'gnuplot draws the figures without a warning'
for name in {one,two}/nccl_allreduce-{bandwidth,latency,ratios-forest,sizes-verdict_map} two/answer \
    two/iter_proxy-backward-size-16MiB-{by-ctas,decomposition,ecdf,ranks} \
    two/iter_proxy-backward-overlapped-{latency,ratios-forest,sizes-verdict_map}; do
    file=figures/out/$name
    drawn="$(head -c 5 "$file.svg" 2>/dev/null)"
    drawn+="$(tail -c +2 "$file.png" 2>/dev/null | head -c 3)"
    drawn+="$(head -c 5 "$file.pdf" 2>/dev/null)"
    is "$drawn" '<?xmlPNG%PDF-' "$name exists as SVG, PNG and PDF"
done
# The four of the second size have the names of the first; the figures of all platforms are method/claims,
# method/wan_needed and two of configs/wan-4site.ini, and those `queried` of mk/figures.mk that have rows here.
queried=$(sed -n 's/^queried := //p' mk/figures.mk)
is "$(find figures/out -type f | grep -cvE "/method/(${queried// /|})\.")" $((3 * (4 + 12 + 4 + 4))) \
    'no other files are drawn than these and the figures of the configs'
is "$(grep -c 'CreationDate (D:2000' figures/out/one/nccl_allreduce-latency.pdf)" 1 \
    'a PDF does not hold the time at which it was made'
like "$(<figures/out/two/iter_proxy-backward-size-16MiB-decomposition.svg)" \
    'parts and time are separate medians: parts need not add up' 'the figure says why parts need not end at the time'
like "$(<figures/out/two/iter_proxy-backward-size-16MiB-ecdf.svg)" \
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
    'one,nccl_allreduce platform,workload two,iter_proxy ' \
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
    'FIGURE  figures/out/two/iter_proxy-backward-size-16MiB-ecdf
FIGURE  figures/out/two/iter_proxy-backward-size-64MiB-ecdf' \
    'only the figures of this script are drawn again'

cp figures/ecdf.gp "$tmp/ecdf.gp"
echo 'this is no command' >figures/ecdf.gp
touch figures/bandwidth.gp
exits 2 'a figure that cannot be drawn is an error' draw -j1
is "$(grep -c 'FIGURE.*-ecdf$' <<<"$out") $(grep -c 'FIGURE.*-bandwidth$' <<<"$out")" '0 2' \
    'a figure that cannot be drawn does not stop the others'
like "$err" '"figures/ecdf.gp" line 1' 'the error names the script'
cp "$tmp/ecdf.gp" figures/ecdf.gp
exits 0 'drawing succeeds when the script is restored' draw

drawn=$(find figures/out -type f | sort)
mv data/raw/one "$tmp/one"
exits 0 'drawing succeeds after a platform is removed' draw
is "$(find figures/out -type f -path '*/one/*' | wc -l)$(grep -c ',one,' data/csv/summary.csv)" 00 \
    'a removed platform leaves no figure and no row'
mv "$tmp/one" data/raw/one
exits 0 'drawing succeeds after the platform is back' draw
is "$(find figures/out -type f | sort)" "$drawn" 'all figures are back'

# ---- some of the figures

figures_of() {
    make --no-print-directory -j2 BUILD=build drawn "$@" >/dev/null 2>&1 &&
        cd figures/out && ls -d ./*/*.svg
}
echo "0  data/raw/two/nccl_allreduce/$(basename data/raw/two/nccl_allreduce/*)/MANIFEST.json" \
    >data/SHA256SUMS
rm -r figures/out
is "$(figures_of ONLY=own | cut -d- -f1 | sort | uniq -c | xargs)" \
    "4 ./one/nccl_allreduce \
1 ./two/answer.svg 11 ./two/iter_proxy" \
    'only recordings that are not part of the repository are drawn'
git init -q . && git add -f data/raw/two/iter_proxy && rm -r figures/out/two
is "$(figures_of ONLY=own | grep -c '^./two/')" 0 'nor recordings that git knows'
rm -rf .git && (figures_of ONLY=own >/dev/null)
mkdir -p data/raw/h100-2gpu-sock/train
cp -r "$top/data/raw/h100-2gpu-sock/train/20261125T203053Z-proof-345d" data/raw/h100-2gpu-sock/train
is "$(figures_of ONLY=own | grep -c '^./h100')" 0 'a job of tune is not drawn, as nobody asked for its platform'
is "$(figures_of ONLY=h100-2gpu-sock | grep -c '^./h100')" 2 'it is drawn if its platform is asked for'
ok 'the setting of a proof is drawn left of the job as it is: its steps are shorter' \
    awk '/^\$lost/ { getline; found = 1; exit !($2 < 0.5 && $3 < $2 && $2 < $4) } END { if (!found) exit 1 }' \
    data/csv/drawn/answer/h100-2gpu-sock/answer.plot
rm -rf data/raw/h100-2gpu-sock figures/out/h100-2gpu-sock
is "$(figures_of ONLY=two CONFIGS=auto,ctas=8 | wc -l)" 16 'the figures of other platforms are kept'
is "$(grep -h '^array label' data/csv/drawn/panels/two/iter_proxy/*-overlapped.plot)" \
    "array label[2] = ['auto', 'ctas=8']" \
    'CONFIGS limits the configs in a figure'
is "$(cut -d, -f1-2 data/csv/summary.csv | sort -u | wc -l)" 4 'the tables have every recording'
before=$(bytes)
exits 2 'a config of CONFIGS that no recording has is an error' draw -j2 ONLY=two CONFIGS=auto,foo
like "$err" "^CONFIGS: no recording to draw has a config 'foo'; there are: auto, "
is "$(find figures/out -type f | sort)" "$(cut -c67- <<<"$before" | grep figures/out)" 'no figure is deleted'
(figures_of ONLY=two CONFIGS=auto,ring/LL128 >/dev/null)
blue() { cat figures/out/two/*latency.svg | grep -cE 'rgb\(0,114,178\)|#0072B2'; }
is "$(blue | grep -c '^[1-9]')" 1 'ring/LL128 is blue'
other='#111111 #222222 #333333 #444444 #555555 #666666 #777777 #888888'
is "$(figures_of ONLY=two CONFIGS=auto,ring/LL128 COLOURS="$other" | wc -l)|$(blue)" '18|0' \
    'COLOURS gives the configs other colours'
fails 2 "COLOURS='#12345': must be eight colours" env COLOURS='#12345' figures/plot latency x y
drawn=$(bash mk/drawn.sh data/csv/drawn/list "$gradsync")
like "$drawn" 'figures/out/two/answer.svg' '`make figures` prints the path of each figure'
like "$drawn" 'what to set: .*gradsync compare two' 'the command that says what to set is named'
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

# ---- synchronisations between sites, all with one size and one RTT

rm -rf data/raw data/csv data/gradsync.db* figures/out
exits 0 'make succeeds where nothing was measured' draw ONLY=own
like "$err" '^no recording to draw'
mkdir -p data/raw/wan-lab-unequal-100/wan_sync
cp -r "$top/data/raw/wan-lab-unequal-100/wan_sync/20261123T202653Z-890b" data/raw/wan-lab-unequal-100/wan_sync
exits 0 'drawing succeeds where nothing is to be drawn against the size or the RTT' draw
is "$(cd figures/out/wan && echo *)" 'modelled.pdf modelled.png modelled.svg' \
    'such a figure is not drawn'
exits 0 'drawing it again succeeds' draw
is "$out$err" '' 'and prints nothing'
fails 3 '^figures/draw: links: nothing to draw: data/gradsync.db has no rows for figures/links.sql; ' \
    env GRADSYNC=build/gradsync figures/draw links

no_orphans 'no process is left running'
done_testing
