/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_end.c - the end of runs that asked for checks */
#include "tests/unit/scheduler_fixture.h"

#include "server/finding/verdict.h"
#include "server/runs/run.h"
#include "common/base/clock.h"
#include "tests/unit/full_disk.h"
#include "tests/unit/test.h"

EACH_FIXTURE(setup, teardown);

static const json_t *gate_of(const json_t *doc)
{
    return verdicts_find(json_object_get(doc, "verdicts"), VERDICT_GATE);
}

static const json_t *checks_of(const json_t *doc)
{
    return json_object_get(json_object_get(gate_of(doc), "evidence"), "checks");
}

TEST(a_run_that_did_not_complete_has_no_pass)
{
    static const char *const specs[] = {
        "{\"thresholds\":{\"right\":{\"figure\":\"wrong\"}}}",
        "{\"baseline\":{\"last\":5}}"};

    for (size_t i = 0; i < 2; i++) {
        char run[16];
        struct error err;
        json_t *doc;

        submit(*state, specs[i], run);
        assert_int_equal(scheduler_cancel(((struct world *)*state)->scheduler, run, &err),
                         0);
        doc = await_end(*state, run);
        assert_string_equal(json_get_str(doc, "state", ""), "cancelled");
        assert_string_equal(json_get_str(gate_of(doc), "answer", ""), "not_evaluated");
        assert_int_equal(json_array_size(checks_of(doc)), 2);
        json_decref(doc);
    }
}

/* ---- What a gate compares with ---- */

#define LIKE                                                                             \
    "{\"nodes\":{\"count\":1},\"backend\":\"host\",\"collectives\":[\"all_reduce\"],"    \
    "\"dtypes\":[\"float32\"],\"sizes\":[8],\"iters\":1,\"check\":0"
#define ROW                                                                              \
    "\"row\":0,\"series\":0,\"collective\":\"all_reduce\",\"dtype\":\"float32\","        \
    "\"redop\":\"sum\",\"root\":-1,\"in_place\":0,\"size\":8,\"time_us\":4.0,"           \
    "\"algbw_gbs\":1.0,\"busbw_gbs\":1.0"
#define LAST 24

/* Until its rank has yet to end. */
static void measure(struct agent *agent, const char *spec, char run[16])
{
    submit(agent->world, spec, run);
    agent_await(agent, "start");
    agent_join(agent, run, 1, 0);
    agent_say(agent, run, 1, "result", ",\"rank\":0," ROW);
}

static void note_ends(void *arg, const struct error *err,
                      const struct store_event *events, size_t n_events)
{
    struct world *world = arg;
    char id[16];

    (void)events, (void)n_events;
    assert_null(err);
    for (int i = 0; i < LAST; i++) {
        snprintf(id, sizeof(id), "0other%02d", i);
        scheduler_note_end(world->scheduler, id);
    }
}

/* Runs like that one, which end together. */
static void store_others_like(struct world *world, json_t *doc)
{
    struct store_write *write = store_write_create();
    json_t *row = json_loads("{\"case\":0,\"attempt\":1," ROW "}", 0, NULL);
    int64_t created_ms = clock_parse_ms(json_get_str(doc, "created", ""));
    char id[16];

    assert_non_null(row);
    for (int i = 0; i < LAST; i++) {
        snprintf(id, sizeof(id), "0other%02d", i);
        json_object_set_new(doc, "id", json_string(id));
        store_write_run(write, id, "completed", "", created_ms, NULL, doc);
        store_write_event(write, id, created_ms, "result", row);
    }
    json_decref(row);
    store_submit(world->store, write, false, note_ends, world);
}

TEST(a_gate_compares_with_each_run_that_ended_before)
{
    struct agent agent;
    char run[16];
    json_t *doc;

    agent_start(&agent, *state, "a");
    measure(&agent, LIKE "}", run);
    agent_finish(&agent, run, 1, 0);
    doc = await_end(*state, run);
    measure(&agent, LIKE ",\"baseline\":{\"last\":24}}", run);
    store_others_like(*state, doc);
    json_decref(doc);
    agent_finish(&agent, run, 1, 0);
    doc = await_end(*state, run);
    assert_int_equal(
        json_array_size(json_object_get(json_array_get(checks_of(doc), 1), "against")),
        LAST);
    json_decref(doc);
    release_agent(&agent);
}

