/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c - decides which run starts next, and when a run has ended */
#include "server/runs/scheduler.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "common/spec/batch_group.h"
#include "common/spec/run_matrix.h"
#include "server/finding/verdict.h"
#include "server/launch/jobs.h"
#include "server/nodes/machine.h"
#include "server/nodes/node.h"
#include "server/nodes/placement.h"
#include "server/nodes/preflight_nodes.h"
#include "server/nodes/run_groups.h"
#include "server/rendezvous/rendezvous.h"
#include "server/runs/active_run.h"
#include "server/runs/agents.h"
#include "server/runs/cases.h"
#include "server/runs/judge_queue.h"
#include "server/runs/rounds.h"
#include "server/runs/run.h"
#include "server/runs/run_end.h"
#include "server/runs/run_log.h"
#include "server/runs/run_plan.h"
#include "server/runs/scheduler_state.h"

#define SECOND_NS INT64_C(1000000000)

/* Intervals between ticks, which check deadlines: with and without a case under way. */
#define TICK_BUSY_MS 100
#define TICK_IDLE_MS scaled_ms(500)

/* If the time between two ticks is this long, the server did not run: it was stopped or
 * got no CPU. Messages from agents then wait in the sockets and are read after the tick.
 */
#define AWAY_NS scaled_s_to_ns(2)

/* Clock synchronization changes the clock by less than this many seconds. After a larger
 * step, the clock counts as set. */
#define CLOCK_SET_S 2.0

/* ---- One queue check: nodes reserved for a run ---- */

/* The refusal of a run that got no nodes. Similar runs get the same refusal until more
 * nodes are reserved. */
struct reserve_refusal {
    const struct run_spec *spec; /* borrowed */
    size_t n_kept;               /* number of reserved nodes at the time of the refusal */
    enum placement_outcome outcome;
    char *reason;
};

struct reserve {
    const struct node_registry *registry;
    struct reservation *nodes; /* one for each registered node, and one for all others */
    size_t n_kept;
    struct reserve_refusal *refusals;
    size_t n_refusals, capacity;
};

static struct reservation *place_of(const struct reserve *reserve, const char *node)
{
    return &reserve->nodes[node_index(reserve->registry, node)];
}

static void keep(struct reserve *reserve, const char *node,
                 const struct reservation *reservation)
{
    struct reservation *place = place_of(reserve, node);

    if (place->is_kept)
        return;
    *place = *reservation;
    reserve->n_kept++;
}

static void reserve_begin(struct reserve *reserve, const struct node_registry *registry)
{
    memset(reserve, 0, sizeof(*reserve));
    reserve->registry = registry;
    /* The last entry is for nodes that are not registered (yet). */
    reserve->nodes =
        memory_zeroed(registry->count + 1, sizeof(*reserve->nodes), "reserved nodes");
}

/* Reserve the nodes of a placed run, which owns them even while no case occupies them. */
static void reserve_pool(struct reserve *reserve, const struct run *run)
{
    static const struct reservation placed = {.is_kept = true};

    for (size_t i = 0; i < run->pool.n && !run->spec->share; i++)
        keep(reserve, run->pool.items[i].name, &placed);
}

static struct reserve_refusal *find_refusal(const struct reserve *reserve,
                                            const struct run_spec *spec)
{
    for (size_t i = 0; i < reserve->n_refusals; i++)
        if (placement_is_alike(reserve->refusals[i].spec, spec))
            return &reserve->refusals[i];
    return NULL;
}

static void note_refusal(struct reserve *reserve, struct reserve_refusal *refusal,
                         const struct run_spec *spec, const struct placement *placement)
{
    if (!refusal) {
        reserve->refusals =
            memory_grown(reserve->refusals, reserve->n_refusals, &reserve->capacity,
                         sizeof(*reserve->refusals), "refusals");
        refusal = &reserve->refusals[reserve->n_refusals++];
        refusal->reason = NULL;
    }
    free(refusal->reason);
    *refusal =
        (struct reserve_refusal){spec, reserve->n_kept, placement->outcome,
                                 memory_text(placement->reason, "a refusal's reason")};
}

