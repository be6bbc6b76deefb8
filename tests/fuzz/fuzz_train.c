/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the output of a training command of `train`, after a first line that is the expression
 * of a step time (empty: the known formats).
 */
#include "bundle.h"
#include "job/job_output.h"

#include <fcntl.h>
#include <regex.h>

static bool compiles(const char *expression)
{
    regex_t r;
    bool good = strlen(expression) < 80 && !regcomp(&r, expression, REG_EXTENDED | REG_ICASE);
    if (good)
        regfree(&r);
    return good;
}

static void read_output(struct job_times *times, const char *bytes, size_t n)
{
    struct job_output o = {.log = open("/dev/null", O_WRONLY | O_CLOEXEC), .times = times};
    const struct job_step *steps;
    for (size_t at = 0; at < n; at += 7)
        job_output_take(&o, bytes + at, n - at < 7 ? n - at : 7);
    job_output_end(&o);
    for (size_t i = job_times_get(times, &steps); i-- > 0;)
        if (!steps[i].ns)
            abort();
    job_output_free(&o);
    close(o.log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    bundle_open(NULL, 0);
    const char *line = n ? memchr(data, '\n', n) : NULL;
    size_t first = line ? (size_t)(line - (const char *)data) : 0;
    char *expression = xstrfmt("%.*s", (int)first, (const char *)data);
    struct config_entry time = {.value = expression};
    struct train_settings set = {.unit = n % 4,
                                 .time = *expression && compiles(expression) ? &time : NULL};
    struct job_times *times = job_times_new(&set);
    read_output(times, (const char *)data + first, n - first);
    job_times_free(times);
    free(expression);
    bundle_close();
    return 0;
}
