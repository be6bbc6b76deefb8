/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_text.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "config/locate.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Bytes that text gets when it is copied, and what they stand for. */
static const struct {
    const char *bytes, *means;
} copied[] = {
    {"\xc2\xa0", " "},     {"\xe2\x80\x87", " "}, {"\xe2\x80\x89", " "}, {"\xe2\x80\xaf", " "},
    {"\xe3\x80\x80", " "}, {"\xe2\x80\x8b", ""},  {"\xef\xbb\xbf", ""},  {"\xe2\x88\x92", "-"},
    {"&nbsp;", " "},       {"&#160;", " "},       {"&gt;", ">"},         {"&lt;", "<"},
};

/* Removes colours, "ESC [ 31 m" and the like, and what copying from a page or a chat has changed. */
static void clean_text(struct text *t)
{
    char *to = t->s, *end = t->s + t->len;
    while (to < end && *to != '\033' && *to != '&' && !(*to & 0x80)) /* most texts are clean */
        to++;
    for (char *s = to; s < end;) {
        size_t i = 0, n = 0;
        if (*s != '\033' && *s != '&' && !(*s & 0x80)) {
            *to++ = *s++;
            continue;
        }
        if (*s == '\033' && s + 1 < end && s[1] == '[') {
            for (s += 2; s < end && !isalpha((unsigned char)*s) && *s != '\n';)
                s++;
            s += s < end && *s != '\n';
            continue;
        }
        for (; i < COUNT(copied); i++) {
            n = strlen(copied[i].bytes);
            if (n <= (size_t)(end - s) && !memcmp(s, copied[i].bytes, n))
                break;
        }
        if (i < COUNT(copied)) {
            to = stpcpy(to, copied[i].means);
            s += n;
        } else {
            *to++ = *s++;
        }
    }
    t->len = (size_t)(to - t->s);
    t->s[t->len] = '\0';
}

/* The text of a line of a log of JSON objects, as Docker and journald write them; NULL: it is none. */
static const char *logged_text(const json_t *line)
{
    static const char *const keys[] = {"log",  "message", "msg",        "MESSAGE",
                                       "line", "text",    "textPayload"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *s = json_string_value(json_object_get(line, keys[i]));
        if (s)
            return s;
    }
    return NULL;
}

/* If the first line is an object of such a log: takes the texts out of their objects. A text without an
 * end of line goes on in the next object if others have one. */
static void unwrap_log(struct text *t)
{
    AUTO_TEXT struct text all = {0};
    bool ends = false;
    for (char *s = t->s, *end; *s; s = end + (*end == '\n')) {
        end = s + strcspn(s, "\n");
        size_t n = (size_t)(end - s);
        bool object = *s == '{' && n <= IMPORT_LINE_MAX; /* a longer one is a whole report */
        AUTO_JSON json_t *line = object ? json_loadb(s, n, 0, NULL) : NULL;
        const char *text = logged_text(line);
        if (!text && !all.len)
            return; /* no such log */
        ends = ends || (!all.len && strstr(s, "\\n\""));
        if (text)
            text_add(&all, text);
        else
            text_addn(&all, s, n);
        if (!text || !ends)
            text_add(&all, "\n");
    }
    if (all.len <= t->len)
        memcpy(t->s, all.s ? all.s : "", (t->len = all.len) + 1);
}

int import_lines_open(struct import_lines *in, const char *path)
{
    *in = (struct import_lines){.path = path};
    struct stat st;
    if (stat(path, &st))
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (S_ISDIR(st.st_mode))
        return fail_at(GS_USAGE, path, 0, "is a folder; name the files in it");
    if (!S_ISREG(st.st_mode))
        return fail_at(GS_FAILED, path, 0, "refused: not a regular file; save the output first");
    if ((size_t)st.st_size > IMPORT_FILE_MAX)
        return fail_at(GS_FAILED, path, 0, "refused: larger than %zu MiB; split the file",
                       (size_t)IMPORT_FILE_MAX >> 20);
    if (!files_read(path, FILES_GIVEN, SIZE_MAX, &in->text))
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (in->text.len && !strncmp(in->text.s, "\x1f\x8b", 2))
        return fail_at(GS_FAILED, path, 0, "refused: compressed; run gunzip on it first");
    if (in->text.len && memchr(in->text.s, '\0', in->text.len))
        return fail_at(GS_FAILED, path, 0, "refused: binary; text has no NUL byte");
    if (!in->text.len || !in->text.s[strspn(in->text.s, " \t\r\n")])
        return fail_at(GS_FAILED, path, 0, "refused: the file is empty");
    sha256_hex(in->text.s, in->text.len, in->sha256);
    unwrap_log(&in->text);
    clean_text(&in->text);
    return GS_OK;
}

