# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Bash completion. It asks the typed program for its verbs, options, configs, plugins and runs.

_gradsync_words() { # GRADSYNC VERB: what the verb's arguments may be called, one a line
    case $2 in
    plan | run | submit | check | model | watch) "$1" help configs ;;&
    show | compare | report) "$1" help measured ;;&
    run | resume | show | compare | check) "$1" help runs ;;
    help) "$1" help verbs && "$1" help plugins | cut -d" " -f1 && printf "%s\n" plugins configs runs measured config && "$1" help config | sed -n 's/^  \[\(.*\)\] \*.*/\1/p' ;;
    esac 2>/dev/null
}

_gradsync() {
    local program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]}
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" help verbs 2>/dev/null)" -- "$cur")
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help $("$program" "$verb" --help 2>/dev/null |
            sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p')" -- "$cur")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "$(_gradsync_words "$program" "$verb")" -- "$cur" && true
            compgen -f -- "$cur")
    fi
}
complete -F _gradsync gradsync
