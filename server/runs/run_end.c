/* SPDX-License-Identifier: Apache-2.0 */
/* run_end.c - ends a run: judges its checks, then publishes its end */
#include "server/runs/run_end.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/analysis/carried.h"
#include "server/analysis/gate.h"
#include "server/finding/verdict.h"
#include "server/launch/jobs.h"
#include "server/nodes/node.h"
#include "server/plan/follow_up.h"
#include "server/runs/active_run.h"
#include "server/runs/judge_queue.h"
#include "server/runs/last_checks.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/run_nodes.h"
#include "server/runs/run_plan.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"

#define SECOND_NS INT64_C(1000000000)
/* time that a batch engine gets to report a job's end */
#define ASK_JOB_NS INT64_C(5000000000)

/* Command the agents that were started for this run only to leave, because the run has
 * ended. */
static void dismiss_nodes(struct active_run *active)
{
    const struct run *run = active->run;

    for (size_t i = 0; i < run->pool.n; i++) {
        struct node *node = node_find(&active->scheduler->nodes, run->pool.items[i].name);

        if (node && node->state == NODE_ALIVE && node->once)
            node_command(node,
                         json_pack("{s:s, s:s}", "type", "leave", "reason",
                                   "the run that the agent was started for has ended"));
    }
}

/* Keep the job for a while if the result suggests a search for a slow node, because only
 * a follow-up run on the same nodes can find the slow node. */
static void hold_job(struct active_run *active, const json_t *doc)
{
    const struct run *run = active->run;
    struct jobs *jobs = active->scheduler->config.jobs;
    json_t *follow_up;

    if (!jobs || !run->spec->launch.name || run->state == RUN_CANCELLED)
        return;
    follow_up = follow_up_of(doc);
    if (json_is_string(json_object_get(follow_up, "why")))
        jobs_hold(jobs, run->spec->nodes.group);
    json_decref(follow_up);
}

static void count(struct scheduler_counters *counters, enum run_state state)
{
    if (state == RUN_COMPLETED)
        counters->runs_completed++;
    else if (state == RUN_FAILED)
        counters->runs_failed++;
    else
        counters->runs_cancelled++;
}

/* Return true if the nodes are known to be on different machines. */
static bool are_on_machines(const struct active_run *active, const struct run_nodes *on)
{
    const char *first = NULL;

    for (size_t i = 0; i < on->n; i++) {
        const struct node *node = node_find(&active->scheduler->nodes, on->items[i].name);
        const char *machine =
            node ? json_get_str(node->inventory, "machine", NULL) : NULL;

        if (first && machine && strcmp(first, machine) != 0)
            return true;
        first = first ? first : machine;
    }
    return false;
}

/* Return true if all nodes share the same ports, so that the ports carry no traffic
 * between the nodes. */
static bool have_one_network(const struct active_run *active, const struct run_nodes *on)
{
    const struct node *first = NULL;

    for (size_t i = 0; i < on->n; i++) {
        const struct node *node = node_find(&active->scheduler->nodes, on->items[i].name);

        if (!node || (first && !node_shares_ports(first, node)))
            return false;
        first = node;
    }
    return true;
}

/* Return a verdict on whether the ports carried the bytes that the cases moved between
 * nodes. Split groups may move no bytes between nodes, and a simulation moves none, so
 * neither is judged. */
static json_t *traffic_verdict(const struct active_run *active)
{
    const struct run *run = active->run;
    struct carried_case *cases =
        memory_zeroed(run->n_cases + 1, sizeof(*cases), "a run's cases");
    bool is_sim = run->backend && strcmp(run->backend, "sim") == 0;
    size_t n = 0;
    json_t *verdict;

    for (size_t i = 0; !is_sim && run->groups.n <= 1 && i < run->n_cases; i++) {
        const struct run_case *c = &run->cases[i];
        const struct run_nodes on = run_case_nodes(run, c);
        bool is_little = carried_is_little(&c->carried, on.n);

        if (on.n < 2 || c->state != CASE_COMPLETED || c->carried.nodes < on.n ||
            c->carried.row_size == 0 || have_one_network(active, &on) ||
            (is_little && !are_on_machines(active, &on)))
            continue;
        cases[n++] =
            (struct carried_case){i, c->carried.bytes, c->carried.row_size, is_little};
    }
    verdict = carried_verdict(cases, n, verdict_mark(run->backend, run->is_emulated));
    free(cases);
    return verdict;
}

/* Publish the end of a run. verdict: stolen; NULL if the spec requests no checks. */
static void tell_end(struct active_run *active, enum run_state state, const char *reason,
                     json_t *verdict)
{
    json_t *verdicts =
        json_pack("[o*, o*, o*, o*]", verdict, run_plan_verdict(active->run),
                  run_lateness(active->run), traffic_verdict(active));
    json_t *body = json_pack("{s:s, s:o?, s:o}", "state", run_state_name(state), "reason",
                             json_clean_string(reason), "verdicts", verdicts);
    json_t *doc;

    count(&active->scheduler->counters, state);
    log_message(state == RUN_FAILED ? LOG_WARN : LOG_INFO, "run %s %s%s%s",
                active->run->id, run_state_name(state), reason ? ": " : "",
                reason ? reason : "");
    run_log_append(active->log, "state", body);
    last_checks_note(active->scheduler->checks, active->run->spec->name,
                     active->run->ended_ms,
                     verdicts_find(active->run->verdicts, VERDICT_GATE));
    doc = run_to_json(active->run, RUN_STORED);
    hold_job(active, doc);
    json_decref(doc);
    dismiss_nodes(active);
}