static void restore(struct import_lines *in)
{
    if (in->stop)
        *in->stop = in->stopped;
    in->stop = NULL;
}

static bool raw_line(struct import_lines *in, char **line)
{
    restore(in);
    if (in->at >= in->text.len)
        return false;
    char *s = *line = in->text.s + in->at, *newline = memchr(s, '\n', in->text.len - in->at);
    size_t n = newline ? (size_t)(newline - s) : in->text.len - in->at;
    in->number++;
    in->torn = !newline;
    in->cut = n > IMPORT_LINE_MAX;
    in->at += n + !in->torn;
    n = in->cut ? IMPORT_LINE_MAX : n;
    while (n && s[n - 1] == '\r')
        n--;
    in->stop = s + n;
    in->stopped = s[n];
    s[n] = '\0';
    return true;
}

void import_lines_rewind(struct import_lines *in)
{
    restore(in);
    in->at = in->number = 0;
    in->torn = in->cut = false;
}

/* ---- words ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

size_t words_of(const char *line, struct word *out, size_t max)
{
    size_t n = 0;
    for (const char *s = line; *s && n <= max;) {
        while (blank(*s))
            s++;
        const char *start = s;
        while (*s && !blank(*s))
            s++;
        if (s > start && n++ < max)
            out[n - 1] = (struct word){start, (size_t)(s - start)};
    }
    return n;
}

bool word_is(const struct word *w, const char *text)
{
    return strlen(text) == w->n && !memcmp(w->s, text, w->n);
}

bool word_integer(const struct word *w, int64_t *out)
{
    size_t i = w->n && (*w->s == '-' || *w->s == '+');
    int64_t v = 0;
    if (i == w->n || w->n > 18)
        return false;
    for (; i < w->n; i++) {
        if (w->s[i] < '0' || w->s[i] > '9')
            return false;
        v = v * 10 + (w->s[i] - '0');
    }
    *out = *w->s == '-' ? -v : v;
    return true;
}

bool text_plain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    return n > 0 && n < 32;
}

const char *word_copy(char *buf, size_t n, const struct word *w)
{
    size_t length = w->n < n ? w->n : n - 1;
    if (length) /* a row may lack the word */
        memcpy(buf, w->s, length);
    buf[length] = '\0';
    return buf;
}

/* ---- numbers ---- */

/* strtod also reads numbers in hexadecimal, "nan(…)" and white space before a number. */
#define NOT_OF_A_NUMBER "xX(\n\v\f\r"

bool number_read(struct number *out, const char *s, const char *end)
{
    char word[64], *stop;
    size_t n = 0;
    while (s + n < end && s[n] && !blank(s[n]))
        n++;
    *out = (struct number){0};
    word_copy(word, sizeof word, &(struct word){s, n});
    out->value = strtod(word, &stop);
    if (!n || n >= sizeof word || *stop || word[strcspn(word, NOT_OF_A_NUMBER)])
        return false;
    out->finite = isfinite(out->value);
    out->negative = *word == '-';
    const char *point = strchr(word, '.'), *power = strpbrk(word, "eE");
    size_t decimals = point ? strspn(point + 1, "0123456789") : 0;
    out->last = (power ? atoi(power + 1) : 0) - (int)decimals;
    return true;
}

bool word_number(const struct word *w, struct number *out)
{
    return number_read(out, w->s, w->s + w->n);
}

#define HALF 0.5000001 /* a decimal half may be a little less in binary; it rounds up */

