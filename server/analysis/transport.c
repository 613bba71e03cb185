/* transport.c - by which ways a case's bytes went, by pair of nodes */
#include "server/analysis/transport.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/cpu_list.h"
#include "common/base/json_util.h"
#include "common/ncclog/ncclog.h"
#include "server/analysis/transport_host.h"
#include "server/analysis/transport_kind.h"
#include "server/analysis/verdict.h"

#define RANKS_MAX 65536
#define COMMS_MAX 16384
#define COMMS_SHOWN 64
#define PAIRS_NAMED 3

static const char *kind_of(const struct transport_node *node, const json_t *way)
{
    const char *via = json_get_str(way, "via", "");
    const char *host = transport_host_kind(node, way);

    if (host)
        return host;
    if (ncclog_is_of_ib(via))
        return transport_rdma_kind(node, way);
    if (strcmp(via, "NET/Socket") == 0)
        return transport_net_kind(node, json_get_str(way, "name", ""));
    return strncmp(via, "NET/", 4) == 0   ? "plugin"
           : strncmp(via, "P2P/", 4) == 0 ? "p2p"
           : strncmp(via, "SHM", 3) == 0  ? "shm"
                                          : "other";
}

/* ---- which rank is where ---- */

struct comm {
    const char *id;
    int64_t ranks; /* as it says; 0: it does not */
    size_t n;
    int *node_of; /* by rank; -1: not known */
    unsigned
        *next_node; /* the first rank behind it on another node; once all are placed */
};

struct fold {
    const struct transport_input *input;
    struct comm *comms; /* COMMS_MAX; in the order in which they were named */
    size_t n_comms;
    json_t *places;     /* of them, by id */
    json_t *way_places; /* of ways, by way_key */
    json_t *ways;       /* pairs are in: */
    uint64_t *pairs[TRANSPORT_WAYS_MAX];
};

static size_t words_of(const struct fold *fold)
{
    return (fold->input->n_nodes * fold->input->n_nodes + 63) / 64;
}

/* about: a log, or one of its other communicators. */
static struct comm *comm_of(struct fold *fold, const json_t *about)
{
    const char *id = json_get_str(about, "comm", "");
    int64_t place = json_get_int(fold->places, id, -1);
    struct comm *comm;

    if (place < 0 && fold->n_comms == COMMS_MAX)
        return NULL;
    if (place < 0) {
        place = (int64_t)fold->n_comms++;
        json_object_set_new(fold->places, id, json_integer(place));
    }
    comm = &fold->comms[place];
    comm->id = id;
    if (comm->ranks == 0)
        comm->ranks = json_get_int(about, "ranks", 0);
    return comm;
}

/* Whose way it is: the log's own, or another that the way names by its place. */
static const json_t *owner_of(const json_t *log, const json_t *way)
{
    int64_t other = json_get_int(way, "other", -1);

    return other < 0 ? log
                     : json_array_get(json_object_get(log, "others"), (size_t)other);
}

static void place_rank(struct comm *comm, int64_t rank, int node)
{
    if (!comm || rank < 0 || rank >= RANKS_MAX)
        return;
    if ((size_t)rank >= comm->n) {
        size_t n = 2 * ((size_t)rank + 1);
        int *node_of = realloc(comm->node_of, n * sizeof(*node_of));

        if (!node_of)
            return;
        for (size_t i = comm->n; i < n; i++)
            node_of[i] = -1;
        comm->node_of = node_of;
        comm->n = n;
    }
    comm->node_of[rank] = node;
}

static int place_of(const struct fold *fold, const json_t *item)
{
    int64_t node = json_get_int(item, "node", -1);

    return node >= 0 && node < (int64_t)fold->input->n_nodes ? (int)node : -1;
}

static void place_ranks(struct fold *fold)
{
    for (size_t i = 0; i < json_array_size(fold->input->logs); i++) {
        const json_t *item = json_array_get(fold->input->logs, i);
        const json_t *log = json_object_get(item, "log");

        const json_t *others = json_object_get(log, "others");

        place_rank(comm_of(fold, log), json_get_int(log, "rank", -1),
                   place_of(fold, item));
        for (size_t k = 0; k < json_array_size(others); k++) {
            const json_t *other = json_array_get(others, k);

            /* One that its processes don't name has nobody's ranks. */
            if (json_object_get(other, "comm"))
                place_rank(comm_of(fold, other), json_get_int(other, "rank", -1),
                           place_of(fold, item));
        }
    }
}

