# Not under ASan: what is read is fuzzed with it.
# The store of all recordings, and gradsync query: formats, files, what it refuses, and what changes on the disk.
make() { mkdir -p "$(dirname "$1")" && "$build/sim/make_campaign" "$@"; }
lines() { gradsync query -q --format lines "$@"; }
one=data/raw/sim/null/1 two=data/raw/sim/null/2
make $one groups=2 seed=1 && make $two groups=2 seed=2
count='SELECT count(*) AS n, count(DISTINCT run) AS runs FROM block'

# ---- each block of the recordings is a row, and each sample with its time; a second query reads nothing twice
$ for n in 1 2; do gradsync query --format csv "$count"; done
$ cat $one/*.jsonl $two/*.jsonl | grep -c '"type":"block"'
$ lines 'SELECT count(*), sum(time_ns) FROM sample'
$ cat $one/*.jsonl $two/*.jsonl | sed -n 's/.*"time_ns":\[\(.*\)\]}/\1/p' | tr ',' '\n' | awk '{ n++; s += $1 } END { printf "%d %.0f\n", n, s }'
# The numbers of summary.csv, with no more digits than the file has.
gradsync query -q data/raw --export csv
$ diff <(lines 'SELECT cell_id, median_s, ci_low_s, p99_s FROM summary' | sort) <(csv csv/summary.csv 1 cell_id median_s ci_low_s p99_s | sort) && wc -l <csv/summary.csv
$ lines "SELECT count(*), sum(median_s <> CAST(printf('%.12g', median_s) AS REAL)) FROM summary"
# A query of a folder reads that folder.
$ lines "$count" $one && cat $one/*.jsonl | grep -c '"type":"block"'

# ---- files are tables: parameters in the order of their names, a column that one lacks is NULL
printf 'run_id,size_B,param_b,param_a\nx,8,2,1\n' >summary.csv
$ lines --table summary.csv --set a=x 'CREATE TEMP TABLE s AS SELECT * FROM summary WHERE run_id = :a; SELECT run_id, size_B, params, median_s FROM s'
$ lines --table other=summary.csv 'SELECT run_id, :b FROM other'
$ for number in 0x10 ' 8' nan inf 8B; do printf 'size_B\n%s\n' "$number" >odd.csv; gradsync query --table odd.csv 'SELECT size_B FROM odd'; done
$ gradsync query 'CREATE TABLE x (a); SELECT 1'

# ---- formats: units in text, SI units in CSV
select='SELECT run_id, 1.5e-3 AS step_s, 4096 AS size_B, NULL AS none, 2.5e9 AS busbw_Bps FROM run ORDER BY run_id LIMIT 1'
odd="SELECT 'a\"b,c' AS text, 'd|e' AS bar"
$ for format in text csv json; do gradsync query --format $format "$select"; done
$ gradsync query --format csv "$odd"
$ gradsync query --format jsn 'SELECT 1'
$ lines "SELECT shorten('Grün', 4), shorten('Grün!', 4)"

# ---- a query only reads, and no view needs quotes
$ gradsync query 'SELEC 1'
$ gradsync query 'DELETE FROM run'
$ gradsync query 'DELETE FROM run RETURNING dir'
$ gradsync query 'SELECT 1; SELECT 2'
$ gradsync query 'DROP TABLE run'
$ gradsync query "ATTACH 'x' AS y"
echo 'SELECT 1 AS x' >one.sql
$ gradsync query --table one.sql 'SELECT x FROM one'
$ gradsync query --table one.sql "ATTACH 'written' AS y; SELECT 1"; ls written
$ lines "$count"

# ---- what changes on the disk: a run that is gone leaves no row, and comes back
mv $two gone
$ lines "$count"
$ for table in run host cell param grp block summary launches compare; do lines "SELECT count(DISTINCT run) FROM $table"; done | uniq -c
mv gone $two
$ lines "$count"
# Nothing of a damaged recording is in the store.
file=$two/launch-01.01.jsonl
chmod -R u+w data/raw && cp $file sound && sed -i '12s/"iters":[0-9]*/"iters":0/' $file
$ gradsync query "$count"
$ lines "$count"
cp sound $file
$ lines "$count"
# An edit that keeps the size, a limit in the config of the platform, and a torn line.
sed -i '1s/"commit":"./"commit":"Z/' $file
$ lines "SELECT count(*) FROM run WHERE git_commit LIKE 'Z%'"
cp sound $file && mkdir configs
$ for limit in 10 20; do printf '[limits]\nbusbw = %sGB/s\nsource = x\n' $limit >configs/sim.ini; lines 'SELECT max(limit_Bps) FROM summary'; done
rm -r configs data/gradsync.db*
printf '{"type":"bl' >>$file
$ gradsync query --format lines "$count"
cp sound $file
