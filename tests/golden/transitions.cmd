# Curves become transitions.csv: a kink at 64 KiB in both launches, a spike in one of them; a third broke off.
mkdir csv
columns=run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,launch,blocks,median_s,ran
{ echo $columns && awk 'BEGIN { for (l = 1; l <= 2; l++) for (e = 3; e <= 26; e++) {
        n = 2 ^ e; t = n < 65536 ? 5e-6 + n / 8e9 : 25e-6 + n / 100e9
        if (l == 2 && e == 10) t *= 3
        printf "r1,p,\"w, x\",,c%d,auto,,4,1,%d,size=%d protocol=auto,%d,5,%.9g,\n", e, n, n, l, t } }'
    echo 'r1,p,"w, x",,c3,auto,,4,1,8,size=8 protocol=auto,3,5,5e-6,'; } >csv/launches.csv
$ gradsync transitions csv && head -n 1 csv/transitions.csv
found() { csv ${1:-csv}/transitions.csv 1 kind size_B from_B to_B agree replicates verdict reason param_protocol; }
$ found
cp csv/transitions.csv first
$ gradsync transitions --all csv | grep -c ' kink '
$ gradsync transitions -q csv && cmp first csv/transitions.csv
# Many: as many as a screen holds, of one platform by its name.
mkdir -p many data/raw/{p3,none} data/csv
awk -F, 'BEGIN { OFS = FS } NR == 1 { print; next } { print; for (i = 1; i < 40; i++) { $2 = "p" i; print } }' csv/launches.csv |
    (sed -u 1q && sort -t, -k2,2 -s) >many/launches.csv
$ gradsync transitions many | tail -n 3 && gradsync transitions many | awk 'length > 100 || NR > 24'
cp many/launches.csv data/csv
$ gradsync transitions p3 | awk '/ kink / { print $1 }'
$ gradsync transitions none
$ gradsync transitions ./csv/transitions.csv
rm -r data
$ gradsync transitions nowhere
$ gradsync transitions cvs
mkdir bad
sed '2,$ s/^r1,/r1,more,/' csv/launches.csv >bad/launches.csv
$ gradsync transitions bad
$ [ ! -e bad/transitions.csv ]
sed 's/median_s/median/' csv/launches.csv >bad/launches.csv
$ gradsync transitions bad
# What ran, where the recording says it: no kink is fitted there. CTAs change at 1 KiB, the protocol at 1 MiB.
mkdir ran part columns short
awk -F, 'BEGIN { OFS = "," } NR > 1 { $NF = ($11 < 1048576 ? "RING/LL" : "RING/LL128") " ctas=" ($11 < 1024 ? 1 : 8) } 1' csv/launches.csv >ran/launches.csv
$ gradsync transitions ran && found ran
# A switch keeps its sizes where one launch of three lacks one of them.
{ cat ran/launches.csv
    awk -F, 'BEGIN { OFS = "," } NR > 1 && $13 == 2 && $11 != 1048576 { $13 = 4; print }' ran/launches.csv; } >part/launches.csv
$ gradsync transitions -q part && found part | grep switch
# Two columns of one launch are a curve each, and confirm nothing.
awk 'NR == 1 { print; next } { for (place = 0; place <= 1; place++) { row = $0
    sub(/protocol=auto/, "protocol=auto in_place=" (place ? "yes" : "no"), row)
    if (row ~ /,1,5,/) print row } }' csv/launches.csv >columns/launches.csv
$ gradsync transitions -q columns && found columns | grep -v fit
awk -F, 'NR == 1 || $11 < 128' csv/launches.csv >short/launches.csv
$ gradsync transitions short
