/* SPDX-License-Identifier: Apache-2.0 */
/* test_scheduler.c - runs through the real store and rendezvous, with agents played by
 * the test: what they report, and what becomes of the run */
#include "tests/unit/scheduler_fixture.h"
#include "server/runs/run.h"
#include "tests/unit/test.h"

#include <sqlite3.h>

EACH_FIXTURE(setup, teardown);

TEST(a_run_completes_when_all_ranks_are_done_and_gone)
{
    struct world *world = *state;
    struct agent a, b;
    const json_t *start;
    json_t *doc;
    char run[16];

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{\"sizes\":[8],\"in_place\":false}", run);
    start = agent_await(&a, "start");
    assert_int_equal(json_get_int(start, "world_size", 0), 2);
    assert_int_equal(json_get_int(start, "group_rank", -1), 0);
    assert_true(json_get_int(start, "master_port", 0) > 0);
    assert_int_equal(json_get_int(agent_await(&b, "start"), "group_rank", -1), 1);
    agent_join(&a, run, 1, 0);
    agent_join(&b, run, 1, 1);
    agent_say(
        &a, run, 1, "result",
        ",\"rank\":0,\"row\":0,\"series\":0,\"size\":8,\"busbw_gbs\":2.0,\"wrong\":0");
    agent_finish(&a, run, 1, 0);
    agent_finish(&b, run, 1, 1);
    doc = await_end(world, run);
    assert_string_equal(json_get_str(doc, "state", ""), "completed");
    assert_int_equal(json_get_int(doc, "rows_done", 0), 1);
    assert_int_equal(json_get_int(doc, "rows_total", 0), 1);
    json_decref(doc);
    release_agent(&a);
    release_agent(&b);
}

/* A thousand nodes get as many starts. */
TEST(a_start_names_other_nodes_only_to_groups_of_them)
{
    struct world *world = *state;
    struct agent a, b;
    struct error err;
    const json_t *start, *nodes;
    char run[16];

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{}", run);
    start = agent_await(&a, "start");
    assert_int_equal(json_array_size(json_object_get(start, "ranks")), 1);
    assert_null(json_object_get(json_object_get(start, "spec"), "placed"));
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    agent_say(&a, run, 1, "gone", "");
    agent_say(&b, run, 1, "gone", "");
    assert_ended(world, run, "cancelled", NULL);
    submit(world, "{\"split\":\"node\"}", run);
    start = agent_await(&a, "start");
    nodes = json_object_get(json_object_get(start, "spec"), "placed");
    assert_int_equal(json_array_size(nodes), 2);
    assert_string_equal(json_string_value(json_array_get(json_array_get(nodes, 1), 0)),
                        "b");
    release_agent(&a);
    release_agent(&b);
}

/* The time to join counts anew for forming the communicator. */
TEST(a_slow_init_is_given_its_time)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    start_run(&a, 1, world, "{}", run);
    agent_say(&a, run, 1, "spawn", ",\"rank\":0");
    live_for(world, 20000);
    agent_say(&a, run, 1, "phase", ",\"rank\":0,\"phase\":\"joined\"");
    live_for(world, 20000);
    agent_say(&a, run, 1, "phase", ",\"rank\":0,\"phase\":\"connected\"");
    agent_finish(&a, run, 1, 0);
    assert_ended(world, run, "completed", NULL);
    release_agent(&a);
}

/* Here for longer than stall_s. */
TEST(what_the_host_checks_is_progress)
{
    struct world *world = *state;
    struct agent a;
    char run[16], more[64];

    start_joined(&a, 1, world, "{\"stall_s\":30}", run);
    for (int i = 1; i <= 4; i++) {
        snprintf(more, sizeof(more), ",\"rank\":0,\"op\":1,\"done\":1,\"checked\":%d", i);
        agent_say(&a, run, 1, "progress", more);
        live_for(world, 20000);
    }
    agent_say(&a, run, 1, "done", ",\"rank\":0,\"ok\":true");
    agent_say(&a, run, 1, "gone", "");
    assert_ended(world, run, "completed", NULL);
    release_agent(&a);
}

TEST(a_run_ends_at_its_timeout)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    start_joined(&a, 1, world, "{\"repeats\":2,\"timeout_s\":900,\"stall_s\":3600}", run);
    agent_await(&a, "stop");
    assert_in_range(world->now.wall_ms - START_MS, 900000, 900000 + 2 * STEP_MS);
    agent_say(&a, run, 1, "gone", "");
    assert_ended(world, run, "failed", "the run took longer than its timeout of 900 s");
    release_agent(&a);
}