static size_t count_ends(struct world *world, const char *run)
{
    struct reading reading = {0};
    size_t n = 0;

    store_read_events(world->store, run, 0, "state", 1000, on_events, &reading);
    await(world, &reading.has_come);
    for (size_t i = 0; i < json_array_size(reading.result); i++) {
        const json_t *event = json_array_get(reading.result, i);

        n += strcmp(json_get_str(event, "state", ""), "completed") == 0;
    }
    json_decref(reading.result);
    return n;
}

/* Whatever the judgement is at when the server stops: the run ends once, and judged. */
TEST(a_server_that_stops_leaves_a_judgement_to_the_next)
{
    struct world *world = *state;
    bool has_ended = false;

    for (int turns = 0; !has_ended; turns++) {
        struct agent agent;
        char run[16];
        json_t *doc;

        agent_start(&agent, world, "a");
        measure(&agent, LIKE ",\"baseline\":{\"last\":5}}", run);
        agent_finish(&agent, run, 1, 0);
        for (int i = 0; i < turns; i++)
            live_on(world);
        has_ended = !scheduler_run_is_active(world->scheduler, run);
        close_world(world);
        open_world(world);
        doc = await_end(world, run);
        assert_string_equal(json_get_str(doc, "state", ""), "completed");
        assert_int_equal(json_array_size(checks_of(doc)), 2);
        assert_int_equal(count_ends(world, run), 1);
        json_decref(doc);
        release_agent(&agent);
    }
}

/* ---- A full disk ---- */

static void on_refused(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    (void)events, (void)n_events;
    assert_non_null(err);
    set_flag(arg);
}

/* Until the store says that the disk refuses. */
static void await_refusal(struct world *world)
{
    struct store_write *write = store_write_create();
    bool is_refused = false;

    store_write_ack(write, "boot", 1);
    store_submit(world->store, write, false, on_refused, &is_refused);
    await(world, &is_refused);
    assert_false(store_takes_writes(world->store));
}

/* The row and the end come in one batch, which the disk refuses. */
static void end_case(struct agent *agent, const char *run, struct acknowledgement *answer)
{
    static const char *const says[] = {"result\",\"rank\":0," ROW,
                                       "done\",\"rank\":0,\"ok\":true",
                                       "exit\",\"rank\":0,\"code\":0", "gone\""};
    struct buf lines;

    buf_init(&lines, 1 << 20);
    for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
        buf_printf(&lines,
                   "{\"seq\":%lld,\"time_ms\":5,\"run\":\"%s\",\"case\":0,"
                   "\"attempt\":1,\"type\":\"%s}\n",
                   (long long)++agent->seq, run, says[i]);
    agents_events(agent->world->agents, agent->id, key, lines.data, lines.len, on_acked,
                  answer);
    buf_release(&lines);
}

/* Whether the store knows of the full disk when the run ends or has yet to find out. */
TEST(a_run_that_ends_while_the_disk_is_full_is_judged_by_all_its_rows)
{
    struct world *world = *state;
    struct agent agent;

    agent_start(&agent, world, "a");
    for (int is_known = 0; is_known <= 1; is_known++) {
        struct acknowledgement answer = {0};
        char run[16];
        json_t *doc;

        submit(world,
               LIKE ",\"thresholds\":{\"b\":{\"figure\":\"busbw_gbs\",\"min\":0.5}}}",
               run);
        agent_await(&agent, "start");
        agent_join(&agent, run, 1, 0);
        refuse_writes(world->dir);
        if (is_known)
            await_refusal(world);
        end_case(&agent, run, &answer);
        for (int ticks = 0; ticks < 4; ticks++)
            scheduler_tick(world->scheduler);
        await_refusal(world);
        allow_writes();
        await(world, &answer.has_come);
        assert_int_equal(answer.code, ERROR_NONE);
        doc = await_end(world, run);
        assert_string_equal(json_get_str(doc, "state", ""), "completed");
        assert_string_equal(json_get_str(json_array_get(checks_of(doc), 1), "answer", ""),
                            "pass");
        json_decref(doc);
    }
    release_agent(&agent);
}
