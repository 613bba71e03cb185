/* SPDX-License-Identifier: Apache-2.0 */
/* test_summary.c - a summary says what all of a run's results say, up to one event */
#include <sqlite3.h>

#include "server/store/store_results.h"
#include "server/store/store_work.h"
#include "server/summary/result_record.h"
#include "server/summary/summary.h"
#include "server/summary/summary_json.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"

struct row {
    int case_no, attempt, series, cycle;
    int64_t size;
    double time_us;
    int64_t wrong;
    const char *skipped;
    int row; /* 0: the size */
};

static void add_row(struct store_write *write, const struct row *row)
{
    json_t *body = json_pack(
        "{s:i, s:i, s:i, s:i, s:s, s:s, s:b, s:I}", "case", row->case_no, "attempt",
        row->attempt ? row->attempt : 1, "series", row->series, "row",
        row->row ? row->row : (int)row->size, "collective", "all_reduce", "dtype",
        "float32", "in_place", row->series % 2, "size", (json_int_t)row->size);

    if (row->cycle >= 0)
        json_object_set_new(body, "cycle", json_integer(row->cycle));
    if (row->skipped) {
        json_object_set_new(body, "skipped", json_string(row->skipped));
    } else {
        json_object_set_new(body, "time_us", json_real(row->time_us));
        json_object_set_new(body, "time_min_us", json_real(row->time_us - 1.0));
        json_object_set_new(body, "time_max_us", json_real(row->time_us + 1.0));
        json_object_set_new(body, "algbw_gbs", json_real(100.0 / row->time_us));
        json_object_set_new(body, "busbw_gbs", json_real(150.0 / row->time_us));
        json_object_set_new(body, "wrong", json_integer(row->wrong));
    }
    assert_int_equal(store_write_event(write, "run1", 1000, "result", body), 0);
    json_decref(body);
}

static void add_figure(struct store_write *write, int case_no, int rank, double value,
                       int step)
{
    json_t *body = json_pack("{s:i, s:i, s:s, s:f, s:s, s:b, s:i, s:{s:i, s:s}}", "case",
                             case_no, "attempt", 1, "metric", "loss", "value", value,
                             "unit", "nat", "higher_is_better", 0, "rank", rank, "labels",
                             "step", step, "phase", "warm");

    assert_int_equal(store_write_event(write, "run1", 1000, "result", body), 0);
    json_decref(body);
}

/* Of a run with the query's cases. */
static json_t *doc_of(const struct summary_query *query)
{
    json_t *cases = json_array();

    for (size_t i = 0; i < query->n_cases; i++)
        json_array_append_new(cases, json_pack("{s:{s:i}, s:i}", "env", "A",
                                               query->cases[i].combination, "attempt",
                                               query->cases[i].attempt));
    return json_pack("{s:s, s:o}", "id", "run1", "cases", cases);
}

static struct summary *summary_of(struct fixture *fixture, struct summary_query query)
{
    sqlite3 *db = fixture_reader(fixture);
    json_t *doc = doc_of(&query);
    struct summary *summary;
    struct error err;

    if (query.points == 0)
        query.points = SUMMARY_POINTS_DEFAULT;
    if (query.up_to == 0)
        query.up_to = INT64_MAX;
    summary = store_get_summary(db, doc, &query, &err);
    json_decref(doc);
    sqlite3_close(db);
    if (!summary)
        fail_msg("summary: %s", err.text);
    return summary;
}

#define near(got, want) assert_near(got, want, 1e-9 * (fabs(want) + 1.0))

