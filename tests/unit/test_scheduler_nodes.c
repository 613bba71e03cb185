/* SPDX-License-Identifier: Apache-2.0 */
/* test_scheduler_nodes.c - nodes that wait, fall silent, come back and are many */
#include "common/base/time_scale.h"
#include "server/runs/scheduler_state.h"
#include "server/store/run_packed.h"
#include "tests/unit/scheduler_fixture.h"
#include "tests/unit/test.h"

EACH_FIXTURE(setup, teardown);

TEST(a_silent_agent_is_lost_and_its_case_fails)
{
    struct world *world = *state;
    struct agent agents[2];
    char run[16];

    start_joined(agents, 2, world, "{\"stall_s\":3600}", run);
    /* b falls silent here; a goes on polling until it is told to stop. */
    agent_await(&agents[0], "stop");
    agent_say(&agents[0], run, 1, "gone", "");
    assert_ended(world, run, "failed", "b: agent lost (silent for ");
    release_agent(&agents[0]);
    release_agent(&agents[1]);
}

/* The agent of a case's n-th node, of those named a to d. */
static struct agent *agent_of(struct agent agents[4], const char *run, size_t number,
                              size_t n)
{
    json_t *doc = run_unpack(scheduler_run_packed(agents->world->scheduler, run));
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
    wake_soon(world->scheduler->services.wake);
}

/* So long that whoever waits for a node all the time gives it up. */
static void poll_for_long(struct agent agents[4])
{
    struct error err;

    for (int i = 0; i < 10; i++) {
        for (int n = 0; n < 4; n++)
            assert_int_equal(agents_poll(agents[n].world->agents, agents[n].id, key,
                                         agents[n].after, false, on_commands, &agents[n],
                                         &err),
                             0);
        live_for(agents->world, 10000);
    }
}

/* The nodes of both cases of the second round are late, one after the other. */
TEST(each_group_of_a_sequence_has_its_own_time_to_wait)
{
    struct world *world = *state;
    struct agent agents[4];
    char run[16];

    agents_start(agents, 4, world);
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

TEST(a_lease_lasts_to_its_last_step_and_no_longer)
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
TEST(what_a_server_slept_through_is_no_silence)
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
TEST(polls_of_a_crowd_are_held_longer)
{
    struct world *world = *state;
    struct agent agent, last;
    struct error err;
    char name[16];
    int64_t held_ms = ((int64_t)scaled_ms(3000) + STEP_MS - 1) / STEP_MS * STEP_MS;

    agent_start(&agent, world, "a");
    assert_int_equal(agent.poll_s, 1);
    assert_int_equal(agent.lease_s, 60);
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        agent_start(&last, world, name);
    }
    assert_int_equal(
        agents_poll(world->agents, agent.id, key, 0, false, on_commands, &agent, &err),
        0);
    live_for(world, held_ms - STEP_MS);
    assert_false(agent.has_answer);
    live_for(world, STEP_MS);
    assert_true(agent.has_answer);
    assert_null(agent.commands);
    live_for(world, 62000 - held_ms - STEP_MS);
    assert_node(world, "a", "idle");
    live_for(world, STEP_MS);
    assert_node(world, "a", "lost");
}

TEST(a_missing_node_fails_the_run_after_its_wait)
{
    struct world *world = *state;
    struct agent a;
    char run[16];

    agent_start(&a, world, "a");
    submit(world, "{\"nodes\":{\"names\":[\"a\",\"zebra\"],\"wait_s\":0}}", run);
    assert_ended(world, run, "failed", "'zebra'; a");
    release_agent(&a);
}

TEST(a_younger_run_passes_only_on_nodes_the_older_cannot_use)
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
    json = scheduler_run_listed(world->scheduler, any_of_ab);
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

static uint64_t count_looks(const struct world *world)
{
    struct scheduler_counters counters;

    scheduler_counters(world->scheduler, &counters);
    return counters.queue_looks;
}

/* Hundreds may wait, for each of which thousands of nodes are looked at. */
TEST(waiting_runs_look_for_nodes_only_when_something_changed)
{
    struct world *world = *state;
    struct agent a;
    struct error err;
    char first[16], second[16], third[16];
    uint64_t looks;

    start_joined(&a, 1, world, "{\"stall_s\":3600}", first);
    submit(world, "{}", second);
    submit(world, "{\"nodes\":{\"names\":[\"zebra\"],\"wait_s\":3600}}", third);
    live_for(world, 1000);
    looks = count_looks(world);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(
            agents_poll(world->agents, a.id, key, a.after, false, on_commands, &a, &err),
            0);
        agent_say(&a, first, 1, "phase", ",\"rank\":0,\"phase\":\"running\"");
        live_for(world, 10000);
    }
    assert_int_equal(count_looks(world), looks);
    agent_finish(&a, first, 1, 0);
    assert_string_equal(json_get_str(agent_await(&a, "start"), "run", ""), second);
    assert_in_range(count_looks(world), looks + 1, looks + 3);
    release_agent(&a);
}

