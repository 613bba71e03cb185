/* case_transport.c - by which ways the ranks of a case said that they go */
#include "server/runs/case_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/transport.h"
#include "server/analysis/verdict.h"
#include "server/nodes/node.h"
#include "server/runs/case_start.h"
#include "server/runs/live_case_state.h"
#include "server/runs/run_nodes.h"
#include "server/runs/scheduler_state.h"

/* A program may start a process or some of its own, each with a log. */
#define LOGS_OF_RANK 4

void case_transport_take(struct live_case *live, int rank, json_t *log)
{
    const struct run_node *node = run_nodes_of_rank(&live->on, rank);
    char key[48];

    if (!node)
        return;
    snprintf(key, sizeof(key), "%d.%lld", rank, (long long)json_get_int(log, "pid", 0));
    if (!live->nccl_logs)
        live->nccl_logs = json_object();
    if (json_object_size(live->nccl_logs) >=
            (size_t)LOGS_OF_RANK * (size_t)live->on.world_size &&
        !json_object_get(live->nccl_logs, key))
        return;
    json_object_set_new(
        live->nccl_logs, key,
        json_pack("{s:i, s:O}", "node", (int)(node - live->on.items), "log", log));
}

bool case_transport_is_host(const struct run *run)
{
    return !run->spec->program.name && run->backend && strcmp(run->backend, "host") == 0;
}

void case_transport_take_ways(struct live_case *live, int rank, json_t *ways)
{
    json_t *log;

    if (json_array_size(ways) == 0)
        return;
    log = json_pack("{s:i, s:i, s:O}", "rank", rank, "ranks", live->on.world_size,
                    "transports", ways);
    case_transport_take(live, rank, log);
    json_decref(log);
}

static struct transport_node *nodes_of(const struct live_case *live)
{
    struct transport_node *nodes = calloc(live->on.n, sizeof(*nodes));

    for (size_t i = 0; nodes && i < live->on.n; i++) {
        const struct node *node =
            node_find(&live->active->scheduler->nodes, live->on.items[i].name);

        nodes[i].name = live->on.items[i].name;
        nodes[i].inventory = node ? node->inventory : NULL;
    }
    return nodes;
}

json_t *case_transport_fold(const struct live_case *live, bool has_run)
{
    const struct run *run = live->active->run;
    bool is_program = run->spec->program.name != NULL;
    struct transport_node *nodes = live->nccl_logs ? nodes_of(live) : NULL;
    json_t *logs = json_array(), *env = case_start_env(live), *log, *out = NULL;
    struct transport_input input = {.logs = logs,
                                    .nodes = nodes,
                                    .n_nodes = live->on.n,
                                    .env = env,
                                    .host = case_transport_is_host(run) ? &run->spec->host
                                                                        : NULL,
                                    .mark = verdict_mark(run->backend, run->is_emulated)};
    const char *key;

    json_object_foreach (live->nccl_logs, key, log)
        json_array_append(logs, log);
    if (nodes)
        out = transport_fold(&input);
    else if (!live->nccl_logs && has_run &&
             (is_program || strcmp(run->backend, "nccl") == 0))
        out = transport_unheard(&input, is_program);
    free(nodes);
    json_decref(logs);
    json_decref(env);
    return out;
}
