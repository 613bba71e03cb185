/* test_event_writer.c - events and rows in the forms in which they are sent */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/json_util.h"
#include "server/render/event_writer.h"
#include "server/render/json_members.h"

static const char line[] =
    "{\"id\":7,\"time\":\"2026-01-31T10:00:00.000Z\",\"case\":0,\"in_place\":false,"
    "\"errors\":[{\"type\":\"x,}\\\"\"}],\"type\":\"result\",\"size\":8}";

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
        assert_int_equal(event_writer_event(writer, 7, line, strlen(line), out), 0);
    event_writer_end(writer, is_over, out);
    event_writer_destroy(writer);
    json_decref(run);
}

static void sse_names_each_event_and_the_end(void **state)
{
    struct buf out;

    (void)state;
    sent(EVENT_FORM_SSE, 1, true, &out);
    assert_non_null(strstr(out.data, "id: 7\nevent: result\ndata: {\"id\":7,"));
    assert_non_null(strstr(out.data, "\"size\":8}\n\nevent: end\ndata: {}\n\n"));
    buf_release(&out);
    sent(EVENT_FORM_SSE, 1, false, &out);
    assert_null(strstr(out.data, "event: end"));
    buf_release(&out);
}

static void ndjson_is_a_line_per_event(void **state)
{
    struct buf out;

    (void)state;
    sent(EVENT_FORM_NDJSON, 2, true, &out);
    assert_int_equal(out.len, 2 * (strlen(line) + 1));
    assert_memory_equal(out.data, line, strlen(line));
    assert_int_equal(out.data[out.len - 1], '\n');
    buf_release(&out);
}

static void rows_lack_what_makes_them_events(void **state)
{
    static const char row[] = "{\"case\":0,\"in_place\":false,\"errors\":[{\"type\":"
                              "\"x,}\\\"\"}],\"size\":8}\n";
    struct buf out;

    (void)state;
    sent(ROWS_FORM_NDJSON, 1, true, &out);
    assert_string_equal(out.data, row);
    buf_release(&out);
}

static void json_rows_are_one_document(void **state)
{
    (void)state;
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

static void refuses_what_is_no_event(void **state)
{
    static const char *const bad[] = {"", "x", "{}", "{\"type\":", "{\"id\":7}"};
    json_t *run = json_object();
    struct event_writer *writer = event_writer_create(EVENT_FORM_SSE, run, "", NULL);
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(event_writer_event(writer, 1, bad[i], strlen(bad[i]), &out), -1);
    event_writer_destroy(writer);
    json_decref(run);
    buf_release(&out);
}

static void members_are_walked_as_written(void **state)
{
    static const char text[] = " { \"a\" : 1 , \"b\\\"c\":\"x\\\\\", \"d\":{\"e\":[1,2]},"
                               "\"f\":null }";
    static const struct {
        const char *key, *value;
    } want[] = {
        {"a", "1"}, {"b\\\"c", "\"x\\\\\""}, {"d", "{\"e\":[1,2]}"}, {"f", "null"}};
    struct json_member member;
    size_t pos = 0, n = 0;

    (void)state;
    while (json_members_next(text, strlen(text), &pos, &member)) {
        assert_true(n < 4);
        assert_true(json_member_is(&member, want[n].key));
        assert_int_equal(member.value_len, strlen(want[n].value));
        assert_memory_equal(member.value, want[n].value, member.value_len);
        n++;
    }
    assert_int_equal(n, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sse_names_each_event_and_the_end),
        cmocka_unit_test(ndjson_is_a_line_per_event),
        cmocka_unit_test(rows_lack_what_makes_them_events),
        cmocka_unit_test(json_rows_are_one_document),
        cmocka_unit_test(refuses_what_is_no_event),
        cmocka_unit_test(members_are_walked_as_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
