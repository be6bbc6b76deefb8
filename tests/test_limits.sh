#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Curves to transitions.csv, and claims, published and measured, to limits.csv; also under ASan.
. "$(dirname "$0")/lib.sh"

row() { # FILE COLUMN=VALUE… : the rows with these values, a field a line as COLUMN=VALUE
    want=$(printf '%s\n' "${@:2}") awk "$(<"$top/figures/csv.awk")"'
        NR == 1 { n = csv($0, name); next }
        { csv($0, f); m = split(ENVIRON["want"], w, "\n"); good = 1
          for (i = 1; i <= m; i++) { k = w[i]; sub(/=.*/, "", k); v = w[i]; sub(/^[^=]*=/, "", v)
              for (j = 1; j <= n; j++) if (name[j] == k && f[j] != v) good = 0 }
          if (good) for (j = 1; j <= n; j++) print name[j] "=" f[j] }' "$1"
}

# ---- transitions: a kink at 64 KiB in both launches, a spike in one of them; a third that broke off
mkdir -p csv
{
    echo 'run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,launch,blocks,median_s,ran'
    awk 'BEGIN { for (l = 1; l <= 2; l++) for (e = 3; e <= 26; e++) {
        n = 2 ^ e; t = n < 65536 ? 5e-6 + n / 8e9 : 25e-6 + n / 100e9
        if (l == 2 && e == 10) t *= 3
        printf "r1,p,\"w, x\",,c%d,auto,,4,1,%d,size=%d protocol=auto,%d,5,%.9g,\n", e, n, n, l, t } }'
    echo 'r1,p,"w, x",,c3,auto,,4,1,8,size=8 protocol=auto,3,5,5e-6,'
} >csv/launches.csv
ok 'transitions' "$gradsync" transitions csv
like "$out" $'^platform +workload .*\np +w, x +auto +- +kink +32 KiB .. 64 KiB +[+]136% +confirmed\n.*spike .*not confirmed\n.*: csv/transitions.csv' 'a line for each has the curve, the sizes and the change, the confirmed first'
is "$(awk 'length > 100' <<<"$out")|$("$gradsync" transitions --all csv | grep -c ' kink ')" '|1' 'lines fit 100 columns'
awk -F, 'BEGIN { OFS = FS } { print } NR > 1 { for (i = 1; i < 40; i++) { $2 = "p" i; print } }' csv/launches.csv >many.csv
mkdir many && { head -n 1 csv/launches.csv && tail -n +2 many.csv | sort -t, -k2,2 -s; } >many/launches.csv
is "$("$gradsync" transitions many | awk 'END { print NR <= 24 }')" 1 'many transitions are cut to a screen'
like "$("$gradsync" transitions many)" $'\n[0-9]+ more: --all' 'the table says how many are left out'
mkdir -p data/raw/p3 data/csv && cp many/launches.csv data/csv
is "$("$gradsync" transitions p3 | awk '/ kink / { print $1 }')" p3 'the name of a platform leaves out the others'
rm -r data
is "$(head -n 1 csv/transitions.csv)" 'platform,workload,label,config,mode,params,ranks,nodes,kind,size_B,from_B,to_B,before_a_s,before_b_Bps,after_a_s,after_b_Bps,change,agree,replicates,verdict,fit_error,fit_error_out,reason' 'its columns'
like "$(row csv/transitions.csv kind=kink)" $'workload=w, x\n.*from_B=32768\nto_B=65536\n.*agree=2\nreplicates=2\nverdict=confirmed' 'the kink, where it is, in both launches'
like "$(row csv/transitions.csv kind=spike)" $'size_B=1024\n.*agree=1\nreplicates=2\nverdict=not confirmed' 'the spike of one launch is not confirmed'
is "$(row csv/transitions.csv kind=fit | grep -c ^kind)" 2 'two pieces'
cp csv/transitions.csv first
ok 'transitions again' "$gradsync" transitions -q csv
is "$out$err" '' 'says nothing when it is to be quiet'
ok 'gives the same bytes' cmp first csv/transitions.csv
exits 2 'no table' "$gradsync" transitions nowhere
exits 2 'a folder mistyped' "$gradsync" transitions cvs
like "$err" "^cvs: .*did you mean 'csv'" 'has its nearest named'
one_line "$err" 'in one line'
mkdir bad
sed '2,$ s/^r1,/r1,more,/' csv/launches.csv >bad/launches.csv
exits 1 'a row of another width' "$gradsync" transitions bad
like "$err" 'bad/launches.csv:2: 16 fields under a header of 15' 'is named with its line'
ok 'no table is left of it' test ! -e bad/transitions.csv
sed 's/median_s/median/' csv/launches.csv >bad/launches.csv
exits 2 'a table of another version' "$gradsync" transitions bad

