#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   manual.sh GRADSYNC >gradsync.1
#
# The manual page, from the program's own help: verbs, options, and the keys of a config's sections.
set -euo pipefail
program=$1
gradsync() { (exec -a gradsync "$program" "$@"); } # as a user calls it that has installed it

as_is() { # stdin, to stand as it is
    printf '.nf\n'
    sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'\'']\)/\\\&\1/'
    printf '.fi\n'
}
version=$(gradsync --version | cut -d' ' -f2)
cat <<END
.\\" Made by mk/manual.sh from the program's own help.
.TH GRADSYNC 1 "" "gradsync $version" "User Commands"
.SH NAME
gradsync \\- measure gradient synchronisation
.SH SYNOPSIS
.B gradsync
.I VERB
[options] [arguments]
.SH DESCRIPTION
Measures gradient synchronisation: the communication in every step of data\\-parallel training. Says which
communication setting gives the shortest step, and how certain that is.
.PP
A config is a file, or the bare name of one in ./configs or of one that was installed; a run is its
folder, or its id below data/raw.
.SH VERBS
END
gradsync help verbs | while IFS= read -r verb; do
    printf '.SS %s\n' "$verb"
    gradsync "$verb" --help | as_is
done
printf '.SH CONFIGS\n'
gradsync help config | as_is
gradsync help config | sed -n 's/^  \[\([a-z]*\)\] \*$/\1/p' | while IFS= read -r section; do
    printf '.SS [%s]\n' "$section"
    gradsync help "$section" | awk '/^\[/ { on = 1; next } on' | as_is
done
cat <<'END'
.SH ENVIRONMENT
.TP
.B GRADSYNC_PLUGIN_PATH
Folders to look for plugins in, by colons, before those beside the program.
.TP
.B NO_COLOR
Set to anything: no colours on a terminal.
.TP
.B TMPDIR
Where
.B gradsync check
measures a block of a plugin.
.SH EXIT STATUS
.TP
0
Done.
.TP
1
It ran, but something measured failed, or a file is damaged.
.TP
2
Wrong usage or config.
.TP
3
This machine cannot run it.
.SH EXAMPLES
.nf
gradsync tune -- torchrun --nproc_per_node 2 train.py
gradsync plan local
gradsync run local
gradsync show
gradsync compare
.fi
END
