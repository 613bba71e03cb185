/* test_scheduler.c - runs through the real store and rendezvous, with agents played by
 * the test: what they report, and what becomes of the run */
#include "tests/unit/scheduler_fixture.h"

#include <sqlite3.h>

/* ---- The tests ---- */

/* The blame of the run's first case. */
static json_t *await_blame(struct world *world, const char *run)
{
    json_t *doc = await_end(world, run);
    const json_t *first = json_array_get(json_object_get(doc, "cases"), 0);
    json_t *blame = json_incref(json_object_get(first, "blamed"));

    json_decref(doc);
    return blame;
}

static void assert_blame(struct world *world, const char *run, const char *says)
{
    json_t *blame = await_blame(world, run), *expected = json_loads(says, 0, NULL);
    char *text = json_dumps(blame, JSON_ENCODE_ANY);

    assert_non_null(expected);
    if (!json_equal(blame, expected))
        fail_msg("%s is not %s", text, says);
    free(text);
    json_decref(expected);
    json_decref(blame);
}

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

/* A thousand nodes get as many starts. */
static void a_start_names_other_nodes_only_to_groups_of_them(void **state)
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
    assert_blame(world, run,
                 "{\"kind\":\"rank_failed\",\"rank\":1,\"node\":\"b\",\"count\":1,"
                 "\"evidence\":[{\"rank\":1,\"node\":\"b\",\"text\":\"worker killed by "
                 "signal 9 (Killed); its last line: boom\"}]}");
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
    assert_blame(
        world, run,
        "{\"kind\":\"rank_lost\",\"rank\":2,\"node\":\"c\",\"count\":3,\"evidence\":["
        "{\"rank\":2,\"node\":\"c\",\"text\":\"peer_lost: lost rank 2: connection "
        "closed\",\"by\":1},"
        "{\"rank\":2,\"node\":\"c\",\"text\":\"peer_lost: lost rank 1: connection "
        "closed\",\"by\":0},"
        "{\"rank\":2,\"node\":\"c\",\"text\":\"peer_lost: lost rank 1: connection "
        "closed\",\"by\":3}]}");
    for (int i = 0; i < 4; i++)
        release_agent(&agents[i]);
}

/* Ranks 0 and 1 go by what the third, which is cut off, told the store. */
static void a_lost_node_settles_whom_a_circle_of_blame_leaves_open(void **state)
{
    struct world *world = *state;
    struct agent agents[3];
    char run[16];

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
    assert_ended(
        world, run, "failed",
        "1 wrong element, the first on a in all_reduce of 8 bytes: rank 0, index 1: "
        "expected 2, got 3");
    assert_blame(world, run,
                 "{\"kind\":\"wrong_data\",\"rank\":0,\"node\":\"a\",\"count\":1,"
                 "\"evidence\":[{\"rank\":0,\"node\":\"a\",\"text\":\"all_reduce of 8 "
                 "bytes: rank 0, index 1: expected 2, got 3\"}]}");
    release_agent(&a);
}

static void a_late_rank_is_named(void **state)
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
    agent_say(&b, run, 1, "spawn", ",\"rank\":1");
    agent_await(&a, "stop");
    assert_true(json_get_bool(agent_await(&b, "stop"), "stacks", false));
    agent_say(&b, run, 1, "stack", ",\"rank\":1,\"text\":\"connect <- join\"");
    agent_say(&a, run, 1, "gone", "");
    agent_say(&b, run, 1, "gone", "");
    assert_ended(
        world, run, "failed",
        "rendezvous: 1 of 2 ranks joined in 30 s; missing rank 1 on b (its worker "
        "started but has not joined); stack of rank 1: connect <- join");
    assert_blame(world, run,
                 "{\"kind\":\"rank_missing\",\"rank\":1,\"node\":\"b\",\"count\":1,"
                 "\"phase\":\"joined\",\"of\":2,\"seconds\":30,\"evidence\":["
                 "{\"rank\":1,\"node\":\"b\",\"text\":\"its worker started but has not "
                 "joined\"}],\"stack\":{\"rank\":1,\"text\":\"connect <- join\"}}");
    release_agent(&a);
    release_agent(&b);
}