static void repeat_refusal(const struct reserve_refusal *refusal,
                           struct placement *placement)
{
    memset(placement, 0, sizeof(*placement));
    placement->outcome = refusal->outcome;
    snprintf(placement->reason, sizeof(placement->reason), "%s", refusal->reason);
}

static bool is_waiting(const struct placement *placement)
{
    return placement->outcome == PLACEMENT_BUSY ||
           placement->outcome == PLACEMENT_UNKNOWN;
}

/* Choose nodes for a waiting run. Call this for all waiting runs in service order, and
 * release each placement. The placement contains no nodes if an earlier similar run was
 * refused and no more nodes are reserved since. */
static void reserve_choose(struct reserve *reserve, const struct run_spec *spec,
                           struct placement *placement)
{
    struct reserve_refusal *refusal = find_refusal(reserve, spec);

    if (refusal && refusal->n_kept == reserve->n_kept) {
        repeat_refusal(refusal, placement);
        return;
    }
    placement_choose(spec, reserve->registry, reserve->nodes, placement);
    if (is_waiting(placement))
        note_refusal(reserve, refusal, spec, placement);
}

/* Reserve the chosen nodes, or the nodes that the run waits for until waits_until_ms.
 * Existing reservations take precedence. */
static void reserve_keep(struct reserve *reserve, const struct run *run,
                         int64_t waits_until_ms, const struct placement *placement)
{
    struct reservation reservation = {
        .is_kept = true,
        .run = is_waiting(placement) ? run->id : NULL,
        .least = placement->least,
        .until_ms = waits_until_ms,
    };

    for (size_t i = 0; i < placement->n_nodes; i++)
        keep(reserve, placement->nodes[i]->name, &reservation);
}

static void reserve_end(struct reserve *reserve)
{
    for (size_t i = 0; i < reserve->n_refusals; i++)
        free(reserve->refusals[i].reason);
    free(reserve->refusals);
    free(reserve->nodes);
}

/* ---- A waiting run's nodes ---- */

/* Return the preflight findings for the run's nodes as a new object, or NULL if
 * preflight is off. */
static json_t *look_at_nodes(const struct run_spec *spec,
                             const struct placement *placement)
{
    const struct preflight_use use = {
        .backend = spec->program.name ? NULL : placement->backend, .env = spec->env};

    if (spec->preflight == RUN_PREFLIGHT_OFF)
        return NULL;
    return preflight_nodes((const struct node *const *)placement->nodes,
                           placement->n_nodes, &use, false);
}

/* Return the bandwidth ceiling of the nodes' links as a new object. NULL unless all ranks
 * form one communicator. */
static json_t *find_ceiling(const struct run_spec *spec,
                            const struct placement *placement)
{
    const struct preflight_use use = {.backend = placement->backend, .env = spec->env};

    if (spec->program.name || spec->pattern != PATTERN_ALL ||
        spec->split.kind != SPLIT_NONE || strcmp(placement->backend, "sim") == 0)
        return NULL;
    return ceiling_nodes((const struct node *const *)placement->nodes, placement->ranks,
                         placement->n_nodes, &use);
}

/* Warn if the matrix varies a setting that the backend ignores: the run looks like a
 * comparison, but all its cases measure the same. */
static void warn_of_matrix(struct active_run *active, const char *backend)
{
    char names[400];

    if (*run_matrix_unread(active->run->spec, backend, names, sizeof(names)))
        run_log_message(active->log, "warn",
                        "the matrix has no effect in %s: the backend %s does not read "
                        "it. Cases that differ only in it measure the same",
                        names, backend);
}