bool number_scaled(const struct number *x, double factor, uint64_t *out)
{
    double v = fabs(x->value) * factor;
    bool fits = x->finite && v < 1e18;
    *out = fits ? (uint64_t)(v + HALF) : 0;
    return fits;
}

/* Does the text begin with one of the list "A,B"? */
static bool begins(const char *s, const char *list)
{
    for (size_t n = 0; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (!strncmp(s, list, n))
            return true;
    }
    return false;
}

/* A message may follow a field of a row without a blank: "-1node0", "sumnode0". Returns where its
 * host begins. `words`: how many words are before s in the line. */
static char *past_field(char *s, size_t words)
{
    static const char *const ops[] = {"sum", "prod", "max", "min", "avg", "mulsum"};
    struct number x;
    char *host = s;
    while (*host && *host != ':' && *host != ' ' && !isalpha((unsigned char)*host))
        host++;
    if (host > s && isalpha((unsigned char)*host)) {
        bool field = number_read(&x, s, host);
        return field ? host : s;
    }
    for (size_t i = 0; words == 3 && i < COUNT(ops); i++)
        if (!strncmp(s, ops[i], strlen(ops[i])))
            return s + strlen(ops[i]);
    return s;
}

/* Where a time before s begins, "[2026-01-31 12:00:00] "; s if there is none. */
static char *with_time(const char *line, char *s)
{
    char *time = s;
    while (time > line && time[-1] == ' ')
        time--;
    if (time == line || time[-1] != ']')
        return s;
    while (time > line && *time != '[')
        time--;
    return time;
}

char *import_message_in(char *line)
{
    struct word w[3];
    char *at = strstr(line, "] NCCL ");
    if (!at || !begins(at + strlen("] NCCL "), "INFO,WARN,TRACE,CALL,ABORT"))
        return NULL;
    while (at > line && *at != '[')
        at--;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && at[-1] != ' ' && at[-1] != ']')
        at--;
    char keep = *at;
    *at = '\0';
    size_t words = words_of(line, w, 3);
    *at = keep;
    return with_time(line, past_field(at, words));
}

/* ---- prefixes ---- */

/* Past a prefix of the same shape: digits match any number, blanks any blanks. NULL: the line has
 * another prefix or none. */
static char *past_prefix(const char *prefix, char *line)
{
    static const char digits[] = "0123456789", blanks[] = " \t";
    const char *p = prefix + strspn(prefix, blanks), *s = line + strspn(line, blanks);
    while (*p) {
        if (isdigit((unsigned char)*p)) {
            s += strspn(s, blanks);
            if (!isdigit((unsigned char)*s))
                return NULL;
            p += strspn(p, digits);
            s += strspn(s, digits);
        } else if (blank(*p)) {
            p += strspn(p, blanks);
            s += strspn(s, blanks);
        } else if (!strncmp(p, "<std", 4) && !strncmp(s, "<std", 4)) { /* <stdout>, <stderr> */
            p += strcspn(p, ">");
            s += strcspn(s, ">");
        } else if (*p++ != *s++) {
            return NULL;
        }
    }
    return line + (s - line);
}

/* A launcher that labels each write puts its label also between the parts of a row: "-1[0]   300.00".
 * `line` begins with the label, and `rest` is behind it. */
static void blank_labels(const char *line, char *rest)
{
    const char *end = rest;
    while (blank(*line))
        line++;
    while (end > line && blank(end[-1]))
        end--;
    AUTO_FREE char *label = xstrfmt("%.*s", (int)(end - line), line);
    size_t n = strlen(label);
    if (label[strspn(label, "0123456789. \t")] == '\0')
        return; /* it could be a column */
    for (char *s = rest; (s = strstr(s, label)); s += n)
        if (!s[n] || blank(s[n]))
            memset(s, ' ', n);
}

