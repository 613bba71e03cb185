/* SPDX-License-Identifier: Apache-2.0 */
/* transport_paths.c - builds the verdict for a case without findings, and reports
 * unsupported versions, missing ranks and unknown transports */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/transport_findings.h"
#include "server/finding/finding.h"

/* Minor versions of NCCL 2 whose log format is supported. */
#define MINOR_FROM 18
#define MINOR_TO 30

/* ---- The log's version ---- */

static bool is_foreign(const json_t *facts)
{
    const char *version = json_get_str(facts, "version", NULL);
    int major = 2, minor = MINOR_FROM;

    if (version && sscanf(version, "%d.%d", &major, &minor) == 2)
        return major != 2 || minor < MINOR_FROM || minor > MINOR_TO ||
               strcmp(json_get_str(facts, "dialect", ""), "rccl") == 0;
    return json_object_get(facts, "dialect") != NULL;
}

bool transport_foreign(const struct findings *findings, char out[TRANSPORT_NAME_MAX])
{
    const struct transport *t = findings->t;
    const json_t *found = NULL;
    const char *version;
    bool is_rccl;

    for (size_t i = 0; i < t->n_reports; i++) {
        const json_t *facts = t->reports[findings->order[i]].facts;

        if (is_foreign(facts) && (!found || !json_object_get(found, "version")))
            found = facts;
    }
    is_rccl = strcmp(json_get_str(found, "dialect", ""), "rccl") == 0;
    version = json_get_str(found, "version", NULL);
    if (version)
        snprintf(out, TRANSPORT_NAME_MAX, "%s %.150s", is_rccl ? "RCCL" : "NCCL",
                 version);
    else
        snprintf(out, TRANSPORT_NAME_MAX,
                 is_rccl ? "RCCL" : "a version of NCCL before 2.18");
    return found != NULL;
}

/* ---- Missing ranks ---- */

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

/* Report nodes whose logs cover fewer ranks than the nodes run. */
static void name_short_nodes(const struct findings *findings,
                             struct transport_finding *one,
                             const struct transport_comm *comm)
{
    const struct transport *t = findings->t;
    int64_t *wanted = memory_zeroed(t->n_nodes + 1, sizeof(*wanted), "a finding");

    for (size_t i = 0; i < t->n_reports; i++)
        if (t->reports[i].local_ranks > wanted[t->reports[i].node])
            wanted[t->reports[i].node] = t->reports[i].local_ranks;
    for (size_t i = 0; i < comm->n; i++)
        if (comm->node_of[i] >= 0)
            wanted[comm->node_of[i]]--;
    for (size_t i = 0; i < t->n_nodes; i++)
        if (wanted[i] > 0)
            transport_finding_node(one, (int)i);
    free(wanted);
}

void transport_absent(struct findings *findings)
{
    const struct transport *t = findings->t;
    bool has_world_links = t->world.ranks > 0 && t->n_ways > 0;

    for (size_t i = 0; i < findings->n_comms && !has_world_links; i++) {
        const struct transport_comm *comm = &findings->comms[i];
        char absent[120], text[TRANSPORT_WHAT_MAX];
        int64_t present = 0;

        for (size_t k = 0; k < comm->n; k++)
            present += comm->node_of[k] >= 0;
        /* Links are created only after all ranks have joined. Only START lines name a
         * communicator. */
        if (comm->begun == 0 || comm->ended > 0 || present >= comm->ranks ||
            comm->begun < present || comm->has_links || !*comm->id)
            continue;
        if (findings->input->is_of_file && 2 * present < comm->ranks)
            continue;
        list_ranks(comm, false, absent, sizeof(absent));
        snprintf(text, sizeof(text),
                 "%lld of %lld ranks began NCCL's init, but none completed it: rank%s %s "
                 "%s missing",
                 (long long)present, (long long)comm->ranks,
                 present + 1 == comm->ranks ? "" : "s", absent,
                 present + 1 == comm->ranks ? "is" : "are");
        name_short_nodes(findings, transport_finding_of(findings, "rank", text), comm);
    }
}

