/* SPDX-License-Identifier: Apache-2.0
 *
 * The columns, in the order of docs/tables.md.
 */
#include "store/column_words.h"

#include "base/text.h"

#include <string.h>

#define YES "yes or no"
#define INTEGER "integer"
#define NUMBER "number"

const struct column column_words[] = {
    {"run_id", COLUMN_TEXT, "name of the run: the folder of its recording", NULL},
    {"platform", COLUMN_TEXT, "platform: the name of the config", NULL},
    {"workload", COLUMN_TEXT, "workload plugin, as in the section [WORKLOAD LABEL] of the config",
     NULL},
    {"label", COLUMN_TEXT, "label of the section [WORKLOAD LABEL]; empty: it has none", NULL},
    {"cell_id", COLUMN_TEXT, "hash of the workload's name, version and parameters", NULL},
    {"config", COLUMN_TEXT, "choice of tuning, such as ring/LL128 or ctas=16", NULL},
    {"mode", COLUMN_TEXT, "compute, comm, sequential or overlapped; empty: the operation alone",
     NULL},
    {PARAM_COLUMNS, COLUMN_TEXT,
     "value of the workload's parameter NAME, such as param_size or param_gemms: one column for "
     "each "
     "parameter, after all other columns; empty: the cell has no such parameter. 'gradsync help "
     "NAME' describes the parameter",
     NULL},
    {"ranks", INTEGER, "ranks of the run", NULL},
    {"nodes", INTEGER, "nodes of the run", NULL},
    {"size_B", INTEGER, "place of the change: bytes of the buffer on one rank", "transitions.csv"},
    {"size_B", INTEGER, "bytes of the buffer on one rank", NULL},
    {"launch", INTEGER, "number of the launch, from 1", NULL},
    {"block", INTEGER, "number of the block in its launch", NULL},
    {"copy", INTEGER, "0; 1: the second copy of the baseline", NULL},
    {"sample", INTEGER, "number of the sample in its block, from 1", NULL},
    {"time_s", NUMBER, "time of one operation", NULL},
    {"n", INTEGER, "samples of the cell", NULL},
    {"launches", INTEGER, "launches that measured it", NULL},
    {"blocks", INTEGER, "blocks that count", NULL},
    {"warmup_blocks", INTEGER, "blocks left out as warm-up", NULL},
    {"median_s", NUMBER, "median of the medians of blocks", NULL},
    {"ci_low_s", NUMBER, "lower end of the 95% interval of median_s; empty: one launch", NULL},
    {"ci_high_s", NUMBER, "upper end of the 95% interval of median_s", NULL},
    {"p95_s", NUMBER, "95th percentile of the samples, warm-up included", NULL},
    {"p99_s", NUMBER, "99th percentile of the samples, warm-up included", NULL},
    {"min_s", NUMBER, "shortest sample, warm-up included", NULL},
    {"algbw_Bps", NUMBER, "algorithm bandwidth: size_B / median_s", NULL},
    {"busbw_Bps", NUMBER,
     "bus bandwidth, as nccl-tests defines it: algbw_Bps times 2(n-1)/n for an all-reduce over n "
     "ranks, (n-1)/n for allgather, reducescatter and alltoall, 1 for others",
     NULL},
    {"limit_Bps", NUMBER, "busbw of [limits] in the config", NULL},
    {"limit_fraction", NUMBER, "busbw_Bps / limit_Bps", NULL},
    {"skew_s", NUMBER, "median over blocks of the largest difference between starts of ranks",
     NULL},
    {"converged", YES, "yes: the interval is as narrow as [measure] precision requires", NULL},
    {"status", COLUMN_TEXT, "ok, partial, skip, failed, wrong, crash, hang or lost", NULL},
    {"reason", COLUMN_TEXT, "why a cell has no numbers, or why a verdict is inconclusive", NULL},
    {"ran", COLUMN_TEXT, "algorithm, protocol and CTAs, as NCCL's log tells", NULL},
    {"iterations", INTEGER, "fewest operations in a sample", NULL},
    {"throttled", NUMBER, "share of the readings of GPU clocks with a power cap or throttle", NULL},
    {"note", COLUMN_TEXT, "what a reader must know to use the numbers", NULL},
    {"metric", COLUMN_TEXT, "name of the metric, from the plugin", NULL},
    {"unit", COLUMN_TEXT, "unit of the value", NULL},
    {"median", NUMBER, "median over blocks, in `unit`", NULL},
    {"ci_low", NUMBER, "lower end of the 95% interval of the median", NULL},
    {"ci_high", NUMBER, "upper end of the 95% interval of the median", NULL},
    {"change_block", INTEGER, "blocks before a change of level in the launch; empty: no change",
     NULL},
    {"before_s", NUMBER, "level before the change", NULL},
    {"after_s", NUMBER, "level after the change", NULL},
    {"compute_s", NUMBER, "A: computation alone", NULL},
    {"comm_s", NUMBER, "B: communication alone", NULL},
    {"sequential_s", NUMBER, "C: computation, then communication", NULL},
    {"overlapped_s", NUMBER, "D: both overlapped, as in a training step", NULL},
    {"overlapped_ci_low_s", NUMBER, "lower end of the 95% interval of overlapped_s", NULL},
    {"overlapped_ci_high_s", NUMBER, "upper end of the 95% interval of overlapped_s", NULL},
    {"exposed_s", NUMBER, "exposed communication: D - A, the part that makes a step longer", NULL},
    {"exposed_ci_low_s", NUMBER, "lower end of the 95% interval of exposed_s", NULL},
    {"exposed_ci_high_s", NUMBER, "upper end of the 95% interval of exposed_s", NULL},
    {"hidden_s", NUMBER, "hidden communication: B - exposed_s, between 0 and B", NULL},
    {"overlap", NUMBER,
     "share of the shorter part that is hidden: (C - D) / min(A, B); empty where B is below 1% of "
     "A",
     "iteration.csv"},
    {"overlap", YES, "do the intervals of both ratios overlap", "again.csv"},
    {"overlap", INTEGER, "steps that overlap with the synchronisation of a fragment", NULL},
    {"overlap_ci_low", NUMBER, "lower end of the 95% interval of overlap", NULL},
    {"overlap_ci_high", NUMBER, "upper end of the 95% interval of overlap", NULL},
    {"strategy", COLUMN_TEXT,
     "all-reduce algorithm between sites, such as ring or hierarchical; mpi: the baseline", NULL},
    {"transport", COLUMN_TEXT, "transport of the blocks between ranks: tcp or mpi", NULL},
    {"wire", COLUMN_TEXT, "number format on the wire: fp32, bf16, int8 or int4", NULL},
    {"sites", INTEGER, "number of sites", NULL},
    {"streams", INTEGER, "TCP connections between two ranks", NULL},
    {"every", INTEGER, "steps between synchronisations", NULL},
    {"fragments", INTEGER, "fragments of the gradient; each is synchronised once in `every` steps",
     NULL},
    {"rate_Bps", NUMBER, "rate of the slowest link between sites", NULL},
    {"rtt_s", NUMBER, "longest round trip between two sites", NULL},
    {"loss", NUMBER, "largest share of lost packets of a link", NULL},
    {"sync_s", NUMBER, "time of a synchronisation", NULL},
    {"sync_ci_low_s", NUMBER, "lower end of the 95% interval of sync_s", NULL},
    {"sync_ci_high_s", NUMBER, "upper end of the 95% interval of sync_s", NULL},
    {"model_sync_s", NUMBER, "time of a synchronisation that the model predicts", NULL},
    {"bound_s", NUMBER, "lower bound of any synchronisation over these links", NULL},
    {"effective_Bps", NUMBER, "bus bandwidth of the synchronisation", NULL},
    {"wire_B", NUMBER, "payload that the busiest rank sends in one synchronisation; empty: unknown",
     NULL},
    {"model_wire_B", NUMBER, "the same, as the model predicts", NULL},
    {"model_exposed_s", NUMBER, "exposed communication that the model predicts", NULL},
    {"step_s", NUMBER, "time of a training step, synchronisation included", NULL},
    {"step_ci_low_s", NUMBER, "lower end of the 95% interval of step_s", NULL},
    {"step_ci_high_s", NUMBER, "upper end of the 95% interval of step_s", NULL},
    {"model_step_s", NUMBER, "time of a step that the model predicts", NULL},
    {"efficiency", NUMBER, "share of compute in a step", NULL},
    {"model_efficiency", NUMBER, "efficiency that the model predicts", NULL},
    {"tokens_per_s", NUMBER, "tokens that the training processes per second", NULL},
    {"model_tokens_per_s", NUMBER, "tokens per second that the model predicts", NULL},
    {"target_s", NUMBER, "time of the whole training", NULL},
    {"model_target_s", NUMBER, "time of the whole training that the model predicts", NULL},
    {"rms_error", NUMBER,
     "error that the wire format adds: root mean square, over that of the "
     "gradient",
     NULL},
    {"max_error", NUMBER, "largest error that the wire format adds, relative to the gradient",
     NULL},
    {"baseline", COLUMN_TEXT, "config that it is compared with", NULL},
    {"ratio", NUMBER,
     "time of config over time of baseline, from the same blocks; in a trial over the mean of both "
     "visits of the baseline",
     NULL},
    {"ratio_low", NUMBER, "lower end of the 95% interval of ratio", NULL},
    {"ratio_high", NUMBER, "upper end of the 95% interval of ratio", NULL},
    {"p_permutation", NUMBER, "p-value of the permutation test over launches", NULL},
    {"p_interval", NUMBER, "p-value of Student's t; below 0.05 only if the interval excludes 1",
     NULL},
    {"p_holm", NUMBER, "p-value adjusted by Holm for all contrasts of the group", NULL},
    {"p_holm_of", COLUMN_TEXT, "what p_holm adjusts: interval, or both tests", NULL},
    {"floor", NUMBER,
     "A/A floor: how much longer the slower copy of the baseline takes, as a ratio minus 1. A "
     "smaller difference is never called faster or slower",
     NULL},
    {"equivalence", NUMBER,
     "bound of equivalence: ratios from 1 / (1 + equivalence) to 1 + equivalence", NULL},
    {"verdict", COLUMN_TEXT,
     "possible, at the limit, impossible, above the link: only with reduction in the switch, "
     "contradicted, unsupported, unreached (by the plan of a WAN), not a collective or no limit",
     "limits.csv"},
    {"verdict", COLUMN_TEXT, "recorded (by NCCL), confirmed (by several launches) or unconfirmed",
     "transitions.csv"},
    {"verdict", COLUMN_TEXT, "possible, unreached, impossible or contradicted", "model --claims"},
    {"verdict", COLUMN_TEXT, "faster, slower, equivalent, inconclusive or same operation", NULL},
    {"launches_needed", INTEGER, "launches that would decide an inconclusive verdict", NULL},
    {"measured_verdict", COLUMN_TEXT, "verdict by the times alone, whatever NCCL ran", NULL},
    {"baseline_ran", COLUMN_TEXT, "the same as `ran`, of the baseline", NULL},
    {"level", COLUMN_TEXT,
     "level of evidence: alone, synthetic, step, trial or training; price: an arm that is no "
     "setting",
     NULL},
    {"small_effect", COLUMN_TEXT,
     "shorter or longer: an effect that was shown, below the bound of equivalence; else empty",
     NULL},
    {"earlier_run_id", COLUMN_TEXT, "run of the earlier recording", NULL},
    {"earlier_launches", INTEGER, "launches of the earlier recording", NULL},
    {"earlier_ratio", NUMBER, "ratio in the earlier recording", NULL},
    {"earlier_ratio_low", NUMBER, "lower end of its 95% interval", NULL},
    {"earlier_ratio_high", NUMBER, "upper end of its 95% interval", NULL},
    {"earlier_verdict", COLUMN_TEXT, "verdict of the earlier recording", NULL},
    {"agreement", COLUMN_TEXT,
     "same, different, contrary, open (one is inconclusive), same operation", NULL},
    {"contrasts", INTEGER, "pairs of configs that ran the same operation", NULL},
    {"called", INTEGER, "how many of them the times alone call faster or slower", NULL},
    {"aa", INTEGER, "pairs of A/A copies", NULL},
    {"aa_called", INTEGER, "how many of them the times alone call faster or slower", NULL},
    {"kind", COLUMN_TEXT, "published or measured", "limits.csv"},
    {"kind", COLUMN_TEXT, "switch (of algorithm or protocol), spike, dip or fall", NULL},
    {"claim", COLUMN_TEXT, "the claim or cell", NULL},
    {"source", COLUMN_TEXT, "where the claim is published, or the run", NULL},
    {"quantity", COLUMN_TEXT, "quantity that is compared with a limit", NULL},
    {"value", NUMBER, "its value, in `unit`", NULL},
    {"limit", NUMBER, "the most or least that is possible, in `unit`", NULL},
    {"limit_source", COLUMN_TEXT, "where the limit comes from", NULL},
    {"fraction", NUMBER, "value over limit; above 1: impossible", NULL},
    {"physics", COLUMN_TEXT, "the arithmetic of the limit", NULL},
    {"from_B", INTEGER, "largest size before the change", NULL},
    {"to_B", INTEGER, "smallest size after the change", NULL},
    {"change", NUMBER, "relative change: of the time (spike) or of the bandwidth (dip, fall)",
     NULL},
    {"agree", INTEGER, "launches that show the change on their own", NULL},
    {"replicates", INTEGER, "launches of the curve", NULL},
    {"sweep", COLUMN_TEXT, "what varies: strategy, every, rate or target", NULL},
    {"bits", INTEGER, "bits of a number on the wire", NULL},
    {"what", COLUMN_TEXT, "quantity of the claim", NULL},
    {"low", NUMBER, "lower end of the claim, in `unit`", NULL},
    {"high", NUMBER, "upper end of the claim, in `unit`", NULL},
    {"possible", NUMBER, "the best that the links allow", NULL},
    {"reached", NUMBER, "what the model predicts for the config", NULL},
    {"why", COLUMN_TEXT, "the arithmetic", NULL},
    /* ---- what only the store has ---- */
    {"run", INTEGER, "number of the run in the store: joins its tables", NULL},
    {"dir", COLUMN_TEXT, "folder of the recording", NULL},
    {"gradsync", COLUMN_TEXT, "version of gradsync that recorded it", NULL},
    {"git_commit", COLUMN_TEXT, "its git commit", NULL},
    {"plugin", COLUMN_TEXT, "version of the workload plugin", NULL},
    {"started", COLUMN_TEXT, "start of the first launch, UTC", NULL},
    {"seed", COLUMN_TEXT, "seed of the run", NULL},
    {"complete", INTEGER, "1: the run has its manifest", NULL},
    {"imported", INTEGER, "1: read from the output of another program", NULL},
    {"config_text", COLUMN_TEXT, "the config, as it was recorded", NULL},
    {"command", COLUMN_TEXT, "the job that was measured, secrets hidden; empty: no job", NULL},
    {"attempt", INTEGER, "number of the attempt of the launch, from 1", NULL},
    {"rank", INTEGER, "rank, from 0", NULL},
    {"host", COLUMN_TEXT, "name of the host", NULL},
    {"cpu", COLUMN_TEXT, "name of the CPU", NULL},
    {"cores", INTEGER, "cores of the host", NULL},
    {"kernel", COLUMN_TEXT, "kernel of the host", NULL},
    {"memory_B", INTEGER, "memory of the host", NULL},
    {"gpu", COLUMN_TEXT, "name of the GPU; empty: none", NULL},
    {"uuid", COLUMN_TEXT, "UUID of the GPU", NULL},
    {"driver", COLUMN_TEXT, "version of the GPU's driver", NULL},
    {"cuda", COLUMN_TEXT, "version of CUDA that the driver has", NULL},
    {"grp", COLUMN_TEXT, "hash of the group: cells that were measured in the same blocks", NULL},
    {"place", INTEGER, "number of the group in the plan, from 1", NULL},
    {"busbw_factor", NUMBER, "busbw over algbw; 0: not a collective", NULL},
    {"key", COLUMN_TEXT, "name of the parameter or of the note", NULL},
    {"value", COLUMN_TEXT, "its value", "param"},
    {"value", COLUMN_TEXT, "its text", "note"},
    {"value", NUMBER, "its value in this block", "block_metric"},
    {"seq", INTEGER, "number of the block in the recording: joins block, block_metric and sample",
     NULL},
    {"at", NUMBER, "start, seconds since 1970", NULL},
    {"iters", INTEGER, "operations in each sample", NULL},
    {"skew_ns", NUMBER, "median over samples of the last start minus the first", NULL},
    {"spread_ns", NUMBER, "median over samples of the longest minus the shortest time of a rank",
     NULL},
    {"counts", INTEGER,
     "1: the block is in the other tables; 0: a later attempt replaced it, or its launch is left "
     "out",
     NULL},
    {"metrics_json", COLUMN_TEXT, "JSON object: the metrics of the block; block_metric spreads it",
     NULL},
    {"times_json", COLUMN_TEXT, "JSON array: the times of the samples in ns; sample spreads it",
     NULL},
    {"time_ns", INTEGER, "time of all operations of the sample", NULL},
    {"moment", COLUMN_TEXT, "before or after the block", NULL},
    {"load1", NUMBER, "load average of the last minute", NULL},
    {"busy_cores", NUMBER, "mean number of busy cores of the host since the launch began", NULL},
    {"own_cores", NUMBER, "mean number of cores that this rank used since the launch began", NULL},
    {"sm_Hz", NUMBER, "clock of the GPU", NULL},
    {"power_W", NUMBER, "power of the GPU", NULL},
    {"temperature_C", NUMBER, "temperature of the GPU", NULL},
    {"throttle", COLUMN_TEXT, "reasons why the GPU's clock was lower", NULL},
    {"kind", COLUMN_TEXT, "skip, failed, wrong, crash, hang or lost", "fail"},
    {"phase", COLUMN_TEXT, "step in which it failed", NULL},
    {0},
};

