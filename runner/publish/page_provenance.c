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
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

const char *page_fact(const struct page_run *r, enum machine_fact fact)
{
    return r->machine.facts[fact] ? r->machine.facts[fact] : "";
}

static int read_run(struct page_run *run, const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    *run = (struct page_run){
        .dir = xstrdup(dir), .load = host_load_text(dir), .finished = run_is_final(dir)};
    int code = machine_of_run(&run->machine, dir);
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n && !code && !(run->origin && *run->origin); i++) {
        free(run->origin);
        run->origin = NULL;
        code = origin_read(&run->origin, paths.v[i]);
    }
    if (!code && run->finished)
        code = manifest_verify(dir);
    return code ? code : check_recordings(dir);
}

int page_runs_read(struct page_run **runs, size_t *n, const char *raw)
{
    AUTO(runs_free) struct runs found = {0};
    int code = runs_find(&found, raw);
    if (!code)
        code = runs_sort(&found);
    *runs = xcalloc(found.n, sizeof **runs);
    *n = 0;
    for (size_t i = 0; i < found.n && !code; i++)
        code = read_run(&(*runs)[(*n)++], found.v[i].dir);
    return code;
}

void page_runs_free(struct page_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        machine_free(&runs[i].machine);
        free(runs[i].dir);
        free(runs[i].origin);
        free(runs[i].load);
    }
    free(runs);
}

/* ---- writing ---- */

static void put_run(FILE *f, const struct page_run *r)
{
    const char *id = page_fact(r, FACT_RUN), *label = page_fact(r, FACT_LABEL);
    page_put(f,
             "<tr id=\"run-%s\"><td><code>gradsync show %s</code></td><td>%s%s%s</td>"
             "<td class=\"n\">%d</td><td>%s%s%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
             id, id, page_fact(r, FACT_WORKLOAD), *label ? " " : "", label, r->machine.launches,
             r->finished ? "complete, checksums hold" : "not complete", r->load ? "; " : "",
             r->load ? r->load : "", page_fact(r, FACT_STARTED), page_fact(r, FACT_COMMIT), r->dir);
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

static bool is_of(const struct page_run *r, const char *platform)
{
    return !strcmp(page_fact(r, FACT_PLATFORM), platform);
}

static bool told_before(const struct page_run *runs, size_t i, const char *platform)
{
    for (size_t k = 0; k < i; k++)
        if (is_of(&runs[k], platform) && !strcmp(runs[k].origin, runs[i].origin))
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
        if (is_of(&runs[i], platform))
            put_run(f, &runs[i]);
    fputs("</tbody></table></div>\n<h3>Machine</h3>\n", f);
    for (size_t i = 0; i < n; i++)
        if (is_of(&runs[i], platform) && !told_before(runs, i, platform)) {
            page_put(f, "<p class=\"soft\">as of run %s</p>\n", page_fact(&runs[i], FACT_RUN));
            put_origin(f, runs[i].origin);
        }
}
