/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_setting.h"

#include "base/err.h"
#include "base/files.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tune_ignores(const char *name)
{
    static const char *const prefixes[] = {
        "NCCL_DEBUG",     "NCCL_VERSION",     "NCCL_HOME",   "NCCL_ROOT",
        "NCCL_INCLUDE",   "NCCL_LIB",         "NCCL_TESTS",  "NCCL_COMM_ID",
        "NCCL_TOPO_DUMP", "NCCL_GRAPH_DUMP_", "NCCL_HOSTID", /* which rank is where: no setting */
    };
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

#define UNSET "unset"
#define TORCH "torch:"
#define LIBRARY "library="
#define MPI_ARM "OMPI_MCA_coll_tuned_"
#define MPI_RULES MPI_ARM "use_dynamic_rules"

const char *const tune_link_names[TUNE_LINKS] = {"any", "p2p", "shm", "socket", "ib", "ofi", "mpi"};
const char *const tune_link_words[TUNE_LINKS] = {"an unknown link",
                                                 "peer access (NVLink or PCIe)",
                                                 "host memory (no peer access)",
                                                 "sockets",
                                                 "InfiniBand or RoCE",
                                                 "libfabric (EFA)",
                                                 "MPI"};

/* ---- the table ---- */

/* The bits of what a job must have of PyTorch are TUNE_DDP and so on. */
enum { NVLS = 8, HOSTS = 16 /* acts between hosts alone */ };

/* Settings that change the same, separated by '|'; the first ones are tried if there is little time.
 * Sources: NCCL's manual (Environment Variables), aws-ofi-nccl's README, ompi_info --all, PyTorch's
 * manual (DistributedDataParallel, fully_shard). */
static const struct row {
    enum tune_link link; /* TUNE_UNKNOWN: every link of NCCL */
    int nccl;            /* since which version; 0: any */
    int flags;
    const char *changes;
    const char *settings; /* NAME=VALUE, torch:NAME=VALUE; separated by blanks */
} rows[] = {
    {TUNE_SOCKET, 20408, 0, "connections and threads",
     "NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=2|NCCL_SOCKET_NTHREADS=4 "
     "NCCL_NSOCKS_PERTHREAD=1|"
     "NCCL_SOCKET_NTHREADS=1 NCCL_NSOCKS_PERTHREAD=2|NCCL_SOCKET_NTHREADS=4 "
     "NCCL_NSOCKS_PERTHREAD=4|"
     "NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=8"},
    {TUNE_SOCKET, 0, 0, "memory for buffers", "NCCL_BUFFSIZE=8388608"},
    {TUNE_SOCKET, 0, 0, "GPU thread blocks, threads", "NCCL_MIN_NCHANNELS=4|NCCL_MAX_NCHANNELS=1"},
    {TUNE_SHM, 0, 0, "GPU thread blocks",
     "NCCL_MIN_NCHANNELS=16|NCCL_MIN_NCHANNELS=8|NCCL_MAX_NCHANNELS=2"},
    {TUNE_SHM, 0, 0, "memory for buffers", "NCCL_BUFFSIZE=16777216|NCCL_BUFFSIZE=1048576"},
    {TUNE_SHM, 20304, 0, "the way between GPUs",
     "NCCL_P2P_LEVEL=SYS|NCCL_P2P_LEVEL=PHB|NCCL_P2P_LEVEL=PXB"},
    /* Not LL128: NCCL leaves it out where lines of 128 bytes may arrive in parts, and when forced it
     * can give wrong sums there (NCCL_PROTO in NCCL's manual; seen between groups over sockets). */
    {TUNE_SHM, 0, 0, "protocol", "NCCL_PROTO=Simple"},
    {TUNE_IB, 21000, 0, "queue pairs", "NCCL_IB_QPS_PER_CONNECTION=4"},
    {TUNE_IB, 21800, 0, "queue pairs", "NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1"},
    {TUNE_IB, 21600, 0, "routing; 1 needs a fabric that does it",
     "NCCL_IB_ADAPTIVE_ROUTING=1|NCCL_IB_ADAPTIVE_ROUTING=0"},
    {TUNE_IB, 20402, 0, "GPU memory is read by the network card",
     "NCCL_NET_GDR_LEVEL=SYS|NCCL_NET_GDR_READ=1"},
    {TUNE_IB, 21200, 0, "order on PCIe", "NCCL_IB_PCI_RELAXED_ORDERING=1"},
    {TUNE_IB, 0, 0, "GPU thread blocks",
     "NCCL_MIN_NCHANNELS=16|NCCL_MIN_NCHANNELS=24|NCCL_MIN_NCHANNELS=32"},
    {TUNE_IB, 0, 0, "rings across network cards", "NCCL_CROSS_NIC=1|NCCL_CROSS_NIC=0"},
    {TUNE_IB, 22400, NVLS, "algorithm", "NCCL_ALGO=^NVLSTree"},
    {TUNE_IB, 21200, 0, "the way of messages inside a host", "NCCL_PXN_DISABLE=1"},
    {TUNE_OFI, 0, 0, "protocol of the network plugin",
     "OFI_NCCL_PROTOCOL=RDMA|OFI_NCCL_PROTOCOL=SENDRECV"},
    {TUNE_OFI, 0, 0, "memory for buffers", "NCCL_BUFFSIZE=8388608 NCCL_P2P_NET_CHUNKSIZE=524288"},
    {TUNE_OFI, 0, 0, "protocol", "NCCL_PROTO=Simple"},
    {TUNE_OFI, 0, 0, "GPU thread blocks", "NCCL_MIN_NCHANNELS=16"},
    {TUNE_OFI, 20402, 0, "GPU memory is read by the network card", "NCCL_NET_GDR_LEVEL=PHB"},
    {TUNE_OFI, 20800, 0, "GPU thread blocks", "NCCL_NCHANNELS_PER_NET_PEER=4"},
    {TUNE_OFI, 22400, NVLS, "algorithm", "NCCL_ALGO=^NVLSTree"},
    {TUNE_P2P, 0, 0, "GPU thread blocks",
     "NCCL_MAX_NCHANNELS=16|NCCL_MAX_NCHANNELS=8|NCCL_MIN_NCHANNELS=32"},
    {TUNE_P2P, 21700, 0, "GPU thread blocks", "NCCL_MIN_CTAS=32"},
    {TUNE_P2P, 21200, 0, "copies by copy engines", "NCCL_P2P_USE_CUDA_MEMCPY=1"},
    {TUNE_P2P, 0, 0, "the way between GPUs", "NCCL_P2P_DISABLE=1"},
    {TUNE_P2P, 0, 0, "protocol", "NCCL_PROTO=Simple"},
    {TUNE_P2P, 22400, NVLS, "algorithm", "NCCL_ALGO=allreduce:nvls"},
    {TUNE_P2P, 21700, NVLS, "algorithm", "NCCL_NVLS_ENABLE=0"},
    {TUNE_P2P, 22700, 0, "GPU thread blocks; acts on registered buffers", "NCCL_CTA_POLICY=1"},
    {TUNE_UNKNOWN, 20406, 0, "processors of NCCL's threads", "NCCL_IGNORE_CPU_AFFINITY=1"},
    {TUNE_UNKNOWN, 0, TUNE_DDP, "memory for DDP's buckets",
     "torch:bucket_cap_mb=100|torch:bucket_cap_mb=10"},
    {TUNE_UNKNOWN, 0, TUNE_DDP, "gradients are views of buckets",
     "torch:gradient_as_bucket_view=1"},
    {TUNE_UNKNOWN, 0, TUNE_DDP, "the graph of the model must not change", "torch:static_graph=1"},
    {TUNE_UNKNOWN, 0, TUNE_FSDP, "memory: parameters stay whole", "torch:reshard_after_forward=0"},
    {TUNE_UNKNOWN, 0, TUNE_FSDP, "memory: parameters come earlier", "torch:prefetch=2"},
    {TUNE_UNKNOWN, 0, TUNE_PYTHON, "processors of a rank", "torch:bind=numa"},
    {TUNE_UNKNOWN, 0, 0, "queues of the GPU",
     "CUDA_DEVICE_MAX_CONNECTIONS=16|CUDA_DEVICE_MAX_CONNECTIONS=32"},
#define RULES MPI_RULES "=1 "
#define ALGORITHM RULES "OMPI_MCA_coll_tuned_allreduce_algorithm="
#define SEGMENT " OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize="
    {TUNE_MPI, 0, 0,
     "algorithm of the all-reduce: linear (1), reduce and broadcast (2), recursive doubling (3), "
     "ring (4, 5), "
     "Rabenseifner (6)",
     ALGORITHM "4|" ALGORITHM "3|" ALGORITHM "6|" ALGORITHM "5" SEGMENT "1048576|" ALGORITHM
               "5" SEGMENT "131072|" ALGORITHM "2|" ALGORITHM "1"},
    {TUNE_MPI, 0, 0, "copies between processes", "OMPI_MCA_btl_vader_single_copy_mechanism=none"},
    {TUNE_MPI, 0, 0, "memory for buffers", "OMPI_MCA_btl_vader_eager_limit=65536"},
    {TUNE_MPI, 0, HOSTS, "connections", "OMPI_MCA_btl_tcp_links=2"},
    {TUNE_MPI, 0, 0, "processors of a rank", "OMPI_MCA_hwloc_base_binding_policy=none"},
};

/* The switches of PyTorch (torch/sitecustomize.py), and how the code of a job says the same. */
static const struct torch_switch {
    const char *name, *example; /* 0, 1 and numa: the only value */
    const char *code;
} switches[] = {
    {"bucket_cap_mb", "50", "DistributedDataParallel(..., bucket_cap_mb=%s)"},
    {"gradient_as_bucket_view", "1", "DistributedDataParallel(..., gradient_as_bucket_view=True)"},
    {"static_graph", "1", "DistributedDataParallel(..., static_graph=True)"},
    {"reshard_after_forward", "0", "fully_shard(..., reshard_after_forward=False)"},
    {"prefetch", "2", "module.set_modules_to_forward_prefetch(the next %s), and backward"},
    {"bind", "numa", "bind each rank to the processors of its GPU's NUMA node"},
};

static const struct torch_switch *switch_of(const char *word)
{
    for (size_t i = 0; i < COUNT(switches); i++) {
        size_t n = strlen(switches[i].name);
        if (!strncmp(word, switches[i].name, n) && word[n] == '=')
            return &switches[i];
    }
    return NULL;
}

char *tune_switch_code(const char *word)
{
    const char *code = switch_of(word)->code, *at = strstr(code, "%s");
    return at ? xstrfmt("%.*s%s%s", (int)(at - code), code, strchr(word, '=') + 1, at + 2)
              : xstrdup(code);
}

/* ---- a setting ---- */

static bool begins(const char *s, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (!strncmp(s, *prefixes, strlen(*prefixes)))
            return true;
    return false;
}

/* NULL: it is none; why: the reason, one line. */
static bool add_switch(struct tune_setting *s, const char *word, char *why, size_t n)
{
    const struct torch_switch *of = switch_of(word);
    if (!of) {
        snprintf(why, n,
                 "'" TORCH "%s' is no switch: must be " TORCH "NAME=VALUE, NAME one of "
                 "bucket_cap_mb, gradient_as_bucket_view, static_graph, reshard_after_forward, "
                 "prefetch, bind",
                 word);
        return false;
    }
    const char *value = strchr(word, '=') + 1;
    bool good = atoi(of->example) > 1 ? *value && !value[strspn(value, "0123456789")]
                                      : !strcmp(value, of->example);
    if (!good)
        snprintf(why, n, "'" TORCH "%s': must be like " TORCH "%s=%s", word, of->name, of->example);
    words_add(&s->torch, word);
    s->weight += 2;
    return good;
}

/* Variables that tune sets itself. */
static bool is_ours(const char *word)
{
    static const char *const ours[] = {"LD_PRELOAD=", "PYTHONPATH=", "GRADSYNC_",
                                       "OMPI_MCA_mca_base_env_list=", NULL};
    return begins(word, ours);
}

/* NCCL takes its default for a variable that is empty, whatever nccl.conf says. */
static bool is_without(const char *word)
{
    const char *value = strchr(word, '=');
    return value && (!strcmp(value + 1, UNSET) || (!value[1] && !strncmp(word, "NCCL_", 5)));
}

static bool add_word(struct tune_setting *s, const char *word, char *why, size_t size)
{
    AUTO_FREE char *unset = NULL;
    if (!strncmp(word, TORCH, strlen(TORCH)))
        return add_switch(s, word + strlen(TORCH), why, size);
    if (*word == '-') {
        unset = xstrfmt("%s=" UNSET, word + 1);
        word = unset;
    }
    size_t n = strcspn(word, "=");
    bool good = n && word[n] && !isdigit((unsigned char)*word);
    for (size_t i = 0; i < n; i++)
        good = good && (isalnum((unsigned char)word[i]) || word[i] == '_');
    if (!good)
        snprintf(why, size,
                 "'%s': must be NAME=VALUE, -NAME or " TORCH "NAME=VALUE, separated by "
                 "blanks; a link at the start of the line ends with ':'",
                 word);
    else if (is_ours(word))
        snprintf(why, size, "'%.*s' cannot be a setting: tune sets it itself", (int)n, word);
    if (good && !strncmp(word, LIBRARY, strlen(LIBRARY))) {
        xstrset(&s->library, word + n + 1);
        s->weight += 3;
        return true;
    }
    words_add(&s->variables, word);
    s->weight += is_without(word) ? 1 : 2; /* fewer variables are better */
    return good && !is_ours(word);
}

char *tune_setting_apply(const struct tune_setting *s, const char *between)
{
    struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < s->variables.n; i++)
        text_addf(&t, "%s%s", t.len ? between : "", s->variables.v[i]);
    for (size_t i = 0; i < s->torch.n; i++)
        text_addf(&t, "%s" TORCH "%s", t.len ? between : "", s->torch.v[i]);
    if (s->library)
        text_addf(&t, "%s" LIBRARY "%s", t.len ? between : "", s->library);
    return t.s;
}

