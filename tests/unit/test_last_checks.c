/* test_last_checks.c - the last answer of each check, of not too many */
#include "server/runs/last_checks.h"
#include "tests/unit/test.h"

static void note(struct last_checks *checks, const char *run, const char *check,
                 const char *answer, int64_t time_ms)
{
    json_t *verdict = json_pack("{s:{s:[{s:s, s:s}]}}", "evidence", "checks", "check",
                                check, "answer", answer);

    last_checks_note(checks, run, time_ms, verdict);
    json_decref(verdict);
}

TEST(a_later_answer_takes_the_place_of_the_one_before)
{
    struct last_checks checks = {.n = 0};

    note(&checks, "nightly", "large", "pass", 1000);
    note(&checks, "nightly", "small", "fail", 1000);
    note(&checks, "weekly", "large", "pass", 2000);
    note(&checks, "nightly", "large", "fail", 3000);
    assert_int_equal(checks.n, 3);
    assert_string_equal(checks.items[0].run_name, "nightly");
    assert_string_equal(checks.items[0].check, "large");
    assert_string_equal(checks.items[0].answer, "fail");
    assert_int_equal(checks.items[0].time_ms, 3000);
    assert_string_equal(checks.items[1].run_name, "weekly");
    assert_string_equal(checks.items[2].check, "small");
    last_checks_release(&checks);
}

TEST(the_oldest_makes_room)
{
    struct last_checks checks = {.n = 0};
    char name[16];

    for (int i = 0; i < 2 * LAST_CHECKS_MAX; i++) {
        snprintf(name, sizeof(name), "%d", i);
        note(&checks, "r", name, "pass", i);
    }
    assert_int_equal(checks.n, LAST_CHECKS_MAX);
    assert_int_equal(checks.items[0].time_ms, 2 * LAST_CHECKS_MAX - 1);
    assert_int_equal(checks.items[LAST_CHECKS_MAX - 1].time_ms, LAST_CHECKS_MAX);
    note(&checks, "r", name, "fail", 7);
    assert_int_equal(checks.n, LAST_CHECKS_MAX);
    assert_string_equal(checks.items[0].answer, "fail");
    last_checks_note(&checks, "r", 8, NULL);
    assert_int_equal(checks.items[0].time_ms, 7);
    last_checks_release(&checks);
}