/* Ranks of a node stand together: what is said of one is said of them. */
static void find_next_nodes(struct comm *comm)
{
    if (comm->n > 0)
        comm->next_node = calloc(comm->n, sizeof(*comm->next_node));
    for (size_t i = comm->n; comm->next_node && i-- > 0;)
        comm->next_node[i] = i + 1 < comm->n && comm->node_of[i] == comm->node_of[i + 1]
                                 ? comm->next_node[i + 1]
                                 : (unsigned)i + 1;
}

/* ---- ways ---- */

/* What tells ways apart, as one text: there are many of few. */
static void way_key(const char *kind, const json_t *way, char *out, size_t size)
{
    const json_t *gdr = json_object_get(way, "gdr"), *pxn = json_object_get(way, "pxn");

    snprintf(out, size, "%s %d %d %.200s\n%.200s", kind, gdr ? json_is_true(gdr) : -1,
             pxn ? json_is_true(pxn) : -1, json_get_str(way, "via", ""),
             json_get_str(way, "name", ""));
}

static json_t *new_way(const char *kind, const json_t *way)
{
    static const char *const kept[] = {"via", "name", "gdr", "pxn"};
    json_t *out = json_pack("{s:s}", "kind", kind);

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (json_object_get(way, kept[i]))
            json_object_set(out, kept[i], json_object_get(way, kept[i]));
    return out;
}

/* Its place; a new one where there is none. -1: too many, or memory is out. */
static int find_way(struct fold *fold, int node, const json_t *way)
{
    const char *kind = kind_of(&fold->input->nodes[node], way);
    size_t n = json_array_size(fold->ways);
    char key[500];
    int64_t place;

    way_key(kind, way, key, sizeof(key));
    place = json_get_int(fold->way_places, key, -1);
    if (place >= 0)
        return (int)place;
    if (n == TRANSPORT_WAYS_MAX)
        return -1;
    fold->pairs[n] = calloc(words_of(fold), sizeof(uint64_t));
    if (!fold->pairs[n] || json_array_append_new(fold->ways, new_way(kind, way)))
        return -1;
    json_object_set_new(fold->way_places, key, json_integer((json_int_t)n));
    return (int)n;
}

static void add_pairs(struct fold *fold, uint64_t *pairs, int node,
                      const struct comm *comm, const char *peers)
{
    unsigned first, last, next = 0;

    assert(pairs);
    /* They rise: who repeats them is heard once. */
    while (peers && comm && comm->next_node && cpu_list_next(&peers, &first, &last) &&
           first >= next) {
        next = last + 1;
        for (unsigned rank = first; rank <= last && rank < comm->n;
             rank = comm->next_node[rank]) {
            int other = comm->node_of[rank];
            size_t low = (size_t)(other < node ? other : node);
            size_t high = (size_t)(other < node ? node : other);
            size_t bit = low * fold->input->n_nodes + high;

            if (other >= 0)
                pairs[bit / 64] |= UINT64_C(1) << (bit % 64);
        }
    }
}

static void raise(json_t *object, const char *key, int64_t value)
{
    if (value > json_get_int(object, key, 0))
        json_object_set_new(object, key, json_integer(value));
}

static void add_way(struct fold *fold, int node, const struct comm *comm,
                    const json_t *way)
{
    int at = find_way(fold, node, way);

    if (at >= 0) {
        json_t *out = json_array_get(fold->ways, (size_t)at);

        raise(out, "channels", json_get_int(way, "channels", 0));
        raise(out, "p2p_channels", json_get_int(way, "p2p_channels", 0));
        raise(out, "sockets", json_get_int(way, "sockets", 0));
        raise(out, "threads", json_get_int(way, "threads", 0));
        add_pairs(fold, fold->pairs[at], node, comm, json_get_str(way, "to", NULL));
        add_pairs(fold, fold->pairs[at], node, comm, json_get_str(way, "from", NULL));
    }
}

