/* SPDX-License-Identifier: Apache-2.0 */
/* make_results.c - fills a database with one completed large run, to measure how fast
 * the run opens
 *
 * usage: make_results DIR NUMBER rows|figures|logs|cut
 *
 * Prints the run's id. The run has many results, or with `logs` much output of its
 * ranks. `cut`: rows, and the server was killed during the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "server/store/store.h"

#define BATCH 1000
#define CASES 25 /* 5 environments, 5 times each */
#define ENVIRONMENTS 5
#define SERIES 10
#define RANKS 8
/* size of a log entry: an agent sends the bytes that one read returns */
#define LOG_BYTES 18000

static const char *const collectives[SERIES / 2] = {
    "all_reduce", "all_gather", "broadcast", "reduce_scatter", "alltoall"};

static json_t *env_of(int case_no)
{
    char value[8];

    snprintf(value, sizeof(value), "%d", case_no % ENVIRONMENTS);
    return json_pack("{s:s}", "NCCL_MIN_NCHANNELS", value);
}

static json_t *cases_json(int64_t now)
{
    char time[CLOCK_TEXT_MAX];
    json_t *cases = json_array();

    clock_format_ms(now, time);
    for (int i = 0; i < CASES; i++) {
        json_t *ranks = json_array();

        for (int rank = 0; rank < RANKS; rank++)
            json_array_append_new(ranks,
                                  json_pack("{s:i, s:s, s:s, s:n}", "rank", rank, "node",
                                            "node-1", "state", "done", "reason"));
        json_array_append_new(
            cases, json_pack("{s:i, s:i, s:i, s:s, s:n, s:s, s:s, s:o, s:o}", "case", i,
                             "repeat", i / ENVIRONMENTS, "attempt", 1, "state",
                             "completed", "reason", "started", time, "ended", time,
                             "ranks", ranks, "env", env_of(i)));
    }
    return cases;
}

/* Make the run look unfinished. */
static void cut_off(json_t *run)
{
    json_t *spec = json_pack("{s:{s:[s,s,s,s,s]}, s:i, s:s}", "matrix",
                             "NCCL_MIN_NCHANNELS", "0", "1", "2", "3", "4", "repeats",
                             CASES / ENVIRONMENTS, "order", "sequential");

    json_object_set_new(run, "spec", spec);
    json_object_set_new(run, "state", json_string("running"));
    json_object_set_new(run, "ended", json_null());
}

static json_t *run_json(const char *id, long results, bool is_program, int64_t now)
{
    char time[CLOCK_TEXT_MAX];
    json_t *run;

    clock_format_ms(now, time);
    run = json_pack(
        "{s:s, s:s, s:{}, s:s, s:n, s:s, s:s, s:s, s:s, s:i, s:[s], s:[{s:s, s:i}], "
        "s:{}, "
        "s:[], s:I, s:I, s:{s:{s:s, s:I, s:f, s:i}, s:i, s:i, s:{s:i, s:i, s:i, s:i}, "
        "s:[]}}",
        "id", id, "name", "large", "labels", "state", "completed", "reason", "created",
        time, "started", time, "ended", time, "backend", "host", "world_size", RANKS,
        "collectives", "all_reduce", "nodes", "name", "node-1", "ranks", RANKS, "spec",
        "cases", "rows_done", (json_int_t)results, "rows_total", (json_int_t)results,
        "summary", "headline", "collective", "all_reduce", "size", (json_int_t)1 << 28,
        "busbw_gbs", 9.0, "rows", 1, "wrong", 0, "skipped", 0, "cases", "completed",
        CASES, "failed", 0, "cancelled", 0, "skipped", 0, "curve");
    if (is_program)
        json_object_set_new(run, "program", json_string("train"));
    return run;
}

static double noise(void)
{
    return 1.0 + (double)(rand() % 1000) / 1e4;
}

static json_t *row_json(long number, long per_case)
{
    long in_case = number % per_case, series = in_case % SERIES;
    long size = (in_case / SERIES + 1) * 4096;
    double time = (20.0 + (double)size / 1e4) * noise();
    json_t *times = json_array();

    for (int rank = 0; rank < RANKS; rank++)
        json_array_append_new(times, json_real(time * noise()));
    return json_pack(
        "{s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:i, s:b, s:I, s:I, s:i, s:f, s:f, s:f, "
        "s:f, "
        "s:f, s:f, s:o, s:i, s:[]}",
        "case", (int)(number / per_case), "attempt", 1, "row", (int)in_case, "series",
        (int)series, "collective", collectives[series / 2], "dtype", "float32", "redop",
        "sum", "root", -1, "in_place", (int)(series % 2), "size", (json_int_t)size,
        "count", (json_int_t)(size / 4), "iters", 20, "time_us", time, "time_min_us",
        time * 0.95, "time_max_us", time * 1.05, "algbw_gbs", (double)size / time * 1e-3,
        "busbw_gbs", (double)size / time * 1.75e-3, "first_us", time * 3.0, "times_us",
        times, "wrong", 0, "errors");
}

