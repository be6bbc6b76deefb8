#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the runner writes is sound, and a recording that was changed before its run is complete gets no manifest. Every
# fault of a recording is in tests/golden/verify.cmd.
. "$(dirname "$0")/lib.sh"

printf '[launch]\nranks = 1\n[measure]\nlaunches = 1\nbudget = 50ms\nwarmup = '\
'1ms\n[null]\nsize = 8, 16\nconfigs = a, b\n' >tiny.ini
ok 'the runner makes a recording' "$gradsync" run -q tiny.ini -o measured
ok 'the recording of the runner is sound' "$gradsync" check measured
cp -r measured undigested && chmod -R u+w undigested && rm undigested/*/*/*/MANIFEST.json
sed -i -E '$s/,"sha256":"[^"]*"//; s/"time_ns":\[1/"time_ns":[2/' undigested/*/*/*/launch-01.01.jsonl
exits 1 'a run whose digest was removed is not sealed' "$gradsync" resume undigested/*/*/*
like "$err" 'launch-01\.01\.jsonl:[0-9]+: damaged: it has no digest' 'the message says why'
cp -r measured edited && chmod -R u+w edited && rm edited/*/*/*/MANIFEST.json
sed -i '0,/"type":"block"/{/"type":"block"/d}' edited/*/*/*/launch-01.01.jsonl
fails 1 "launch-01\.01\.jsonl:[0-9]+: damaged: the digest in this line.*$(cd edited && echo \
    */*/*): cannot be completed: a recording is damaged" "$gradsync" resume edited/*/*/*
is "$(find edited -name MANIFEST.json)" '' 'an edited run gets no manifest'
mkdir front
cat >front/mpirun <<'END'
#!/usr/bin/env bash
"$MPIRUN" "$@"
rc=$?
sed -i '0,/"type":"block"/{/"type":"block"/d}' lost/*/*/*/launch-01.01.jsonl
exit $rc
END
chmod +x front/mpirun
fails 1 'launch-01\.01\.jsonl:[0-9]+: damaged: the digest in this line' env \
    MPIRUN="$(command -v mpirun)" PATH="$tmp/front:$PATH" "$gradsync" run tiny.ini -o lost
unlike "$err" 'gradsync show' 'show is not recommended for a changed recording'
is "$(find lost -name MANIFEST.json)" '' 'a changed recording gets no manifest'
dead=$(bash -c 'echo $$')
finished=$(echo measured/*/*/*)
chmod u+w "$finished" && rm -f "$finished/MANIFEST.json"
echo old | tee "$finished/.MANIFEST.json.$dead" >"$finished/.MANIFEST.json.$$"
mkdir -p csv && touch "csv/.summary.csv.$dead"
exits 0 'a killed seal is repeated' "$gradsync" resume "$finished"
ok 'what it left is gone' test ! -e "$finished/.MANIFEST.json.$dead"
ok 'the temporary file of a process that runs stays' test -e "$finished/.MANIFEST.json.$$"
chmod u+w "$finished" && rm "$finished/.MANIFEST.json.$$" "$finished/MANIFEST.json"
exits 0 'and the run is sealed again' "$gradsync" resume "$finished"
ok 'the recording of the runner is reduced' "$gradsync" query measured --export csv
is "$(find csv -name '.*')" '' 'reduce removes what a killed reduce left'
is "$(cut -d, -f27 csv/summary.csv | sort -u | tr '\n' ' ')" 'ok status ' \
    "every cell of the runner's recording is ok"
prints $'^null on tiny, run .*\nsize +config .*\n8 +a .*10.0 us' "$gradsync" show measured
done_testing
