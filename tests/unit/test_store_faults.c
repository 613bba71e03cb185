/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_faults.c - full disks, killed servers, foreign and damaged files */
#include "tests/unit/full_disk.h"
#include "tests/unit/store_fixture.h"

#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "server/store/store_sql.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

/* ---- Durability ---- */

struct writer_child {
    struct fixture fixture;
    int report; /* the write end of a pipe: one byte per committed event */
};

static void submit_event(struct writer_child *child, store_written *done)
{
    struct store_write *write = store_write_create();

    add_event(write, "run1", 1);
    store_submit(child->fixture.store, write, false, done, child);
}

static void report_and_go_on(void *arg, const struct error *err,
                             const struct store_event *events, size_t n_events)
{
    struct writer_child *child = arg;

    (void)events;
    if (err || n_events != 1 || write(child->report, "x", 1) != 1)
        _exit(3);
    submit_event(child, report_and_go_on);
}

static void write_until_killed(const char *dir, int report)
{
    struct writer_child child = {.report = report};

    strcpy(child.fixture.dir, dir);
    uv_loop_init(&child.fixture.loop);
    fixture_open(&child.fixture);
    store_it(&child.fixture, write_of_run("run1", "running", 1));
    for (int i = 0; i < 8; i++)
        submit_event(&child, report_and_go_on);
    uv_run(&child.fixture.loop, UV_RUN_DEFAULT);
    _exit(4);
}

TEST(killed_server_keeps_what_it_acknowledged)
{
    struct fixture *fixture = *state;
    size_t reported = 0, stored;
    int ends[2], status;
    char byte;
    json_t *events;
    pid_t pid;

    fixture_close(fixture);
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        write_until_killed(fixture->dir, ends[1]);
    }
    close(ends[1]);
    while (reported < 300 && read(ends[0], &byte, 1) == 1)
        reported++;
    kill(pid, SIGKILL);
    while (read(ends[0], &byte, 1) == 1)
        reported++;
    close(ends[0]);
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && reported >= 300);
    fixture_open(fixture);
    events = events_of(fixture, "run1");
    stored = json_array_size(events);
    assert_true(stored >= reported);
    for (size_t i = 0; i < stored; i++)
        assert_int_equal(
            json_integer_value(json_object_get(json_array_get(events, i), "id")), i + 1);
    json_decref(events);
}

/* ---- A disk that refuses ---- */

static struct store_write *write_of_event(int number)
{
    struct store_write *write = store_write_create();

    add_event(write, "run1", number);
    return write;
}

TEST(refused_writes_are_retried_in_order)
{
    struct fixture *fixture = *state;
    struct heard first = {0}, second = {0}, impatient = {0}, later = {0};
    json_t *events;

    store_it(fixture, write_of_run("run1", "running", 1));
    refuse_writes(fixture->dir);
    store_submit(fixture->store, write_of_event(1), true, on_written, &first);
    store_submit(fixture->store, write_of_event(9), false, on_written, &impatient);
    wait_for(fixture, &impatient, 1);
    assert_int_equal(impatient.err.code, ERROR_UNAVAILABLE);
    assert_non_null(store_trouble(fixture->store));
    /* Behind a stuck write: one waits its turn, one fails at once. */
    store_submit(fixture->store, write_of_event(2), true, on_written, &second);
    store_submit(fixture->store, write_of_event(9), false, on_written, &later);
    wait_for(fixture, &later, 1);
    assert_int_equal(later.err.code, ERROR_UNAVAILABLE);
    assert_int_equal(first.calls + second.calls, 0);
    allow_writes();
    wait_for(fixture, &second, 1);
    assert_int_equal(first.calls, 1);
    assert_int_equal(first.err.code, ERROR_NONE);
    assert_int_equal(first.ids[0], 1);
    assert_int_equal(second.ids[0], 2);
    assert_null(store_trouble(fixture->store));
    events = events_of(fixture, "run1");
    assert_int_equal(json_array_size(events), 2);
    json_decref(events);
}