static void put_label(struct tune_setting *s)
{
    AUTO_FREE char *words = tune_setting_apply(s, "/"), *label = label_from(words);
    xstrset(&s->label, *label ? label : TUNE_BASELINE);
}

static void free_setting(struct tune_setting *s)
{
    words_free(&s->variables);
    words_free(&s->torch);
    free(s->label);
    free(s->changes);
    free(s->library);
}

/* NULL: a word of it is no setting; why: the reason. */
static struct tune_setting *add(struct tune_settings *all, enum tune_link link, const char *apply,
                                const char *changes, char *why, size_t n)
{
    AUTO_WORDS struct words words = {0};
    struct tune_setting s = {.link = link};
    bool good = true;
    words_split(&words, apply, ' ');
    for (size_t i = 0; i < words.n && good; i++)
        good = !*words.v[i] || add_word(&s, words.v[i], why, n);
    put_label(&s);
    size_t there = tune_settings_find(all, s.label);
    if (!good || there < all->n) {
        free_setting(&s);
        return good ? &all->v[there] : NULL;
    }
    s.changes = xstrdup(changes);
    APPEND(all->v, all->n) = s;
    return &all->v[all->n - 1];
}

/* ---- variables that the user has set ---- */

/* Not variables that do not tune, those that a launcher sets for its own use, and those of Open MPI in
 * a job that communicates through NCCL. */
