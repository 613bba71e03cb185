/* test_store_upgrade.c - databases as servers of each earlier version of the schema left
 * them are brought up to date
 *
 * A file of tests/vectors/schema has a line with their PRAGMA application_id and
 * user_version, and sqlite3's .dump of a run `nightly` of all_reduce, 8 to 16 bytes, on
 * an agent node-1 with two ranks. Or it begins with "-- from N" and has the statements
 * that make a database of version N into this one. */
#include "tests/unit/store_fixture.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "common/base/json_util.h"
#include "server/store/store_trends.h"
#include "server/store/store_upgrade.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

#define NEWEST 9  /* of those that are stored */
#define ONE_RUN 4 /* results */

static char *stored(int version)
{
    char path[200], *text = calloc(1, 1 << 16);
    FILE *file;

    snprintf(path, sizeof(path), VECTORS_DIR "/schema/%d.sql", version);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_in_range(fread(text, 1, 1 << 16, file), 100, (1 << 16) - 1);
    fclose(file);
    return text;
}

static void make(struct fixture *fixture, int version)
{
    char *text = stored(version);
    int from;

    if (sscanf(text, "-- from %d", &from) == 1)
        make(fixture, from);
    change_database(fixture, text);
    free(text);
}

/* The folder has that database, changed by `sql`, and no server yet. */
static void lay(struct fixture *fixture, int version, const char *sql)
{
    static const char *const files[] = {"ringbench.db", "ringbench.db-wal",
                                        "ringbench.db-shm"};
    char path[128];

    fixture_close(fixture);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", fixture->dir, files[i]);
        unlink(path);
    }
    make(fixture, version);
    change_database(fixture, sql);
}

/* Its version, and text by text what makes it up. */
static json_t *schema(const struct fixture *fixture)
{
    static const char sql[] = "SELECT user_version FROM pragma_user_version UNION ALL"
                              " SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
                              " ORDER BY 1";
    json_t *list = json_array();
    sqlite3_stmt *stmt;
    char path[128];
    sqlite3 *db;

    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        json_array_append_new(list,
                              json_string((const char *)sqlite3_column_text(stmt, 0)));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return list;
}

static json_t *only_run(struct fixture *fixture, const char *node)
{
    struct heard heard = {0};
    json_t *run;

    store_read_runs(fixture->store, &(struct store_runs_query){.node = node, .limit = 10},
                    on_read, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(json_array_size(json_object_get(heard.result, "runs")), 1);
    run = json_incref(json_array_get(json_object_get(heard.result, "runs"), 0));
    json_decref(heard.result);
    return run;
}

static json_t *whole_run(struct fixture *fixture, const char *id)
{
    struct heard heard = {0};

    store_read_run(fixture->store, id, on_read, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.err.code, ERROR_NONE);
    return heard.result;
}

static void on_summary(void *arg, const struct error *err, struct summary *summary)
{
    assert_null(err);
    *(struct summary **)arg = summary;
}

static int64_t results(struct fixture *fixture, const json_t *run)
{
    struct summary_query query = {.points = SUMMARY_POINTS_DEFAULT, .up_to = INT64_MAX};
    struct summary *summary = NULL;
    int64_t n;

    store_read_summary(fixture->store, run, &query, on_summary, &summary);
    while (!summary)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    n = (int64_t)summary->results;
    summary_destroy(summary);
    return n;
}

static void check_run(struct fixture *fixture, int64_t n_results)
{
    json_t *row = only_run(fixture, "node-1"), *run, *events;
    const char *id = json_get_str(row, "id", "");

    assert_string_equal(json_get_str(row, "name", ""), "nightly");
    assert_non_null(strstr(json_get_str(row, "ended", ""), "2026-11-23T11:"));
    run = whole_run(fixture, id);
    assert_string_equal(json_get_str(run, "state", ""), "completed");
    assert_int_equal(json_array_size(json_object_get(run, "cases")), 1);
    assert_int_equal(results(fixture, run), n_results);
    events = events_of(fixture, id);
    assert_in_range(json_array_size(events), 20, 500);
    json_decref(events);
    json_decref(run);
    json_decref(row);
}

TEST(each_version_becomes_the_newest)
{
    struct fixture *fixture = *state;
    json_t *wanted = schema(fixture), *is;

    if (atoi(json_string_value(json_array_get(wanted, 0))) != NEWEST + 1)
        fail_msg("tests/vectors/schema wants a database of the version before");
    for (int version = 1; version <= NEWEST; version++) {
        lay(fixture, version, "");
        fixture_open(fixture);
        check_run(fixture, ONE_RUN);
        fixture_close(fixture);
        is = schema(fixture);
        if (!json_equal(is, wanted))
            fail_msg("version %d has become another schema", version);
        json_decref(is);
        /* And stays so. */
        fixture_open(fixture);
        check_run(fixture, ONE_RUN);
    }
    json_decref(wanted);
}

/* More than one chunk of records has. */
TEST(results_of_the_first_servers_get_their_records)
{
    struct fixture *fixture = *state;

    lay(fixture, 1,
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 150)"
        " INSERT INTO events SELECT run, 1000 + i, time_ms, type,"
        " json_set(body, '$.row', 3 + i) FROM n, events WHERE id ="
        " (SELECT max(id) FROM events WHERE type = 'result')");
    fixture_open(fixture);
    check_run(fixture, ONE_RUN + 150);
}