static void place(struct active_run *active, const struct placement *placement)
{
    const struct run *run = active->run;
    struct split_groups groups = {0};
    json_t *nodes = json_array(), *body;
    int world = 0;

    for (size_t i = 0; i < placement->n_nodes; i++) {
        const struct node *node = placement->nodes[i];
        bool has_labels =
            run->spec->pattern != PATTERN_ALL && json_object_size(node->labels) > 0;

        json_array_append_new(nodes,
                              json_pack("{s:s, s:i, s:O*}", "name", node->name, "ranks",
                                        (int)placement->ranks[i], "labels",
                                        has_labels ? node->labels : NULL));
        world += (int)placement->ranks[i];
    }
    body = json_pack("{s:s, s:i, s:o}", "backend", placement->backend, "world_size",
                     world, "nodes", nodes);
    json_object_set_new(body, "rows_total",
                        json_integer((json_int_t)run_plan_rows(
                            run->spec, placement->ranks, placement->n_nodes)));
    if (run->spec->pattern == PATTERN_ALL)
        run_groups_form(run->spec, placement->ranks, placement->n_nodes, &groups);
    if (groups.n > 1)
        json_object_set_new(body, "groups", split_groups_json(&groups));
    split_release(&groups);
    json_object_set_new(body, "machines",
                        machines_json((const struct node *const *)placement->nodes,
                                      placement->n_nodes, run->spec->nccl_lib));
    json_object_set_new(body, "verdicts",
                        json_pack("[o*, o*]", look_at_nodes(run->spec, placement),
                                  find_ceiling(run->spec, placement)));
    run_log_append(active->log, "placed", body);
    warn_of_matrix(active, placement->backend);
    histogram_add(&active->scheduler->counters.waited, histogram_slow,
                  (double)(clock_read(active->scheduler->services.clock).wall_ms -
                           run->created_ms) /
                      1e3);
}

/* Log why a run is not running yet, whenever the state or the reason changes. */
static void explain_wait(struct active_run *active, enum run_state state,
                         const char *reason)
{
    const struct run *run = active->run;

    if (run->state == state && run->reason && strcmp(run->reason, reason) == 0)
        return;
    run_log_state(active->log, state, reason);
}

static int64_t wait_limit_ns(const struct active_run *active)
{
    return active->run->spec->nodes.wait_s * SECOND_NS;
}

/* Update the time spent waiting. wait_s limits the wait for missing nodes, not for busy
 * ones. */
static void note_wait(struct active_run *active, bool is_missing, int64_t now_ns)
{
    if (active->waiting_since_ns)
        active->waiting_ns += now_ns - active->waiting_since_ns;
    else if (is_missing)
        active->waits_until_ms = clock_read(active->scheduler->services.clock).wall_ms +
                                 (wait_limit_ns(active) - active->waiting_ns) / 1000000;
    if (!is_missing)
        active->waits_until_ms = 0;
    active->waiting_since_ns = is_missing ? now_ns : 0;
}

static bool is_wait_over(const struct active_run *active, int64_t now_ns)
{
    int64_t since_ns = active->waiting_since_ns;

    return since_ns && active->waiting_ns + now_ns - since_ns >= wait_limit_ns(active);
}

static void fail_waiting(struct active_run *active, const char *reason)
{
    rounds_skip(active, CASE_SKIPPED, reason);
    run_end(active, RUN_FAILED, reason);
}

/* Fail a run that requires a clean preflight if preflight reported a finding on its
 * nodes. */
static void refuse_sick(struct active_run *active)
{
    const struct run *run = active->run;
    const json_t *found = verdicts_find(run->verdicts, VERDICT_PREFLIGHT);
    char reason[1000];

    if (run->spec->preflight != RUN_PREFLIGHT_REQUIRE || !found ||
        !verdict_has_answer(found, VERDICT_FINDING))
        return;
    snprintf(reason, sizeof(reason), "preflight: %s",
             json_get_str(found, "sentence", ""));
    fail_waiting(active, reason);
}

static void wait_for_nodes(struct active_run *active, const struct placement *placement,
                           int64_t now_ns)
{
    char text[700];

    explain_wait(active, RUN_WAITING_FOR_NODES, placement->reason);
    note_wait(active, true, now_ns);
    if (!is_wait_over(active, now_ns))
        return;
    snprintf(text, sizeof(text), "waiting_for_nodes: %s (waited %ld s)",
             placement->reason, active->run->spec->nodes.wait_s);
    fail_waiting(active, text);
}

