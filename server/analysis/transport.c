/* SPDX-License-Identifier: Apache-2.0 */
/* transport.c - determines the transports that a case used, by pair of nodes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/ncclog/ncclog.h"
#include "server/analysis/transport_kind.h"
#include "server/analysis/transport_state.h"
#include "server/finding/finding.h"
#include "server/finding/template.h"

#define COMMS_MAX 16384
#define COMMS_SHOWN 64
#define PAIRS_NAMED 3

/* The state while the result is assembled. */
struct fold {
    struct transport *t;
    const struct transport_input *input;
    size_t *order;  /* indexes into t->reports, ordered by node and rank */
    json_t *ways;   /* array of transports, with their texts and pairs */
    json_t *places; /* node indexes as JSON numbers, shared by many pairs */
    /* communicators in the order in which reports first mention them */
    struct transport_comm *comms;
    size_t n_comms, comms_capacity;
    json_t *comm_at; /* index into comms, by communicator id */
};

/* ---- Texts ---- */

/* Set the transport's text, such as "InfiniBand mlx5_1, no GPUDirect, 2 channels". */
static void put_text(json_t *way)
{
    const char *kind = json_get_str(way, "kind", "");
    bool may_have_gdr = ncclog_is_of_ib(json_get_str(way, "via", "")) ||
                        (strcmp(kind, "plugin") == 0 && json_object_get(way, "gdr"));
    json_t *text = transport_host_text(way);

    if (!text) {
        json_t *words = json_pack("{s:s, s:b}", "network", transport_kind_text(kind),
                                  "may_have_gdr", (int)may_have_gdr);

        text = template_text(
            "{network}[ {name}| ({via})][{gdr?}, GPUDirect|{may_have_gdr?}, no "
            "GPUDirect][{pxn?}, PXN][{channels?}, {channels} "
            "channel{channels:/s}|{p2p_channels?}, {p2p_channels} "
            "channel{p2p_channels:/s}]",
            words, way);
        json_decref(words);
    }
    json_object_set_new(way, "text", text);
}

/* Set the member "between", such as "node-1 and node-2; node-3 and node-4, inside 2
 * nodes" or "between nodes (12 pairs)". */
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
        buf_printf(&text, "between nodes (%zu pairs)", n);
    if (inside > 0)
        buf_printf(&text, "%sinside %zu node%s", n ? ", " : "", inside,
                   inside == 1 ? "" : "s");
    json_object_set_new(way, "between",
                        clean_text_json(text.data ? text.data : "", text.len));
    buf_release(&text);
}

static void put_pairs(const struct fold *fold, json_t *out, struct transport_way *way)
{
    size_t between = 0, inside = 0;
    json_t *list = json_array();

    transport_sort_pairs(way);
    for (size_t i = 0; i < way->n_pairs; i++) {
        size_t a = TRANSPORT_LOWER(way->pairs[i]), b = TRANSPORT_HIGHER(way->pairs[i]);
        json_t *pair;

        between += a != b;
        inside += a == b;
        if (json_array_size(list) == TRANSPORT_PAIRS_MAX)
            continue;
        pair = json_array();
        json_array_append(pair, json_array_get(fold->places, a));
        json_array_append(pair, json_array_get(fold->places, b));
        json_array_append_new(list, pair);
    }
    json_object_set_new(out, "pairs", list);
    json_object_set_new(out, "n_pairs", json_integer((json_int_t)between));
    json_object_set_new(out, "inside", json_integer((json_int_t)inside));
    put_between(fold, out, between, inside);
}

static void put_ways(struct fold *fold)
{
    struct transport *t = fold->t;

    for (size_t i = 0; i < t->n_ways; i++) {
        json_t *way = json_copy(t->ways[i].json);

        put_text(way);
        put_pairs(fold, way, &t->ways[i]);
        json_array_append_new(fold->ways, way);
    }
}

/* ---- Communicators ---- */

/* Return the communicator with this id, or NULL if it is unknown or beyond the limit. */
static struct transport_comm *comm_of(const struct fold *fold, const char *id)
{
    int64_t place = json_get_int(fold->comm_at, id, -1);

    return place < 0 ? NULL : &fold->comms[place];
}

