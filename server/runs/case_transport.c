/* SPDX-License-Identifier: Apache-2.0 */
/* case_transport.c - collects the transports that a case's ranks reported */
#include "server/runs/case_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/transport.h"
#include "server/finding/verdict.h"
#include "server/nodes/node.h"
#include "server/runs/case_start.h"
#include "server/runs/live_case_state.h"
#include "server/runs/run_nodes.h"

/* A program's rank may start several processes, each of which writes a log. */
#define LOGS_OF_RANK 4
#define EARLY_AT_ONCE 64

static bool is_host(const struct run *run)
{
    return !run->spec->program.name && run->backend && strcmp(run->backend, "host") == 0;
}

static struct transport *transport_of(struct live_case *live)
{
    const struct run *run = live->run;
    bool is_own = !run->spec->program.name;

    if (live->transport)
        return live->transport;
    live->transport =
        transport_create(live->on.n, (size_t)LOGS_OF_RANK * (size_t)live->on.world_size,
                         is_host(run) ? &run->spec->host : NULL);
    if (!live->transport)
        memory_out("transports of a case");
    for (size_t i = 0; is_own && i < live->on.n; i++)
        for (int k = 0; k < live->on.items[i].ranks; k++)
            transport_place(live->transport, live->on.items[i].first_rank + k, (int)i);
    return live->transport;
}

static const json_t *inventory_of(const struct live_case *live, size_t i)
{
    const struct node *node = node_find(live->cases->nodes, live->on.items[i].name);

    return node ? node->inventory : NULL;
}

static void take(struct live_case *live, const struct run_node *on, int rank,
                 const json_t *log)
{
    size_t place = (size_t)(on - live->on.items);
    struct transport_speaker speaker = {rank, (int)place, inventory_of(live, place)};

    transport_take(transport_of(live), &speaker, log);
}

/* After a server restart, logs can arrive before the nodes register. Keep them until the
 * nodes' inventories are known, and queue later logs behind them, because a process's
 * last log counts. */
void case_transport_take(struct live_case *live, int rank, json_t *log)
{
    const struct run_node *on = run_nodes_of_rank(&live->on, rank);

    if (!on)
        return;
    if (!live->early_logs && inventory_of(live, (size_t)(on - live->on.items))) {
        take(live, on, rank, log);
        return;
    }
    if (!live->early_logs)
        live->early_logs = json_array();
    if (json_array_size(live->early_logs) <
        (size_t)LOGS_OF_RANK * (size_t)live->on.world_size)
        json_array_append_new(live->early_logs,
                              json_pack("{s:i, s:O}", "rank", rank, "log", log));
}

/* Process the next waiting log. If `waits_for_node` is set, leave the log waiting until
 * its node is registered. Returns false if no log was processed. */
static bool take_next_early(struct live_case *live, bool waits_for_node)
{
    const json_t *item = json_array_get(live->early_logs, live->n_early_taken);
    int rank = (int)json_get_int(item, "rank", -1);
    const struct run_node *on = item ? run_nodes_of_rank(&live->on, rank) : NULL;

    if (!on || (waits_for_node && !inventory_of(live, (size_t)(on - live->on.items))))
        return false;
    take(live, on, rank, json_object_get(item, "log"));
    live->n_early_taken++;
    return true;
}

static void drop_early(struct live_case *live)
{
    json_decref(live->early_logs);
    live->early_logs = NULL;
    live->n_early_taken = 0;
}

void case_transport_go_on(struct live_case *live)
{
    for (int i = 0; i < EARLY_AT_ONCE && take_next_early(live, true);)
        i++;
    if (live->n_early_taken == json_array_size(live->early_logs))
        drop_early(live);
}

/* Process all waiting logs. Returns true if any rank has reported a transport. */
static bool take_early(struct live_case *live)
{
    while (take_next_early(live, false))
        ;
    drop_early(live);
    return live->transport != NULL;
}

static void take_ways(struct live_case *live, int rank, json_t *ways)
{
    json_t *log;

    if (json_array_size(ways) == 0)
        return;
    log = json_pack("{s:i, s:i, s:O}", "rank", rank, "ranks", live->on.world_size,
                    "transports", ways);
    case_transport_take(live, rank, log);
    json_decref(log);
}

void case_transport_take_each(struct live_case *live, int rank, const json_t *event)
{
    const json_t *each = json_object_get(event, "each"), *own;
    size_t i;

    json_array_foreach (each, i, own) {
        int of = (int)json_get_int(own, "rank", -1);

        if (rank < 0 || of == rank)
            take_ways(live, of, json_object_get(own, "ways"));
    }
}

static struct transport_node *nodes_of(const struct live_case *live)
{
    struct transport_node *nodes =
        memory_zeroed(live->on.n + 1, sizeof(*nodes), "nodes of a case");

    for (size_t i = 0; i < live->on.n; i++) {
        nodes[i].name = live->on.items[i].name;
        nodes[i].inventory = inventory_of(live, i);
    }
    return nodes;
}

static const char *first_sentence(const json_t *transports)
{
    return json_get_str(json_array_get(json_object_get(transports, "verdicts"), 0),
                        "sentence", "");
}

/* Missing reports usually affect all cases of a run. Therefore only the first case
 * contains the verdict on missing reports. */
static json_t *once(const struct live_case *live, json_t *unheard)
{
    const struct run *run = live->run;

    for (size_t i = 0; unheard && i < run->n_cases; i++)
        if (i != live->index && run->cases[i].transports &&
            strcmp(first_sentence(run->cases[i].transports), first_sentence(unheard)) ==
                0) {
            json_decref(unheard);
            return NULL;
        }
    return unheard;
}

json_t *case_transport_fold(struct live_case *live, bool has_run)
{
    const struct run *run = live->run;
    bool is_program = run->spec->program.name != NULL;
    struct transport_node *nodes = take_early(live) ? nodes_of(live) : NULL;
    json_t *env = case_start_env(live), *out = NULL;
    struct transport_input input = {.nodes = nodes,
                                    .n_nodes = live->on.n,
                                    .env = env,
                                    .mark = verdict_mark(run->backend, run->is_emulated)};

    if (nodes)
        out = transport_fold(live->transport, &input);
    else if (!live->transport && has_run &&
             (is_program || strcmp(run->backend, "nccl") == 0))
        out = once(live, transport_unheard(&input, is_program));
    free(nodes);
    json_decref(env);
    return out;
}