/* ---- A run's checks ---- */

/* Write why the run cannot be measured again; "" if it can. */
static void explain_not_again(const struct active_run *active, char *text, size_t size)
{
    const struct run *run = active->run;
    int64_t now_ms = clock_read(active->scheduler->services.clock).wall_ms;
    int64_t taken_ns = (now_ms - run->started_ms) * INT64_C(1000000);

    text[0] = '\0';
    if (run_plan_confirms(run)) {
        const char *reason = run->cases[run->n_cases - 1].reason;

        snprintf(text, size, "%.200s",
                 reason ? reason : "the repeated cases did not complete");
        return;
    }
    if (run_log_ran_ns(active->log) + taken_ns > run->spec->timeout_s * SECOND_NS)
        snprintf(text, size, "the run's timeout_s leaves no time to measure again");
    for (size_t i = 0; i < run->pool.n; i++) {
        const char *name = run->pool.items[i].name;
        const struct node *node = node_find(&active->scheduler->nodes, name);

        if (!node || node->state != NODE_ALIVE)
            snprintf(text, size, "node %.200s is not alive", name);
    }
}

static void measure_again(struct active_run *active)
{
    run_log_message(active->log, "info",
                    "the run is slower than usual: all cases are measured again");
    run_log_append(active->log, "plan", run_plan_again(active->run));
    active->is_judged = false;
}

/* A stopping server leaves the run unchanged; the next server judges it. */
static bool on_judged(void *arg, const struct error *err, json_t *verdict)
{
    struct active_run *active = arg;
    bool has_ended = verdict != NULL;

    if (has_ended)
        tell_end(active, RUN_COMPLETED, NULL, json_incref(verdict));
    else if (!err)
        measure_again(active);
    return has_ended;
}

/* Queue the run for its checks: its results and the ends of earlier runs are now on
 * disk. */
static void on_durable(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    static const struct error stopping = {ERROR_UNAVAILABLE, "the server is stopping"};
    struct active_run *active = arg;
    const struct run_spec *spec = active->run->spec;
    struct judgement judgement = {
        .base = {.last = (int)spec->baseline.last, .likeness = spec->baseline.like}};

    (void)events, (void)n_events;
    if (err || active->scheduler->is_closing) {
        on_judged(active, &stopping, NULL);
        return;
    }
    judgement.doc = run_to_json(active->run, RUN_PACKED);
    json_object_set_new(judgement.doc, "state",
                        json_string(run_state_name(RUN_COMPLETED)));
    explain_not_again(active, judgement.not_again, sizeof(judgement.not_again));
    active_runs_note_ends(active->scheduler->runs, active->scheduler->judge_queue);
    judge_queue_add(active->scheduler->judge_queue, &judgement, on_judged, active);
}

/* Wait until the results are on disk. An empty write completes after all earlier writes.
 * With `retry`, it also waits while the disk is full, unlike store_settle(). */
static void judge_later(struct active_run *active)
{
    active->is_judged = true;
    store_submit(active->scheduler->services.store, store_write_create(), true,
                 on_durable, active);
}

/* Return the verdict on a run that did not complete. This verdict needs no results. */
static json_t *judge_unfinished(const struct active_run *active, enum run_state state,
                                const char *reason)
{
    json_t *doc = run_to_json(active->run, RUN_STORED);
    const struct gate_run run = {
        .doc = doc, .state = run_state_name(state), .reason = reason};
    json_t *verdict = gate_judge(&run);

    json_decref(doc);
    return verdict;
}

static void end_now(struct active_run *active, enum run_state state, const char *reason)
{
    const struct run_spec *spec = active->run->spec;

    if (!spec->baseline.given && json_object_size(spec->thresholds) == 0)
        tell_end(active, state, reason, NULL);
    else if (state == RUN_COMPLETED)
        judge_later(active);
    else
        tell_end(active, state, reason, judge_unfinished(active, state, reason));
}

/* ---- A run's batch job ---- */

/* Return true if the batch engine may know why the run failed, for example because the
 * job ended. */
static bool asks_job(const struct active_run *active, enum run_state state)
{
    return state == RUN_FAILED && active->run->spec->launch.name &&
           active->scheduler->config.jobs && active->run->started_ms;
}

void run_end(struct active_run *active, enum run_state state, const char *reason)
{
    wake_queue(active->scheduler->services.wake); /* other runs may now use the nodes */
    if (!asks_job(active, state)) {
        end_now(active, state, reason);
        return;
    }
    active->is_judged = true;
    active->failed_reason = memory_text(reason ? reason : "", "a run's end");
    active->asks_until_ns =
        clock_read(active->scheduler->services.clock).monotonic_ns + ASK_JOB_NS;
}

void run_end_tick(struct active_run *active, int64_t now_ns)
{
    char text[JOB_TEXT_MAX], *reason = NULL;
    bool may_answer =
        jobs_ask(active->scheduler->config.jobs, active->run->spec->nodes.group, text);

    if (may_answer && now_ns < active->asks_until_ns)
        return;
    if (text[0] && asprintf(&reason, "%s; %s", active->failed_reason, text) < 0)
        memory_out("a run's end");
    active->is_judged = false;
    active->asks_until_ns = 0;
    end_now(active, RUN_FAILED, reason ? reason : active->failed_reason);
    free(reason);
}
