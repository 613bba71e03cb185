/* test_scheduler.c - runs through the real store and rendezvous, with agents played by
 * the test: what they report, and what becomes of the run */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/json_util.h"
#include "common/log.h"
#include "server/scheduler/scheduler.h"

#define DEADLINE_NS INT64_C(60000000000)

static const char key[] = "0123456789abcdef0123456789abcdef"; /* every agent's */

struct world {
    uv_loop_t loop;
    char dir[64];
    struct store *store;
    struct rendezvous *rendezvous;
    struct scheduler *scheduler;
    long lease_s, join_s;
};

struct agent {
    struct world *world;
    const char *name;
    char boot_id[40];
    char id[64];
    int64_t seq, after;
    json_t *commands; /* what the last poll brought */
    bool has_answer;
};

/* ---- The loop ---- */

static void spin(struct world *world, const bool *flag)
{
    int64_t until = clock_monotonic_ns() + DEADLINE_NS;

    while (!*flag) {
        if (clock_monotonic_ns() > until)
            fail_msg("nothing happened in time");
        uv_run(&world->loop, UV_RUN_ONCE);
    }
}

static void set_flag(void *arg)
{
    *(bool *)arg = true;
}

static void open_world(struct world *world)
{
    struct rendezvous_config rendezvous = {.listen_address = "127.0.0.1"};
    struct scheduler_config config = {.lease_s = world->lease_s,
                                      .poll_s = 1,
                                      .max_nodes = 100,
                                      .join_s = world->join_s};
    struct error err;

    assert_int_equal(uv_loop_init(&world->loop), 0);
    world->store = store_open(&world->loop, world->dir, &err);
    assert_non_null(world->store);
    world->rendezvous = rendezvous_create(&world->loop, &rendezvous, &err);
    assert_non_null(world->rendezvous);
    config.store = world->store;
    config.rendezvous = world->rendezvous;
    world->scheduler = scheduler_create(&world->loop, &config, &err);
    assert_non_null(world->scheduler);
    assert_int_equal(scheduler_recover(world->scheduler, &err), 0);
}

