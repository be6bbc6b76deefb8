/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as another program's output. What is not refused keeps what import.h says, and is written
 * as a recording that is sound.
 */
#include "bundle.h"
#include "import/import_run.h"
#include "verbs/commands.h"

#include <sys/mman.h>

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void check_times(const struct imp_cell *c)
{
    for (size_t i = 0; i < c->n_samples; i++)
        if (!c->time_ns[i] || c->time_ns[i] > INT64_MAX)
            abort();
}

static void check(const struct import *imp)
{
    size_t samples = 0;
    for (size_t i = 0; i < imp->n_tests; i++) {
        const struct imp_test *t = &imp->tests[i];
        for (size_t k = 0; k < t->n_cells; k++) {
            const struct imp_cell *c = &t->cells[k];
            samples += c->n_samples;
            if (!c->iters || c->size_B < 0 || (!c->n_samples && !c->kind))
                abort();
            check_times(c);
        }
        if (t->ranks == 1 && t->factor == IMP_ALLREDUCE)
            abort();
    }
    if (!samples || samples != imp->samples || strlen(imp->sha256) != 64)
        abort();
}

static void write_and_check(struct import *imp)
{
    const char *in = getenv("GRADSYNC_FUZZ_FOLDER"); /* tests/fuzz/run removes it */
    char *out = xstrfmt("%s/import.%d", in ? in : ".", (int)getpid());
    struct imported file = {.imp = imp};
    facts_set_word(&file.facts, "platform=fuzz");
    if (!imp->tests[0].ranks)
        facts_set_word(&file.facts, "ranks=2");
    int code = import_write(&file, 1, out, false);
    if (!code && cmd_check(3, (char *[]){"check", "--quiet", out, NULL}))
        abort();
    nftw(out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    facts_free(&file.facts);
    free(out);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return !freopen("/dev/null", "w", stdout); /* where the names of runs go */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[32], error[4096];
    struct import *imp;
    int fd = memfd_create("output", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    err_capture(error, sizeof error);
    say_quiet(1);
    if (!import_read(&imp, path, &(struct import_known){0})) {
        check(imp);
        write_and_check(imp);
        import_free(imp);
    } else if (!*error)
        abort(); /* refused, and nobody knows why */
    err_capture(NULL, 0);
    close(fd);
    return 0;
}
