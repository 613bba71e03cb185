/* transport_paths.c - by which ways, where nothing speaks against them, and how much of
 * that is known */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/analysis/transport_findings.h"
#include "server/finding/verdict.h"

/* Whose log is known in full. */
#define MINOR_FROM 18
#define MINOR_TO 30

/* ---- whose log it is ---- */

static bool is_foreign(const json_t *facts)
{
    const char *version = json_get_str(facts, "version", NULL);
    int major = 2, minor = MINOR_FROM;

    if (version && sscanf(version, "%d.%d", &major, &minor) == 2)
        return major != 2 || minor < MINOR_FROM || minor > MINOR_TO ||
               strcmp(json_get_str(facts, "dialect", ""), "rccl") == 0;
    return json_object_get(facts, "dialect") != NULL;
}

char *transport_foreign(const struct findings *findings)
{
    const struct transport *t = findings->t;
    const json_t *found = NULL;
    const char *library, *version;
    char *name;

    for (size_t i = 0; i < t->keys.n; i++) {
        const json_t *facts = transport_facts_of(t, &t->said[findings->order[i]]);

        if (is_foreign(facts) && (!found || !json_object_get(found, "version")))
            found = facts;
    }
    if (!found)
        return NULL;
    library = strcmp(json_get_str(found, "dialect", ""), "rccl") == 0 ? "RCCL" : "NCCL";
    version = json_get_str(found, "version", NULL);
    name = malloc(200);
    if (name && version)
        snprintf(name, 200, "%s %.150s", library, version);
    else if (name)
        snprintf(name, 200,
                 strcmp(library, "RCCL") == 0 ? "RCCL" : "a version of NCCL before 2.18");
    return name;
}

/* ---- who was not there ---- */

static void list_ranks(const struct transport_comm *comm, bool is_there, char *out,
                       size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; (int64_t)i < comm->ranks && n + 30 < size; i++) {
        size_t last = i;

        if ((i < comm->n && comm->node_of[i] >= 0) != is_there)
            continue;
        while ((int64_t)last + 1 < comm->ranks &&
               (last + 1 < comm->n && comm->node_of[last + 1] >= 0) == is_there)
            last++;
        n += (size_t)snprintf(out + n, size - n, last > i ? "%s%zu-%zu" : "%s%zu",
                              n ? ", " : "", i, last);
        i = last;
    }
}

/* Nodes that have fewer ranks in the log than they say. */
static void name_short_nodes(const struct findings *findings, struct finding *one,
                             const struct transport_comm *comm)
{
    const struct transport *t = findings->t;
    int64_t *wanted = calloc(t->n_nodes + 1, sizeof(*wanted));

    for (size_t i = 0; wanted && i < t->keys.n; i++)
        if (t->said[i].local_ranks > wanted[t->said[i].node])
            wanted[t->said[i].node] = t->said[i].local_ranks;
    for (size_t i = 0; wanted && i < comm->n; i++)
        if (comm->node_of[i] >= 0)
            wanted[comm->node_of[i]]--;
    for (size_t i = 0; wanted && i < t->n_nodes; i++)
        if (wanted[i] > 0)
            transport_finding_node(one, (int)i);
    free(wanted);
}

void transport_absent(struct findings *findings)
{
    const struct transport *t = findings->t;
    bool has_world_links = t->world.ranks > 0 && t->way_keys.n > 0;

    for (size_t i = 0; i < findings->n_comms && !has_world_links; i++) {
        const struct transport_comm *comm = &findings->comms[i];
        char absent[120], text[TRANSPORT_WHAT_MAX];
        int64_t heard = 0;

        for (size_t k = 0; k < comm->n; k++)
            heard += comm->node_of[k] >= 0;
        /* Links are made when all have come, and only START names a communicator. */
        if (comm->begun == 0 || comm->ended > 0 || heard >= comm->ranks ||
            comm->begun < heard || comm->has_links || !*comm->id)
            continue;
        if (findings->input->is_of_file && 2 * heard < comm->ranks)
            continue;
        list_ranks(comm, false, absent, sizeof(absent));
        snprintf(text, sizeof(text),
                 "%lld of %lld ranks began NCCL's init and none completed it: rank%s %s "
                 "%s missing",
                 (long long)heard, (long long)comm->ranks,
                 heard + 1 == comm->ranks ? "" : "s", absent,
                 heard + 1 == comm->ranks ? "is" : "are");
        name_short_nodes(findings, transport_finding_of(findings, "rank", text), comm);
    }
}

