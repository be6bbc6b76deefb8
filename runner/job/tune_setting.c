/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_setting.h"

#include "base/err.h"
#include "base/files.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSET "unset"
#define TORCH "torch:"

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
enum { LOSSY = 8, NVLS = 16 };

static const struct row {
    enum tune_link link; /* TUNE_UNKNOWN: every link of NCCL */
    const char *apply;   /* NAME=VALUE, torch:NAME=VALUE; separated by blanks */
    const char *changes;
    int nccl; /* since which version; 0: any */
    int flags;
    const char *source;
} rows[] = {
#define ENV "NCCL manual, Environment Variables"
    {TUNE_SOCKET, "NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=2", "connections and threads",
     20408, 0, ENV},
    {TUNE_SOCKET, "NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=1", "connections and threads",
     20408, 0, ENV},
    {TUNE_SOCKET, "NCCL_SOCKET_NTHREADS=1 NCCL_NSOCKS_PERTHREAD=2", "connections and threads",
     20408, 0, ENV},
    {TUNE_SOCKET, "NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4", "connections and threads",
     20408, 0, ENV},
    {TUNE_SOCKET, "NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=8", "connections and threads",
     20408, 0, ENV},
    {TUNE_SOCKET, "NCCL_BUFFSIZE=8388608", "memory for buffers", 0, 0, ENV},
    {TUNE_SOCKET, "NCCL_MIN_NCHANNELS=4", "GPU thread blocks, threads", 0, 0, ENV},
    {TUNE_SOCKET, "NCCL_MAX_NCHANNELS=1", "GPU thread blocks, threads", 0, 0, ENV},
    {TUNE_SHM, "NCCL_SHM_USE_CUDA_MEMCPY=1", "copies by copy engines", 21200, 0, ENV},
    {TUNE_SHM, "NCCL_MIN_NCHANNELS=16", "GPU thread blocks", 0, 0, ENV},
    {TUNE_SHM, "NCCL_MIN_NCHANNELS=8", "GPU thread blocks", 0, 0, ENV},
    {TUNE_SHM, "NCCL_MAX_NCHANNELS=2", "GPU thread blocks", 0, 0, ENV},
    {TUNE_SHM, "NCCL_BUFFSIZE=16777216", "memory for buffers", 0, 0, ENV},
    {TUNE_SHM, "NCCL_PROTO=Simple", "protocol", 0, 0, ENV},
    {TUNE_SHM, "NCCL_PROTO=LL128", "protocol", 0, 0, ENV},
    {TUNE_IB, "NCCL_IB_QPS_PER_CONNECTION=4", "queue pairs", 21000, 0, ENV},
    {TUNE_IB, "NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1", "queue pairs", 21800, 0,
     ENV},
    {TUNE_IB, "NCCL_IB_ADAPTIVE_ROUTING=1", "routing; needs a fabric that does it", 21600, 0, ENV},
    {TUNE_IB, "NCCL_IB_ADAPTIVE_ROUTING=0", "routing", 21600, 0, ENV},
    {TUNE_IB, "NCCL_NET_GDR_LEVEL=SYS", "GPU memory is read by the network card", 20304, 0, ENV},
    {TUNE_IB, "NCCL_NET_GDR_READ=1", "GPU memory is read by the network card", 20402, 0, ENV},
    {TUNE_IB, "NCCL_IB_PCI_RELAXED_ORDERING=1", "order on PCIe", 21200, 0, ENV},
    {TUNE_IB, "NCCL_MIN_NCHANNELS=16", "GPU thread blocks", 0, 0, ENV},
    {TUNE_IB, "NCCL_PXN_DISABLE=1", "the way of messages inside a host", 21200, 0, ENV},
    {TUNE_OFI, "OFI_NCCL_PROTOCOL=RDMA", "protocol of the network plugin", 0, 0,
     "aws-ofi-nccl, README"},
    {TUNE_OFI, "OFI_NCCL_PROTOCOL=SENDRECV", "protocol of the network plugin", 0, 0,
     "aws-ofi-nccl, README"},
    {TUNE_OFI, "NCCL_BUFFSIZE=8388608 NCCL_P2P_NET_CHUNKSIZE=524288", "memory for buffers", 0, 0,
     "AWS, EFA with NCCL"},
    {TUNE_OFI, "NCCL_PROTO=Simple", "protocol", 0, 0, ENV},
    {TUNE_OFI, "NCCL_MIN_NCHANNELS=16", "GPU thread blocks", 0, 0, ENV},
    {TUNE_P2P, "NCCL_MAX_NCHANNELS=16", "GPU thread blocks", 0, 0, ENV},
    {TUNE_P2P, "NCCL_MAX_NCHANNELS=8", "GPU thread blocks", 0, 0, ENV},
    {TUNE_P2P, "NCCL_MIN_NCHANNELS=32", "GPU thread blocks", 0, 0, ENV},
    {TUNE_P2P, "NCCL_P2P_USE_CUDA_MEMCPY=1", "copies by copy engines", 21200, 0, ENV},
    {TUNE_P2P, "NCCL_PROTO=Simple", "protocol", 0, 0, ENV},
    {TUNE_P2P, "NCCL_ALGO=allreduce:nvls", "algorithm", 22400, NVLS, ENV},
    {TUNE_P2P, "NCCL_NVLS_ENABLE=0", "algorithm", 21700, NVLS, ENV},
    {TUNE_P2P, "NCCL_CTA_POLICY=1", "GPU thread blocks; acts on registered buffers", 22700, 0, ENV},
    {TUNE_UNKNOWN, "NCCL_IGNORE_CPU_AFFINITY=1", "processors of NCCL's threads", 20406, 0, ENV},
    {TUNE_UNKNOWN, "torch:bucket_cap_mb=100", "memory for DDP's buckets", 0, TUNE_DDP,
     "PyTorch, DistributedDataParallel"},
    {TUNE_UNKNOWN, "torch:bucket_cap_mb=10", "memory for DDP's buckets", 0, TUNE_DDP,
     "PyTorch, DistributedDataParallel"},
    {TUNE_UNKNOWN, "torch:gradient_as_bucket_view=1", "gradients are views of buckets", 0, TUNE_DDP,
     "PyTorch, DistributedDataParallel"},
    {TUNE_UNKNOWN, "torch:static_graph=1", "the graph of the model must not change", 0, TUNE_DDP,
     "PyTorch, DistributedDataParallel"},
    {TUNE_UNKNOWN, "torch:reshard_after_forward=0", "memory: parameters stay whole", 0, TUNE_FSDP,
     "PyTorch, fully_shard"},
    {TUNE_UNKNOWN, "torch:prefetch=2", "memory: parameters come earlier", 0, TUNE_FSDP,
     "PyTorch, fully_shard"},
    {TUNE_UNKNOWN, "torch:bind=numa", "processors of a rank", 0, TUNE_PYTHON,
     "sched_setaffinity(2)"},
    {TUNE_UNKNOWN, "torch:bf16_gradients=1", "the gradients: bf16 when they are communicated", 0,
     LOSSY | TUNE_DDP, "PyTorch, bf16_compress_hook"},
#define COLL "OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm="
#define OMPI "Open MPI, ompi_info --all"
    {TUNE_MPI, COLL "4", "algorithm of the all-reduce: ring", 0, 0, OMPI},
    {TUNE_MPI, COLL "5 OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize=1048576",
     "algorithm of the all-reduce: ring in segments", 0, 0, OMPI},
    {TUNE_MPI, COLL "3", "algorithm of the all-reduce: recursive doubling", 0, 0, OMPI},
    {TUNE_MPI, COLL "6", "algorithm of the all-reduce: Rabenseifner", 0, 0, OMPI},
    {TUNE_MPI, "OMPI_MCA_btl_vader_single_copy_mechanism=none", "copies between processes", 0, 0,
     OMPI},
    {TUNE_MPI, "OMPI_MCA_btl_vader_eager_limit=65536", "memory for buffers", 0, 0, OMPI},
    {TUNE_MPI, "OMPI_MCA_btl_tcp_links=2", "connections", 0, 0, OMPI},
    {TUNE_MPI, "OMPI_MCA_hwloc_base_binding_policy=none", "processors of a rank", 0, 0, OMPI},
};