/* The time to join counts anew for forming the communicator. */
static void a_slow_init_is_given_its_time(void **state)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    agent_start(&a, world, "a");
    submit(world, "{}", run);
    agent_await(&a, "start");
    agent_say(&a, run, 1, "spawn", ",\"rank\":0");
    live_for(world, 20000);
    agent_say(&a, run, 1, "phase", ",\"rank\":0,\"phase\":\"joined\"");
    live_for(world, 20000);
    agent_say(&a, run, 1, "phase", ",\"rank\":0,\"phase\":\"connected\"");
    agent_finish(&a, run, 1, 0);
    assert_ended(world, run, "completed", NULL);
    release_agent(&a);
}

/* Rank 1 on b, with all that its agent said of it. */
static void assert_named(struct world *world, const char *run)
{
    json_t *blame = await_blame(world, run);
    const json_t *first, *evidence;

    assert_string_equal(json_get_str(blame, "kind", ""), "stalled");
    assert_int_equal(json_get_int(blame, "rank", -1), 1);
    assert_string_equal(json_get_str(blame, "node", ""), "b");
    assert_int_equal(json_get_int(blame, "count", 0), 1);
    evidence = json_object_get(json_object_get(blame, "verdict"), "evidence");
    assert_string_equal(json_get_str(evidence, "by", ""), "behind");
    first = json_array_get(json_object_get(evidence, "ranks"), 0);
    assert_int_equal(json_get_int(first, "rank", -1), 1);
    assert_int_equal(json_get_int(first, "operation", -1), 41);
    assert_string_equal(json_get_str(first, "state", ""), "D");
    assert_string_equal(json_get_str(first, "kernel", ""), "nfs_wait");
    assert_string_equal(json_get_str(first, "stack", ""), "read <- load");
    json_decref(blame);
}

/* Here for longer than stall_s. */
static void what_the_host_checks_is_progress(void **state)
{
    struct world *world = *state;
    struct agent a;
    char run[16], more[64];

    agent_start(&a, world, "a");
    submit(world, "{\"stall_s\":3}", run);
    agent_await(&a, "start");
    agent_join(&a, run, 1, 0);
    for (int i = 1; i <= 4; i++) {
        snprintf(more, sizeof(more), ",\"rank\":0,\"op\":1,\"done\":1,\"checked\":%d", i);
        agent_say(&a, run, 1, "progress", more);
        live_for(world, 2000);
    }
    agent_say(&a, run, 1, "done", ",\"rank\":0,\"ok\":true");
    agent_say(&a, run, 1, "gone", "");
    assert_ended(world, run, "completed", NULL);
    release_agent(&a);
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
    agent_say(&a, run, 1, "stack", ",\"rank\":0,\"text\":\"poll <- recv\"");
    agent_say(&b, run, 1, "stack",
              ",\"rank\":1,\"text\":\"read <- load\",\"state\":\"D\",\"kernel\":"
              "\"nfs_wait\",\"line\":\"reading the data\"");
    agent_say(&a, run, 1, "gone", "");
    agent_say(&b, run, 1, "gone", "");
    assert_ended(
        world, run, "failed",
        "stalled: no rank made progress for 3 s; rank 1 on b lags: waiting for its peers "
        "after operation 41 (1.0 MiB), in the kernel (state D, nfs_wait), its last line: "
        "reading the data; 1 rank waits for it, inside operation 42 (1.0 MiB); stack of "
        "rank 1: read <- load");
    assert_named(world, run);
    release_agent(&a);
    release_agent(&b);
}

