# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Steps whose truth is known, for tests of advice: ctas=16 shortens them and ctas=32 lengthens them by `effect`, ctas=8
# makes no difference.
#   steps RUN LABEL PARAMS [KEY=VALUE…]   a run of one step, in data/raw/sim/iter_proxy; the keys are make_campaign's
#   edit RUN PROGRAM                      of sed, over its launches;   swap RUN: exchanges ctas=16 and ctas=32
#   ran RUN CONFIG TEXT                   what NCCL ran, in every launch
#   values RUN CONFIG JSON                parameters of the cells of a config, as a training records them
#   fresh                                 no run
# shellcheck disable=SC2034 # for the tests
synthetic='"backend":"cuda","gemms":"1"' cuda='"backend":"cuda","gemms":"1","step":"a.step"'
# shellcheck disable=SC2034 # for the tests
other='"backend":"cuda","gemms":"4","step":"a.step"'

# shellcheck disable=SC2154 # build is lib.sh's
steps() {
    local run=data/raw/sim/iter_proxy/$1 label=$2 params=$3
    mkdir -p "${run%/*}"
    "$build/sim/make_campaign" "$run" groups=1 spread=0.0005 "${@:4}"
    printf '[measure]\nequivalence = 0.1%%\n' >"$run/config.ini"
    sed -i -e "s/\"params\":{/&$params,/" -e "s/\"label\":\"\"/\"label\":\"$label\"/" \
        -e 's/"c0"/"auto"/g; s/"c1"/"ctas=8"/g; s/"c2"/"ctas=16"/g; s/"c3"/"ctas=32"/g' \
        -e 's/"null"/"iter_proxy"/; s/"mode":""/"mode":"overlapped"/' "$run"/*.jsonl
}
edit() { sed -i "$2" "data/raw/sim/iter_proxy/$1"/*.jsonl; }
swap() { edit "$1" 's/ctas=16/ctas=x/g; s/ctas=32/ctas=16/g; s/ctas=x/ctas=32/g'; }
ran() {
    local f
    for f in "data/raw/sim/iter_proxy/$1"/*.jsonl; do
        awk -v config="\"config\":\"$2\"" -v text="$3" '
            index($0, "\"type\":\"cell\"") && index($0, config) {
                match($0, /"cell":"[0-9a-f]+"/)
                printf "{\"type\":\"note\",%s,\"copy\":0,", substr($0, RSTART, RLENGTH)
                print "\"key\":\"ran\",\"value\":\"" text "\"}" }
            { print }' "$f" >new && mv new "$f"
    done
}
values() {
    local f
    for f in "data/raw/sim/iter_proxy/$1"/*.jsonl; do
        jq -c --arg config "$2" --argjson values "$3" \
            'if .type == "cell" and .config == $config then .params += $values else . end' "$f" >new && mv new "$f"
    done
}
fresh() { rm -rf data; }