TEST(cases_leave_their_document_as_they_were)
{
    static const char cases[] =
        "[{\"case\":0,\"ranks\":[{\"reason\":\"\\u001b[0m \"}]},{\"case\":1}]";
    struct fixture *fixture = *state;
    json_t *row, *run, *wanted = json_loads(cases, 0, NULL);
    char sql[300];

    snprintf(sql, sizeof(sql),
             "UPDATE runs SET doc = json_set(doc, '$.cases', json('%s'))", cases);
    lay(fixture, 3, sql);
    fixture_open(fixture);
    row = only_run(fixture, NULL);
    run = whole_run(fixture, json_get_str(row, "id", ""));
    assert_true(json_equal(json_object_get(run, "cases"), wanted));
    json_decref(wanted);
    json_decref(run);
    json_decref(row);
}

static void check_answer(struct fixture *fixture, const char *answer, size_t wanted)
{
    struct heard heard = {0};

    store_read_runs(
        fixture->store,
        &(struct store_runs_query){.answers = &answer, .n_answers = 1, .limit = 10},
        on_read, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(json_array_size(json_object_get(heard.result, "runs")), wanted);
    json_decref(heard.result);
}

TEST(runs_of_earlier_versions_are_found_by_their_answers)
{
    struct fixture *fixture = *state;

    lay(fixture, 9,
        "UPDATE run_cases SET doc = json_set(doc, '$.transports', json('{\"verdicts\":"
        "[{\"kind\":\"transport\",\"answer\":\"finding\"}]}'))");
    fixture_open(fixture);
    check_answer(fixture, "preflight:ok", 1);
    check_answer(fixture, "transport:finding", 1);
    check_answer(fixture, "preflight:finding", 0);
}

/* Nor does it keep a server from starting. */
TEST(a_damaged_run_can_be_deleted)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct heard heard = {0};

    lay(fixture, 5,
        "UPDATE runs SET id = 'a', doc = '{\"id\": \"a'; UPDATE events SET run = 'a';"
        "DELETE FROM run_cases; DELETE FROM run_nodes; DELETE FROM run_values;"
        "DELETE FROM result_chunks; DELETE FROM result_keys; DELETE FROM values_due");
    fixture_open(fixture);
    store_write_delete(write, "a");
    store_it(fixture, write);
    store_read_runs(fixture->store, &(struct store_runs_query){.limit = 10}, on_read,
                    &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(json_array_size(json_object_get(heard.result, "runs")), 0);
    json_decref(heard.result);
}

/* systemd's end of NOTIFY_SOCKET. */
static int listen_to_notes(const struct fixture *fixture)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/notes", fixture->dir);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    return fd;
}

/* A status for systemd, and the numbers in it: "1 10" for "from version 1 to 10". */
static void assert_note(int fd, const char *wanted)
{
    char text[400] = "", numbers[100] = "", *at = text, *end;

    if (recv(fd, text, sizeof(text) - 1, 0) < 0)
        fail_msg("no status came, wanted: %s", wanted);
    assert_memory_equal(text, "STATUS=", strlen("STATUS="));
    end = strstr(text, "\nEXTEND_TIMEOUT_USEC=60000000");
    assert_non_null(end);
    for (*end = '\0'; *(at += strcspn(at, "0123456789"));)
        snprintf(numbers + strlen(numbers), sizeof(numbers) - strlen(numbers), "%s%ld",
                 numbers[0] ? " " : "", strtol(at, &at, 10));
    assert_string_equal(numbers, wanted);
}

TEST(systemd_is_told_the_progress)
{
    const int64_t s = 1000000000;
    struct fixture *fixture = *state;
    struct store_upgrade upgrade = {.began_ns = 100 * s, .next_ns = 105 * s};
    int fd = listen_to_notes(fixture);
    char byte;

    lay(fixture, 1, "");
    fixture_open(fixture);
    assert_note(fd, "1 10");
    store_upgrade_tick(&upgrade, 104 * s);
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    store_upgrade_tick(&upgrade, 105 * s);
    assert_note(fd, "5");
    upgrade.done = 1000;
    upgrade.total = 3000;
    store_upgrade_tick(&upgrade, 109 * s);
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    store_upgrade_tick(&upgrade, 110 * s);
    assert_note(fd, "1000 3000 10 20");
    /* Nothing to upgrade, no status. */
    fixture_close(fixture);
    fixture_open(fixture);
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    unsetenv("NOTIFY_SOCKET");
    close(fd);
}
