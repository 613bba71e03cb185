/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_fixture.h - a scheduler with a real store and rendezvous, and agents that the
 * test plays */
#ifndef RINGBENCH_TESTS_UNIT_SCHEDULER_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_SCHEDULER_FIXTURE_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "server/runs/agents.h"
#include "server/runs/scheduler.h"
#include "tests/unit/event_fixture.h"
#include "tests/unit/mentions.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/store_reads.h"
#include "tests/unit/test.h"

/* Of what does not wait for time to pass, which only a fault does not come to. */
#define PATIENCE_NS INT64_C(60000000000)

#define STEP_MS 100
#define START_MS INT64_C(1700000000000)

static const char key[] = "0123456789abcdef0123456789abcdef"; /* every agent's */

struct world {
    uv_loop_t loop;
    char dir[64];
    struct store *store;
    struct rendezvous *rendezvous;
    struct scheduler *scheduler;
    struct agents *agents;
    struct clock clock;
    struct clock_time now;
};

struct agent {
    struct world *world;
    const char *machine; /* its id, or NULL */
    int net_namespace;   /* 0: it does not tell */
    const char *name;
    int ranks;
    char boot_id[40];
    char id[64];
    int64_t seq, after, poll_s, lease_s;
    json_t *commands; /* what the last poll brought */
    bool has_answer, is_spool_full;
};

/* ---- The loop and the time ---- */

static inline struct clock_time read_world(void *arg)
{
    const struct world *world = arg;

    return world->now;
}

static inline void move_clock(struct world *world, int64_t ms)
{
    world->now.wall_ms += ms;
    world->now.monotonic_ns += ms * 1000000;
    scheduler_tick(world->scheduler);
}

/* Nothing is on its way to the disk or from there, and no tick is due. */
static inline bool is_settled(const struct world *world)
{
    return store_is_idle(world->store) && uv_backend_timeout(&world->loop) != 0;
}

/* No time passes. */
static inline void await(struct world *world, const bool *flag)
{
    int64_t until = clock_monotonic_ns() + PATIENCE_NS;

    while (!*flag) {
        if (clock_monotonic_ns() > until)
            fail_msg("nothing happened");
        uv_run(&world->loop, UV_RUN_ONCE);
    }
}

/* Time passes when nothing else can happen: a step, and what follows from it. */
static inline void live_on(struct world *world)
{
    if (is_settled(world))
        move_clock(world, STEP_MS);
    else
        uv_run(&world->loop, UV_RUN_ONCE);
}

/* Until the flag is set, or for longer than any deadline here. */
static inline void live_until(struct world *world, const bool *flag)
{
    int64_t until = world->now.wall_ms + 3600000;

    while (!*flag) {
        if (world->now.wall_ms > until)
            fail_msg("nothing happened in an hour");
        live_on(world);
    }
}

static inline void live_for(struct world *world, int64_t ms)
{
    int64_t until = world->now.wall_ms + ms;

    while (world->now.wall_ms < until)
        live_on(world);
    while (!is_settled(world))
        live_on(world);
}

static inline void set_flag(void *arg)
{
    *(bool *)arg = true;
}

static inline void open_world(struct world *world)
{
    struct rendezvous_config rendezvous = {.listen.ss_family = AF_INET};
    struct scheduler_config config = {.lease_s = 60,
                                      .poll_s = 1,
                                      .batch_lost_s = 600,
                                      .max_nodes = 4000,
                                      .join_s = 30,
                                      .clock = &world->clock};
    struct error err;

    assert_int_equal(uv_loop_init(&world->loop), 0);
    world->store = store_open(&world->loop, world->dir, &err);
    assert_non_null(world->store);
    world->rendezvous = rendezvous_create(&world->loop, &rendezvous);
    config.store = world->store;
    config.rendezvous = world->rendezvous;
    world->scheduler = scheduler_create(&world->loop, &config);
    assert_non_null(world->scheduler);
    world->agents = scheduler_agents(world->scheduler);
    assert_int_equal(scheduler_recover(world->scheduler, &err), 0);
}

