/* run_end.c - the end of a run: its checks are judged, then it is told */
#include "server/runs/run_end.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/analysis/gate.h"
#include "server/finding/verdict.h"
#include "server/launch/jobs.h"
#include "server/nodes/node.h"
#include "server/plan/follow_up.h"
#include "server/runs/active_run.h"
#include "server/runs/base_check.h"
#include "server/runs/emit.h"
#include "server/runs/history.h"
#include "server/runs/run.h"
#include "server/runs/run_plan.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"

#define ASK_JOB_NS INT64_C(5000000000) /* that an engine has to say how a job ended */

/* Agents that came for one run leave after it. */
static void dismiss_nodes(struct active_run *active)
{
    const struct run *run = active->run;

    for (size_t i = 0; i < run->pool.n; i++) {
        struct node *node = node_find(&active->scheduler->nodes, run->pool.items[i].name);

        if (node && node->state == NODE_ALIVE && node->once)
            node_command(node, json_pack("{s:s, s:s}", "type", "leave", "reason",
                                         "its one run has ended"));
    }
}

/* A run that has a reason to look for a slow node keeps its job for a while: only on the
 * same nodes can its follow-up find it. */
static void hold_job(struct active_run *active)
{
    const struct run *run = active->run;
    struct jobs *jobs = active->scheduler->config.jobs;
    json_t *doc, *follow_up;

    if (!jobs || !run->spec->launch.name || run->state == RUN_CANCELLED)
        return;
    doc = run_to_json(run, RUN_STORED);
    follow_up = follow_up_of(doc);
    if (json_is_string(json_object_get(follow_up, "why")))
        jobs_hold(jobs, run->spec->nodes.group);
    json_decref(follow_up);
    json_decref(doc);
}