static long count_group(const struct node_registry *nodes, const char *group)
{
    long n = 0;

    for (size_t i = 0; i < nodes->count; i++)
        n += nodes->nodes[i]->state == NODE_ALIVE && nodes->nodes[i]->group &&
             strcmp(nodes->nodes[i]->group, group) == 0;
    return n;
}

/* Return true if the run may search for nodes. A run with nodes from a batch engine waits
 * until its job runs. If all the job's nodes have registered, the job counts as running,
 * since the engine's answer comes later. */
static bool has_launched(struct active_run *active)
{
    const struct scheduler *scheduler = active->scheduler;
    const struct run *run = active->run;
    const struct run_spec *spec = run->spec;
    struct jobs *jobs = scheduler->config.jobs;
    char text[JOB_TEXT_MAX] = "this server has no launchers", waited[JOB_TEXT_MAX + 80];
    enum job_state state = JOB_RUNNING;

    if (!spec->launch.name)
        return true;
    state = jobs ? jobs_need(jobs, spec, run->id, text) : JOB_ENDED;
    if (state < JOB_RUNNING &&
        count_group(&scheduler->nodes, spec->nodes.group) >= jobs_nodes(spec)) {
        jobs_registered(jobs, spec->nodes.group);
        state = jobs_need(jobs, spec, run->id, text);
    }
    if (state == JOB_ENDED) {
        fail_waiting(active, text);
    } else if (state != JOB_RUNNING) {
        explain_wait(active, RUN_LAUNCHING, text);
        if (clock_read(scheduler->services.clock).wall_ms - run->created_ms <
            spec->launch.wait_s * 1000)
            return false;
        snprintf(waited, sizeof(waited),
                 "launching: %s (the limit launch.wait_s of %ld s has passed)", text,
                 spec->launch.wait_s);
        fail_waiting(active, waited);
    }
    return state == JOB_RUNNING;
}

/* Check a waiting run's cancellation, batch job and wait limit. Unlike a change of nodes,
 * these changes do not request a queue check by themselves. */
static void tick_waiting(struct active_run *active, int64_t now_ns)
{
    bool had_job = active->has_job;

    if (active->cancel_reason) {
        rounds_skip(active, CASE_CANCELLED, active->cancel_reason);
        run_end(active, RUN_CANCELLED, active->cancel_reason);
        return;
    }
    active->has_job = has_launched(active);
    if (active->has_job != had_job || is_wait_over(active, now_ns))
        wake_queue(active->scheduler->services.wake);
}

void scheduler_cancel_active(struct active_run *active, const char *reason)
{
    if (active->cancel_reason)
        return;
    active->cancel_reason = memory_text(reason, "a reason");
    cases_stop(active->scheduler->cases, active->log, CASE_CANCELLED,
               active->cancel_reason);
    wake_queue(active->scheduler->services.wake);
}

/* Return true if the run is a background run on the node that is neither over nor
 * cancelled. */
static bool has_to_yield(const struct active_run *active, const struct node *node)
{
    const struct run *run = active->run;

    for (size_t i = 0; run->spec->background && !active_run_is_over(active) &&
                       !active->cancel_reason && i < run->pool.n;
         i++)
        if (strcmp(run->pool.items[i].name, node->name) == 0)
            return true;
    return false;
}

/* Cancel the background runs on the nodes that a waiting run needs, provided that the
 * waiting run can then begin. */
static void clear_background(struct active_run *active, const struct reserve *reserve,
                             const struct placement *placement)
{
    struct active_runs *runs = active->scheduler->runs;
    size_t n_free = 0;
    char reason[80];

    for (int is_cancelling = 0; is_cancelling < 2; is_cancelling++) {
        for (size_t i = 0; i < placement->n_nodes; i++) {
            const struct node *node = placement->nodes[i];
            bool is_free = !place_of(reserve, node->name)->is_kept &&
                           node_is_free(node, active->run->spec->share);

            for (size_t k = 0; k < runs->n && !is_free; k++) {
                if (!has_to_yield(runs->items[k], node))
                    continue;
                is_free = true;
                snprintf(reason, sizeof(reason), SCHEDULER_YIELDED "%s", active->run->id);
                if (is_cancelling)
                    scheduler_cancel_active(runs->items[k], reason);
            }
            n_free += is_free;
        }
        if (n_free < placement->least)
            return;
    }
}

