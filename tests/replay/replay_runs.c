/* SPDX-License-Identifier: Apache-2.0 */
/* replay_runs.c - compare each run of a database with what its log of events adds up to
 *
 * usage: replay_runs DIR, where no server uses DIR/ringbench.db
 *
 * The texts of its events are folded one by one. They must add up to what a server that
 * starts makes of the same log, which reads results from a table of their own, and if the
 * run has ended, to the document that is stored. Prints where they differ; exits 1 when
 * any does. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "server/runs/run.h"
#include "server/store/store.h"
#include "tests/unit/store_reads.h"

#define EVENTS_PER_PAGE 10000
#define DIFFERENCES_SHOWN 5
#define TEXT_SHOWN 300

/* The imported text sets these members; no event of the log repeats them. */
static const char *const of_imports[] = {"imported", "rows_total"};

struct world {
    uv_loop_t loop;
    struct store *store;
    int n_runs, n_different;
};

static void die(const char *what, const struct error *err)
{
    fprintf(stderr, "replay_runs: %s: %s\n", what, err->text);
    exit(2);
}

/* ---- Reading ---- */

struct answer {
    bool has_come;
    struct store_events *events;
};

static void on_events(void *arg, const struct error *err, struct store_events *events)
{
    struct answer *answer = arg;

    if (err)
        die("cannot read events", err);
    answer->events = events;
    answer->has_come = true;
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void await(struct world *world, const bool *flag)
{
    while (!*flag)
        uv_run(&world->loop, UV_RUN_ONCE);
}

/* With figures as exact as in a document that is stored. */
static json_t *document(const struct run *run)
{
    json_t *doc = run_to_json(run, RUN_WHOLE);
    char *text = json_text(doc);
    json_t *stored = json_loads(text, 0, NULL);

    free(text);
    json_decref(doc);
    return stored;
}

/* ---- As a server takes it up ---- */

static void on_event(void *arg, int64_t time_ms, const char *type, const json_t *body)
{
    run_fold(arg, time_ms, type, body);
}

static void on_result(void *arg, const struct result_record *record, const json_t *key,
                      const json_t *body)
{
    run_fold_result(arg, record, key, body);
}

static const struct store_log_taker taker = {.event = on_event, .result = on_result};

/* ---- The texts of its log ---- */

/* Rows of an attempt that was given up count in no sum. */
static bool is_given_up(const json_t *shown, const char *type, const json_t *body)
{
    const json_t *c = json_array_get(json_object_get(shown, "cases"),
                                     (size_t)json_get_int(body, "case", -1));
    enum case_state state = case_state_lookup(json_get_str(c, "state", NULL));

    return strcmp(type, "result") == 0 &&
           (state == CASE_QUEUED || state == CASE_RENDEZVOUS ||
            json_get_int(body, "attempt", -1) != json_get_int(c, "attempt", -1));
}

static void apply(struct run *run, const json_t *shown, const struct store_event *event)
{
    static const char *const added[] = {"id", "time", "type"}; /* for clients */
    struct buf text;
    json_t *body;

    buf_init(&text, SIZE_MAX / 2);
    if (store_event_append(event, &text))
        abort();
    body = json_loadb(text.data, text.len, 0, NULL);
    for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
        json_object_del(body, added[i]);
    if (!is_given_up(shown, event->type, body))
        run_fold(run, event->time_ms, event->type, body);
    json_decref(body);
    buf_release(&text);
}

static void apply_log(struct world *world, struct run *run, const json_t *shown)
{
    int64_t after = 0;
    size_t n;

    do {
        struct answer answer = {.has_come = false};

        store_read_events(world->store, run->id, after, NULL, EVENTS_PER_PAGE, on_events,
                          &answer);
        await(world, &answer.has_come);
        n = answer.events->n;
        for (size_t i = 0; i < n; i++)
            apply(run, shown, &answer.events->list[i]);
        after = n ? answer.events->list[n - 1].id : after;
        store_events_destroy(answer.events);
    } while (n > 0);
}

/* Cases that have not begun need not be shown. */
static void drop_waiting(json_t *doc, const struct run *run)
{
    json_t *cases = json_object_get(doc, "cases");

    while (json_array_size(cases) > run_begun_cases(run))
        json_array_remove(cases, json_array_size(cases) - 1);
}

/* ---- Comparing ---- */

struct comparison {
    const char *run, *what;
    int n; /* differences */
};

static void tell(struct comparison *comparison, const char *pointer, const json_t *shown,
                 const json_t *replayed)
{
    char *a = shown ? json_dumps(shown, JSON_ENCODE_ANY) : NULL;
    char *b = replayed ? json_dumps(replayed, JSON_ENCODE_ANY) : NULL;

    if (++comparison->n <= DIFFERENCES_SHOWN)
        fprintf(stderr, "run %s, %s: %s is %.*s, but its log says %.*s\n",
                comparison->run, comparison->what, pointer, TEXT_SHOWN, a ? a : "absent",
                TEXT_SHOWN, b ? b : "absent");
    free(a);
    free(b);
}

/* Figures are stored with ten digits, and a median of them may lie between two. */
static bool is_near(const json_t *a, const json_t *b)
{
    double x = json_number_value(a), y = json_number_value(b);

    return json_is_real(a) && json_is_real(b) && fabs(x - y) <= 1e-9 * fabs(x);
}

static void compare(struct comparison *comparison, const char *pointer, json_t *shown,
                    json_t *replayed)
{
    size_t n = json_array_size(shown);
    char *inner = NULL;
    const char *key;
    json_t *value;

    if (shown && replayed && (json_equal(shown, replayed) || is_near(shown, replayed)))
        return;
    if (json_is_object(shown) && json_is_object(replayed)) {
        json_object_foreach (shown, key, value) {
            if (asprintf(&inner, "%s/%s", pointer, key) < 0)
                abort();
            compare(comparison, inner, value, json_object_get(replayed, key));
            free(inner);
        }
        json_object_foreach (replayed, key, value) {
            if (json_object_get(shown, key))
                continue;
            if (asprintf(&inner, "%s/%s", pointer, key) < 0)
                abort();
            tell(comparison, inner, NULL, value);
            free(inner);
        }
    } else if (json_is_array(shown) && json_array_size(replayed) == n) {
        for (size_t i = 0; i < n; i++) {
            if (asprintf(&inner, "%s/%zu", pointer, i) < 0)
                abort();
            compare(comparison, inner, json_array_get(shown, i),
                    json_array_get(replayed, i));
            free(inner);
        }
    } else {
        tell(comparison, pointer, shown, replayed);
    }
}

static void drop_of_imports(json_t *doc)
{
    for (size_t i = 0; i < sizeof(of_imports) / sizeof(of_imports[0]); i++)
        json_object_del(doc, of_imports[i]);
}

/* `what` is shown, and the log says `replayed`. */
static int compare_run(const char *what, const struct run *run, json_t *shown,
                       json_t *replayed)
{
    struct comparison comparison = {.run = run->id, .what = what};

    drop_waiting(shown, run);
    if (json_object_get(shown, "imported"))
        drop_of_imports(shown);
    compare(&comparison, "", shown, replayed);
    if (comparison.n > DIFFERENCES_SHOWN)
        fprintf(stderr, "run %s, %s: %d more differences\n", run->id, what,
                comparison.n - DIFFERENCES_SHOWN);
    return comparison.n;
}

static int check(void *arg, struct store_recall *recall, const struct store_run *found,
                 struct error *err)
{
    struct world *world = arg;
    struct run *taken_up = run_create_again(found->doc, err);
    struct run *run = taken_up ? run_create_again(found->doc, err) : NULL;
    json_t *stored = json_deep_copy(found->doc), *loaded, *replayed;
    bool is_import = json_object_get(stored, "imported") != NULL;
    int n = 0;

    if (!run) { /* a server would end it */
        json_decref(stored);
        return 0;
    }
    if (store_recall_log(recall, run->id, &taker, taken_up, err))
        die("cannot resume a run", err);
    loaded = document(taken_up);
    apply_log(world, run, run_has_ended(taken_up) ? stored : loaded);
    replayed = document(run);
    drop_waiting(replayed, run);
    if (is_import)
        drop_of_imports(replayed);
    if (is_import)
        drop_of_imports(loaded);
    n += compare_run("taken up", run, loaded, replayed);
    if (run_has_ended(run))
        n += compare_run("stored", run, stored, replayed);
    world->n_different += n > 0;
    world->n_runs++;
    json_decref(loaded);
    json_decref(replayed);
    json_decref(stored);
    run_destroy(taken_up);
    run_destroy(run);
    return 0;
}

int main(int argc, char **argv)
{
    struct world world = {.n_runs = 0};
    bool is_closed = false;
    struct error err;

    if (argc != 2) {
        fprintf(stderr, "usage: replay_runs DIR\n");
        return 2;
    }
    log_init("replay_runs", LOG_ERROR);
    uv_loop_init(&world.loop);
    world.store = store_open(&world.loop, argv[1], &err);
    if (!world.store)
        die(argv[1], &err);
    if (store_recall_runs(world.store, true, check, &world, &err))
        die(argv[1], &err);
    store_close(world.store, on_closed, &is_closed);
    await(&world, &is_closed);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    uv_loop_close(&world.loop);
    printf("%d of %d runs differ from their log\n", world.n_different, world.n_runs);
    return world.n_different > 0;
}