static bool add_word(struct tune_setting *s, const char *word)
{
    AUTO_FREE char *unset = NULL;
    if (!strncmp(word, TORCH, strlen(TORCH))) {
        words_add(&s->torch, word + strlen(TORCH));
        s->weight += 2;
        s->lossy = s->lossy || strstr(word, "bf16");
        return strchr(word, '=') != NULL;
    }
    if (*word == '-')
        word = unset = xstrfmt("%s=" UNSET, word + 1);
    size_t n = strcspn(word, "=");
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)word[i]) && word[i] != '_')
            return false;
    words_add(&s->variables, word);
    s->weight += strcmp(word + n, "=" UNSET) ? 2 : 1; /* fewer variables are better */
    return n && word[n];
}

static void put_label(struct tune_setting *s)
{
    AUTO_TEXT struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < s->variables.n; i++)
        text_addf(&t, "%s%s", t.len ? "/" : "", s->variables.v[i]);
    for (size_t i = 0; i < s->torch.n; i++)
        text_addf(&t, "%s" TORCH "%s", t.len ? "/" : "", s->torch.v[i]);
    xstrset(&s->label, t.len ? t.s : TUNE_BASELINE);
}

static void free_setting(struct tune_setting *s)
{
    words_free(&s->variables);
    words_free(&s->torch);
    free(s->label);
    free(s->changes);
    free(s->source);
}