static void close_world(struct world *world)
{
    bool done = false;

    scheduler_close(world->scheduler, set_flag, &done);
    spin(world, &done);
    done = false;
    rendezvous_close(world->rendezvous, set_flag, &done);
    spin(world, &done);
    done = false;
    store_close(world->store, set_flag, &done);
    spin(world, &done);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    log_init("test", LOG_ERROR);
    snprintf(world->dir, sizeof(world->dir), "/tmp/ringbench-test-XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    world->lease_s = 60;
    world->join_s = 30;
    open_world(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    char command[96];

    close_world(world);
    snprintf(command, sizeof(command), "rm -rf '%s'", world->dir);
    assert_int_equal(system(command), 0);
    free(world);
    return 0;
}

/* ---- Agents ---- */

static const char probe[] =
    "{\"host\":{\"available\":true,\"collectives\":[\"all_reduce\"],"
    "\"dtypes\":[\"float32\"],\"redops\":[\"sum\"],\"devices\":[{}]}}";

static void agent_register(struct agent *agent, json_t *cases)
{
    struct scheduler_caller caller = {"127.0.0.1", key, 0};
    struct scheduler_registered registered;
    struct problems problems;
    struct error err;
    json_t *body, *answer;

    problems_init(&problems);
    body = json_pack("{s:s, s:s, s:i, s:s, s:{s:o}, s:o}", "name", agent->name, "boot_id",
                     agent->boot_id, "ranks", 1, "server_host", "127.0.0.1", "inventory",
                     "backends", json_loads(probe, 0, NULL), "cases",
                     cases ? cases : json_array());
    answer = scheduler_register(agent->world->scheduler, body, &caller, &registered,
                                &problems, &err);
    assert_non_null(answer);
    snprintf(agent->id, sizeof(agent->id), "%s", json_get_str(answer, "agent", ""));
    agent->seq = json_get_int(answer, "acked", -1);
    agent->after = 0;
    json_decref(agent->commands);
    agent->commands = NULL;
    json_decref(answer);
    json_decref(body);
    problems_release(&problems);
}

static void agent_start(struct agent *agent, struct world *world, const char *name)
{
    memset(agent, 0, sizeof(*agent));
    agent->world = world;
    agent->name = name;
    id_uuid(agent->boot_id);
    agent_register(agent, NULL);
}

static void on_commands(void *arg, json_t *commands)
{
    struct agent *agent = arg;

    json_decref(agent->commands);
    agent->commands = commands;
    agent->has_answer = true;
}

/* The next command of a type; others are skipped. Borrowed until the next call. */
static const json_t *agent_await(struct agent *agent, const char *type)
{
    for (;;) {
        struct error err;

        for (size_t i = 0; i < json_array_size(agent->commands); i++) {
            const json_t *command = json_array_get(agent->commands, i);

            if (json_get_int(command, "seq", 0) <= agent->after)
                continue;
            agent->after = json_get_int(command, "seq", 0);
            if (strcmp(json_get_str(command, "type", ""), type) == 0)
                return command;
        }
        agent->has_answer = false;
        assert_int_equal(scheduler_poll(agent->world->scheduler, agent->id, key,
                                        agent->after, on_commands, agent, &err),
                         0);
        spin(agent->world, &agent->has_answer);
    }
}

struct acknowledgement {
    bool has_come;
    enum error_code code;
    int64_t acked;
};

static void on_acked(void *arg, const struct error *err, int64_t acked)
{
    struct acknowledgement *answer = arg;

    answer->has_come = true;
    answer->code = err ? err->code : ERROR_NONE;
    answer->acked = acked;
}

static struct acknowledgement agent_post(struct agent *agent, const char *lines)
{
    struct acknowledgement answer = {0};

    scheduler_events(agent->world->scheduler, agent->id, key, lines, strlen(lines),
                     on_acked, &answer);
    spin(agent->world, &answer.has_come);
    return answer;
}

/* Send one event of the run's case 0; `rest` is JSON members with a leading comma. */
static void agent_say(struct agent *agent, const char *run, int attempt, const char *type,
                      const char *rest)
{
    struct acknowledgement answer;
    struct buf line;

    buf_init(&line, 4096);
    buf_printf(&line,
               "{\"seq\":%lld,\"time_ms\":5,\"run\":\"%s\",\"case\":0,\"attempt\":%d,"
               "\"type\":\"%s\"%s}\n",
               (long long)++agent->seq, run, attempt, type, rest);
    answer = agent_post(agent, line.data);
    assert_int_equal(answer.code, ERROR_NONE);
    assert_int_equal(answer.acked, agent->seq);
    buf_release(&line);
}

static void agent_join(struct agent *agent, const char *run, int attempt, int rank)
{
    char rest[64];

    snprintf(rest, sizeof(rest), ",\"rank\":%d", rank);
    agent_say(agent, run, attempt, "spawn", rest);
    snprintf(rest, sizeof(rest), ",\"rank\":%d,\"phase\":\"joined\"", rank);
    agent_say(agent, run, attempt, "phase", rest);
    snprintf(rest, sizeof(rest), ",\"rank\":%d,\"phase\":\"connected\"", rank);
    agent_say(agent, run, attempt, "phase", rest);
}

static void agent_finish(struct agent *agent, const char *run, int attempt, int rank)
{
    char rest[64];

    snprintf(rest, sizeof(rest), ",\"rank\":%d,\"ok\":true", rank);
    agent_say(agent, run, attempt, "done", rest);
    snprintf(rest, sizeof(rest), ",\"rank\":%d,\"code\":0", rank);
    agent_say(agent, run, attempt, "exit", rest);
    agent_say(agent, run, attempt, "gone", "");
}

/* ---- Runs ---- */

struct submission {
    bool has_come;
    char run[16];
};

static void on_accepted(void *arg, const struct error *err, const char *run)
{
    struct submission *submission = arg;

    assert_null(err);
    submission->has_come = true;
    snprintf(submission->run, sizeof(submission->run), "%s", run);
}

static void submit(struct world *world, const char *text, char run[16])
{
    json_t *body = json_loads(text, 0, NULL);
    struct submission submission = {0};
    struct problems problems;
    struct run_spec *spec;

    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    assert_non_null(spec);
    scheduler_submit(world->scheduler, spec, NULL, NULL, on_accepted, &submission);
    spin(world, &submission.has_come);
    memcpy(run, submission.run, 16);
    problems_release(&problems);
    json_decref(body);
}

struct reading {
    bool has_come;
    json_t *result;
};

static void on_read(void *arg, const struct error *err, json_t *result)
{
    struct reading *reading = arg;

    assert_null(err);
    reading->has_come = true;
    reading->result = result;
}

/* Wait until the run has ended and all is stored; its document, a new reference. */
static json_t *await_end(struct world *world, const char *run)
{
    int64_t until = clock_monotonic_ns() + DEADLINE_NS;
    struct reading reading = {0};

    while (scheduler_run_is_active(world->scheduler, run) ||
           scheduler_head(world->scheduler, run) > 0) {
        if (clock_monotonic_ns() > until)
            fail_msg("run %s did not end in time", run);
        uv_run(&world->loop, UV_RUN_ONCE);
    }
    store_read_run(world->store, run, on_read, &reading);
    spin(world, &reading.has_come);
    return reading.result;
}

static void assert_ended(struct world *world, const char *run, const char *state,
                         const char *says)
{
    json_t *doc = await_end(world, run);
    const char *reason = json_get_str(doc, "reason", "");

    assert_string_equal(json_get_str(doc, "state", ""), state);
    if (says && !strstr(reason, says))
        fail_msg("'%s' does not say '%s'", reason, says);
    json_decref(doc);
}

static void release_agent(struct agent *agent)
{
    json_decref(agent->commands);
}

/* ---- The tests ---- */

static void a_run_completes_when_all_ranks_are_done_and_gone(void **state)
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

static void the_rank_that_died_is_named_not_its_witness(void **state)
{
    struct world *world = *state;
    struct agent a, b;
    char run[16];

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{}", run);
    agent_await(&a, "start");
    agent_await(&b, "start");
    agent_join(&a, run, 1, 0);
    agent_join(&b, run, 1, 1);
    /* The witness is heard first. */
    agent_say(&a, run, 1, "done",
              ",\"rank\":0,\"ok\":false,\"error\":{\"code\":\"peer_lost\",\"peer\":1,"
              "\"text\":\"rank 1 closed\"}");
    agent_say(&b, run, 1, "exit", ",\"rank\":1,\"signal\":9,\"tail\":[\"boom\"]");
    agent_await(&a, "stop");
    agent_await(&b, "stop");
    agent_say(&a, run, 1, "exit", ",\"rank\":0,\"code\":1");
    agent_say(&a, run, 1, "gone", "");
    agent_say(&b, run, 1, "gone", "");
    assert_ended(world, run, "failed",
                 "rank 1 on b: worker killed by signal 9 (Killed); its last line: boom");
    release_agent(&a);
    release_agent(&b);
}

static void say_lost(struct agent *agent, const char *run, int rank, int peer)
{
    char rest[200];

    snprintf(rest, sizeof(rest),
             ",\"rank\":%d,\"ok\":false,\"error\":{\"code\":\"peer_lost\",\"peer\":%d,"
             "\"text\":\"lost rank %d: connection closed\"}",
             rank, peer, peer);
    agent_say(agent, run, 1, "done", rest);
}

/* A run under way on n agents, "a" and so on, each with the rank of its place. */
static void start_joined(struct agent *agents, int n, struct world *world, char run[16])
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (int i = 0; i < n; i++)
        agent_start(&agents[i], world, names[i]);
    submit(world, "{}", run);
    for (int i = 0; i < n; i++)
        agent_await(&agents[i], "start");
    for (int i = 0; i < n; i++)
        agent_join(&agents[i], run, 1, i);
}

/* The link of rank 2 is cut. Rank 1 notices and leaves, and the others see no more than
 * that. */
static void a_victim_is_not_named_by_those_who_saw_it_leave(void **state)
{
    struct world *world = *state;
    struct agent agents[4];
    char run[16];

    start_joined(agents, 4, world, run);
    say_lost(&agents[3], run, 3, 1);
    say_lost(&agents[0], run, 0, 1);
    say_lost(&agents[1], run, 1, 2);
    for (int i = 0; i < 4; i++)
        agent_await(&agents[i], "stop");
    for (int i = 0; i < 4; i++)
        agent_say(&agents[i], run, 1, "gone", "");
    assert_ended(
        world, run, "failed",
        "rank 2 on c was lost, say 3 of its peers (rank 1: peer_lost: lost rank 2: ");
    for (int i = 0; i < 4; i++)
        release_agent(&agents[i]);
}

/* Ranks 0 and 1 go by what the third, which is cut off, told the store. */
static void a_lost_node_settles_whom_a_circle_of_blame_leaves_open(void **state)
{
    struct world *world = *state;
    struct agent agents[3];
    char run[16];

    close_world(world);
    world->lease_s = 4;
    open_world(world);
    start_joined(agents, 3, world, run);
    say_lost(&agents[0], run, 0, 1);
    say_lost(&agents[1], run, 1, 0);
    for (int i = 0; i < 2; i++)
        agent_await(&agents[i], "stop");
    for (int i = 0; i < 2; i++)
        agent_say(&agents[i], run, 1, "gone", "");
    assert_ended(world, run, "failed", "c: agent lost (silent for ");
    for (int i = 0; i < 3; i++)
        release_agent(&agents[i]);
}

static void wrong_data_fails_the_run(void **state)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    agent_start(&a, world, "a");
    submit(world, "{}", run);
    agent_await(&a, "start");
    agent_join(&a, run, 1, 0);
    agent_say(
        &a, run, 1, "result",
        ",\"rank\":0,\"collective\":\"all_reduce\",\"size\":8,\"series\":0,\"wrong\":1,"
        "\"errors\":[{\"rank\":0,\"index\":1,\"expected\":\"2\",\"got\":\"3\"}]");
    agent_finish(&a, run, 1, 0);
    assert_ended(world, run, "failed",
                 "1 wrong element, the first in all_reduce of 8 bytes: rank 0, index 1: "
                 "expected 2, got 3");
    release_agent(&a);
}

