# Names for files, which recording is shown where none is named, and formats for other programs.
export GRADSYNC_PLUGIN_PATH=$build/plugins:$build/tests/plugins
told() { "$@" 2>&1 >/dev/null; } # what it says beside its result
p=data/raw/p/null mine=data/raw/here/null/20260101T000000Z-abcd
mkdir -p configs $p
printf '[platform]\nname = here\n[launch]\noversubscribe = yes\n[null]\nsize = 8, 64, 4KiB\nconfig = a, b\n' >configs/mine.ini
whole_run $p/20250101T000000Z-abcd
whole_run $mine
sed -i '1s/"platform":"p"/"platform":"here"/; 1s/"nodes":1/"nodes":1,"hosts":[{"rank":0,"host":"'"$(hostname)"'"}]/' $mine/*.jsonl

# ---- names
$ gradsync plan mine
$ gradsync check mine
$ gradsync help configs
$ gradsync help runs
$ gradsync help recordings
$ gradsync help measured
$ gradsync help plugins | grep -o '^null '
$ gradsync show 20250101T000000Z-abcd
$ for verb in show compare; do gradsync $verb p/null/20250101T000000Z-abcd >shown || echo $verb; done
$ gradsync show herre
# An installed config is found, but one in this folder goes before it.
mkdir -p inst/bin inst/share/gradsync/configs elsewhere
cp $gradsync inst/bin && cp configs/mine.ini inst/share/gradsync/configs/far.ini
$ cd elsewhere && ../inst/bin/gradsync plan far | grep -o 'on here'; cd ..
sed 's/here/nearer/' configs/mine.ini >elsewhere/far.ini
$ cd elsewhere && ../inst/bin/gradsync plan far | grep -o 'on nearer'; cd ..

# ---- which recording: here/null is of this machine, p/null was recorded elsewhere
$ gradsync show p
$ gradsync show
$ gradsync show here
# A recording listed in data/SHA256SUMS is not of this machine, whatever its host name, nor is a platform whose name
# only begins with local.
printf '%064d  %s\n' 0 $mine/MANIFEST.json >data/SHA256SUMS
$ told gradsync show
cp -r data/raw/p data/raw/local-more && sed -i '1s/"platform":"p"/"platform":"local-more"/' data/raw/local-more/*/*/*.jsonl
$ told gradsync show
rm -r data/raw/local-more data/SHA256SUMS
# A later run of another machine is ignored; compare says how many runs it leaves out.
later=$p/20990101T000000Z-abcd
whole_run $later
$ gradsync show | sed -n 1p
$ told gradsync compare p
# A complete run goes before a newer unfinished one, and before a newer one in which all cells failed.
manifest $p/20250101T000000Z-abcd
$ gradsync show p | sed -n 1p
$ told gradsync compare p
whole_run $p/20990101T000001Z-abcd && sed -i '/"type":"block"/d' $p/20990101T000001Z-abcd/*.jsonl && manifest $p/20990101T000001Z-abcd
$ told gradsync show p
rm -rf $p/20990101T000001Z-abcd $p/20250101T000000Z-abcd/MANIFEST.json
mkdir -p data/raw/empty && cp $later/plan.json data/raw/empty
$ gradsync show data/raw/empty
rm -r data/raw/empty
# A run in a lab of this machine is a run of this machine.
sed -i '1s/"ranks":2/"lab":{"host":"'"$(hostname)"'"},&/' $later/*.jsonl
$ gradsync show | sed -n 1p
rm -r $later

# ---- a reason once, below the table
$ gradsync show $top/data/raw/h200-2gpu-collectives/*/*-zero-cta-70cb 2>/dev/null | grep '^\[\| zero  *overlapped'

# ---- a setting that is too long for the table stands below it
$ gradsync show $top/data/raw/h100-2gpu-sock/train/20261126T083617Z-nanogpt-more-5310 2>&1 | grep -v '^warning'
