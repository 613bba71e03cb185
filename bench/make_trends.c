/* SPDX-License-Identifier: Apache-2.0 */
/* make_trends.c - fills a database with many runs and their values, to measure how
 * fast a trend is read
 *
 * usage: make_trends DIR RUNS SERIES
 *
 * Each run has 50 results (25 sizes, two placements) and the values of its three
 * bands. Runs alternate between SERIES sets of nodes. Values have 1 % of noise, and
 * are 3 % lower in the newest tenth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/spec/bands.h"
#include "server/analysis/likeness.h"
#include "server/store/store_trends.h"

#define SIZES 25
#define BATCH 50
#define MINUTE_MS 60000

static double noise(void)
{
    double sum = 0.0;

    for (int i = 0; i < 12; i++)
        sum += (double)rand() / RAND_MAX;
    return 1.0 + 0.01 * (sum - 6.0);
}

static json_t *run_json(const char *id, int64_t created_ms, long series)
{
    char time[CLOCK_TEXT_MAX], a[32], b[32];

    clock_format_ms(created_ms, time);
    snprintf(a, sizeof(a), "node-%ld", 2 * series);
    snprintf(b, sizeof(b), "node-%ld", 2 * series + 1);
    return json_pack("{s:s, s:s, s:{}, s:s, s:n, s:s, s:s, s:s, s:s, s:i, s:[s],"
                     " s:[{s:s, s:i}, {s:s, s:i}], s:{s:s, s:i},"
                     " s:[{s:s, s:{s:s, s:s}, s:[s, s]}], s:[], s:i, s:i,"
                     " s:{s:n, s:i, s:i, s:{s:i, s:i, s:i, s:i}, s:[]}}",
                     "id", id, "name", "nightly", "labels", "state", "completed",
                     "reason", "created", time, "started", time, "ended", time, "backend",
                     "host", "world_size", 8, "collectives", "all_reduce", "nodes",
                     "name", a, "ranks", 4, "name", b, "ranks", 4, "spec", "timing",
                     "throughput", "iters", 20, "machines", "hardware", "EPYC",
                     "versions", "ringbench", "0.1.0", "kernel", "6.1", "nodes", a, b,
                     "cases", "rows_done", 2 * SIZES, "rows_total", 2 * SIZES, "summary",
                     "headline", "wrong", 0, "skipped", 0, "cases", "completed", 1,
                     "failed", 0, "cancelled", 0, "skipped", 0, "curve");
}

static void add_rows(struct store_write *write, const char *id, int64_t time_ms)
{
    for (int i = 0; i < 2 * SIZES; i++) {
        int64_t size = INT64_C(8) << (i / 2);
        double time = (20.0 + (double)size / 1e4) * noise();
        json_t *row = json_pack(
            "{s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:i, s:b, s:I, s:I, s:i, s:f, s:f, s:f,"
            " s:f, s:f, s:i}",
            "case", 0, "attempt", 1, "row", i, "series", i % 2, "collective",
            "all_reduce", "dtype", "float32", "redop", "sum", "root", -1, "in_place",
            i % 2, "size", (json_int_t)size, "count", (json_int_t)(size / 4), "iters", 20,
            "time_us", time, "time_min_us", time * 0.95, "time_max_us", time * 1.05,
            "algbw_gbs", (double)size / time * 1e-3, "busbw_gbs",
            (double)size / time * 1.75e-3, "wrong", 0);

        store_write_event(write, id, time_ms, "result", row);
        json_decref(row);
    }
}

static json_t *value_json(const json_t *run, bool in_place, enum band band, double level)
{
    static const int64_t sizes[BANDS] = {8, 32768, 8 << 20};
    json_t *key =
        json_pack("{s:s, s:s, s:s, s:i, s:b}", "collective", "all_reduce", "dtype",
                  "float32", "redop", "sum", "root", -1, "in_place", (int)in_place);
    const struct likeness of = {run, NULL, key, band, &sizes[band], 1};
    char *nodes = likeness_text(&of, LIKE_NODES);
    char *hardware = likeness_text(&of, LIKE_HARDWARE);
    char figure[LIKENESS_FIGURE_SIZE];
    json_t *out;

    likeness_figure("all_reduce", "float32", in_place, band, figure);
    out = json_pack("{s:s, s:s, s:s, s:i, s:f, s:n, s:n, s:f, s:f}", "figure", figure,
                    "like_nodes", nodes, "like_hardware", hardware, "cases", 1, "value",
                    level, "low", "high", "least", level, "most", level);
    free(nodes);
    free(hardware);
    json_decref(key);
    return out;
}

static void add_values(struct store_write *write, const char *id, const json_t *run,
                       int64_t created_ms, bool is_new)
{
    char nodes[80];
    json_t *list = json_array(), *values;
    const json_t *all = json_object_get(run, "nodes");

    snprintf(nodes, sizeof(nodes), "%s,%s",
             json_get_str(json_array_get(all, 0), "name", ""),
             json_get_str(json_array_get(all, 1), "name", ""));
    for (int i = 0; i < 2 * BANDS; i++)
        json_array_append_new(list, value_json(run, i % 2, (enum band)(i / 2),
                                               40.0 * noise() * (is_new ? 0.97 : 1.0)));
    values = json_pack("{s:I, s:b, s:s, s:s, s:i, s:s, s:o}", "created_ms",
                       (json_int_t)created_ms, "is_whole", 1, "nodes", nodes, "backend",
                       "host", "world_size", 8, "versions",
                       "{\"ringbench\":\"0.1.0\",\"kernel\":\"6.1\"}", "values", list);
    store_write_values(write, id, values);
    json_decref(values);
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

static void fill(struct store *store, uv_loop_t *loop, long runs, long series)
{
    int64_t begin = clock_wall_ms() - runs * MINUTE_MS;

    for (long i = 0; i < runs;) {
        struct store_write *write = store_write_create();

        for (long end = i + BATCH; i < end && i < runs; i++) {
            int64_t created_ms = begin + i * MINUTE_MS;
            char id[ID_RUN_LENGTH + 1];
            json_t *run;

            id_run(id);
            run = run_json(id, created_ms, i % series);
            store_write_run(write, id, "completed", "nightly", created_ms, NULL, run);
            add_rows(write, id, created_ms);
            add_values(write, id, run, created_ms, i >= runs - runs / 10);
            json_decref(run);
        }
        store_submit(store, write, false, on_written, NULL);
        uv_run(loop, UV_RUN_NOWAIT);
    }
}

int main(int argc, char **argv)
{
    long runs = argc == 4 ? atol(argv[2]) : 0, series = argc == 4 ? atol(argv[3]) : 0;
    struct store *store;
    struct error err;
    uv_loop_t loop;

    if (runs < 1 || series < 1) {
        fprintf(stderr, "usage: make_trends DIR RUNS SERIES\n");
        return 2;
    }
    uv_loop_init(&loop);
    store = store_open(&loop, argv[1], &err);
    if (!store) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    fill(store, &loop, runs, series);
    store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return 0;
}
