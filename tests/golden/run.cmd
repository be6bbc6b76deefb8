# Not under ASan: tests/test_run.sh is.
# gradsync run and resume refuse what cannot be run, in one line, and leave no folder.
quick() { # a config of two cells; more lines as arguments
    printf '%s\n' '[launch]' 'ranks = 2' 'oversubscribe = yes' '[measure]' 'launches = 1' 'blocks = 2' 'max_blocks = 2' \
        'warmup = 0' 'warmup_ops = 1' 'budget = 100ms' '[null]' 'size = 8' 'config = a, b' "$@"
}
refused() { # COMMAND…: and what is left
    "$@" -o refused
    echo "$? $(ls -d refused 2>/dev/null)"
}
unset MPI_HOME
quick >quick.ini
quick '[null bad]' 'fault = fail' '[null good]' 'size = 16' >several.ini
quick '[null b]' 'fault = skip' >skips.ini
mkdir empty folder folder/mpirun folder/srun
$ refused gradsync run several.ini --workload nul
echo '[nulll]' >x.ini
$ refused gradsync run x.ini
printf '[platform]\n' >none.ini
$ refused gradsync run none.ini
quick | sed 's/ranks = 2/ranks = 4096/; /oversubscribe/d' >many.ini
$ refused gradsync run many.ini 2>&1 | sed 's/has [0-9]* slots/has N slots/'
$ refused gradsync run quick.ini --set launch:nodes=2
$ refused env MPI_HOME=/nowhere $gradsync run skips.ini
$ refused env PATH=$PWD/empty $gradsync run quick.ini
$ refused env PATH=$PWD/folder $gradsync run quick.ini
$ refused env PATH=$PWD/empty $gradsync run quick.ini --set launch:launcher=srun
$ refused gradsync run quick.ini --set null:size=1024TiB 2>&1 | sed 's/[0-9.]* [TGM]iB/SIZE/g'
$ refused gradsync run quick.ini --worload null
$ refused gradsync run
$ refused gradsync run nowhere.ini
$ gradsync run quick.ini -o quick.ini/data
$ gradsync resume quick.ini
$ gradsync resume empty
# One that is complete has nothing to do; its config is fixed.
gradsync run -q quick.ini -o data && mv data/quick/null/* data/quick/null/r
sed -i 's/"run_id":"[^"]*"/"run_id":"r"/' data/quick/null/r/*.jsonl
for launch in 4294967297 0 1-2; do echo $launch; done >launches
$ for launch in $(<launches); do gradsync resume data/quick/null/r --launch $launch; done
$ gradsync run data/quick/null/r
# A platform, a file or nothing in the place of a run.
mkdir -p data/raw/quad/null/20260101T000000Z-abcd
$ gradsync resume quad
$ gradsync resume zzzz
$ gradsync show quick.ini
