/* SPDX-License-Identifier: Apache-2.0 */
/* transport_take.c - compacts a process's report about its transports when it arrives */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu_list.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/ncclog/ncclog.h"
#include "server/analysis/transport_kind.h"
#include "server/analysis/transport_state.h"

#define RANKS_MAX 65536

/* Return the number assigned to a name. `places` maps names to numbers. A new name gets
 * the next number. Return -1 if `places` already contains `most` names. */
static int64_t place_of(json_t *places, const char *name, size_t most)
{
    int64_t place = json_get_int(places, name, -1);
    size_t n = json_object_size(places);

    if (place >= 0 || n >= most)
        return place;
    json_object_set_new_nocheck(places, name, json_integer((json_int_t)n));
    return (int64_t)n;
}

/* ---- Ranks and nodes ---- */

void transport_comm_place(struct transport_comm *comm, int64_t rank, int node)
{
    if (!comm || rank < 0 || rank >= RANKS_MAX)
        return;
    if ((size_t)rank >= comm->n) {
        size_t n = 2 * ((size_t)rank + 1);

        comm->node_of = memory_resized(comm->node_of, n, sizeof(*comm->node_of),
                                       "the ranks of a communicator");
        for (size_t i = comm->n; i < n; i++)
            comm->node_of[i] = -1;
        comm->n = n;
    }
    comm->node_of[rank] = node;
}

/* Combine consecutive ranks on the same node into blocks. All ranks of a block are on one
 * node, so pairs of nodes are found block by block. */
void transport_comm_finish(struct transport_comm *comm)
{
    unsigned n = 0;

    if (comm->n == 0)
        return;
    comm->block_of = memory_zeroed(comm->n, sizeof(*comm->block_of), "ranks of nodes");
    comm->block_nodes =
        memory_zeroed(comm->n, sizeof(*comm->block_nodes), "ranks of nodes");
    for (size_t i = 0; i < comm->n; i++) {
        if (i == 0 || comm->node_of[i] != comm->node_of[i - 1])
            comm->block_nodes[n++] = comm->node_of[i];
        comm->block_of[i] = n - 1;
    }
}

void transport_comm_release(struct transport_comm *comm)
{
    free(comm->node_of);
    free(comm->block_of);
    free(comm->block_nodes);
}

void transport_place(struct transport *t, int rank, int node)
{
    transport_comm_place(&t->world, rank, node);
    t->world.ranks = rank >= t->world.ranks ? rank + 1 : t->world.ranks;
}

static enum transport_init init_of(const json_t *about)
{
    const char *init = json_get_str(about, "init", "");

    if (strcmp(init, "complete") == 0)
        return TRANSPORT_INIT_ENDED;
    if (strcmp(init, "failed") == 0)
        return TRANSPORT_INIT_FAILED;
    return *init ? TRANSPORT_INIT_BEGUN : TRANSPORT_INIT_UNKNOWN;
}

static void add_member(struct transport *t, struct transport_report *report,
                       const json_t *about)
{
    struct transport_member *member = &report->members[report->n_members];

    member->comm = transport_kept_text(t, json_get_str(about, "comm", ""));
    member->rank = json_get_int(about, "rank", -1);
    member->ranks = json_get_int(about, "ranks", 0);
    member->init = init_of(about);
    report->n_members++;
}

static void take_members(struct transport *t, struct transport_report *report,
                         const json_t *log)
{
    const json_t *others = json_object_get(log, "others");
    size_t n = json_array_size(others);

    report->members = memory_zeroed(n + 1, sizeof(*report->members), "communicators");
    add_member(t, report, log);
    for (size_t i = 0; i < n; i++)
        /* The ranks of a communicator without a name cannot be attributed. */
        if (json_object_get(json_array_get(others, i), "comm"))
            add_member(t, report, json_array_get(others, i));
}

/* ---- Transports ---- */

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
           /* the text in NCCL versions before 2.10 */
           : strcmp(via, "direct shared memory") == 0 ? "shm"
                                                      : "other";
}

/* Write a key that identifies a transport. Many reports have the same few transports. */
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

/* Return the transport's index, and add the transport if it is new. Return -1 if there
 * are too many. */
