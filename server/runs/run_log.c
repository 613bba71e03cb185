/* run_log.c - the log of a run: events are folded, written, then shown */
#include "server/runs/run_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/spec/run_matrix.h"
#include "server/runs/active_run.h"
#include "server/runs/blame.h"
#include "server/runs/run.h"
#include "server/runs/run_nodes.h"
#include "server/runs/run_watches.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"

void run_log_publish(struct active_run *active, const struct store_event *event)
{
    active->scheduler->counters.events++;
    run_watches_tell(active->watches, event);
}

/* An event on its way to the disk. */
struct append {
    struct active_run *active;
    run_log_then *then;
    int case_no;
};

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct append *append = arg;
    struct active_run *active = append->active;
    struct scheduler *scheduler = active->scheduler;

    if (err)
        log_error("run %s: can't store an event: %s", active->run->id, err->text);
    for (size_t i = 0; !err && i < n_events; i++)
        run_log_publish(active, &events[i]);
    if (!err && append->then && !scheduler->is_closing)
        append->then(active, append->case_no);
    free(append);
    active_run_unref(active);
    scheduler_release(scheduler);
}

/* Lists find a run by its state, its nodes and its labels. */
static bool changes_row(const char *type)
{
    return strcmp(type, "state") == 0 || strcmp(type, "placed") == 0 ||
           strcmp(type, "edit") == 0;
}

/* What an earlier attempt measured is not of the run that goes on. */
static bool starts_anew(const char *type, const json_t *body)
{
    return strcmp(type, "case") == 0 &&
           strcmp(json_get_str(body, "state", ""), case_state_name(CASE_QUEUED)) == 0;
}

void run_log_write_row(struct store_write *write, const struct run *run)
{
    json_t *doc = run_to_json(run, run_has_ended(run) ? RUN_WHOLE : RUN_STORED);

    store_write_run(write, run->id, run_state_name(run->state), run->spec->name,
                    run->created_ms, json_object_get(run->editable, "labels"), doc);
    json_decref(doc);
}

void run_log_add(struct active_run *active, struct store_write *write, int64_t time_ms,
                 const char *type, const json_t *body)
{
    struct run *run = active->run;

    run_fold(run, time_ms, type, body);
    store_write_event(write, run->id, time_ms, type, body);
    if (starts_anew(type, body))
        store_write_disown(write, run->id, (int)json_get_int(body, "case", 0));
    if (changes_row(type))
        run_log_write_row(write, run);
}

void run_log_append(struct active_run *active, const char *type, json_t *body,
                    run_log_then *then)
{
    struct store_write *write = store_write_create();
    struct append *append = memory_zeroed(1, sizeof(*append), "an event");

    run_log_add(active, write, scheduler_now(active->scheduler).wall_ms, type, body);
    *append = (struct append){active, then, (int)json_get_int(body, "case", -1)};
    json_decref(body);
    active->pending++;
    scheduler_hold(active->scheduler);
    store_submit(active->scheduler->config.store, write, true, on_written, append);
}

/* ---- The server's own events ---- */

void run_log_state(struct active_run *active, enum run_state state, const char *reason)
{
    run_log_append(active, "state",
                   json_pack("{s:s, s:o?}", "state", run_state_name(state), "reason",
                             json_clean_string(reason)),
                   NULL);
}

static json_t *case_body(const struct active_run *active, size_t index, int attempt,
                         enum case_state state, const char *reason)
{
    const struct run_spec *spec = active->run->spec;
    size_t turn = run_case_turn(active->run, index);
    json_t *env = run_matrix_env(spec, turn);
    json_t *body = json_pack("{s:i, s:i, s:i, s:s, s:o?}", "case", (int)index, "repeat",
                             run_matrix_repeat(spec, turn), "attempt", attempt, "state",
                             case_state_name(state), "reason", json_clean_string(reason));

    if (env)
        json_object_set_new(body, "env", env);
    if (active->run->cases[index].on.items)
        json_object_set_new(body, "nodes",
                            run_nodes_names(&active->run->cases[index].on));
    return body;
}

void run_log_case(struct active_run *active, size_t index, int attempt,
                  enum case_state state, const char *reason, run_log_then *then)
{
    run_log_append(active, "case", case_body(active, index, attempt, state, reason),
                   then);
}

void run_log_case_end(struct active_run *active, size_t index, int attempt,
                      const struct case_end *end)
{
    char reason[BLAME_SENTENCE_SIZE];
    json_t *body;

    if (end->blamed)
        blame_sentence(end->blamed, reason, sizeof(reason));
    body = case_body(active, index, attempt, end->blamed ? CASE_FAILED : end->state,
                     end->blamed ? reason : end->reason);
    if (end->blamed)
        json_object_set(body, "blamed", end->blamed);
    if (end->transports)
        json_object_set(body, "transports", end->transports);
    run_log_append(active, "case", body, NULL);
}

/* How long the run has been under way by the clock that nobody sets. */
static int64_t ran_ms(const struct active_run *active)
{
    int64_t left_ns = active->deadline_ns - scheduler_now(active->scheduler).monotonic_ns;

    return active->run->spec->timeout_s * 1000 - left_ns / 1000000;
}

void run_log_message(struct active_run *active, const char *level, const char *format,
                     ...)
{
    char text[1024];
    json_t *body;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    body = json_pack("{s:s, s:o}", "level", level, "text", json_clean_string(text));
    if (active->run->started_ms)
        json_object_set_new(body, "ran_ms", json_integer((json_int_t)ran_ms(active)));
    run_log_append(active, "message", body, NULL);
}
