#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   latex.sh --found              says what is missing, and fails with 3, if anything is
#   latex.sh PAPER.tex DIR RUN    DIR/PAPER.pdf; RUN's name begins with the time that it is dated by.
#                                 What LaTeX has to say of undefined names is an error.
set -euo pipefail
if ! command -v latexmk >/dev/null || ! command -v pdflatex >/dev/null; then
    echo 'gradsync: the paper needs latexmk and pdflatex; make setup-paper installs them' >&2
    exit 3
fi
[ "${1:-}" != --found ] || exit 0

tex=$1 dir=$2 run=$3
name=$(basename "$tex" .tex)
if [[ $run =~ ^([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})Z ]]; then
    r=("${BASH_REMATCH[@]}")
    SOURCE_DATE_EPOCH=$(date -u -d "${r[1]}-${r[2]}-${r[3]} ${r[4]}:${r[5]}:${r[6]}" +%s)
else
    SOURCE_DATE_EPOCH=0
fi
export SOURCE_DATE_EPOCH FORCE_SOURCE_DATE=1 TEXINPUTS="$dir:" max_print_line=500
# What was left by another text could stay in the references.
rm -f "$dir/$name".{aux,bbl,blg,fdb_latexmk,fls,log,out,toc,pdf}
if ! latexmk -norc -pdf -halt-on-error -interaction=nonstopmode -file-line-error \
    -output-directory="$dir" "$tex" >"$dir/latexmk.log" 2>&1; then
    grep -E '^[^ ]+:[0-9]+: |^! |No number' "$dir/latexmk.log" | head -n 5 >&2 || true
    echo "gradsync: LaTeX failed on $tex; all it said is in $dir/latexmk.log" >&2
    exit 1
fi
if grep -E "LaTeX Warning: (Citation|Reference).*undefined" "$dir/$name.log" >&2; then
    echo "gradsync: $tex refers to what is not there" >&2
    exit 1
fi
