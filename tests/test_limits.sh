#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Curves become transitions.csv; claims, published and measured, limits.csv.
. "$(dirname "$0")/lib.sh"

# row FILE COLUMN=VALUE…: the rows with these values, a field a line as COLUMN=VALUE
row() {
    want=$(printf '%s\n' "${@:2}") awk "$(<"$top/tests/csv.awk")"'
        NR == 1 { n = csv($0, name); next }
        { csv($0, f); m = split(ENVIRON["want"], w, "\n"); good = 1
          for (i = 1; i <= m; i++) { k = w[i]; sub(/=.*/, "", k); v = w[i]; sub(/^[^=]*=/, "", v)
              for (j = 1; j <= n; j++) if (name[j] == k && f[j] != v) good = 0 }
          if (good) for (j = 1; j <= n; j++) print name[j] "=" f[j] }' "$1"
}

# ---- transitions: a kink at 64 KiB in both launches, a spike in one of them; a third broke off
mkdir -p csv
{
    columns='run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,launch,'
    echo "${columns}blocks,median_s,ran"
    awk 'BEGIN { for (l = 1; l <= 2; l++) for (e = 3; e <= 26; e++) {
        n = 2 ^ e; t = n < 65536 ? 5e-6 + n / 8e9 : 25e-6 + n / 100e9
        if (l == 2 && e == 10) t *= 3
        printf "r1,p,\"w, x\",,c%d,auto,,4,1,%d,size=%d protocol=auto,%d,5,%.9g,\n",
            e, n, n, l, t } }'
    echo 'r1,p,"w, x",,c3,auto,,4,1,8,size=8 protocol=auto,3,5,5e-6,'
} >csv/launches.csv
ok 'transitions succeeds' "$gradsync" transitions csv
want=$'^platform +workload .*\np +w, x +auto +- +kink +32 KiB .. 64 KiB +[+]136% +confirmed\n'
like "$out" "$want"$'.*spike .*not confirmed\n.*: csv/transitions.csv'
is "$(awk 'length > 100' <<<"$out")|$("$gradsync" transitions --all csv | grep -c ' kink ')" '|1' \
    'the table of transitions fits 100 columns'
awk -F, 'BEGIN { OFS = FS } { print } NR > 1 { for (i = 1; i < 40; i++) { $2 = "p" i; print } }' \
    csv/launches.csv >many.csv
mkdir many && { head -n 1 csv/launches.csv && tail -n +2 many.csv | sort -t, -k2,2 -s; } \
    >many/launches.csv
is "$("$gradsync" transitions many | awk 'END { print NR <= 24 }')" 1 \
    'a table of many transitions fits 24 lines'
like "$("$gradsync" transitions many)" $'\n[0-9]+ more: --all' \
    'the table says how many transitions it leaves out'
mkdir -p data/raw/p3 data/csv && cp many/launches.csv data/csv
is "$("$gradsync" transitions p3 | awk '/ kink / { print $1 }')" p3 \
    'the name of a platform leaves out the others'
head -n 1 many/launches.csv >data/csv/launches.csv
mkdir data/raw/none
fails 1 "^data/csv/transitions.csv: has no row of platform 'none'.*'make tables'" "$gradsync" \
    transitions none
exits 2 'transitions refuses a file' "$gradsync" transitions ./csv/transitions.csv
is "$err" './csv/transitions.csv: is not a folder; give a folder of tables, such as data/csv, or a platform' \
    'the message says what to give'
rm -r data
columns='platform,workload,label,config,mode,ranks,nodes,kind,size_B,from_B,to_B,before_a_s,'
columns+='before_b_Bps,after_a_s,after_b_Bps,change,agree,replicates,verdict,fit_error,'
columns+='fit_error_out,reason,param_protocol'
is "$(head -n 1 csv/transitions.csv)" "$columns" 'transitions.csv has these columns in this order'
like "$(row csv/transitions.csv kind=kink)" \
    $'workload=w, x\n.*from_B=32768\nto_B=65536\n.*agree=2\nreplicates=2\nverdict=confirmed' \
    'a kink of both launches is confirmed, with the sizes around it'
like "$(row csv/transitions.csv kind=spike)" \
    $'size_B=1024\n.*agree=1\nreplicates=2\nverdict=not confirmed' \
    'a spike of one launch is not confirmed'
is "$(row csv/transitions.csv kind=fit | grep -c ^kind)" 2 \
    'a curve with one kink is fitted with two pieces'