static void a_silent_agent_is_lost_and_its_case_fails(void **state)
{
    struct world *world = *state;
    struct agent a, b;
    char run[16];

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{\"stall_s\":3600}", run);
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

/* ---- Groups one after the other ---- */

/* The agent of a case's n-th node, of those named a to d. */
static struct agent *agent_of(struct agent agents[4], const char *run, size_t number,
                              size_t n)
{
    json_t *doc = scheduler_run_json(agents->world->scheduler, run, false);
    const json_t *c = json_array_get(json_object_get(doc, "cases"), number);
    const char *name = json_string_value(json_array_get(json_object_get(c, "nodes"), n));
    struct agent *agent = name ? &agents[name[0] - 'a'] : NULL;

    assert_non_null(agent);
    json_decref(doc);
    return agent;
}

static void await_case(struct agent agents[4], const char *run, size_t number)
{
    const json_t *start = agent_await(agent_of(agents, run, number, 0), "start");

    assert_int_equal(json_get_int(start, "case", -1), number);
    agent_await(agent_of(agents, run, number, 1), "start");
}

/* Both ranks of the case say so. */
static void say_both(struct agent agents[4], const char *run, int number,
                     const char *type, const char *rest)
{
    for (size_t n = 0; n < 2; n++) {
        char text[64];

        snprintf(text, sizeof(text), ",\"rank\":%zu%s", n, rest);
        agent_say_of(agent_of(agents, run, (size_t)number, n), run, number, 1, type,
                     text);
    }
}

static void hold_nodes(struct world *world, bool are_held)
{
    const struct node_registry *nodes = &world->scheduler->nodes;

    for (size_t i = 0; i < nodes->count; i++)
        if (are_held)
            node_occupy(nodes->nodes[i], "earlier", 0, 1, false);
        else
            node_vacate(nodes->nodes[i], "earlier", 0, 1);
    scheduler_wake(world->scheduler);
}

/* So long that whoever waits for a node all the time gives it up. */
static void poll_for_long(struct agent agents[4])
{
    struct error err;

    for (int i = 0; i < 10; i++) {
        for (int n = 0; n < 4; n++)
            assert_int_equal(scheduler_poll(agents[n].world->scheduler, agents[n].id, key,
                                            agents[n].after, on_commands, &agents[n],
                                            &err),
                             0);
        live_for(agents->world, 10000);
    }
}

/* The nodes of both cases of the second round are late, one after the other. */
static void each_group_of_a_sequence_has_its_own_time_to_wait(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct world *world = *state;
    struct agent agents[4];
    char run[16];

    for (int i = 0; i < 4; i++)
        agent_start(&agents[i], world, names[i]);
    submit(world, "{\"pattern\":\"pairs\",\"concurrent\":false,\"stall_s\":3600}", run);
    for (int i = 0; i < 4; i++) {
        live_for(world, 1000);
        await_case(agents, run, (size_t)i);
        hold_nodes(world, true);
        say_both(agents, run, i, "phase", ",\"phase\":\"joined\"");
        say_both(agents, run, i, "phase", ",\"phase\":\"connected\"");
        if (i == 2)
            poll_for_long(agents);
        say_both(agents, run, i, "done", ",\"ok\":true");
        say_both(agents, run, i, "gone", "");
        live_for(world, 1000);
        hold_nodes(world, false);
    }
    live_for(world, 1000);
    await_case(agents, run, 4);
    for (int i = 0; i < 4; i++)
        release_agent(&agents[i]);
}

static json_t *node_shown(struct world *world, const char *name)
{
    json_t *node = scheduler_node_json(world->scheduler, name);

    assert_non_null(node);
    return node;
}

static void assert_node(struct world *world, const char *name, const char *state)
{
    json_t *node = node_shown(world, name);

    assert_string_equal(json_get_str(node, "state", ""), state);
    json_decref(node);
}

static void a_lease_lasts_to_its_last_step_and_no_longer(void **state)
{
    struct world *world = *state;
    struct agent a;

    agent_start(&a, world, "a");
    live_for(world, 60000 - STEP_MS);
    assert_node(world, "a", "idle");
    live_for(world, STEP_MS);
    assert_node(world, "a", "lost");
    release_agent(&a);
}

/* A server that was stopped for a minute has heard nobody; nobody was silent. */
static void what_a_server_slept_through_is_no_silence(void **state)
{
    struct world *world = *state;
    struct agent a;

    agent_start(&a, world, "a");
    live_for(world, 1000);
    move_clock(world, 70000);
    assert_node(world, "a", "idle");
    live_for(world, 59000);
    assert_node(world, "a", "lost");
    release_agent(&a);
}

/* 3,000 agents: 1,000 polls a second, and nobody is lost by that. */
static void polls_of_a_crowd_are_held_longer(void **state)
{
    struct world *world = *state;
    struct agent agent, last;
    struct error err;
    char name[16];

    world->scheduler->config.max_nodes = 4000;
    agent_start(&agent, world, "a");
    assert_int_equal(scheduler_poll_s(world->scheduler), 1);
    assert_int_equal(scheduler_lease_s(world->scheduler), 60);
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        agent_start(&last, world, name);
    }
    assert_int_equal(
        scheduler_poll(world->scheduler, agent.id, key, 0, on_commands, &agent, &err), 0);
    live_for(world, 3000 - STEP_MS);
    assert_false(agent.has_answer);
    live_for(world, STEP_MS);
    assert_true(agent.has_answer);
    assert_null(agent.commands);
    live_for(world, 59000 - STEP_MS);
    assert_node(world, "a", "idle");
    live_for(world, STEP_MS);
    assert_node(world, "a", "lost");
}

