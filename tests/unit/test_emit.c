/* SPDX-License-Identifier: Apache-2.0
 *
 * A setting reaches a shell and Python as it was recorded, whatever its values hold, and comments stay
 * comments. Values are read back by bash and python3.
 */
#include "advise/advice_print.h"
#include "folder.h"

enum { LAUNCHES = 5, DRAWN = 40 };

static const char *const nasty[] = {"a\ntouch PWNED\n",
                                    "$(touch PWNED)",
                                    "`touch PWNED`",
                                    "a;touch PWNED",
                                    "a && touch PWNED",
                                    "it's",
                                    "'; touch PWNED; '",
                                    "say \"hi\"",
                                    "\"; import os; os.system('touch PWNED')  #",
                                    "back\\slash\\",
                                    "/etc/nccl/topo.xml",
                                    "a=b",
                                    "-n",
                                    "",
                                    " blanks ",
                                    "16 touch PWNED",
                                    "\xc3\xbc\xe2\x82\xac\xf0\x9d\x84\x9e",
                                    "tab\there\r\x7f\x01",
                                    "{a,b}*~#!%s"};
enum { NASTY = sizeof nasty / sizeof *nasty };

static int enter(void **state)
{
    return folder_set_up(state) || chdir(folder.dir);
}

/* Any bytes but NUL, up to 600 of them: ASCII, so that every prefix is UTF-8. */
static char *drawn(unsigned *seed)
{
    size_t n = (size_t)rand_r(seed) % 600;
    char *s = xmalloc(n + 1);
    for (size_t i = 0; i < n; i++)
        s[i] = (char)(1 + rand_r(seed) % 127);
    s[n] = '\0';
    return s;
}

static void fill(struct words *differs)
{
    unsigned seed = 7;
    for (size_t i = 0; i < NASTY + DRAWN; i++) {
        AUTO_FREE char *value = i < NASTY ? xstrdup(nasty[i]) : drawn(&seed);
        words_addf(differs, "V_%zu", i);
        words_add(differs, value);
    }
}

/* A training that is 2% shorter with the values; names and labels are nasty, too. */
static void make(struct steps_evidence *s)
{
    static const char evil[] = "x\ntouch PWNED\n";
    *s = (struct steps_evidence){.n_runs = 1, .n_shapes = 1};
    s->runs = xcalloc(1, sizeof *s->runs);
    s->shapes = xcalloc(1, sizeof *s->shapes);
    s->shapes[0] = (struct shape){evil, "2", "1"};
    s->platforms = xstrdup(evil);
    s->runs[0].machine.facts[FACT_RUN] = xstrdup(evil);
    s->runs[0].machine.facts[FACT_GPU] = xstrdup(evil);
    words_addf(&s->runs[0].machine.nccl_env, "NCCL_NET=%s", evil);
    struct contrast *c = comparison_append(&s->comparison);
    char **const texts[] = {&c->platform, &c->label,    &c->run_id,
                            &c->params,   &c->baseline, &c->config};
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = xstrdup(evil);
    c->workload = xstrdup("train");
    c->mode = xstrdup("");
    c->ran = xstrdup("");
    c->baseline_ran = xstrdup("");
    c->bound = 0.01;
    c->no_floor = true;
    fill(&c->differs);
    words_add(&c->differs, "lower_case");
    words_add(&c->differs, evil);
    for (int i = 0; i < LAUNCHES; i++)
        values_add(&c->x, (struct nested){.launch = i, .value = log(0.98) + 1e-4 * i});
    evidence_judge(s);
}

static char *slurp(const char *path)
{
    struct text t = {0};
    char buf[4096];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text_add(&t, "");
    for (size_t n; (n = fread(buf, 1, sizeof buf, f));)
        text_addn(&t, buf, n);
    fclose(f);
    return t.s;
}

static void emit(const struct steps_evidence *s, const char *form)
{
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    assert_non_null(freopen("form", "w", stdout));
    int code = emit_print(s, form);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    assert_int_equal(code, 0);
}

/* The value of V_i after `program` has read the form, in hexadecimal. */
static void reads_all(const struct steps_evidence *s, const char *program)
{
    const struct words *w = &s->comparison.v[0].differs;
    assert_int_equal(system(program), 0);
    AUTO_FREE char *got = slurp("got");
    AUTO_TEXT struct text want = {0};
    text_add(&want, "");
    for (size_t i = 0; i < NASTY + DRAWN; i++) {
        for (const char *v = w->v[2 * i + 1]; *v; v++)
            text_addf(&want, "%02x", (unsigned char)*v);
        text_add(&want, "\n");
    }
    assert_string_equal(got, want.s);
    assert_int_not_equal(access("PWNED", F_OK), 0);
}

/* Writes each value in hexadecimal. */
#define IN_SHELL                                                                                   \
    "'for i in $(seq 0 58); do n=V_$i; printf %s \"${!n}\" | od -An -v -tx1 | tr -d \" \\n\"; "    \
    "echo; done >got'"

TEST_WITH(forms_are_read_back, enter, folder_tear_down)
{
    struct steps_evidence s;
    make(&s);
    assert_int_equal(NASTY + DRAWN, 59); /* IN_SHELL */
    emit(&s, "env");
    reads_all(&s, "env -i PATH=\"$PATH\" bash -c 'set -a; . ./form; bash -c \"$1\"' - " IN_SHELL);
    emit(&s, "sbatch");
    reads_all(&s, "env -i PATH=\"$PATH\" bash -c '. ./form; bash -c \"$1\"' - " IN_SHELL);
    if (!system("python3 -c pass 2>/dev/null")) {
        emit(&s, "pytorch");
        reads_all(&s, "python3 -c 'import os\n"
                      "exec(open(\"form\", \"rb\").read().decode())\n"
                      "f = open(\"got\", \"w\")\n"
                      "for i in range(59): print(os.environb[b\"V_%d\" % i].hex(), file=f)'");
    }
    evidence_free(&s);
}

TEST_WITH(a_line_for_a_command_is_read_back, enter, folder_tear_down)
{
    struct steps_evidence s;
    struct setting setting;
    make(&s);
    assert_true(setting_of(&setting, s.v[0].c));
    AUTO_FREE char *line = setting_export_line(&setting);
    FILE *f = fopen("form", "w");
    assert_non_null(f);
    fprintf(f, "%s bash -c \"$1\"\n", line);
    fclose(f);
    reads_all(&s, "bash form " IN_SHELL);
    setting_free(&setting);
    evidence_free(&s);
}
