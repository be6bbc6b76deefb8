/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/control_socket.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MS 5000

struct order {
    const char *name;
    size_t words; /* on the line, name included */
    /* Returns NULL, or an error message. */
    const char *(*obey)(struct relay *r, size_t site, const char *value);
};

/* ---- commands ---- */

static void set_rate(struct relay *r, size_t i, double up_Bps, double down_Bps)
{
    const struct lab_site *s = &r->mesh.spec->sites[i];
    struct lab_end *e = &r->mesh.ends[i];
    shaper_set(&e->up, up_Bps, s->up_queue_B);
    shaper_set(&e->down, down_Bps, s->down_queue_B);
}

static const char *obey_rate(struct relay *r, size_t i, const char *value)
{
    const struct lab_site *s = &r->mesh.spec->sites[i];
    double share, rate;
    if (strchr(value, '%') && units_parse_real(value, &share) && share > 0)
        set_rate(r, i, share * s->up_Bps, share * s->down_Bps);
    else if (units_parse_rate(value, &rate) && rate > 0)
        set_rate(r, i, rate, rate);
    else
        return "not a rate; write e.g. 100Mbit/s or 10%";
    return NULL;
}

static void set_loss(struct relay *r, size_t from, double loss)
{
    for (size_t to = 0; to < r->mesh.spec->n; to++)
        r->mesh.paths[from * r->mesh.spec->n + to].loss = loss;
}

static const char *obey_loss(struct relay *r, size_t i, const char *value)
{
    double loss;
    if (!units_parse_real(value, &loss) || loss < 0 || loss > 1)
        return "not a loss; write e.g. 0.1% or 0.001";
    set_loss(r, i, loss);
    return NULL;
}

static const char *obey_down(struct relay *r, size_t i, const char *value)
{
    (void)value;
    r->mesh.ends[i].cut = true;
    return NULL;
}

static const char *obey_up(struct relay *r, size_t i, const char *value)
{
    (void)value;
    r->mesh.ends[i].cut = false;
    return NULL;
}

static const char *obey_stall(struct relay *r, size_t i, const char *value)
{
    (void)value;
    r->held[i] = true;
    return NULL;
}

static const char *obey_go(struct relay *r, size_t i, const char *value)
{
    (void)value;
    if (r->held[i])
        r->released_ns[i] = (double)clock_now_ns();
    r->held[i] = false;
    return NULL;
}

static void reset(struct relay *r)
{
    const struct lab_spec *s = r->mesh.spec;
    for (size_t i = 0; i < s->n; i++) {
        set_rate(r, i, s->sites[i].up_Bps, s->sites[i].down_Bps);
        obey_up(r, i, NULL);
        obey_go(r, i, NULL);
        for (size_t to = 0; to < s->n; to++)
            r->mesh.paths[i * s->n + to].loss = lab_way_of(s, i, to)->loss;
    }
}

static char *stats(const struct relay *r)
{
    const struct lab_counts *c = &r->mesh.counts;
    const struct relay_counts *d = &r->counts;
    json_t *o =
        json_pack("{s:I,s:I,s:I,s:I,s:f,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "packets",
                  (json_int_t)c->packets, "bytes", (json_int_t)c->bytes, "delivered",
                  (json_int_t)d->delivered, "late", (json_int_t)d->late, "late_mean_s",
                  d->delivered ? d->late_sum_ns * 1e-9 / (double)d->delivered : 0, "late_max_s",
                  d->late_max_ns * 1e-9, "queue_drops", (json_int_t)c->queue_drops, "losses",
                  (json_int_t)c->losses, "cut_drops", (json_int_t)c->cut_drops, "memory_drops",
                  (json_int_t)c->memory_drops, "ctl_packets", (json_int_t)d->ctl_packets, "strange",
                  (json_int_t)d->strange, "refused", (json_int_t)d->refused);
    char *dumped = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9)), *text = xstrdup(dumped);
    free(dumped);
    json_decref(o);
    return text;
}

static const struct order orders[] = {
    {"rate", 3, obey_rate}, {"loss", 3, obey_loss},   {"down", 2, obey_down},
    {"up", 2, obey_up},     {"stall", 2, obey_stall}, {"go", 2, obey_go},
};

static char *obey_site(struct relay *r, const struct words *w)
{
    const char *names[LAB_SITES_MAX], *wrong = NULL;
    for (size_t k = 0; k < r->mesh.spec->n; k++)
        names[k] = r->mesh.spec->sites[k].name;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (strcmp(orders[i].name, w->v[0]) || orders[i].words != w->n)
            continue;
        size_t site = lab_site_find(r->mesh.spec, w->v[1]);
        if (site == r->mesh.spec->n) {
            const char *near = text_nearest(w->v[1], names, r->mesh.spec->n);
            return xstrfmt("error: no site '%.64s'%s", w->v[1], DID_YOU_MEAN(near));
        }
        wrong = orders[i].obey(r, site, w->n > 2 ? w->v[2] : NULL);
        return wrong ? xstrfmt("error: %s", wrong) : xstrdup("ok");
    }
    return xstrdup("error: unknown command; use: rate SITE RATE, loss SITE SHARE, down SITE, "
                   "up SITE, stall SITE, go SITE, reset, stats");
}

static char *obey(struct relay *r, const char *line)
{
    struct words w;
    char *answer;
    words_split(&w, line, ' ');
    if (w.n == 1 && !strcmp(w.v[0], "stats"))
        answer = stats(r);
    else if (w.n == 1 && !strcmp(w.v[0], "reset")) {
        reset(r);
        answer = xstrdup("ok");
    } else
        answer = obey_site(r, &w);
    words_free(&w);
    return answer;
}

/* ---- the socket ---- */

/* Reads a line of at most size - 1 bytes, without its newline. False: none came in time. */
static bool read_line(int fd, char *line, size_t size, int wait_ms)
{
    size_t n = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (n + 1 < size && poll(&p, 1, wait_ms) > 0) {
        ssize_t got = recv(fd, line + n, size - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        line[n] = '\0';
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
            return true;
        }
    }
    return false;
}

static void send_line(int fd, const char *text)
{
    char *line = xstrfmt("%s\n", text);
    /* The relay must not wait for a client that does not read. */
    if (send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        shutdown(fd, SHUT_RDWR);
    free(line);
}

void control_socket_answer(struct relay *r, int client)
{
    char line[CONTROL_LINE_MAX];
    if (read_line(client, line, sizeof line, 0)) {
        char *answer = obey(r, line);
        send_line(client, answer);
        free(answer);
    }
}

int control_socket_send(const char *socket_path, const char *order, char **answer)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char line[4096];
    *answer = NULL;
    snprintf(to.sun_path, sizeof to.sun_path, "%s", socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return fail(GS_CANNOT, "lab: %s: no lab answers on this socket: %s", socket_path,
                    strerror(why));
    }
    send_line(fd, order);
    bool came = read_line(fd, line, sizeof line, ANSWER_MS);
    close(fd);
    if (!came)
        return fail(GS_FAILED, "lab: %s: no answer within %d s", socket_path, ANSWER_MS / 1000);
    if (!strncmp(line, "error: ", strlen("error: ")))
        return fail(GS_USAGE, "lab: %s", line + strlen("error: "));
    *answer = xstrdup(line);
    return GS_OK;
}