static bool is_tuning(enum tune_link link, const char *name, size_t n, bool nvls_off)
{
    static const char *const ours[] = {"NCCL_",
                                       "UCX_",
                                       "FI_",
                                       "CUDA_DEVICE_MAX_CONNECTIONS",
                                       "CUDA_LAUNCH_BLOCKING",
                                       "TORCH_NCCL_",
                                       "TORCH_DISTRIBUTED_DEBUG",
                                       "OFI_NCCL_",
                                       "RCCL_",
                                       "OMPI_MCA_btl",
                                       "OMPI_MCA_coll",
                                       "OMPI_MCA_pml",
                                       "OMPI_MCA_mtl",
                                       NULL};
    static const char *const not_ours[] = {"NCCL_TUNER_", "NCCL_PROFILER_", "NCCL_CONF_FILE",
                                           "NCCL_SET_",   "UCX_LOG_",       "FI_LOG_",
                                           NULL};
    AUTO_FREE char *s = xstrfmt("%.*s", (int)n, name);
    bool idle = link != TUNE_UNKNOWN && link != TUNE_MPI && !strncmp(s, "OMPI_", 5);
    return begins(s, ours) && !begins(s, not_ours) && !tune_ignores(s) && !idle &&
           !(nvls_off && !strncmp(s, "NCCL_NVLS", 9));
}