static inline void close_world(struct world *world)
{
    bool done = false;

    scheduler_close(world->scheduler, set_flag, &done);
    await(world, &done);
    done = false;
    rendezvous_close(world->rendezvous, set_flag, &done);
    await(world, &done);
    done = false;
    store_close(world->store, set_flag, &done);
    await(world, &done);
    scheduler_free(world->scheduler);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static inline int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    log_init("test", LOG_ERROR);
    snprintf(world->dir, sizeof(world->dir), "/tmp/ringbench-test-XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    world->clock = (struct clock){.read = read_world, .arg = world};
    world->now = (struct clock_time){.wall_ms = START_MS, .monotonic_ns = 1000000000};
    open_world(world);
    *state = world;
    return 0;
}

static inline int teardown(void **state)
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

static inline void agent_register(struct agent *agent, json_t *cases)
{
    struct agents_caller caller = {"127.0.0.1", key, 0};
    struct agents_registered registered;
    struct problems problems;
    struct error err;
    json_t *body, *answer;

    problems_init(&problems);
    body = json_pack(
        "{s:s, s:s, s:i, s:s, s:{s:o, s:s*, s:o*}, s:o}", "name", agent->name, "boot_id",
        agent->boot_id, "ranks", agent->ranks, "server_host", "127.0.0.1", "inventory",
        "backends", json_loads(probe, 0, NULL), "machine", agent->machine,
        "net_namespace", agent->net_namespace ? json_integer(agent->net_namespace) : NULL,
        "cases", cases ? cases : json_array());
    answer = agents_register(agent->world->agents, body, &caller, &registered, &problems,
                             &err);
    assert_non_null(answer);
    snprintf(agent->id, sizeof(agent->id), "%s", json_get_str(answer, "agent", ""));
    agent->seq = json_get_int(answer, "acked", -1);
    agent->poll_s = json_get_int(answer, "poll_s", 0);
    agent->lease_s = json_get_int(answer, "lease_s", 0);
    agent->after = 0;
    json_decref(agent->commands);
    agent->commands = NULL;
    json_decref(answer);
    json_decref(body);
    problems_release(&problems);
}

static inline void agent_start_ranks(struct agent *agent, struct world *world,
                                     const char *name, int ranks)
{
    memset(agent, 0, sizeof(*agent));
    agent->world = world;
    agent->name = name;
    agent->ranks = ranks;
    id_uuid(agent->boot_id);
    agent_register(agent, NULL);
}

/* The agent of a machine (boot id) and a network namespace that it tells. */
static inline void agent_start_on(struct agent *agent, struct world *world,
                                  const char *name, const char *machine,
                                  int net_namespace)
{
    memset(agent, 0, sizeof(*agent));
    agent->world = world;
    agent->name = name;
    agent->machine = machine;
    agent->net_namespace = net_namespace;
    agent->ranks = 1;
    id_uuid(agent->boot_id);
    agent_register(agent, NULL);
}

static inline void agent_start(struct agent *agent, struct world *world, const char *name)
{
    agent_start_ranks(agent, world, name, 1);
}

static inline void on_commands(void *arg, json_t *commands)
{
    struct agent *agent = arg;

    json_decref(agent->commands);
    agent->commands = commands;
    agent->has_answer = true;
}

/* The next command of a type; others are skipped. Borrowed until the next call. */
static inline const json_t *agent_await(struct agent *agent, const char *type)
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
        assert_int_equal(agents_poll(agent->world->agents, agent->id, key, agent->after,
                                     agent->is_spool_full, on_commands, agent, &err),
                         0);
        live_until(agent->world, &agent->has_answer);
    }
}

struct acknowledgement {
    bool has_come;
    enum error_code code;
    int64_t acked;
};

static inline void on_acked(void *arg, const struct error *err, int64_t acked)
{
    struct acknowledgement *answer = arg;

    answer->has_come = true;
    answer->code = err ? err->code : ERROR_NONE;
    answer->acked = acked;
}

static inline struct acknowledgement agent_post(struct agent *agent, const char *lines)
{
    struct acknowledgement answer = {0};

    agents_events(agent->world->agents, agent->id, key, lines, strlen(lines), on_acked,
                  &answer);
    await(agent->world, &answer.has_come);
    return answer;
}

