/* SPDX-License-Identifier: Apache-2.0 */
/* test_scheduler_blame.c - whom a failed run names, by what its agents said */
#include "tests/unit/mentions.h"
#include "tests/unit/scheduler_fixture.h"
#include "server/finding/verdict.h"
#include "tests/unit/test.h"

EACH_FIXTURE(setup, teardown);

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

static void await_stops(struct agent *agents, int n)
{
    for (int i = 0; i < n; i++)
        agent_await(&agents[i], "stop");
}

static void say_gone(struct agent *agents, int n, const char *run)
{
    for (int i = 0; i < n; i++)
        agent_say(&agents[i], run, 1, "gone", "");
}

static void end_all(struct agent *agents, int n, const char *run)
{
    await_stops(agents, n);
    say_gone(agents, n, run);
}

static void release_agents(struct agent *agents, int n)
{
    for (int i = 0; i < n; i++)
        release_agent(&agents[i]);
}

TEST(the_rank_that_died_is_named_not_its_witness)
{
    struct world *world = *state;
    struct agent agents[2];
    char run[16];

    start_joined(agents, 2, world, "{}", run);
    /* The witness is heard first. */
    agent_say(&agents[0], run, 1, "done",
              ",\"rank\":0,\"ok\":false,\"error\":{\"code\":\"peer_lost\",\"peer\":1,"
              "\"text\":\"rank 1 closed\"}");
    agent_say(&agents[1], run, 1, "exit", ",\"rank\":1,\"signal\":9,\"tail\":[\"boom\"]");
    agent_await(&agents[0], "stop");
    agent_await(&agents[1], "stop");
    agent_say(&agents[0], run, 1, "exit", ",\"rank\":0,\"code\":1");
    say_gone(agents, 2, run);
    assert_ended(world, run, "failed",
                 "rank 1 on b: worker killed by signal 9 (Killed); its last line: boom");
    assert_blame(world, run,
                 "{\"kind\":\"rank_failed\",\"rank\":1,\"node\":\"b\",\"count\":1,"
                 "\"evidence\":[{\"rank\":1,\"node\":\"b\",\"text\":\"worker killed by "
                 "signal 9 (Killed); its last line: boom\"}]}");
    release_agents(agents, 2);
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

/* The link of rank 2 is cut. Rank 1 notices and leaves, and the others see no more than
 * that. */
TEST(a_victim_is_not_named_by_those_who_saw_it_leave)
{
    struct world *world = *state;
    struct agent agents[4];
    char run[16];

    start_joined(agents, 4, world, "{}", run);
    say_lost(&agents[3], run, 3, 1);
    say_lost(&agents[0], run, 0, 1);
    say_lost(&agents[1], run, 1, 2);
    end_all(agents, 4, run);
    assert_ended(world, run, "failed",
                 "rank 2 on c was lost according to 3 of its peers (rank 1: peer_lost: "
                 "lost rank 2: ");
    assert_blame(
        world, run,
        "{\"kind\":\"rank_lost\",\"rank\":2,\"node\":\"c\",\"count\":3,\"evidence\":["
        "{\"rank\":2,\"node\":\"c\",\"text\":\"peer_lost: lost rank 2: connection "
        "closed\",\"by\":1},"
        "{\"rank\":2,\"node\":\"c\",\"text\":\"peer_lost: lost rank 1: connection "
        "closed\",\"by\":0},"
        "{\"rank\":2,\"node\":\"c\",\"text\":\"peer_lost: lost rank 1: connection "
        "closed\",\"by\":3}]}");
    release_agents(agents, 4);
}

static void say_unreached(struct agent *agent, const char *run, int rank, int peer)
{
    char rest[300];

    snprintf(rest, sizeof(rest),
             ",\"rank\":%d,\"peer\":%d,\"over\":\"ranks\",\"address\":\"10.0.0.1\","
             "\"interface\":\"eth0\",\"via\":\"eth1\",\"reason\":\"No route to host\"",
             rank, peer);
    agent_say(agent, run, 1, "unreached", rest);
}

/* The others have their time to tell, too. */
TEST(a_node_that_others_cannot_reach_is_named)
{
    struct world *world = *state;
    struct agent agents[3];
    char run[16];

    start_run(agents, 3, world, "{}", run);
    say_unreached(&agents[1], run, 1, 0);
    say_unreached(&agents[1], run, 1, 3); /* there is none such */
    say_unreached(&agents[1], run, 1, -1);
    agent_say(&agents[1], run, 1, "done",
              ",\"rank\":1,\"ok\":false,\"error\":{\"code\":\"connect\",\"text\":\"x\"}");
    say_unreached(&agents[2], run, 2, 0);
    end_all(agents, 3, run);
    json_t *blame = await_blame(world, run);
    assert_string_equal(json_get_str(blame, "kind", ""), "unreachable");
    assert_string_equal(json_get_str(blame, "node", ""), "a");
    assert_int_equal(json_get_int(blame, "count", 0), 2);
    json_decref(blame);
    json_t *doc = await_end(world, run);
    assert_mentions(
        json_get_str(doc, "reason", ""),
        "unreachable: 1 finding: reach: b 1 a 10.0.0.1 (eth0) No route to host");
    const json_t *found =
        verdicts_find(json_object_get(doc, "verdicts"), VERDICT_PREFLIGHT);
    assert_string_equal(json_get_str(found, "answer", ""), "finding");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(found, "nodes"), 0)), "a");
    assert_null(verdicts_find(json_object_get(doc, "verdicts"), VERDICT_HANG));
    json_decref(doc);
    release_agents(agents, 3);
}

