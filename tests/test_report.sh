#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The page of results: what it contains, that it needs no other file, and, in a real browser, that
# it fits a phone and a desk in the light and in the dark.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

# ---- two platforms, p and q; p has figures ----

id=20250101T000000Z
whole_run data/raw/p/null/$id-aaaa
whole_run data/raw/p/null/$id-bbbb
sed -i 's/"config":"b"/"config":"b2"/; s/"commit":"c"/"commit":"<b>\&amp;"/' \
    data/raw/p/null/$id-bbbb/*.jsonl
manifest data/raw/p/null/$id-aaaa
whole_run data/raw/q/null/$id-cccc
sed -i 's/"platform":"p"/"platform":"q"/' data/raw/q/null/$id-cccc/*
ok 'the recordings are reduced to tables' "$gradsync" reduce -q data/raw -o data/csv
ok 'the tables are compared' "$gradsync" compare -q data/raw -o data/csv
ok 'the transitions are found' "$gradsync" transitions -q data/csv
ok 'the limits are written' "$gradsync" limits -q "$top/configs/local.ini" -o data/csv
mkdir -p figures/out/p figures/out/method
for name in p/one p/two method/three; do
    cat >"figures/out/$name.svg" <<'END'
<?xml version="1.0" encoding="utf-8"?>
<svg width="900" height="300" viewBox="0 0 900 300" xmlns="http://www.w3.org/2000/svg"
    xmlns:xlink="http://www.w3.org/1999/xlink">
<title>Gnuplot</title>
<defs><circle id='dot' r='9'/></defs><rect width="900" height="300" fill="#ffffff"/>
<g id="plot" clip-path="url(#clip)"><use xlink:href='#dot' x="30" y="30"/></g>
</svg>
END
done

ok 'a page of all platforms is made' "$gradsync" report -q --all
ok 'a page is made without naming a platform' "$gradsync" report -o latest.html
is "$(grep -o '<h2>[pq] ' latest.html)" '<h2>q ' \
    'without a name the page has the platform of the latest run only'
like "$err" 'platform q, ' 'without a name the message says which platform was taken'
page=$(cat report.html)
for name in p q; do like "$page" "<h2>$name <a href" "the page has platform $name"; done
for run in aaaa bbbb cccc; do
    like "$page" "<tr id=\"run-$id-$run\"><td><code>gradsync show $id-$run</code>" \
        "the page has run $run and the command that shows it"
done
is "$(grep -c "id=\"run-$id-aaaa\".*complete, checksums hold" report.html)" 1 \
    'the page says which run is complete'
is "$(grep -c "id=\"run-$id-bbbb\".*not complete" report.html)" 1 \
    'the page says which run is not complete'
like "$page" 'Of [0-9]+ contrasts of a config with its baseline, [0-9]+ faster, [0-9]+ slower' \
    'the page counts the verdicts'
cp -r data/csv modes
awk 'BEGIN { FS = OFS = "," } { print } NR > 1 && $1 == "p" { $5 = "overlapped"; sub(/faster|'\
'slower|equivalent|inconclusive/, "same operation"); print; print }' data/csv/compare.csv \
>modes/compare.csv
ok 'a page of tables with modes is made' "$gradsync" report -q --csv modes -o modes.html p
n=$(grep -o 'Of [0-9]* contrasts' <<<"$page" | head -n 1 | tr -dc 0-9)
like "$(<modes.html)" "Of $n contrasts of a config with its baseline, " \
    'verdicts of operations alone are counted by themselves'
like "$(<modes.html)" \
    "Of $((2 * n)) contrasts of a config with its baseline in mode overlapped, 0 faster, 0 \
slower, 0 equivalent, 0 inconclusive, $((2 * n)) same operation" \
'verdicts of overlapped steps are counted by themselves'
whole_run data/raw/p/null/20250102T000000Z-eeee
manifest data/raw/p/null/20250102T000000Z-eeee
cp -r data/csv once
"$gradsync" reduce -q data/raw -o data/csv && "$gradsync" compare -q data/raw -o data/csv
ok 'a page with a run that was made again is made' "$gradsync" report -q -o again.html p
is "$(grep -o 'Of [0-9]* contrasts' again.html)" \
    "$(grep -o 'Of [0-9]* contrasts' <<<"$page" | head -n 1)" \
    'a contrast that was measured again counts once'
is "$(grep -c '20250102T000000Z-eeee</a>' again.html)$(sed -n '/Every verdict/,/<.details>/p' \
    again.html | grep -c "$id-aaaa</a>")" "$(grep -c "$id-aaaa</a>" report.html)0" \
    'a contrast that was measured again counts as in the latest run'
rm -r data/raw/p/null/20250102T000000Z-eeee data/csv && mv once data/csv
like "$page" '<summary>Every cell</summary>' 'the page has the table of every cell'
like "$page" '<td class=n>-[0-9.]+ … \+[0-9.]+ %<' \
    'the page has the A/A floors with both ends'
line=$(sed -n '/<summary>Every cell/,/<.details>/s,^<tr><td class="n '\
'soft">\([0-9]*\)<td.*#run-'$id'-bbbb.*,\1,p' report.html | head -1)
like "$("$gradsync" why "summary:$line")" \
    "run +data/raw/p/null/$id-bbbb.*launch-01.01.jsonl:[0-9]" \
    'the page numbers the rows by which why traces each'
like "$page" '&lt;b&gt;&amp;amp;' 'text that looks like markup is escaped'
unlike "$page" '<b>' 'text that looks like markup appears nowhere unescaped'
is "$(grep -c '<svg role="img"' report.html)" 3 'the page has every figure'
is "$(grep -c '<title>' report.html)" 1 'the figures have no titles of their own'
is "$(grep -o "id=[\"'][^\"']*" report.html | sort | uniq -d)" '' \
    'no identifier is on the page twice'
is "$(grep -o "href=[\"']#f[0-9]*-dot" report.html | sort -u | wc -l)" 3 \
    'each figure uses its own symbols'
is "$(grep -ciE '<script .|<link|<img|<iframe|@import|(src|href)=.?(http|//)|url\([^#]|fetch\(' \
    report.html)" 0 \
    'it fetches nothing'
unlike "$page" "$tmp" 'the page does not contain the path where it was made'
cp report.html once.html
ok 'the page is made a second time' "$gradsync" report -q --all
ok 'the second page has the same bytes' cmp report.html once.html
ok 'a page of one platform is made' "$gradsync" report -q -o q.html q
unlike "$(cat q.html)" "$id-aaaa" 'a page of one platform has no run of another'
fails 2 "did you mean 'q'" "$gradsync" report -q -o no.html qq
says "make figures" "$gradsync" report -o q.html q
is "$(ls no.html 2>&1 >/dev/null | wc -l)" 1 'a page that cannot be made is not there'
unlike "$page" 'id="sites"' 'a page without recordings between sites has no section of them'
mkdir -p between/raw figures/out/wan
cp -r "$top/data/raw/wan-lab-unequal" between/raw && cp figures/out/p/one.svg \
    figures/out/wan/sync_size.svg
"$gradsync" reduce -q between/raw -o between && "$gradsync" compare -q between/raw -o between &&
    "$gradsync" transitions -q between && "$gradsync" limits -q "$top/configs/local.ini" -o between
ok 'a page of recordings between sites is made' \
    "$gradsync" report --raw between/raw --csv between -o between.html
unlike "$err" 'make figures' 'recordings between sites need no figures of a platform'
like "$(cat between.html)" '<section id="sites">.*<svg .*<section id="method">' \
    'a page of recordings between sites has the figures of all networks'
like "$(cat between.html)" \
    '<figcaption>Time of a synchronisation against its size. From <code>wan.csv' \
    'a figure has a caption and names its table'
like "$(cat between.html)" '<summary>Between sites</summary>.*modelled.*direct/lp' \
    'the page lists the synchronisations between sites with their modelled times'
# ---- the first screen: what advise says, a row for each step, the figure of the answer ----
like "$page" 'No advice: no training step was compared' \
    'without training steps the page gives no advice'
run=h200-4gpu/iter_proxy/20261121T111537Z-backward-7c01
mkdir -p "steps/raw/${run%/*}" figures/out/h200-4gpu
cp -r "$top/data/raw/$run" "steps/raw/${run%/*}"
cp figures/out/p/one.svg figures/out/h200-4gpu/answer.svg
cp figures/out/p/one.svg figures/out/h200-4gpu/iter_proxy-size-1MiB-ranks.svg
cp figures/out/p/one.svg figures/out/h200-4gpu/nccl_allreduce-bandwidth.svg
{
    cat figures/out/p/one.svg
    head -c 2000000 /dev/zero | tr '\0' ' '
} >figures/out/h200-4gpu/iter_proxy-size-1MiB-ecdf.svg
"$gradsync" reduce -q steps/raw -o steps && "$gradsync" compare -q steps/raw -o steps &&
    "$gradsync" transitions -q steps && "$gradsync" limits -q "$top/configs/local.ini" -o steps
ok 'a page of training steps is written' \
    "$gradsync" report -q --all --raw steps/raw --csv steps -o steps.html
sentence=$("$gradsync" advise steps/raw | head -n 1)
is "$(sed -n 's,^<p class="advice">\(.*\)</p>$,\1,p' steps.html)" "$sentence" \
    'the page begins with the sentence of advise'
is "$(sed -n '/<section id="answer">/,/<.section>/p' steps.html | grep -c '^<tr>.*synthetic')" 3 \
    'the table has a row for each step'
like "$(sed -n '/<section id="answer">/,/<.section>/p' steps.html | tr -d '\n')" \
    '<svg .*<figcaption>Loss of each step' \
    'the figure of the answer is on the first screen'
is "$(grep -c 'aria-label="answer"' steps.html)" 1 'the figure of the answer is there once'
like "$(tr -d '\n' <steps.html)" \
    '<summary>Which config makes the step shortest.</summary><div class="figures"><figure '\
'id="fig2">' \
    'other figures are folded below a question'
like "$(<steps.html)" \
    'Bus bandwidth of each config over .*: ratios within blocks.* From <code>compare.csv' \
    'a figure of ratios names the table of ratios, not that of medians'
like "$(<steps.html)" '1 more figure in <code>figures/out/h200-4gpu<' \
    'a figure that the page has no room for is counted'
rm data/csv/compare.csv
fails 2 'compare.csv' "$gradsync" report -q -o no.html

# ---- as a browser shows it ----

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
    skip 'the page fits a phone and a desk in a browser' 'no chromium here: make setup-report'
    done_testing
    exit
fi
# A page that frames the report as wide as a device is, and says what it measured there.
cat >probe.html <<'END'
<body style="margin:0"><iframe id="r" style="border:0;height:600px"></iframe>
<script>
const r = document.getElementById("r"), [width, page] = location.hash.slice(1).split(",");
r.width = +width; r.src = page;
r.onload = () => { const d = r.contentDocument, w = r.contentWindow;
  d.querySelectorAll("details").forEach(e => e.open = true);
  const svg = d.querySelector("svg");
  document.title = ["over", d.documentElement.scrollWidth - d.documentElement.clientWidth,
    "paper", w.getComputedStyle(d.body).backgroundColor, "filter", w.getComputedStyle(svg).filter,
    "svg", svg.getBoundingClientRect().width <= r.width,
    "dot", d.querySelector("use").getBBox().width,
    "table", [...d.querySelectorAll(".answer .wide")].every(e => e.scrollWidth <= e.clientWidth),
    ].join(" ");
  document.body.append(document.title); };
</script></body>
END
look() { # WIDTH DARK(0)|LIGHT(1) PAGE
    HOME=$tmp timeout 60 "$browser" --headless --no-sandbox --disable-gpu \
        --allow-file-access-from-files \
        --user-data-dir="$tmp/profile" --window-size=1400,900 \
        "--blink-settings=preferredColorScheme=$2" \
        --virtual-time-budget=2000 --dump-dom \
        "file://$tmp/probe.html#$1,$3" 2>/dev/null | grep \
        -o 'over [^<]*' | head -1
}
for width in 360 390 1280; do
    light=$(look "$width" 1 once.html) dark=$(look "$width" 0 once.html)
    like "$light" '^over 0 ' "a page $width pixels wide has nothing that sticks out"
    like "$light" 'paper rgb\(255, 255, 255\) filter none svg true dot 18' \
        "a light page $width pixels wide is white and shows figures as they are"
    like "$dark" 'paper rgb\(0, 0, 0\) filter brightness\(0.85\)' \
        'in the dark: black, and figures on dimmed white'
done
like "$(look 390 1 steps.html)" '^over 0 .* table true$' \
    'the table of the decision fits a phone, without scrolling'
no_orphans 'no process of the browser is left'
done_testing
