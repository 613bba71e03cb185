/* test_history.c - what runs took says what the next one will, if it is like them */
#include "common/base/json_util.h"
#include "server/runs/history.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

/* A run of one case on a node with two ranks: 1 MiB takes 1000 us, 2 MiB 2000 us, and it
 * took `seconds`. */
static json_t *run_of(const char *id, const char *node, const char *spec, int rows,
                      int seconds)
{
    json_t *run = json_pack(
        "{s:s, s:s, s:s, s:i, s:[{s:s, s:i}], s:i, s:s, s:{s:[[i,f],[i,f]]}}", "id", id,
        "state", "completed", "backend", "host", "world_size", 2, "nodes", "name", node,
        "ranks", 2, "rows_done", rows, "started", "2026-01-01T00:00:00.000Z", "summary",
        "curve", 1 << 20, 1.048576, 2 << 20, 1.048576);
    char ended[32];

    snprintf(ended, sizeof(ended), "2026-01-01T00:00:%02d.000Z", seconds);
    json_object_set_new(run, "ended", json_string(ended));
    json_object_set_new(run, "spec", json_loads(spec, 0, NULL));
    return run;
}

struct answer {
    double seconds;
    char basis[16];
    size_t runs;
};

static struct answer ask(const struct history *history, const char *text, int world_size,
                         const char *node)
{
    struct run_spec *spec = spec_of(text);
    json_t *nodes = json_pack("[{s:s, s:i}]", "name", node, "ranks", 2), *time;
    struct series_plan plan = run_spec_plan(spec);
    const struct history_question question = {.spec = spec,
                                              .plan = spec->program.name ? NULL : &plan,
                                              .n_cases = 1,
                                              .backend = "host",
                                              .world_size = world_size,
                                              .nodes = nodes};
    struct answer answer;

    plan.world_size = world_size;
    time = history_estimate(history, &question);
    answer.seconds = json_get_num(time, "seconds", -1.0);
    snprintf(answer.basis, sizeof(answer.basis), "%s", json_get_str(time, "basis", ""));
    answer.runs = json_array_size(json_object_get(time, "runs"));
    assert_non_null(json_get_str(time, "detail", NULL));
    json_decref(time);
    json_decref(nodes);
    run_spec_destroy(spec);
    return answer;
}

static void expect(struct answer answer, double seconds, const char *basis, size_t runs)
{
    if (answer.seconds < seconds * 0.99 - 1e-9 || answer.seconds > seconds * 1.01 + 1e-9)
        fail_msg("%g s, not %g s", answer.seconds, seconds);
    assert_string_equal(answer.basis, basis);
    assert_int_equal(answer.runs, runs);
}

#define TWO "\"sizes\":[1048576,2097152],\"in_place\":false,\"warmup\":0"

static void add(struct history *history, json_t *run)
{
    history_add(history, run);
    json_decref(run);
}

/* 100 calls of 1 ms and of 2 ms: 0.3 s, and 1.7 s of something else in two rows. */
TEST(run_like_an_earlier_one_takes_as_long)
{
    struct history *history = history_create();

    add(history, run_of("a", "n1", "{" TWO ",\"iters\":100}", 2, 2));
    expect(ask(history, "{" TWO ",\"iters\":100}", 2, "n1"), 2.0, "runs", 1);
    expect(ask(history, "{" TWO ",\"iters\":1000}", 2, "n1"), 3.0 + 1.7, "runs", 1);
    expect(ask(history, "{" TWO ",\"iters\":1000,\"agg_iters\":2}", 2, "n1"), 6.0 + 1.7,
           "runs", 1);
    /* Twice the size at the same bandwidth. */
    expect(ask(history,
               "{\"sizes\":[4194304],\"in_place\":false,\"warmup\":0,\"iters\":100}", 2,
               "n1"),
           0.4 + 0.85, "runs", 1);
    history_destroy(history);
}

/* Two rows of calls of 1.5 ms: the least number of blocks of 20 calls, or twice as many
 * where there is time. */