cp csv/transitions.csv first
ok 'transitions -q succeeds' "$gradsync" transitions -q csv
is "$out$err" '' 'transitions -q prints nothing'
ok 'transitions writes the same bytes a second time' cmp first csv/transitions.csv
exits 2 'transitions of a folder that does not exist is refused' "$gradsync" transitions nowhere
fails1 2 "^cvs: .*did you mean 'csv'" "$gradsync" transitions cvs
mkdir bad
sed '2,$ s/^r1,/r1,more,/' csv/launches.csv >bad/launches.csv
fails 1 'bad/launches.csv:2: 16 fields under a header of 15' "$gradsync" transitions bad
ok 'a damaged table leaves no transitions.csv' test ! -e bad/transitions.csv
sed 's/median_s/median/' csv/launches.csv >bad/launches.csv
exits 2 'a table with other columns is refused' "$gradsync" transitions bad

# ---- what ran, where the recording says it: the number of CTAs changes at 1 KiB, the protocol at
# 1 MiB, and times change at 64 KiB
mkdir ran
awk -F, 'BEGIN { OFS = "," }
    NR > 1 { $NF = ($11 < 1048576 ? "RING/LL" : "RING/LL128") " ctas=" ($11 < 1024 ? 1 : 8) }
    1' csv/launches.csv >ran/launches.csv
prints ' switch +512 KiB .. 1 MiB +- +recorded' "$gradsync" transitions ran
unlike "$out" 'kink' 'no kink is fitted where the recording says what ran'
want=$'from_B=524288\nto_B=1048576\n.*agree=2\nreplicates=2\nverdict=recorded\n'
like "$(row ran/transitions.csv kind=switch)" \
    "$want"$'.*reason=RING/LL ctas=8 to RING/LL128 ctas=8' \
    'a recorded switch has what ran on both sides of it'
like "$(row ran/transitions.csv kind=CTAs)" $'from_B=512\nto_B=1024\n.*verdict=recorded' \
    'a change of CTAs alone is not called a switch'

mkdir part
{
    cat ran/launches.csv
    awk -F, 'BEGIN { OFS = "," } NR > 1 && $13 == 2 && $11 != 1048576 { $13 = 4; print }' \
        ran/launches.csv
} >part/launches.csv
ok 'transitions succeeds where a launch lacks a size' "$gradsync" transitions -q part
like "$(row part/transitions.csv kind=switch)" "$want" \
    'a switch keeps its sizes where one launch of three lacks one of them'

# ---- one file, one launch: nothing is confirmed, though it has two columns
mkdir columns
awk 'NR == 1 { print; next } { for (place = 0; place <= 1; place++) { row = $0
    sub(/protocol=auto/, "protocol=auto in_place=" (place ? "yes" : "no"), row)
    if (row ~ /,1,5,/) print row } }' csv/launches.csv >columns/launches.csv
ok 'transitions of one launch succeeds' "$gradsync" transitions columns
is "$(row columns/transitions.csv kind=kink | grep -E '^(replicates|verdict)')" \
    $'replicates=1\nverdict=unconfirmed\nreplicates=1\nverdict=unconfirmed' \
    'times in place and out of place are a curve each'
unlike "$(cat columns/transitions.csv)" ',confirmed,' \
    'two curves of one launch do not confirm each other'

# ---- an nccl-tests output of four L40S
fixture=$top/../shared/fixtures/phase1-baseline/nvidial40s_4gpu_results/iteration_1
fixture=$fixture/2026-02-20_20-09-16.txt
if [ -e "$fixture" ]; then
    "$gradsync" import -q --platform l40s --set config=auto -o l40s "$fixture" && "$gradsync" \
        reduce -q l40s -o l40s.csv
    ok 'transitions of an import succeeds' "$gradsync" transitions -q l40s.csv
    is "$(row l40s.csv/transitions.csv kind=dip | grep -E '^(size_B|verdict)' | tr '\n' ' ')" \
        'size_B=16777216 verdict=unconfirmed size_B=16777216 verdict=unconfirmed ' \
        'the dip of the L40S at 16 MiB is found in place and out of place'
    unlike "$(cut -d, -f19 l40s.csv/transitions.csv)" '^confirmed' \
        'one imported file confirms nothing'
else
    skip 'recordings of others' "$fixture is not here"
fi

