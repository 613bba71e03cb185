/* SPDX-License-Identifier: Apache-2.0 */
/* test_replay.c - whatever agents, people and the clock do in whichever order: a run's
 * document is what its log adds up to, to the byte */
#include "server/runs/run.h"
#include "server/store/run_packed.h"
#include "tests/unit/scheduler_fixture.h"
#include "tests/unit/test.h"

#define AGENTS 3
#define RUNS 25
#define CHECKS 4
#define STEPS 60

static const char spec_text[] =
    "{\"sizes\":[8,16],\"repeats\":3,\"in_place\":false,\"stall_s\":20,\"timeout_s\":60}";

struct player {
    struct agent agent;
    bool is_sending;
    int at; /* of its course */
};

struct play {
    struct world *world;
    struct player players[AGENTS];
    char run[16];
    int64_t created_ms;
    uint64_t random;
};

/* Numerical Recipes' linear congruential generator. */
static int throw_dice(struct play *play, int sides)
{
    play->random = play->random * UINT64_C(1664525) + UINT64_C(1013904223);
    return (int)((play->random >> 16) % (uint64_t)sides);
}

/* ---- What is said ---- */

/* As a worker that goes well has it. */
static const char *const course[] = {
    "\"spawn\"",
    "\"phase\",\"phase\":\"joined\"",
    "\"phase\",\"phase\":\"connected\"",
    "\"phase\",\"phase\":\"running\"",
    "\"result\",\"row\":0,\"series\":0,\"size\":8,\"busbw_gbs\":2.5,\"wrong\":0",
    "\"result\",\"row\":1,\"series\":0,\"size\":16,\"busbw_gbs\":3.5,\"wrong\":0",
    "\"done\",\"ok\":true",
    "\"exit\",\"code\":0",
    "\"conditions\",\"seconds\":2.5,\"steal_percent\":1.5",
    "\"gone\"",
};

static const char *const mishaps[] = {
    ("\"result\",\"row\":1,\"series\":0,\"size\":16,\"busbw_gbs\":3.5,\"wrong\":2,"
     "\"errors\":[{\"rank\":1,\"index\":1,\"expected\":\"2\",\"got\":\"3\"}]"),
    "\"result\",\"row\":1,\"series\":0,\"size\":16,\"skipped\":\"no memory\"",
    "\"done\",\"ok\":false,\"error\":{\"code\":\"peer_lost\",\"peer\":1,\"text\":\"x\"}",
    "\"exit\",\"code\":0",
    "\"exit\",\"signal\":9,\"tail\":[\"boom\"]",
    "\"log\",\"level\":\"warn\",\"text\":\"hot\"",
    "\"phase\",\"phase\":\"joined\"",
    "\"refused\",\"reason\":\"no room\"",
    "\"gone\",\"reason\":\"out of memory\"",
    "\"gone\"",
};

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static const char *next_word(struct play *play, struct player *player)
{
    if (throw_dice(play, 40) == 0)
        return mishaps[throw_dice(play, COUNT(mishaps))];
    if (player->at == COUNT(course))
        player->at = 0;
    return course[player->at++];
}

/* Of the case that is under way, or of one that was. */
static void put_line(struct play *play, int rank, struct buf *out)
{
    struct player *player = &play->players[rank];
    const char *what = next_word(play, player);
    json_t *run = run_unpack(scheduler_run_packed(play->world->scheduler, play->run));
    const json_t *cases = json_object_get(run, "cases"), *item;
    int current = 0;
    size_t i;

    json_array_foreach (cases, i, item)
        if (strcmp(json_get_str(item, "state", ""), "queued") != 0)
            current = (int)i;
    buf_printf(out,
               "{\"seq\":%lld,\"time_ms\":%lld,\"run\":\"%s\",\"case\":%d,\"attempt\":1,"
               "\"rank\":%d,\"type\":%s}\n",
               (long long)++player->agent.seq, (long long)play->world->now.wall_ms - 50,
               play->run, current - (throw_dice(play, 20) == 0 && current > 0), rank,
               what);
    json_decref(run);
}

static void on_taken(void *arg, const struct error *err, int64_t acked)
{
    struct player *player = arg;

    player->is_sending = false;
    if (err)
        fail_msg("events up to %lld are taken, then: %s", (long long)acked, err->text);
}

/* Nobody waits for the answer. */
static void say_something(struct play *play, int rank)
{
    struct player *player = &play->players[rank];
    struct buf lines;

    if (player->is_sending)
        return;
    buf_init(&lines, 1 << 20);
    for (int n = 1 + throw_dice(play, 4); n > 0; n--)
        put_line(play, rank, &lines);
    player->is_sending = true;
    agents_events(play->world->agents, player->agent.id, key, lines.data, lines.len,
                  on_taken, player);
    buf_release(&lines);
}

/* It asks, and has the case or has lost it. */
static void come_back(struct play *play, int rank)
{
    struct agent *agent = &play->players[rank].agent;
    int64_t seq = agent->seq;

    if (play->players[rank].is_sending)
        return;
    agent_register(agent, throw_dice(play, 2)
                              ? json_pack("[{s:s, s:i, s:i}]", "run", play->run, "case",
                                          0, "attempt", 1)
                              : NULL);
    agent->seq = seq;
}