/* NULL: a word of it is no setting. */
static struct tune_setting *add(struct tune_settings *all, const char *apply, const char *changes,
                                const char *source)
{
    AUTO_WORDS struct words words = {0};
    struct tune_setting s = {0};
    bool good = true;
    words_split(&words, apply, ' ');
    for (size_t i = 0; i < words.n && good; i++)
        good = !*words.v[i] || add_word(&s, words.v[i]);
    put_label(&s);
    if (!good || (all->n && tune_settings_find(all, s.label) < all->n)) {
        free_setting(&s);
        return good ? &all->v[tune_settings_find(all, s.label)] : NULL;
    }
    s.changes = xstrdup(changes);
    s.source = xstrdup(source);
    APPEND(all->v, all->n) = s;
    return &all->v[all->n - 1];
}

bool tune_row_line(size_t i, struct text *line)
{
    if (i >= COUNT(rows))
        return false;
    text_addf(line, "%s: %s  # %s; %s", tune_link_names[rows[i].link], rows[i].apply,
              rows[i].changes, rows[i].source);
    return true;
}

/* ---- variables that the user has set ---- */

static const char *value_of(char *const *environment, const char *name)
{
    size_t n = strlen(name);
    for (char *const *e = environment; *e; e++)
        if (!strncmp(*e, name, n) && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

static bool begins(const char *s, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (!strncmp(s, *prefixes, strlen(*prefixes)))
            return true;
    return false;
}

/* Variables that do not tune, and variables that a launcher sets for its own use. */
static bool is_tuning(const char *name, size_t n, bool nvls_off)
{
    static const char *const ours[] = {"NCCL_",
                                       "UCX_",
                                       "FI_",
                                       "CUDA_DEVICE_MAX_CONNECTIONS",
                                       "OMPI_MCA_btl",
                                       "OMPI_MCA_coll",
                                       "OMPI_MCA_pml",
                                       "OMPI_MCA_mtl",
                                       NULL};
    static const char *const not_ours[] = {
        "NCCL_DEBUG",   "NCCL_TUNER_",  "NCCL_PROFILER_", "NCCL_CONF_FILE",
        "NCCL_COMM_ID", "NCCL_HOME",    "NCCL_ROOT",      "NCCL_INCLUDE",
        "NCCL_LIB",     "NCCL_VERSION", "NCCL_TOPO_DUMP", "NCCL_GRAPH_DUMP_",
        "NCCL_SET_",    "UCX_LOG_",     "FI_LOG_",        NULL};
    AUTO_FREE char *s = xstrfmt("%.*s", (int)n, name);
    return begins(s, ours) && !begins(s, not_ours) && !(nvls_off && !strncmp(s, "NCCL_NVLS", 9));
}

static bool may_connect(const char *name)
{
    static const char *const needed[] = {"NCCL_SOCKET_IFNAME", "NCCL_SOCKET_FAMILY",
                                         "NCCL_IB_HCA",        "NCCL_IB_GID_INDEX",
                                         "NCCL_IB_ADDR",       "NCCL_IB_TC",
                                         "NCCL_IB_SL",         "NCCL_IB_DISABLE",
                                         "NCCL_IB_ROCE",       "NCCL_NET",
                                         "NCCL_OOB",           "NCCL_CROSS_NIC",
                                         "NCCL_CUMEM",         "NCCL_MNNVL",
                                         "NCCL_P2P_DISABLE",   "NCCL_SHM_DISABLE",
                                         "UCX_NET_DEVICES",    "UCX_TLS",
                                         "FI_PROVIDER",        "FI_EFA",
                                         "OMPI_MCA_btl",       "OMPI_MCA_pml",
                                         "OMPI_MCA_mtl",       NULL};
    return begins(name, needed);
}

static bool nvls_is_off(char *const *environment)
{
    const char *v = value_of(environment, "NCCL_NVLS_ENABLE");
    return v && *v == '0';
}

static void add_without(struct tune_settings *all, char *const *environment)
{
    bool off = nvls_is_off(environment);
    for (char *const *e = environment; *e; e++) {
        size_t n = strcspn(*e, "=");
        if (!is_tuning(*e, n, off))
            continue;
        AUTO_FREE char *apply = xstrfmt("%.*s=" UNSET, (int)n, *e);
        struct tune_setting *s =
            add(all, apply, "a variable that you set is left out", "your environment");
        if (s)
            s->may_disconnect = may_connect(s->variables.v[0]);
    }
}

/* ---- the user's file ---- */

static enum tune_link link_of(const char *name)
{
    size_t i = 0;
    while (i < TUNE_LINKS && strcmp(tune_link_names[i], name))
        i++;
    return (enum tune_link)i;
}

/* "LINK: NAME=VALUE ...  # what it changes" */
static int take_line(struct tune_settings *all, const char *path, int number, char *line,
                     enum tune_link link)
{
    char *comment = strchr(line, '#');
    enum tune_link of = TUNE_UNKNOWN;
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
        of = link_of(line);
        if (of == TUNE_LINKS)
            return fail_at(GS_USAGE, path, number,
                           "'%s' is not a link: must be any, p2p, shm, socket, ib, ofi or mpi",
                           line);
        line += n + 1;
    }
    if (of != TUNE_UNKNOWN && of != link)
        return GS_OK;
    struct tune_setting *s =
        add(all, line, comment ? comment + strspn(comment, " ") : "a row of your file", path);
    return s ? GS_OK
             : fail_at(GS_USAGE, path, number,
                       "'%s': must be NAME=VALUE, -NAME or torch:NAME=VALUE, separated by blanks",
                       line + strspn(line, " "));
}

static int read_file(struct tune_settings *all, const char *path, enum tune_link link)
{
    AUTO_FCLOSE FILE *in = files_stream(path, FILES_GIVEN);
    AUTO_FREE char *line = NULL;
    size_t cap = 0;
    int number = 0, code = GS_OK;
    if (!in)
        return fail_at(GS_USAGE, path, 0, "cannot be read: %s", files_why(errno));
    while (!code && getline(&line, &cap, in) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        code = take_line(all, path, ++number, line, link);
    }
    return code;
}

/* ---- all ---- */

static bool applies(const struct row *r, const struct tune_request *q, enum tune_link link,
                    char *const *environment)
{
    int torch = r->flags & (TUNE_DDP | TUNE_FSDP | TUNE_PYTHON);
    if (r->link != link && (r->link != TUNE_UNKNOWN || link == TUNE_MPI))
        return false;
    if ((r->flags & LOSSY && !q->lossy) || (r->flags & NVLS && nvls_is_off(environment)))
        return false;
    return (!torch || q->torch & torch) && !(q->nccl && r->nccl > q->nccl);
}

static bool wanted(const char *only, const char *label)
{
    AUTO_WORDS struct words words = {0};
    bool found = !only;
    if (only)
        words_split(&words, only, ',');
    for (size_t i = 0; i < words.n && !found; i++)
        found = *words.v[i] && strstr(label, words.v[i]);
    return found;
}

/* Rows that set what the user has set to the same value already are no change. */
static bool changes_nothing(const struct tune_setting *s, char *const *environment)
{
    size_t same = 0;
    for (size_t i = 0; i < s->variables.n; i++) {
        AUTO_FREE char *name =
            xstrfmt("%.*s", (int)strcspn(s->variables.v[i], "="), s->variables.v[i]);
        const char *value = value_of(environment, name);
        same += value && !strcmp(value, s->variables.v[i] + strlen(name) + 1);
    }
    return s->variables.n && same == s->variables.n && !s->torch.n;
}

static void keep_wanted(struct tune_settings *s, const char *only, char *const *environment)
{
    size_t kept = 1;
    for (size_t i = 1; i < s->n; i++)
        if (wanted(only, s->v[i].label) && !changes_nothing(&s->v[i], environment))
            s->v[kept++] = s->v[i];
        else
            free_setting(&s->v[i]);
    s->n = kept;
}

int tune_settings_make(struct tune_settings *s, const struct tune_request *q, enum tune_link link,
                       char *const *environment)
{
    int code = GS_OK;
    *s = (struct tune_settings){0};
    add(s, "", "", "");
    add_without(s, environment);
    if (q->file)
        code = read_file(s, q->file, link);
    for (size_t i = 0; i < COUNT(rows) && !code; i++)
        if (applies(&rows[i], q, link, environment)) {
            struct tune_setting *new = add(s, rows[i].apply, rows[i].changes, rows[i].source);
            new->lossy = rows[i].flags &LOSSY;
        }
    keep_wanted(s, q->only, environment);
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
    struct tune_setting *new = add(s, apply, changes, "");
    return new ? (size_t)(new - s->v) : s->n;
}

char *tune_setting_apply(const struct tune_setting *s)
{
    AUTO_TEXT struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < s->variables.n; i++)
        text_addf(&t, "%s%s", t.len ? " " : "", s->variables.v[i]);
    for (size_t i = 0; i < s->torch.n; i++)
        text_addf(&t, "%s" TORCH "%s", t.len ? " " : "", s->torch.v[i]);
    return xstrdup(t.s);
}