TEST(cancelling_stops_the_workers_first)
{
    struct world *world = *state;
    struct agent a;
    struct error err;
    char run[16], waiting[16];

    agent_start(&a, world, "a");
    submit(world, "{\"repeats\":3}", run);
    submit(world, "{}", waiting);
    agent_await(&a, "start");
    agent_join(&a, run, 1, 0);
    assert_int_equal(scheduler_cancel(world->scheduler, waiting, &err), 0);
    assert_ended(world, waiting, "cancelled", "cancelled by request");
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    agent_await(&a, "stop");
    assert_true(scheduler_run_is_active(world->scheduler, run));
    agent_say(&a, run, 1, "gone", "");
    assert_ended(world, run, "cancelled", "request");
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), -1);
    assert_int_equal(err.code, ERROR_NOT_FOUND);
    release_agent(&a);
}

TEST(a_restarted_server_goes_on_where_it_was)
{
    struct world *world = *state;
    struct acknowledgement answer;
    struct agent a;
    json_t *doc;
    char run[16], line[512];

    start_joined(&a, 1, world, "{\"sizes\":[8],\"in_place\":false}", run);
    agent_say(
        &a, run, 1, "result",
        ",\"rank\":0,\"row\":0,\"series\":0,\"size\":8,\"busbw_gbs\":2.0,\"wrong\":0");
    close_world(world);
    open_world(world);
    agent_register(&a,
                   json_pack("[{s:s, s:i, s:i}]", "run", run, "case", 0, "attempt", 1));
    assert_int_equal(a.seq, 4);
    /* The answer was lost, so the agent repeats: it must not count twice. */
    snprintf(
        line, sizeof(line),
        "{\"seq\":4,\"time_ms\":5,\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":"
        "\"result\",\"rank\":0,\"row\":0,\"series\":0,\"size\":8,\"busbw_gbs\":2.0}\n",
        run);
    answer = agent_post(&a, line);
    assert_int_equal(answer.code, ERROR_NONE);
    assert_int_equal(answer.acked, 4);
    agent_finish(&a, run, 1, 0);
    doc = await_end(world, run);
    assert_string_equal(json_get_str(doc, "state", ""), "completed");
    assert_int_equal(json_get_int(doc, "rows_done", 0), 1);
    json_decref(doc);
    release_agent(&a);
}

/* The server was killed after it had stored that the case is gone, and before it acted on
 * that or acknowledged it. The last line that it stored stands for this one. */
TEST(a_case_whose_end_was_stored_before_a_restart_is_not_awaited)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    start_joined(&a, 1, world, "{}", run);
    agent_say(&a, run, 1, "done", ",\"rank\":0,\"ok\":true");
    close_world(world);
    open_world(world);
    agent_register(&a, json_pack("[{s:s, s:i, s:i, s:I}]", "run", run, "case", 0,
                                 "attempt", 1, "gone", (json_int_t)a.seq));
    assert_ended(world, run, "completed", NULL);
    release_agent(&a);
}

/* It lost the answer to its last line, say, and the line is not on the disk yet. It will
 * not be told to say it again. */
TEST(a_case_whose_end_is_being_stored_is_not_awaited)
{
    struct world *world = *state;
    struct acknowledgement answer = {0};
    char first[16], second[16], line[128];
    struct agent a;
    int64_t seq;

    start_joined(&a, 1, world, "{}", first);
    submit(world, "{}", second);
    agent_say(&a, first, 1, "done", ",\"rank\":0,\"ok\":true");
    seq = a.seq + 1;
    snprintf(line, sizeof(line),
             "{\"seq\":%lld,\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":\"gone\"}\n",
             (long long)seq, first);
    agents_events(world->agents, a.id, key, line, strlen(line), on_acked, &answer);
    agent_register(&a, json_pack("[{s:s, s:i, s:i, s:I}]", "run", first, "case", 0,
                                 "attempt", 1, "gone", (json_int_t)seq));
    await(world, &answer.has_come);
    assert_int_equal(answer.acked, seq);
    assert_string_equal(json_get_str(agent_await(&a, "start"), "run", ""), second);
    release_agent(&a);
}

/* Its lease of 60 s and 10 s more, however many cases need it. */
TEST(a_node_that_does_not_come_back_after_a_restart_is_awaited_once)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    start_joined(&a, 1, world, "{\"repeats\":2}", run);
    close_world(world);
    open_world(world);
    int64_t begun_ms = world->now.wall_ms;
    assert_ended(world, run, "failed", NULL);
    assert_in_range(world->now.wall_ms - begun_ms, 60000, 75000);
    release_agent(&a);
}