bool import_lines_next(struct import_lines *in, char **line)
{
    if (!raw_line(in, line))
        return false;
    char *start = *line;
    char *rest = *in->prefix ? past_prefix(in->prefix, *line) : NULL;
    const char *at = in->anchor ? in->anchor(rest ? rest : *line) : NULL;
    if (at && at != (rest ? rest : *line)) { /* another prefix, or the first */
        size_t n = (size_t)(at - *line);
        while (n && blank((*line)[n - 1]))
            n--;
        if (n && n < sizeof in->prefix)
            snprintf(in->prefix, sizeof in->prefix, "%.*s", (int)n, *line);
        rest = *line + (at - *line);
    }
    *line = rest ? rest : *line;
    if (rest && strspn(rest, " \t") && isdigit((unsigned char)rest[strspn(rest, " \t")]))
        blank_labels(start, rest);
    return true;
}

const char *import_anchor(const char *line, const char *at)
{
    const char *s = at;
    while (s > line && blank(s[-1]))
        s--;
    return s > line && s[-1] == '#' ? s - 1 : at;
}

/* ---- settings ---- */

static bool variable(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(s[i] >= 'A' && s[i] <= 'Z') && s[i] != '_' && !(i && s[i] >= '0' && s[i] <= '9'))
            return false;
    return n > 1 && n < 64;
}

void import_setting(json_t *to, const char *name, size_t n, const char *value, size_t value_n)
{
    AUTO_FREE char *key = xstrfmt("%.*s", (int)n, name);
    while (value_n && strchr("\"'`", *value))
        value++, value_n--;
    while (value_n && strchr("\"'`,;)", value[value_n - 1]))
        value_n--;
    AUTO_FREE char *text = xstrfmt("%.*s", (int)value_n, value), *label = label_from(text);
    /* Others change no time, or differ between equal jobs. */
    if (!text_lists("PATH,HOME,PWD,OLDPWD,USER,SHELL,TERM,LANG,MASTER_ADDR,MASTER_PORT,LOGNAME",
                    ",", key) &&
        !begins(key, "NCCL_DEBUG,SLURM_,PBS_,LSB_,LC_,PS"))
        json_object_set_new(to, key, json_text(label));
}

/* "NAME=VALUE", also in quotes. `any`: the name may be of any variable, else of communication. */
static bool take_assignment(json_t *to, const struct word *w, bool any)
{
    const char *s = w->s, *end = w->s + w->n, *equals;
    while (s < end && strchr("\"'`(", *s))
        s++;
    equals = memchr(s, '=', (size_t)(end - s));
    if (!equals || !variable(s, (size_t)(equals - s)))
        return false;
    AUTO_FREE char *name = xstrfmt("%.*s", (int)(equals - s), s);
    /* A setting of the communication counts wherever a log shows it. */
    if (any || begins(name, "NCCL_,RCCL_,OMPI_MCA_,UCX_,MPICH_,I_MPI_,MV2_,FI_,SHARP_,HCOLL_,"
                            "TORCH_NCCL_"))
        import_setting(to, name, strlen(name), equals + 1, (size_t)(end - equals - 1));
    return true;
}

static bool word_in(const struct word *w, const char *list)
{
    char word[32];
    return w->n < sizeof word && text_lists(list, ",", word_copy(word, sizeof word, w));
}

/* What is behind the last '/' or quote of a word. */
static struct word last_part(const struct word *w)
{
    const char *end = w->s + w->n, *s = end;
    while (s > w->s && !strchr("/\"'", s[-1]))
        s--;
    return (struct word){s, (size_t)(end - s)};
}

/* "…/all_reduce_perf", "osu_allreduce": the last component names a benchmark; else its n is 0. */
static struct word benchmark(struct word w)
{
    while (w.n && strchr("\"');,:", w.s[w.n - 1]))
        w.n--;
    struct word name = last_part(&w);
    const char *perf = memmem(name.s, name.n, "_perf", 5);
    bool is = (perf && perf > name.s) || (name.n > 4 && !strncmp(name.s, "osu_", 4));
    return is ? name : (struct word){NULL, 0};
}

