/* SPDX-License-Identifier: Apache-2.0 */
/* recover.c - resumes the runs that had not ended when the server last stopped */
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/time_scale.h"
#include "server/runs/cases.h"
#include "server/runs/last_checks.h"
#include "server/runs/last_figures.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"

/* number of latest runs whose verdicts and values are loaded */
#define VERDICTS_LOADED 1000

/* Resume the running cases, whose workers still run. A case in rendezvous lost its
 * rendezvous store with the server, so it starts again. */
static void resume_cases(struct cases *cases, struct run_log *log, const json_t *told)
{
    const struct run *run = run_log_run(log);
    char key[24];

    for (size_t i = 0; run->cases && i < run->n_cases; i++) {
        const struct run_case *c = &run->cases[i];

        snprintf(key, sizeof(key), "%zu", i);
        if (c->state == CASE_RUNNING)
            cases_resume(cases, log, i, json_object_get(told, key));
        else if (c->state == CASE_RENDEZVOUS)
            run_log_case(log, i, c->attempt, CASE_QUEUED,
                         "the server restarted during the rendezvous; starting again");
    }
}

/* ---- A run's log ---- */

/* A run that is being rebuilt from its log. */
struct replay {
    struct run *run;
    /* for each case under way, by number: its events that report transports */
    json_t *told;
};

/* Keep transport reports for the cases under way, because ranks send them only once. */
static void keep_told(struct replay *replay, const char *type, const json_t *body)
{
    char key[24];

    snprintf(key, sizeof(key), "%lld", (long long)json_get_int(body, "case", -1));
    if (strcmp(type, "case") == 0 &&
        strcmp(json_get_str(body, "state", ""), case_state_name(CASE_RUNNING)) != 0)
        json_object_del(replay->told, key);
    if (!json_object_get(body, "log") && !json_object_get(body, "each"))
        return;
    if (!json_object_get(replay->told, key))
        json_object_set_new(replay->told, key, json_array());
    json_array_append(json_object_get(replay->told, key), (json_t *)(uintptr_t)body);
}

static void on_event(void *arg, int64_t time_ms, const char *type, const json_t *body)
{
    struct replay *replay = arg;

    run_fold(replay->run, time_ms, type, body);
    keep_told(replay, type, body);
}

static void on_result(void *arg, const struct result_record *record, const json_t *key,
                      const json_t *body)
{
    struct replay *replay = arg;

    run_fold_result(replay->run, record, key, body);
}

static const struct store_log_taker replayer = {.event = on_event, .result = on_result};

/* Return the run time at the run's last stored event, in ns. The time without a running
 * server does not count. */
static int64_t ran_ns(const struct run *run, int64_t head_ms)
{
    int64_t since_ms = head_ms > run->ran_at_ms ? head_ms - run->ran_at_ms : 0;
    int64_t most_ms = run->spec->timeout_s * INT64_C(1000);
    int64_t ran_ms = run->ran_ms > 0 ? run->ran_ms : 0;

    ran_ms = ran_ms < most_ms ? ran_ms : most_ms;
    ran_ms += since_ms < most_ms - ran_ms ? since_ms : most_ms - ran_ms;
    return ran_ms * INT64_C(1000000);
}

/* ---- All runs ---- */

/* End a run that an earlier server accepted and this server rejects. Clients can delete
 * such a run like any other. */
static void give_up(struct scheduler *scheduler, const json_t *doc, const char *reason)
{
    struct store_write *write = store_write_create();
    const char *id = json_get_str(doc, "id", ""), *state = run_state_name(RUN_FAILED);
    int64_t now_ms = clock_read(scheduler->services.clock).wall_ms;
    json_t *body =
        json_pack("{s:s, s:o}", "state", state, "reason", json_clean_string(reason));
    json_t *ended = json_copy((json_t *)(uintptr_t)doc);
    char text[CLOCK_TEXT_MAX];

    log_warn("%s", reason);
    json_object_update(ended, body);
    json_object_set_new(ended, "ended", json_string(clock_format_ms(now_ms, text)));
    store_write_run(write, id, state, json_get_str(doc, "name", ""),
                    clock_parse_ms(json_get_str(doc, "created", NULL)),
                    json_object_get(doc, "labels"), ended);
    store_write_event(write, id, now_ms, "state", body);
    json_decref(body);
    json_decref(ended);
    store_submit(scheduler->services.store, write, true, NULL, NULL);
}

struct recovery {
    struct scheduler *scheduler;
    size_t n; /* number of resumed runs */
};

static int take_up(void *arg, struct store_recall *recall, const struct store_run *found,
                   struct error *err)
{
    struct recovery *recovery = arg;
    struct scheduler *scheduler = recovery->scheduler;
    struct replay replay = {run_create_again(found->doc, err), json_object()};
    struct run_log *log;
    int result = 0;

    if (!replay.run) {
        give_up(scheduler, found->doc, err->text);
    } else if (store_recall_log(recall, replay.run->id, &replayer, &replay, err)) {
        run_destroy(replay.run);
        result = -1;
    } else {
        recovery->n++;
        log = scheduler_add(scheduler, replay.run, found->head);
        if (replay.run->started_ms) {
            run_log_begin(log, ran_ns(replay.run, found->head_ms));
            run_log_message(log, "warn", "the server restarted");
            resume_cases(scheduler->cases, log, replay.told);
        }
    }
    json_decref(replay.told);
    return result;
}

/* Restore the latest answers of checks, for clients that monitor them. */
static int load_checks(struct scheduler *scheduler, struct error *err)
{
    json_t *runs = store_load_verdicts(scheduler->services.store, VERDICTS_LOADED, err);

    if (!runs)
        return -1;
    for (size_t i = json_array_size(runs); i > 0; i--) {
        const json_t *run = json_array_get(runs, i - 1);

        last_checks_note(scheduler->checks, json_get_str(run, "name", ""),
                         clock_parse_ms(json_get_str(run, "ended", NULL)),
                         json_object_get(run, "verdict"));
    }
    json_decref(runs);
    return 0;
}

static int load_figures(struct scheduler *scheduler, struct error *err)
{
    json_t *runs = store_load_values(scheduler->services.store, VERDICTS_LOADED, err);
    json_t *values;
    size_t i;

    json_array_foreach (runs, i, values)
        last_figures_note(scheduler->figures, values);
    json_decref(runs);
    return runs ? 0 : -1;
}

int scheduler_recover(struct scheduler *scheduler, struct error *err)
{
    struct recovery recovery = {scheduler, 0};

    if (load_checks(scheduler, err) || load_figures(scheduler, err))
        return -1;
    /* Wait for one lease plus the agents' longest backoff. */
    cases_await_nodes(scheduler->cases,
                      clock_read(scheduler->services.clock).monotonic_ns +
                          scaled_s_to_ns(scheduler->config.lease_s) + scaled_s_to_ns(10));
    if (store_recall_runs(scheduler->services.store, false, take_up, &recovery, err))
        return -1;
    if (recovery.n > 0)
        log_info("resumed %zu unfinished run%s", recovery.n, recovery.n == 1 ? "" : "s");
    return 0;
}
