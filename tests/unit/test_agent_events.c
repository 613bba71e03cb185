/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_events.c - what agents say that is long, cut, late or of another time */
#include "server/finding/verdict.h"
#include "server/nodes/digest.h"
#include "tests/unit/scheduler_fixture.h"
#include "tests/unit/test.h"

EACH_FIXTURE(setup, teardown);

/* The case is under way on both nodes, of one rank each. */
static void start_two(struct agent *a, struct agent *b, struct world *world, char run[16])
{
    agent_start(a, world, "a");
    agent_start(b, world, "b");
    submit(world, "{}", run);
    agent_await(a, "start");
    agent_await(b, "start");
    agent_join(a, run, 1, 0);
    agent_join(b, run, 1, 1);
}

static void end_two(struct agent *a, struct agent *b, struct world *world,
                    const char *run, const char *says)
{
    agent_await(a, "stop");
    agent_say(a, run, 1, "gone", "");
    agent_say(b, run, 1, "gone", "");
    assert_ended(world, run, "failed", says);
    release_agent(a);
    release_agent(b);
}

/* n characters of two bytes after as many of one byte as `shift` says. */
static void put_wide(char *out, int shift, int n)
{
    for (int i = 0; i < shift; i++)
        *out++ = 'x';
    for (int i = 0; i < n; i++, out += 2)
        memcpy(out, "\xc3\xa9", 3);
}

TEST(a_long_last_line_is_cut_between_characters)
{
    struct world *world = *state;

    for (int shift = 0; shift < 2; shift++) {
        char run[16], wide[2100], rest[2200], says[512];
        struct agent a, b;

        start_two(&a, &b, world, run);
        put_wide(wide, shift, 1000);
        snprintf(rest, sizeof(rest), ",\"rank\":1,\"signal\":9,\"tail\":[\"%s\"]", wide);
        agent_say(&b, run, 1, "exit", rest);
        put_wide(wide, shift, 150 - shift);
        snprintf(says, sizeof(says), "its last line: %s", wide);
        end_two(&a, &b, world, run, says);
        close_world(world);
        open_world(world);
    }
}

TEST(a_long_error_of_a_rank_fails_the_run)
{
    struct world *world = *state;

    for (int shift = 0; shift < 2; shift++) {
        char run[16], wide[2100], rest[2300];
        struct agent a, b;

        start_two(&a, &b, world, run);
        put_wide(wide, shift, 1000);
        snprintf(rest, sizeof(rest),
                 ",\"rank\":1,\"ok\":false,\"error\":{\"code\":\"io\",\"text\":\"%s\"}",
                 wide);
        agent_say(&b, run, 1, "done", rest);
        end_two(&a, &b, world, run, "rank 1 on b: io: ");
        close_world(world);
        open_world(world);
    }
}

TEST(a_long_refusal_fails_the_run)
{
    struct world *world = *state;

    for (int shift = 0; shift < 2; shift++) {
        char run[16], wide[2100], rest[2200];
        struct agent a, b;

        start_two(&a, &b, world, run);
        put_wide(wide, shift, 1000);
        snprintf(rest, sizeof(rest), ",\"reason\":\"%s\"", wide);
        agent_say(&b, run, 1, "refused", rest);
        end_two(&a, &b, world, run, "b: ");
        close_world(world);
        open_world(world);
    }
}

/* Whoever holds an agent's token can send a line of 4 MiB. */
TEST(a_reason_is_bounded_however_it_comes)
{
    static const char *const types[] = {"gone", "refused"};
    struct world *world = *state;
    char *rest = calloc(1, 100100);

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t before = (size_t)snprintf(rest, 100100, ",\"reason\":\"");
        struct agent a, b;
        char run[16], *text;
        json_t *doc;

        start_two(&a, &b, world, run);
        memset(rest + before, 'r', 100000);
        strcpy(rest + before + 100000, "\"");
        agent_say(&b, run, 1, types[i], rest);
        agent_await(&a, "stop");
        agent_say(&a, run, 1, "gone", "");
        agent_say(&b, run, 1, "gone", "");
        doc = await_end(world, run);
        assert_string_equal(json_get_str(doc, "state", ""), "failed");
        text = json_text(doc);
        assert_non_null(strstr(text, "rrrrrrrr"));
        assert_true(strlen(text) < 10000);
        free(text);
        json_decref(doc);
        release_agent(&a);
        release_agent(&b);
        close_world(world);
        open_world(world);
    }
    free(rest);
}