/* A command that starts a benchmark; false: the words are none. */
static bool take_command(struct import_log *log, const struct word *w, size_t n)
{
    /* Options that change what nccl-tests measures, but are missing in its output. */
    static const char *const options[][2] = {{"-R", "local_register"},
                                             {"-a", "average"},
                                             {"-z", "blocking"},
                                             {"-D", "device_implementation"},
                                             {"-y", "stream_null"}};
    bool command = false;
    struct word program = {0};
    for (size_t i = 0; i < n && !program.n; i++) {
        struct word name = last_part(&w[i]);
        command =
            command || word_in(&name, "mpirun,mpiexec,mpiexec.hydra,orterun,prterun,srun,torchrun");
        program = benchmark(w[i]);
    }
    if (!command && !program.n)
        return false;
    json_t *to = log->traced ? log->traced : json_object();
    log->traced = NULL;
    bool started = false;
    for (size_t i = 0; i < n; i++) {
        started = started || benchmark(w[i]).n;
        for (size_t k = 0; k < COUNT(options) && started && i + 1 < n; k++)
            if (word_is(&w[i], options[k][0]))
                import_setting(to, options[k][1], strlen(options[k][1]), w[i + 1].s, w[i + 1].n);
        if (started || take_assignment(to, &w[i], true))
            continue;
        if (i + 2 < n && word_in(&w[i], "--mca,-mca,-genv,-env")) {
            const char *prefix = word_in(&w[i], "--mca,-mca") ? "OMPI_MCA_" : "";
            AUTO_FREE char *name = xstrfmt("%s%.*s", prefix, (int)w[i + 1].n, w[i + 1].s);
            import_setting(to, name, strlen(name), w[i + 2].s, w[i + 2].n);
            i += 2;
        } else if (w[i].n > 9 && !strncmp(w[i].s, "--export=", 9)) { /* ALL,NAME=VALUE,… */
            const char *end = w[i].s + w[i].n;
            for (const char *s = w[i].s + 9, *next; s < end; s = next + 1) {
                next = memchr(s, ',', (size_t)(end - s));
                next = next ? next : end;
                take_assignment(to, &(struct word){s, (size_t)(next - s)}, true);
            }
        }
    }
    json_decref(log->command);
    log->command = to;
    if (program.n)
        word_copy(log->program, sizeof log->program, &program);
    return true;
}

static void take_words(struct import_log *log, const struct word *w, size_t n)
{
    size_t prompt = 0;
    bool traced = n && strspn(w->s, "+") >= w->n;
    for (size_t i = 0; i < n && i < 4; i++) /* "+", "$", "[user@node ~]$" */
        if (strchr("+$#>%", w[i].s[w[i].n - 1]))
            prompt = i + 1;
    w += prompt;
    n -= prompt;
    bool exports = n && word_is(w, "export"), unsets = n && word_is(w, "unset");
    if (n > 2 && word_is(w, "setenv")) {
        import_setting(log->exported, w[1].s, w[1].n, w[2].s, w[2].n);
        return;
    }
    if (!n || (!exports && !unsets && take_command(log, w, n)))
        return;
    traced = traced && !exports; /* the shell shows "NAME=VALUE command" as two lines */
    if (traced && !log->traced)
        log->traced = json_object();
    for (size_t i = exports || unsets; i < n; i++) { /* also "run 2: NCCL_PROTO=LL" */
        AUTO_FREE char *name = xstrfmt("%.*s", (int)w[i].n, w[i].s);
        if (unsets)
            json_object_del(log->exported, name);
        else
            take_assignment(traced ? log->traced : log->exported, &w[i], exports || traced);
    }
}

/* ---- headings ---- */

/* "Rep 2", "Run #3 of 5" and dates: headings of repetitions, which are launches of one config. */
static bool is_repetition(const char *s)
{
    static const char words[] =
        "rep,reps,repeat,repetition,run,trial,iter,iteration,launch,attempt,round,sample,try,pass,"
        "measurement,execution,test,of,t,z,utc,gmt,am,pm,mon,tue,wed,thu,fri,sat,sun,jan,feb,mar,"
        "apr,may,jun,jul,aug,sep,oct,nov,dec,cet,cest,est,edt,pst,pdt";
    for (size_t n = 0; *s; s += n + !n, n = 0) {
        char one[16];
        for (; isalpha((unsigned char)s[n]); n++)
            if (n < sizeof one - 1)
                one[n] = (char)tolower((unsigned char)s[n]);
        one[n < sizeof one ? n : sizeof one - 1] = '\0';
        if (n && !text_lists(words, ",", one))
            return false;
    }
    return true;
}