static void a_late_rank_is_named(void **state)
{
    struct world *world = *state;
    struct agent a, b;
    char run[16];

    close_world(world);
    world->join_s = 4;
    open_world(world);
    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{}", run);
    agent_await(&a, "start");
    agent_await(&b, "start");
    agent_join(&a, run, 1, 0);
    agent_say(&b, run, 1, "spawn", ",\"rank\":1");
    agent_await(&a, "stop");
    agent_await(&b, "stop");
    agent_say(&a, run, 1, "gone", "");
    agent_say(&b, run, 1, "gone", "");
    assert_ended(
        world, run, "failed",
        "rendezvous: 1 of 2 ranks joined in 4 s; missing rank 1 on b (its worker "
        "started but has not joined)");
    release_agent(&a);
    release_agent(&b);
}

static void a_stall_names_who_is_behind(void **state)
{
    struct world *world = *state;
    struct agent a, b;
    const json_t *stop;
    char run[16], line[256];

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{\"stall_s\":3}", run);
    agent_await(&a, "start");
    agent_await(&b, "start");
    agent_join(&a, run, 1, 0);
    agent_join(&b, run, 1, 1);
    snprintf(line, sizeof(line),
             "{\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":\"progress\",\"rank\":0,"
             "\"op\":42,\"done\":41,\"size\":1048576,\"phase\":\"enqueued\"}",
             run);
    agent_post(&a, line);
    snprintf(line, sizeof(line),
             "{\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":\"progress\",\"rank\":1,"
             "\"op\":41,\"done\":41,\"size\":1048576,\"phase\":\"waiting\"}",
             run);
    agent_post(&b, line);
    stop = agent_await(&a, "stop");
    assert_true(json_get_bool(stop, "stacks", false));
    agent_await(&b, "stop");
    agent_say(&a, run, 1, "gone", "");
    agent_say(&b, run, 1, "gone", "");
    assert_ended(
        world, run, "failed",
        "stalled: no rank made progress for 3 s; behind: rank 1 on b (operation 41, "
        "waiting, 1.0 MiB); 1 ranks wait for it at operation 42");
    release_agent(&a);
    release_agent(&b);
}

