# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Documents: the commands in their ```sh blocks are run as they stand.
#   commands FILE HEADING    the blocks under a heading, up to the next of any level
#   a_checkout DIR           a copy of the tree without its recordings, built, whose measurements
#                            are short
# After sourcing lib.sh.

commands() {
    awk -v heading="$2" '
        /^```/ { inside = !inside && $0 == "```sh"; next }
        inside { if (on) print; next }
        /^#/ { on = $0; sub(/^#+ /, "", on); on = on == heading }' "$1"
}

# shellcheck disable=SC2154 # top and build are lib.sh's
# Objects keep their times, so that nothing is compiled anew.
a_checkout() {
    local part config
    mkdir -p "$1/build" "$1/tests" "$1/data"
    (cd "$top" && cp -a GNUmakefile gradsync.pc.in README.md CONTRIBUTING.md mk plugins runner \
        configs figures docs "$1" &&
        cp -a tests/lib.sh tests/run tests/tap tests/null* tests/normal.h "$1/tests")
    rm -rf "$1/figures/out"
    for part in "$build"/*; do
        case ${part##*/} in
        asan | fuzzing | fuzz | tests | bench | sim | prefix | paper) ;;
        *) cp -a "$part" "$1/build" ;;
        esac
    done
    for config in "$1/configs/local.ini" "$1/plugins/template/template-local.ini" \
        "$1/docs/examples/mpi_allgather/mpi_allgather-local.ini"; do
        sed -i 's/^launches = .*/launches = 1/
            s/^budget = .*/budget = 100ms\nblocks = 2\nmax_blocks = 2/
            s/^samples = .*/samples = 1/; s/^warmup = .*/warmup = 10ms/
            s/^ranks = .*/&\noversubscribe = yes/; s/^bind = .*/bind = none/
            s/^size = .*:.*/size = 8, 1KiB, 64KiB/; s/^size = 256KiB.*/size = 8KiB, 64KiB, 256KiB/
            s/^algorithm = auto, ring.*/algorithm = auto, ring/; s/^gemms = .*/gemms = 1/
            s/^gemm = .*/gemm = 48/' "$config"
    done
}