static void set_heading(struct import_log *log, size_t level, const char *s, size_t n)
{
    AUTO_FREE char *text = xstrfmt("%.*s", (int)(n < 200 ? n : 200), s);
    char *title = text;
    title += strspn(title, " \t#=-*~_");
    for (n = strlen(title); n && strchr(" \t#=-*~_:", title[n - 1]); n--)
        title[n - 1] = '\0';
    if (!*title)
        return;
    for (size_t i = level; i < IMP_LEVELS; i++) {
        free(log->headings[i]);
        log->headings[i] = NULL;
    }
    if (is_repetition(title))
        return;
    log->headings[level] = xstrdup(title);
    json_decref(log->headed);
    log->headed = json_object();
    struct word w[32];
    size_t words = words_of(title, w, 32);
    for (size_t i = 0; i < words && i < 32; i++)
        take_assignment(log->headed, &w[i], false);
}

/* Markdown's "## After" and "**After**", a line of dashes below a line, and "=== After ===" of a script.
 * A '#' alone begins a comment of nccl-tests, except in Markdown outside of code. */
static bool take_heading(struct import_log *log, const char *line)
{
    const char *s = line + strspn(line, " \t");
    size_t n = strlen(s), marks = strspn(s, "#"),
           rule = strspn(s, *s && strchr("=-*~", *s) ? (char[]){*s, 0} : "");
    while (n && blank(s[n - 1]))
        n--;
    if (!strncmp(s, "```", 3) || !strncmp(s, "~~~", 3)) {
        log->fences++;
    } else if (marks >= (log->fences && log->fences % 2 == 0 ? 1 : 2) && marks < IMP_LEVELS &&
               blank(s[marks])) {
        set_heading(log, marks, s, n);
    } else if (rule >= 3 && rule == n && log->before && isalnum((unsigned char)*log->before)) {
        set_heading(log, *s == '=' ? 1 : 2, log->before, strlen(log->before));
    } else if (rule >= (*s == '=' ? 2 : 3) && rule < n) {
        set_heading(log, 6, s, n);
    } else if (rule == 2 && *s == '*' && n > 4 && !strncmp(s + n - 2, "**", 2)) {
        set_heading(log, 7, s, n);
    } else {
        xstrset(&log->before, s);
        return false;
    }
    xstrset(&log->before, "");
    return true;
}

/* "commit 3f2a91bc", "Commit: 3f2a91bc", "HEAD is now at 3f2a91bc". */
static void take_commit(struct import_log *log, const char *line)
{
    static const char *const marks[] = {"commit", "HEAD is now at", "git sha", "revision",
                                        "git hash"};
    for (size_t i = 0; i < COUNT(marks); i++) {
        const char *s = strcasestr(line, marks[i]);
        s = s ? s + strlen(marks[i]) : "";
        s += strspn(s, " :=#'\"`");
        size_t n = strspn(s, "0123456789abcdef");
        if (n >= 7 && n <= 40 && !isalnum((unsigned char)s[n])) {
            snprintf(log->commit, sizeof log->commit, "%.*s", (int)n, s);
            return;
        }
    }
}

void import_log_line(struct import_log *log, const char *line)
{
    if (!log->exported)
        log->exported = json_object();
    take_commit(log, line);
    if (!log->part.len && take_heading(log, line))
        return;
    line += strspn(line, " \t");
    line += *line == '#';
    if (strstr(line, "Collective test concluded")) /* it names the program, and is no command */
        return;
    size_t length = strlen(line);
    bool goes_on = length && line[length - 1] == '\\';
    if (goes_on || log->part.len) {
        text_addn(&log->part, line, length - goes_on);
        text_add(&log->part, " ");
    }
    const char *text = log->part.len ? log->part.s : line;
    if (!goes_on || log->part.len > IMPORT_LINE_MAX) {
        size_t most = strlen(text) / 2 + 1; /* words and the blanks between them */
        AUTO_FREE struct word *w = xcalloc(most + 1, sizeof *w);
        take_words(log, w, words_of(text, w, most));
        text_clear(&log->part);
    }
}

