#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   packaging/deb.sh FOLDER [ARGUMENT…]
#
# Writes the Debian source package of the last commit into FOLDER and builds it with
# `dpkg-buildpackage ARGUMENT…` (default: -us -uc). Recordings, paper and figures stay out of it. To
# build the package gradsync-cuda as well, install the CUDA toolkit and NCCL and add
# --build-profiles=pkg.gradsync.cuda.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '4,9s/^# \{0,1\}//p' "$0"; exit 2; }
folder=$(realpath -m -- "$1")
shift
[ $# -gt 0 ] || set -- -us -uc
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define GRADSYNC_VERSION "\(.*\)"/\1/p' runner/base/version.h)
commit=$(git rev-parse --short=12 HEAD)
source=$folder/gradsync-$version
if [ -e "$source" ]; then
    echo "deb.sh: $source exists already; remove it or choose another folder" >&2
    exit 1
fi
mkdir -p "$source"
git archive HEAD -- . ':!data' ':!paper' ':!docs/*.svg' ':!packaging' | tar xf - -C "$source"
sed -i "s/^git_commit := .*/git_commit := $commit/" "$source/mk/build.mk"
tar cf - -C "$folder" "gradsync-$version" | gzip -9n >"$folder/gradsync_$version.orig.tar.gz"
cp -r packaging/debian "$source/debian"
cd "$source"
exec dpkg-buildpackage "$@"
