# What plan and check print of configs. Commands that they print keep paths and options.
config() { printf '%s\n' "$@" >x.ini; }
$ gradsync plan $top/configs/local.ini | awk '/^[0-9a-f]+ / && ++n % 9 != 1 { next } 1'
config '[measure]' 'blocks = 4' 'max_blocks = 4' '[null]'
$ gradsync plan x.ini
$ gradsync plan x.ini -w nul
config '[null]' 'size = 8:2MiB:x2' 'config = a, b, c, d'
$ gradsync plan x.ini | sed '9,76d'
$ gradsync plan x.ini --set null:size=8,16 --set measure:seed=7 --set measure:launches=1 | tail -n 6
$ gradsync plan x.ini --set size=8
$ gradsync plan x.ini --set nul:size=8
config '[null]' 'size = 8:79992:+8' 'config = a'
$ gradsync plan x.ini | grep groups
config '[null]' '[slurm]' 'partition = main'
mkdir 'a b' && cp x.ini 'a b/it.ini' && cp $top/configs/local.ini 'a b/my config.ini'
$ gradsync plan 'a b/it.ini' -w null -s measure:launches=2 -s 'null:config=a, b' | tail -n 1
$ gradsync check 'a b/it.ini' --set measure:launches=2
$ gradsync plan 'a b/my config.ini' | grep -v '^[0-9a-f]'
$ gradsync plan 'a b/my config.ini' --set platform:name=mine | tail -n 1
# Lines that end in CR LF, a pipe and another locale give the same cells.
sed 's/$/\r/' $top/configs/local.ini >local.ini
$ diff <(gradsync plan $top/configs/local.ini) <(gradsync plan local.ini)
$ diff <(gradsync plan $top/configs/local.ini) <(env LC_ALL=de_DE.UTF-8 $gradsync plan $top/configs/local.ini)
$ gradsync plan <(printf '[platform]\nname = p\n[null]\n') | sed -n 3p
# Refused, and where: a fault is the last line, and is told once.
$ gradsync plan none.ini
$ gradsync plan .
$ gradsync plan /dev/urandom
config '[nulll]' '[null]'
$ gradsync plan x.ini
config '[null]' 'siez = 8' 'noise = 2' 'tmie = 3'
$ gradsync plan x.ini
config '[measure]' 'launchs = 3' 'blocks = none' '[null]' 'siez = 8' 'noise = 2' '[mpi_alreduce]' 'odd line'
$ gradsync check x.ini
config '[launch]' 'prefix = echo step time: 1; sleep 1'
$ gradsync check x.ini
config '[launch]' 'hosts = vm_1.example.org:4, 10.0.0.2, node[1-2,4]' '[null]'
$ gradsync check x.ini
config '[platform]' 'device = another machine' '[null]' 'size = 512TiB'
$ gradsync plan x.ini | grep 'null\|time:'