# ---- what ran, where the recording says it: CTAs change at 1 KiB, the protocol at 1 MiB, times at 64 KiB
mkdir ran
awk -F, 'BEGIN { OFS = "," } NR > 1 { $NF = $11 < 1024 ? "RING/LL ctas=1" : $11 < 1048576 ? "RING/LL ctas=8" : "RING/LL128 ctas=8" } 1' csv/launches.csv >ran/launches.csv
ok 'transitions of what ran' "$gradsync" transitions ran
like "$out" ' switch +512 KiB .. 1 MiB +- +recorded' 'are read'
unlike "$out" 'kink' 'and no kink is fitted'
like "$(row ran/transitions.csv kind=switch)" $'from_B=524288\nto_B=1048576\n.*agree=2\nreplicates=2\nverdict=recorded\n.*reason=RING/LL ctas=8 to RING/LL128 ctas=8' 'the switch, with both sides'
like "$(row ran/transitions.csv kind=CTAs)" $'from_B=512\nto_B=1024\n.*verdict=recorded' 'a number of CTAs is not called a switch'

# ---- one file, one launch: nothing is confirmed, though it has two columns
mkdir columns
awk 'NR == 1 { print; next } { for (place = 0; place <= 1; place++) { row = $0
    sub(/protocol=auto/, "protocol=auto in_place=" (place ? "yes" : "no"), row)
    if (row ~ /,1,5,/) print row } }' csv/launches.csv >columns/launches.csv
ok 'transitions of one launch' "$gradsync" transitions columns
is "$(row columns/transitions.csv kind=kink | grep -E '^(replicates|verdict)')" $'replicates=1\nverdict=unconfirmed\nreplicates=1\nverdict=unconfirmed' 'in place and out of place are a curve each'
unlike "$(cat columns/transitions.csv)" ',confirmed,' 'and neither confirms the other'

# ---- an nccl-tests output of four L40S
fixture=$top/../shared/fixtures/phase1-baseline/nvidial40s_4gpu_results/iteration_1/2026-02-20_20-09-16.txt
if [ -e "$fixture" ]; then
    "$gradsync" import -q --platform l40s --set config=auto -o l40s "$fixture" && "$gradsync" reduce -q l40s -o l40s.csv
    ok 'transitions of an import' "$gradsync" transitions -q l40s.csv
    is "$(row l40s.csv/transitions.csv kind=dip | grep -E '^(size_B|verdict)' | tr '\n' ' ')" 'size_B=16777216 verdict=unconfirmed size_B=16777216 verdict=unconfirmed ' 'the dip at 16 MiB, in either column'
    unlike "$(cut -d, -f20 l40s.csv/transitions.csv)" '^confirmed' 'one file confirms nothing'
else
    skip 'recordings of others' "$fixture is not here"
fi