TEST(blocks_take_as_long_as_they_are)
{
    struct history *history = history_create();

    add(history, run_of("a", "n1", "{" TWO ",\"iters\":100}", 2, 2));
    expect(ask(history, "{" TWO "}", 2, "n1"), 1.7 + 0.48, "runs", 1);
    expect(ask(history, "{" TWO ",\"timing\":\"isolated\"}", 2, "n1"), 1.7 + 0.048,
           "runs", 1);
    expect(ask(history, "{" TWO ",\"samples\":{\"max_s\":0.01}}", 2, "n1"), 1.7 + 0.48,
           "runs", 1);
    expect(ask(history, "{" TWO ",\"block_ms\":100,\"samples\":{\"max_s\":9}}", 2, "n1"),
           1.7 + 3.2, "runs", 1);
    history_destroy(history);
}

/* Two groups of two ranks call at once: only what is beside the calls is there twice. */
TEST(groups_call_at_the_same_time)
{
    struct history *history = history_create();
    struct run_spec *spec = spec_of("{" TWO ",\"iters\":100}");
    json_t *nodes = json_pack("[{s:s, s:i}]", "name", "n1", "ranks", 2), *time;
    struct series_plan plan = run_spec_plan(spec);
    const struct history_question question = {.spec = spec,
                                              .plan = &plan,
                                              .n_cases = 1,
                                              .backend = "host",
                                              .world_size = 2,
                                              .nodes = nodes};

    plan.world_size = plan.n_groups = 2;
    add(history, run_of("a", "n1", "{" TWO ",\"iters\":100}", 2, 2));
    time = history_estimate(history, &question);
    assert_int_equal((int)(json_get_num(time, "seconds", -1.0) * 1e3 + 0.5), 3700);
    json_decref(time);
    json_decref(nodes);
    run_spec_destroy(spec);
    history_destroy(history);
}

TEST(nodes_that_were_measured_come_first)
{
    struct history *history = history_create();

    add(history, run_of("a", "n1", "{" TWO ",\"iters\":100}", 2, 2));
    add(history, run_of("b", "n2", "{" TWO ",\"iters\":100}", 2, 30));
    expect(ask(history, "{" TWO ",\"iters\":100}", 2, "n1"), 2.0, "runs", 1);
    expect(ask(history, "{" TWO ",\"iters\":100}", 2, "n3"), 30.0, "runs", 2);
    assert_string_equal(ask(history, "{" TWO "}", 4, "n1").basis, "assumed");
    history_destroy(history);
}

TEST(odd_run_out_of_three_does_not_count)
{
    struct history *history = history_create();

    for (int i = 0; i < HISTORY_RUNS + 5; i++)
        add(history, run_of("old", "n1", "{" TWO ",\"iters\":100}", 2, 50));
    add(history, run_of("a", "n1", "{" TWO ",\"iters\":100}", 2, 2));
    add(history, run_of("b", "n1", "{" TWO ",\"iters\":100}", 2, 3));
    add(history, run_of("c", "n1", "{" TWO ",\"iters\":100}", 2, 40));
    expect(ask(history, "{" TWO ",\"iters\":100}", 2, "n1"), 3.0, "runs", 3);
    history_destroy(history);
}

TEST(programs_need_the_same_arguments)
{
    static const char same[] = "{\"program\":{\"name\":\"p\",\"args\":{\"n\":1}}}";
    struct history *history = history_create();

    add(history, run_of("a", "n1", same, 0, 7));
    expect(ask(history, same, 2, "n1"), 7.0, "runs", 1);
    assert_string_equal(
        ask(history, "{\"program\":{\"name\":\"p\",\"args\":{\"n\":2}}}", 2, "n1").basis,
        "none");
    assert_string_equal(ask(history, "{" TWO "}", 2, "n1").basis, "assumed");
    history_destroy(history);
}

TEST(other_ends_teach_nothing)
{
    struct history *history = history_create();
    json_t *run = run_of("a", "n1", "{" TWO "}", 2, 2);

    json_object_set_new(run, "state", json_string("failed"));
    history_add(history, run);
    json_object_set_new(run, "state", json_string("completed"));
    json_object_set_new(run, "spec", json_loads("{\"unheard\":1}", 0, NULL));
    history_add(history, run);
    json_object_set_new(run, "spec", json_object());
    json_object_set_new(run, "ended", json_null());
    add(history, run);
    assert_string_equal(ask(history, "{" TWO "}", 2, "n1").basis, "assumed");
    history_destroy(history);
}