static void find_nodes(struct active_run *active, struct reserve *reserve, int64_t now_ns)
{
    struct scheduler *scheduler = active->scheduler;
    struct placement placement;

    reserve_choose(reserve, active->run->spec, &placement);
    switch (placement.outcome) {
    case PLACEMENT_READY:
        place(active, &placement);
        refuse_sick(active);
        /* Start the run's first cases now, so that one commit makes the placement and the
         * cases durable. */
        if (!active_run_is_over(active))
            rounds_tick(active, now_ns);
        /* A run that shares its nodes reserves them only during this check, so check the
         * queue again. */
        if (active->run->spec->share)
            wake_queue(scheduler->services.wake);
        break;
    case PLACEMENT_BUSY:
        note_wait(active, false, now_ns);
        explain_wait(active, RUN_QUEUED, placement.reason);
        if (!active->run->spec->background)
            clear_background(active, reserve, &placement);
        break;
    case PLACEMENT_UNKNOWN:
        wait_for_nodes(active, &placement, now_ns);
        break;
    case PLACEMENT_IMPOSSIBLE:
        fail_waiting(active, placement.reason);
        break;
    }
    reserve_keep(reserve, active->run, active->waits_until_ms, &placement);
    placement_release(&placement);
}

static bool is_placed(const struct active_run *active)
{
    return active->run->pool.n > 0;
}

static void begin_look(const struct scheduler *scheduler, struct reserve *reserve)
{
    reserve_begin(reserve, &scheduler->nodes);
    for (size_t i = 0; i < scheduler->runs->n; i++)
        if (!active_run_is_over(scheduler->runs->items[i]))
            reserve_pool(reserve, scheduler->runs->items[i]->run);
}

static void look_at_queue(struct scheduler *scheduler, int64_t now_ns)
{
    struct reserve reserve;

    scheduler->counters.queue_looks++;
    begin_look(scheduler, &reserve);
    for (size_t i = 0; i < scheduler->runs->n; i++) {
        struct active_run *active = scheduler->runs->items[i];

        if (!active_run_is_over(active) && !is_placed(active) && active->has_job)
            find_nodes(active, &reserve, now_ns);
    }
    reserve_end(&reserve);
}

void scheduler_foresee(const struct scheduler *scheduler, const struct run_spec *spec,
                       struct placement *placement)
{
    struct reserve reserve;

    begin_look(scheduler, &reserve);
    for (size_t i = 0; i < scheduler->runs->n; i++) {
        const struct active_run *active = scheduler->runs->items[i];
        struct placement earlier;

        if (active_run_is_over(active) || is_placed(active) ||
            active_run_rank(active->run->spec, spec) < 0)
            continue;
        reserve_choose(&reserve, active->run->spec, &earlier);
        reserve_keep(&reserve, active->run, active->waits_until_ms, &earlier);
        placement_release(&earlier);
    }
    placement_choose(spec, &scheduler->nodes, reserve.nodes, placement);
    reserve_end(&reserve);
}

/* ---- The clock ---- */

static void tick_runs(struct scheduler *scheduler, int64_t now_ns)
{
    bool is_busy = false;

    for (size_t i = 0; i < scheduler->runs->n; i++) {
        struct active_run *active = scheduler->runs->items[i];

        if (active->asks_until_ns)
            run_end_tick(active, now_ns);
        else if (active_run_is_over(active))
            continue;
        else if (is_placed(active))
            rounds_tick(active, now_ns);
        else
            tick_waiting(active, now_ns);
        is_busy = is_busy || active->run->n_live > 0 || active->asks_until_ns;
    }
    bool has_freed = cases_take_freed(scheduler->cases);
    if (wake_take_queue(scheduler->services.wake) || has_freed)
        look_at_queue(scheduler, now_ns);
    uv_timer_set_repeat(&scheduler->tick, is_busy ? TICK_BUSY_MS : TICK_IDLE_MS);
}