/* Send one event of a case; `rest` is JSON members with a leading comma. */
static inline void agent_say_of(struct agent *agent, const char *run, int number,
                                int attempt, const char *type, const char *rest)
{
    struct acknowledgement answer;
    struct buf line;

    buf_init(&line, 1 << 20);
    buf_printf(&line,
               "{\"seq\":%lld,\"time_ms\":5,\"run\":\"%s\",\"case\":%d,\"attempt\":%d,"
               "\"type\":\"%s\"%s}\n",
               (long long)++agent->seq, run, number, attempt, type, rest);
    answer = agent_post(agent, line.data);
    assert_int_equal(answer.code, ERROR_NONE);
    assert_int_equal(answer.acked, agent->seq);
    buf_release(&line);
}

/* Of the run's case 0. */
static inline void agent_say(struct agent *agent, const char *run, int attempt,
                             const char *type, const char *rest)
{
    agent_say_of(agent, run, 0, attempt, type, rest);
}

static inline void agent_join(struct agent *agent, const char *run, int attempt, int rank)
{
    char rest[64];

    snprintf(rest, sizeof(rest), ",\"rank\":%d", rank);
    agent_say(agent, run, attempt, "spawn", rest);
    snprintf(rest, sizeof(rest), ",\"rank\":%d,\"phase\":\"joined\"", rank);
    agent_say(agent, run, attempt, "phase", rest);
    snprintf(rest, sizeof(rest), ",\"rank\":%d,\"phase\":\"connected\"", rank);
    agent_say(agent, run, attempt, "phase", rest);
}

static inline void agent_finish(struct agent *agent, const char *run, int attempt,
                                int rank)
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

static inline void on_accepted(void *arg, const struct error *err, const char *run)
{
    struct submission *submission = arg;

    assert_null(err);
    submission->has_come = true;
    snprintf(submission->run, sizeof(submission->run), "%s", run);
}

static inline void submit(struct world *world, const char *text, char run[16])
{
    struct submission submission = {0};

    scheduler_submit(world->scheduler, spec_of(text), NULL, NULL, on_accepted,
                     &submission);
    await(world, &submission.has_come);
    memcpy(run, submission.run, 16);
}

/* Named "a" and so on. */
static inline void agents_start(struct agent *agents, int n, struct world *world)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (int i = 0; i < n; i++)
        agent_start(&agents[i], world, names[i]);
}

/* A run that n new agents have been told to start. */
static inline void start_run(struct agent *agents, int n, struct world *world,
                             const char *text, char run[16])
{
    agents_start(agents, n, world);
    submit(world, text, run);
    for (int i = 0; i < n; i++)
        agent_await(&agents[i], "start");
}

/* The same under way, each agent with the rank of its place. */
static inline void start_joined(struct agent *agents, int n, struct world *world,
                                const char *text, char run[16])
{
    start_run(agents, n, world, text, run);
    for (int i = 0; i < n; i++)
        agent_join(&agents[i], run, 1, i);
}

struct reading {
    bool has_come;
    json_t *result;
};

static inline void on_read(void *arg, const struct error *err, json_t *result)
{
    struct reading *reading = arg;

    assert_null(err);
    reading->has_come = true;
    reading->result = result;
}

static inline void on_events(void *arg, const struct error *err,
                             struct store_events *events)
{
    struct reading *reading = arg;

    assert_null(err);
    reading->has_come = true;
    reading->result = events_json(events);
}

/* Wait until the run has ended and all is stored; its document, a new reference. */
static inline json_t *await_end(struct world *world, const char *run)
{
    int64_t until = world->now.wall_ms + 3600000;
    struct reading reading = {0};

    while (scheduler_run_is_active(world->scheduler, run) ||
           scheduler_head(world->scheduler, run) > 0) {
        if (world->now.wall_ms > until)
            fail_msg("run %s did not end in an hour", run);
        live_on(world);
    }
    store_read_run(world->store, run, on_read, &reading);
    await(world, &reading.has_come);
    return reading.result;
}

static inline void assert_ended(struct world *world, const char *run, const char *state,
                                const char *names)
{
    json_t *doc = await_end(world, run);
    const char *reason = json_get_str(doc, "reason", "");

    assert_string_equal(json_get_str(doc, "state", ""), state);
    if (names)
        assert_mentions(reason, names);
    json_decref(doc);
}

static inline void release_agent(struct agent *agent)
{
    json_decref(agent->commands);
}

#endif
