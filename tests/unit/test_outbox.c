/* SPDX-License-Identifier: Apache-2.0 */
/* test_outbox.c - events numbered, progress replaced, refused events stood in for */
#include "agent/link/outbox.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

struct fixture {
    char dir[64];
    struct spool *spool;
    struct outbox *outbox;
    int ready, progress;
};

static void on_ready(void *arg)
{
    ((struct fixture *)arg)->ready++;
}

static void on_progress(void *arg)
{
    ((struct fixture *)arg)->progress++;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct outbox_handlers handlers = {on_ready, on_progress, f};

    snprintf(f->dir, sizeof(f->dir), "/tmp/test-outbox-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->spool = spool_open(f->dir, NULL);
    f->outbox = outbox_create(f->spool, &handlers);
    assert_non_null(f->outbox);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    outbox_destroy(f->outbox);
    spool_reset(f->spool); /* what is left would be kept */
    spool_close(f->spool);
    assert_int_equal(rmdir(f->dir), 0);
    free(f);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

static const struct case_id id = {"run1", 2, 3};

static void add(struct outbox *outbox, const char *line)
{
    outbox_add_line(outbox, &id, 5, line, strlen(line));
}

static void set_progress(struct outbox *outbox, int rank, const char *line)
{
    outbox_set_progress(outbox, &id, rank, line, strlen(line));
}

/* The batch as an array of parsed lines. */
static json_t *take(struct outbox *outbox, int64_t lines)
{
    struct outbox_batch batch;
    json_t *array = json_array();
    const char *at;

    outbox_batch_init(&batch);
    assert_int_equal(outbox_take_batch(outbox, lines, &batch, NULL), 0);
    for (at = batch.body.data; at && *at; at = strchr(at, '\n') + 1) {
        json_t *line = json_parse(at, (size_t)(strchr(at, '\n') - at), NULL);

        assert_non_null(line);
        json_array_append_new(array, line);
    }
    outbox_batch_release(&batch);
    return array;
}

TEST(puts_the_agents_keys_before_the_workers)
{
    struct fixture *f = *state;
    json_t *array;
    const json_t *line;

    add(f->outbox, " {\"type\":\"result\",\"x\":0.1}\r");
    assert_int_equal(outbox_add_steal(f->outbox, &id, CASE_NO_RANK,
                                      json_pack("{s:s}", "type", "gone")),
                     2);
    assert_int_equal(f->ready, 2);
    array = take(f->outbox, 100);
    assert_int_equal(json_array_size(array), 2);
    line = json_array_get(array, 0);
    assert_int_equal(json_get_int(line, "seq", 0), 1);
    assert_string_equal(json_get_str(line, "run", ""), "run1");
    assert_int_equal(json_get_int(line, "case", 0), 2);
    assert_int_equal(json_get_int(line, "attempt", 0), 3);
    assert_int_equal(json_get_int(line, "rank", 0), 5);
    assert_true(json_get_int(line, "time_ms", 0) > 1600000000000);
    assert_string_equal(json_get_str(line, "type", ""), "result");
    line = json_array_get(array, 1);
    assert_int_equal(json_get_int(line, "seq", 0), 2);
    assert_null(json_object_get(line, "rank"));
    json_decref(array);
}

TEST(sends_only_the_latest_progress_once)
{
    struct fixture *f = *state;
    json_t *array;

    set_progress(f->outbox, 0, "{\"type\":\"progress\",\"op\":1}");
    set_progress(f->outbox, 1, "{\"type\":\"progress\",\"op\":7}");
    set_progress(f->outbox, 0, "{\"type\":\"progress\",\"op\":2}");
    set_progress(f->outbox, 9, "{\"type\":\"progress\",\"op\":9}");
    outbox_drop_progress(f->outbox, &id, 9);
    assert_int_equal(f->ready, 0);
    assert_int_equal(f->progress, 4);
    assert_true(outbox_has_progress(f->outbox));
    assert_false(outbox_has_stored(f->outbox));
    array = take(f->outbox, 100);
    assert_int_equal(json_array_size(array), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *line = json_array_get(array, i);

        assert_null(json_object_get(line, "seq"));
        assert_int_equal(json_get_int(line, "op", 0),
                         json_get_int(line, "rank", 9) == 0 ? 2 : 7);
    }
    json_decref(array);
    assert_false(outbox_has_progress(f->outbox));
    array = take(f->outbox, 100);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
}

TEST(a_refused_event_is_stood_in_for)
{
    struct fixture *f = *state;
    json_t *array;
    const json_t *line;

    add(f->outbox, "{\"type\":\"result\",\"row\":1}");
    add(f->outbox, "{\"type\":\"result\",\"row\":2}");
    outbox_replace(f->outbox, 1, "row 1 is odd \xff");
    array = take(f->outbox, 100);
    assert_int_equal(json_array_size(array), 1);
    line = json_array_get(array, 0);
    assert_int_equal(json_get_int(line, "seq", 0), 1);
    assert_int_equal(json_get_int(line, "rank", 0), 5);
    assert_string_equal(json_get_str(line, "run", ""), "run1");
    assert_string_equal(json_get_str(line, "type", ""), "log");
    assert_non_null(strstr(json_get_str(line, "text", ""), "'result': row 1 is odd"));
    json_decref(array);
    assert_int_equal(outbox_ack(f->outbox, 1, NULL), 0);
    array = take(f->outbox, 100);
    assert_int_equal(json_get_int(json_array_get(array, 0), "row", 0), 2);
    json_decref(array);
}

/* A server that takes nothing of that run from this node: what is behind goes on. */
TEST(a_refused_stand_in_names_no_run)
{
    struct fixture *f = *state;
    json_t *array;
    const json_t *line;

    add(f->outbox, "{\"type\":\"result\",\"row\":1}");
    outbox_replace(f->outbox, 1, "no such run");
    outbox_replace(f->outbox, 1, "no such run");
    array = take(f->outbox, 100);
    assert_int_equal(json_array_size(array), 1);
    line = json_array_get(array, 0);
    assert_int_equal(json_get_int(line, "seq", 0), 1);
    assert_string_equal(json_get_str(line, "run", "none"), "");
    assert_null(json_object_get(line, "rank"));
    json_decref(array);
}

TEST(forgets_what_is_acknowledged)
{
    struct fixture *f = *state;

    add(f->outbox, "{\"type\":\"log\"}");
    add(f->outbox, "{\"type\":\"log\"}");
    assert_int_equal(outbox_ack(f->outbox, 1, NULL), 0);
    assert_true(outbox_has_stored(f->outbox));
    assert_int_equal(outbox_ack(f->outbox, 2, NULL), 0);
    assert_false(outbox_has_stored(f->outbox));
    assert_int_equal(outbox_ack(f->outbox, 3, NULL), -1);
    outbox_reset(f->outbox);
    assert_int_equal(outbox_acked(f->outbox), 0);
}