TEST_WITH(fixture_setup, fixture_teardown, point_is_the_median_of_repeats)
{
    static const struct summary_case cases[] = {{0, 1}, {0, 2}, {0, 1}, {0, 1}};
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    const struct summary_point *point;
    struct summary *summary;

    /* Before the others, but further behind in its case. */
    add_row(write,
            &(struct row){.case_no = 0, .cycle = -1, .size = 8, .time_us = 10, .row = 9});
    add_row(write, &(struct row){.case_no = 1, .cycle = -1, .size = 8, .time_us = 99});
    add_row(write, &(struct row){.case_no = 1,
                                 .attempt = 2,
                                 .cycle = -1,
                                 .size = 8,
                                 .time_us = 30,
                                 .wrong = 7});
    add_row(write, &(struct row){.case_no = 2, .cycle = -1, .size = 8, .time_us = 14});
    add_row(write, &(struct row){.case_no = 3, .cycle = -1, .size = 8, .time_us = 12});
    add_row(write, &(struct row){
                       .case_no = 3, .series = 1, .cycle = -1, .size = 8, .time_us = 1});
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.cases = cases, .n_cases = 4});
    assert_int_equal(summary->n_series, 2);
    assert_int_equal(summary->points, 2);
    assert_int_equal(summary->last_event, 6);
    point = &summary->series[0].points[0];
    assert_int_equal(point->rows, 4);
    near(point->time_us, 13.0);
    near(point->repeats.time_us[0], 10.0);
    near(point->repeats.time_us[1], 30.0);
    near(point->ranks.time_us[0], 9.0);
    near(point->ranks.time_us[1], 31.0);
    near(point->ranks.busbw_gbs[0], 150.0 / 31);
    near(point->ranks.busbw_gbs[1], 150.0 / 9);
    near(point->busbw_gbs, (150.0 / 12 + 150.0 / 14) / 2);
    near(point->repeats.busbw_gbs[0], 5.0);
    near(point->repeats.busbw_gbs[1], 15.0);
    near(point->algbw_gbs, (100.0 / 12 + 100.0 / 14) / 2);
    assert_int_equal(point->wrong, 7);
    assert_int_equal(point->event, 1);
    assert_int_equal(point->row, 9);
    assert_true(json_is_true(json_object_get(summary->series[1].key, "in_place")));
    summary_destroy(summary);
}

/* Every member of `wanted` is in `got`, numbers as near as they were printed. */
static void has_all_of(const json_t *got, const json_t *wanted, const char *why)
{
    json_t *value;
    const char *name;
    size_t i;

    if (json_is_number(wanted))
        near(json_number_value(got), json_number_value(wanted));
    else if (!json_is_object(wanted) && !json_is_array(wanted) &&
             !json_equal(got, wanted))
        fail_msg("%s: %s", why, json_dumps(got, JSON_ENCODE_ANY));
    json_object_foreach ((json_t *)(uintptr_t)wanted, name, value)
        has_all_of(json_object_get(got, name), value, why);
    json_array_foreach (wanted, i, value)
        has_all_of(json_array_get(got, i), value, why);
}

/* The JSON of the only point of the rows, which are a run's. */
static json_t *point_of(struct fixture *fixture, const char *run, const json_t *rows)
{
    struct store_write *write = write_of_run(run, "running", 5);
    json_t *doc = json_pack("{s:s, s:[]}", "id", run, "cases"), *document, *point, *row;
    const struct summary_query query = {.up_to = INT64_MAX, .points = 1000};
    sqlite3 *db = fixture_reader(fixture);
    struct summary *summary;
    struct error err;
    struct buf text;
    size_t i;

    json_array_foreach (rows, i, row)
        assert_int_equal(store_write_event(write, run, 1000, "result", row), 0);
    store_it(fixture, write);
    summary = store_get_summary(db, doc, &query, &err);
    assert_non_null(summary);
    assert_int_equal(summary->points, 1);
    buf_init(&text, 65536);
    buf_printf(&text, "{%s}", summary->json);
    document = json_loads(text.data, 0, NULL);
    point = json_array_get(
        json_object_get(json_array_get(json_object_get(document, "series"), 0), "points"),
        0);
    json_incref(point);
    json_decref(document);
    json_decref(doc);
    buf_release(&text);
    summary_destroy(summary);
    sqlite3_close(db);
    return point;
}

TEST_WITH(fixture_setup, fixture_teardown, points_are_those_that_the_page_makes_of_rows)
{
    json_t *document = vectors_load("aggregates.json"), *item;
    char run[32];
    size_t i;

    json_array_foreach (vectors_list(document, "points"), i, item) {
        json_t *wanted = json_object_get(item, "point"), *point;

        snprintf(run, sizeof(run), "run%zu", i);
        point = point_of(*state, run, json_object_get(item, "rows"));
        has_all_of(point, wanted, json_string_value(json_object_get(item, "why")));
        json_decref(point);
    }
    json_decref(document);
}

static void assert_choice(const char *nccl, const char *wanted)
{
    json_t *row = json_pack("{s:o}", "nccl", json_loads(nccl, 0, NULL));
    struct result_record record;
    char *key, *choice;

    result_record_read(row, &record, &key, &choice);
    if (wanted)
        assert_string_equal(choice, wanted);
    else
        assert_null(choice);
    free(key);
    free(choice);
    json_decref(row);
}