static int find_way(struct transport *t, const struct transport_node *node,
                    const json_t *way)
{
    const char *kind = kind_of(node, way);
    char key[500];
    int place;

    way_key(kind, way, key, sizeof(key));
    place = (int)place_of(t->way_at, key, TRANSPORT_WAYS_MAX);
    if (place == (int)t->n_ways)
        t->ways[t->n_ways++].json = new_way(kind, way);
    return place;
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void transport_sort_pairs(struct transport_way *way)
{
    size_t n = 0;

    if (way->n_pairs > 0)
        qsort(way->pairs, way->n_pairs, sizeof(*way->pairs), compare_pairs);
    for (size_t i = 0; i < way->n_pairs; i++)
        if (n == 0 || way->pairs[n - 1] != way->pairs[i])
            way->pairs[n++] = way->pairs[i];
    way->n_pairs = n;
}

/* Add a pair of nodes. Many processes report the same pair, so duplicates are removed
 * before the array grows. */
static void add_pair(struct transport_way *way, int a, int b)
{
    uint64_t lower = (uint64_t)(a < b ? a : b), higher = (uint64_t)(a < b ? b : a);

    if (way->n_pairs == way->capacity) {
        transport_sort_pairs(way);
        if (2 * way->n_pairs >= way->capacity)
            way->pairs = memory_grown(way->pairs, way->capacity, &way->capacity,
                                      sizeof(*way->pairs), "pairs of nodes");
    }
    way->pairs[way->n_pairs++] = lower << 32 | higher;
}

void transport_add_pairs(struct transport *t, int way, int node,
                         const struct transport_comm *comm, const char *peers)
{
    unsigned first, last, next = 0;

    if (!comm->block_of)
        return;
    /* Peers are in ascending order; repeated ranks are ignored. */
    while (cpu_list_next(&peers, &first, &last) && first >= next && first < comm->n) {
        unsigned end = comm->block_of[last < comm->n ? last : comm->n - 1];

        next = last + 1;
        for (unsigned block = comm->block_of[first]; block <= end; block++) {
            int other = comm->block_nodes[block];

            if (other >= 0)
                add_pair(&t->ways[way], node, other);
        }
    }
}

static void raise(json_t *object, const char *key, int64_t value)
{
    if (value > json_get_int(object, key, 0))
        json_object_set_new(object, key, json_integer(value));
}

/* Add the peers of a process. comm: NULL if the ranks are those of the case. */
static void add_peers(struct transport *t, struct transport_report *report, int way,
                      const char *comm, const char *ranks)
{
    if (ranks && comm)
        report->peers[report->n_peers++] =
            (struct transport_peers){way, comm, transport_kept_text(t, ranks)};
    else if (ranks)
        transport_add_pairs(t, way, report->node, &t->world, ranks);
}

/* Return the communicator of a transport: the log's main communicator, or another one
 * that the transport refers to by index. */
static const json_t *owner_of(const json_t *log, const json_t *way)
{
    int64_t other = json_get_int(way, "other", -1);

    return other < 0 ? log
                     : json_array_get(json_object_get(log, "others"), (size_t)other);
}

static void take_way(struct transport *t, struct transport_report *report,
                     const struct transport_node *node, bool is_placed, const json_t *log,
                     const json_t *way)
{
    const json_t *owner = owner_of(log, way);
    const char *comm = NULL;
    int at = find_way(t, node, way);

    if (at < 0)
        return;
    raise(t->ways[at].json, "channels", json_get_int(way, "channels", 0));
    raise(t->ways[at].json, "p2p_channels", json_get_int(way, "p2p_channels", 0));
    raise(t->ways[at].json, "sockets", json_get_int(way, "sockets", 0));
    if (owner != log && !json_object_get(owner, "comm"))
        return;
    if (owner != log || !is_placed)
        comm = transport_kept_text(t, json_get_str(owner, "comm", ""));
    add_peers(t, report, at, comm, json_get_str(way, "to", NULL));
    add_peers(t, report, at, comm, json_get_str(way, "from", NULL));
}

static void take_ways(struct transport *t, struct transport_report *report,
                      const struct transport_speaker *speaker, const json_t *log)
{
    struct transport_node node = {.inventory = speaker->inventory};
    const json_t *ways = json_object_get(log, "transports");
    size_t n = json_array_size(ways);
    bool is_placed = t->world.ranks > 0 &&
                     json_get_int(log, "ranks", 0) == t->world.ranks &&
                     json_get_int(log, "rank", -1) == speaker->rank;

    report->peers = memory_zeroed(2 * n + 1, sizeof(*report->peers), "peers of a rank");
    for (size_t i = 0; i < n; i++)
        take_way(t, report, &node, is_placed, log, json_array_get(ways, i));
}

/* ---- Other facts ---- */

static struct transport_lines lines_of(struct transport *t, const json_t *lines)
{
    json_t *first = json_object_get(lines, "first");

    return (struct transport_lines){transport_kept(t, first),
                                    json_get_int(lines, "lines", 0)};
}

static void take_facts(struct transport *t, struct transport_report *report,
                       const json_t *log)
{
    static const char *const kept[] = {"version",   "channels", "cuda_driver",
                                       "connected", "network",  "settings",
                                       "dialect",   "hcas",     "bootstrap"};
    json_t *facts = json_object();

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (json_object_get(log, kept[i]))
            json_object_set(facts, kept[i], json_object_get(log, kept[i]));
    report->facts = transport_kept(t, facts);
    json_decref(facts);
    report->init_s = json_get_num(log, "init_s", -1.0);
    report->unread = lines_of(t, json_object_get(log, "unread"));
    report->late = lines_of(t, json_object_get(log, "late_warnings"));
}

void transport_see_ports(struct transport *t, size_t node, const json_t *inventory)
{
    if (!t->ports[node])
        t->ports[node] = json_incref(json_object_get(inventory, "rdma"));
}

/* ---- One report ---- */

static void release_report(struct transport_report *report)
{
    free(report->members);
    free(report->peers);
    free(report->found);
}

/* Return the process's entry. A later report replaces the process's earlier report. */
static struct transport_report *
report_of(struct transport *t, const struct transport_speaker *speaker, const json_t *log)
{
    struct transport_report *report;
    int64_t place;
    char key[48];

    snprintf(key, sizeof(key), "%d.%lld", speaker->rank,
             (long long)json_get_int(log, "pid", 0));
    place = place_of(t->report_at, key, t->max);
    if (place < 0)
        return NULL;
    t->n_reports = json_object_size(t->report_at);
    report = &t->reports[place];
    release_report(report);
    *report = (struct transport_report){.node = speaker->node,
                                        .rank = json_get_int(log, "rank", 0)};
    return report;
}

void transport_take(struct transport *t, const struct transport_speaker *speaker,
                    const json_t *log)
{
    struct transport_report *report;

    t->has_logs = true;
    if (speaker->node < 0 || (size_t)speaker->node >= t->n_nodes)
        return;
    if (t->world.n > 0 && !t->world.block_of)
        transport_comm_finish(&t->world);
    report = report_of(t, speaker, log);
    if (!report)
        return;
    take_members(t, report, log);
    take_ways(t, report, speaker, log);
    take_facts(t, report, log);
    transport_see_ports(t, (size_t)speaker->node, speaker->inventory);
    transport_look(t, report, speaker->inventory, log);
}

/* ---- All reports ---- */

struct transport *transport_create(size_t n_nodes, size_t max,
                                   const struct host_options *host)
{
    struct transport *t = memory_zeroed(1, sizeof(*t), "the ways of a case");

    t->n_nodes = n_nodes;
    t->max = max;
    t->host = host;
    t->reports = memory_zeroed(max + 1, sizeof(*t->reports), "the ways of a case");
    t->ports = memory_zeroed(n_nodes + 1, sizeof(*t->ports), "the ways of a case");
    t->report_at = json_object();
    t->way_at = json_object();
    t->texts = json_object();
    t->values = json_object();
    return t;
}

void transport_destroy(struct transport *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_reports; i++)
        release_report(&t->reports[i]);
    for (size_t i = 0; i < t->n_nodes; i++)
        json_decref(t->ports[i]);
    for (size_t i = 0; i < t->n_ways; i++) {
        json_decref(t->ways[i].json);
        free(t->ways[i].pairs);
    }
    free(t->reports);
    free(t->ports);
    transport_comm_release(&t->world);
    json_decref(t->report_at);
    json_decref(t->way_at);
    json_decref(t->texts);
    json_decref(t->values);
    free(t);
}
