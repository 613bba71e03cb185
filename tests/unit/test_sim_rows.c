/* test_sim_rows.c - what a row of a simulated case rests on, and how often its interval
 * has the value that more calls would give */
#include "test.h"

#include <sys/mman.h>

#include "agent/worker/bench/bench.h"
#include "agent/worker/sim/sim.h"
#include "common/base/json_util.h"

#define CASES 100
#define MANY 1000

/* The rows of case `number` of two ranks on two nodes; spec: JSON without braces. */
static json_t *play(const char *spec, const char *const *env, int number)
{
    char text[512], variables[4][64];
    char *environment[6] = {NULL};
    struct error err = {0};
    atomic_int stop = 0;
    struct events events;
    int fd = memfd_create("events", MFD_CLOEXEC), n = 0;

    snprintf(text, sizeof(text),
             "{\"world_size\":2,\"case\":%d,\"attempt\":1,\"seed\":7,\"check\":0,"
             "\"in_place\":false,\"placed\":[[\"a\",1],[\"b\",1]],%s}",
             number, spec);
    for (; env && env[n]; n++) {
        snprintf(variables[n], sizeof(variables[n]), "%s", env[n]);
        environment[n] = variables[n];
    }
    environment[n] = (char[]){"SIM_SLEEP_FRACTION=0"};
    json_t *json = json_loads(text, 0, NULL);
    struct case_file *file = case_file_parse(json, false, &err);
    if (!file)
        fail_msg("%s: %s", text, err.text);
    json_decref(json);
    struct sim_setting setting = {
        .file = file, .world_size = 2, .environment = environment};
    struct sim_world *world = sim_world_create(&setting, &stop, &err);
    if (!world || events_init(&events, fd))
        fail_msg("%s", err.text);
    struct bench_rank *ranks = sim_world_ranks(world);
    struct bench bench = {.backend = &backend_sim,
                          .comm = ranks[0].comm,
                          .file = file,
                          .events = &events,
                          .progress = &ranks[0].progress,
                          .stop = &stop,
                          .played = ranks};
    if (bench_run(&bench, &err))
        fail_msg("%s", err.text);

    lseek(fd, 0, SEEK_SET);
    FILE *lines = fdopen(fd, "r");
    json_t *rows = json_array(), *line;
    while ((line = json_loadf(lines, JSON_DISABLE_EOF_CHECK, NULL)) != NULL)
        json_array_append_new(rows, line);
    fclose(lines);
    events_release(&events);
    sim_world_destroy(world);
    case_file_destroy(file);
    return rows;
}

static double number_of(const json_t *rows, size_t i, const char *name)
{
    return json_number_value(json_object_get(json_array_get(rows, i), name));
}

/* Calls of 12 us, of 2.6, 21 and 336 ms. */
TEST(a_block_has_20_calls_or_takes_100_ms)
{
    static const char *const quiet[] = {"SIM_NOISE=0", NULL};
    static const double calls[] = {167, 20, 5, 1};
    json_t *rows = play("\"sizes\":[8,\"128M\",\"1G\",\"16G\"]", quiet, 0);

    assert_int_equal(json_array_size(rows), 4);
    for (size_t i = 0; i < 4; i++)
        assert_near(number_of(rows, i, "iters") / number_of(rows, i, "blocks"), calls[i],
                    0.5);
    json_decref(rows);
    rows = play("\"sizes\":[\"128M\"],\"block_ms\":200", quiet, 0);
    assert_near(number_of(rows, 0, "iters") / number_of(rows, 0, "blocks"), 74, 1);
    json_decref(rows);
    rows = play("\"sizes\":[\"128M\"],\"timing\":\"isolated\"", quiet, 0);
    assert_near(number_of(rows, 0, "iters") / number_of(rows, 0, "blocks"), 1, 0);
    json_decref(rows);
}

/* The interval of 8 blocks, and of as many as the rule takes, has the median of many
 * blocks of the same case in at least 95 % of the rows. Of another case it need not: that
 * one has noise of its own. */
static void count_covered(const char *noise, int *covered, int *others)
{
    const char *env[] = {noise, NULL};
    double before = 0;

    *covered = *others = 0;
    for (int i = 0; i < CASES; i++) {
        json_t *rows = play("\"sizes\":[65536],\"block_ms\":0.01", env, i);
        json_t *more = play(
            "\"sizes\":[65536],\"block_ms\":0.01,\"samples\":{\"min\":1000,\"max\":1000,"
            "\"max_s\":1000}",
            env, i);
        double low = number_of(rows, 0, "time_low_us");
        double high = number_of(rows, 0, "time_high_us");
        double truth = number_of(more, 0, "time_us");

        assert_near(number_of(more, 0, "blocks"), MANY, 0);
        *covered += low <= truth && truth <= high;
        *others += i > 0 && low <= before && before <= high;
        before = truth;
        json_decref(rows);
        json_decref(more);
    }
    printf("%s: the own case's value in %.1f %%, the case before's in %.1f %%\n", noise,
           100.0 * *covered / CASES, 100.0 * *others / (CASES - 1));
}

TEST(intervals_have_the_value_of_their_own_case)
{
    static const char *const noises[] = {"SIM_NOISE=0.005", "SIM_NOISE=0.02",
                                         "SIM_NOISE=0.3"};

    for (size_t i = 0; i < 3; i++) {
        int covered, others;

        count_covered(noises[i], &covered, &others);
        assert_true(covered >= 0.96 * CASES);
        assert_true(others < 0.8 * CASES);
    }
}
