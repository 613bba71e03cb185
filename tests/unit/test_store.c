/* SPDX-License-Identifier: Apache-2.0 */
/* test_store.c - what is written can be read, in order, once, and after a restart */
#include <poll.h>

#include "tests/unit/store_fixture.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

static int64_t id_at(const json_t *events, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(events, i), "id"));
}

TEST(run_is_replaced_without_losing_its_events)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "queued", 5);
    struct heard heard = {0};
    json_t *events;

    add_event(write, "run1", 1);
    store_it(fixture, write);
    store_it(fixture, write_of_run("run1", "running", 5));
    store_read_run(fixture->store, "run1", on_read, &heard);
    wait_for(fixture, &heard, 1);
    assert_string_equal(json_string_value(json_object_get(heard.result, "state")),
                        "running");
    json_decref(heard.result);
    events = events_of(fixture, "run1");
    assert_int_equal(json_array_size(events), 1);
    json_decref(events);
}

TEST(missing_run_is_not_found)
{
    struct fixture *fixture = *state;
    struct heard heard = {0};

    store_read_run(fixture->store, "nope", on_read, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.err.code, ERROR_NOT_FOUND);
    assert_null(heard.result);
}

TEST(event_shows_id_time_and_type_before_its_own_keys)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "queued", 5);
    struct heard heard = {0};
    json_t *body = json_pack("{s:s}", "state", "queued");
    json_t *empty = json_object();
    struct buf text;

    store_write_event(write, "run1", 1500, "state", body);
    store_write_event(write, "run1", 1501, "bare", empty);
    json_decref(body);
    json_decref(empty);
    store_it(fixture, write);
    store_read_events(fixture->store, "run1", 0, NULL, 100, on_page, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.page->n, 2);
    buf_init(&text, 1000);
    for (size_t i = 0; i < heard.page->n; i++)
        store_event_append(&heard.page->list[i], &text);
    assert_string_equal(text.data, "{\"id\":1,\"time\":\"1970-01-01T00:00:01.500Z\","
                                   "\"type\":\"state\",\"state\":\"queued\"}"
                                   "{\"id\":2,\"time\":\"1970-01-01T00:00:01.501Z\","
                                   "\"type\":\"bare\"}");
    buf_release(&text);
    store_read_events(fixture->store, "run1", 2, NULL, 100, on_page, &heard);
    wait_for(fixture, &heard, 2);
    assert_int_equal(heard.page->n, 0);
    store_events_destroy(heard.page);
}

TEST(events_filter_by_position_type_and_limit)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "queued", 5);
    struct heard heard = {0};
    json_t *body = json_object();

    for (int i = 1; i <= 10; i++)
        store_write_event(write, "run1", i, i % 2 ? "odd" : "even", body);
    json_decref(body);
    store_it(fixture, write);
    store_read_events(fixture->store, "run1", 3, "even", 2, on_page, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.page->n, 2);
    assert_int_equal(heard.page->list[0].id, 4);
    assert_int_equal(heard.page->list[1].id, 6);
    store_events_destroy(heard.page);
}

/* A stream asks again until nothing comes; a page may end early by size. */
TEST(long_events_come_in_pages)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "queued", 5);
    struct heard heard = {0};
    int64_t last_id = 0;
    char *big = malloc(400001);
    json_t *body;
    size_t total = 0;

    memset(big, 'x', 400000);
    big[400000] = '\0';
    body = json_pack("{s:s}", "text", big);
    for (int i = 0; i < 10; i++)
        store_write_event(write, "run1", i, "message", body);
    json_decref(body);
    free(big);
    store_it(fixture, write);
    do {
        store_read_events(fixture->store, "run1", last_id, NULL, 1000, on_page, &heard);
        wait_for(fixture, &heard, heard.calls + 1);
        assert_true(heard.page->n < 10);
        total += heard.page->n;
        if (heard.page->n)
            last_id = heard.page->list[heard.page->n - 1].id;
    } while (heard.page->n);
    assert_int_equal(total, 10);
    store_events_destroy(heard.page);
}