static void a_run_ends_at_its_timeout(void **state)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    agent_start(&a, world, "a");
    submit(world, "{\"repeats\":2,\"timeout_s\":900,\"stall_s\":3600}", run);
    agent_await(&a, "start");
    agent_join(&a, run, 1, 0);
    agent_await(&a, "stop");
    assert_in_range(world->now.wall_ms - START_MS, 900000, 900000 + 2 * STEP_MS);
    agent_say(&a, run, 1, "gone", "");
    assert_ended(world, run, "failed", "the run took longer than its timeout of 900 s");
    release_agent(&a);
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

static void assert_text_is_json(const struct world *world, const char *run)
{
    json_t *wanted = scheduler_run_json(world->scheduler, run, false), *shown;
    size_t len;
    char *text = scheduler_run_text(world->scheduler, run, &len);

    assert_non_null(text);
    assert_int_equal(text[len - 1], '\n');
    shown = json_loadb(text, len, 0, NULL);
    assert_true(json_equal(shown, wanted));
    json_decref(shown);
    json_decref(wanted);
    free(text);
}

/* Texts of cases that have ended are kept, and go with what changes them. */
static void the_text_of_a_run_says_what_its_document_says(void **state)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    submit(world, "{\"repeats\":3}", run);
    assert_text_is_json(world, run);
    agent_start(&a, world, "a");
    for (int i = 0; i < 3; i++) {
        agent_await(&a, "start");
        assert_text_is_json(world, run);
        agent_say_of(&a, run, i, 1, "phase", ",\"rank\":0,\"phase\":\"connected\"");
        assert_text_is_json(world, run);
        agent_say_of(&a, run, i, 1, "done", ",\"rank\":0,\"ok\":true");
        assert_text_is_json(world, run);
        agent_say_of(&a, run, i, 1, "gone", "");
    }
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

/* Its nodes stand there, and there may be thousands of both. */
static void the_row_of_a_run_is_not_written_for_each_case(void **state)
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