/* ---- Jobs of launched runs ---- */

/* Return true if a run needs the batch job of this node group. A run needs its job until
 * it has ended, even while its checks are judged, because it may be measured again. */
static bool is_group_needed(const struct scheduler *scheduler, const char *group)
{
    for (size_t i = 0; i < scheduler->runs->n; i++) {
        const struct run *run = scheduler->runs->items[i]->run;

        if (!run_has_ended(run) && run->spec->nodes.group &&
            strcmp(run->spec->nodes.group, group) == 0)
            return true;
    }
    return false;
}

/* Release the jobs that are not needed any more. A job is needed until its runs have
 * ended and no workers are left on its nodes. */
static void release_jobs(struct scheduler *scheduler)
{
    struct jobs *jobs = scheduler->config.jobs;

    for (size_t i = 0; i < scheduler->runs->n; i++)
        if (!run_has_ended(scheduler->runs->items[i]->run))
            jobs_mark(jobs, scheduler->runs->items[i]->run->spec->nodes.group);
    for (size_t i = 0; i < scheduler->nodes.count; i++) {
        const struct node *node = scheduler->nodes.nodes[i];

        if (node->state == NODE_ALIVE && node->n_occupants > 0)
            jobs_mark(jobs, node->group);
    }
    jobs_release(jobs);
}

/* Forget the nodes of ended jobs, which never come back. Nodes that a run still needs are
 * kept, so that the run can report how they left. */
static void forget_launched(struct scheduler *scheduler)
{
    struct error err;

    for (size_t i = scheduler->nodes.count; i-- > 0;) {
        const struct node *node = scheduler->nodes.nodes[i];
        char name[256];

        if (node->state == NODE_ALIVE || !job_group(node->group) ||
            jobs_has(scheduler->config.jobs, node->group) ||
            is_group_needed(scheduler, node->group))
            continue;
        snprintf(name, sizeof(name), "%s", node->name);
        agents_forget(scheduler->agents, name,
                      &err); /* fails while the node's events are being stored; a later
                                tick retries */
    }
}

/* If the server itself did not run for a while, do not count this time as silence of
 * agents. */
static void excuse_absence(struct scheduler *scheduler, int64_t now_ns)
{
    int64_t away_ns = scheduler->ticked_ns ? now_ns - scheduler->ticked_ns : 0;

    scheduler->ticked_ns = now_ns;
    if (away_ns < AWAY_NS)
        return;
    log_warn("the server did not run for %.1f s; the deadlines of agents are extended by "
             "this time",
             (double)away_ns / 1e9);
    cases_excuse(scheduler->cases, away_ns);
    for (size_t i = 0; i < scheduler->nodes.count; i++)
        node_excuse(scheduler->nodes.nodes[i], away_ns);
}

/* If the clock was set, store each run's duration again. Otherwise a restarted server
 * would derive a wrong duration from the time of the run's last event. */
static void notice_set_clock(struct scheduler *scheduler, struct clock_time now)
{
    int64_t offset_ms = now.wall_ms - now.monotonic_ns / 1000000;
    int64_t by_ms = scheduler->ticked_ns ? offset_ms - scheduler->clock_offset_ms : 0;
    const char *way = by_ms > 0 ? "forward" : "back";
    double by_s = (double)(by_ms > 0 ? by_ms : -by_ms) / 1e3;

    scheduler->clock_offset_ms = offset_ms;
    if (by_s < CLOCK_SET_S)
        return;
    log_warn("the clock was set %s by %.1f s", way, by_s);
    for (size_t i = 0; i < scheduler->runs->n; i++) {
        if (run_log_has_begun(scheduler->runs->items[i]->log) &&
            !run_has_ended(scheduler->runs->items[i]->run))
            run_log_message(scheduler->runs->items[i]->log, "warn",
                            "the server's clock was set %s by %.1f s", way, by_s);
    }
}