TEST(acks_do_not_rise_while_the_disk_refuses)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct heard stuck = {0}, probe = {0};

    store_it(fixture, write_of_run("run1", "running", 1));
    refuse_writes(fixture->dir);
    store_write_ack(write, "boot", 5);
    store_submit(fixture->store, write, true, on_written, &stuck);
    store_submit(fixture->store, write_of_event(9), false, on_written, &probe);
    wait_for(fixture, &probe, 1);
    assert_int_equal(acked(fixture, "boot"), -1);
    allow_writes();
    wait_for(fixture, &stuck, 1);
    assert_int_equal(acked(fixture, "boot"), 5);
}

TEST(closing_does_not_wait_for_the_disk)
{
    struct fixture *fixture = *state;
    struct heard stuck = {0}, probe = {0};
    json_t *events;

    store_it(fixture, write_of_run("run1", "running", 1));
    refuse_writes(fixture->dir);
    store_submit(fixture->store, write_of_event(1), true, on_written, &stuck);
    store_submit(fixture->store, write_of_event(9), false, on_written, &probe);
    wait_for(fixture, &probe, 1);
    fixture_close(fixture);
    allow_writes();
    assert_int_equal(stuck.calls, 1);
    assert_int_equal(stuck.err.code, ERROR_UNAVAILABLE);
    fixture_open(fixture);
    events = events_of(fixture, "run1");
    assert_int_equal(json_array_size(events), 0);
    json_decref(events);
}

/* ---- A disk that is full ---- */

static void fill_disk(const char *path)
{
    static const char zeros[4096];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    ssize_t n;

    assert_true(fd >= 0);
    do {
        n = write(fd, zeros, sizeof(zeros));
    } while (n > 0);
    close(fd);
}

static void stop_loop(uv_timer_t *timer)
{
    (void)timer;
}

/* Run the loop until the trouble is as expected; the disk is looked at each second. */
static void wait_for_trouble(struct fixture *fixture, bool is_expected)
{
    uv_timer_t timer;

    uv_timer_init(&fixture->loop, &timer);
    uv_timer_start(&timer, stop_loop, 50, 50);
    while (!store_trouble(fixture->store) == is_expected)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&fixture->loop, UV_RUN_NOWAIT);
}

