/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_build.h"

#include "base/err.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/train_settings.h"
#include "plan/plan_cells.h"
#include "plugin/plugin_train.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* 53 bits, so that readers that keep numbers as doubles keep it whole; never 0. */
static uint64_t draw_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        seed = (uint64_t)t.tv_sec * 1000000007u ^ (uint64_t)t.tv_nsec << 20;
    }
    return (seed >> 11) | 1;
}

static int no_section(const struct config *c, const char *section)
{
    const char *names[64];
    size_t n = 0;
    while (n < 64 && (names[n] = config_workload(c, n)))
        n++;
    const char *near = text_nearest(section, names, n);
    return fail_at(GS_USAGE, c->path, 0, "has no workload section [%s]%s", section,
                   DID_YOU_MEAN_SECTION(near));
}

/* Only the user knows how many processes the command starts. A launch of it that fails is not tried
 * again: the next launch comes anyway. */
static void settle_train(struct plan *p)
{
    struct set_launch *l = &p->set.launch;
    if (!config_find(p->config, "launch", "ranks"))
        l->ranks = l->nodes;
    p->set.measure.retries = 0;
}

int plan_build_from(struct plan **out, struct config *config, const char *section,
                    struct plugin *plugin, const struct settings *set)
{
    struct plan *p = xcalloc(1, sizeof *p);
    size_t word = strcspn(section, " ");
    p->config = config;
    p->plugin = plugin;
    p->set = *set;
    p->section = xstrdup(section);
    p->workload = xstrfmt("%.*s", (int)word, section);
    p->label = xstrdup(section[word] ? section + word + 1 : "");
    p->seed = set->measure.seed ? (uint64_t)set->measure.seed : draw_seed();
    sha256_hex(config->text, strlen(config->text), p->config_sha256);
    if (plan_is_train(p))
        settle_train(p);
    int code = config_section(config, section) ? plan_cells(p) : no_section(config, section);
    if (code) {
        plan_free(p);
        p = NULL;
    }
    *out = p;
    return code;
}

int plan_build_with(struct plan **out, struct config *config, const char *section,
                    struct plugin *plugin)
{
    struct settings set;
    int code = settings_read(config, &set);
    if (!code)
        return plan_build_from(out, config, section, plugin, &set);
    plugin_unload(plugin);
    config_free(config);
    *out = NULL;
    return code;
}

int plan_plugin(struct plugin **out, const struct config *c, const char *section)
{
    const struct config_section *s = config_section(c, section);
    if (!s)
        return no_section(c, section);
    if (train_is_section(section))
        return plugin_train(out, c, section);
    AUTO_FREE char *name = xstrfmt("%.*s", (int)strcspn(section, " "), section);
    char said[1024];
    err_capture(said, sizeof said);
    int code = plugin_load(out, name);
    err_capture(NULL, 0);
    const char *text = strncmp(said, "gradsync: ", 10) ? said : said + 10;
    const char *names[32];
    size_t n = 0;
    for (const struct settings_section *t = settings_sections; t->name; t++)
        names[n++] = t->name;
    const char *near = code == GS_USAGE ? text_nearest(name, names, n) : NULL;
    if (code)
        fail_at((enum gs_exit)code, c->path, s->line, "[%s]: %s%s", section, text,
                DID_YOU_MEAN_SECTION(near));
    return code;
}

int plan_build(struct plan **out, struct config *config, const char *section)
{
    struct plugin *plugin = NULL;
    int code = plan_plugin(&plugin, config, section);
    *out = NULL;
    if (!code)
        return plan_build_with(out, config, section, plugin);
    config_free(config);
    return code;
}
