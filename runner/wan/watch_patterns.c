/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/watch_patterns.h"

#include <stddef.h>

#define NUMBER "([0-9][0-9,]*\\.?[0-9]*(e[+-]?[0-9]+)?[kmg]?)"
#define IS "['\"]?[ :=]+"

/* clang-format off */
const struct watch_pattern watch_rates[] = {
    {"tokens?[/_ ](per[_ ])?(sec|second|s)[/_ ](per[_ ])?(gpu|device)" IS NUMBER, WATCH_RATE_OF_GPU},
    {"(^|[^a-z])tps" IS NUMBER, WATCH_RATE_OF_GPU}, /* torchtitan */
    {"tok(en)?s?([/ ]|_per_| per )s(ec(ond)?)?" IS NUMBER, WATCH_RATE}, /* Lightning, HF Trainer, nanochat */
    {NUMBER " ?tok(en)?s?(/| per )s", WATCH_RATE},
    {NULL, WATCH_RATE}};

const struct watch_pattern watch_times[] = {
    {"elapsed time per iteration \\(ms\\)" IS NUMBER, WATCH_STEP_MS}, /* Megatron-LM */
    {"^iter(ation)? +[0-9]+.*, time" IS NUMBER "ms", WATCH_STEP_MS},   /* nanoGPT */
    {"(^|[^a-z])dt" IS NUMBER " ?ms", WATCH_STEP_MS},
    {"(step[_ ]time|time[_/ ]step|sec(onds)?[_/ ](per[_ ])?step)" IS NUMBER " ?ms", WATCH_STEP_MS},
    {"(step[_ ]time|time[_/ ]step|sec(onds)?[_/ ](per[_ ])?step|(^|[^a-z])dt)" IS NUMBER, WATCH_STEP},
    {"train_steps_per_second" IS NUMBER, WATCH_STEPS_PER_S}, /* HF Trainer, at its end */
    {"[0-9]+/[0-9]+ +\\[[^]]*[, ]" NUMBER "s/it", WATCH_STEP}, /* tqdm: HF Trainer, Lightning */
    {"[0-9]+/[0-9]+ +\\[[^]]*[, ]" NUMBER "it/s", WATCH_STEPS_PER_S},
    {NULL, WATCH_STEP}};

const char *const watch_steps[] = {
    "(^|[^a-z_])step" IS "([0-9]+)", "(^|[^a-z_])iter(ation)? +([0-9]+)", "()([0-9]+)/[0-9]+ +\\[", NULL};

const struct watch_trouble watch_troubles[] = {
    {"time-out", "watchdog caught collective|collective operation timeout|timed out|timeouterror|"
                 "heartbeat monitor.*(timeout|stuck)|before timing out"},
    {"NCCL error", "NCCL (WARN|error)|nccl[a-z]*Error|DistBackendError|DistStoreError|"
                   "async error on communicator"},
    {"connection lost", "connection (reset|refused|closed|timed)|broken pipe|no route to host|"
                        "network is unreachable|socket.*(fail|closed)"},
    {"CUDA error", "CUDA error|cuda out of memory|outofmemoryerror|cublas_status_[a-z_]*(fail|err)|"
                   "Xid.*[0-9]"},
    {"rank died", "signal: (segmentation|killed|aborted)|exitcode *: *-?[1-9]|"
                  "ChildFailedError|CalledProcessError|core dumped"},
    {"loss is not a number", "loss['\"]?[ :=]+(nan|-?inf)"},
    {NULL, NULL}};
/* clang-format on */