TEST(how_nccl_did_calls_is_what_rows_have_in_common)
{
    assert_choice("{\"newer\":3.5,\"by\":\"profiler\",\"algo\":\"RING\","
                  "\"proto\":\"LL128\",\"channels\":16}",
                  "{\"algo\":\"RING\",\"proto\":\"LL128\",\"channels\":16,"
                  "\"by\":\"profiler\"}");
    assert_choice("{\"unrequested\":true,\"ranks_differ\":true,\"algo\":\"P2P\"}",
                  "{\"algo\":\"P2P\",\"ranks_differ\":true,\"unrequested\":true}");
    assert_choice("{\"by\":\"profiler\"}", NULL);
    assert_choice("{\"algo\":\"\",\"proto\":\"LL\"}", NULL);
}

TEST_WITH(fixture_setup, fixture_teardown,
          kinds_of_choices_beyond_some_are_counted_together)
{
    json_t *rows = json_array(), *point, *choices;

    for (int channels = 1; channels <= SUMMARY_CHOICES + 2; channels++)
        json_array_append_new(rows,
                              json_pack("{s:f, s:f, s:f, s:{s:s, s:i}}", "time_us", 5.0,
                                        "algbw_gbs", 1.0, "busbw_gbs", 1.0, "nccl",
                                        "algo", "RING", "channels", channels));
    point = point_of(*state, "run1", rows);
    choices = json_object_get(point, "nccl");
    assert_int_equal(json_array_size(choices), SUMMARY_CHOICES + 1);
    json_t *last = json_array_get(choices, SUMMARY_CHOICES);
    assert_int_equal(json_get_int(last, "rows", 0), 2);
    assert_int_equal(json_object_size(last), 1);
    json_decref(point);
    json_decref(rows);
}

TEST_WITH(fixture_setup, fixture_teardown, rows_are_told_apart_as_asked)
{
    static const struct summary_case cases[] = {{0, 1}, {1, 1}, {0, 1}};
    static const size_t wanted[] = {
        [SUMMARY_BY_COMBINATION] = 2, [SUMMARY_BY_CASE] = 3, [SUMMARY_BY_CYCLE] = 6};
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);

    for (int case_no = 0; case_no < 3; case_no++) {
        for (int cycle = 0; cycle < 2; cycle++)
            add_row(write, &(struct row){.case_no = case_no,
                                         .cycle = cycle,
                                         .size = 8,
                                         .time_us = 5 + case_no});
    }
    store_it(fixture, write);
    for (size_t by = 0; by < 3; by++) {
        struct summary *summary = summary_of(
            fixture, (struct summary_query){
                         .cases = cases, .n_cases = 3, .by = (enum summary_by)by});

        assert_int_equal(summary->n_series, wanted[by]);
        assert_int_equal(summary->series[0].combination, 0);
        assert_int_equal(summary->series[summary->n_series - 1].combination, 1);
        assert_int_equal(summary->results, 6);
        summary_destroy(summary);
    }
}

TEST_WITH(fixture_setup, fixture_teardown, skipped_rows_say_why)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    struct summary *summary;

    add_row(write, &(struct row){.cycle = -1, .size = 8, .time_us = 10});
    add_row(write, &(struct row){.cycle = -1, .size = 16, .skipped = "too \"large\""});
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 0});
    assert_int_equal(summary->series[0].skipped, 1);
    assert_int_equal(summary->series[0].wrong, 0);
    assert_int_equal(summary->series[0].points[1].rows, 0);
    assert_int_equal(summary->series[0].points[1].wrong, -1);
    assert_string_equal(summary->series[0].points[1].reason, "too \"large\"");
    assert_non_null(
        strstr(summary->json, "\"reason\":\"too \\\"large\\\"\",\"wrong\":null}"));
    summary_destroy(summary);
}