TEST(full_disk_loses_nothing)
{
    struct fixture *fixture = *state;
    struct heard stuck[20] = {0}, probe = {0};
    char filler[128];
    json_t *events;

    fixture_close(fixture);
    if (mount("tmpfs", fixture->dir, "tmpfs", 0, "size=2m") < 0) {
        fixture_open(fixture);
        print_message("may not mount a small file system: not tried\n");
        skip();
    }
    setenv("RINGBENCH_STORE_RESERVE_BYTES", "500000", 1);
    fixture_open(fixture);
    unsetenv("RINGBENCH_STORE_RESERVE_BYTES");
    store_it(fixture, write_of_run("run1", "running", 1));
    assert_null(store_trouble(fixture->store));
    snprintf(filler, sizeof(filler), "%s/filler", fixture->dir);
    fill_disk(filler);
    wait_for_trouble(fixture, true);
    assert_non_null(strstr(store_trouble(fixture->store), "full"));
    for (int i = 0; i < 20; i++)
        store_submit(fixture->store, write_of_event(i), true, on_written, &stuck[i]);
    store_submit(fixture->store, write_of_event(99), false, on_written, &probe);
    wait_for(fixture, &probe, 1);
    assert_int_equal(probe.err.code, ERROR_UNAVAILABLE);
    unlink(filler);
    wait_for(fixture, &stuck[19], 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(stuck[i].ids[0], i + 1);
    wait_for_trouble(fixture, false);
    fixture_close(fixture);
    fixture_open(fixture);
    events = events_of(fixture, "run1");
    assert_int_equal(json_array_size(events), 20);
    json_decref(events);
    fixture_close(fixture);
    umount(fixture->dir);
    fixture_open(fixture);
}

TEST(reserve_is_trouble_before_a_write_fails)
{
    struct fixture *fixture = *state;

    assert_null(store_trouble(fixture->store));
    fixture_close(fixture);
    setenv("RINGBENCH_STORE_RESERVE_BYTES", "18446744073709551615", 1);
    fixture_open(fixture);
    unsetenv("RINGBENCH_STORE_RESERVE_BYTES");
    assert_non_null(store_trouble(fixture->store));
    store_it(fixture, write_of_run("run1", "running", 1));
}

/* ---- Files that are not ours ---- */

static void refuse_open(struct fixture *fixture, enum error_code code, const char *text)
{
    struct error err = {ERROR_NONE, ""};

    assert_null(store_open(&fixture->loop, fixture->dir, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" lacks \"%s\"", err.text, text);
}

TEST(second_server_is_refused_by_pid)
{
    struct fixture *fixture = *state;
    char text[64];

    snprintf(text, sizeof(text), "is in use by process %d", (int)getpid());
    refuse_open(fixture, ERROR_CONFLICT, text);
    store_it(fixture, write_of_run("run1", "running", 1));
}

/* The file stays as it is. */
TEST(another_schema_is_refused_with_the_way_out)
{
    static const char *const others[] = {
        "PRAGMA user_version = 99",
        "PRAGMA application_id = 1380074312; PRAGMA user_version = 10"};
    struct fixture *fixture = *state;
    char path[128];

    fixture_close(fixture);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        change_database(fixture, others[i]);
        for (int again = 0; again < 2; again++)
            refuse_open(fixture, ERROR_UNSUPPORTED, "/results?format=csv");
    }
    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    assert_int_equal(unlink(path), 0);
    fixture_open(fixture);
}

/* Nor does it keep a server from starting. */
TEST(damaged_run_can_be_deleted)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct heard heard = {0};

    store_it(fixture, write_of_run("a", "completed", 1));
    fixture_close(fixture);
    change_database(fixture, "DROP TRIGGER run_changed;"
                             "UPDATE runs SET doc = '{\"id\": \"a'");
    fixture_open(fixture);
    store_write_delete(write, "a");
    store_it(fixture, write);
    store_read_runs(fixture->store, &(struct store_runs_query){.limit = 10}, on_read,
                    &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(json_array_size(json_object_get(heard.result, "runs")), 0);
    json_decref(heard.result);
}

TEST(foreign_database_is_refused)
{
    struct fixture *fixture = *state;

    fixture_close(fixture);
    change_database(fixture, "PRAGMA application_id = 7");
    refuse_open(fixture, ERROR_CONFLICT, "another program's database");
    change_database(fixture, "PRAGMA application_id = 0");
    refuse_open(fixture, ERROR_CONFLICT, "another program's database");
}

TEST(damaged_database_is_refused)
{
    struct fixture *fixture = *state;
    char path[128];
    FILE *file;

    fixture_close(fixture);
    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is not a database\n", file);
    fclose(file);
    refuse_open(fixture, ERROR_IO, "file is not a database");
    refuse_open(fixture, ERROR_IO, path);
}

/* Fill the second half of the file with zeros: the tables' roots are in the first. */
static void damage_events(const struct fixture *fixture)
{
    static const char zeros[4096];
    char path[128];
    struct stat st;
    int fd;

    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    fd = open(path, O_WRONLY);
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = st.st_size / 2 / 4096 * 4096; at < st.st_size; at += 4096)
        assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
    close(fd);
}

TEST(damage_that_a_read_meets_is_trouble)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "completed", 1);
    struct heard heard = {0};

    for (int i = 0; i < 5000; i++)
        add_event(write, "run1", i);
    store_it(fixture, write);
    fixture_close(fixture);
    damage_events(fixture);
    fixture_open(fixture);
    assert_null(store_trouble(fixture->store));
    store_read_events(fixture->store, "run1", 0, NULL, 5000, on_page, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.err.code, ERROR_IO);
    assert_non_null(store_trouble(fixture->store));
    assert_non_null(
        strstr(store_trouble(fixture->store),
               "the database cannot be read (cannot read: database disk image "
               "is malformed): stop the server, check the disk, restore a "
               "backup"));
    /* A read that meets none does not mend it. */
    store_read_run(fixture->store, "run1", on_read, &heard);
    wait_for(fixture, &heard, 2);
    assert_non_null(store_trouble(fixture->store));
    json_decref(heard.result);
}