/* Many writes queued at once, of four runs, interleaved: each run counts from 1. */
TEST(ids_of_concurrent_runs_are_contiguous)
{
    enum { RUNS = 4, WRITES = 500 };
    struct fixture *fixture = *state;
    char id[16];
    struct heard *heard = calloc(RUNS * WRITES, sizeof(*heard));
    int order = 0;

    for (int run = 0; run < RUNS; run++) {
        snprintf(id, sizeof(id), "run%d", run);
        store_submit(fixture->store, write_of_run(id, "running", run), false, NULL, NULL);
    }
    for (int i = 0; i < RUNS * WRITES; i++) {
        struct store_write *write = store_write_create();
        snprintf(id, sizeof(id), "run%d", i % RUNS);
        add_event(write, id, 2 * (i / RUNS));
        add_event(write, id, 2 * (i / RUNS) + 1);
        heard[i].order = &order;
        store_submit(fixture->store, write, i % 3 == 0, on_written, &heard[i]);
    }
    while (order < RUNS * WRITES)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    for (int i = 0; i < RUNS * WRITES; i++) {
        assert_int_equal(heard[i].calls, 1);
        assert_int_equal(heard[i].turn, i + 1);
        assert_int_equal(heard[i].n_ids, 2);
        assert_int_equal(heard[i].ids[0], 2 * (i / RUNS) + 1);
        assert_int_equal(heard[i].ids[1], 2 * (i / RUNS) + 2);
    }
    for (int run = 0; run < RUNS; run++) {
        snprintf(id, sizeof(id), "run%d", run);
        json_t *events = events_of(fixture, id);
        assert_int_equal(json_array_size(events), 2 * WRITES);
        for (size_t i = 0; i < 2 * WRITES; i++) {
            json_t *event = json_array_get(events, i);
            assert_int_equal(id_at(events, i), i + 1);
            assert_int_equal(json_integer_value(json_object_get(event, "number")), i);
        }
        json_decref(events);
    }
    free(heard);
}

TEST(bad_write_fails_alone_and_whole)
{
    struct fixture *fixture = *state;
    struct store_write *bad = write_of_run("run2", "queued", 2);
    struct store_write *good = store_write_create();
    struct heard heard_bad = {0}, heard_good = {0};
    json_t *events;

    store_it(fixture, write_of_run("run1", "queued", 1));
    add_event(bad, "run1", 1);
    add_event(bad, "absent", 2);
    add_event(good, "run1", 3);
    store_submit(fixture->store, bad, true, on_written, &heard_bad);
    store_submit(fixture->store, good, false, on_written, &heard_good);
    wait_for(fixture, &heard_good, 1);
    assert_int_equal(heard_bad.calls, 1);
    assert_int_equal(heard_bad.err.code, ERROR_NOT_FOUND);
    assert_string_equal(heard_bad.err.text, "there is no run absent");
    assert_int_equal(heard_good.err.code, ERROR_NONE);
    assert_int_equal(heard_good.ids[0], 1);
    events = events_of(fixture, "run1");
    assert_int_equal(json_array_size(events), 1);
    json_decref(events);
    store_read_run(fixture->store, "run2", on_read, &heard_good);
    wait_for(fixture, &heard_good, 2);
    assert_int_equal(heard_good.err.code, ERROR_NOT_FOUND);
    assert_null(store_trouble(fixture->store));
}

TEST(spoiled_write_fails_when_submitted)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "queued", 1);
    struct heard heard = {0};

    assert_int_equal(
        store_write_idempotency(write, "k", "hash", "an id that is too long"), -1);
    store_submit(fixture->store, write, true, on_written, &heard);
    assert_int_equal(heard.calls, 0);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.err.code, ERROR_INVALID);
}

static int put_log(const struct store_log *log, struct buf *out)
{
    return buf_printf(out, "%lld %d %d %s %.*s;", (long long)log->seq, log->case_no,
                      log->rank, log->stream, (int)log->len, log->text);
}

struct log_page {
    char *text; /* to be freed */
    int64_t next;
};

