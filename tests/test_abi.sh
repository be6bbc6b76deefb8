#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Plugins of other versions, and of other people: one is built with an older workload.h, one with a
# newer, and the example of docs/examples is built outside the tree against what was installed.
. "$(dirname "$0")/lib.sh"
unset GRADSYNC_PLUGIN_PATH
cc=${CC:-gcc}
few=(--set measure:launches=1 --set measure:blocks=2 --set measure:max_blocks=2 --set \
    measure:budget=1s
    --set launch:oversubscribe=yes)

# ---- the header grows at its ends alone: tests/abi/layout.txt is what the first plugins were built with ----

ok 'the layout of workload.h compiles' "$cc" -std=c11 -I"$top/runner" -o layout "$top/tests/abi/layout.c"
is "$(./layout)" "$(<"$top/tests/abi/layout.txt")" 'each member of the first ABI is in the same place'

# ---- older and newer plugins ----

old_and_new() { # FOLDER-OF-HEADER WHAT
    mkdir -p "$2" && cp "$top/plugins/template/template.c" "$2/$2.c"
    sed -i "s/template/$2/g" "$2/$2.c"
    ok "a plugin of $2 header builds" make -s -C "$2" -f "$top/plugins/plugin.mk" NAME="$2" \
        CC="$cc" \
        GRADSYNC_INCLUDE="$1"
    says 'a block on 2 ranks was measured and is right' "$gradsync" check "$2/$2.so"
    sed "s/template/$2/g" "$top/plugins/template/template-local.ini" >"$2.ini"
    ok "the plugin of $2 header is measured" env GRADSYNC_PLUGIN_PATH="$tmp/$2" "$gradsync" run \
        "$2.ini" -q -o "raw-$2" "${few[@]}"
    ok "the recording of the plugin of $2 header is reduced" "$gradsync" query -q "raw-$2" --export \
        "csv-$2"
    is "$(grep -c "^[^,]*,local,$2,.*,ok," "csv-$2/summary.csv")" 6 \
        "the table of the plugin of $2 header has each cell"
}
mkdir older-header newer-header
# As it was before the last members of these structs were appended.
awk '/^struct wl_shape/ { s = "shape" } /^struct wl_host/ { s = "host" } /^struct wl_plugin/ { s = "plugin" }
    /^};/ { s = ""; skip = 0 }
    s == "shape" && /bool config_free/ || s == "host" && /Notes a fact about/ ||
        s == "plugin" && /Optional. Called from another thread/ { skip = 1 }
    !skip' "$top/runner/workload.h" >older-header/workload.h
is "$(grep -cE 'config_free|\(\*note\)|\(\*abort\)|\*added' older-header/workload.h)" 0 'the older header lacks these members'
old_and_new "$tmp/older-header" older
later='s|    void (\*abort)(void \*self);|&\n    void (*later)(void *self, int more); |'
sed "$later"'; s|    bool config_free;.*|&\n    double later_still;|' \
    "$top/runner/workload.h" >newer-header/workload.h
is "$(grep -c later newer-header/workload.h)" 2 'the newer header has two more members'
old_and_new "$tmp/newer-header" newer

# ---- the example, outside the tree ----

prefix=$tmp/prefix
run make -s -C "$top" CC="$cc" BUILD="$build" install "PREFIX=$prefix"
is "$rc" 0 'make install succeeds' || diag "$err"
cp -r "$top/docs/examples/mpi_allgather" .
cd mpi_allgather || exit 1
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
if [ ! -e "$prefix/bin/gradsync-rank" ]; then skip_all 'no MPI here'; fi
ok 'the example builds with -Wall -Wextra -Wpedantic -Wconversion as errors' \
    make -s -f "$(pkg-config --variable=plugin_mk gradsync)" NAME=mpi_allgather CC="$cc" \
    WARNINGS='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
ok 'gradsync check accepts the example' "$prefix/bin/gradsync" check ./mpi_allgather.so
ok "gradsync check accepts the example's config" env GRADSYNC_PLUGIN_PATH=. "$prefix/bin/gradsync" check \
    mpi_allgather-local.ini
for ranks in 2 3; do
    ok "the example is measured on $ranks ranks" env GRADSYNC_PLUGIN_PATH=. "$prefix/bin/gradsync" run \
        mpi_allgather-local.ini -q -o "raw$ranks" \
        "${few[@]}" --set "launch:ranks=$ranks" --set mpi_allgather:size=3072,98304
    ok "the recording of $ranks ranks is reduced" "$prefix/bin/gradsync" query -q "raw$ranks" --export \
        "csv$ranks"
    is "$(grep -c ',ok,' "csv$ranks/summary.csv")" 4 \
        "every cell of $ranks ranks is ok, its result verified"
done
fails 2 'is not a multiple of the 3 ranks' env GRADSYNC_PLUGIN_PATH=. "$prefix/bin/gradsync" plan \
    mpi_allgather-local.ini --set launch:ranks=3
# What verify() is for.
sed -i 's/int out = /&0 * /; s/size_t out = (/size_t out = 0 * (/' mpi_allgather.c
ok 'the example with a wrong result builds' make -s -f "$prefix/share/gradsync/plugin.mk" \
    NAME=mpi_allgather CC="$cc"
fails 1 'wrong: .*byte [0-9]+ of rank [01] is' env GRADSYNC_PLUGIN_PATH=. "$prefix/bin/gradsync" run \
    mpi_allgather-local.ini -q -o wrong "${few[@]}" --set mpi_allgather:algorithm=ring
no_orphans 'no process is left'
done_testing