void import_log_test(struct import_log *log, struct imp_test *t)
{
    AUTO_TEXT struct text heading = {0};
    json_t *all = json_object();
    for (size_t i = 0; i < IMP_LEVELS; i++)
        if (log->headings[i])
            text_addf(&heading, "%s%s", heading.len ? " / " : "", log->headings[i]);
    xstrset(&t->heading, heading.s ? heading.s : "");
    memcpy(t->commit, log->commit, sizeof t->commit);
    json_object_update(all, log->exported);
    json_object_update(all, log->headed);
    json_object_update(all, log->command);
    json_decref(t->settings);
    t->settings = all;
}

void import_log_free(struct import_log *log)
{
    json_decref(log->exported);
    json_decref(log->command);
    json_decref(log->traced);
    json_decref(log->headed);
    for (size_t i = 0; i < IMP_LEVELS; i++)
        free(log->headings[i]);
    free(log->before);
    text_free(&log->part);
}

/* ---- tests and cells, for the readers ---- */

int import_refuse(const struct import_lines *in, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return fail_at(GS_FAILED, in->path, (int)in->number, "refused: %s", text);
}

void import_fault(struct imp_cell *c, const char *kind, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!c->kind || strcmp(c->kind, "wrong")) { /* a wrong result outweighs a lost time */
        c->kind = kind;
        vsnprintf(c->why, sizeof c->why, fmt, args);
    }
    va_end(args);
}

struct imp_test *import_add_test(struct import *imp, const struct import_lines *in,
                                 const char *workload)
{
    struct imp_test *t = &APPEND(imp->tests, imp->n_tests);
    *t = (struct imp_test){.workload = workload, .metric = "T_ss", .line = in->number};
    return t;
}

/* Tables repeat their cells in order, so the search starts after the last cell. */
struct imp_cell *import_cell(const struct import_lines *in, struct imp_test *t,
                             const struct imp_cell *like)
{
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t k = (t->last + 1 + i) % t->n_cells;
        const struct imp_cell *c = &t->cells[k];
        if (c->size_B != like->size_B || c->in_place != like->in_place || c->root != like->root ||
            strcmp(c->dtype, like->dtype) != 0 || strcmp(c->op, like->op) != 0)
            continue;
        t->last = k;
        if (t->cells[k].iters == like->iters)
            return &t->cells[k];
        import_refuse(in,
                      "one size has samples of %llu and of %llu iterations: the output of several "
                      "processes is mixed",
                      (unsigned long long)t->cells[k].iters, (unsigned long long)like->iters);
        return NULL;
    }
    if (t->n_cells == IMP_CELLS) {
        import_refuse(in, "more than %d cells in one test", IMP_CELLS);
        return NULL;
    }
    APPEND(t->cells, t->n_cells) = *like;
    t->last = t->n_cells - 1;
    return &t->cells[t->last];
}

void import_sample(struct import *imp, const struct import_lines *in, struct imp_cell *c,
                   uint64_t each_ns)
{
    uint64_t all;
    if (!each_ns || __builtin_mul_overflow(each_ns, c->iters, &all) || all > INT64_MAX) {
        import_fault(c, "failed", "line %zu: a time of %llu ns for each of %llu iterations",
                     in->number, (unsigned long long)each_ns, (unsigned long long)c->iters);
        return;
    }
    APPEND(c->time_ns, c->n_samples) = all;
    imp->samples++;
}

void import_sample_us(struct import *imp, const struct import_lines *in, struct imp_cell *c,
                      const struct number *us, const struct word *text)
{
    uint64_t ns;
    if (number_scaled(us, 1e3, &ns))
        import_sample(imp, in, c, ns);
    else
        import_fault(c, "failed", "line %zu: its time is %.*s", in->number, (int)text->n, text->s);
}

double import_factor(enum imp_factor factor, int64_t ranks)
{
    double share = (double)(ranks - 1) / (double)ranks;
    return factor == IMP_ALLREDUCE ? 2 * share
           : factor == IMP_SHARE   ? share
           : factor == IMP_ONE     ? 1
                                   : 0;
}