/* NAME=VALUE of each line of a file from which NCCL takes variables that are not set. */
static void read_conf(struct words *all, const char *path)
{
    AUTO_TEXT struct text t = {0};
    if (!files_read(path, FILES_ANY, FILES_WHOLE_MAX, &t) || !t.s)
        return;
    for (char *rest = t.s, *line; (line = strsep(&rest, "\n"));) {
        line += strspn(line, " \t");
        char *value = strchr(line, '='), *end = value;
        while (end && end > line && isblank((unsigned char)end[-1]))
            end--;
        if (*line == '#' || !end || end == line)
            continue;
        *end = '\0';
        AUTO_FREE char *word = xstrfmt("%s=%s", line, value + 1 + strspn(value + 1, " \t"));
        if (!getenv(line))
            words_add(all, word);
    }
}

/* The user's own file first. */
static void read_confs(struct words *all)
{
    const char *own = getenv("NCCL_CONF_FILE"), *home = getenv("HOME");
    AUTO_FREE char *usual = xstrfmt("%s/.nccl.conf", home ? home : "");
    read_conf(all, own && *own ? own : usual);
    read_conf(all, "/etc/nccl.conf");
}

bool tune_nvls_is_off(void)
{
    static const char name[] = "NCCL_NVLS_ENABLE";
    const char *v = getenv(name);
    AUTO_WORDS struct words conf = {0};
    read_confs(&conf);
    for (size_t i = 0; i < conf.n && !v; i++)
        if (!strncmp(conf.v[i], name, strlen(name)) && conf.v[i][strlen(name)] == '=')
            v = conf.v[i] + strlen(name) + 1;
    return v && *v == '0';
}