static void ask(struct play *play, int rank)
{
    struct agent *agent = &play->players[rank].agent;
    struct error err;

    agents_poll(agent->world->agents, agent->id, key, 1000, false, on_commands, agent,
                &err);
}

static void do_something(struct play *play)
{
    int what = throw_dice(play, 100), rank = throw_dice(play, AGENTS);
    struct error err;

    if (what < 50)
        say_something(play, rank);
    else if (what < 75)
        uv_run(&play->world->loop, UV_RUN_NOWAIT);
    else if (what < 85)
        ask(play, rank);
    else if (what < 98)
        move_clock(play->world, 10 * throw_dice(play, 150));
    else if (throw_dice(play, 3))
        come_back(play, rank);
    else if (throw_dice(play, 3) == 0)
        scheduler_cancel(play->world->scheduler, play->run, &err);
}

/* ---- What it adds up to ---- */

static struct run *replay(struct play *play)
{
    json_t *body = json_loads(spec_text, 0, NULL);
    struct reading reading = {0};
    struct problems problems;
    struct run *run;

    problems_init(&problems);
    run = run_create(play->run, run_spec_parse(body, &problems), play->created_ms);
    problems_release(&problems);
    json_decref(body);
    store_read_events(play->world->store, play->run, 0, NULL, 100000, on_events,
                      &reading);
    await(play->world, &reading.has_come);
    for (size_t i = 0; i < json_array_size(reading.result); i++) {
        json_t *event = json_array_get(reading.result, i);
        json_t *said = json_copy(event);

        assert_int_equal(json_get_int(event, "id", 0), i + 1);
        json_object_del(said, "id");
        json_object_del(said, "time");
        json_object_del(said, "type");
        run_fold(run, clock_parse_ms(json_get_str(event, "time", NULL)),
                 json_get_str(event, "type", ""), said);
        json_decref(said);
    }
    json_decref(reading.result);
    return run;
}

static void assert_same(json_t *shown, json_t *replayed)
{
    char *a, *b;

    json_object_del(shown, "eta_s");
    json_object_del(shown, "eta_basis");
    a = json_text(shown); /* with figures as exact as they are stored */
    b = json_text(replayed);
    if (strcmp(a, b) != 0) {
        fprintf(stderr, "shown:\n%s\nbut the log says:\n%s\n", a, b);
        fail();
    }
    free(a);
    free(b);
    json_decref(shown);
    json_decref(replayed);
}

/* What has not begun is no part of what is stored. */
static json_t *stored_json(const struct run *run)
{
    json_t *doc = run_to_json(run, RUN_WHOLE);
    json_t *cases = json_object_get(doc, "cases");

    while (json_array_size(cases) > run_begun_cases(run))
        json_array_remove(cases, json_array_size(cases) - 1);
    return doc;
}

/* Let what is under way be stored, and look. */
static void check(struct play *play)
{
    struct reading reading = {0};
    struct run *run;
    json_t *shown;

    while (!is_settled(play->world))
        uv_run(&play->world->loop, UV_RUN_ONCE);
    run = replay(play);
    shown = run_unpack(scheduler_run_packed(play->world->scheduler, play->run));
    if (shown) {
        assert_same(shown, run_to_json(run, RUN_WHOLE));
    } else {
        store_read_run(play->world->store, play->run, on_read, &reading);
        await(play->world, &reading.has_come);
        assert_same(reading.result, stored_json(run));
    }
    run_destroy(run);
}

static bool is_gathering(const struct play *play)
{
    json_t *run = run_unpack(scheduler_run_packed(play->world->scheduler, play->run));
    const json_t *cases = json_object_get(run, "cases"), *item;
    bool is_gathering = false;
    size_t i;

    json_array_foreach (cases, i, item)
        is_gathering =
            is_gathering || strcmp(json_get_str(item, "state", ""), "rendezvous") == 0;
    json_decref(run);
    return is_gathering;
}

/* Its agents come back later. A case that is gathering would start anew, and its rows be
 * those of an attempt that was given up. */
static void restart(struct play *play)
{
    if (is_gathering(play))
        return;
    close_world(play->world);
    open_world(play->world);
    check(play);
    for (int i = 0; i < AGENTS; i++)
        come_back(play, i);
}

static void play_once(struct play *play)
{
    static const char *const names[AGENTS] = {"a", "b", "c"};

    for (int i = 0; i < AGENTS; i++)
        agent_start(&play->players[i].agent, play->world, names[i]);
    play->created_ms = play->world->now.wall_ms;
    submit(play->world, spec_text, play->run);
    for (int i = 0; i < AGENTS; i++)
        agent_await(&play->players[i].agent, "start");
    for (int i = 0; i < CHECKS; i++) {
        for (int k = 0; k < STEPS; k++)
            do_something(play);
        check(play);
        if (i == 1)
            restart(play);
    }
}

TEST(a_document_is_what_the_log_adds_up_to)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct play play = {.random = seed * 7919};

        setup(state);
        play.world = *state;
        play_once(&play);
        /* A server that stops answers the agents that still ask. */
        teardown(state);
        for (int i = 0; i < AGENTS; i++)
            release_agent(&play.players[i].agent);
    }
}
