/* test_run_end.c - runs that asked for checks and end when memory is out */
#include "tests/unit/scheduler_fixture.h"

#include "server/analysis/gate.h"
#include "server/runs/run.h"
#include "tests/unit/test.h"

EACH_FIXTURE(setup, teardown);

/* What fails at the end of the run, and what has failed. */
static enum { NOTHING, DOCUMENT, ENDING, JUDGEMENT } failing, failed;
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
    if (form == RUN_WHOLE && failing == DOCUMENT) {
        failed = DOCUMENT;
        return NULL;
    }
    calloc_fails = form == RUN_WHOLE && failing == ENDING;
    return __real_run_to_json(run, form);
}

void *__wrap_calloc(size_t n, size_t size)
{
    if (!calloc_fails)
        return __real_calloc(n, size);
    calloc_fails = false;
    failed = ENDING;
    return NULL;
}

json_t *__wrap_gate_judge(const struct gate_run *run)
{
    if (failing != JUDGEMENT)
        return __real_gate_judge(run);
    failed = JUDGEMENT;
    return NULL;
}

/* Of a run that is cancelled before it began: its verdict's answer, or none. */
static void assert_answer(struct world *world, const char *spec, const char *answer,
                          const char *sentence)
{
    char run[16];
    struct error err;
    const json_t *verdict;
    json_t *doc;

    submit(world, spec, run);
    assert_int_equal(scheduler_cancel(world->scheduler, run, &err), 0);
    doc = await_end(world, run);
    assert_string_equal(json_get_str(doc, "state", ""), "cancelled");
    verdict = json_object_get(doc, "verdict");
    assert_string_equal(json_get_str(verdict, "answer", "none"), answer);
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""), sentence));
    assert_true(!verdict || json_is_array(json_object_get(
                                json_object_get(verdict, "evidence"), "checks")));
    json_decref(doc);
}

TEST(what_asked_for_checks_ends_with_a_verdict)
{
    static const char *const specs[] = {
        "{\"thresholds\":{\"right\":{\"figure\":\"wrong\"}}}",
        "{\"baseline\":{\"last\":3}}"};

    for (size_t i = 0; i < 2; i++)
        for (failing = DOCUMENT; failing <= JUDGEMENT; failing++) {
            assert_answer(*state, specs[i], "not_evaluated", "memory was out");
            assert_int_equal(failed, failing);
        }
    failing = NOTHING;
    assert_answer(*state, specs[0], "not_evaluated", "2 of 2 checks could not be");
}

TEST(what_asked_for_none_ends_without)
{
    for (failing = NOTHING; failing <= JUDGEMENT; failing++)
        assert_answer(*state, "{}", "none", "");
    failing = NOTHING;
}