/* When a server comes back all agents do, and each may have a case that is to end. */
static void an_agent_that_comes_back_has_only_itself_told_to_stop(void **state)
{
    struct world *world = *state;
    struct agent a, b;
    struct error err;
    const struct node *other;
    size_t told;
    char run[16];

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    submit(world, "{}", run);
    agent_await(&a, "start");
    agent_await(&b, "start");
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    live_for(world, 0);
    other = node_find(&world->scheduler->nodes, "a");
    told = json_array_size(other->commands);
    agent_register(&b,
                   json_pack("[{s:s, s:i, s:i}]", "run", run, "case", 0, "attempt", 1));
    agent_await(&b, "stop");
    assert_int_equal(json_array_size(other->commands), told);
    agent_say(&a, run, 1, "gone", "");
    agent_say(&b, run, 1, "gone", "");
    assert_ended(world, run, "cancelled", NULL);
    release_agent(&a);
    release_agent(&b);
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

/* What is made of them in one turn of the loop is bounded, however many there are. */
static void nodes_come_in_pages(void **state)
{
    enum { NODES = 100, PAGE = 16 << 10 };
    struct world *world = *state;
    char name[32], last[32] = "";
    size_t n = 0, pages = 0;
    bool is_more = true;

    for (int i = 0; i < NODES; i++) {
        struct agent agent;

        snprintf(name, sizeof(name), "node-%04d", i);
        agent_start(&agent, world, name);
    }
    for (; is_more; pages++) {
        json_t *nodes =
            scheduler_nodes_page(world->scheduler, last, false, PAGE, &is_more);

        assert_in_range(json_array_size(nodes), 1, 16);
        for (size_t i = 0; i < json_array_size(nodes); i++, n++) {
            const json_t *node = json_array_get(nodes, i);

            snprintf(name, sizeof(name), "node-%04d", (int)n);
            assert_string_equal(json_get_str(node, "name", ""), name);
            assert_null(json_object_get(node, "inventory"));
        }
        snprintf(last, sizeof(last), "%s", name);
        json_decref(nodes);
    }
    assert_int_equal(n, NODES);
    assert_int_equal(pages, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_run_completes_when_all_ranks_are_done_and_gone),
        WITH_WORLD(a_start_names_other_nodes_only_to_groups_of_them),
        WITH_WORLD(the_rank_that_died_is_named_not_its_witness),
        WITH_WORLD(a_victim_is_not_named_by_those_who_saw_it_leave),
        WITH_WORLD(a_lost_node_settles_whom_a_circle_of_blame_leaves_open),
        WITH_WORLD(wrong_data_fails_the_run),
        WITH_WORLD(a_late_rank_is_named),
        WITH_WORLD(a_slow_init_is_given_its_time),
        WITH_WORLD(what_the_host_checks_is_progress),
        WITH_WORLD(a_stall_names_who_is_behind),
        WITH_WORLD(polls_of_a_crowd_are_held_longer),
        WITH_WORLD(a_silent_agent_is_lost_and_its_case_fails),
        WITH_WORLD(each_group_of_a_sequence_has_its_own_time_to_wait),
        WITH_WORLD(a_lease_lasts_to_its_last_step_and_no_longer),
        WITH_WORLD(what_a_server_slept_through_is_no_silence),
        WITH_WORLD(a_run_ends_at_its_timeout),
        WITH_WORLD(a_missing_node_fails_the_run_after_its_wait),
        WITH_WORLD(a_younger_run_passes_only_on_nodes_the_older_cannot_use),
        WITH_WORLD(cancelling_stops_the_workers_first),
        WITH_WORLD(a_restarted_server_goes_on_where_it_was),
        WITH_WORLD(a_rendezvous_cut_by_a_restart_begins_again),
        WITH_WORLD(the_text_of_a_run_says_what_its_document_says),
        WITH_WORLD(the_row_of_a_run_is_not_written_for_each_case),
        WITH_WORLD(an_agent_that_comes_back_has_only_itself_told_to_stop),
        WITH_WORLD(a_gap_in_the_events_is_refused),
        WITH_WORLD(events_of_unknown_runs_are_acknowledged_and_dropped),
        WITH_WORLD(nodes_come_in_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