static int summarize(sqlite3 *db, void *arg, struct error *err)
{
    const struct summary_query query = {.up_to = INT64_MAX, .points = 100};
    json_t *run = json_pack("{s:s}", "id", "run1");
    struct summary *summary = store_get_summary(db, run, &query, err);

    (void)arg;
    json_decref(run);
    summary_destroy(summary);
    return summary ? 0 : -1;
}

TEST(damaged_results_are_trouble)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "completed", 1);
    json_t *row = json_pack("{s:i, s:i, s:i, s:i, s:i}", "case", 0, "attempt", 1, "row",
                            0, "series", 0, "size", 8);
    struct heard heard = {0};

    assert_int_equal(store_write_event(write, "run1", 1, "result", row), 0);
    json_decref(row);
    store_it(fixture, write);
    change_database(fixture, "UPDATE result_texts SET text = 'x'");
    store_do(fixture->store, summarize, on_worked, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.err.code, ERROR_IO);
    assert_non_null(strstr(store_trouble(fixture->store), "results of run run1"));
}

/* Its agent would send again what is stored. */
TEST(an_acknowledgement_that_cannot_be_read_is_not_unknown)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct error err = {ERROR_NONE, ""};
    int64_t seq;

    store_write_ack(write, "boot", 7);
    store_it(fixture, write);
    change_database(fixture, "ALTER TABLE acks RENAME TO lost");
    assert_int_equal(store_acked(fixture->store, "boot", &seq, &err), -1);
    assert_int_not_equal(err.code, ERROR_NONE);
    change_database(fixture, "ALTER TABLE lost RENAME TO acks");
    assert_int_equal(acked(fixture, "boot"), 7);
}

TEST(what_passes_by_itself_is_no_damage)
{
    static const int damage[] = {SQLITE_CORRUPT,         SQLITE_CORRUPT_INDEX,
                                 SQLITE_NOTADB,          SQLITE_IOERR_READ,
                                 SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_SHORT_READ,
                                 SQLITE_IOERR_DATA};
    static const int passing[] = {SQLITE_IOERR_NOMEM,  SQLITE_IOERR_SHMSIZE,
                                  SQLITE_IOERR_SHMMAP, SQLITE_IOERR_BLOCKED,
                                  SQLITE_IOERR_LOCK,   SQLITE_IOERR_WRITE,
                                  SQLITE_BUSY,         SQLITE_FULL};

    for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++)
        assert_true(store_sql_is_damage(damage[i]));
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        assert_false(store_sql_is_damage(passing[i]));
        assert_true(store_sql_is_environment(passing[i]));
    }
}

TEST(directory_in_the_way_of_a_file_is_refused)
{
    struct fixture *fixture = *state;
    char dir[64];

    strcpy(dir, fixture->dir);
    strcat(fixture->dir, "/ringbench.db/deeper");
    refuse_open(fixture, ERROR_IO, "cannot create the directory");
    strcpy(fixture->dir, dir);
}

TEST(missing_directories_are_made)
{
    struct fixture *fixture = *state;
    char dir[64];

    fixture_close(fixture);
    strcpy(dir, fixture->dir);
    strcat(fixture->dir, "/a/b");
    fixture_open(fixture);
    fixture_close(fixture);
    strcpy(fixture->dir, dir);
}

TEST(idempotency_key_expires)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "queued", 1);
    char run[13], hash[65];

    store_write_idempotency(write, "key", "hash1", "run1");
    store_it(fixture, write);
    fixture_close(fixture);
    change_database(fixture, "UPDATE idempotency SET created_ms = 1");
    fixture_open(fixture);
    assert_false(store_idempotency(fixture->store, "key", run, hash));
    write = write_of_run("run2", "queued", 1);
    store_write_idempotency(write, "key", "hash2", "run2");
    store_it(fixture, write);
    assert_true(store_idempotency(fixture->store, "key", run, hash));
    assert_string_equal(run, "run2");
}