TEST(a_rank_that_died_is_named_before_ways_to_it)
{
    struct world *world = *state;
    struct agent agents[2];
    char run[16];

    start_run(agents, 2, world, "{}", run);
    say_unreached(&agents[1], run, 1, 0);
    agent_say(&agents[0], run, 1, "exit", ",\"rank\":0,\"signal\":9,\"tail\":[\"boom\"]");
    end_all(agents, 2, run);
    assert_ended(world, run, "failed", "rank 0 on a: worker killed by signal 9");
    release_agents(agents, 2);
}

/* Where nobody answers it is told only when the rank is stopped. */
TEST(ways_that_are_told_at_the_stop_say_why_ranks_are_missing)
{
    struct world *world = *state;
    struct agent agents[2];
    char run[16];

    start_run(agents, 2, world, "{}", run);
    await_stops(agents, 2);
    say_unreached(&agents[1], run, 1, 0);
    say_gone(agents, 2, run);
    assert_ended(world, run, "failed", "unreachable: 1 finding: reach: b cannot reach a");
    release_agents(agents, 2);
}

/* Ranks 0 and 1 go by what the third, which is cut off, told the store. */
TEST(a_lost_node_settles_whom_a_circle_of_blame_leaves_open)
{
    struct world *world = *state;
    struct agent agents[3];
    char run[16];

    start_joined(agents, 3, world, "{}", run);
    say_lost(&agents[0], run, 0, 1);
    say_lost(&agents[1], run, 1, 0);
    end_all(agents, 2, run);
    assert_ended(world, run, "failed", "c: agent lost");
    release_agents(agents, 3);
}

TEST(wrong_data_fails_the_run)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    start_joined(&a, 1, world, "{}", run);
    agent_say(
        &a, run, 1, "result",
        ",\"rank\":0,\"collective\":\"all_reduce\",\"size\":8,\"series\":0,\"wrong\":1,"
        "\"errors\":[{\"rank\":0,\"index\":1,\"expected\":\"2\",\"got\":\"3\"}]");
    agent_finish(&a, run, 1, 0);
    assert_ended(world, run, "failed",
                 "1 wrong element, the first on a in all_reduce 8 0, 1: 2, 3");
    assert_blame(world, run,
                 "{\"kind\":\"wrong_data\",\"rank\":0,\"node\":\"a\",\"count\":1,"
                 "\"evidence\":[{\"rank\":0,\"node\":\"a\",\"text\":\"all_reduce of 8 "
                 "bytes: rank 0, index 1: expected 2, got 3\"}]}");
    release_agent(&a);
}