static struct transport_comm *name_comm(struct fold *fold,
                                        const struct transport_member *member)
{
    struct transport_comm *comm = comm_of(fold, member->comm);

    if (!comm && fold->n_comms < COMMS_MAX) {
        fold->comms = memory_grown(fold->comms, fold->n_comms, &fold->comms_capacity,
                                   sizeof(*fold->comms), "communicators");
        json_object_set_new(fold->comm_at, member->comm,
                            json_integer((json_int_t)fold->n_comms));
        comm = &fold->comms[fold->n_comms++];
        *comm = (struct transport_comm){.id = member->comm};
    }
    if (comm && comm->ranks == 0)
        comm->ranks = member->ranks;
    return comm;
}

static void place_ranks(struct fold *fold)
{
    for (size_t i = 0; i < fold->t->n_reports; i++) {
        const struct transport_report *report = &fold->t->reports[fold->order[i]];

        for (size_t k = 0; k < report->n_members; k++) {
            struct transport_comm *comm = name_comm(fold, &report->members[k]);

            transport_comm_place(comm, report->members[k].rank, report->node);
            if (comm)
                comm->begun += report->members[k].init != TRANSPORT_INIT_UNKNOWN;
            if (comm)
                comm->ended += report->members[k].init == TRANSPORT_INIT_ENDED;
        }
    }
    for (size_t i = 0; i < fold->n_comms; i++)
        transport_comm_finish(&fold->comms[i]);
}

/* Return true if a process sends to the same peers from which it receives, which is the
 * usual case. */
static bool is_same(const struct transport_peers *a, const struct transport_peers *b)
{
    return a->way == b->way && a->comm == b->comm && a->ranks == b->ranks;
}

static void place_peers(struct fold *fold)
{
    for (size_t i = 0; i < fold->t->n_reports; i++) {
        const struct transport_report *report = &fold->t->reports[i];

        for (size_t k = 0; k < report->n_peers; k++) {
            const struct transport_peers *peers = &report->peers[k];
            struct transport_comm *comm = comm_of(fold, peers->comm);

            if (comm)
                comm->has_links = true;
            if (comm && !(k > 0 && is_same(peers, peers - 1)))
                transport_add_pairs(fold->t, peers->way, report->node, comm,
                                    peers->ranks);
        }
    }
}

/* ---- Other facts ---- */

static void append_once(json_t *list, json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), value))
            return;
    if (value && json_array_size(list) < 16)
        json_array_append(list, value);
}

static void add_facts(json_t *out, const json_t *facts)
{
    static const char *const first[] = {"version", "channels", "cuda_driver"};
    const json_t *connected = json_object_get(facts, "connected");

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (!json_object_get(out, first[i]) && json_object_get(facts, first[i]))
            json_object_set(out, first[i], json_object_get(facts, first[i]));
    append_once(json_object_get(out, "networks"), json_object_get(facts, "network"));
    for (size_t i = 0; i < json_array_size(connected); i++)
        append_once(json_object_get(out, "connected"), json_array_get(connected, i));
    json_object_update_missing(json_object_get(out, "settings"),
                               json_object_get(facts, "settings"));
}

static void put_facts(const struct fold *fold, json_t *out)
{
    const struct transport *t = fold->t;
    double init_s = -1.0;

    for (size_t i = 0; i < t->n_reports; i++) {
        const struct transport_report *report = &t->reports[fold->order[i]];

        add_facts(out, report->facts);
        init_s = report->init_s > init_s ? report->init_s : init_s;
    }
    if (init_s >= 0.0)
        json_object_set_new(out, "init_s", json_real(init_s));
}

static const struct transport_lines *unread_of(const struct transport_report *report)
{
    return &report->unread;
}

static const struct transport_lines *late_of(const struct transport_report *report)
{
    return &report->late;
}

static void
put_lines(const struct fold *fold, json_t *out, const char *key,
          const struct transport_lines *(*of)(const struct transport_report *))
{
    const struct transport *t = fold->t;
    json_t *first = json_array();
    int64_t n = 0;

    for (size_t i = 0; i < t->n_reports; i++) {
        const struct transport_lines *lines = of(&t->reports[fold->order[i]]);

        n += lines->n;
        for (size_t k = 0; k < json_array_size(lines->first); k++)
            append_once(first, json_array_get(lines->first, k));
    }
    if (n > 0)
        json_object_set_new(
            out, key, json_pack("{s:I, s:O}", "lines", (json_int_t)n, "first", first));
    json_decref(first);
}

/* Return a communicator as an object, with the number of ranks whose logs are available
 * and the number of nodes of these ranks. */