static void read_logs(struct fixture *fixture, int case_no, int rank, int64_t after,
                      int limit, struct log_page *page)
{
    const struct store_logs_query query = {.run = "run1",
                                           .case_no = case_no,
                                           .rank = rank,
                                           .after = after,
                                           .limit = limit,
                                           .put = put_log};
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    struct buf text;

    buf_init(&text, SIZE_MAX);
    assert_int_equal(store_get_logs(db, &query, &text, &page->next, &err), 0);
    sqlite3_close(db);
    free(page->text);
    page->text = buf_detach(&text, NULL);
}

TEST(deleted_run_leaves_nothing)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "failed", 1);
    struct log_page page = {0};
    char run[13], hash[65];
    json_t *events;

    add_event(write, "run1", 1);
    store_write_log(write, "run1", 1, 0, 0, "stdout", "hello", 5);
    store_write_idempotency(write, "key", "hash", "run1");
    store_it(fixture, write);
    assert_true(store_idempotency(fixture->store, "key", run, hash));
    write = store_write_create();
    store_write_delete(write, "run1");
    store_it(fixture, write);
    events = events_of(fixture, "run1");
    assert_int_equal(json_array_size(events), 0);
    json_decref(events);
    read_logs(fixture, -1, -1, 0, 10, &page);
    assert_string_equal(page.text, "");
    free(page.text);
    assert_false(store_idempotency(fixture->store, "key", run, hash));
    fixture_close(fixture);
    fixture_open(fixture);
    assert_false(store_idempotency(fixture->store, "key", run, hash));
}

TEST(logs_filter_by_case_and_rank)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 1);
    struct log_page page = {0};

    store_write_log(write, "run1", 1, 0, 0, "stdout", "a", 1);
    store_write_log(write, "run1", 2, 0, 1, "stderr", "b\n", 2);
    store_write_log(write, "run1", 3, 1, 1, "stdout", "\xff raw", 5);
    store_it(fixture, write);
    read_logs(fixture, -1, 1, 0, 10, &page);
    assert_string_equal(page.text, "2 0 1 stderr b\n;3 1 1 stdout \xff raw;");
    assert_int_equal(page.next, 0);
    read_logs(fixture, 1, 1, 2, 10, &page);
    assert_string_equal(page.text, "3 1 1 stdout \xff raw;");
    read_logs(fixture, -1, -1, 0, 1, &page);
    assert_string_equal(page.text, "1 0 0 stdout a;");
    assert_int_equal(page.next, 1);
    free(page.text);
}

/* However many entries were asked for. */
TEST(a_page_of_logs_is_bounded_in_bytes)
{
    static char text[100000];
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 1);
    struct log_page page = {0};

    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 30; i++)
        store_write_log(write, "run1", i, 0, 0, "stdout", text, sizeof(text));
    store_it(fixture, write);
    for (int pages = 1; pages <= 3; pages++) {
        read_logs(fixture, -1, -1, page.next, 10000, &page);
        assert_true(strlen(page.text) < (size_t)2 << 20);
        assert_int_equal(page.next, pages < 3 ? 11 * pages : 0);
    }
    free(page.text);
}

/* Wait for so many calls; no turn of the loop makes more than `most`. */
static void wait_in_steps(struct fixture *fixture, const struct heard *heard, int calls,
                          int most)
{
    poll(NULL, 0, 300); /* for the thread to have many answers at once, if it can */
    while (heard->calls < calls) {
        int before = heard->calls;

        uv_run(&fixture->loop, UV_RUN_ONCE);
        assert_in_range(heard->calls - before, 0, most);
    }
}

TEST(a_turn_of_the_loop_takes_few_answers)
{
    static char text[100000];
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 1);
    json_t *body;
    struct heard runs = {0}, pages = {0};

    memset(text, 'x', sizeof(text) - 1);
    body = json_pack("{s:s}", "text", text);
    for (int i = 0; i < 11; i++)
        assert_int_equal(store_write_event(write, "run1", i, "message", body), 0);
    json_decref(body);
    store_it(fixture, write);
    for (int i = 0; i < 64; i++)
        store_read_run(fixture->store, "nope", on_read, &runs);
    wait_in_steps(fixture, &runs, 64, 2);
    for (int i = 0; i < 12; i++)
        store_read_events(fixture->store, "run1", 0, NULL, 100, on_page, &pages);
    wait_in_steps(fixture, &pages, 12, 2);
    store_events_destroy(pages.page);
}