/* ---- derived quantities, which are values or modes of several columns ---- */

const struct term terms[] = {
    {"T_ss", "s",
     "time per operation with operations issued back to back. param_metric=T_ss: "
     "time_s and median_s have this time"},
    {"L_iso", "s",
     "latency of one operation from an idle, aligned start: from the first rank's "
     "start to the last rank's end. param_metric=L_iso"},
    {"A", "s", "compute_s of a training step: computation alone"},
    {"B", "s", "comm_s: communication alone"},
    {"C", "s", "sequential_s: computation, then communication"},
    {"D", "s", "overlapped_s: both at once"},
    {"A/A", "", "the baseline measured as two configs: their difference is noise; see floor"},
    {"price", "",
     "what communication costs a training job: the share of its step that is gone without "
     "communication, the most that any setting can gain; docs/tune.md"},
    {"waiting", "",
     "the part of the price that is left when every collective is cut to one element: ranks wait "
     "for the slowest one, and a message takes its time however short it is; docs/tune.md"},
    {"arms", "",
     "the variants of a job that give its price: collectives of 64 KiB or more left out (none), "
     "halved (half) or cut to one element (one); docs/tune.md"},
    {"trial", "", "a comparison of settings inside your running job; docs/deciding.md"},
    {"proof", "",
     "launches of your job that did not choose its best setting, and in which it must win again; "
     "docs/tune.md"},
    {"control", "", "a copy of NCCL without any change: if its steps differ, no copy is trusted"},
    {"worth", "", "the smallest gain of interest, a share of the step (tune --worth; 1%)"},
    {0},
};

const struct column *column_find(const char *table, const char *name)
{
    const struct column *any = NULL;
    for (const struct column *c = column_words; c->name; c++) {
        if (strcmp(c->name, name))
            continue;
        size_t n = c->file ? strcspn(c->file, ".") : 0;
        if (table && c->file && strlen(table) == n && !strncmp(table, c->file, n))
            return c;
        any = !any || (table && any->file && !c->file) ? c : any;
    }
    return any;
}

const char *column_sql_type(const char *table, const char *name)
{
    const struct column *c = column_find(table, name);
    return c && !strcmp(c->type, NUMBER)    ? "REAL"
           : c && !strcmp(c->type, INTEGER) ? "INTEGER"
                                            : "TEXT";
}

const char *column_unit(const char *name, size_t *n)
{
    static const char *const units[][2] = {{"_per_s", "1/s"}, {"_Bps", "B/s"}, {"_ns", "ns"},
                                           {"_s", "s"},       {"_B", "B"},     {"_Hz", "Hz"},
                                           {"_W", "W"}};
    *n = strlen(name);
    for (size_t i = 0; i < COUNT(units); i++)
        if (text_ends(name, units[i][0])) {
            *n -= strlen(units[i][0]);
            return units[i][1];
        }
    return "";
}