TEST(runs_that_share_and_wait_for_the_same_node_begin_together)
{
    struct world *world = *state;
    struct agent a;
    char first[16], second[16], third[16];
    json_t *json;

    start_joined(&a, 1, world, "{\"stall_s\":3600}", first);
    submit(world, "{\"share\":true}", second);
    submit(world, "{\"share\":true}", third);
    agent_finish(&a, first, 1, 0);
    assert_string_equal(json_get_str(agent_await(&a, "start"), "run", ""), second);
    assert_string_equal(json_get_str(agent_await(&a, "start"), "run", ""), third);
    json = scheduler_run_listed(world->scheduler, second);
    assert_string_equal(json_get_str(json, "state", ""), "rendezvous");
    json_decref(json);
    release_agent(&a);
}

/* It was occupied by what its run left there. */
TEST(a_node_is_given_on_when_its_last_worker_is_gone)
{
    struct world *world = *state;
    struct agent a;
    struct error err;
    char first[16], second[16];

    start_joined(&a, 1, world, "{\"stall_s\":3600}", first);
    submit(world, "{}", second);
    assert_int_equal(scheduler_cancel(world->scheduler, first, &err), 0);
    agent_await(&a, "stop");
    assert_ended(world, first, "cancelled", NULL);
    live_for(world, 1000);
    agent_say(&a, first, 1, "gone", "");
    assert_string_equal(json_get_str(agent_await(&a, "start"), "run", ""), second);
    release_agent(&a);
}

/* When a server comes back all agents do, and each may have a case that is to end. */
TEST(an_agent_that_comes_back_has_only_itself_told_to_stop)
{
    struct world *world = *state;
    struct agent agents[2];
    struct error err;
    const struct node *other;
    size_t told;
    char run[16];

    start_run(agents, 2, world, "{}", run);
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    live_for(world, 0);
    other = node_find(&world->scheduler->nodes, "a");
    told = json_array_size(other->commands);
    agent_register(&agents[1],
                   json_pack("[{s:s, s:i, s:i}]", "run", run, "case", 0, "attempt", 1));
    agent_await(&agents[1], "stop");
    assert_int_equal(json_array_size(other->commands), told);
    agent_say(&agents[0], run, 1, "gone", "");
    agent_say(&agents[1], run, 1, "gone", "");
    assert_ended(world, run, "cancelled", NULL);
    release_agent(&agents[0]);
    release_agent(&agents[1]);
}

/* What is made of them in one turn of the loop is bounded, however many there are. */
TEST(nodes_come_in_pages)
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

/* Only when that lets another one begin, whose order in the queue is before it. */
TEST(a_background_run_is_cancelled_for_a_run_that_can_begin_on_its_nodes)
{
    struct world *world = *state;
    struct agent a, b, c;
    char lowest[16], background[16], on_b_and_c[16], on_a[16];
    json_t *json;

    agent_start(&a, world, "a");
    agent_start(&b, world, "b");
    agent_start(&c, world, "c");
    submit(world, "{\"nodes\":{\"names\":[\"c\"]},\"priority\":-1000}", lowest);
    agent_await(&c, "start");
    submit(world,
           "{\"nodes\":{\"names\":[\"a\",\"b\"]},\"background\":true,\"priority\":1000}",
           background);
    agent_await(&a, "start");
    agent_await(&b, "start");
    submit(world, "{\"nodes\":{\"names\":[\"b\",\"c\"]}}", on_b_and_c);
    live_for(world, 1000);
    json = scheduler_run_listed(world->scheduler, background);
    assert_string_not_equal(json_get_str(json, "state", ""), "cancelled");
    json_decref(json);

    submit(world, "{\"nodes\":{\"names\":[\"a\"]},\"priority\":-1000}", on_a);
    assert_string_equal(json_get_str(agent_await(&a, "stop"), "run", ""), background);
    agent_say(&a, background, 1, "gone", "");
    agent_say(&b, background, 1, "gone", "");
    assert_ended(world, background, "cancelled", on_a);
    assert_string_equal(json_get_str(agent_await(&a, "start"), "run", ""), on_a);
    release_agent(&a);
    release_agent(&b);
    release_agent(&c);
}