TEST(a_turn_of_the_loop_tells_of_few_writes)
{
    struct fixture *fixture = *state;
    struct heard writes = {0};

    store_it(fixture, write_of_run("run1", "running", 1));
    for (int i = 0; i < 1000; i++) {
        struct store_write *write = store_write_create();

        add_event(write, "run1", i);
        store_submit(fixture->store, write, false, on_written, &writes);
    }
    wait_in_steps(fixture, &writes, 1000, 128);
}

/* All are there in the first turn: these writes get as far as no thread. */
TEST(answers_do_not_wait_for_all_writes)
{
    struct fixture *fixture = *state;
    struct heard writes = {0}, read = {0};

    store_read_run(fixture->store, "nope", on_read, &read);
    poll(NULL, 0, 300);
    for (int i = 0; i < 1000; i++) {
        struct store_write *write = store_write_create();

        store_write_idempotency(write, "k", "hash", "an id that is too long");
        store_submit(fixture->store, write, false, on_written, &writes);
    }
    wait_for(fixture, &read, 1);
    assert_in_range(writes.calls, 1, 128);
    wait_for(fixture, &writes, 1000);
}

TEST(closing_hands_over_all_that_was_asked)
{
    struct fixture *fixture = *state;
    struct heard runs = {0};

    for (int i = 0; i < 64; i++)
        store_read_run(fixture->store, "nope", on_read, &runs);
    fixture_close(fixture);
    assert_int_equal(runs.calls, 64);
    fixture_open(fixture);
}

TEST(acks_only_rise_and_survive)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();

    assert_int_equal(acked(fixture, "boot"), -1);
    store_write_ack(write, "boot", 7);
    store_it(fixture, write);
    assert_int_equal(acked(fixture, "boot"), 7);
    write = store_write_create();
    store_write_ack(write, "boot", 5);
    store_it(fixture, write);
    assert_int_equal(acked(fixture, "boot"), 7);
    fixture_close(fixture);
    fixture_open(fixture);
    assert_int_equal(acked(fixture, "boot"), 7);
    assert_int_equal(acked(fixture, "other"), -1);
}

TEST(idempotency_key_binds_once)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "queued", 1);
    struct heard heard = {0};
    char run[13], hash[65];

    store_write_idempotency(write, "key", "hash1", "run1");
    store_it(fixture, write);
    write = write_of_run("run2", "queued", 2);
    store_write_idempotency(write, "key", "hash2", "run2");
    store_submit(fixture->store, write, false, on_written, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.err.code, ERROR_CONFLICT);
    for (int i = 0; i < 2; i++) {
        assert_true(store_idempotency(fixture->store, "key", run, hash));
        assert_string_equal(run, "run1");
        assert_string_equal(hash, "hash1");
        fixture_close(fixture);
        fixture_open(fixture);
    }
    assert_false(store_idempotency(fixture->store, "other", run, hash));
}

TEST(list_filters_by_state_label_and_text)
{
    static const char *const states[] = {"failed", "completed"};
    static const char *const keys[] = {"ticket", "site"};
    static const char *const values[] = {"NET-1", "a\"b"};
    static const struct {
        const char *text;
        size_t n_states, n_labels, expected;
    } cases[] = {{NULL, 0, 0, 4},   {NULL, 1, 0, 1},     {NULL, 2, 0, 2},
                 {NULL, 0, 1, 2},   {NULL, 0, 2, 1},     {"100%", 0, 0, 1},
                 {"_", 0, 0, 1},    {"\\", 0, 0, 1},     {"P2P", 0, 0, 4},
                 {"run3", 0, 0, 1}, {"absent", 0, 0, 0}, {"p2p", 1, 1, 0}};
    static const struct {
        const char *id, *state, *name, *labels;
    } runs[] = {
        {"run1", "queued", "p2p 100% off", "{\"ticket\":\"NET-1\"}"},
        {"run2", "failed", "p2p_on", "{}"},
        {"run3", "completed", "p2p \\", "{\"ticket\":\"NET-1\",\"site\":\"a\\\"b\"}"},
        {"run4", "running", "p2p", "{\"ticket\":\"NET-10\"}"}};
    struct fixture *fixture = *state;
    struct heard heard = {0};

    for (size_t i = 0; i < 4; i++) {
        struct store_write *write = store_write_create();
        json_t *labels = json_loads(runs[i].labels, 0, NULL);
        json_t *doc = json_pack("{s:s}", "id", runs[i].id);
        store_write_run(write, runs[i].id, runs[i].state, runs[i].name, 1, labels, doc);
        json_decref(labels);
        json_decref(doc);
        store_it(fixture, write);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_runs_query query = {.states = states,
                                         .n_states = cases[i].n_states,
                                         .label_keys = keys,
                                         .label_values = values,
                                         .n_labels = cases[i].n_labels,
                                         .text = cases[i].text,
                                         .limit = 10};
        store_read_runs(fixture->store, &query, on_read, &heard);
        wait_for(fixture, &heard, (int)i + 1);
        assert_int_equal(heard.err.code, ERROR_NONE);
        assert_int_equal(json_array_size(json_object_get(heard.result, "runs")),
                         cases[i].expected);
        assert_true(json_is_null(json_object_get(heard.result, "next")));
    }
    json_decref(heard.result);
}