static void add_ways(struct fold *fold)
{
    for (size_t i = 0; i < json_array_size(fold->input->logs); i++) {
        const json_t *item = json_array_get(fold->input->logs, i);
        const json_t *log = json_object_get(item, "log");
        const json_t *ways = json_object_get(log, "transports");
        int node = place_of(fold, item);

        for (size_t k = 0; node >= 0 && k < json_array_size(ways); k++) {
            const json_t *way = json_array_get(ways, k), *owner = owner_of(log, way);
            bool is_known = owner == log || json_object_get(owner, "comm");

            add_way(fold, node, is_known ? comm_of(fold, owner) : NULL, way);
        }
    }
}

/* ---- in words ---- */

/* "InfiniBand mlx5_1, no GPUDirect, 2 channels" */
static void put_text(json_t *way)
{
    const char *kind = json_get_str(way, "kind", ""), *via = json_get_str(way, "via", "");
    const char *name = json_get_str(way, "name", NULL);
    bool may_have_gdr = ncclog_is_of_ib(via) ||
                        (strcmp(kind, "plugin") == 0 && json_object_get(way, "gdr"));
    long channels = (long)json_get_int(way, "channels", 0);
    char shown[100] = "", count[40] = "";
    json_t *host = transport_host_text(way);

    if (host) {
        json_object_set_new(way, "text", host);
        return;
    }
    if (channels == 0)
        channels = (long)json_get_int(way, "p2p_channels", 0);
    if (channels > 0)
        snprintf(count, sizeof(count), ", %ld channel%s", channels,
                 channels == 1 ? "" : "s");
    if (name)
        snprintf(shown, sizeof(shown), " %.90s", name);
    else
        snprintf(shown, sizeof(shown), " (%.90s)", via);
    json_object_set_new(way, "text",
                        json_sprintf("%s%s%s%s%s", transport_kind_text(kind), shown,
                                     json_get_bool(way, "gdr", false)
                                         ? ", GPUDirect"
                                         : (may_have_gdr ? ", no GPUDirect" : ""),
                                     json_get_bool(way, "pxn", false) ? ", PXN" : "",
                                     count));
}

/* "node-1 and node-2; node-3 and node-4, inside 2 nodes", "12 pairs of nodes" */
static void put_between(const struct fold *fold, json_t *way, size_t n, size_t inside)
{
    const json_t *pairs = json_object_get(way, "pairs");
    const struct transport_node *nodes = fold->input->nodes;
    size_t shown = 0;
    struct buf text;

    buf_init(&text, 4096);
    for (size_t i = 0; n <= PAIRS_NAMED && i < json_array_size(pairs); i++) {
        const json_t *pair = json_array_get(pairs, i);
        size_t a = (size_t)json_integer_value(json_array_get(pair, 0));
        size_t b = (size_t)json_integer_value(json_array_get(pair, 1));

        if (a != b)
            buf_printf(&text, "%s%s and %s", shown++ ? "; " : "", nodes[a].name,
                       nodes[b].name);
    }
    if (n > PAIRS_NAMED)
        buf_printf(&text, "%zu pairs of nodes", n);
    if (inside > 0)
        buf_printf(&text, "%sinside %zu node%s", n ? ", " : "", inside,
                   inside == 1 ? "" : "s");
    json_object_set_new(way, "between",
                        clean_text_json(text.data ? text.data : "", text.len));
    buf_release(&text);
}

static void put_pairs(const struct fold *fold, json_t *way, const uint64_t *pairs)
{
    size_t n = fold->input->n_nodes, all = 0, inside = 0;
    json_t *list = json_array();

    assert(pairs);
    for (size_t bit = 0; bit < n * n; bit++) {
        if (pairs[bit / 64] == 0)
            bit |= 63;
        if (!((pairs[bit / 64] >> (bit % 64)) & 1))
            continue;
        inside += bit / n == bit % n;
        if (all++ < TRANSPORT_PAIRS_MAX)
            json_array_append_new(list,
                                  json_pack("[i, i]", (int)(bit / n), (int)(bit % n)));
    }
    json_object_set_new(way, "pairs", list);
    json_object_set_new(way, "n_pairs", json_integer((json_int_t)(all - inside)));
    json_object_set_new(way, "inside", json_integer((json_int_t)inside));
    put_between(fold, way, all - inside, inside);
}

static void finish_ways(const struct fold *fold)
{
    for (size_t i = 0; i < json_array_size(fold->ways); i++) {
        put_text(json_array_get(fold->ways, i));
        put_pairs(fold, json_array_get(fold->ways, i), fold->pairs[i]);
    }
}

/* ---- the rest ---- */

