/* SPDX-License-Identifier: Apache-2.0 */
/* run_log.c - applies events to a run, writes them to disk, then publishes them */
#include "server/runs/run_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/spec/run_matrix.h"
#include "server/runs/blame.h"
#include "server/runs/run.h"
#include "server/runs/run_nodes.h"
#include "server/runs/services.h"
#include "server/store/store.h"

struct scheduler_watch {
    LIST_ENTRY(scheduler_watch) entry;
    struct run_log *of; /* NULL once the log is destroyed */
    scheduler_event *event;
    void *arg;
};

struct run_log {
    const struct services *services;
    struct run *run;
    int64_t head; /* ID of the latest published event */
    LIST_HEAD(, scheduler_watch) watches;
    /* while watchers are notified: the next watcher to notify */
    struct scheduler_watch *next;
    size_t pending;   /* number of events being written to disk */
    int64_t began_ns; /* monotonic time at which the run would have begun without
                         interruptions */
    bool has_begun, is_done;
};

struct run_log *run_log_create(const struct services *services, struct run *run,
                               int64_t head)
{
    struct run_log *log = memory_zeroed(1, sizeof(*log), "a run");

    log->services = services;
    log->run = run;
    log->head = head;
    LIST_INIT(&log->watches);
    return log;
}

void run_log_destroy(struct run_log *log)
{
    struct scheduler_watch *watch;

    LIST_FOREACH (watch, &log->watches, entry)
        watch->of = NULL;
    run_destroy(log->run);
    free(log);
}

const struct run *run_log_run(const struct run_log *log)
{
    return log->run;
}

bool run_log_is_done(const struct run_log *log)
{
    return log->is_done;
}

/* ---- Watchers ---- */

struct scheduler_watch *run_log_watch(struct run_log *log, scheduler_event *event,
                                      void *arg)
{
    struct scheduler_watch *watch;

    if (log->is_done)
        return NULL;
    watch = memory_zeroed(1, sizeof(*watch), "a run's watcher");
    watch->of = log;
    watch->event = event;
    watch->arg = arg;
    LIST_INSERT_HEAD(&log->watches, watch, entry);
    return watch;
}

void scheduler_unwatch(struct scheduler_watch *watch)
{
    if (watch && watch->of) {
        if (watch->of->next == watch)
            watch->of->next = LIST_NEXT(watch, entry);
        LIST_REMOVE(watch, entry);
    }
    free(watch);
}

int64_t run_log_head(const struct run_log *log)
{
    return log->head;
}

/* Publish a durable event to all watchers; NULL: no more events will come. A callback may
 * remove any watcher. */
static void tell(struct run_log *log, const struct store_event *event)
{
    struct scheduler_watch *watch;

    if (event)
        log->head = event->id;
    for (watch = LIST_FIRST(&log->watches); watch; watch = log->next) {
        log->next = LIST_NEXT(watch, entry);
        watch->event(watch->arg, event);
    }
}

/* ---- Durable events ---- */

static void settle(struct run_log *log)
{
    log->pending--;
    if (log->pending > 0 || !run_has_ended(log->run))
        return;
    log->is_done = true;
    tell(log, NULL);
    wake_soon(log->services->wake);
}

void run_log_publish(struct run_log *log, const struct store_event *event)
{
    log->services->counters->events++;
    tell(log, event);
    settle(log);
}

void run_log_drop(struct run_log *log, const struct error *err)
{
    log_error("run %s: cannot store an event: %s", log->run->id, err->text);
    settle(log);
}

/* One of the server's own events, which is being written to disk. */
struct append {
    struct run_log *log;
    run_log_then *then;
    void *arg;
    size_t index;
};

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct append *append = arg;

    if (err)
        run_log_drop(append->log, err);
    for (size_t i = 0; !err && i < n_events; i++)
        run_log_publish(append->log, &events[i]);
    if (!err && append->then)
        append->then(append->arg, append->log, append->index);
    free(append);
}

/* ---- New events ---- */

/* Return true if the event changes a value by which lists of runs can be filtered: the
 * state, nodes or labels. */
static bool changes_row(const char *type)
{
    return strcmp(type, "state") == 0 || strcmp(type, "placed") == 0 ||
           strcmp(type, "edit") == 0;
}

/* Return true if a case starts again. Results of an earlier attempt then no longer
 * count. */
static bool starts_anew(const char *type, const json_t *body)
{
    return strcmp(type, "case") == 0 &&
           strcmp(json_get_str(body, "state", ""), case_state_name(CASE_QUEUED)) == 0;
}