/* Whoever goes on with the events behind it must see nothing twice. */
TEST_WITH(fixture_setup, fixture_teardown, summary_ends_where_it_is_asked_to)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    json_t *message = json_pack("{s:s, s:s}", "level", "info", "text", "hello");

    for (int i = 0; i < 500; i++)
        add_row(write, &(struct row){.cycle = -1, .size = 8 + i, .time_us = 10});
    store_write_event(write, "run1", 1000, "message", message);
    json_decref(message);
    add_row(write, &(struct row){.cycle = -1, .size = 4, .time_us = 10});
    store_it(fixture, write);
    for (int64_t up_to = 1; up_to <= 502; up_to += 33) {
        struct summary *summary =
            summary_of(fixture, (struct summary_query){.up_to = up_to});

        assert_int_equal(summary->last_event, up_to);
        assert_int_equal(summary->results, up_to < 501 ? up_to : up_to - 1);
        assert_string_equal(summary->messages, "[]");
        summary_destroy(summary);
    }
    {
        struct summary *summary =
            summary_of(fixture, (struct summary_query){.points = 0});
        json_t *messages = json_loads(summary->messages, 0, NULL);

        assert_int_equal(summary->last_event, 502);
        assert_int_equal(json_array_size(messages), 1);
        assert_int_equal(
            json_integer_value(json_object_get(json_array_get(messages, 0), "id")), 501);
        json_decref(messages);
        summary_destroy(summary);
    }
}

/* A page that goes on behind the summary must have heard of all that is no result. */
TEST_WITH(fixture_setup, fixture_teardown, events_that_are_no_results_are_recent)
{
    static const char *const types[] = {"state", "placed", "plan",       "case",
                                        "rank",  "ranks",  "conditions", "nccl"};
    const size_t n = sizeof(types) / sizeof(types[0]);
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    json_t *body = json_pack("{s:i}", "case", 0), *recent;
    struct summary *summary;

    for (size_t i = 0; i < n; i++)
        store_write_event(write, "run1", 1000, types[i], body);
    json_decref(body);
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 0});
    recent = json_loads(summary->recent, 0, NULL);
    assert_int_equal(json_array_size(recent), n);
    json_decref(recent);
    summary_destroy(summary);
}

TEST_WITH(fixture_setup, fixture_teardown, long_series_are_thinned)
{
    enum { SIZES = 3000 };
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    const struct summary_series *series;
    struct summary *summary;
    bool has_slow = false, has_wrong = false;

    for (int i = 0; i < SIZES; i++)
        add_row(write, &(struct row){.cycle = -1,
                                     .size = 8 + i,
                                     .time_us = i == 1234 ? 500 : 10 + i % 3,
                                     .wrong = i == 2222});
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 100});
    series = &summary->series[0];
    assert_int_equal(series->points_total, SIZES);
    assert_int_equal(summary->points_total, SIZES);
    assert_true(series->n_points <= 100 && series->n_points > 80);
    assert_int_equal(series->rows, SIZES);
    assert_int_equal(series->wrong, 1);
    for (size_t i = 0; i < series->n_points; i++) {
        has_slow = has_slow || series->points[i].size == 8 + 1234;
        has_wrong = has_wrong || series->points[i].wrong > 0;
    }
    assert_true(has_slow);
    assert_true(has_wrong);
    summary_destroy(summary);
}

/* A sum beyond 64 bits is the greatest number, and the rest of the summary stays. */
TEST_WITH(fixture_setup, fixture_teardown, wrong_elements_add_up_without_overflow)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    struct summary *summary;

    for (int i = 0; i < 4; i++)
        add_row(write, &(struct row){.row = i,
                                     .cycle = -1,
                                     .size = 8 << i / 2,
                                     .time_us = 10,
                                     .wrong = INT64_C(5000000000000000000)});
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 100});
    assert_int_equal(summary->n_series, 1);
    assert_int_equal(summary->series[0].n_points, 2);
    assert_true(summary->series[0].points[0].wrong == INT64_MAX);
    assert_true(summary->series[0].wrong == INT64_MAX);
    near(summary->series[0].points[1].time_us, 10.0);
    summary_destroy(summary);
}

TEST_WITH(fixture_setup, fixture_teardown, figures_are_per_rank_and_case)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    const struct summary_figure *figure;
    struct summary *summary;

    for (int step = 0; step < 1000; step++)
        for (int rank = 0; rank < 2; rank++)
            add_figure(write, 0, rank, step == 500 ? -1.0 : 1000.0 - step + rank, step);
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 100});
    assert_int_equal(summary->n_figures, 2);
    figure = &summary->figures[1];
    assert_int_equal(figure->rank, 1);
    assert_int_equal(figure->count, 1000);
    near(figure->min, -1.0);
    near(figure->max, 1001.0);
    near(figure->last, 2.0);
    near(figure->median, 501.0);
    near(figure->mean, 500.998);
    assert_true(figure->n_values <= 50);
    assert_string_equal(json_string_value(json_object_get(figure->key, "x")), "step");
    near(figure->values[0].x, 0.0);
    assert_int_equal(figure->values[figure->n_values - 1].index, 999);
    assert_non_null(strstr(summary->json, "\"labels\":{\"phase\":\"warm\"}"));
    summary_destroy(summary);
}

