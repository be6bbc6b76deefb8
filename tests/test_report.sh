#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The page of results in a real browser: it fits a phone and a desk in the light and in the dark. What it says is in
# tests/golden/report.cmd.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

run=h200-4gpu/iter_proxy/20261121T111537Z-backward-7c01
mkdir -p "steps/raw/${run%/*}" figures/out/h200-4gpu
cp -r "$top/data/raw/$run" "steps/raw/${run%/*}"
cat >figures/out/h200-4gpu/answer.svg <<'END'
<?xml version="1.0" encoding="utf-8"?>
<svg width="900" height="300" viewBox="0 0 900 300" xmlns="http://www.w3.org/2000/svg"
    xmlns:xlink="http://www.w3.org/1999/xlink">
<title>Gnuplot</title>
<defs><circle id='dot' r='9'/></defs><rect width="900" height="300" fill="#ffffff"/>
<g id="plot" clip-path="url(#clip)"><use xlink:href='#dot' x="30" y="30"/></g>
</svg>
END
mkdir figures/out/p && cp figures/out/h200-4gpu/answer.svg figures/out/p/one.svg
whole_run once/raw/p/null/20250101T000000Z-aaaa
for page in once steps; do
    "$gradsync" reduce -q $page/raw -o $page && "$gradsync" compare -q $page/raw -o $page &&
        "$gradsync" transitions -q $page && "$gradsync" limits -q "$top/configs/local.ini" -o $page
    ok "the page $page is written" "$gradsync" report -q --all --raw $page/raw --csv $page -o $page.html
done

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
