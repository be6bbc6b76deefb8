#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mk/rooms.sh: the includes of this tree follow the order of the rooms, and each fault is found.
. "$(dirname "$0")/lib.sh"

command -v git >/dev/null && git -C "$top" rev-parse --git-dir >/dev/null 2>&1 || skip_all \
    'no git checkout'
exits 0 'every include of this tree follows the order of the rooms' bash "$top/mk/rooms.sh"

mkdir -p tree/mk tree/runner/{base,verbs} tree/plugins/{null,wan_sync}
cp "$top/mk/rooms.sh" tree/mk
cp "$top/CONTRIBUTING.md" tree
cd tree || exit
git init -q
lint() { git add -A && run bash mk/rooms.sh; }
put() { printf '%s\n' "${@:2}" >"$1"; }

put runner/workload.h ''
put runner/base/text.c '#include "base/text.h"'
put runner/verbs/main.c '#include "base/text.h"'
put plugins/null/null.c '#include "workload.h"' '#include "null/null.h"' '#include "common/rng.h"'
lint
is "$rc:$err" 0: 'a tree in order has no fault'

put runner/base/text.c '#include "config/config.h"'
lint
like "$rc:$err" '^1:.* base comes before config' 'a room that includes the next below is a fault'
put runner/base/text.c '#include "base/units.h"'
put runner/base/units.h '#include "base/text.h"'
lint
like "$rc:$err" '^1:modules include each other: base/' 'modules that include each other are a fault'
rm runner/base/units.h

put runner/base/text.c ''
put plugins/null/null.c '' '' '#include "base/text.h"'
lint
like "$rc:$err" '^1:plugins/null/null\.c:3: .* a plugin may include workload\.h' \
    'a plugin that includes the runner is a fault'

put plugins/null/null.c ''
put runner/loose.c ''
lint
like "$rc:$err" '^1:runner/loose\.c: ' 'a file outside the rooms is a fault'
rm runner/loose.c

put runner/base/one.c 'int two(void);' 'int one(void);' 'int one(void) { return two(); }'
put runner/base/two.c 'int one(void);' 'int two(void);' 'int two(void) { return one(); }'
mkdir -p build/runner/base
for file in one two; do "${CC:-cc}" -O0 -c -o build/runner/base/$file.o runner/base/$file.c; done
lint
is "$rc" 1 'files of a room that use each other are a fault'
like "$err" '^files use each other in a circle: runner/base/(one|two) runner/base/(one|two)'
rm -r build runner/base/one.c runner/base/two.c

mkdir -p runner/plan build/runner/plan
put runner/plan/plan_io.c 'int plan_read(void);' 'int plan_read(void) { return 0; }'
for name in plan_read sections_of; do
    sed -i "s/int [a-z_]*(/int $name(/g" runner/plan/plan_io.c
    "${CC:-cc}" -c -o build/runner/plan/plan_io.o runner/plan/plan_io.c
    lint
    [ "$name" = plan_read ] && is "$rc:$err" 0: "a name with its module's prefix is no fault"
done
is "$rc:$err" '1:runner/plan/plan_io.c: sections_of: a public name begins with plan_' \
    'a public name without it is a fault'
rm -r build runner/plan

done_testing
