/* test_run_end.c - runs that asked for checks and end when memory is out: the process
 * ends, and no verdict is made of it */
#include "tests/unit/scheduler_fixture.h"

#include <sys/wait.h>

#include "server/analysis/gate.h"
#include "server/runs/run.h"
#include "tests/unit/test.h"

EACH_FIXTURE(setup, teardown);

/* What fails at the end of the run. */
static enum { NOTHING, DOCUMENT, ENDING, JUDGEMENT } failing;
static bool calloc_fails;

json_t *__wrap_run_to_json(const struct run *run, enum run_form form);
json_t *__real_run_to_json(const struct run *run, enum run_form form);
void *__wrap_calloc(size_t n, size_t size);
void *__real_calloc(size_t n, size_t size);
json_t *__wrap_gate_judge(const struct gate_run *run);
json_t *__real_gate_judge(const struct gate_run *run);

/* What asks for the whole document allocates next what it needs to judge it. */
json_t *__wrap_run_to_json(const struct run *run, enum run_form form)
{
    if (form == RUN_WHOLE && failing == DOCUMENT)
        return NULL;
    calloc_fails = form == RUN_WHOLE && failing == ENDING;
    return __real_run_to_json(run, form);
}

void *__wrap_calloc(size_t n, size_t size)
{
    if (!calloc_fails)
        return __real_calloc(n, size);
    calloc_fails = false;
    return NULL;
}

json_t *__wrap_gate_judge(const struct gate_run *run)
{
    return failing == JUDGEMENT ? NULL : __real_gate_judge(run);
}

static const json_t *end(struct world *world, const char *run, json_t **doc)
{
    struct error err;

    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    *doc = await_end(world, run);
    assert_string_equal(json_get_str(*doc, "state", ""), "cancelled");
    return json_object_get(*doc, "verdict");
}

/* In a process of its own, which ends then. */
static void assert_process_ends(struct world *world, const char *run)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        uv_loop_fork(&world->loop);
        scheduler_cancel(world->scheduler, run, NULL);
        for (int i = 0; i < 100; i++)
            live_on(world);
        _exit(99); /* it went on */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
}

TEST(no_verdict_is_made_of_a_lack_of_memory)
{
    static const char *const specs[] = {
        "{\"thresholds\":{\"right\":{\"figure\":\"wrong\"}}}",
        "{\"baseline\":{\"last\":5}}"};

    for (size_t i = 0; i < 2; i++) {
        char run[16];
        json_t *doc;
        const json_t *verdict;

        submit(*state, specs[i], run);
        for (failing = DOCUMENT; failing <= JUDGEMENT; failing++)
            assert_process_ends(*state, run);
        failing = NOTHING;
        verdict = end(*state, run, &doc);
        assert_string_equal(json_get_str(verdict, "answer", ""), "not_evaluated");
        assert_int_equal(json_array_size(json_object_get(
                             json_object_get(verdict, "evidence"), "checks")),
                         2);
        json_decref(doc);
    }
}

TEST(what_asked_for_none_ends_without)
{
    for (failing = NOTHING; failing <= JUDGEMENT; failing++) {
        char run[16];
        json_t *doc;

        submit(*state, "{}", run);
        assert_null(end(*state, run, &doc));
        json_decref(doc);
    }
    failing = NOTHING;
}
