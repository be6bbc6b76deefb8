#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A journey: a plugin is made from the template, built, checked and measured.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/documents.sh"

a_checkout "$tmp/a_checkout"
cd "$tmp/a_checkout" || exit 1
unset BUILD GRADSYNC_PLUGIN_PATH
ok 'make plugin writes a plugin' make plugin NAME=foo
ok 'it builds' make build/plugins/foo.so
exits 0 'it is accepted' "$gradsync" check build/plugins/foo.so
exits 0 'its config is accepted' env GRADSYNC_PLUGIN_PATH=build/plugins "$gradsync" check configs/foo-local.ini
exits 0 'it is measured' env GRADSYNC_PLUGIN_PATH=build/plugins "$gradsync" run configs/foo-local.ini
prints 'foo' env GRADSYNC_PLUGIN_PATH=build/plugins "$gradsync" show data/raw/local/foo/*
ok 'its own test passes' env BUILD="$PWD/build" bash tests/test_foo.sh
cd "$tmp" || exit 1
no_orphans 'nothing is left running'
done_testing
