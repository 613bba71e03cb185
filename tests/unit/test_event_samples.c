/* SPDX-License-Identifier: Apache-2.0 */
/* test_event_samples.c - samples are kept beside a result's text, and come back */
#include "common/base/json_util.h"
#include "common/result/row_fields.h"
#include "server/store/event_samples.h"
#include "tests/unit/test.h"

static const char row[] = "{\"size\":8,\"blocks_us\":[1.5,0.1,123456.7],\"time_us\":1.5,"
                          "\"samples_us\":[]}";
static const char back[] = ",\"samples_us\":[],\"blocks_us\":[1.5,0.1,123456.7]";

static struct store_event pack(const char *text, json_t **rest)
{
    struct store_event event = {.id = 1};
    json_t *body = json_parse(text, strlen(text), NULL);

    *rest = event_samples_pack(body, &event);
    assert_non_null(*rest);
    json_decref(body);
    return event;
}

static void assert_appends(const struct store_event *event, const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    assert_int_equal(event_samples_append(event, &out), 0);
    assert_string_equal(out.data ? out.data : "", want);
    buf_release(&out);
}

TEST(samples_leave_the_text_and_come_back)
{
    json_t *rest, *whole = json_parse(row, strlen(row), NULL);
    struct store_event event = pack(row, &rest);

    assert_int_equal(json_object_size(rest), 2);
    assert_appends(&event, back);
    assert_int_equal(event_samples_unpack(&event, rest), 0);
    assert_true(json_equal(rest, whole));
    json_decref(whole);
    json_decref(rest);
    free((char *)(uintptr_t)event.samples);
}

TEST(a_row_without_is_as_it_was)
{
    json_t *rest;
    struct store_event event = pack("{\"size\":8,\"times_us\":[1,2]}", &rest);

    assert_null(event.samples);
    assert_int_equal(json_object_size(rest), 2);
    assert_appends(&event, "");
    json_decref(rest);
}

TEST(all_fields_that_are_kept_apart_are)
{
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++) {
        json_t *body = json_pack("{s:[f]}", fields[i].name, 1.0), *rest;
        struct store_event event = {.id = 1};

        rest = event_samples_pack(body, &event);
        assert_int_equal(event.samples != NULL, !!(fields[i].use & KEPT_APART));
        free((char *)(uintptr_t)event.samples);
        json_decref(rest);
        json_decref(body);
    }
}
