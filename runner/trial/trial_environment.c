/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_environment.h"

#include "base/err.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool exports(const char *library, const char *symbol)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    bool found = false;
    for (int version = 1; handle && version < 10; version++) {
        char name[64];
        snprintf(name, sizeof name, "%s_v%d", symbol, version);
        found = found || dlsym(handle, name);
    }
    return found;
}

/* Whether NCCL would load this plugin; in a process of its own, because loading runs its code. */
static bool is_plugin(const char *library, const char *symbol)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(exports(library, symbol));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 1;
}

static int refuse(const char *library)
{
    return fail(
        GS_USAGE,
        "trial: %s has a tuner, and a job takes only one; set NCCL_TUNER_PLUGIN=none to run "
        "the trial without it: auto is then NCCL's own choice",
        library);
}

/* NCCL takes the tuner of the network plugin if there is no other. */
static int check_network(void)
{
    const char *name = getenv("NCCL_NET_PLUGIN");
    bool named = name && *name, bare = named && !strchr(name, '/') && strncmp(name, "lib", 3);
    AUTO_FREE char *library =
        bare ? xstrfmt("libnccl-net-%s.so", name) : xstrdup(named ? name : "libnccl-net.so");
    return is_plugin(library, "ncclTunerPlugin") ? refuse(library) : GS_OK;
}

int trial_environment_check(void)
{
    const char *tuner = getenv("NCCL_TUNER_PLUGIN");
    if (tuner && !strcasecmp(tuner, "none"))
        return GS_OK;
    if (tuner && *tuner)
        return fail(
            GS_USAGE,
            "trial: NCCL_TUNER_PLUGIN is '%s', and a job takes only one tuner; set it to none "
            "to run the trial without that one: auto is then NCCL's own choice",
            tuner);
    if (is_plugin("libnccl-tuner.so", "ncclTunerPlugin"))
        return refuse("libnccl-tuner.so");
    return check_network();
}

void trial_environment_set(const char *plugin, const char *config)
{
    const char *profiler = getenv("NCCL_PROFILER_PLUGIN");
    setenv("NCCL_TUNER_PLUGIN", plugin, 1);
    setenv("GRADSYNC_TRIAL", config, 1);
    if (!(profiler && *profiler) && !is_plugin("libnccl-profiler.so", "ncclProfiler"))
        setenv("NCCL_PROFILER_PLUGIN", plugin, 1);
}

/* What the user preloads comes first, and stays. */
void trial_environment_preload(const char *object, const char *config)
{
    const char *theirs = getenv("LD_PRELOAD");
    AUTO_FREE char *both = theirs && *theirs ? xstrfmt("%s:%s", theirs, object) : xstrdup(object);
    if (theirs && *theirs)
        say("price: LD_PRELOAD is set, and stays: %s", theirs);
    setenv("LD_PRELOAD", both, 1);
    setenv("GRADSYNC_PRICE", config, 1);
}
