#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The report: what it says, that it fetches nothing, and in a real browser that it fits a phone and a desk.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

run=h200-4gpu/iter_proxy/20261121T111537Z-backward-7c01
mkdir -p "raw/${run%/*}" figures/out/h200-4gpu
cp -r "$top/data/raw/$run" "raw/${run%/*}"
cat >figures/out/h200-4gpu/answer.svg <<'END'
<?xml version="1.0" encoding="utf-8"?>
<svg width="900" height="300" viewBox="0 0 900 300" xmlns="http://www.w3.org/2000/svg"><rect id="a" width="900" height="300" fill="#fff"/></svg>
END
{ cat figures/out/h200-4gpu/answer.svg && head -c 2000000 /dev/zero | tr '\0' ' '; } >figures/out/h200-4gpu/one-ecdf.svg
whole_run raw/p/null/20250101T000000Z-aaaa
sed -i 's/"commit":"c"/"commit":"<b>\&amp;"/' raw/p/null/*/*.jsonl
manifest raw/p/null/20250101T000000Z-aaaa

ok 'the page is written' "$gradsync" report -q --raw raw -o page.html
page=$(<page.html)
like "$page" "$("$gradsync" compare raw/h200-4gpu 2>/dev/null | sed -n 1p)" 'it has what compare prints'
is "$(grep -o '<h2>[a-z0-9-]*' page.html | xargs)" '<h2>h200-4gpu <h2>p' 'it has both platforms'
is "$(grep -o '<summary>[^<]*' page.html | sort -u | xargs)" \
    '<summary>Every cell <summary>Every verdict <summary>Runs and machines <summary>Training steps' 'it has the tables'
is "$(grep -c 'alt="answer"' page.html)" 1 'it has the figure'
like "$page" '1 more figures are in figures/out/h200-4gpu' 'a figure for which there is no room is counted'
is "$(grep -ciE '<script|<link|<iframe|@import|(src|href)=.?(http|//)|url\(|<b>' page.html)" 0 \
    'it fetches nothing, and text that looks like markup is text'
ok 'it is written again' "$gradsync" report -q --raw raw -o again.html
ok 'the same recordings give the same bytes' cmp page.html again.html
ok 'a page of one platform is written' "$gradsync" report -q --raw raw -o one.html p
is "$(grep -c h200-4gpu one.html)" 0 'it has this platform alone'
fails1 2 "no recording of 'h200-4gp' below raw, did you mean 'h200-4gpu'" "$gradsync" report -q --raw raw -o no.html h200-4gp
ok 'a refused page is not written' test ! -e no.html

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
  const wide = e => e.getBoundingClientRect().right > r.width;
  document.title = ["over", d.documentElement.scrollWidth - d.documentElement.clientWidth,
    "paper", w.getComputedStyle(d.body).backgroundColor,
    "image", d.querySelector("img").naturalWidth,
    "cut", [...d.querySelectorAll("table, img, pre")].filter(wide).length].join(" ");
  document.body.append(document.title); };
</script></body>
END
look() { # WIDTH DARK(0)|LIGHT(1)
    HOME=$tmp timeout 60 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
        --user-data-dir="$tmp/profile" --window-size=1400,900 "--blink-settings=preferredColorScheme=$2" \
        --virtual-time-budget=2000 --dump-dom "file://$tmp/probe.html#$1,page.html" 2>/dev/null | grep -o 'over [^<]*' | head -1
}
for width in 360 1280; do
    is "$(look "$width" 1)" 'over 0 paper rgb(255, 255, 255) image 900 cut 0' "a light page $width pixels wide fits"
    is "$(look "$width" 0)" 'over 0 paper rgb(0, 0, 0) image 900 cut 0' "a dark page $width pixels wide fits"
done
no_orphans 'no process of the browser is left'
done_testing
