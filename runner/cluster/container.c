/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/container.h"

#include "err.h"
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

static void add(struct words *w, char *word)
{
    w->v = xrealloc(w->v, (w->n + 2) * sizeof *w->v);
    w->v[w->n++] = word;
    w->v[w->n] = NULL;
}

static const struct kind {
    const char *suffix;
    const char *program, *verb, *gpus; /* gpus: the option that gives them; NULL: always there */
    const char *mount;                 /* of one folder, at its own place */
    bool twice;                        /* as FROM:TO */
} kinds[] = {
    {".sif", "apptainer", "exec", "--nv", "--bind", false},
    {".sqsh", "enroot", "start", NULL, "--mount", true},
};

static bool ends_in(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n > k && !strcmp(s + n - k, suffix);
}

static void mount(struct words *argv, const struct kind *k, const char *folder)
{
    add(argv, xstrdup(k->mount));
    add(argv, k->twice ? xstrfmt("%s:%s", folder, folder) : xstrdup(folder));
}

int container_prefix(struct words *argv, const struct plan *p, const char *run_dir)
{
    const char *image = p->set.slurm.container;
    const struct kind *k = NULL;
    if (!*image || !getenv("SLURM_JOB_ID"))
        return GS_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_in(image, kinds[i].suffix))
            k = &kinds[i];
    if (!k) {
        const struct config_entry *e = config_find(p->config, "slurm", "container");
        return config_error(e,
                            "'%.80s' is no image (a .sif for apptainer, a .sqsh for enroot; for "
                            "others write the command into [launch] prefix)",
                            image);
    }
    add(argv, xstrdup(k->program));
    add(argv, xstrdup(k->verb));
    if (k->gpus && (p->set.slurm.gpus_per_node || *p->set.slurm.gres))
        add(argv, xstrdup(k->gpus));
    mount(argv, k, program_dir());
    if (run_dir)
        mount(argv, k, run_dir);
    add(argv, xstrdup(image));
    return GS_OK;
}