static json_t *comm_json(const struct fold *fold, const struct transport_comm *comm)
{
    bool *has = memory_zeroed(fold->input->n_nodes, sizeof(*has), "the nodes of ranks");
    int64_t present = 0, nodes = 0;

    for (size_t i = 0; i < comm->n; i++) {
        int node = comm->node_of[i];

        if (node < 0)
            continue;
        present++;
        nodes += !has[node];
        has[node] = true;
    }
    free(has);
    return json_pack("{s:s, s:I, s:I, s:I}", "comm", comm->id, "ranks", comm->ranks,
                     "heard", present, "nodes", nodes);
}

/* List the communicators if there are several. */
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
/* ---- Order, independent of arrival ---- */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_reports(const void *a, const void *b, void *all)
{
    const struct transport_report *x = all, *y = all;
    int by_node, by_rank;

    x += *(const size_t *)a;
    y += *(const size_t *)b;
    by_node = compare_numbers(x->node, y->node);
    by_rank = compare_numbers(x->rank, y->rank);
    return by_node ? by_node : by_rank ? by_rank : (x > y) - (x < y);
}

static int compare_ways(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int by_kind = compare_numbers(transport_kind_place(json_get_str(x, "kind", "other")),
                                  transport_kind_place(json_get_str(y, "kind", "other")));

    return by_kind ? by_kind
                   : strcmp(json_get_str(x, "text", ""), json_get_str(y, "text", ""));
}

/* Return a new array of the same values in sorted order. */
static json_t *sorted_ways(const json_t *ways)
{
    json_t *items[TRANSPORT_WAYS_MAX], *out = json_array();
    size_t n = json_array_size(ways);

    for (size_t i = 0; i < n; i++)
        items[i] = json_array_get(ways, i);
    qsort(items, n, sizeof(items[0]), compare_ways);
    for (size_t i = 0; i < n; i++)
        json_array_append(out, items[i]);
    return out;
}

static json_t *fold_ordered(struct fold *fold)
{
    json_t *out;

    place_ranks(fold);
    place_peers(fold);
    put_ways(fold);
    out = json_pack("{s:s, s:o, s:o, s:[], s:[], s:{}}", "by",
                    fold->t->host ? "host" : "nccl", "nodes", names_of(fold->input),
                    "ways", sorted_ways(fold->ways), "networks", "connected", "settings");
    put_facts(fold, out);
    put_lines(fold, out, "unread", unread_of);
    put_lines(fold, out, "late_warnings", late_of);
    put_comms(fold, out);
    json_object_set_new(out, "verdicts",
                        transport_verdicts(fold->t, fold->input, fold->order, fold->comms,
                                           fold->n_comms, out));
    return out;
}

/* Return a result without transports, with one verdict that gives the reason. */
json_t *transport_unheard(const struct transport_input *input, bool is_program)
{
    struct finding finding = finding_begin();

    finding_put(&finding, "{s:s, s:[], s:O*, s:O*, s:b}", "about", "unheard", "log",
                "$file", json_object_get(input->env, "NCCL_DEBUG_FILE"), "$level",
                json_object_get(input->env, "NCCL_DEBUG"), "$is_program",
                (int)is_program);
    return json_pack("{s:s, s:[], s:[], s:[], s:[], s:{}, s:[o]}", "by", "nccl", "nodes",
                     "ways", "networks", "connected", "settings", "verdicts",
                     finding_end(&finding, MESSAGE_WAYS_UNHEARD, input->mark));
}

json_t *transport_fold(struct transport *t, const struct transport_input *input)
{
    size_t n = t ? t->n_reports : 0;
    struct fold fold = {.t = t, .input = input};
    json_t *out;

    if (!t || !t->has_logs)
        return NULL;
    fold.order = memory_zeroed(n + 1, sizeof(*fold.order), "the ways of a case");
    fold.comm_at = json_object();
    fold.ways = json_array();
    fold.places = json_array();
    for (size_t i = 0; i < input->n_nodes; i++) {
        transport_see_ports(t, i, input->nodes[i].inventory);
        json_array_append_new(fold.places, json_integer((json_int_t)i));
    }
    for (size_t i = 0; i < n; i++)
        fold.order[i] = i;
    qsort_r(fold.order, n, sizeof(*fold.order), compare_reports, t->reports);
    out = fold_ordered(&fold);
    for (size_t i = 0; i < fold.n_comms; i++)
        transport_comm_release(&fold.comms[i]);
    json_decref(fold.ways);
    json_decref(fold.places);
    free(fold.order);
    free(fold.comms);
    json_decref(fold.comm_at);
    return out;
}
