#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A new plugin from the template: in a copy of the tree, and outside it against what was installed.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS GRADSYNC_PLUGIN_PATH
cc=${CC:-gcc}

# ---- in the tree ----

tree="$tmp/a tree"
mkdir "$tree"
(cd "$top" && cp -a GNUmakefile gradsync.pc.in mk plugins runner configs "$tree")
mkdir "$tree/tests"
cp -a "$top/tests/lib.sh" "$tree/tests"
mkdir "$tree/build"
cp -a "$build/gradsync" "$build/gradsync-rank" "$build/plugins" "$tree/build"
in_tree() { make -s -C "$tree" CC="$cc" BUILD=build "$@"; }

for name in '' Foo 3d foo-bar 'a b' ../foo template common null \
    a_name_that_is_longer_than_32_chars; do
    run in_tree plugin "NAME=$name"
    is "$rc" 2 "the name '$name' is refused"
    like "$err" 'gradsync: plugin: ' 'with a line that says so'
done
is "$(cd "$tree" && find plugins configs -newer "$tree/tests" -type f)" '' 'and nothing was written'

ok 'make plugin NAME=foo' in_tree plugin NAME=foo
for file in plugins/foo/foo.c configs/foo-local.ini tests/test_foo.sh; do
    ok "makes $file" test -s "$tree/$file"
    is "$(grep -c template "$tree/$file")" 0 'with its own name everywhere'
done
run in_tree plugin NAME=foo
is "$rc" 2 'a second time it is refused'
ok 'it builds as generated' in_tree build/plugins/foo.so
ok 'its config is good' "$tree/build/gradsync" check "$tree/configs/foo-local.ini"
ok 'its own test passes' env BUILD="$tree/build" bash "$tree/tests/test_foo.sh"
unlike "$out" 'not ok' 'every point of it'
sed -i 's/= p->from\[i\];/= p->from[i] + 1;/' "$tree/plugins/foo/foo.c"
ok 'broken, it builds' in_tree build/plugins/foo.so
run env BUILD="$tree/build" bash "$tree/tests/test_foo.sh"
is "$rc" 1 'and its test fails'

# ---- installed, outside the tree ----

prefix="$tmp/in st"
run make -s -C "$top" CC="$cc" BUILD="$build" install "PREFIX=$prefix"
is "$rc" 0 'make install' || diag "$err"
for file in bin/gradsync bin/gradsync-rank lib/gradsync/plugins/null.so \
    include/gradsync/workload.h \
    lib/gradsync/libnccl-tuner-gradsync.so \
    share/gradsync/plugin.mk share/gradsync/configs/local.ini lib/pkgconfig/gradsync.pc; do
    ok "installs $file" test -s "$prefix/$file"
done
mkdir outside
cd outside || exit 1
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
ok 'the scaffold, installed' "$(pkg-config --variable=scaffold gradsync)" bar
cd bar || exit 1
ok 'builds with the header, plugin.mk and pkg-config alone' \
    make -s -f "$(pkg-config --variable=plugin_mk gradsync)" NAME=bar CC="$cc"
ok 'passes its check' "$prefix/bin/gradsync" check ./bar.so
ok 'and its config' "$prefix/bin/gradsync" check bar-local.ini
like "$("$prefix/bin/gradsync" list)" 'bar .*copies a buffer' 'is listed'
like "$("$prefix/bin/gradsync" list)" 'null .*scripted samples' 'beside the installed ones'
is "$(pkg-config --variable=plugindir gradsync)" "$prefix/lib/gradsync/plugins" 'plugindir'
ok 'clean' make -s -f "$(pkg-config --variable=plugin_mk gradsync)" NAME=bar clean
ok 'GRADSYNC_INCLUDE in place of pkg-config' env -u PKG_CONFIG_PATH \
    make -s -f "$prefix/share/gradsync/plugin.mk" NAME=bar CC="$cc" \
    GRADSYNC_INCLUDE="$prefix/include/gradsync"
run env -u PKG_CONFIG_PATH PKG_CONFIG_LIBDIR=/nowhere \
    make -s -B -f "$prefix/share/gradsync/plugin.mk" NAME=bar CC="$cc"
is "$rc" 2 'with neither it does not build'
like "$err" 'PKG_CONFIG_PATH' 'and says how'
no_orphans 'nothing is left running'
done_testing
