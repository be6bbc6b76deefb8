# Not under ASan: what is read is fuzzed with it.
# The page of results: its text, and that it needs no other file. tests/test_report.sh has it in a browser.
text() { # FILE [FROM TO]: the text of the page, or of the part between two regexes
    sed -n "/${2:-<body}/,/${3:-\$^}/p" "$1" | sed '/<script/,/<\/script/d; /<svg/,/<\/svg>/d; s/<[^>]*>/ /g; s/  */ /g' |
        grep -v '^ *$' | sed 's/Made by gradsync .* from/Made by gradsync from/'
}
tables() { # RAW CSV
    gradsync reduce -q "$1" -o "$2" && gradsync compare -q "$1" -o "$2" && gradsync transitions -q "$2" &&
        gradsync limits -q $top/configs/local.ini -o "$2"
}
# ---- two platforms, p and q; p has figures, and text that looks like markup
id=20250101T000000Z
whole_run data/raw/p/null/$id-aaaa && whole_run data/raw/p/null/$id-bbbb && whole_run data/raw/q/null/$id-cccc
sed -i 's/"config":"b"/"config":"b2"/; s/"commit":"c"/"commit":"<b>\&amp;"/' data/raw/p/null/$id-bbbb/*.jsonl
manifest data/raw/p/null/$id-aaaa
sed -i 's/"platform":"p"/"platform":"q"/' data/raw/q/null/$id-cccc/*
tables data/raw data/csv
mkdir -p figures/out/{p,method,wan,h200-4gpu}
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
$ gradsync report -q --all && text report.html
# Every figure, without a title of its own and with its own symbols; no identifier twice, nothing fetched, no path.
$ grep -c '<svg role="img"' report.html; grep -c '<title>' report.html; grep -o "href=[\"']#f[0-9]*-dot" report.html | sort -u
$ grep -o "id=[\"'][^\"']*" report.html | sort | uniq -d
$ grep -iE '<script .|<link|<img|<iframe|@import|(src|href)=.?(http|//)|url\([^#]|fetch\(' report.html
$ grep -c "$PWD\|<b>" report.html
cp report.html once.html
$ gradsync report -q --all && cmp report.html once.html
# Without a name the page has the platform of the latest run only. The row that it numbers is traced by why.
$ gradsync report -o latest.html && grep -o '<h2>[pq] ' latest.html
$ gradsync why summary:7 | grep 'run \|jsonl'
$ gradsync report -q -o q.html q && grep -c $id-aaaa q.html
$ gradsync report -q -o no.html qq
$ ls no.html
# Verdicts of operations alone and of overlapped steps are counted by themselves.
cp -r data/csv modes
awk 'BEGIN { FS = OFS = "," } { print } NR > 1 && $1 == "p" { $5 = "overlapped"
    sub(/faster|slower|equivalent|inconclusive/, "same operation"); print; print }' data/csv/compare.csv >modes/compare.csv
$ gradsync report -q --csv modes -o modes.html p && grep -o 'Of [0-9]* contrasts[^<]*' modes.html
# A contrast that was measured again counts once, as in the latest run.
again=data/raw/p/null/20250102T000000Z-eeee
whole_run $again && manifest $again && cp -r data/csv once && gradsync reduce -q data/raw -o data/csv && gradsync compare -q data/raw -o data/csv
$ gradsync report -q -o again.html p && grep -o 'Of [0-9]* contrasts[^<]*' again.html && text again.html 'Every verdict' '<.details>'
rm -rf $again data/csv && mv once data/csv

# ---- recordings between sites: the figures of all networks
mkdir -p between/raw
cp -r $top/data/raw/wan-lab-unequal between/raw && cp figures/out/p/one.svg figures/out/wan/sync_size.svg
tables between/raw between
$ gradsync report --raw between/raw --csv between -o between.html && text between.html '<section id="sites">' '<section id="method">'
$ text between.html '<summary>Between sites' '<.details>' | sed -n '1,4p'

# ---- the first screen: the figure of the answer; others below a question
run=h200-4gpu/iter_proxy/20261121T111537Z-backward-7c01
mkdir -p steps/raw/${run%/*} && cp -r $top/data/raw/$run steps/raw/${run%/*}
for name in answer iter_proxy-size-1MiB-ranks nccl_allreduce-bandwidth; do cp figures/out/p/one.svg figures/out/h200-4gpu/$name.svg; done
{ cat figures/out/p/one.svg && head -c 2000000 /dev/zero | tr '\0' ' '; } >figures/out/h200-4gpu/iter_proxy-size-1MiB-ecdf.svg
tables steps/raw steps
$ gradsync report -q --all --raw steps/raw --csv steps -o steps.html && text steps.html '<body' '<h2>h200-4gpu'
$ grep -c 'aria-label="answer"' steps.html; sed -n '/<section id="answer">/,/<.section>/p' steps.html | grep -c '<svg'
$ grep -o '<summary>[^<]*.\|<figure id="[^"]*"\|<figcaption>[^<]*\|1 more figure[^/]*' steps.html
rm data/csv/compare.csv
$ gradsync report -q -o no.html