/* ---- the ways ---- */

/* The first node without a known way to another; -1: all have one. */
static int unconnected_node(const struct transport *t)
{
    size_t n = t->n_nodes;
    int first = -1;

    for (size_t a = 0; a < n && n > 1 && first < 0; a++) {
        bool has_way = false;

        for (size_t i = 0; i < t->way_keys.n && !has_way; i++)
            for (size_t b = 0; t->ways[i].pairs && b < n && !has_way; b++) {
                size_t bit = a < b ? a * n + b : b * n + a;

                has_way = a != b && ((t->ways[i].pairs[bit / 64] >> (bit % 64)) & 1);
            }
        if (!has_way)
            first = (int)a;
    }
    return first;
}

/* The ways between nodes, else those inside of them. */
static size_t put_ways(const struct findings *findings, const json_t *folded,
                       const char *who, struct buf *sentence)
{
    const json_t *ways = json_object_get(folded, "ways");
    const struct transport *t = findings->t;
    bool crosses = false;
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(ways); i++)
        crosses = crosses || transport_is_network(t, json_array_get(ways, i));
    for (size_t i = 0; i < json_array_size(ways); i++) {
        const json_t *way = json_array_get(ways, i);

        if (crosses && !transport_is_network(t, way))
            continue;
        if (n++ < TRANSPORT_NODES_NAMED)
            buf_printf(sentence, "%s%s%s", n > 1 ? "; " : who, n > 1 ? "" : " by ",
                       json_get_str(way, "text", ""));
    }
    return n;
}

/* Why there is no more than sockets, as the log says it. */
static json_t *say_why(const struct findings *findings, struct buf *sentence)
{
    const struct transport *t = findings->t;
    struct finding why = {.n_lines = 0};
    json_t *out = json_array();

    for (size_t i = 0; i < t->keys.n; i++)
        transport_finding_line(&why, t->said[findings->order[i]].why);
    if (why.n_lines > 0)
        buf_printf(sentence, " (%.200s)", t->texts.at[why.lines[0]]);
    for (size_t i = 0; i < why.n_lines; i++)
        json_array_append_new(out, json_clean_string(t->texts.at[why.lines[i]]));
    return out;
}

static void put_unread(const json_t *folded, struct buf *sentence)
{
    int64_t n = json_get_int(json_object_get(folded, "unread"), "lines", 0);

    if (n > 0)
        buf_printf(sentence, " (%lld line%s of it not understood)", (long long)n,
                   n == 1 ? "" : "s");
}

json_t *transport_ways_verdict(const struct findings *findings, const json_t *folded,
                               const char *foreign)
{
    const struct transport *t = findings->t;
    int lone = t->host ? -1 : unconnected_node(t);
    const char *about = "ways";
    json_t *evidence, *lines, *nodes = json_array(), *verdict;
    struct buf sentence;
    size_t n;

    buf_init(&sentence, 8192);
    n = put_ways(findings, folded,
                 t->host                                       ? "ranks go"
                 : foreign && strncmp(foreign, "RCCL", 4) == 0 ? "RCCL goes"
                                                               : "NCCL goes",
                 &sentence);
    lines = say_why(findings, &sentence);
    if (foreign) {
        about = "version";
        buf_printf(&sentence, "%s%s is not judged, as NCCL 2.%d to 2.%d are",
                   n ? "; " : "", foreign, MINOR_FROM, MINOR_TO);
    } else if (n == 0) {
        buf_append_str(&sentence, "NCCL's log says nothing of its ways");
        put_unread(folded, &sentence);
    } else if (lone >= 0) {
        json_t *name = json_array_get(findings->names, (size_t)lone);

        json_array_append(nodes, name);
        buf_printf(&sentence, "; no way between %s and another node is known",
                   json_string_value(name));
        put_unread(folded, &sentence);
    }
    evidence = json_pack("{s:s, s:o, s:o}", "about", about, "nodes", nodes, "log", lines);
    verdict = verdict_json(
        VERDICT_TRANSPORT,
        n == 0 || foreign || lone >= 0 ? VERDICT_NOT_ENOUGH_DATA : VERDICT_OK,
        sentence.data ? sentence.data : about, findings->input->mark, evidence);
    buf_release(&sentence);
    return verdict;
}