static void a_silent_agent_is_lost_and_its_case_fails(void **state)
{
    struct world *world = *state;
    struct agent a, b;
    char run[16];

    close_world(world);
    world->lease_s = 4;
    open_world(world);
    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{}", run);
    agent_await(&a, "start");
    agent_await(&b, "start");
    agent_join(&b, run, 1, 1);
    agent_join(&a, run, 1, 0);
    /* b falls silent here; a goes on polling until it is told to stop. */
    agent_await(&a, "stop");
    agent_say(&a, run, 1, "gone", "");
    assert_ended(world, run, "failed", "b: agent lost (silent for ");
    release_agent(&a);
    release_agent(&b);
}

static void a_missing_node_fails_the_run_after_its_wait(void **state)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    agent_start(&a, world, "a");
    submit(world, "{\"nodes\":{\"names\":[\"a\",\"zebra\"],\"wait_s\":0}}", run);
    assert_ended(world, run, "failed", "no node is named 'zebra'; known nodes: a");
    release_agent(&a);
}

static void a_younger_run_passes_only_on_nodes_the_older_cannot_use(void **state)
{
    struct world *world = *state;
    struct agent a, b, c;
    char first[16], both[16], any_of_ab[16], on_c[16];
    json_t *json;

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    agent_start(&c, world, "c");
    submit(world, "{\"nodes\":{\"names\":[\"b\"]}}", first);
    agent_await(&b, "start");
    submit(world, "{\"nodes\":{\"names\":[\"a\",\"b\"]}}", both);
    submit(world, "{\"nodes\":{\"names\":[\"a\"]}}", any_of_ab);
    submit(world, "{\"nodes\":{\"names\":[\"c\"]}}", on_c);
    agent_await(&c, "start"); /* passes */
    json = scheduler_run_json(world->scheduler, any_of_ab, true);
    assert_string_equal(json_get_str(json, "state", ""),
                        "queued"); /* a is kept for `both` */
    json_decref(json);
    agent_join(&b, first, 1, 0);
    agent_finish(&b, first, 1, 0);
    assert_string_equal(json_get_str(agent_await(&a, "start"), "run", ""), both);
    release_agent(&a);
    release_agent(&b);
    release_agent(&c);
}

