# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Plugins with faults, from tests/bad_plugins:
#   compile SOURCE SO [FLAG…]                 builds one
#   hunt MEMBER FAULT CODE REGEX [OPTIONS]    builds the small plugin with that function in place of
#                                             the good one; check must exit with CODE and say REGEX
# After sourcing lib.sh.
# shellcheck disable=SC2154 # lib.sh's
export TMPDIR=$tmp # check leaves the recording of a plugin that fails
bad=$top/tests/bad_plugins
compile() {
    local source=$1 so=$2
    shift 2
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -I"$top/runner" -fPIC -shared -O1 -g "$@" -o "$so" \
        "$bad/$source.c" || flunk "$so compiles"
}
hunt() {
    compile bad "$2.so" "-DNAME=$2" "-D$1=$2"
    exits "$3" "check finds $2" "$gradsync" check "${5:--q}" "$2.so"
    like "$err" "$4" "the message describes $2"
    [ "$1" != OPEN ] || [ "$3" = 3 ] || is "$(wc -l <<<"$err")" 1 "$2 is reported in one line"
}
