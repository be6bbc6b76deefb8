# Tables of what stands out: dips and spikes of curves, switches of what NCCL ran, claims and bandwidths against limits.
# Two launches with a dip at 1 MiB; the second has a spike at 2 KiB of its own; a third breaks off.
for l in 1 2 3; do
    { echo '#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong'
        awk -v l=$l 'BEGIN { for (e = 3; e <= (l == 3 ? 4 : 26); e++) { n = 2 ^ e; t = 5 + n / 8e3
            if (e == 20) t *= 1.4
            if (l == 2 && e == 11) t *= 3
            printf "%d %d float sum -1 %.3f %.3f %.3f 0 %.3f %.3f %.3f 0\n", n, n / 4, t, n / t / 1e3, n / t / 1e3, t, n / t / 1e3, n / t / 1e3 } }'; } >$l.txt
done
printf '[platform]\nname = p\n[launch]\nranks = 2\n[limits]\nbusbw = 8.2GB/s\nlink = 8.2GB/s\nsource = a sheet\n' >p.ini
gradsync import -q --platform p.ini --set config=auto --set ranks=2 --as-launches [12].txt >/dev/null 2>&1
gradsync query --export data/csv -q
found() { csv ${1:-data/csv}/transitions.csv 1 config kind size_B from_B to_B change agree replicates verdict reason param_in_place; }
$ found
cp -r data/raw/p/*/* two && rm -r data
gradsync import -q --platform p.ini --set config=auto --set ranks=2 2.txt >/dev/null 2>&1
gradsync query --export data/csv -q
$ found
# A launch that breaks off is left out.
rm -r data && gradsync import -q --platform p.ini --set config=auto --set ranks=2 --as-launches [123].txt >/dev/null; gradsync query --export data/csv -q
$ found | cut -d' ' -f2-9
# What NCCL ran; a change of the number of CTAs is none.
gradsync query -q --export ran $top/data/raw/h200-2gpu/nccl_allreduce/20261122T215546Z-d6fa
$ found ran | grep '^auto .*switch' | head -n 4
# Claims: those of each config, in the order of the names; then what was measured, against the limit of its platform.
mkdir configs
{ cat p.ini; printf '%s\n' '[reference]' 'busbw = 5GB/s' 'claim.all = 9 GB/s, 60% of peak' 'claim.all.source = a post' \
    'claim.all.given = busbw 9GB/s, algbw 9GB/s, of_peak 60%, ranks 2, ranks_recorded 1, memory 100GB/s' 'claim.tree = twice as fast' \
    'claim.tree.given = speedup 2, faster tree, slower ring, ranks 8, launches 1'; } >configs/p.ini
gradsync query --export data/csv -q
$ csv data/csv/limits.csv 'get("kind") == "published"' quantity value limit fraction verdict physics
$ csv data/csv/limits.csv 'get("kind") == "measured"' fraction verdict | sort | uniq -c | sort -rn | sed 3q
sed -i 's/busbw = 8.2GB/busbw = 6GB/' configs/p.ini && gradsync query --export data/csv -q
$ csv data/csv/limits.csv 'get("kind") == "measured"' verdict | sort | uniq -c
# show names what is above the limit; a fault in a claim is reported, and all other rows are written.
$ gradsync show p 2>/dev/null | grep '^\[.*limit'
sed -i 's/speedup 2/speedup two/' configs/p.ini
$ gradsync query --export data/csv -q
$ csv data/csv/limits.csv 'get("kind") == "published"' quantity
