# Plugins that do not load, tables that are wrong, and one that is right; helps and lists.
. $top/tests/plugins.sh
for name in other_abi no_symbol bad_size bad_tables load_exits bad; do compile $name $name.so; done
echo 'wl_plugin_v1' >text.so
echo 'int absent(void) { return 1; }' >absent.c
${CC:-gcc} -fPIC -shared -o libabsent.so absent.c
compile bad needs.so -DNAME=needs -Wl,--no-as-needed -L. -labsent
rm libabsent.so
$ gradsync help nul
$ for word in trial control proof worth; do gradsync help $word; done
$ gradsync help ./none.so
$ gradsync help ./other_abi.so
$ gradsync help ./no_symbol.so
$ gradsync help ./text.so
$ gradsync help ./bad_size.so
$ gradsync help ./needs.so
$ gradsync check -q bad_tables.so
# A table without its last line, one that lies nowhere, and members that are too narrow.
table() { compile tables tables.so "$1" && gradsync check -q tables.so 2>&1 | grep -v 'has no [a-z]*()'; }
$ for fault in WIDTH=uint32_t PARAMS=8 PARAMS_END=0 METRICS_END=0 CHOICES_END=0 ADDED_END=0; do table -D$fault; done
# Names.
compile bad measure.so -DNAME=measure && compile bad another.so -DNAME=other
$ for name in another measure no_such_plugin_at_all; do gradsync check -q $name.so; done
$ gradsync help null | head -n 14
# One that ends the process while it is loaded; none of the current folder is loaded.
$ gradsync check load_exits.so
mkdir one && mv bad.so bad_tables.so load_exits.so one
$ GRADSYNC_PLUGIN_PATH=$GRADSYNC_PLUGIN_PATH:one gradsync help plugins | grep 'bad\|null\|exits'
$ (cd one && gradsync help plugins) | grep -c bad
