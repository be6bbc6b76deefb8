#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   install.sh BUILD DESTDIR PREFIX PLUGIN…    puts what was built under a prefix
#   install.sh --remove DESTDIR PREFIX         removes the files that it put there, and folders that are empty then
# The programs find the rest from where they themselves are, so a prefix may be moved; only
# gradsync.pc names it.
set -euo pipefail
build=$1 prefix=$(realpath -m -- "$3")
at=$2$prefix
list=$at/share/gradsync/installed # a path a line, from the prefix

if [ "$build" = --remove ]; then
    [ -e "$list" ] || { echo "make uninstall: no gradsync under $at; set PREFIX as for make install" >&2; exit 2; }
    cd "$at"
    mapfile -t files <share/gradsync/installed
    rm -f "${files[@]}" share/gradsync/installed
    dirname "${files[@]}" | sort -ru | while read -r folder; do
        rmdir -p --ignore-fail-on-non-empty "$folder" 2>/dev/null || true
    done
    echo "removed from $at"
    exit 0
fi
shift 3

files=()
place() { # MODE FOLDER FILE…
    local mode=$1 folder=$2
    shift 2
    install -d "$at/$folder"
    [ $# = 0 ] || install -m "$mode" "$@" "$at/$folder"
    for file; do files+=("$folder/${file##*/}"); done
}
shopt -s nullglob
place 755 bin "$build/gradsync" "$build/gradsync-rank"
for plugin; do # NAME, or NAME/BACKEND
    place 755 "lib/gradsync/plugins/$(dirname "$plugin")" "$build/plugins/$plugin.so"
done
place 755 lib/gradsync "$build/libgradsync-engine.so" "$build/libgradsync-audit.so"
place 644 share/man/man1 "$build/gradsync.1"
install -D -m 644 runner/verbs/gradsync.bash "$at/share/bash-completion/completions/gradsync"
files+=(share/bash-completion/completions/gradsync)
place 644 include/gradsync runner/workload.h
place 644 share/gradsync plugins/plugin.mk
place 644 share/gradsync/torch runner/job/torch/sitecustomize.py
place 644 share/gradsync runner/wan/watch.table
place 755 share/gradsync mk/plugin-scaffold
place 644 share/gradsync/template plugins/template/*
place 644 share/gradsync/configs configs/*.ini

install -d "$at/lib/pkgconfig"
version=$(sed -n 's/^#define GRADSYNC_VERSION "\(.*\)"/\1/p' runner/base/version.h)
{
    printf 'prefix=%s\n' "$prefix"
    sed "s/@VERSION@/$version/" gradsync.pc.in
} >"$at/lib/pkgconfig/gradsync.pc"
printf '%s\n' "${files[@]}" lib/pkgconfig/gradsync.pc >"$list"
printf 'installed under %s\n' "$at"