static void append_once(json_t *list, json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), value))
            return;
    if (value && json_array_size(list) < 16)
        json_array_append(list, value);
}

static void add_unread(json_t *out, const json_t *log)
{
    const json_t *unread = json_object_get(log, "unread");
    json_t *all = json_object_get(out, "unread");

    if (!unread)
        return;
    if (!all) {
        json_object_set_new(out, "unread", json_pack("{s:i, s:[]}", "lines", 0, "first"));
        all = json_object_get(out, "unread");
    }
    json_object_set_new(
        all, "lines",
        json_integer(json_get_int(all, "lines", 0) + json_get_int(unread, "lines", 0)));
    for (size_t i = 0; i < json_array_size(json_object_get(unread, "first")); i++)
        append_once(json_object_get(all, "first"),
                    json_array_get(json_object_get(unread, "first"), i));
}

static void add_facts(json_t *out, const json_t *log)
{
    static const char *const first[] = {"version", "channels", "cuda_driver"};
    const json_t *connected = json_object_get(log, "connected");

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (!json_object_get(out, first[i]) && json_object_get(log, first[i]))
            json_object_set(out, first[i], json_object_get(log, first[i]));
    append_once(json_object_get(out, "networks"), json_object_get(log, "network"));
    for (size_t i = 0; i < json_array_size(connected); i++)
        append_once(json_object_get(out, "connected"), json_array_get(connected, i));
    json_object_update_missing(json_object_get(out, "settings"),
                               json_object_get(log, "settings"));
    if (json_get_num(log, "init_s", -1.0) > json_get_num(out, "init_s", -1.0))
        json_object_set(out, "init_s", json_object_get(log, "init_s"));
    add_unread(out, log);
}

/* How many of its ranks were heard, and on how many nodes. */
static json_t *comm_json(const struct fold *fold, const struct comm *comm)
{
    bool *has = calloc(fold->input->n_nodes, sizeof(*has));
    int64_t heard = 0, nodes = 0;

    for (size_t i = 0; has && i < comm->n; i++) {
        int node = comm->node_of[i];

        if (node < 0)
            continue;
        heard++;
        nodes += !has[node];
        has[node] = true;
    }
    free(has);
    return json_pack("{s:s, s:I, s:I, s:I}", "comm", comm->id, "ranks", comm->ranks,
                     "heard", heard, "nodes", nodes);
}

/* Where there are several. */
static void put_comms(const struct fold *fold, json_t *out)
{
    json_t *comms = json_array();

    for (size_t i = 0; i < fold->n_comms && i < COMMS_SHOWN; i++)
        json_array_append_new(comms, comm_json(fold, &fold->comms[i]));
    if (fold->n_comms > 1) {
        json_object_set(out, "communicators", comms);
        json_object_set_new(out, "n_communicators",
                            json_integer((json_int_t)fold->n_comms));
    }
    json_decref(comms);
}

static json_t *names_of(const struct transport_input *input)
{
    json_t *names = json_array();

    for (size_t i = 0; i < input->n_nodes; i++)
        json_array_append_new(names, json_clean_string(input->nodes[i].name));
    return names;
}

/* ---- in an order that does not depend on who spoke first ---- */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

struct sort_item {
    int64_t node, rank; /* of logs */
    json_t *value;
};

static int compare_logs(const void *a, const void *b)
{
    const struct sort_item *x = a, *y = b;
    int by_node = compare_numbers(x->node, y->node);

    return by_node ? by_node : compare_numbers(x->rank, y->rank);
}

static int compare_ways(const void *a, const void *b)
{
    const json_t *x = ((const struct sort_item *)a)->value;
    const json_t *y = ((const struct sort_item *)b)->value;
    int by_kind = compare_numbers(transport_kind_place(json_get_str(x, "kind", "other")),
                                  transport_kind_place(json_get_str(y, "kind", "other")));

    return by_kind ? by_kind
                   : strcmp(json_get_str(x, "text", ""), json_get_str(y, "text", ""));
}

/* A new array of the same values. */
static json_t *sorted(const json_t *list, int (*compare)(const void *, const void *))
{
    size_t n = json_array_size(list);
    struct sort_item *items = calloc(n + 1, sizeof(*items));
    json_t *out = json_array();

    for (size_t i = 0; items && i < n; i++) {
        json_t *value = json_array_get(list, i);

        items[i] = (struct sort_item){
            json_get_int(value, "node", 0),
            json_get_int(json_object_get(value, "log"), "rank", 0), value};
    }
    if (items)
        qsort(items, n, sizeof(*items), compare);
    for (size_t i = 0; items && i < n; i++)
        json_array_append(out, items[i].value);
    free(items);
    return out;
}

