#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts what was built under a prefix: install.sh BUILD DESTDIR PREFIX PLUGIN…
# The programs find the rest from where they themselves are, so a prefix may be moved; only
# gradsync.pc names it.
set -euo pipefail
build=$1 prefix=$(realpath -m -- "$3")
at=$2$prefix
shift 3

place() { # MODE FOLDER FILE…
    local mode=$1 folder=$at/$2
    shift 2
    install -d "$folder"
    [ $# = 0 ] || install -m "$mode" "$@" "$folder"
}
shopt -s nullglob
place 755 bin "$build/gradsync" "$build/gradsync-rank"
for plugin; do # NAME, or NAME/BACKEND
    place 755 "lib/gradsync/plugins/$(dirname "$plugin")" "$build/plugins/$plugin.so"
done
place 755 lib/gradsync "$build/libgradsync-engine.so" "$build/libgradsync-audit.so"
place 644 share/man/man1 "$build/gradsync.1"
install -D -m 644 runner/verbs/gradsync.bash "$at/share/bash-completion/completions/gradsync"
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
printf 'installed under %s\n' "$at"