/* Pages of 7 over 100 runs, several of one millisecond, while newer ones are added. */
TEST(pages_have_no_gap_and_no_duplicate)
{
    struct fixture *fixture = *state;
    struct heard heard = {0};
    char id[16], cursor[200] = "", last[16] = "zzz";
    size_t seen = 0;
    int pages = 0;

    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof(id), "run%03d", i);
        store_submit(fixture->store, write_of_run(id, "completed", i / 4), false, NULL,
                     NULL);
    }
    store_it(fixture, store_write_create());
    do {
        struct store_runs_query query = {.cursor = *cursor ? cursor : NULL, .limit = 7};
        json_t *runs;
        const char *next;
        store_read_runs(fixture->store, &query, on_read, &heard);
        wait_for(fixture, &heard, ++pages);
        runs = json_object_get(heard.result, "runs");
        for (size_t i = 0; i < json_array_size(runs); i++) {
            const char *at =
                json_string_value(json_object_get(json_array_get(runs, i), "id"));
            assert_true(strcmp(at, last) < 0);
            strcpy(last, at);
            seen++;
        }
        next = json_string_value(json_object_get(heard.result, "next"));
        snprintf(cursor, sizeof(cursor), "%s", next ? next : "");
        snprintf(id, sizeof(id), "run9%02d", pages);
        store_it(fixture, write_of_run(id, "queued", 1000 + pages));
    } while (*cursor);
    assert_int_equal(seen, 100);
    assert_int_equal(pages, 15);
    json_decref(heard.result);
}

TEST(bad_cursor_is_refused)
{
    struct fixture *fixture = *state;
    static const char *const cursors[] = {
        "",
        "x",
        "rubbish!",
        "123",
        ":a",
        "1x:a",
        "99999999999999999999:a",
        "1:01234567890123456789012345678901234567890123456789012345678901234"};

    for (size_t i = 0; i < sizeof(cursors) / sizeof(cursors[0]); i++) {
        struct store_runs_query query = {.cursor = cursors[i], .limit = 7};
        struct heard heard = {0};

        store_read_runs(fixture->store, &query, on_read, &heard);
        assert_int_equal(heard.calls, 0);
        wait_for(fixture, &heard, 1);
        assert_int_equal(heard.err.code, ERROR_INVALID);
    }
}

static int note_run(void *arg, struct store_recall *recall, const struct store_run *run,
                    struct error *err)
{
    char *names = arg;

    (void)recall;
    (void)err;
    sprintf(names + strlen(names), "%s:%lld:%lld ",
            json_string_value(json_object_get(run->doc, "id")), (long long)run->head,
            (long long)run->head_ms);
    return 0;
}

TEST(restart_finds_unfinished_runs_oldest_first)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("old", "running", 1);
    char names[100] = "", all[100] = "";
    struct error err;

    add_event(write, "old", 1);
    add_event(write, "old", 2);
    store_it(fixture, write);
    store_it(fixture, write_of_run("new", "queued", 9));
    store_it(fixture, write_of_run("mid", "completed", 5));
    fixture_close(fixture);
    fixture_open(fixture);
    assert_int_equal(store_recall_runs(fixture->store, false, note_run, names, &err), 0);
    assert_string_equal(names, "old:2:1002 new:0:0 ");
    assert_int_equal(store_recall_runs(fixture->store, true, note_run, all, &err), 0);
    assert_string_equal(all, "old:2:1002 mid:0:0 new:0:0 ");
}

