/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_platform.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool import_platform_is(const char *text)
{
    return strchr(text, '/') || text_ends(text, ".ini");
}

int import_platform_read(struct import_platform **out, const char *path)
{
    struct import_platform *p = *out = xcalloc(1, sizeof *p);
    int code = config_load(&p->config, path, NULL);
    return code ? code : settings_read(p->config, &p->set);
}

void import_platform_free(struct import_platform *p)
{
    if (p)
        config_free(p->config);
    free(p);
}

/* NCCL's lists may have the vendor's name. */
static const char *model_of(const char *device)
{
    return device + (strncasecmp(device, "NVIDIA ", 7) ? 0 : 7);
}

static int other(const struct import_platform *p, const struct import *imp, const char *what,
                 const char *ours, const char *theirs)
{
    return fail_at(GS_USAGE, imp->path, 0,
                   "the file has %s %s, but %s has %s; name the config of that machine", what,
                   theirs, p->config->path, ours);
}

static int other_count(const struct import_platform *p, const struct import *imp, const char *what,
                       int64_t ours, int64_t theirs)
{
    AUTO_FREE char *a = xstrfmt("%lld", (long long)ours), *b = xstrfmt("%lld", (long long)theirs);
    return ours == theirs ? GS_OK : other(p, imp, what, a, b);
}

int import_platform_fits(const struct import_platform *p, const struct import *imp,
                         const struct imp_test *t, int64_t ranks, int64_t nodes)
{
    const char *ours = p->set.platform.device;
    int code = other_count(p, imp, "ranks", p->set.launch.ranks, ranks);
    if (!code)
        code = other_count(p, imp, "nodes", p->set.launch.nodes, nodes);
    for (size_t i = 0; *ours && !code && i < json_array_size(t->hosts); i++) {
        const char *device = json_text_of(json_array_get(t->hosts, i), "device");
        if (*device && strcasecmp(model_of(device), model_of(ours)))
            code = other(p, imp, "device", ours, device);
    }
    return code;
}

int import_platform_write(const struct import_platform *p, const char *dir)
{
    struct csv file;
    AUTO_FREE char *path = xstrfmt("%s/config.ini", dir);
    int code = csv_open(&file, path);
    if (!code) {
        csv_bytes(&file, p->config->text, strlen(p->config->text));
        code = csv_close(&file, true);
    }
    return code;
}