static void add_without(struct tune_settings *all, enum tune_link link)
{
    bool off = tune_nvls_is_off();
    AUTO_WORDS struct words conf = {0};
    read_confs(&conf);
    for (char **e = environ; *e; e++) {
        size_t n = strcspn(*e, "=");
        AUTO_FREE char *apply = xstrfmt("%.*s=" UNSET, (int)n, *e);
        if (is_tuning(link, *e, n, off))
            add(all, TUNE_UNKNOWN, apply, "a variable that you set is left out", NULL, 0);
    }
    for (size_t i = 0; i < conf.n; i++) {
        size_t n = strcspn(conf.v[i], "=");
        AUTO_FREE char *apply = xstrfmt("%.*s=", (int)n, conf.v[i]);
        if (is_tuning(link, conf.v[i], n, off))
            add(all, TUNE_UNKNOWN, apply, "a line of nccl.conf is left out", NULL, 0);
    }
}

/* ---- the user's file ---- */

/* Warns of a variable one letter away from one of the table. No more than that: there are many others, also
 * of NCCL's plugins. */
static void warn_of_slips(const struct tune_setting *s, const char *file, int number)
{
    static struct words warned; /* files are read again when the link is known */
    AUTO_WORDS struct words known = {0};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (const char *word = rows[i].settings; *word; word += strspn(word, "| ")) {
            words_addf(&known, "%.*s", (int)strcspn(word, "="), word);
            word += strcspn(word, "| ");
        }
    for (size_t i = 0; i < s->variables.n; i++) {
        size_t n = strcspn(s->variables.v[i], "="), same = 0;
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n, s->variables.v[i]);
        const char *near = text_nearest(name, (const char *const *)known.v, known.n);
        if (!near || words_has(&known, name) || words_has(&warned, name))
            continue;
        const char *a = name + n, *b = near + strlen(near);
        while (name[same] && name[same] == near[same])
            same++;
        for (; a > name + same && b > near + same && a[-1] == b[-1]; a--)
            b--;
        if (a - name > (long)same + 1 || b - near > (long)same + 1)
            continue;
        words_add(&warned, name);
        fail_at(GS_OK, file, number, "warning: %s is tried as it is; did you mean %s?", name, near);
    }
}