TEST(a_rendezvous_cut_by_a_restart_begins_again)
{
    struct world *world = *state;
    struct agent a;
    const json_t *start;
    char run[16];

    start_run(&a, 1, world, "{}", run);
    agent_say(&a, run, 1, "spawn", ",\"rank\":0");
    close_world(world);
    open_world(world);
    agent_register(&a,
                   json_pack("[{s:s, s:i, s:i}]", "run", run, "case", 0, "attempt", 1));
    assert_int_equal(json_get_int(agent_await(&a, "stop"), "attempt", 0), 1);
    agent_say(&a, run, 1, "gone", "");
    start = agent_await(&a, "start");
    assert_int_equal(json_get_int(start, "attempt", 0), 2);
    agent_join(&a, run, 2, 0);
    agent_finish(&a, run, 2, 0);
    assert_ended(world, run, "completed", NULL);
    release_agent(&a);
}

/* The database, as another program sees it: what the statement says first, or 0. */
static int ask_database(const struct world *world, const char *sql)
{
    char path[128];
    sqlite3_stmt *stmt;
    sqlite3 *db;
    int first = 0;

    snprintf(path, sizeof(path), "%s/ringbench.db", world->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(db, 10000), SQLITE_OK);
    while (*sql) {
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, &sql), SQLITE_OK);
        if (sqlite3_step(stmt) == SQLITE_ROW)
            first = sqlite3_column_int(stmt, 0);
        sqlite3_finalize(stmt);
    }
    sqlite3_close(db);
    return first;
}

/* Another program has removed it: nothing of it can be stored any more. */
TEST(a_run_of_which_nothing_can_be_stored_leaves_memory)
{
    struct world *world = *state;
    struct agent a;
    char run[16];
    struct error err;

    start_joined(&a, 1, world, "{}", run);
    ask_database(world, "DELETE FROM runs");
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    live_for(world, 120000);
    assert_null(scheduler_run_packed(world->scheduler, run));
    release_agent(&a);
}

/* Its nodes stand there, and there may be thousands of both. */
TEST(the_row_of_a_run_is_not_written_for_each_case)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    agent_start(&a, world, "a");
    ask_database(world, "CREATE TABLE count (n); INSERT INTO count VALUES (0);"
                        "CREATE TRIGGER counts AFTER UPDATE ON runs BEGIN"
                        " UPDATE count SET n = n + 1; END");
    submit(world, "{\"repeats\":20}", run);
    for (int i = 0; i < 20; i++) {
        agent_await(&a, "start");
        agent_say_of(&a, run, i, 1, "phase", ",\"rank\":0,\"phase\":\"connected\"");
        agent_say_of(&a, run, i, 1, "done", ",\"rank\":0,\"ok\":true");
        agent_say_of(&a, run, i, 1, "gone", "");
    }
    assert_ended(world, run, "completed", NULL);
    assert_in_range(ask_database(world, "SELECT n FROM count"), 1, 5);
    release_agent(&a);
}

/* In one batch. */
static void post_lines(struct agent *agent, const char *run, const char *const *says,
                       size_t n)
{
    struct buf lines;

    buf_init(&lines, 1 << 20);
    for (size_t i = 0; i < n; i++)
        buf_printf(&lines,
                   "{\"seq\":%lld,\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":%s}\n",
                   (long long)++agent->seq, run, says[i]);
    assert_int_equal(agent_post(agent, lines.data).code, ERROR_NONE);
    buf_release(&lines);
}

/* The event has the transport of the first; a rank with another one has its own. */
TEST(ranks_of_a_node_that_go_another_way_say_so)
{
    static const char *const says[] = {
        "\"phase\",\"rank\":0,\"phase\":\"connected\",\"transport\":\"shm\"",
        "\"phase\",\"rank\":1,\"phase\":\"connected\",\"transport\":\"shm\"",
        "\"phase\",\"rank\":2,\"phase\":\"connected\",\"transport\":\"tcp\"",
    };
    struct world *world = *state;
    struct reading reading = {0};
    const json_t *event, *each;
    struct agent a;
    char run[16];

    agent_start_ranks(&a, world, "a", 3);
    submit(world, "{}", run);
    agent_await(&a, "start");
    post_lines(&a, run, says, sizeof(says) / sizeof(says[0]));
    store_read_events(world->store, run, 0, "ranks", 100, on_events, &reading);
    await(world, &reading.has_come);
    event = json_array_get(reading.result, 0);
    each = json_object_get(event, "each");
    assert_int_equal(json_array_size(json_object_get(event, "ranks")), 3);
    assert_string_equal(json_get_str(event, "transport", ""), "shm");
    assert_int_equal(json_array_size(each), 1);
    assert_int_equal(json_get_int(json_array_get(each, 0), "rank", -1), 2);
    assert_string_equal(json_get_str(json_array_get(each, 0), "transport", ""), "tcp");
    json_decref(reading.result);
    release_agent(&a);
}

