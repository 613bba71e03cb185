/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - starts the cases of a placed run in rounds, and ends the run after the
 * last */
#include "server/runs/rounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "server/nodes/node.h"
#include "server/runs/active_run.h"
#include "server/runs/cases.h"
#include "server/runs/run.h"
#include "server/runs/run_end.h"
#include "server/runs/run_log.h"
#include "server/runs/run_nodes.h"
#include "server/runs/run_plan.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"
#include "server/store/store_artifacts.h"

#define SECOND_NS INT64_C(1000000000)

/* ---- The end of a run ---- */

/* Return true for a repeated case that was skipped. Nodes that are missing for such a
 * case do not make the run a failure. */
static bool is_extra(const struct run *run, const struct run_case *c)
{
    return run->spec->pattern == PATTERN_ALL && c->confirms && c->state == CASE_SKIPPED;
}

/* End the run after all its cases have ended. cut: why no further cases follow, or
 * NULL. */
static void conclude(struct active_run *active, const char *cut)
{
    const struct run *run = active->run;
    const char *first = NULL;
    size_t failed = 0;
    char reason[1000];

    if (active->cancel_reason) {
        run_end(active, RUN_CANCELLED, active->cancel_reason);
        return;
    }
    for (size_t i = 0; i < run->n_cases; i++) {
        if (run->cases[i].state == CASE_COMPLETED || is_extra(run, &run->cases[i]))
            continue;
        failed++;
        first = first ? first : run->cases[i].reason;
    }
    if (failed == 0) {
        cut = run->spec->pattern == PATTERN_ALL ? NULL : cut;
        run_end(active, cut ? RUN_FAILED : RUN_COMPLETED, cut);
    } else if (run->n_cases == 1) {
        run_end(active, RUN_FAILED, first);
    } else {
        snprintf(reason, sizeof(reason), "%zu of %zu cases failed: %.900s", failed,
                 run->n_cases, first ? first : "");
        run_end(active, RUN_FAILED, reason);
    }
}

void rounds_skip(struct active_run *active, enum case_state state, const char *reason)
{
    const struct run *run = active->run;

    for (size_t i = 0; i < run->n_cases; i++)
        if (!run->cases || !case_has_ended(&run->cases[i]))
            run_log_case(active->log, i, run->cases ? run->cases[i].attempt : 0, state,
                         reason);
}

/* ---- The round under way ---- */

/* Limits for one write. Storing a new text takes 100 us; a node whose text is already
 * known takes 5 us. */
#define WRITE_TEXTS 8
#define WRITE_NODES 256

/* Store the node's inventory. Returns true if its text had to be generated. */
static bool keep(struct store_write *write, const char *run, struct node *node)
{
    bool is_known = node->kept[0] != '\0';
    char *text =
        is_known ? NULL : json_dumps(node->inventory, JSON_COMPACT | JSON_SORT_KEYS);
    const struct store_artifact item = {.run = run,
                                        .node = node->name,
                                        .name = STORE_INVENTORY,
                                        .digest = node->kept,
                                        .case_no = STORE_NO_CASE,
                                        .text = text};

    if (!is_known && !text)
        memory_out("an inventory");
    if (!is_known)
        digest_text(text, node->kept);
    store_write_artifact(write, &item);
    free(text);
    return !is_known;
}

/* Store the inventories of some of the run's nodes, starting with number *next. Returns
 * false after the last node. Each call is short, so the work for many nodes is spread
 * over many turns of the loop. */
static bool snapshots_keep(struct store *store, const struct node_registry *nodes,
                           const struct run *run, size_t *next)
{
    size_t end = *next + WRITE_NODES, texts = 0;
    struct store_write *write = store_write_create();

    while (*next < run->pool.n && *next < end && texts < WRITE_TEXTS) {
        struct node *node = node_find(nodes, run->pool.items[(*next)++].name);

        texts += node && keep(write, run->id, node);
    }
    store_submit(store, write, true, NULL, NULL);
    return *next < run->pool.n;
}

static void keep_snapshots(struct active_run *active)
{
    const struct scheduler *scheduler = active->scheduler;

    if (active->n_kept < active->run->pool.n &&
        snapshots_keep(scheduler->services.store, &scheduler->nodes, active->run,
                       &active->n_kept))
        wake_soon(scheduler->services.wake);
}

/* Return NULL if the case's nodes are all registered and free, else the obstacle.
 * *is_hopeless: true if a node is lost. */
static const char *nodes_not_ready(const struct active_run *active,
                                   const struct run_case *c, int64_t now_ns, char *out,
                                   size_t size, bool *is_hopeless)
{
    const struct scheduler *scheduler = active->scheduler;
    const struct run *run = active->run;
    const struct run_nodes on = run_case_nodes(run, c);

    *is_hopeless = false;
    for (size_t i = 0; i < on.n; i++) {
        const struct node *node = node_find(&scheduler->nodes, on.items[i].name);

        if (node && node_is_free(node, run->spec->share))
            continue;
        *is_hopeless = cases_is_node_lost(scheduler->cases, node, now_ns);
        snprintf(out, size, "%s %s", on.items[i].name,
                 !node                      ? "is not registered"
                 : node->state == NODE_LOST ? "is lost"
                 : node->state == NODE_LEFT ? "has left"
                                            : "is still occupied by earlier workers");
        return out;
    }
    return NULL;
}