/* "LINK: NAME=VALUE ...  # what it changes". Every line is checked, also those of other links. */
static int take_line(struct tune_settings *all, const char *file, int number, char *line,
                     enum tune_link link)
{
    char why[400] = "", *comment = strchr(line, '#');
    enum tune_link of = TUNE_UNKNOWN;
    struct tune_settings others = {0};
    if (comment)
        *comment++ = '\0';
    for (char *c = line; *c; c++)
        *c = *c == '\t' || *c == '\r' ? ' ' : *c;
    line += strspn(line, " ");
    if (!*line)
        return GS_OK;
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789");
    if (line[n] == ':' && strncmp(line, TORCH, strlen(TORCH))) {
        line[n] = '\0';
        while (of < TUNE_LINKS && strcmp(tune_link_names[of], line))
            of++;
        if (of == TUNE_LINKS)
            return fail_at(GS_USAGE, file, number,
                           "'%s' is not a link: must be any, p2p, shm, socket, ib, ofi or mpi",
                           line);
        line += n + 1;
    }
    bool now = of == TUNE_UNKNOWN || of == link;
    struct tune_setting *s =
        add(now ? all : &others, of, line,
            comment ? comment + strspn(comment, " ") : "a row of your file", why, sizeof why);
    bool none = s && s->weight == 0;
    if (s)
        warn_of_slips(s, file, number);
    tune_settings_free(&others);
    if (!s)
        return fail_at(GS_USAGE, file, number, "%s", why);
    return none ? fail_at(GS_USAGE, file, number, "there is no setting behind the link") : GS_OK;
}

static int read_file(struct tune_settings *all, const char *file, enum tune_link link)
{
    AUTO_FCLOSE FILE *in = files_stream(file, FILES_GIVEN);
    AUTO_FREE char *line = NULL;
    size_t cap = 0;
    int number = 0, code = GS_OK;
    bool some = false;
    if (!in)
        return fail_at(GS_USAGE, file, 0, "cannot be read: %s", files_why(errno));
    if (fseek(in, 0, SEEK_END) || fseek(in, 0, SEEK_SET))
        return fail_at(GS_USAGE, file, 0,
                       "is a pipe, which can be read once only: write the settings to a file");
    while (!code && getline(&line, &cap, in) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        some = some || !strchr("#", line[strspn(line, " \t\r")]);
        code = take_line(all, file, ++number, line, link);
    }
    if (!code && !some)
        return fail_at(GS_USAGE, file, 0, "has no setting; a line is LINK: NAME=VALUE ...");
    return code;
}

/* ---- all ---- */

static bool applies(const struct row *r, const struct tune_request *q, enum tune_link link)
{
    int torch = r->flags & (TUNE_DDP | TUNE_FSDP | TUNE_PYTHON);
    if (r->link != link && (r->link != TUNE_UNKNOWN || link == TUNE_MPI))
        return false;
    if ((r->flags & NVLS && tune_nvls_is_off()) || (r->flags & HOSTS && q->nodes == 1))
        return false;
    return (!torch || q->torch & torch) && !(q->nccl && r->nccl > q->nccl);
}

static bool wanted(const char *only, const struct tune_setting *s)
{
    AUTO_WORDS struct words words = {0};
    AUTO_FREE char *label = tune_setting_apply(s, "/");
    bool found = !only;
    if (only)
        words_split(&words, only, ',');
    for (size_t i = 0; i < words.n && !found; i++)
        found = *words.v[i] && strstr(label, words.v[i]);
    return found;
}

/* Rows that set what the user has set to the same value already are no change. */
static bool changes_nothing(const struct tune_setting *s)
{
    size_t same = 0;
    for (size_t i = 0; i < s->variables.n; i++) {
        AUTO_FREE char *name =
            xstrfmt("%.*s", (int)strcspn(s->variables.v[i], "="), s->variables.v[i]);
        const char *value = getenv(name);
        same += value && !strcmp(value, s->variables.v[i] + strlen(name) + 1);
    }
    return s->variables.n && same == s->variables.n && !s->torch.n;
}

static void keep_wanted(struct tune_settings *s, const char *only)
{
    size_t kept = 1;
    for (size_t i = 1; i < s->n; i++)
        if (wanted(only, &s->v[i]) && !changes_nothing(&s->v[i]))
            s->v[kept++] = s->v[i];
        else
            free_setting(&s->v[i]);
    s->n = kept;
}