void run_log_write_row(struct store_write *write, const struct run *run)
{
    json_t *doc = run_to_json(run, run_has_ended(run) ? RUN_PACKED : RUN_STORED);

    store_write_run(write, run->id, run_state_name(run->state), run->spec->name,
                    run->created_ms, json_object_get(run->editable, "labels"), doc);
    json_decref(doc);
}

void run_log_add(struct run_log *log, struct store_write *write, int64_t time_ms,
                 const char *type, const json_t *body)
{
    struct run *run = log->run;

    run_fold(run, time_ms, type, body);
    log->pending++;
    store_write_event(write, run->id, time_ms, type, body);
    if (starts_anew(type, body))
        store_write_disown(write, run->id, (int)json_get_int(body, "case", 0));
    if (changes_row(type))
        run_log_write_row(write, run);
}

static void append(struct run_log *log, const char *type, json_t *body,
                   const struct append *after)
{
    struct store_write *write = store_write_create();
    struct append *append = memory_zeroed(1, sizeof(*append), "an event");

    run_log_add(log, write, clock_read(log->services->clock).wall_ms, type, body);
    *append = *after;
    json_decref(body);
    store_submit(log->services->store, write, true, on_written, append);
    wake_soon(log->services->wake);
}

void run_log_append(struct run_log *log, const char *type, json_t *body)
{
    append(log, type, body, &(struct append){.log = log});
}

/* ---- The run's time ---- */

static int64_t now_ns(const struct run_log *log)
{
    return clock_read(log->services->clock).monotonic_ns;
}

void run_log_begin(struct run_log *log, int64_t ran_ns)
{
    log->began_ns = now_ns(log) - ran_ns;
    log->has_begun = true;
}

bool run_log_has_begun(const struct run_log *log)
{
    return log->has_begun;
}

int64_t run_log_ran_ns(const struct run_log *log)
{
    return log->has_begun ? now_ns(log) - log->began_ns : 0;
}

/* ---- The server's own events ---- */

void run_log_state(struct run_log *log, enum run_state state, const char *reason)
{
    run_log_append(log, "state",
                   json_pack("{s:s, s:o?}", "state", run_state_name(state), "reason",
                             json_clean_string(reason)));
}

static json_t *case_body(const struct run_log *log, size_t index, int attempt,
                         enum case_state state, const char *reason)
{
    const struct run_spec *spec = log->run->spec;
    size_t turn = run_case_turn(log->run, index);
    json_t *env = run_matrix_env(spec, turn);
    json_t *body = json_pack("{s:i, s:i, s:i, s:s, s:o?}", "case", (int)index, "repeat",
                             run_matrix_repeat(spec, turn), "attempt", attempt, "state",
                             case_state_name(state), "reason", json_clean_string(reason));

    if (env)
        json_object_set_new(body, "env", env);
    if (log->run->cases && log->run->cases[index].on.items)
        json_object_set_new(body, "nodes", run_nodes_names(&log->run->cases[index].on));
    return body;
}

void run_log_case(struct run_log *log, size_t index, int attempt, enum case_state state,
                  const char *reason)
{
    run_log_append(log, "case", case_body(log, index, attempt, state, reason));
}

void run_log_case_start(struct run_log *log, size_t index, int attempt,
                        run_log_then *then, void *arg)
{
    append(log, "case", case_body(log, index, attempt, CASE_RENDEZVOUS, NULL),
           &(struct append){log, then, arg, index});
}

void run_log_case_end(struct run_log *log, size_t index, int attempt,
                      const struct case_end *end)
{
    char reason[BLAME_SENTENCE_SIZE];
    json_t *body;

    if (end->blamed)
        blame_sentence(end->blamed, reason, sizeof(reason));
    body = case_body(log, index, attempt, end->blamed ? CASE_FAILED : end->state,
                     end->blamed ? reason : end->reason);
    if (end->blamed)
        json_object_set(body, "blamed", end->blamed);
    if (end->transports)
        json_object_set(body, "transports", end->transports);
    run_log_append(log, "case", body);
}

void run_log_message(struct run_log *log, const char *level, const char *format, ...)
{
    char text[1024];
    json_t *body;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    body = json_pack("{s:s, s:o}", "level", level, "text", json_clean_string(text));
    if (log->run->started_ms)
        json_object_set_new(body, "ran_ms",
                            json_integer((json_int_t)(run_log_ran_ns(log) / 1000000)));
    run_log_append(log, "message", body);
}
