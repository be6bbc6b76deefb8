/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/container.h"

#include "base/err.h"
#include "base/program_dir.h"
#include "launch/launcher_here.h"

#include <stdlib.h>

static const struct kind {
    const char *suffix;
    const char *program, *verb, *gpus; /* gpus: the option that adds GPUs; NULL: not needed */
    const char *mount;                 /* option that mounts a folder at the same path */
    bool twice;                        /* the option takes FROM:TO */
} kinds[] = {
    {".sif", "apptainer", "exec", "--nv", "--bind", false},
    {".sqsh", "enroot", "start", NULL, "--mount", true},
};

static void mount(struct words *argv, const struct kind *k, const char *folder)
{
    words_add(argv, k->mount);
    words_addf(argv, "%s%s%s", folder, k->twice ? ":" : "", k->twice ? folder : "");
}

/* NULL: reported. */
static const struct kind *kind_of(const struct plan *p)
{
    const char *image = p->set.slurm.container;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text_ends(image, kinds[i].suffix))
            return &kinds[i];
    config_error(config_find(p->config, "slurm", "container"),
                 "'%.80s' is not a container image (.sif for apptainer, .sqsh for enroot); for "
                 "another program, write its command into [launch] prefix",
                 image);
    return NULL;
}

int container_check(const struct plan *p)
{
    return !*p->set.slurm.container || kind_of(p) ? GS_OK : GS_USAGE;
}

/* The plugins of an installed gradsync are in another folder than the program. */
static void mount_plugins(struct words *argv, const struct kind *k)
{
    AUTO_FREE char *path = xstrfmt("%s/../lib/gradsync", program_dir()),
                   *real = realpath(path, NULL);
    if (real)
        mount(argv, k, real);
}

int container_prefix(struct words *argv, const struct plan *p, const char *run_dir)
{
    const char *image = p->set.slurm.container;
    if (!*image || !getenv("SLURM_JOB_ID"))
        return GS_OK;
    const struct kind *k = kind_of(p);
    if (!k)
        return GS_USAGE;
    AUTO_FREE char *run = run_dir ? realpath(run_dir, NULL) : NULL;
    AUTO_FREE char *program = here_find(k->program);
    if (!program)
        return fail(
            GS_CANNOT,
            "[slurm] container needs %s, which is not in PATH on this node; load its module "
            "in the job script",
            k->program);
    words_add(argv, program);
    words_add(argv, k->verb);
    if (k->gpus && (p->set.slurm.gpus_per_node || *p->set.slurm.gres))
        words_add(argv, k->gpus);
    mount(argv, k, program_dir());
    mount_plugins(argv, k);
    if (run)
        mount(argv, k, run);
    words_add(argv, image);
    return GS_OK;
}