int tune_settings_make(struct tune_settings *s, const struct tune_request *q, enum tune_link link)
{
    int code = GS_OK;
    *s = (struct tune_settings){0};
    const bool own = q->o->arms || q->o->launches;
    const char *const files[] = {q->o->arms, q->o->launches, q->o->candidates};
    add(s, TUNE_UNKNOWN, "", "", NULL, 0);
    if (!own)
        add_without(s, link);
    if (q->o->library) {
        AUTO_FREE char *apply = xstrfmt(LIBRARY "%s", q->o->library);
        add(s, TUNE_UNKNOWN, apply, "another NCCL", NULL, 0);
    }
    for (size_t i = 0, first = s->n; i < COUNT(files) && !code; i++, first = s->n) {
        code = files[i] ? read_file(s, files[i], link) : GS_OK;
        for (size_t k = first; k < s->n; k++)
            s->v[k].by_launch = i == 1;
    }
    for (size_t i = 0; i < COUNT(rows) && !code && !own; i++) {
        AUTO_WORDS struct words settings = {0};
        words_split(&settings, rows[i].settings, '|');
        for (size_t k = 0; k < settings.n && applies(&rows[i], q, link); k++)
            add(s, rows[i].link, settings.v[k], rows[i].changes, NULL, 0);
    }
    keep_wanted(s, q->o->only);
    return code;
}

void tune_settings_free(struct tune_settings *s)
{
    for (size_t i = 0; i < s->n; i++)
        free_setting(&s->v[i]);
    free(s->v);
    *s = (struct tune_settings){0};
}

size_t tune_settings_find(const struct tune_settings *s, const char *label)
{
    size_t i = 0;
    while (i < s->n && strcmp(s->v[i].label, label))
        i++;
    return i;
}

size_t tune_settings_add(struct tune_settings *s, const char *apply, const char *changes)
{
    struct tune_setting *new = add(s, TUNE_UNKNOWN, apply, changes, NULL, 0);
    return new ? (size_t)(new - s->v) : s->n;
}

char *tune_setting_words(const struct tune_setting *s)
{
    AUTO_TEXT struct text set = {0}, without = {0};
    text_add(&set, "");
    text_add(&without, "");
    for (size_t i = 0; i < s->variables.n; i++) {
        const char *v = s->variables.v[i];
        size_t n = strcspn(v, "=");
        if (is_without(v))
            text_addf(&without, "%s%.*s", without.len ? " and " : "", (int)n, v);
        else
            text_addf(&set, "%s%s", set.len ? " " : "", v);
    }
    for (size_t i = 0; i < s->torch.n; i++)
        text_addf(&set, "%s%s", set.len ? " " : "", s->torch.v[i]);
    if (s->library)
        text_addf(&set, "%sNCCL of %s", set.len ? " " : "", s->library);
    if (without.len && set.len)
        return xstrfmt("%s, without %s", set.s, without.s);
    return without.len ? xstrfmt("without %s", without.s) : xstrdup(set.len ? set.s : "auto");
}

/* ---- as an arm in a running job ---- */

bool tune_setting_in_job(const struct tune_setting *s, enum tune_link link)
{
    /* Plugins come by name and are shared between copies. */
    static const char *const by_launch[] = {"NCCL_NET_PLUGIN", "NCCL_TUNER_",    "NCCL_PROFILER_",
                                            "NCCL_NET=",       "NCCL_CONF_FILE", NULL};
    bool good = !s->by_launch && !s->torch.n && (s->variables.n || s->library);
    for (size_t i = 0; i < s->variables.n; i++) {
        const char *v = s->variables.v[i];
        bool nccl = link != TUNE_MPI && !strncmp(v, "NCCL_", 5) && !begins(v, by_launch);
        bool mpi = link == TUNE_MPI && !s->library && !is_without(v) &&
                   !strncmp(v, MPI_ARM, strlen(MPI_ARM));
        good = good && (nccl || mpi);
    }
    return good;
}

void tune_setting_arm(struct text *t, const char *id, const struct tune_setting *s,
                      enum tune_link link)
{
    text_addf(t, "arm %s\n", id);
    if (link != TUNE_MPI)
        text_addf(t, "copy %s\n", s->library ? s->library : "");
    for (size_t i = 0; i < s->variables.n; i++) {
        const char *v = s->variables.v[i];
        if (link != TUNE_MPI && is_without(v))
            text_addf(t, "without %.*s\n", (int)strcspn(v, "="), v);
        else if (link != TUNE_MPI)
            text_addf(t, "set %s\n", v);
        else if (strncmp(v, MPI_RULES, strlen(MPI_RULES)) != 0)
            text_addf(t, "mpi %s\n", v + strlen("OMPI_MCA_"));
    }
}
