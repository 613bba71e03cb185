/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - handles requests from the API to the scheduler: new runs, cancellation,
 * views */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/problem.h"
#include "common/spec/run_matrix.h"
#include "common/spec/run_spec.h"
#include "server/nodes/machine.h"
#include "server/nodes/node.h"
#include "server/nodes/placement.h"
#include "server/nodes/preflight_nodes.h"
#include "server/nodes/run_groups.h"
#include "server/plan/plan.h"
#include "server/runs/active_run.h"
#include "server/runs/cases.h"
#include "server/runs/judge_queue.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/run_plan.h"
#include "server/runs/scheduler_state.h"
#include "server/store/run_listed.h"
#include "server/store/store.h"

/* Estimated size of a node's document without its inventory, for the page limit. The
 * document is still built with the inventory, which takes most of the time. */
#define NODE_BRIEF_BYTES 1024

/* ---- Preview of a run that is not posted yet ---- */

static const char *const outcomes[] = {
    [PLACEMENT_READY] = "ready",
    [PLACEMENT_BUSY] = "busy",
    [PLACEMENT_UNKNOWN] = "unknown",
    [PLACEMENT_IMPOSSIBLE] = "impossible",
};

static json_t *nodes_json(const struct placement *placement, bool has_nodes,
                          int *world_size)
{
    json_t *nodes = json_array();

    *world_size = 0;
    for (size_t i = 0; has_nodes && i < placement->n_nodes; i++) {
        json_array_append_new(nodes,
                              json_pack("{s:s, s:i}", "name", placement->nodes[i]->name,
                                        "ranks", (int)placement->ranks[i]));
        *world_size += (int)placement->ranks[i];
    }
    return nodes;
}

static json_t *sizes_json(const struct run_spec *spec)
{
    uint64_t min = UINT64_MAX, max = 0;

    if (spec->program.name || spec->n_sizes == 0)
        return json_null();
    for (size_t i = 0; i < spec->n_sizes; i++) {
        min = spec->sizes[i] < min ? spec->sizes[i] : min;
        max = spec->sizes[i] > max ? spec->sizes[i] : max;
    }
    return json_pack("{s:I, s:I, s:I}", "count", (json_int_t)spec->n_sizes, "min",
                     (json_int_t)min, "max", (json_int_t)max);
}

/* Return the memory per rank: two buffers for the largest row, which every worker
 * allocates. */
static json_t *memory_json(const struct series_plan *plan, const char *backend)
{
    uint64_t most = 0;
    struct collective_layout layout;

    for (size_t i = 0; i < plan->n_collectives; i++) {
        for (size_t k = 0; k < plan->n_sizes * plan->n_dtypes; k++) {
            collective_layout(plan->collectives[i], plan->sizes[k / plan->n_dtypes],
                              plan->dtypes[k % plan->n_dtypes], plan->world_size,
                              &layout);
            most = layout.size_bytes > most ? layout.size_bytes : most;
        }
    }
    return json_pack("{s:I, s:s}", "per_rank_bytes", 2 * (json_int_t)most, "where",
                     strcmp(backend, "nccl") == 0  ? "gpu"
                     : strcmp(backend, "sim") == 0 ? "none"
                                                   : "host");
}

/* Add the values that depend on the chosen nodes: rows, memory and series. */
static void add_cost(const struct run_spec *spec, const struct placement *placement,
                     json_t *answer)
{
    struct plan_size size = plan_size(spec, placement->n_nodes);
    struct split_groups groups = {0};
    struct series_plan plan;

    run_groups_form(spec, placement->ranks, size.largest, &groups);
    if (!spec->program.name) {
        run_groups_plan(spec, &groups, &plan);
        json_object_set_new(answer, "rows",
                            json_integer((json_int_t)run_plan_rows(spec, placement->ranks,
                                                                   placement->n_nodes)));
        json_object_set_new(answer, "memory", memory_json(&plan, placement->backend));
        if (plan.n_sizes > 0)
            json_object_set_new(
                answer, "series",
                json_integer((json_int_t)(series_rows(&plan) / plan.n_sizes /
                                          (size_t)(plan.cycles > 1 ? plan.cycles : 1))));
    }
    split_release(&groups);
}

/* Choose the nodes that a queued run can expect once they are free. *placement becomes
 * this choice, or the reason why there is none. */
