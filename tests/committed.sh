# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The tables of the committed recordings, as the paper and documents need them, and their database. They take half a
# minute, so they are made once for all tests of a build; several tests may ask at the same time.
#   committed_tables DIR      DIR is a copy of them
#   committed_checkout DIR    DIR looks like the checkout after `make tables`
# After sourcing lib.sh.
# shellcheck disable=SC2154 # lib.sh's

# What they are made from and with, as one hash.
committed_key() {
    (cd "$top" && sha256sum "$gradsync" "$build"/plugins/*.so configs/*.ini data/SHA256SUMS \
        data/raw/*/*/*/MANIFEST.json mk/wan-needed.sh figures/*.sql tests/committed.sh) | sha256sum | cut -d' ' -f1
}
committed_make() { # DIR
    local plan name
    mkdir -p "$1/wan" "$1/in/data" && cd "$1/in" || return # places in the tables are those of a checkout
    ln -s "$top"/{configs,figures,mk} . && ln -s "$top/data/raw" data
    "$gradsync" query -q data/raw --export "$1" || return
    for plan in configs/*.ini; do
        grep -qx '\[model\]' "$plan" || continue
        name=$(basename "$plan" .ini)
        "$gradsync" model -q "$plan" --csv "$1/wan/$name.csv" \
            --claims "$1/wan/$name-claims.csv" || return
    done
    for name in links price; do
        "$gradsync" query -q --format csv -- "$(<figures/$name.sql)" >"$1/$name.csv" || return
    done
    bash mk/wan-needed.sh "$gradsync" >"$1/wan/needed.csv" || return
    "$gradsync" query -q --format csv -- "$(cat figures/wan_{cells,errors}.sql)" \
        >"$1/wan/model-error.csv" || return
    mv data/gradsync.db "$1" && rm -r "$1/in"
}
committed_tables() {
    local kept=$build/committed key
    key=$(committed_key)
    mkdir -p "$build" && exec {committed_lock}>"$kept.lock" && flock "$committed_lock"
    if [ "$(cat "$kept/key" 2>/dev/null)" != "$key" ]; then
        rm -rf "$kept"
        (committed_make "$kept") && echo "$key" >"$kept/key"
    fi
    # Copied under the lock: with another key, another test makes them anew.
    mkdir -p "$1" && [ -e "$kept/key" ] && cp -r "$kept"/* "$1"
    local code=$?
    exec {committed_lock}>&-
    return $code
}
committed_checkout() {
    mkdir -p "$1/data" && ln -s "$top"/{README.md,configs,docs,figures,mk,paper} "$1" && ln -s "$build" "$1/build" &&
        ln -s "$top/data/raw" "$1/data" && committed_tables "$1/data/csv" && mv "$1/data/csv/gradsync.db" "$1/data"
}
