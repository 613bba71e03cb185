/* test_agent_events.c - what agents say that is long, cut, late or of another time */
#include "tests/unit/scheduler_fixture.h"

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

static void a_long_last_line_is_cut_between_characters(void **state)
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

static void a_long_error_of_a_rank_fails_the_run(void **state)
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

static void a_long_refusal_fails_the_run(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_long_last_line_is_cut_between_characters),
        WITH_WORLD(a_long_error_of_a_rank_fails_the_run),
        WITH_WORLD(a_long_refusal_fails_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
