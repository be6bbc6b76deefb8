#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A new plugin from the template: in a copy of the tree, and outside it against what was installed.
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

sections=$("$gradsync" help config | sed -n 's/^  \[\([a-z]*\)[] ].*/\1/p' | sort -u)
like " ${sections//$'\n'/ } " ' launch .* slurm ' 'help config lists the sections of configs'
# shellcheck disable=SC2086
for name in '' Foo 3d foo-bar 'a b' ../foo template common $sections \
    a_name_that_is_longer_than_32_chars; do
    exits 2 "the name '$name' is refused" in_tree plugin "NAME=$name"
    like "$err" 'gradsync: plugin: ' "the message says that the name '$name' is refused"
done
is "$(cd "$tree" && find plugins configs -newer "$tree/tests" -type f)" '' \
    'a refused name leaves no file'

ok 'make plugin NAME=foo succeeds' in_tree plugin NAME=foo
for file in plugins/foo/foo.c plugins/foo/build.mk configs/foo-local.ini tests/test_foo.sh; do
    ok "make plugin makes $file" test -s "$tree/$file"
    is "$(grep -c template "$tree/$file")" 0 "$file has the name of the new plugin everywhere"
done
# Buffers at about the same offset within a page alias, which slows a copy down tenfold.
cat >offsets.c <<END
#include "$tree/plugins/foo/foo.c"
int main(void)
{
    struct wl_host host = {0};
    struct self self = {&host};
    for (uint64_t size = 8; size <= 1 << 20; size *= 2) {
        void *prepared;
        if (prepare(&self, &(struct cell){size, 0}, &prepared))
            return 1;
        const struct prepared *p = prepared;
        printf("%d\n", (int)(((uintptr_t)p->to - (uintptr_t)p->from) % 4096));
        release(prepared);
    }
    return 0;
}
END
ok 'a program that asks where the buffers are builds' "$cc" -D_GNU_SOURCE -I"$tree/runner" \
    offsets.c -o offsets
is "$(./offsets | sort -u)" 2048 'the buffers of a new plugin are half a page apart'
exits 2 'an existing plugin is not made a second time' in_tree plugin NAME=foo
ok 'a new plugin builds as generated' in_tree build/plugins/foo.so
printf '#include <mpi.h>\n' >>"$tree/plugins/foo/foo.c"
sed -i 's/^# foo_needs/foo_needs/' "$tree/plugins/foo/build.mk"
ok 'a plugin that needs MPI builds with its line of build.mk' in_tree build/plugins/foo.so
sed -i 's/= p->from\[i\];/= p->from[i] + 1;/' "$tree/plugins/foo/foo.c"
ok 'a new plugin with a mistake builds' in_tree build/plugins/foo.so
run env BUILD="$tree/build" bash "$tree/tests/test_foo.sh"
is "$rc" 1 'the test of a plugin with a mistake fails'

# ---- installed, outside the tree ----

prefix="$tmp/in st"
run make -s -C "$top" CC="$cc" BUILD="$build" install "PREFIX=$prefix"
is "$rc" 0 'make install succeeds' || diag "$err"
for file in bin/gradsync bin/gradsync-rank lib/gradsync/plugins/mpi_allreduce.so \
    include/gradsync/workload.h \
    lib/gradsync/libgradsync-engine.so \
    share/gradsync/plugin.mk share/gradsync/watch.table share/gradsync/configs/local.ini lib/pkgconfig/gradsync.pc; do
    ok "make install installs $file" test -s "$prefix/$file"
done
mkdir outside
cd outside || exit 1
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
ok 'the installed scaffold makes a plugin' "$(pkg-config --variable=scaffold gradsync)" bar
cd bar || exit 1
ok 'the installed scaffold makes build.mk' grep -qx '# bar_needs := mpi' build.mk
ok 'a plugin builds with GRADSYNC_INCLUDE and no pkg-config' env -u PKG_CONFIG_PATH \
    make -s -f "$prefix/share/gradsync/plugin.mk" NAME=bar CC="$cc" \
    GRADSYNC_INCLUDE="$prefix/include/gradsync"
ok 'a plugin made outside the tree passes its check' "$prefix/bin/gradsync" check ./bar.so
ok 'the config of a plugin made outside the tree is good' env GRADSYNC_PLUGIN_PATH=. "$prefix/bin/gradsync" check bar-local.ini
exits 2 'a plugin without GRADSYNC_INCLUDE and pkg-config does not build' env -u PKG_CONFIG_PATH \
    PKG_CONFIG_LIBDIR=/nowhere make -s -B -f "$prefix/share/gradsync/plugin.mk" NAME=bar CC="$cc"
like "$err" 'PKG_CONFIG_PATH' 'the message names PKG_CONFIG_PATH'
no_orphans 'no process is left running'
done_testing