TEST(a_late_rank_is_named)
{
    struct world *world = *state;
    struct agent agents[2];
    char run[16];

    start_run(agents, 2, world, "{}", run);
    agent_join(&agents[0], run, 1, 0);
    agent_say(&agents[1], run, 1, "spawn", ",\"rank\":1");
    agent_await(&agents[0], "stop");
    assert_true(json_get_bool(agent_await(&agents[1], "stop"), "stacks", false));
    agent_say(&agents[1], run, 1, "stack", ",\"rank\":1,\"text\":\"connect <- join\"");
    say_gone(agents, 2, run);
    assert_ended(
        world, run, "failed",
        "rendezvous: 1 of 2 ranks joined in 30 s; missing rank 1 on b stack of rank 1: "
        "connect <- join");
    assert_blame(world, run,
                 "{\"kind\":\"rank_missing\",\"rank\":1,\"node\":\"b\",\"count\":1,"
                 "\"phase\":\"joined\",\"of\":2,\"seconds\":30,\"evidence\":["
                 "{\"rank\":1,\"node\":\"b\",\"text\":\"its worker started but has not "
                 "joined\"}],\"stack\":{\"rank\":1,\"text\":\"connect <- join\"}}");
    release_agents(agents, 2);
}

TEST(a_rank_that_hangs_while_it_loads_libraries_is_told_from_others)
{
    struct world *world = *state;
    struct agent agents[2];
    char run[16], line[256];

    start_run(agents, 2, world, "{}", run);
    agent_say(&agents[0], run, 1, "spawn", ",\"rank\":0");
    agent_say(&agents[1], run, 1, "spawn", ",\"rank\":1");
    snprintf(line, sizeof(line),
             "{\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":\"progress\",\"rank\":1,"
             "\"op\":0,\"done\":0,\"size\":0,\"phase\":\"loading\"}",
             run);
    agent_post(&agents[1], line);
    end_all(agents, 2, run);
    json_t *blame = await_blame(world, run), *one;
    size_t i;

    assert_string_equal(json_get_str(blame, "kind", ""), "rank_missing");
    assert_int_equal(json_get_int(blame, "count", 0), 2);
    json_array_foreach (json_object_get(blame, "evidence"), i, one) {
        const char *text = json_get_str(one, "text", "");
        assert_int_equal(mentions(text, "loading CUDA and NCCL"), i == 1);
    }
    json_decref(blame);
    release_agents(agents, 2);
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

TEST(a_stall_names_who_is_behind)
{
    struct world *world = *state;
    struct agent agents[2];
    const json_t *stop;
    char run[16], line[256];

    start_joined(agents, 2, world, "{\"stall_s\":3}", run);
    snprintf(line, sizeof(line),
             "{\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":\"progress\",\"rank\":0,"
             "\"op\":42,\"done\":41,\"size\":1048576,\"phase\":\"enqueued\"}",
             run);
    agent_post(&agents[0], line);
    snprintf(line, sizeof(line),
             "{\"run\":\"%s\",\"case\":0,\"attempt\":1,\"type\":\"progress\",\"rank\":1,"
             "\"op\":41,\"done\":41,\"size\":1048576,\"phase\":\"waiting\"}",
             run);
    agent_post(&agents[1], line);
    stop = agent_await(&agents[0], "stop");
    assert_true(json_get_bool(stop, "stacks", false));
    agent_await(&agents[1], "stop");
    agent_say(&agents[0], run, 1, "stack", ",\"rank\":0,\"text\":\"poll <- recv\"");
    agent_say(&agents[1], run, 1, "stack",
              ",\"rank\":1,\"text\":\"read <- load\",\"state\":\"D\",\"kernel\":"
              "\"nfs_wait\",\"line\":\"reading the data\"");
    say_gone(agents, 2, run);
    assert_ended(
        world, run, "failed",
        "stalled: no rank made progress for 3 s; rank 1 b 41 (1.0 MiB), D, nfs_wait "
        "reading the data; 1 rank 42 (1.0 MiB); rank 1: read <- load");
    assert_named(world, run);
    release_agents(agents, 2);
}

TEST(a_full_disk_is_no_stall_of_other_ranks)
{
    struct world *world = *state;
    struct agent agents[2];
    char run[16];

    start_joined(agents, 2, world, "{\"stall_s\":3}", run);
    agents[1].is_spool_full = true;
    for (int i = 1; i >= 0; i--)
        agent_await(&agents[i], "stop");
    say_gone(agents, 2, run);
    json_t *blame = await_blame(world, run);
    assert_string_equal(json_get_str(blame, "kind", ""), "node_full");
    assert_string_equal(json_get_str(blame, "node", ""), "b");
    assert_int_equal(json_get_int(blame, "count", 0), 1);
    json_decref(blame);
    assert_ended(world, run, "failed", "b: --spool-dir");
    release_agents(agents, 2);
}
