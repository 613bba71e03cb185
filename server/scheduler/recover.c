/* recover.c - runs that were under way when the server last stopped */
#include <string.h>

#include "common/clock.h"
#include "common/json_util.h"
#include "common/log.h"
#include "server/scheduler/state.h"

/* The model anew from its document and its events. */
static struct run *rebuild(const json_t *doc, const json_t *events, int64_t *head,
                           struct error *err)
{
    const char *id = json_get_str(doc, "id", "");
    struct problems problems;
    struct run_spec *spec;
    struct run *run = NULL;

    problems_init(&problems);
    spec = run_spec_parse(json_object_get(doc, "spec"), &problems);
    if (spec)
        run = run_create(id, spec, clock_parse_ms(json_get_str(doc, "created", NULL)));
    if (!run)
        error_set(err, ERROR_INVALID, "run %s: its stored spec is not valid any more",
                  id);
    problems_release(&problems);
    for (size_t i = 0; run && i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);

        run_apply(run, clock_parse_ms(json_get_str(event, "time", NULL)),
                  json_get_str(event, "type", ""), event);
        *head = json_get_int(event, "id", *head);
    }
    return run;
}

/* The case that was under way goes on where its workers are; one that was still gathering
 * lost its rendezvous with the server and starts again. */
static void resume_cases(struct active_run *active)
{
    struct run *run = active->run;

    for (size_t i = 0; i < run->n_cases; i++) {
        struct run_case *c = &run->cases[i];

        if (c->state == CASE_RUNNING) {
            if (!live_case_resume(active, i))
                emit_case(active, i, c->attempt, CASE_FAILED, "out of memory", NULL);
        } else if (c->state == CASE_RENDEZVOUS) {
            emit_case(active, i, c->attempt, CASE_QUEUED,
                      "the server restarted during the rendezvous; starting again", NULL);
        }
    }
}

static int recover_run(struct scheduler *scheduler, const json_t *doc, struct error *err)
{
    const char *id = json_get_str(doc, "id", "");
    json_t *events = store_load_events(scheduler->config.store, id, err);
    struct active_run *active;
    struct run *run;
    int64_t head = 0;

    if (!events)
        return -1;
    run = rebuild(doc, events, &head, err);
    json_decref(events);
    if (!run) {
        log_warn("%s; it is left as it is", err->text);
        return 0;
    }
    /* The end was stored with its event, so a run that has ended is not loaded; one whose
     * row lagged behind needs nothing more than that row. */
    active = active_run_add(scheduler, run);
    if (!active) {
        run_destroy(run);
        return error_set(err, ERROR_MEMORY, "out of memory");
    }
    active->head = head;
    if (run->started_ms)
        active->deadline_ns = clock_monotonic_ns() +
                              run->spec->timeout_s * INT64_C(1000000000) -
                              (clock_wall_ms() - run->started_ms) * INT64_C(1000000);
    emit_message(active, "warn", "the server restarted");
    resume_cases(active);
    return 0;
}

/* What earlier runs took, the oldest first. */
static int load_history(struct scheduler *scheduler, struct error *err)
{
    json_t *docs = store_load_completed(scheduler->config.store, HISTORY_RUNS, err);

    if (!docs)
        return -1;
    for (size_t i = json_array_size(docs); i > 0; i--)
        history_add(scheduler->history, json_array_get(docs, i - 1));
    json_decref(docs);
    return 0;
}

int scheduler_recover(struct scheduler *scheduler, struct error *err)
{
    json_t *docs = store_load_unfinished(scheduler->config.store, err);
    int result = 0;

    if (docs && load_history(scheduler, err)) {
        json_decref(docs);
        return -1;
    }
    if (!docs)
        return -1;
    /* Agents come back within their longest back-off; more than a lease is too late. */
    scheduler->recovering_until_ns =
        clock_monotonic_ns() + (scheduler->config.lease_s + 10) * INT64_C(1000000000);
    for (size_t i = 0; i < json_array_size(docs) && !result; i++)
        result = recover_run(scheduler, json_array_get(docs, i), err);
    if (json_array_size(docs) > 0)
        log_info("took up %zu unfinished runs", json_array_size(docs));
    json_decref(docs);
    return result;
}