static json_t *figure_json(long number, long per_case)
{
    long in_case = number % per_case;

    return json_pack("{s:i, s:i, s:s, s:f, s:s, s:b, s:i, s:{s:I}}", "case",
                     (int)(number / per_case), "attempt", 1, "metric", "loss", "value",
                     10.0 / (double)(in_case / RANKS + 1) * noise(), "unit", "",
                     "higher_is_better", 0, "rank", (int)(in_case % RANKS), "labels",
                     "step", (json_int_t)(in_case / RANKS));
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    (void)arg;
    (void)events;
    (void)n_events;
    if (err) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static void add_event(struct store_write *write, const char *id, int64_t time,
                      const char *type, json_t *body)
{
    store_write_event(write, id, time, type, body);
    json_decref(body);
}

static void add_case(struct store_write *write, const char *id, int64_t time, long number,
                     const char *state)
{
    add_event(
        write, id, time, "case",
        json_pack("{s:i, s:i, s:s}", "case", (int)number, "attempt", 1, "state", state));
}

/* End the previous case and begin the next one. */
static void add_turn(struct store_write *write, const char *id, int64_t time, long number)
{
    if (number > 0)
        add_case(write, id, time, number - 1, "completed");
    add_case(write, id, time, number, "rendezvous");
    add_case(write, id, time, number, "running");
}

static void add_start(struct store_write *write, const char *id, int64_t time)
{
    add_event(write, id, time, "placed",
              json_pack("{s:s, s:[{s:s, s:i}]}", "backend", "host", "nodes", "name",
                        "node-1", "ranks", RANKS));
    add_event(write, id, time, "state",
              json_pack("{s:s, s:n}", "state", "rendezvous", "reason"));
}

static void add_log(struct store_write *write, const char *id, int64_t time, long number)
{
    static char text[LOG_BYTES];

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 90 == 89 ? '\n' : (char)('a' + i % 26);
    store_write_log(write, id, time, (int)(number % CASES), (int)(number % RANKS),
                    "stdout", text, sizeof(text));
}

static void add(struct store_write *write, const char *id, int64_t time, const char *kind,
                long number, long per_case)
{
    if (strcmp(kind, "logs") == 0)
        add_log(write, id, time, number);
    else
        add_event(write, id, time, "result",
                  strcmp(kind, "figures") == 0 ? figure_json(number, per_case)
                                               : row_json(number, per_case));
}

static void fill(struct store *store, uv_loop_t *loop, const char *id, long results,
                 const char *kind)
{
    bool is_cut = strcmp(kind, "cut") == 0;
    int64_t now = clock_wall_ms();
    long per_case = results / CASES;
    json_t *doc = run_json(id, per_case * CASES, strcmp(kind, "figures") == 0, now);
    json_t *cases = cases_json(now);

    if (is_cut)
        cut_off(doc);
    else
        json_object_set(doc, "cases", cases);
    for (long i = 0; i < per_case * CASES;) {
        struct store_write *write = store_write_create();

        if (i == 0) {
            store_write_run(write, id, is_cut ? "running" : "completed", "large", now,
                            NULL, doc);
            add_start(write, id, now);
            add_event(write, id, now, "state",
                      json_pack("{s:s, s:n}", "state", "running", "reason"));
        }
        for (long end = i + BATCH; i < end && i < per_case * CASES; i++) {
            if (i % per_case == 0)
                add_turn(write, id, now + i, i / per_case);
            add(write, id, now + i, kind, i, per_case);
        }
        if (i == per_case * CASES && !is_cut)
            add_event(write, id, now + i, "state",
                      json_pack("{s:s, s:n}", "state", "completed", "reason"));
        store_submit(store, write, false, on_written, NULL);
        uv_run(loop, UV_RUN_NOWAIT);
    }
    json_decref(doc);
    json_decref(cases);
}

int main(int argc, char **argv)
{
    long results = argc == 4 ? atol(argv[2]) : 0;
    char id[ID_RUN_LENGTH + 1];
    struct store *store;
    struct error err;
    uv_loop_t loop;

    if (results < CASES) {
        fprintf(stderr, "usage: make_results DIR NUMBER rows|figures|logs|cut\n");
        return 2;
    }
    uv_loop_init(&loop);
    store = store_open(&loop, argv[1], &err);
    if (!store) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    id_run(id);
    fill(store, &loop, id, results, argv[3]);
    store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    puts(id);
    return 0;
}