static void look_behind_queue(const struct node_registry *nodes,
                              const struct run_spec *spec, struct placement *placement)
{
    struct placement later;

    placement_choose(spec, nodes, NULL, &later);
    if (later.outcome == PLACEMENT_READY) {
        later.outcome = PLACEMENT_BUSY;
        memcpy(later.reason, placement->reason, sizeof(later.reason));
    }
    placement_release(placement);
    *placement = later;
}

/* Report an unknown placement, because the batch engine has not started the nodes yet, so
 * they are not registered. */
static void place_launched(const struct run_spec *spec, struct placement *placement)
{
    memset(placement, 0, sizeof(*placement));
    placement->outcome = PLACEMENT_UNKNOWN;
    snprintf(placement->reason, sizeof(placement->reason),
             "the nodes are requested from %s", spec->launch.name);
}

bool scheduler_plan_fits(const struct scheduler *scheduler, const struct run_spec *spec,
                         struct problems *problems)
{
    size_t n = spec->nodes.names ? json_array_size(spec->nodes.names)
                                 : (size_t)spec->nodes.count;
    struct placement placement;
    char why[200];

    if (spec->pattern == PATTERN_ALL || (n == 0 && spec->launch.name))
        return true;
    if (n == 0) {
        placement_choose(spec, &scheduler->nodes, NULL, &placement);
        n = placement.n_nodes;
        placement_release(&placement);
        /* More nodes may register while the run waits. */
        if (n < plan_least_nodes(spec->pattern))
            return true;
    }
    if (plan_fits(spec, n, why, sizeof(why)))
        return true;
    problems_add(problems, spec->rounds ? "/rounds" : "/pattern", "%s", why);
    return false;
}

/* See scheduler_preview(). chosen: the result of scheduler_foresee(), released by this
 * function; NULL if a batch engine has yet to start the run's nodes. */
static json_t *preview(const struct node_registry *registry, const struct run_spec *spec,
                       const struct placement *chosen)
{
    struct placement placement;
    json_t *answer, *nodes;
    bool is_ready, has_nodes;
    int world_size;
    size_t count;

    if (chosen)
        placement = *chosen;
    else
        place_launched(spec, &placement);
    if (placement.outcome == PLACEMENT_BUSY)
        look_behind_queue(registry, spec, &placement);
    is_ready = placement.outcome == PLACEMENT_READY;
    has_nodes = is_ready || placement.outcome == PLACEMENT_BUSY;
    nodes = nodes_json(&placement, has_nodes, &world_size);
    /* If no nodes are known, use the number that the spec requests. */
    count = has_nodes           ? placement.n_nodes
            : spec->nodes.names ? json_array_size(spec->nodes.names)
                                : (size_t)spec->nodes.count;
    answer = json_pack(
        "{s:o, s:I, s:n, s:n, s:o, s:{s:s, s:s?, s:s?, s:i, s:o}, s:n, s:{s:n, s:s, "
        "s:[], "
        "s:s}}",
        "spec", run_spec_to_json(spec), "cases", (json_int_t)plan_cases(spec, count),
        "rows", "series", "sizes", sizes_json(spec), "placement", "outcome",
        outcomes[placement.outcome], "reason", is_ready ? NULL : placement.reason,
        "backend", has_nodes ? placement.backend : NULL, "world_size", world_size,
        "nodes", nodes, "memory", "time", "seconds", "basis", "none", "runs", "detail",
        "there is no estimate for a run without nodes");
    if (answer && has_nodes)
        add_cost(spec, &placement, answer);
    placement_release(&placement);
    return answer;
}

/* A new run that is being written to disk. */
struct submission {
    struct scheduler *scheduler;
    struct run *run;
    scheduler_accepted *done;
    void *arg;
};

static void on_submitted(void *arg, const struct error *err,
                         const struct store_event *events, size_t n_events)
{
    struct submission *submission = arg;
    struct scheduler *scheduler = submission->scheduler;

    if (err) {
        run_destroy(submission->run);
        submission->done(submission->arg, err, NULL);
    } else {
        scheduler->counters.events += n_events;
        active_runs_add(scheduler->runs, scheduler, &scheduler->services, submission->run,
                        events[n_events - 1].id);
        submission->done(submission->arg, NULL, submission->run->id);
        wake_queue(scheduler->services.wake);
    }
    free(submission);
}

void scheduler_submit(struct scheduler *scheduler, struct run_spec *spec,
                      const char *idempotency_key, const char *body_hash,
                      scheduler_accepted *done, void *arg)
{
    struct store_write *write = store_write_create();
    char id[ID_RUN_LENGTH + 1];

    id_run(id);
    if (idempotency_key)
        store_write_idempotency(write, idempotency_key, body_hash, id);
    scheduler_submit_with(scheduler, spec, id, write, done, arg);
}