/* ---- The transports ---- */

/* Return the first node without a known transport to another node, or -1. */
static int unconnected_node(const struct transport *t)
{
    bool *has_way = memory_zeroed(t->n_nodes + 1, sizeof(*has_way), "a finding");
    int first = -1;

    for (size_t i = 0; i < t->n_ways; i++)
        for (size_t k = 0; k < t->ways[i].n_pairs; k++) {
            uint64_t pair = t->ways[i].pairs[k];

            if (TRANSPORT_LOWER(pair) != TRANSPORT_HIGHER(pair))
                has_way[TRANSPORT_LOWER(pair)] = has_way[TRANSPORT_HIGHER(pair)] = true;
        }
    for (size_t i = 0; i < t->n_nodes && t->n_nodes > 1 && first < 0; i++)
        if (!has_way[i])
            first = (int)i;
    free(has_way);
    return first;
}

/* Return the transports between nodes or, if there are none, those within nodes, as one
 * text: "InfiniBand mlx5_0; shared memory". The text lists only the first transports. */
static json_t *ways_text(const struct findings *findings, const json_t *folded)
{
    const json_t *ways = json_object_get(folded, "ways");
    const struct transport *t = findings->t;
    bool crosses = false;
    struct buf out;
    json_t *text;
    size_t n = 0;

    buf_init(&out, 8192);
    for (size_t i = 0; i < json_array_size(ways); i++)
        crosses = crosses || transport_is_network(t, json_array_get(ways, i));
    for (size_t i = 0; i < json_array_size(ways); i++) {
        const json_t *way = json_array_get(ways, i);

        if ((!crosses || transport_is_network(t, way)) && n++ < TRANSPORT_NODES_NAMED)
            buf_printf(&out, "%s%s", n > 1 ? "; " : "", json_get_str(way, "text", ""));
    }
    text = json_clean_string(out.data);
    buf_release(&out);
    return text;
}

/* Return the log lines that explain why the processes use only sockets. */
static json_t *why_json(const struct findings *findings)
{
    const struct transport *t = findings->t;
    struct transport_finding why = {.n_lines = 0};

    for (size_t i = 0; i < t->n_reports; i++)
        transport_finding_line(&why, t->reports[findings->order[i]].why);
    return transport_lines_json(&why);
}

json_t *transport_ways_verdict(const struct findings *findings, const json_t *folded,
                               const char *foreign)
{
    const struct transport *t = findings->t;
    int lone = t->host || foreign ? -1 : unconnected_node(t);
    int64_t unread = json_get_int(json_object_get(folded, "unread"), "lines", 0);
    json_t *ways = ways_text(findings, folded), *lines = why_json(findings);
    struct finding finding = finding_begin();
    char why[201];

    if (ways && lone >= 0) {
        json_t *name = json_array_get(findings->names, (size_t)lone);

        finding_name(&finding, json_string_value(name));
        finding_set(&finding, "$lone", json_incref(name));
    }
    finding_put(&finding, "{s:s, s:O, s:s, s:s*, s:i, s:i, s:b, s:o*}", "about",
                foreign ? "version" : "ways", "log", lines, "$who",
                t->host                                       ? "ranks use"
                : foreign && strncmp(foreign, "RCCL", 4) == 0 ? "RCCL uses"
                                                              : "NCCL uses",
                "$foreign", foreign, "$from", MINOR_FROM, "$to", MINOR_TO, "$is_silent",
                !ways, "$unread", unread > 0 ? json_integer(unread) : NULL);
    finding_set(&finding, "$ways", json_incref(ways));
    snprintf(why, sizeof(why), "%s",
             json_array_size(lines) ? json_string_value(json_array_get(lines, 0)) : "");
    finding_set_text(&finding, "$why", why);
    json_decref(lines);
    json_decref(ways);
    return finding_end(
        &finding, !ways || foreign || lone >= 0 ? MESSAGE_WAYS_UNKNOWN : MESSAGE_WAYS,
        findings->input->mark);
}