static const char *by_of(const struct transport_input *input)
{
    return input->host ? "host" : "nccl";
}

static json_t *fold_sorted(struct fold *fold)
{
    const struct transport_input *input = fold->input;
    json_t *out;

    place_ranks(fold);
    for (size_t i = 0; i < fold->n_comms; i++)
        find_next_nodes(&fold->comms[i]);
    add_ways(fold);
    finish_ways(fold);
    out = json_pack("{s:s, s:o, s:o, s:[], s:[], s:{}}", "by", by_of(input), "nodes",
                    names_of(input), "ways", sorted(fold->ways, compare_ways), "networks",
                    "connected", "settings");
    for (size_t i = 0; i < json_array_size(input->logs); i++)
        add_facts(out, json_object_get(json_array_get(input->logs, i), "log"));
    put_comms(fold, out);
    json_object_set_new(out, "verdicts", transport_verdicts(input, out));
    return out;
}

/* No ways, and one verdict that says why. */
static json_t *without_ways(const struct transport_input *input, const char *about,
                            const char *sentence)
{
    json_t *evidence = json_pack("{s:s, s:[], s:[]}", "about", about, "nodes", "log");

    return json_pack("{s:s, s:[], s:[], s:[], s:[], s:{}, s:[o]}", "by", by_of(input),
                     "nodes", "ways", "networks", "connected", "settings", "verdicts",
                     verdict_json(VERDICT_TRANSPORT, VERDICT_NOT_ENOUGH_DATA, sentence,
                                  input->mark, evidence));
}

/* Pairs take the square of the nodes in bits, for each way. */
static json_t *too_many_nodes(const struct transport_input *input)
{
    char sentence[120];

    snprintf(sentence, sizeof(sentence),
             "the ways of %zu nodes are not put together, those of %d at most",
             input->n_nodes, TRANSPORT_NODES_MAX);
    return without_ways(input, "ways", sentence);
}

json_t *transport_unheard(const struct transport_input *input, bool is_program)
{
    const char *level = json_get_str(input->env, "NCCL_DEBUG", NULL);
    const char *file = json_get_str(input->env, "NCCL_DEBUG_FILE", NULL);
    char sentence[400];

    if (file)
        snprintf(sentence, sizeof(sentence),
                 "nothing was heard of NCCL's log: NCCL_DEBUG_FILE=%.200s was set", file);
    else if (level)
        snprintf(sentence, sizeof(sentence),
                 "nothing was heard of NCCL's log: NCCL_DEBUG=%.200s was set", level);
    else
        snprintf(sentence, sizeof(sentence), "nothing was heard of NCCL's log: %s",
                 is_program ? "the program does not use NCCL, or has its log elsewhere"
                            : "settings of the nodes have it elsewhere");
    return without_ways(input, "unheard", sentence);
}

json_t *transport_fold(const struct transport_input *input)
{
    struct transport_input by_rank = *input;
    struct fold *fold;
    json_t *out, *logs;

    if (json_array_size(input->logs) == 0)
        return NULL;
    if (input->n_nodes > TRANSPORT_NODES_MAX)
        return too_many_nodes(input);
    fold = calloc(1, sizeof(*fold));
    if (!fold)
        return NULL;
    logs = sorted(input->logs, compare_logs);
    by_rank.logs = logs;
    fold->input = &by_rank;
    fold->ways = json_array();
    fold->places = json_object();
    fold->way_places = json_object();
    fold->comms = calloc(COMMS_MAX, sizeof(*fold->comms));
    out = fold->comms ? fold_sorted(fold) : NULL;
    for (size_t i = 0; i < TRANSPORT_WAYS_MAX; i++)
        free(fold->pairs[i]);
    for (size_t i = 0; i < fold->n_comms; i++) {
        free(fold->comms[i].node_of);
        free(fold->comms[i].next_node);
    }
    free(fold->comms);
    json_decref(fold->places);
    json_decref(fold->way_places);
    json_decref(fold->ways);
    json_decref(logs);
    free(fold);
    return out;
}