void scheduler_tick(struct scheduler *scheduler)
{
    struct clock_time now = clock_read(scheduler->services.clock);

    if (scheduler->is_closing)
        return;
    notice_set_clock(scheduler, now);
    excuse_absence(scheduler, now.monotonic_ns);
    agents_tick(scheduler->agents, now.monotonic_ns);
    active_runs_note_ends(scheduler->runs, scheduler->judge_queue);
    active_runs_sweep(scheduler->runs);
    cases_tick(scheduler->cases, now.monotonic_ns);
    tick_runs(scheduler, now.monotonic_ns);
    if (scheduler->config.jobs) {
        release_jobs(scheduler);
        forget_launched(scheduler);
    }
}

static void on_tick(uv_timer_t *timer)
{
    scheduler_tick(timer->data);
}

static void on_wake(void *arg)
{
    struct scheduler *scheduler = arg;

    scheduler_tick(scheduler);
    /* Apply the tick interval now, because a case may have begun or ended. */
    uv_timer_again(&scheduler->tick);
}

/* ---- Lifetime ---- */

struct scheduler *scheduler_create(uv_loop_t *loop, const struct scheduler_config *config)
{
    struct scheduler *scheduler = memory_zeroed(1, sizeof(*scheduler), "the scheduler");

    scheduler->config = *config;
    scheduler->runs = memory_zeroed(1, sizeof(*scheduler->runs), "the runs");
    scheduler->services =
        (struct services){config->store, config->clock,
                          wake_create(loop, on_wake, scheduler), &scheduler->counters};
    scheduler->figures = json_array();
    scheduler->judge_queue = judge_queue_create(config->store, scheduler->figures);
    scheduler->checks = json_array();
    scheduler->advertise = memory_text(config->advertise, "the scheduler");
    scheduler->config.advertise = scheduler->advertise;
    scheduler->cases = cases_create(
        &scheduler->services, &scheduler->nodes,
        &(struct cases_config){config->rendezvous, scheduler->advertise, config->join_s});
    scheduler->agents =
        agents_create(&scheduler->services, &scheduler->nodes, scheduler->cases,
                      &(struct agents_config){config->lease_s, config->poll_s,
                                              config->batch_lost_s, config->max_nodes});
    uv_timer_init(loop, &scheduler->tick);
    scheduler->tick.data = scheduler;
    scheduler->open_handles = 2;
    if (!config->clock)
        uv_timer_start(&scheduler->tick, on_tick, TICK_IDLE_MS, TICK_IDLE_MS);
    return scheduler;
}

static void on_closed(void *arg)
{
    struct scheduler *scheduler = arg;

    if (--scheduler->open_handles == 0)
        scheduler->closed(scheduler->closed_arg);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_closed(handle->data);
}

void scheduler_close(struct scheduler *scheduler, void (*closed)(void *arg), void *arg)
{
    scheduler->is_closing = true;
    /* Drop the cases first: the `closed` callback also closes the rendezvous with all its
     * stores. */
    cases_close(scheduler->cases);
    judge_queue_close(scheduler->judge_queue);
    scheduler->closed = closed;
    scheduler->closed_arg = arg;
    agents_close(scheduler->agents);
    uv_close((uv_handle_t *)&scheduler->tick, on_timer_closed);
    wake_close(scheduler->services.wake, on_closed);
}

void scheduler_free(struct scheduler *scheduler)
{
    if (!scheduler)
        return;
    active_runs_free(scheduler->runs);
    agents_free(scheduler->agents);
    cases_free(scheduler->cases);
    node_registry_release(&scheduler->nodes);
    json_decref(scheduler->checks);
    json_decref(scheduler->figures);
    wake_free(scheduler->services.wake);
    free(scheduler->advertise);
    free(scheduler);
}

struct agents *scheduler_agents(const struct scheduler *scheduler)
{
    return scheduler->agents;
}

struct run_log *scheduler_add(struct scheduler *scheduler, struct run *run, int64_t head)
{
    return active_runs_add(scheduler->runs, scheduler, &scheduler->services, run, head);
}
