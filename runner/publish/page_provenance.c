/* SPDX-License-Identifier: Apache-2.0
 *
 * The runs behind a page, and the machines that they were measured on.
 */
#include "base/err.h"
#include "base/text.h"
#include "compare/origin.h"
#include "publish/page.h"
#include "record/check_run.h"
#include "record/host_load.h"
#include "record/manifest.h"
#include "record/raw.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

static char *member(const struct raw_line *l, const char *key)
{
    const char *s = json_string_value(json_object_get(l->json, key));
    return xstrdup(s ? s : "");
}

/* *got: a header was there. */
static int read_header(struct page_run *run, const char *path, bool *got)
{
    struct raw *raw;
    struct raw_line l;
    int code = raw_open(&raw, path);
    if (code)
        return code;
    int next = raw_next(raw, 1u << RAW_HEADER, &l);
    *got = next == 1;
    if (*got) {
        run->id = member(&l, "run_id");
        run->platform = member(&l, "platform");
        run->workload = member(&l, "workload");
        run->label = member(&l, "label");
        run->started = member(&l, "started");
        run->commit = member(&l, "commit");
    }
    raw_close(raw);
    if (*got)
        code = origin_read(&run->origin, path);
    return next < 0 ? GS_FAILED : code;
}

static int read_run(struct page_run *run, const char *dir, bool *got)
{
    AUTO_WORDS struct words paths = {0};
    int code = GS_OK, last = 0;
    *run = (struct page_run){.dir = xstrdup(dir)};
    *got = false;
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n; i++) {
        int launch = 0, attempt = 0;
        record_parse_name(strrchr(paths.v[i], '/') + 1, &launch, &attempt);
        run->launches += launch != last;
        last = launch;
        if (!*got && !code)
            code = read_header(run, paths.v[i], got);
    }
    AUTO_FREE char *manifest = xstrfmt("%s/%s", dir, RECORD_MANIFEST);
    run->finished = !access(manifest, F_OK);
    if (!code)
        code = run->finished ? manifest_verify(dir) : check_recordings(dir);
    run->load = host_load_text(dir);
    return code;
}

int page_runs_read(struct page_run **runs, size_t *n, const char *raw)
{
    AUTO(runs_free) struct runs found = {0};
    int code = runs_find(&found, raw);
    if (!code)
        code = runs_sort(&found);
    *runs = xcalloc(found.n, sizeof **runs);
    *n = 0;
    for (size_t i = 0; i < found.n && !code; i++) {
        bool got;
        code = read_run(&(*runs)[*n], found.v[i].dir, &got);
        *n += 1;
    }
    return code;
}

void page_runs_free(struct page_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(runs[i].dir);
        free(runs[i].id);
        free(runs[i].platform);
        free(runs[i].workload);
        free(runs[i].label);
        free(runs[i].started);
        free(runs[i].commit);
        free(runs[i].origin);
        free(runs[i].load);
    }
    free(runs);
}

/* ---- writing ---- */

static void put_run(FILE *f, const struct page_run *r)
{
    page_put(f,
             "<tr id=\"run-%s\"><td><code>gradsync show %s</code></td><td>%s%s%s</td>"
             "<td class=\"n\">%d</td><td>%s%s%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
             r->id, r->id, r->workload, *r->label ? " " : "", r->label, r->launches,
             r->finished ? "complete, checksums hold" : "not complete", r->load ? "; " : "",
             r->load ? r->load : "", r->started, r->commit, r->dir);
}

/* "KEY VALUE" lines as rows. */
static void put_origin(FILE *f, const char *origin)
{
    fputs("<div class=\"wide\"><table><tbody>\n", f);
    for (const char *s = origin; *s;) {
        size_t n = strcspn(s, "\n"), key = strcspn(s, " \n");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)key, s);
        AUTO_FREE char *value = xstrfmt("%.*s", (int)(n - key), s + key);
        page_put(f, "<tr><th>%s</th><td class=\"long\">%s</td></tr>\n", name, value);
        s += n + (s[n] == '\n');
    }
    fputs("</tbody></table></div>\n", f);
}

static bool told_before(const struct page_run *runs, size_t i, const char *platform)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(runs[k].platform, platform) && !strcmp(runs[k].origin, runs[i].origin))
            return true;
    return false;
}

void page_put_runs(FILE *f, const struct page_run *runs, size_t n, const char *platform)
{
    fputs("<h3>Recordings</h3>\n<div class=\"wide\"><table><thead><tr><th>run</th><th>workload</th>"
          "<th class=\"n\">launches</th><th>state</th><th>started</th><th>commit</th><th>folder"
          "</th></tr></thead><tbody>\n",
          f);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(runs[i].platform, platform))
            put_run(f, &runs[i]);
    fputs("</tbody></table></div>\n<h3>Machine</h3>\n", f);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(runs[i].platform, platform) && !told_before(runs, i, platform)) {
            page_put(f, "<p class=\"soft\">as of run %s</p>\n", runs[i].id);
            put_origin(f, runs[i].origin);
        }
}
