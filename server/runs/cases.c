/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c - keeps the cases under way in all runs */
#include "server/runs/cases.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/nodes/node.h"
#include "server/runs/live_case_state.h"
#include "server/runs/run_log.h"
#include "server/runs/run_nodes.h"

struct cases *cases_create(const struct services *services,
                           const struct node_registry *nodes,
                           const struct cases_config *config)
{
    struct cases *cases = memory_zeroed(1, sizeof(*cases), "the cases");

    cases->services = services;
    cases->nodes = nodes;
    cases->config = *config;
    LIST_INIT(&cases->live);
    return cases;
}

void cases_close(struct cases *cases)
{
    while (!LIST_EMPTY(&cases->live))
        live_case_free(LIST_FIRST(&cases->live));
}

void cases_free(struct cases *cases)
{
    free(cases);
}

static bool is_case(const struct live_case *live, const char *run, int64_t case_no,
                    int64_t attempt)
{
    return (int64_t)live->index == case_no &&
           live->run->cases[live->index].attempt == attempt &&
           strcmp(live->run->id, run) == 0;
}

struct live_case *cases_find(const struct cases *cases, const char *run, int case_no,
                             int attempt)
{
    struct live_case *live;

    LIST_FOREACH (live, &cases->live, entry)
        if (is_case(live, run, case_no, attempt))
            break;
    return live;
}

struct run_log *live_case_log(const struct live_case *live)
{
    return live->log;
}

const struct run_nodes *live_case_nodes(const struct live_case *live)
{
    return &live->on;
}

void cases_stop(struct cases *cases, const struct run_log *log, enum case_state state,
                const char *reason)
{
    struct live_case *live;

    LIST_FOREACH (live, &cases->live, entry)
        if (live->log == log)
            live_case_stop(live, state, reason);
}

/* ---- Time ---- */

void cases_tick(struct cases *cases, int64_t now_ns)
{
    struct live_case *live, *next;

    for (live = LIST_FIRST(&cases->live); live; live = next) {
        next = LIST_NEXT(live, entry); /* the tick may end and free the case */
        live_case_tick(live, now_ns);
    }
}

void cases_excuse(struct cases *cases, int64_t ns)
{
    struct live_case *live;

    cases->awaits_nodes_until_ns += ns;
    LIST_FOREACH (live, &cases->live, entry)
        live_case_excuse(live, ns);
}

void cases_await_nodes(struct cases *cases, int64_t until_ns)
{
    cases->awaits_nodes_until_ns = until_ns;
}

int64_t cases_awaits_nodes_until_ns(const struct cases *cases)
{
    return cases->awaits_nodes_until_ns;
}

/* ---- Nodes ---- */

bool cases_is_node_lost(const struct cases *cases, const struct node *node,
                        int64_t now_ns)
{
    return node ? node->state != NODE_ALIVE : now_ns > cases->awaits_nodes_until_ns;
}

bool cases_are_on(const struct cases *cases, const char *node)
{
    const struct live_case *live;

    LIST_FOREACH (live, &cases->live, entry)
        if (run_nodes_find(&live->on, node))
            return true;
    return false;
}

void cases_leave(struct cases *cases, const struct node *node)
{
    struct live_case *live;

    LIST_FOREACH (live, &cases->live, entry)
        live_case_leaving(live, node);
}

void cases_forget(struct cases *cases, const struct node *node)
{
    struct live_case *live;

    LIST_FOREACH (live, &cases->live, entry)
        live_case_forget(live, node);
}

bool cases_take_freed(struct cases *cases)
{
    bool has_freed = cases->has_freed;

    cases->has_freed = false;
    return has_freed;
}

/* ---- Cases that an agent lists ---- */

/* Return true if the `gone` report of a listed case was already stored or is being
 * stored. An earlier server may have stored it but stopped before acting on it. The
 * agent's repeated report is then dropped, so the case must be treated as gone. */
static bool has_told_gone(const struct node *node, const json_t *c)
{
    int64_t seq = json_get_int(c, "gone", 0);

    return seq > 0 && (seq <= node->acked || seq <= node->taken);
}

static bool is_listed_as(const struct live_case *live, const json_t *c)
{
    return is_case(live, json_get_str(c, "run", ""), json_get_int(c, "case", -1),
                   json_get_int(c, "attempt", -1));
}

static bool lists_case(const struct live_case *live, const struct node *node,
                       const json_t *listed)
{
    for (size_t i = 0; i < json_array_size(listed); i++) {
        const json_t *c = json_array_get(listed, i);

        if (!has_told_gone(node, c) && is_listed_as(live, c))
            return true;
    }
    return false;
}

static bool is_under_way(const struct cases *cases, const json_t *c)
{
    const struct live_case *live;

    LIST_FOREACH (live, &cases->live, entry)
        if (is_listed_as(live, c))
            return true;
    return false;
}

/* Stop a case that an agent lists but that is not under way on this server. The case
 * occupies the node until it ends. */
static void stop_stranger(struct node *node, const json_t *c)
{
    const char *run = json_get_str(c, "run", "");
    int case_no = (int)json_get_int(c, "case", -1);
    int attempt = (int)json_get_int(c, "attempt", -1);

    if (strlen(run) != ID_RUN_LENGTH)
        return;
    node_occupy(node, run, case_no, attempt, false);
    node_command(node, json_pack("{s:s, s:s, s:i, s:i, s:s}", "type", "stop", "run", run,
                                 "case", case_no, "attempt", attempt, "reason",
                                 "the server no longer knows this case"));
}

/* An agent lists a case until the server has acknowledged the case's `gone` report. */
void cases_reconcile(struct cases *cases, struct node *node, const json_t *listed,
                     bool is_new)
{
    struct live_case *live;

    node->n_occupants = 0;
    LIST_FOREACH (live, &cases->live, entry)
        live_case_reconcile(live, node, lists_case(live, node, listed), is_new);
    for (size_t i = 0; i < json_array_size(listed); i++) {
        const json_t *c = json_array_get(listed, i);

        if (!has_told_gone(node, c) && !is_under_way(cases, c))
            stop_stranger(node, c);
    }
}