TEST_WITH(fixture_setup, fixture_teardown, largest_figures_have_a_mean)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    struct summary *summary;

    for (int step = 0; step < 4; step++)
        add_figure(write, 0, 0, step % 2 ? 1.5e308 : 1e308, step);
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 0});
    assert_int_equal(summary->n_figures, 1);
    near(summary->figures[0].mean, 1.25e308);
    near(summary->figures[0].median, 1.25e308);
    summary_destroy(summary);
}

/* Keys keep their numbers. */
TEST_WITH(fixture_setup, fixture_teardown, summary_survives_a_restart)
{
    struct fixture *fixture = *state;
    struct summary *summary;

    store_it(fixture, write_of_run("run1", "running", 5));
    for (int i = 0; i < 200; i++) {
        struct store_write *write = store_write_create();

        add_row(write, &(struct row){
                           .series = i % 4, .cycle = -1, .size = 8 + i, .time_us = 10});
        store_it(fixture, write);
        if (i % 50 == 17) {
            fixture_close(fixture);
            fixture_open(fixture);
        }
    }
    summary = summary_of(fixture, (struct summary_query){.points = 0});
    assert_int_equal(summary->results, 200);
    assert_int_equal(summary->n_series, 4);
    assert_int_equal(summary->points, 200);
    summary_destroy(summary);
}

/* A write that fails leaves no record behind, and those beside it are stored. */
TEST_WITH(fixture_setup, fixture_teardown, refused_write_leaves_no_record)
{
    struct fixture *fixture = *state;
    struct store_write *bad = store_write_create(), *good = store_write_create();
    json_t *body = json_pack("{s:i}", "case", 0);
    struct heard heard[2] = {{0}, {0}};
    struct summary *summary;

    store_it(fixture, write_of_run("run1", "running", 5));
    add_row(bad, &(struct row){.series = 9, .cycle = -1, .size = 8, .time_us = 10});
    store_write_event(bad, "no-such-run", 1, "result", body);
    json_decref(body);
    add_row(good, &(struct row){.series = 3, .cycle = -1, .size = 8, .time_us = 10});
    store_submit(fixture->store, bad, false, on_written, &heard[0]);
    store_submit(fixture->store, good, false, on_written, &heard[1]);
    wait_for(fixture, &heard[1], 1);
    assert_int_equal(heard[0].err.code, ERROR_NOT_FOUND);
    summary = summary_of(fixture, (struct summary_query){.points = 0});
    assert_int_equal(summary->results, 1);
    assert_int_equal(
        json_integer_value(json_object_get(summary->series[0].key, "series")), 3);
    summary_destroy(summary);
}

/* Of the attempt that was given up nothing is left but its events. */
TEST_WITH(fixture_setup, fixture_teardown, disowned_rows_are_in_no_sum)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    struct summary *summary;
    json_t *events;

    for (int case_no = 0; case_no < 2; case_no++)
        add_row(write,
                &(struct row){.case_no = case_no, .cycle = -1, .size = 8, .time_us = 10});
    store_write_disown(write, "run1", 1);
    add_row(write,
            &(struct row){
                .case_no = 1, .attempt = 2, .cycle = -1, .size = 16, .time_us = 10});
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 0});
    assert_int_equal(summary->results, 2);
    assert_string_equal(summary->recent, "[]");
    summary_destroy(summary);
    events = events_of(fixture, "run1");
    assert_int_equal(json_array_size(events), 3);
    assert_string_equal(json_get_str(json_array_get(events, 1), "type", ""), "result");
    json_decref(events);
}

TEST_WITH(fixture_setup, fixture_teardown, deleted_run_can_come_again)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    struct summary *summary;

    add_row(write, &(struct row){.series = 1, .cycle = -1, .size = 8, .time_us = 10});
    store_it(fixture, write);
    write = store_write_create();
    store_write_delete(write, "run1");
    store_it(fixture, write);
    write = write_of_run("run1", "running", 5);
    add_row(write, &(struct row){.series = 2, .cycle = -1, .size = 9, .time_us = 10});
    store_it(fixture, write);
    summary = summary_of(fixture, (struct summary_query){.points = 0});
    assert_int_equal(summary->results, 1);
    assert_int_equal(summary->series[0].points[0].size, 9);
    summary_destroy(summary);
}