static int64_t latest_event_ms(struct world *world, const char *run)
{
    struct reading reading = {0};
    int64_t latest = 0;

    store_read_events(world->store, run, 0, NULL, 1000, on_events, &reading);
    await(world, &reading.has_come);
    for (size_t i = 0; i < json_array_size(reading.result); i++) {
        const json_t *event = json_array_get(reading.result, i);
        int64_t ms = clock_parse_ms(json_get_str(event, "time", NULL));

        latest = ms > latest ? ms : latest;
    }
    json_decref(reading.result);
    return latest;
}

TEST(a_node_ahead_of_time_does_not_time_a_run_out)
{
    static const int64_t aheads[] = {INT64_C(7200000), INT64_MAX};
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(aheads) / sizeof(aheads[0]); i++) {
        struct acknowledgement answer;
        char run[16], line[400];
        struct agent a;
        int64_t time_ms =
            aheads[i] < INT64_MAX ? world->now.wall_ms + aheads[i] : INT64_MAX;

        agent_start(&a, world, "a");
        submit(world, "{\"sizes\":[8],\"timeout_s\":3600}", run);
        agent_await(&a, "start");
        agent_join(&a, run, 1, 0);
        snprintf(line, sizeof(line),
                 "{\"seq\":%lld,\"time_ms\":%lld,\"run\":\"%s\",\"case\":0,"
                 "\"attempt\":1,\"type\":\"result\",\"rank\":0,\"row\":0,"
                 "\"series\":0,\"size\":8,\"busbw_gbs\":2.0}\n",
                 (long long)++a.seq, (long long)time_ms, run);
        answer = agent_post(&a, line);
        assert_int_equal(answer.code, ERROR_NONE);
        assert_true(latest_event_ms(world, run) <= world->now.wall_ms);
        close_world(world);
        open_world(world);
        agent_register(
            &a, json_pack("[{s:s, s:i, s:i}]", "run", run, "case", 0, "attempt", 1));
        agent_finish(&a, run, 1, 0);
        assert_ended(world, run, "completed", NULL);
        release_agent(&a);
        close_world(world);
        open_world(world);
    }
}

TEST(a_node_that_leaves_and_is_forgotten_has_left)
{
    struct world *world = *state;
    struct agent a, b;
    struct error err;
    char run[16];

    start_two(&a, &b, world, run);
    assert_int_equal(agents_deregister(world->agents, b.id, key, &err), 0);
    assert_int_equal(agents_forget(world->agents, "b", &err), 0);
    agent_await(&a, "stop");
    agent_say(&a, run, 1, "gone", "");
    assert_ended(world, run, "failed", "b: agent left");
    release_agent(&a);
    release_agent(&b);
}

static bool is_remembered(const struct agent *agent)
{
    char text[128], digest[DIGEST_TEXT_SIZE];
    struct error err;
    int64_t seq;

    snprintf(text, sizeof(text), "%s\n%s\n%s", agent->name, agent->boot_id, key);
    digest_text(text, digest);
    assert_int_equal(store_acked(agent->world->store, digest, &seq, &err), 0);
    return seq >= 0;
}

