#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   rooms.sh [BUILD]   every include follows the order of the rooms in CONTRIBUTING.md, and no files of a
#                      room use each other in a circle; in some rooms, public names begin with their module's
# A room may include itself and the rooms above it in that table. A plugin may include workload.h,
# its own folder and plugins/common; wan_links measures over the transport of wan_sync. Modules (NAME.c with NAME.h) must not include each other
# in a circle. Files that share a header can use each other all the same: the objects in BUILD (build), if it
# is there, show which file calls which. Each fault is one line: file, line, what is wrong. Exit code 1 if there is any.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

rooms=$(sed -n 's,^| `runner/\([a-z]*\)/` .*,\1,p' CONTRIBUTING.md)
[ -n "$rooms" ] || { echo 'CONTRIBUTING.md: the table of rooms is missing' >&2; exit 1; }

includes() { # "file:line:included path", from runner/ or plugins/
    { git grep -n '^ *# *include "' -- 'runner/*.[ch]' 'plugins/*.[ch]' 'plugins/*.cu' || [ $? = 1 ]; } |
        sed 's/:[^:"]*"\([^"]*\)".*/:\1/'
}

faults() {
    git ls-files -- runner | awk -F/ 'NF == 2 && $2 != "workload.h" {
        print $0 ": lies outside the rooms of runner/: move it into one (CONTRIBUTING.md)" }'
    includes | awk -F: -v rooms="$rooms" '
        BEGIN { n = split(rooms, name, "\n"); for (i = 1; i <= n; i++) place[name[i]] = i }
        { split($1, at, "/"); split($3, to, "/") }
        $3 == "workload.h" || to[1] == "common" || $1 ~ /^plugins\/template/ { next }
        at[1] == "plugins" && to[1] == at[2] { next }
        at[2] == "wan_links" && $3 ~ /^wan_sync\/transport\// { next }
        at[1] == "plugins" {
            print $1 ":" $2 ": includes \"" $3 "\": a plugin may include workload.h, its own folder and common/"
            next
        }
        !(to[1] in place) {
            print $1 ":" $2 ": includes \"" $3 "\": write it from runner/, as \"room/file.h\"; a new room needs a row in CONTRIBUTING.md"
            next
        }
        place[to[1]] > place[at[2]] {
            print $1 ":" $2 ": includes \"" $3 "\": " at[2] " comes before " to[1] " in the order of the rooms"
        }'
    # tsort names the modules of each circle.
    includes | awk -F: '{ sub(/^(runner|plugins)\//, "", $1); sub(/\.(c|h|cu)$/, "", $1); sub(/\.h$/, "", $3)
        if ($1 != $3) print $1, $3 }' | { tsort 2>&1 >/dev/null || true; } |
        awk '/input contains a loop/ { printf "%smodules include each other:", sep; sep = "\n"; next }
             { sub(/^tsort: /, ""); printf " %s", $0 } END { if (sep) print "" }'
}

uses() { # "ROOM FILE FILE": a file of the room uses a function of another one
    local built=${1:-build}
    [ -d "$built/runner" ] || return 0
    {
        git ls-files -- 'runner/*.c' 'plugins/*.c'
        find "$built/runner" "$built"/plugins/.obj -name '*.o' -exec nm -A {} + 2>/dev/null
    } | awk -v built="$built/" '
        /\.c$/ {
            path = name = substr($0, 1, length($0) - 2)
            gsub(/\//, ".", name)
            source[path] = source[name] = path
            next
        }
        { # "build/runner/base/text.o:0000 T text_add", "build/plugins/.obj/NAME/plugins.common.rng.o:… U exp"
            file = substr($1, 1, index($1, ":") - 1)
            file = substr(file, length(built) + 1, length(file) - length(built) - 2)
            sub(/^plugins\/\.obj\/.*\//, "", file)
            if (!(file in source)) next # of a source that is gone
            $1 = source[file]
        }
        $(NF - 1) ~ /^[TDBR]$/ { of[$NF] = $1 }
        $(NF - 1) == "U" { use[$1, $NF] = 1 }
        function room(file,    part) { split(file, part, "/"); return part[1] "/" part[2] }
        END {
            for (k in use) {
                split(k, u, SUBSEP)
                to = of[u[2]]
                if (to != "" && to != u[1] && room(to) == room(u[1])) print room(to), u[1], to
            }
        }'
}
circles() {
    local all room
    all=$(uses "$@")
    # shellcheck disable=SC2013 # a room is one word
    for room in $(cut -d' ' -f1 <<<"$all" | sort -u); do
        grep "^$room " <<<"$all" | cut -d' ' -f2- | { tsort 2>&1 >/dev/null || true; } |
            awk '/input contains a loop/ { printf "%sfiles use each other in a circle:", sep; sep = "\n"; next }
                 { sub(/^tsort: /, ""); printf " %s", $0 } END { if (sep) print "" }' | sort -u
    done
}

# In these rooms a public name begins with the first word of its module's name: it greps once.
named='plan plugin record cluster'
names() {
    local built=${1:-build} room
    for room in $named; do
        find "$built/runner/$room" -name '*.o' -exec nm -A -g --defined-only {} + 2>/dev/null || true
    done | awk -F: '{
            source = substr($1, length(built) + 2); sub(/o$/, "c", source)
            word = source; sub(/.*\//, "", word); sub(/s?[_.].*/, "", word)
            sub(/.* /, "")
            if (index($0, word) != 1) print source ": " $0 ": a public name begins with " word "_"
        }' built="$built" | while IFS=: read -r source rest; do
        [ ! -e "$source" ] || printf '%s:%s\n' "$source" "$rest"
    done
}

found=$(faults && circles "$@" && names "$@")
[ -z "$found" ] || { printf '%s\n' "$found" >&2; exit 1; }