# ---- limits: what the project's own configs claim
exits 0 'limits of the configs' "$gradsync" limits -o all "$top"/configs/*.ini
like "$err" 'published: .*impossible' 'counts'
like "$err" "no all/summary.csv: only published claims are checked; .*'gradsync reduce'" 'and what could not be judged'
like "$(sed -n 1p <<<"$out")" '^platform +claim +source +of +claimed +possible +fraction +verdict$' 'a table'
like "$(sed -n 2p <<<"$out")" '^wan-4site +tokens_per_s = 840e3 +\[1\] .* 840 ktokens/s +16.8 ktokens/s +50 +impossible$' 'the worst first'
is "$(awk 'NF && $NF ~ /^(impossible|collective|contradicted|unsupported|part|limit|supported|possible)$/ { print $NF }' <<<"$out" | uniq | tr '\n' ' ')" 'impossible collective contradicted unsupported possible ' 'and so on down'
like "$out" $'\n\\[1\\] github.com/[^\n]*\n\\[2\\] ' 'the sources below it'
is "$(row all/limits.csv kind=published source= | wc -l)" 0 'every published number has a source'
quiet=$("$gradsync" limits -q -o quiet "$top"/configs/*.ini 2>&1)
is "$quiet" '' '-q says nothing'
ok 'and writes the same table' cmp all/limits.csv quiet/limits.csv
is "$(head -n 1 all/limits.csv)" 'platform,kind,claim,source,quantity,value,unit,limit,limit_source,fraction,physics,verdict' 'its columns'
verdicts() { row all/limits.csv "$@" | sed -n 's/^verdict=//p'; }
claim() { # WORDS QUANTITY
    verdicts "claim=$1" "quantity=$2"
}
is "$(claim '4.0 GB payload, 50 trials, 16 ranks: algbw 239.742 GBps, busbw 449.515 GBps' busbw)" possible '449.515 GB/s on 2 x 8 H100'
is "$(claim '4.0 GB payload, 50 trials, 16 ranks: algbw 239.742 GBps, busbw 449.515 GBps' busbw/algbw)" possible 'and its algbw'
is "$(claim '~850 GB/s all-reduce on 8 A100, 66% of peak' busbw)" impossible '850 GB/s on 8 A100'
is "$(claim '~850 GB/s all-reduce on 8 A100, 66% of peak' ranks)" 'not a collective' 'by processes of one rank'
is "$(claim '~850 GB/s all-reduce on 8 A100, 66% of peak' 'peak implied')" impossible 'of such a peak'
is "$(claim 'tree is 3-5x faster than ring' speedup)" impossible 'tree 3-5 times faster than ring'
is "$(claim '168 GB/s at 128 MiB on 8 A100, in place' busbw)" possible '168 GB/s on 8 A100'
is "$(claim '15.8 GB/s on 2 L40S' busbw)" possible '15.8 GB/s on 2 L40S'
is "$(claim 'Simple gives the best mean iteration time' launches)" unsupported 'one launch says nothing'
wan() { row all/limits.csv platform=wan-4site "claim=$1" | sed -n 's/^verdict=//p'; }
is "$(wan 'gpu_tokens_per_s = 150e3')" impossible '150K tokens/s of an A100'
is "$(wan 'efficiency = 60%..75%')" contradicted \
    'an efficiency that the plan does not reach is contradicted by the plan, not by physics'
is "$(wan 'sync_time = 20s..30s')" impossible 'a sync in 20-30 s'
like "$(row all/limits.csv platform=wan-4site 'quantity=the training')" '76.1 days' 'the days that it takes'

# ---- measured numbers
cat >p.ini <<'END'
[limits]
busbw = 10GB/s
source = a sheet
[reference]
link = 11GB/s
END
cat >csv/summary.csv <<'END'
run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,n,launches,blocks,warmup_blocks,median_s,ci_low_s,ci_high_s,p95_s,p99_s,min_s,algbw_Bps,busbw_Bps,limit_Bps,limit_fraction,skew_s,converged,status,reason
r,p,null,,c1,a,,2,1,1000,x=1,9,2,9,0,2e-7,2e-7,2e-7,2e-7,2e-7,2e-7,5e9,5e9,10e9,0.5,0,yes,ok,
r,p,null,,c2,b,,2,1,1000,x=1,9,2,9,0,1e-7,1e-7,1e-7,1e-7,1e-7,1e-7,10e9,10e9,10e9,1,0,yes,ok,
r,p,null,,c3,c,,2,1,1000,x=1,9,2,9,0,5e-8,5e-8,5e-8,5e-8,5e-8,5e-8,20e9,20e9,10e9,2,0,yes,ok,
r,p,null,,c4,d,,2,1,1000,x=1,,,,,,,,,,,,,,,,no,skip,"no, ""d"""
r,q,null,,c5,a,,2,1,1000,x=1,9,2,9,0,2e-7,2e-7,2e-7,2e-7,2e-7,2e-7,5e9,5e9,,,0,yes,ok,
END
exits 0 'limits of what was measured' "$gradsync" limits -o csv p.ini
is "$(row csv/limits.csv kind=measured | sed -n 's/^verdict=//p' | tr '\n' ,)" 'possible,at the limit,impossible,no limit,' 'a row a cell with numbers'
is "$(row csv/limits.csv kind=published | sed -n 's/^verdict=//p')" impossible 'a plain rate of [reference] is a claim'
like "$out" 'p +null c 1000 B: x=1 +\[1\] +busbw +20 GB/s +10 GB/s +2 +impossible' 'measured ones stand in the table'
like "$err" 'measured: 1 possible, 1 at the limit, 1 impossible, 1 no limit' 'and counted'
exits 2 'limits of nothing' "$gradsync" limits
printf '[reference]\nclaim.x = y\nclaim.x.given = busbw 3 parrots\n' >wrong.ini
exits 2 'a claim that cannot be read' "$gradsync" limits -o csv wrong.ini
like "$err" "wrong.ini:3: key 'claim.x.given': '3 parrots' is no busbw" 'is named with its place'
done_testing