void scheduler_submit_with(struct scheduler *scheduler, struct run_spec *spec,
                           const char *id, struct store_write *write,
                           scheduler_accepted *done, void *arg)
{
    struct submission *submission = memory_zeroed(1, sizeof(*submission), "a run");
    struct run *run = run_create(id, spec, clock_read(scheduler->services.clock).wall_ms);
    json_t *event =
        json_pack("{s:s, s:n}", "state", run_state_name(run->state), "reason");

    run_log_write_row(write, run);
    store_write_event(write, run->id, run->created_ms, "state", event);
    json_decref(event);
    *submission = (struct submission){scheduler, run, done, arg};
    store_submit(scheduler->services.store, write, false, on_submitted, submission);
}

/* ---- The expected end of a run ---- */

/* Return the number of cases that have not begun. With a pattern, return the number of
 * rounds, because a round's cases run in parallel. */
static size_t cases_ahead(const struct run *run)
{
    size_t n = 0;

    if (run->spec->pattern != PATTERN_ALL)
        return run_plan_rounds_ahead(run);
    for (size_t i = 0; i < run->n_cases; i++)
        n += run->cases[i].state == CASE_QUEUED;
    return n;
}

/* Add eta_s and eta_basis (docs/reference/api.md) to the run's document (may be NULL),
 * and return the document. Add neither if the run has ended. */
static json_t *run_eta_add(const struct run *run, int64_t now_ms, json_t *doc)
{
    const char *basis = NULL;
    double seconds = -1.0;
    struct series_plan plan;
    bool is_known;

    if (!doc || run_has_ended(run))
        return doc;
    if (run->pace && run->pool.n > 0) {
        /* The duration of rows is unknown for a program, and for groups that are measured
         * in parallel. In both cases, estimate from the duration of whole cases. */
        is_known = !run->spec->program.name && run->groups.n > 0;
        if (is_known)
            run_groups_plan(run->spec, &run->groups, &plan);
        seconds = pace_eta(run->pace, is_known ? &plan : NULL, cases_ahead(run), now_ms,
                           &basis);
    }
    json_object_set_new(
        doc, "eta_s", seconds < 0.0 ? json_null() : json_real(round(seconds * 10) / 10));
    json_object_set_new(doc, "eta_basis",
                        seconds < 0.0 || !basis ? json_null() : json_string(basis));
    return doc;
}

static json_t *run_json(const struct scheduler *scheduler, const char *run,
                        enum run_form form)
{
    const struct active_run *active = active_runs_find(scheduler->runs, run);

    if (!active)
        return NULL;
    return run_eta_add(active->run, clock_read(scheduler->services.clock).wall_ms,
                       run_to_json(active->run, form));
}

json_t *scheduler_run_packed(const struct scheduler *scheduler, const char *run)
{
    return run_json(scheduler, run, RUN_PACKED);
}

json_t *scheduler_run_listed(const struct scheduler *scheduler, const char *run)
{
    json_t *brief = run_json(scheduler, run, RUN_BRIEF);
    json_t *listed = brief ? run_listed(brief) : NULL;

    json_decref(brief);
    return listed;
}

bool scheduler_run_is_active(const struct scheduler *scheduler, const char *run)
{
    const struct active_run *active = active_runs_find(scheduler->runs, run);

    return active && !run_has_ended(active->run);
}

struct scheduler_watch *scheduler_watch_run(struct scheduler *scheduler, const char *run,
                                            scheduler_event *event, void *arg)
{
    struct active_run *active = active_runs_find(scheduler->runs, run);

    return active ? run_log_watch(active->log, event, arg) : NULL;
}

int64_t scheduler_head(const struct scheduler *scheduler, const char *run)
{
    const struct active_run *active = active_runs_find(scheduler->runs, run);

    return active ? run_log_head(active->log) : 0;
}

int scheduler_cancel(struct scheduler *scheduler, const char *run, struct error *err)
{
    struct active_run *active = active_runs_find(scheduler->runs, run);

    if (!active || run_has_ended(active->run))
        return error_set(err, ERROR_NOT_FOUND, "run '%.40s' is not active", run);
    scheduler_cancel_active(active, "cancelled by request");
    return 0;
}

