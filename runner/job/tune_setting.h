/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings that tune tries: rows of one table, rows of the user's file, and for each variable of
 * communication that the user has set, the job without it.
 */
#pragma once

#include "base/cli.h"
#include "base/text.h"

#include <stdbool.h>

#define TUNE_BASELINE "auto"

/* The slowest link that the job uses; what NCCL reports. */
enum tune_link {
    TUNE_UNKNOWN,
    TUNE_P2P,
    TUNE_SHM,
    TUNE_SOCKET,
    TUNE_IB,
    TUNE_OFI,
    TUNE_MPI,
    TUNE_LINKS
};
extern const char *const tune_link_names[TUNE_LINKS]; /* as in a file of candidates */
extern const char *const tune_link_words[TUNE_LINKS]; /* for sentences */

/* What a job has of PyTorch. */
enum { TUNE_DDP = 1, TUNE_FSDP = 2, TUNE_PYTHON = 4 };

struct tune_setting {
    char *label; /* of its cells (label_from): "NCCL_A=2/NCCL_B=unset/torch:static_graph=1" */
    struct words variables; /* NAME=VALUE; the job without it: NAME=unset, NCCL_NAME= */
    struct words torch;     /* switches of PyTorch: NAME=VALUE */
    char *changes;          /* what it may change */
    enum tune_link link;    /* of its row; TUNE_UNKNOWN: any */
    int weight;             /* how much it changes: of two alike, the smaller is advised */
    char *library;          /* another file of NCCL; NULL: the job's own */
    bool by_launch;         /* the user wants it compared in launches of its own */
};

struct tune_settings {
    struct tune_setting *v; /* v[0] is the job as it is */
    size_t n;
};

/* What the user asks for. */
struct tune_options {
    const char *platform, *out;
    const char *minutes, *worth, *memory; /* numbers; "1.5", "1%", "10%" */
    const char *candidates;               /* a file; NULL: none */
    const char *
        only; /* keeps settings whose label contains one of these words; commas between them; NULL: all */
    const char *emit;            /* "env" or "pytorch" */
    const char *arms, *launches; /* files of settings that replace the table; NULL: none */
    const char *library;         /* another file of NCCL; NULL: none */
    struct cli_int proofs, seed;
    const char
        *keep; /* "yes", or minutes between the checkpoints of the job; NULL: it is thrown away */
    bool dry_run, no_price;
};

struct tune_request {
    const struct tune_options *o;
    int nccl;        /* version, e.g. 22809; 0: unknown */
    int torch;       /* bits: what the job has of PyTorch */
    long long nodes; /* 0: unknown */
};

/* The settings for a link. GS_OK, or reported: the user's file. */
int tune_settings_make(struct tune_settings *s, const struct tune_request *q, enum tune_link link);
/* Names a log, a folder or a version of NCCL, which change nothing that it runs. */
bool tune_ignores(const char *name);
/* NCCL_NVLS_ENABLE=0 in the environment or in nccl.conf: it stays. */
bool tune_nvls_is_off(void);
void tune_settings_free(struct tune_settings *s);
size_t tune_settings_find(const struct tune_settings *s, const char *label); /* n: not there */
/* Adds the setting of these words unless it is there. Its index, or n: one is no setting. */
size_t tune_settings_add(struct tune_settings *s, const char *apply, const char *changes);
/* Its words, with `between` between them. The caller frees them. */
char *tune_setting_apply(const struct tune_setting *s, const char *between);
/* Can it be compared inside a running job, in a copy of NCCL or a communicator of Open MPI? */
bool tune_setting_in_job(const struct tune_setting *s, enum tune_link link);
/* Its lines in the engine's file of arms. */
void tune_setting_arm(struct text *t, const char *id, const struct tune_setting *s,
                      enum tune_link link);
/* "NCCL_A=2 NCCL_B=2", or "without NCCL_B". The caller frees it. */
char *tune_setting_words(const struct tune_setting *s);
/* How the code of a job says what a switch of PyTorch does. The caller frees it. */
char *tune_switch_code(const char *word);
