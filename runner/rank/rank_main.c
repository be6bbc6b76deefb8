/* SPDX-License-Identifier: Apache-2.0
 *
 * gradsync-rank: the program that the launcher starts once per rank. Users start `gradsync run`.
 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "rank/measure.h"
#include "rank/shim.h"
#include "rank/team.h"

#include <limits.h>
#include <signal.h>

static int run_child(void *arg)
{
    return measure(arg);
}

static int watched_run(const char *dir, int launch, int attempt)
{
    struct rank_place place;
    place_find(&place);
    struct beat *beat = beat_map();
    if (!beat)
        return fail(GS_CANNOT, "rank %d on %s: cannot allocate the memory that the ranks share",
                    place.rank, place.host);
    struct measure m = {.dir = dir,
                        .launch = launch,
                        .attempt = attempt,
                        .local_rank = place.local_rank,
                        .beat = beat};
    return shim(&place, beat, run_child, &m);
}

static bool number(const char *text, int *value)
{
    const char *end;
    long long n;
    bool good = text_integer(text, 1, INT_MAX, &n, &end) && !*end;
    *value = good ? (int)n : 0;
    return good;
}

int main(int argc, char **argv)
{
    int launch, attempt, n;
    const struct cli_option options[] = {{0}};
    const struct cli cli = {.verb = "rank",
                            .arguments = "RUNDIR LAUNCH ATTEMPT",
                            .summary = "one rank of one attempt; started by 'gradsync run'",
                            .options = options,
                            .max_args = 3};
    AUTO_FREE char **args = xcalloc((size_t)argc, sizeof *args);
    bool done;
    signal(SIGXFSZ, SIG_IGN); /* beyond a file size limit write(2) fails instead of killing us */
    int code = cli_parse(&cli, argc, argv, args, &n, &done);
    if (!code && !done && n == 3 && number(args[1], &launch) && number(args[2], &attempt))
        code = watched_run(args[0], launch, attempt);
    else if (!code && !done)
        code = fail(GS_USAGE, "usage: gradsync-rank RUNDIR LAUNCH ATTEMPT");
    return code;
}