bool scheduler_edit(struct scheduler *scheduler, const char *run, json_t *event)
{
    struct active_run *active = active_runs_find(scheduler->runs, run);

    if (active)
        run_log_append(active->log, "edit", event);
    return active != NULL;
}

json_t *scheduler_preview(const struct scheduler *scheduler, const struct run_spec *spec)
{
    struct placement placement;

    if (spec->launch.name)
        return preview(&scheduler->nodes, spec, NULL);
    scheduler_foresee(scheduler, spec, &placement);
    return preview(&scheduler->nodes, spec, &placement);
}

const struct node_registry *scheduler_nodes(const struct scheduler *scheduler)
{
    return &scheduler->nodes;
}

void scheduler_set_suspects(struct scheduler *scheduler, const json_t *suspects)
{
    scheduler->nodes.suspects = suspects;
    wake_queue(scheduler->services.wake);
}

static json_t *node_json(const struct node *node)
{
    json_t *out = node_to_json(node), *machine = machine_json(node, NULL);
    json_t *gpus = machine_gpus_json(node);

    json_object_update(out, machine);
    if (gpus)
        json_object_set_new(out, "gpus", gpus);
    json_decref(machine);
    return out;
}

json_t *scheduler_nodes_page(const struct scheduler *scheduler, const char *behind,
                             bool has_inventory, size_t max_bytes, bool *is_more)
{
    const struct node_registry *registry = &scheduler->nodes;
    size_t i = node_index_behind(registry, behind), bytes = 0;
    json_t *nodes = json_array();

    for (; i < registry->count && bytes < max_bytes; i++) {
        json_t *node = node_json(registry->nodes[i]);

        /* Most of a node's document is the inventory, which is nearly the same on all
         * nodes. */
        if (!has_inventory)
            json_object_del(node, "inventory");
        json_array_append_new(nodes, node);
        bytes += has_inventory ? registry->nodes[i]->bytes : NODE_BRIEF_BYTES;
    }
    *is_more = i < registry->count;
    return nodes;
}

json_t *scheduler_node_json(const struct scheduler *scheduler, const char *name)
{
    const struct node *node = node_find(&scheduler->nodes, name);

    return node ? node_json(node) : NULL;
}

json_t *scheduler_preflight(const struct scheduler *scheduler, const char *name)
{
    const struct node_registry *registry = &scheduler->nodes;
    const struct node **nodes =
        memory_zeroed(registry->count + 1, sizeof(*nodes), "nodes");
    json_t *snapshot = NULL;
    size_t n = 0;

    for (size_t i = 0; i < registry->count; i++) {
        const struct node *node = registry->nodes[i];

        if (node->state == NODE_ALIVE || (name && strcmp(node->name, name) == 0))
            nodes[n++] = node;
    }
    if (!name || node_find(registry, name))
        snapshot = preflight_snapshot(nodes, n);
    free(nodes);
    return snapshot;
}

void scheduler_note_end(struct scheduler *scheduler, const char *run)
{
    judge_queue_note_end(scheduler->judge_queue, run);
}

void scheduler_await_values(struct scheduler *scheduler, const char *run,
                            store_settled *ready, void *arg)
{
    active_runs_note_ends(scheduler->runs, scheduler->judge_queue);
    judge_queue_await(scheduler->judge_queue, run, ready, arg);
}

const json_t *scheduler_figures(const struct scheduler *scheduler)
{
    return scheduler->figures;
}

const json_t *scheduler_checks(const struct scheduler *scheduler)
{
    return scheduler->checks;
}

void scheduler_counters(const struct scheduler *scheduler, struct scheduler_counters *out)
{
    *out = scheduler->counters;
    for (size_t i = 0; i < scheduler->nodes.count; i++) {
        const struct node *node = scheduler->nodes.nodes[i];

        if (node->state == NODE_LOST)
            out->nodes_lost++;
        else if (node->state == NODE_ALIVE && node->n_occupants > 0)
            out->nodes_busy++;
        else if (node->state == NODE_ALIVE && !node->leaving)
            out->nodes_idle++;
    }
    for (size_t i = 0; i < scheduler->runs->n; i++) {
        enum run_state state = scheduler->runs->items[i]->run->state;

        if (state == RUN_QUEUED)
            out->runs_queued++;
        else if (state == RUN_LAUNCHING)
            out->runs_launching++;
        else if (state == RUN_WAITING_FOR_NODES)
            out->runs_waiting++;
        else if (state < RUN_COMPLETED)
            out->runs_running++;
    }
}