/* With a pattern, lost nodes end only the cases that need them. */
static void give_up_case(struct active_run *active, size_t index, const char *why)
{
    if (active->run->spec->pattern == PATTERN_ALL)
        rounds_skip(active, CASE_SKIPPED, why);
    else
        run_log_case(active->log, index, active->run->cases[index].attempt, CASE_SKIPPED,
                     why);
}

/* Start a case. Returns false if the case waits for its nodes. */
static bool start_case(struct active_run *active, size_t index, int64_t now_ns)
{
    char why[400];
    bool is_hopeless;

    if (nodes_not_ready(active, &active->run->cases[index], now_ns, why, sizeof(why),
                        &is_hopeless)) {
        if (!active->nodes_until_ns)
            active->nodes_until_ns = now_ns +
                                     scaled_s_to_ns(active->scheduler->config.lease_s) +
                                     15 * SECOND_NS;
        if (!is_hopeless && now_ns <= active->nodes_until_ns)
            return false;
        give_up_case(active, index, why);
        return true;
    }
    if (!run_log_has_begun(active->log))
        run_log_begin(active->log, 0);
    cases_start(active->scheduler->cases, active->log, index);
    return true;
}

/* Return true if two cases may run in parallel. */
static bool go_together(const struct run *run, size_t a, size_t b)
{
    return a == b || (run->spec->pattern != PATTERN_ALL && run->spec->concurrent &&
                      run->cases[a].round == run->cases[b].round);
}

static void start_round(struct active_run *active, size_t first, int64_t now_ns)
{
    const struct run *run = active->run;
    bool all_started = true;

    for (size_t i = first; i < run->n_cases && go_together(run, i, first); i++)
        if (run->cases[i].state == CASE_QUEUED && !start_case(active, i, now_ns))
            all_started = false;
    if (all_started)
        active->nodes_until_ns = 0;
}

/* ---- The next round ---- */

static size_t find_lost(const struct active_run *active, int64_t now_ns, bool *is_lost,
                        const char **name)
{
    const struct scheduler *scheduler = active->scheduler;
    const struct run_nodes *pool = &active->run->pool;
    size_t n = 0;

    for (size_t i = 0; i < pool->n; i++) {
        const struct node *node = node_find(&scheduler->nodes, pool->items[i].name);

        is_lost[i] = cases_is_node_lost(scheduler->cases, node, now_ns);
        if (is_lost[i])
            *name = pool->items[i].name;
        n += is_lost[i];
    }
    return n;
}

/* Plan the next round. Returns false if the plan has no further round. */
static bool plan_round(struct active_run *active, int64_t now_ns)
{
    bool *is_lost = memory_zeroed(active->run->pool.n + 1, sizeof(*is_lost), "nodes");
    const char *name = NULL;
    size_t lost = find_lost(active, now_ns, is_lost, &name);
    json_t *body;

    if (lost > active->lost && active->run->spec->pattern != PATTERN_ALL)
        run_log_message(active->log, "warn", "%zu of %zu nodes are lost, for example %s",
                        lost, active->run->pool.n, name);
    active->lost = lost;
    body = run_plan_next(active->run, is_lost);
    free(is_lost);
    if (!body)
        return false;
    run_log_append(active->log, "plan", body);
    return true;
}

/* Plan the next round, or end the run. No case may be under way. */
static void go_on(struct active_run *active, int64_t now_ns, const char *cut)
{
    const struct run *run = active->run;

    if (active->cancel_reason)
        rounds_skip(active, CASE_CANCELLED, active->cancel_reason);
    if (active->cancel_reason || cut)
        conclude(active, cut);
    else if (!plan_round(active, now_ns))
        conclude(active, run->n_cases ? NULL : "the remaining nodes cannot form a round");
}

static size_t first_open(struct active_run *active)
{
    const struct run *run = active->run;

    while (active->n_over < run->n_cases && case_has_ended(&run->cases[active->n_over]))
        active->n_over++;
    return active->n_over;
}

/* Return why the run must end, or NULL if it has time left. */
static const char *check_deadline(struct active_run *active, char *out, size_t size)
{
    const struct run *run = active->run;

    if (run_log_ran_ns(active->log) <= run->spec->timeout_s * SECOND_NS)
        return NULL;
    snprintf(out, size, "the run took longer than its timeout of %ld s",
             run->spec->timeout_s);
    cases_stop(active->scheduler->cases, active->log, CASE_FAILED, out);
    for (size_t i = 0; i < run->n_cases; i++)
        if (run->cases[i].state == CASE_QUEUED)
            run_log_case(active->log, i, 0, CASE_SKIPPED, out);
    return out;
}

void rounds_tick(struct active_run *active, int64_t now_ns)
{
    char text[96];
    const char *cut = check_deadline(active, text, sizeof(text));
    size_t first = first_open(active);

    keep_snapshots(active);
    if (first < active->run->n_cases && !active->cancel_reason)
        start_round(active, first, now_ns);
    else if (active->run->n_live == 0)
        go_on(active, now_ns, cut);
}
