#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What can be had without root and a compiler: the wheel in a venv, and the tarball in a folder of its own.
. "$(dirname "$0")/lib.sh"
unset GRADSYNC_PLUGIN_PATH # the tests have a plugin of their own

python3 -c 'import venv, ensurepip' 2>/dev/null || skip_all 'python3 has no venv'
run make -C "$top" BUILD="$build" wheel dist
is "$rc, $err" '0, ' 'make wheel dist'
wheel=$(find "$build" -maxdepth 1 -name 'gradsync-*.whl') tarball=$(find "$build" -maxdepth 1 -name 'gradsync-*.tar.gz')
like "$wheel" 'py3-none-manylinux_2_[0-9]+_[a-z0-9_]+\.whl$' 'its tag names the oldest glibc'

python3 -m venv env
ok 'pip installs it without an index' env/bin/pip -q install --no-index "$wheel"
mkdir unpacked && tar -xzf "$tarball" -C unpacked --strip-components=1
for at in "$tmp/env" "$tmp/unpacked"; do
    # Only what every Linux has: the libraries are in the program.
    is "$(ldd "$at/bin/gradsync" | grep -cv 'linux-vdso\|libc\.\|libm\.\|ld-linux')" 0 "${at##*/}: needs the C library alone"
    prints '^gradsync [0-9.]+' "$at/bin/gradsync" --version
    prints 'NCCL_' "$at/bin/gradsync" tune --dry-run -- true
    ok "${at##*/}: the engine is there" test -e "$at/lib/gradsync/libgradsync-engine.so" -a -e "$at/lib/gradsync/libgradsync-audit.so"
    fails 3 "this installation has none .*build gradsync from its source" "$at/bin/gradsync" run local
    is "$(wc -l <<<"$err")" 1 "${at##*/}: that is said once"
    prints 'No plugins here: plan, run and submit need' "$at/bin/gradsync" help
done

# A user without root, in an empty folder, as from another machine.
mkdir empty && chmod 755 . && as_user=()
if [ "$(id -u)" = 0 ]; then chown nobody empty && as_user=(setpriv --reuid nobody --regid nogroup --clear-groups); fi
in_empty() { env -i -C "$tmp/empty" HOME="$tmp/empty" PATH="$tmp/env/bin:/usr/bin:/bin" "${as_user[@]}" "$@"; }
prints '^gradsync model' in_empty gradsync model --help
prints 'steps? ' in_empty gradsync model wan-4site --csv model.csv
ok 'the manual page is there' test -s env/share/man/man1/gradsync.1
prints 'tune' in_empty bash -c ". '$tmp/env/share/bash-completion/completions/gradsync'; COMP_WORDS=(gradsync tu) COMP_CWORD=1
    _gradsync; echo \"\${COMPREPLY[@]}\""
if [ -x "$build/examples/mpi_train" ]; then
    cp "$build/examples/mpi_train" empty
    prints '^(Not shown: c|C)ommunication costs ' in_empty gradsync tune --minutes 2 --only algorithm=3 -l 2 -- mpirun --oversubscribe -n 2 ./mpi_train rest=1
    ok 'what it measured is below the current folder' test -d empty/data/raw/job
else
    skip 'tune takes a price' 'built without MPI'
fi
ok 'pip removes it' env/bin/pip -q uninstall -y gradsync
is "$(find env -name '*gradsync*')" '' 'nothing of it is left'
done_testing
