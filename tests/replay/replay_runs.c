/* replay_runs.c - compare each run of a database with what its log of events adds up to
 *
 * usage: replay_runs DIR, where no server uses DIR/ringbench.db
 *
 * A run that has ended is compared as it is stored, one that has not as a server that
 * starts would take it up. Prints where they differ; exits 1 when any does. */
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
#include "server/runs/recall.h"
#include "server/runs/run.h"
#include "server/store/store.h"

#define RUNS_PER_PAGE 100
#define EVENTS_PER_PAGE 10000
#define DIFFERENCES_SHOWN 5
#define TEXT_SHOWN 300

/* How long the run has taken, for the next start of a server: depends on the time. */
static const char elapsed[] = "elapsed";

/* The imported text sets these members; no event of the log repeats them. */
static const char *const of_imports[] = {"imported", "rows_total"};

struct world {
    uv_loop_t loop;
    struct store *store;
    json_t *taken_up; /* documents of unfinished runs by id */
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
    json_t *json;
    struct store_events *events;
};

static void on_json(void *arg, const struct error *err, json_t *result)
{
    struct answer *answer = arg;

    if (err)
        die("can't read", err);
    answer->json = result;
    answer->has_come = true;
}

static void on_events(void *arg, const struct error *err, struct store_events *events)
{
    struct answer *answer = arg;

    if (err)
        die("can't read events", err);
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

static int take_up(void *arg, struct store_recall *recall,
                   const struct store_unfinished *found, struct error *err)
{
    struct world *world = arg;
    struct run *run = run_restore(found->doc, err);

    if (!run && err->code == ERROR_INVALID)
        return 0; /* a server would end it */
    if (!run || (run->pool.n > 0 && recall_results(run, recall, err)))
        die("can't take up a run", err);
    json_object_set_new(world->taken_up, run->id, document(run));
    run_destroy(run);
    return 0;
}

/* ---- The log ---- */

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
        run_apply(run, event->time_ms, event->type, body);
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

/* Cases that have not begun are not stored. */
static void drop_waiting(json_t *doc, const struct run *run)
{
    json_t *cases = json_object_get(doc, "cases");

    while (json_array_size(cases) > run_begun_cases(run))
        json_array_remove(cases, json_array_size(cases) - 1);
}

/* ---- Comparing ---- */

struct comparison {
    const char *run;
    int n; /* differences */
};

static void tell(struct comparison *comparison, const char *pointer, const json_t *shown,
                 const json_t *replayed)
{
    char *a = shown ? json_dumps(shown, JSON_ENCODE_ANY) : NULL;
    char *b = replayed ? json_dumps(replayed, JSON_ENCODE_ANY) : NULL;

    if (++comparison->n <= DIFFERENCES_SHOWN)
        fprintf(stderr, "run %s: %s is %.*s, but its log says %.*s\n", comparison->run,
                pointer, TEXT_SHOWN, a ? a : "absent", TEXT_SHOWN, b ? b : "absent");
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

static void drop_keys(json_t *a, json_t *b, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_object_del(a, keys[i]);
        json_object_del(b, keys[i]);
    }
}

static void check(struct world *world, json_t *shown)
{
    const char *id = json_get_str(shown, "id", "");
    struct comparison comparison = {.run = id};
    struct problems problems;
    struct run_spec *spec;
    struct run *run;
    json_t *replayed;

    problems_init(&problems);
    spec = run_spec_parse(json_object_get(shown, "spec"), &problems);
    problems_release(&problems);
    if (!spec)
        return;
    run = run_create(id, spec, clock_parse_ms(json_get_str(shown, "created", NULL)));
    apply_log(world, run, shown);
    replayed = document(run);
    drop_waiting(replayed, run);
    drop_waiting(shown, run);
    json_object_del(shown, elapsed);
    if (json_object_get(shown, "imported"))
        drop_keys(shown, replayed, of_imports,
                  sizeof(of_imports) / sizeof(of_imports[0]));
    compare(&comparison, "", shown, replayed);
    if (comparison.n > DIFFERENCES_SHOWN)
        fprintf(stderr, "run %s: %d more differences\n", id,
                comparison.n - DIFFERENCES_SHOWN);
    world->n_different += comparison.n > 0;
    world->n_runs++;
    json_decref(replayed);
    run_destroy(run);
}

static void check_run(struct world *world, const char *id)
{
    json_t *taken_up = json_object_get(world->taken_up, id);
    struct answer answer = {.has_come = false};

    if (taken_up) {
        check(world, taken_up);
        return;
    }
    store_read_run(world->store, id, on_json, &answer);
    await(world, &answer.has_come);
    check(world, answer.json);
    json_decref(answer.json);
}

static void check_all(struct world *world)
{
    struct store_runs_query query = {.limit = RUNS_PER_PAGE};
    json_t *page = NULL;

    do {
        struct answer answer = {.has_come = false};
        json_t *runs;

        query.cursor = json_get_str(page, "next", NULL);
        store_read_runs(world->store, &query, on_json, &answer);
        await(world, &answer.has_come);
        json_decref(page);
        page = answer.json;
        runs = json_object_get(page, "runs");
        for (size_t i = 0; i < json_array_size(runs); i++)
            check_run(world, json_get_str(json_array_get(runs, i), "id", ""));
    } while (json_get_str(page, "next", NULL));
    json_decref(page);
}

int main(int argc, char **argv)
{
    struct world world = {.taken_up = json_object()};
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
    if (store_recall_unfinished(world.store, take_up, &world, &err))
        die(argv[1], &err);
    check_all(&world);
    store_close(world.store, on_closed, &is_closed);
    await(&world, &is_closed);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    uv_loop_close(&world.loop);
    json_decref(world.taken_up);
    printf("%d of %d runs differ from their log\n", world.n_different, world.n_runs);
    return world.n_different > 0;
}