static void cancelling_stops_the_workers_first(void **state)
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
    assert_ended(world, run, "cancelled", "cancelled by request");
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), -1);
    assert_int_equal(err.code, ERROR_NOT_FOUND);
    release_agent(&a);
}

static void a_restarted_server_goes_on_where_it_was(void **state)
{
    struct world *world = *state;
    struct acknowledgement answer;
    struct agent a;
    json_t *doc;
    char run[16], line[512];

    agent_start(&a, world, "a");
    submit(world, "{\"sizes\":[8],\"in_place\":false}", run);
    agent_await(&a, "start");
    agent_join(&a, run, 1, 0);
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

static void a_rendezvous_cut_by_a_restart_begins_again(void **state)
{
    struct world *world = *state;
    struct agent a;
    const json_t *start;
    char run[16];

    agent_start(&a, world, "a");
    submit(world, "{}", run);
    agent_await(&a, "start");
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

static void a_gap_in_the_events_is_refused(void **state)
{
    struct world *world = *state;
    struct acknowledgement answer;
    struct agent a;
    char run[16], line[256];

    agent_start(&a, world, "a");
    submit(world, "{}", run);
    agent_await(&a, "start");
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

static void events_of_unknown_runs_are_acknowledged_and_dropped(void **state)
{
    struct world *world = *state;
    struct agent a;

    agent_start(&a, world, "a");
    agent_say(&a, "zzzzzzzzzzzz", 1, "result", ",\"rank\":0,\"row\":0");
    agent_say(&a, "zzzzzzzzzzzz", 1, "gone", "");
    release_agent(&a);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_run_completes_when_all_ranks_are_done_and_gone),
        WITH_WORLD(the_rank_that_died_is_named_not_its_witness),
        WITH_WORLD(a_victim_is_not_named_by_those_who_saw_it_leave),
        WITH_WORLD(a_lost_node_settles_whom_a_circle_of_blame_leaves_open),
        WITH_WORLD(wrong_data_fails_the_run),
        WITH_WORLD(a_late_rank_is_named),
        WITH_WORLD(a_stall_names_who_is_behind),
        WITH_WORLD(a_silent_agent_is_lost_and_its_case_fails),
        WITH_WORLD(a_missing_node_fails_the_run_after_its_wait),
        WITH_WORLD(a_younger_run_passes_only_on_nodes_the_older_cannot_use),
        WITH_WORLD(cancelling_stops_the_workers_first),
        WITH_WORLD(a_restarted_server_goes_on_where_it_was),
        WITH_WORLD(a_rendezvous_cut_by_a_restart_begins_again),
        WITH_WORLD(a_gap_in_the_events_is_refused),
        WITH_WORLD(events_of_unknown_runs_are_acknowledged_and_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
