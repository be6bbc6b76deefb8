/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice.h"
#include "advise/emit.h"
#include "base/cli.h"
#include "base/err.h"
#include "verbs/commands.h"

struct request {
    const char *emit;
};

static int advise(void *request, char **roots, int n)
{
    const struct request *q = request;
    AUTO(evidence_free) struct steps_evidence s = {0};
    int code = q->emit ? emit_known(q->emit) : GS_OK;
    if (code)
        return code;
    code = evidence_read(&s, roots, (size_t)n);
    if (!code && q->emit)
        code = emit_print(&s, q->emit);
    else if (!code)
        advice_print(&s);
    return code;
}

int cmd_advise(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"emit", 'e', CLI_TEXT, &q.emit, "FORM",
         "print the advised setting for a job: env, pytorch or sbatch"},
        {0}};
    const struct cli cli = {
        .verb = "advise",
        .arguments = "[PLATFORM | RUN]…",
        .summary =
            "Says which NCCL setting shortens the training steps of a platform, on what evidence, "
            "and which gain is ruled out. Default: all recordings below data/raw.",
        .example = "gradsync advise h200-4gpu",
        .options = options,
        .max_args = -1};
    return cli_request(&cli, argc, argv, advise, &q);
}