# ---- limits: what the project's own configs claim
says 'published: .*impossible' "$gradsync" limits -o all "$top"/configs/*.ini
like "$err" "no all/summary.csv: only published claims are checked; .*'gradsync reduce'"
like "$(sed -n 1p <<<"$out")" \
    '^platform +claim +source +of +claimed +possible +fraction +verdict$' \
    'the table of limits has a header'
like "$(sed -n 2p <<<"$out")" \
    '^wan-4site +tokens_per_s = 840e3 +\[1\] .* 840 ktokens/s +16.8 ktokens/s +50 +impossible$' \
    'the first claim is the one furthest beyond its limit'
known='^(impossible|collective|contradicted|unreached|unsupported|part|limit|supported|possible)$'
is "$(awk -v known="$known" 'NF && $NF ~ known { print $NF }' <<<"$out" | uniq | tr '\n' ' ')" \
    'impossible collective contradicted unreached unsupported possible ' \
    'claims are sorted by verdict, from impossible to possible'
like "$out" $'\n\\[1\\] github.com/[^\n]*\n\\[2\\] ' 'the sources stand below the table'
is "$(row all/limits.csv kind=published source= | wc -l)" 0 'every published number has a source'
quiet=$("$gradsync" limits -q -o quiet "$top"/configs/*.ini 2>&1)
is "$quiet" '' 'limits -q prints nothing'
ok 'limits -q writes the same table' cmp all/limits.csv quiet/limits.csv
is "$(head -n 1 all/limits.csv)" \
    'platform,kind,claim,source,quantity,value,unit,limit,limit_source,fraction,physics,verdict' \
    'limits.csv has these columns in this order'
verdicts() { row all/limits.csv "$@" | sed -n 's/^verdict=//p'; }
h100='4.0 GB payload, 50 trials, 16 ranks: algbw 239.742 GBps, busbw 449.515 GBps'
# claim WORDS QUANTITY
claim() {
    verdicts "claim=$1" "quantity=$2"
}
is "$(claim "$h100" busbw)" possible 'a busbw of 449.515 GB/s on 2 x 8 H100 is possible'
is "$(claim "$h100" busbw/algbw)" possible 'the algbw published with that busbw is possible'
is "$(claim '~850 GB/s all-reduce on 8 A100, 66% of peak' busbw)" impossible \
    '850 GB/s on 8 A100 is impossible'
is "$(claim '~850 GB/s all-reduce on 8 A100, 66% of peak' ranks)" 'not a collective' \
    '850 GB/s on processes of one rank are not of a collective'
is "$(claim '~850 GB/s all-reduce on 8 A100, 66% of peak' 'peak implied')" impossible \
    '850 GB/s as 66% of the peak imply an impossible peak'
is "$(claim 'tree is 3-5x faster than ring' speedup)" impossible \
    'a tree 3-5 times faster than a ring is impossible'
is "$(claim '168 GB/s at 128 MiB on 8 A100, in place' busbw)" possible \
    '168 GB/s on 8 A100 is possible'
is "$(claim '15.8 GB/s on 2 L40S' busbw)" possible '15.8 GB/s on 2 L40S is possible'
is "$(claim 'Simple gives the best mean iteration time' launches)" unsupported \
    'a best config of one launch is unsupported'
wan() { row all/limits.csv platform=wan-4site "claim=$1" | sed -n 's/^verdict=//p'; }
is "$(wan 'gpu_tokens_per_s = 150e3')" impossible '150,000 tokens/s on one A100 are impossible'
is "$(wan 'efficiency = 60%..75%')" unreached \
    'an efficiency that physics allows and the plan does not reach is unreached, as model says'
is "$(wan 'sync_time = 20s..30s')" impossible 'a WAN synchronisation in 20-30 s is impossible'
like "$(row all/limits.csv platform=wan-4site 'quantity=the training')" '76.1 days' \
    'the reason names the 76.1 days that the training takes'

# ---- measured numbers
cat >p.ini <<'END'
[limits]
busbw = 10GB/s
source = a sheet
[reference]
link = 11GB/s
END
columns='run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,n,launches,'
columns+='blocks,warmup_blocks,median_s,ci_low_s,ci_high_s,p95_s,p99_s,min_s,algbw_Bps,busbw_Bps,'
columns+='limit_Bps,limit_fraction,skew_s,converged,status,reason'
{ echo "$columns" && cat; } >csv/summary.csv <<'END'
r,p,null,,c1,a,,2,1,1000,x=1,9,2,9,0,2e-7,2e-7,2e-7,2e-7,2e-7,2e-7,5e9,5e9,10e9,0.5,0,yes,ok,
r,p,null,,c2,b,,2,1,1000,x=1,9,2,9,0,1e-7,1e-7,1e-7,1e-7,1e-7,1e-7,10e9,10e9,10e9,1,0,yes,ok,
r,p,null,,c3,c,,2,1,1000,x=1,9,2,9,0,5e-8,5e-8,5e-8,5e-8,5e-8,5e-8,20e9,20e9,10e9,2,0,yes,ok,
r,p,null,,c4,d,,2,1,1000,x=1,,,,,,,,,,,,,,,,no,skip,"no, ""d"""
r,q,null,,c5,a,,2,1,1000,x=1,9,2,9,0,2e-7,2e-7,2e-7,2e-7,2e-7,2e-7,5e9,5e9,,,0,yes,ok,
END
exits 0 'limits of measured times succeeds' "$gradsync" limits -o csv p.ini
is "$(row csv/limits.csv kind=measured | sed -n 's/^verdict=//p' | tr '\n' ,)" \
    'possible,at the limit,impossible,no limit,' \
    'each cell with a bus bandwidth is judged against its limit'
is "$(row csv/limits.csv kind=published | sed -n 's/^verdict=//p')" impossible \
    'a plain rate in [reference] is judged as a claim'
like "$out" 'p +null c 1000 B: x=1 +\[1\] +busbw +20 GB/s +10 GB/s +2 +impossible'
like "$err" 'measured: 1 possible, 1 at the limit, 1 impossible$'
unlike "$out" $'\nq ' 'the table of limits leaves out the platforms of other configs'
exits 2 'limits without a table or a config is refused' "$gradsync" limits

# ---- an algorithm that is not stated may be reduction in the switch
mkdir nvls && cd nvls || exit
cat >h.ini <<'END'
[platform]
device = Example GPU 40GB
[launch]
ranks = 8
[limits]
busbw = 300GB/s
link = 300GB/s
source = a data sheet
END
{ echo "$columns" && cat; } >auto.csv <<'END'
r,h,nccl_allreduce,,c1,unstated,,8,1,1073741824,size=1GiB,9,2,9,0,5.9e-3,,,,,,181.99e9,318.48e9,300e9,1.06,0,yes,ok,
r,h,nccl_allreduce,,c2,unstated,,8,1,1073741824,size=1GiB,9,2,9,0,3.5e-3,,,,,,306.8e9,536.87e9,300e9,1.79,0,yes,ok,
END
verdicts_of() { "$gradsync" limits -q -o "$1" "$2" && row "$1/limits.csv" kind=measured |
    sed -n 's/^verdict=//p' | tr '\n' ,; }
mkdir auto ring off && cp auto.csv auto/summary.csv && cp auto.csv off/summary.csv
is "$(verdicts_of auto h.ini)" \
    'above the link: only with reduction in the switch,impossible,' \
    'above the link, an all-reduce is impossible only if its switch could not reduce'
sed 's/size=1GiB/algorithm=ring/' auto.csv >ring/summary.csv
is "$(verdicts_of ring h.ini)" 'impossible,impossible,' 'a ring is impossible above the link'
mkdir nvls-off && sed 's/ranks = 8/&\nargs = -x NCCL_NVLS_ENABLE=0/' h.ini >nvls-off/h.ini
is "$(verdicts_of off nvls-off/h.ini)" 'impossible,impossible,' \
    'without NVLS it is impossible above the link'
cd .. || exit

# ---- curves too short for any statement
mkdir short && awk -F, 'NR == 1 || $11 < 128' csv/launches.csv >short/launches.csv
prints '^nothing can be said: every curve has fewer than 6 sizes, or is irregular' "$gradsync" \
    transitions short

# ---- limits of one config is for reading: the table of all recordings stays

mkdir -p alone/data/csv && echo kept >alone/data/csv/limits.csv
cd alone || exit
exits 0 'limits of a config is printed' "$gradsync" limits ../p.ini
printed=$out$err
is "$(ls data/csv) $(<data/csv/limits.csv)" 'limits.csv kept' 'and replaces no table'
like "$printed" 'which -o FOLDER writes' 'it says how to get the table'
cd .. || exit

done_testing