TEST(an_agent_that_sent_nothing_is_forgotten_with_its_place)
{
    struct world *world = *state;
    struct agent left, replaced, lasting, spoke;
    char run[16];
    struct error err;

    agent_start(&left, world, "left");
    agent_start(&replaced, world, "lasting");
    agent_start(&spoke, world, "spoke");
    submit(world, "{\"nodes\":{\"names\":[\"spoke\"]}}", run);
    agent_await(&spoke, "start");
    agent_join(&spoke, run, 1, 0);
    agent_finish(&spoke, run, 1, 0);
    assert_ended(world, run, "completed", NULL);
    assert_true(is_remembered(&left) && is_remembered(&replaced));
    assert_int_equal(agents_deregister(world->agents, left.id, key, &err), 0);
    assert_int_equal(agents_deregister(world->agents, spoke.id, key, &err), 0);
    agent_start(&lasting, world, "lasting");
    close_world(world);
    open_world(world);
    assert_false(is_remembered(&left));
    assert_false(is_remembered(&replaced));
    assert_true(is_remembered(&lasting));
    assert_true(is_remembered(&spoke));
    release_agent(&spoke);
}

/* What is stored is what is known of them, not all that an agent says. */
TEST(conditions_are_checked_and_worded)
{
    struct world *world = *state;
    const json_t *conditions, *said;
    struct agent a, b;
    char run[16], *text;
    json_t *doc;

    start_two(&a, &b, world, run);
    agent_say(&b, run, 1, "conditions",
              ",\"bind\":{\"to\":\"core\",\"cpus\":[\"0,2-3\",\"x\",7],\"more\":1},"
              "\"load_before\":1.5,\"steal_percent\":3,\"strange\":1,\"seconds\":\"9\","
              "\"ports\":[{\"kind\":\"net\",\"name\":\"eth0\",\"sent_bytes\":5,"
              "\"received_bytes\":6},{\"kind\":\"moon\"}],"
              "\"notes\":[\"lies\"]");
    agent_say(&a, run, 1, "conditions", ",\"bind\":{\"to\":\"moon\"}");
    agent_say(&a, run, 1, "conditions",
              ",\"bind\":{\"to\":\"none\",\"reason\":\"why\"},\"load_before\":2");
    agent_say(&b, run, 1, "exit", ",\"rank\":1,\"code\":3");
    end_two(&a, &b, world, run, "worker exited 3");
    doc = await_end(world, run);
    conditions =
        json_object_get(json_array_get(json_object_get(doc, "cases"), 0), "conditions");
    assert_int_equal(json_array_size(conditions), 2);
    said = json_array_get(conditions, 0);
    text = json_dumps(said, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"node\":\"a\",\"bind\":{\"to\":\"none\",\"reason\":"
                              "\"why\"},\"load_before\":2.0,\"notes\":[]}");
    free(text);
    text =
        json_dumps(json_array_get(conditions, 1), JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(
        text,
        "{\"node\":\"b\",\"bind\":{\"to\":\"core\",\"cpus\":[\"0,2-3\",\"?\",\"?\"]},"
        "\"ports\":[{\"kind\":\"net\",\"name\":\"eth0\",\"sent_bytes\":5,"
        "\"received_bytes\":6}],"
        "\"load_before\":1.5,\"steal_percent\":3.0,\"notes\":[\"the hypervisor took "
        "3.0 % of the CPU time\"]}");
    free(text);
    json_decref(doc);
}

struct place {
    const char *machine;
    int net_namespace;
};

/* A run of one row of 1 MiB on the nodes of these places, each of which says so of its
 * ports. */
static json_t *run_with_ports(struct world *world, const struct place *places, int n,
                              const char *ports)
{
    static const char *const names[] = {"a", "b", "c"};
    struct agent agents[3];
    char run[16];
    json_t *doc;

    for (int i = 0; i < n; i++)
        agent_start_on(&agents[i], world, names[i], places[i].machine,
                       places[i].net_namespace);
    submit(world, "{\"sizes\":[1048576],\"in_place\":false}", run);
    for (int i = 0; i < n; i++)
        agent_await(&agents[i], "start");
    for (int i = 0; i < n; i++)
        agent_join(&agents[i], run, 1, i);
    agent_say(&agents[0], run, 1, "result",
              ",\"rank\":0,\"row\":0,\"series\":0,\"collective\":\"all_reduce\","
              "\"size\":1048576,\"busbw_gbs\":2.0,\"wrong\":0");
    for (int i = 0; i < n; i++)
        agent_say(&agents[i], run, 1, "conditions", ports);
    for (int i = 0; i < n; i++)
        agent_finish(&agents[i], run, 1, i);
    doc = await_end(world, run);
    assert_string_equal(json_get_str(doc, "state", ""), "completed");
    for (int i = 0; i < n; i++)
        release_agent(&agents[i]);
    return doc;
}

TEST(ports_that_carried_nothing_are_a_finding_between_machines)
{
    static const char none[] = ",\"ports\":[]",
                      all[] = ",\"ports\":[{\"kind\":\"net\",\"name\":\"eth0\","
                              "\"sent_bytes\":2097152,\"received_bytes\":2097152}]";
    static const struct {
        struct place other;
        const char *ports, *answer;
    } table[] = {{{"two", 7}, none, "another_way"},
                 {{"two", 7}, all, "by_network"},
                 {{"one", 8}, all, "by_network"},
                 {{"one", 7}, all, ""},
                 {{"one", 8}, none, ""},
                 {{NULL, 7}, none, ""},
                 {{"two", 7}, ",\"load_before\":1", ""}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct place places[] = {{"one", 7}, table[i].other};
        json_t *doc = run_with_ports(*state, places, 2, table[i].ports);
        const json_t *verdict =
            verdicts_find(json_object_get(doc, "verdicts"), VERDICT_TRAFFIC);

        assert_string_equal(json_get_str(verdict, "answer", ""), table[i].answer);
        json_decref(doc);
    }
}

TEST(ports_of_nodes_in_one_network_namespace_count_once)
{
    static const struct place places[] = {{"one", 7}, {"one", 7}, {"two", 7}};
    json_t *doc = run_with_ports(*state, places, 3,
                                 ",\"ports\":[{\"kind\":\"net\",\"name\":\"eth0\","
                                 "\"sent_bytes\":2097152,\"received_bytes\":0}]");
    const json_t *verdict =
        verdicts_find(json_object_get(doc, "verdicts"), VERDICT_TRAFFIC);

    assert_string_equal(json_get_str(verdict, "answer", ""), "by_network");
    assert_float_equal(json_get_num(json_object_get(verdict, "evidence"), "bytes", 0),
                       2 * 2097152, 1);
    json_decref(doc);
}

/* Two events of case 0 in one batch. */
static struct acknowledgement post_two(struct agent *agent, const char *run,
                                       const char *first, const char *second)
{
    static const char form[] =
        "{\"seq\":%lld,\"run\":\"%s\",\"case\":0,\"attempt\":1,%s}\n";
    char lines[400];
    int n = snprintf(lines, sizeof(lines), form, (long long)agent->seq + 1, run, first);

    snprintf(lines + n, sizeof(lines) - (size_t)n, form, (long long)agent->seq + 2, run,
             second);
    return agent_post(agent, lines);
}

/* The second line is another node's to say. */
TEST(a_refused_batch_leaves_no_trace)
{
    struct world *world = *state;
    struct acknowledgement answer;
    char run[16];
    struct agent a, b;

    start_two(&a, &b, world, run);
    answer = post_two(&b, run, "\"type\":\"done\",\"rank\":1,\"ok\":true",
                      "\"type\":\"done\",\"rank\":0,\"ok\":true");
    assert_int_equal(answer.code, ERROR_INVALID);
    agent_say(&b, run, 1, "exit", ",\"rank\":1,\"code\":3");
    end_two(&a, &b, world, run, "worker exited 3");
}

/* Though both come in one batch. */
TEST(what_a_rank_said_of_its_end_counts_before_its_exit)
{
    struct world *world = *state;
    struct acknowledgement answer;
    char run[16];
    struct agent a, b;

    start_two(&a, &b, world, run);
    answer = post_two(&b, run,
                      "\"type\":\"done\",\"rank\":1,\"ok\":false,\"error\":{\"code\":"
                      "\"io\",\"text\":\"no disk\"}",
                      "\"type\":\"exit\",\"rank\":1,\"code\":3");
    assert_int_equal(answer.code, ERROR_NONE);
    b.seq += 2;
    end_two(&a, &b, world, run, "rank 1 on b: io: no disk");
}