static bool sets_same(const struct words *a, const struct words *b)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++) {
            size_t n = strcspn(a->v[i], "=");
            if (!strncmp(a->v[i], b->v[k], n + 1))
                return true;
        }
    return false;
}

size_t tune_settings_join(struct tune_settings *s, size_t a, size_t b)
{
    if (sets_same(&s->v[a].variables, &s->v[b].variables) ||
        sets_same(&s->v[a].torch, &s->v[b].torch))
        return 0;
    struct tune_setting new = {.lossy = s->v[a].lossy || s->v[b].lossy,
                               .may_disconnect = s->v[a].may_disconnect || s->v[b].may_disconnect,
                               .weight = s->v[a].weight + s->v[b].weight,
                               .changes = xstrfmt("%s; %s", s->v[a].changes, s->v[b].changes),
                               .source = xstrdup("both")};
    for (size_t k = 0; k < 2; k++) {
        const struct tune_setting *of = &s->v[k ? b : a];
        for (size_t i = 0; i < of->variables.n; i++)
            words_add(&new.variables, of->variables.v[i]);
        for (size_t i = 0; i < of->torch.n; i++)
            words_add(&new.torch, of->torch.v[i]);
    }
    put_label(&new);
    size_t there = tune_settings_find(s, new.label);
    if (there < s->n) {
        free_setting(&new);
        return there;
    }
    APPEND(s->v, s->n) = new;
    return s->n - 1;
}

char *tune_setting_words(const struct tune_setting *s)
{
    AUTO_TEXT struct text set = {0}, without = {0};
    text_add(&set, "");
    text_add(&without, "");
    for (size_t i = 0; i < s->variables.n; i++) {
        const char *v = s->variables.v[i];
        size_t n = strcspn(v, "=");
        if (!strcmp(v + n, "=" UNSET))
            text_addf(&without, "%s%.*s", without.len ? " and " : "", (int)n, v);
        else
            text_addf(&set, "%s%s", set.len ? " " : "", v);
    }
    for (size_t i = 0; i < s->torch.n; i++)
        text_addf(&set, "%s%s", set.len ? " " : "", s->torch.v[i]);
    if (without.len && set.len)
        return xstrfmt("%s, without %s", set.s, without.s);
    return without.len ? xstrfmt("without %s", without.s) : xstrdup(set.len ? set.s : "auto");
}