/* Rank 1 comes late: that it is done must not be said before that it runs. */
TEST(ranks_of_a_node_keep_the_order_of_their_states)
{
    static const char *const says[] = {
        "\"phase\",\"rank\":0,\"phase\":\"running\"",
        "\"done\",\"rank\":0,\"ok\":true",
        "\"phase\",\"rank\":1,\"phase\":\"connected\"",
        "\"phase\",\"rank\":1,\"phase\":\"running\"",
        "\"done\",\"rank\":1,\"ok\":true",
        "\"exit\",\"rank\":1,\"code\":0",
    };
    struct world *world = *state;
    struct reading reading = {0};
    struct agent a;
    char run[16];
    const json_t *event;
    size_t i;
    int last = -1;

    agent_start_ranks(&a, world, "a", 2);
    submit(world, "{}", run);
    agent_await(&a, "start");
    post_lines(&a, run, says, sizeof(says) / sizeof(says[0]));
    store_read_events(world->store, run, 0, "ranks", 100, on_events, &reading);
    await(world, &reading.has_come);
    json_array_foreach (reading.result, i, event) {
        const json_t *ranks = json_object_get(event, "ranks");
        int now = rank_state_lookup(json_get_str(event, "state", ""));

        for (size_t k = 0; k < json_array_size(ranks); k++)
            if (json_integer_value(json_array_get(ranks, k)) == 1) {
                assert_true(now > last);
                last = now;
            }
    }
    assert_int_equal(last, RANK_DONE);
    json_decref(reading.result);
    reading = (struct reading){0};
    store_read_events(world->store, run, 0, "rank", 100, on_events, &reading);
    await(world, &reading.has_come);
    assert_int_equal(json_array_size(reading.result), 0); /* nobody failed */
    json_decref(reading.result);
    release_agent(&a);
}

/* Thousands of ranks say five times each that all is well. */
TEST(ranks_of_a_node_that_have_come_as_far_are_one_event)
{
    static const char *const says[] = {
        "\"spawn\",\"rank\":0",
        "\"phase\",\"rank\":0,\"phase\":\"joined\",\"seconds\":0.5",
        "\"spawn\",\"rank\":1",
        "\"phase\",\"rank\":1,\"phase\":\"joined\",\"seconds\":0.75",
        "\"phase\",\"rank\":1,\"phase\":\"connected\",\"init_s\":2.5",
        "\"phase\",\"rank\":0,\"phase\":\"connected\"",
        "\"exit\",\"rank\":1,\"signal\":9",
    };
    static const char *const wanted[] = {
        "\"spawned\",\"ranks\":[0,1]}",
        "\"joined\",\"ranks\":[0,1],\"seconds\":0.75}",
        "\"connected\",\"ranks\":[1,0],\"each\":[{\"rank\":1,\"init_s\":2.5}]}",
    };
    struct world *world = *state;
    struct reading reading = {0};
    struct agent a;
    char run[16];

    agent_start_ranks(&a, world, "a", 2);
    submit(world, "{}", run);
    agent_await(&a, "start");
    post_lines(&a, run, says, sizeof(says) / sizeof(says[0]));
    store_read_events(world->store, run, 0, "ranks", 100, on_events, &reading);
    await(world, &reading.has_come);
    assert_int_equal(json_array_size(reading.result), 3);
    for (size_t i = 0; i < 3; i++) {
        char *text = json_text(json_array_get(reading.result, i));

        if (!strstr(text, wanted[i]))
            fail_msg("%s has no %s", text, wanted[i]);
        free(text);
    }
    json_decref(reading.result);
    reading = (struct reading){0};
    store_read_events(world->store, run, 0, "rank", 100, on_events, &reading);
    await(world, &reading.has_come);
    assert_int_equal(json_array_size(reading.result), 1);
    json_decref(reading.result);
    release_agent(&a);
}

TEST(a_gap_in_the_events_is_refused)
{
    struct world *world = *state;
    struct acknowledgement answer;
    struct agent a;
    char run[16], line[256];

    start_run(&a, 1, world, "{}", run);
    agent_say(&a, run, 1, "spawn", ",\"rank\":0");
    snprintf(line, sizeof(line),
             "{\"seq\":9,\"time_ms\":5,\"run\":\"%s\",\"case\":0,\"attempt\":1,"
             "\"type\":\"spawn\",\"rank\":0}\n",
             run);
    answer = agent_post(&a, line);
    assert_int_equal(answer.code, ERROR_CONFLICT);
    assert_int_equal(answer.acked, 1);
    answer = agent_post(&a, "not json\n");
    assert_int_equal(answer.code, ERROR_INVALID);
    release_agent(&a);
}

TEST(events_of_unknown_runs_are_acknowledged_and_dropped)
{
    struct world *world = *state;
    struct agent a;

    agent_start(&a, world, "a");
    agent_say(&a, "zzzzzzzzzzzz", 1, "result", ",\"rank\":0,\"row\":0");
    agent_say(&a, "zzzzzzzzzzzz", 1, "gone", "");
    release_agent(&a);
}
