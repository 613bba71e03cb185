/* SPDX-License-Identifier: Apache-2.0 */
/* test_event_writer.c - events and rows in the forms in which they are sent */
#include "common/base/json_util.h"
#include "server/render/event_writer.h"
#include "tests/unit/test.h"

static const char body[] =
    "{\"case\":0,\"in_place\":false,\"errors\":[{\"type\":\"x,}\\\"\"}],\"size\":8}";
static const char line[] =
    "{\"id\":7,\"time\":\"2026-01-31T10:00:00.000Z\",\"type\":\"result\",\"case\":0,"
    "\"in_place\":false,\"errors\":[{\"type\":\"x,}\\\"\"}],\"size\":8}";
static const struct store_event event = {.id = 7,
                                         .time_ms = INT64_C(1769853600000),
                                         .type = "result",
                                         .body = body,
                                         .body_len = sizeof(body) - 1};

/* What a client gets of `n` copies of the line. */
static void sent(enum event_form form, int n, bool is_over, struct buf *out)
{
    json_t *run =
        json_pack("{s:s, s:{s:b}, s:[]}", "id", "r1", "spec", "in_place", 1, "cases");
    struct event_writer *writer =
        event_writer_create(form, run, "http://h/runs/r1", NULL);

    assert_non_null(writer);
    buf_init(out, 1 << 20);
    event_writer_begin(writer, out);
    for (int i = 0; i < n; i++)
        assert_int_equal(event_writer_event(writer, &event, out), 0);
    event_writer_end(writer, is_over, out);
    event_writer_destroy(writer);
    json_decref(run);
}

TEST(sse_names_each_event_and_the_end)
{
    struct buf out;

    sent(EVENT_FORM_SSE, 1, true, &out);
    assert_non_null(strstr(out.data, "id: 7\nevent: result\ndata: {\"id\":7,"));
    assert_non_null(strstr(out.data, "\"size\":8}\n\nevent: end\ndata: {}\n\n"));
    buf_release(&out);
    sent(EVENT_FORM_SSE, 1, false, &out);
    assert_null(strstr(out.data, "event: end"));
    buf_release(&out);
}

TEST(ndjson_is_a_line_per_event)
{
    struct buf out;

    sent(EVENT_FORM_NDJSON, 2, true, &out);
    assert_int_equal(out.len, 2 * (strlen(line) + 1));
    assert_memory_equal(out.data, line, strlen(line));
    assert_int_equal(out.data[out.len - 1], '\n');
    buf_release(&out);
}

TEST(rows_lack_what_makes_them_events)
{
    struct buf out;

    sent(ROWS_FORM_NDJSON, 1, true, &out);
    assert_int_equal(out.len, strlen(body) + 1);
    assert_memory_equal(out.data, body, strlen(body));
    assert_int_equal(out.data[out.len - 1], '\n');
    buf_release(&out);
}

TEST(rows_have_the_time_of_each_rank_where_it_is_asked_for)
{
    static const char *const rows[][2] = {
        {"{\"case\":0,\"times_us\":[1.5,2],\"size\":8}", "{\"case\":0,\"size\":8}"},
        {"{\"case\":0,\"times_us\":[]}", "{\"case\":0}"},
        {"{\"case\":0,\"note\":\",\\\"times_us\\\":[1]\"}",
         "{\"case\":0,\"note\":\",\\\"times_us\\\":[1]\"}"},
    };
    json_t *run = json_object();

    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        struct event_writer *writer =
            event_writer_create(ROWS_FORM_NDJSON, run, "", NULL);
        struct store_event row = event;
        const char *wanted = rows[i / 2][i % 2 ? 0 : 1];
        struct buf out;

        row.body = rows[i / 2][0];
        row.body_len = strlen(row.body);
        if (i % 2)
            event_writer_want_ranks(writer);
        buf_init(&out, 4096);
        assert_int_equal(event_writer_event(writer, &row, &out), 0);
        assert_int_equal(out.len, strlen(wanted) + 1);
        assert_memory_equal(out.data, wanted, strlen(wanted));
        buf_release(&out);
        event_writer_destroy(writer);
    }
    json_decref(run);
}

TEST(json_rows_are_one_document)
{
    for (int n = 0; n < 3; n++) {
        struct buf out;
        json_t *document;

        sent(ROWS_FORM_JSON, n, true, &out);
        document = json_parse(out.data, out.len, NULL);
        assert_non_null(document);
        assert_string_equal(json_get_str(document, "run", ""), "r1");
        assert_int_equal(json_array_size(json_object_get(document, "rows")), n);
        json_decref(document);
        buf_release(&out);
    }
}

TEST(tables_refuse_what_they_cannot_read)
{
    static const enum event_form forms[] = {EVENT_FORM_TEXT, ROWS_FORM_CSV,
                                            ROWS_FORM_TEXT};
    static const char bad[] = "{\"case\":";
    struct store_event broken = event;
    json_t *run = json_object();
    struct buf out;

    buf_init(&out, 4096);
    broken.body = bad;
    broken.body_len = strlen(bad);
    for (size_t i = 0; i < 3; i++) {
        struct event_writer *writer = event_writer_create(forms[i], run, "", NULL);

        assert_int_equal(event_writer_event(writer, &broken, &out), -1);
        event_writer_destroy(writer);
    }
    json_decref(run);
    buf_release(&out);
}