/* ---- A log ---- */

static void note_event(void *arg, int64_t time_ms, const char *type, const json_t *body)
{
    buf_printf(arg, "%s %lld case %lld\n", type, (long long)time_ms,
               (long long)json_get_int(body, "case", -1));
}

static void note_result(void *arg, const struct result_record *record, const json_t *key,
                        const json_t *body)
{
    buf_printf(arg, "%s %lld case %d row %d%s\n", json_get_str(key, "collective", "?"),
               (long long)record->time_ms, record->case_no, record->row,
               json_object_get(body, "errors") ? ", its text" : "");
}

static int note_log(void *arg, struct store_recall *recall, const struct store_run *run,
                    struct error *err)
{
    static const struct store_log_taker taker = {note_event, note_result};

    return store_recall_log(recall, json_get_str(run->doc, "id", ""), &taker, arg, err);
}

static void put(struct store_write *write, int64_t time_ms, const char *type,
                const char *text)
{
    json_t *body = json_loads(text, 0, NULL);

    store_write_event(write, "run1", time_ms, type, body);
    json_decref(body);
}

TEST(a_log_comes_in_order_without_results_that_do_not_count)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 1);
    struct error err;
    struct buf out;

    put(write, 1, "case", "{\"case\":0,\"state\":\"rendezvous\"}");
    put(write, 2, "result", "{\"case\":0,\"row\":0,\"collective\":\"given_up\"}");
    store_write_disown(write, "run1", 0);
    put(write, 3, "case", "{\"case\":0,\"state\":\"running\"}");
    put(write, 4, "result", "{\"case\":0,\"row\":0,\"collective\":\"broadcast\"}");
    put(write, 5, "ranks", "{\"case\":0,\"ranks\":[0]}");
    put(write, 6, "result",
        "{\"case\":0,\"row\":1,\"collective\":\"gather\",\"wrong\":1,\"errors\":[]}");
    put(write, 7, "case", "{\"case\":1,\"state\":\"rendezvous\"}");
    put(write, 8, "result", "{\"case\":1,\"row\":0,\"collective\":\"gathering\"}");
    put(write, 9, "message", "{\"text\":\"x\"}");
    store_it(fixture, write);
    buf_init(&out, 1 << 16);
    assert_int_equal(store_recall_runs(fixture->store, false, note_log, &out, &err), 0);
    assert_string_equal(out.data, "case 1 case 0\n"
                                  "case 3 case 0\n"
                                  "broadcast 4 case 0 row 0\n"
                                  "ranks 5 case 0\n"
                                  "gather 6 case 0 row 1, its text\n"
                                  "case 7 case 1\n"
                                  "message 9 case -1\n");
    buf_release(&out);
}

TEST(closing_finishes_writes_and_fails_later_ones)
{
    struct fixture *fixture = *state;
    struct heard early[50] = {0}, late = {0}, read = {0};
    bool is_closed = false;
    char id[16];

    for (int i = 0; i < 50; i++) {
        snprintf(id, sizeof(id), "run%d", i);
        store_submit(fixture->store, write_of_run(id, "queued", i), i % 2, on_written,
                     &early[i]);
    }
    store_close(fixture->store, fixture_mark_closed, &is_closed);
    store_submit(fixture->store, write_of_run("late", "queued", 1), true, on_written,
                 &late);
    store_read_run(fixture->store, "run0", on_read, &read);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_true(is_closed);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(early[i].calls, 1);
        assert_int_equal(early[i].err.code, ERROR_NONE);
    }
    assert_int_equal(late.calls, 1);
    assert_int_equal(late.err.code, ERROR_UNAVAILABLE);
    assert_int_equal(read.calls, 1);
    assert_int_equal(read.err.code, ERROR_UNAVAILABLE);
    fixture_open(fixture);
}