/* What it took says something of the next ones. */
static void remember(const struct active_run *active)
{
    json_t *doc = NULL;

    if (active->run->state == RUN_COMPLETED)
        doc = run_to_json(active->run, RUN_STORED);
    if (doc)
        history_add(active->scheduler->history, doc);
    json_decref(doc);
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

/* verdict: stolen; NULL where no checks were asked for. */
static void tell_end(struct active_run *active, enum run_state state, const char *reason,
                     json_t *verdict)
{
    json_t *body = json_pack("{s:s, s:o?}", "state", run_state_name(state), "reason",
                             json_clean_string(reason));
    const char *slow = json_get_str(gate_failed(verdict), "sentence", NULL);
    json_t *lateness = run_lateness(active->run, slow);
    json_t *culprit = run_plan_verdict(active->run);
    json_t *traffic =
        carried_verdict(&active->run->carried,
                        verdict_mark(active->run->backend, active->run->is_emulated));

    if (verdict)
        json_object_set_new(body, "verdict", verdict);
    if (lateness)
        json_object_set_new(body, "lateness", lateness);
    if (culprit)
        json_object_set_new(body, "culprit", culprit);
    if (traffic)
        json_object_set_new(body, "traffic", traffic);
    count(&active->scheduler->counters, state);
    log_info("run %s %s%s%s", active->run->id, run_state_name(state), reason ? ": " : "",
             reason ? reason : "");
    emit(active, "state", body, NULL);
    last_checks_note(&active->scheduler->checks, active->run->spec->name,
                     active->run->ended_ms, active->run->verdict);
    remember(active);
    hold_job(active);
    dismiss_nodes(active);
}

/* ---- Its checks ---- */

/* A run that is over, and what is known of it. */
struct ending {
    struct active_run *active;
    enum run_state state;
    char *reason;
    json_t *doc;
    struct summary *summary; /* once read, or NULL */
};

static void ending_free(struct ending *ending)
{
    json_decref(ending->doc);
    summary_destroy(ending->summary);
    free(ending->reason);
    free(ending);
}

static bool asks_checks(const struct run_spec *spec)
{
    return spec->baseline.given || json_object_size(spec->thresholds) > 0;
}

/* base: what came of the comparison with its baseline; NULL: that was not tried.
 * not_again: why it can't be measured again, or NULL. */
static json_t *judge(const struct ending *ending, const struct base_answer *base,
                     const char *not_again)
{
    struct gate_run run = {.doc = ending->doc,
                           .state = run_state_name(ending->state),
                           .reason = ending->reason,
                           .summary = ending->summary,
                           .compared = base ? base->document : NULL,
                           .against = base ? base->against : NULL,
                           .not_compared = base ? base->why : NULL,
                           .again = base ? base->again : NULL,
                           .lasting = base ? base->lasting : NULL,
                           .not_again = not_again};
    json_t *verdict;

    verdict = gate_judge(&run);
    if (!verdict)
        memory_out("a run's verdict");
    return verdict;
}

/* ---- Once more ---- */

/* Why the run can't be measured again; NULL: it can. */
static const char *not_again(const struct active_run *active, char *text, size_t size)
{
    const struct run *run = active->run;
    struct clock_time now = scheduler_now(active->scheduler);
    int64_t taken_ns = (now.wall_ms - run->started_ms) * INT64_C(1000000);

    if (run_plan_confirms(run)) {
        const char *reason = run->cases[run->n_cases - 1].reason;

        snprintf(text, size, "%.200s", reason ? reason : "its cases did not complete");
        return text;
    }
    for (size_t i = 0; i < run->pool.n; i++) {
        const struct node *node =
            node_find(&active->scheduler->nodes, run->pool.items[i].name);

        if (!node || node->state != NODE_ALIVE) {
            snprintf(text, size, "node %.200s is not there", run->pool.items[i].name);
            return text;
        }
    }
    if (active->deadline_ns && now.monotonic_ns + taken_ns > active->deadline_ns)
        return "the run's timeout_s leaves no time for it";
    return NULL;
}

static void measure_again(struct active_run *active)
{
    emit_message(active, "info", "slower than usual: all cases are measured again");
    emit(active, "plan", run_plan_again(active->run), NULL);
    active->is_judged = false;
    scheduler_wake(active->scheduler);
}

static void finish(void *arg, const struct base_answer *base)
{
    struct ending *ending = arg;
    struct active_run *active = ending->active;
    struct scheduler *scheduler = active->scheduler;
    json_t *verdict = NULL;
    char text[256];

    /* A server that stops leaves the run as it is: the next one judges it. */
    if (!scheduler->is_closing)
        verdict = judge(ending, base, NULL);
    if (verdict && gate_wants_again(verdict)) {
        const char *why = not_again(active, text, sizeof(text));

        json_decref(verdict);
        verdict = why ? judge(ending, base, why) : NULL;
        if (!why)
            measure_again(active);
    }
    if (verdict)
        tell_end(active, ending->state, ending->reason, verdict);
    ending_free(ending);
    active_run_unref(active);
    scheduler_release(scheduler);
}

static void compare_with_base(struct ending *ending)
{
    struct scheduler *scheduler = ending->active->scheduler;
    const struct run_spec *spec = ending->active->run->spec;
    struct store_base_query query = {.last = (int)spec->baseline.last,
                                     .likeness = spec->baseline.like};
    /* Shared with no other thread. */
    json_t *doc = json_deep_copy(ending->doc);

    json_object_set_new(doc, "state", json_string(run_state_name(ending->state)));
    base_check_start(scheduler->loop, scheduler->config.store, doc, &query, finish,
                     ending);
}

static void on_summary(void *arg, const struct error *err, struct summary *summary)
{
    struct ending *ending = arg;
    const struct active_run *active = ending->active;

    if (err && err->code == ERROR_MEMORY)
        memory_out("a run's results");
    if (err)
        log_warn("run %s: can't read its results to judge them: %s", active->run->id,
                 err->text);
    ending->summary = summary;
    if (active->run->spec->baseline.given && !active->scheduler->is_closing)
        compare_with_base(ending);
    else
        finish(ending, NULL);
}

static void on_durable(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct ending *ending = arg;
    struct scheduler *scheduler = ending->active->scheduler;
    static const struct summary_query query = {
        .up_to = INT64_MAX, .points = SIZE_MAX, .by = SUMMARY_BY_COMBINATION};

    (void)events, (void)n_events;
    if (err || scheduler->is_closing)
        finish(ending, NULL);
    else
        store_read_summary(scheduler->config.store, ending->doc, &query, on_summary,
                           ending);
}

/* All results are on disk when a write of nothing that is queued behind them is. */
static void await_results(struct ending *ending)
{
    struct active_run *active = ending->active;

    active->is_judged = true;
    active->pending++;
    scheduler_hold(active->scheduler);
    store_submit(active->scheduler->config.store, store_write_create(), true, on_durable,
                 ending);
}

static void end_now(struct active_run *active, enum run_state state, const char *reason)
{
    struct ending *ending;
    json_t *doc;

    if (!asks_checks(active->run->spec)) {
        tell_end(active, state, reason, NULL);
        return;
    }
    doc = run_to_json(active->run, RUN_WHOLE);
    ending = doc ? calloc(1, sizeof(*ending)) : NULL;
    if (!ending)
        memory_out("a run's checks");
    ending->active = active;
    ending->state = state;
    ending->reason = reason ? strdup(reason) : NULL;
    ending->doc = doc;
    if (gate_needs_results(json_object_get(doc, "spec"), run_state_name(state))) {
        await_results(ending);
        return;
    }
    tell_end(active, state, reason, judge(ending, NULL, NULL));
    ending_free(ending);
}

/* ---- Its job ---- */

/* The engine may say why the nodes have gone. */
static bool asks_job(const struct active_run *active, enum run_state state)
{
    return state == RUN_FAILED && active->run->spec->launch.name &&
           active->scheduler->config.jobs && active->run->started_ms;
}

void run_end(struct active_run *active, enum run_state state, const char *reason)
{
    scheduler_wake_queue(active->scheduler); /* its nodes are free */
    if (!asks_job(active, state)) {
        end_now(active, state, reason);
        return;
    }
    active->is_judged = true;
    active->failed_reason = strdup(reason ? reason : "");
    active->asks_until_ns = scheduler_now(active->scheduler).monotonic_ns + ASK_JOB_NS;
}

void run_end_tick(struct active_run *active, int64_t now_ns)
{
    char text[JOB_TEXT_MAX], *reason = NULL;
    bool may_answer =
        jobs_ask(active->scheduler->config.jobs, active->run->spec->nodes.group, text);

    if (may_answer && now_ns < active->asks_until_ns)
        return;
    if (text[0] && asprintf(&reason, "%s; %s", active->failed_reason, text) < 0)
        reason = NULL;
    active->is_judged = false;
    active->asks_until_ns = 0;
    end_now(active, RUN_FAILED, reason ? reason : active->failed_reason);
    free(reason);
}
