/* SPDX-License-Identifier: Apache-2.0 */
/* test_last_checks.c - the last answer of each check, of not too many */
#include "common/base/json_util.h"
#include "server/runs/last_checks.h"
#include "tests/unit/test.h"

static void note(json_t *checks, const char *run, const char *check, const char *answer,
                 int64_t time_ms)
{
    json_t *verdict = json_pack("{s:{s:[{s:s, s:s}]}}", "evidence", "checks", "check",
                                check, "answer", answer);

    last_checks_note(checks, run, time_ms, verdict);
    json_decref(verdict);
}

TEST(a_later_answer_takes_the_place_of_the_one_before)
{
    json_t *checks = json_array();

    note(checks, "nightly", "large", "pass", 1000);
    note(checks, "nightly", "small", "fail", 1000);
    note(checks, "weekly", "large", "pass", 2000);
    note(checks, "nightly", "large", "fail", 3000);
    assert_int_equal(json_array_size(checks), 3);
    assert_string_equal(json_get_str(json_array_get(checks, 0), "run_name", ""),
                        "nightly");
    assert_string_equal(json_get_str(json_array_get(checks, 0), "check", ""), "large");
    assert_string_equal(json_get_str(json_array_get(checks, 0), "answer", ""), "fail");
    assert_int_equal(json_get_int(json_array_get(checks, 0), "time_ms", 0), 3000);
    assert_string_equal(json_get_str(json_array_get(checks, 1), "run_name", ""),
                        "weekly");
    assert_string_equal(json_get_str(json_array_get(checks, 2), "check", ""), "small");
    json_decref(checks);
}

TEST(the_oldest_makes_room)
{
    json_t *checks = json_array();
    char name[16];

    for (int i = 0; i < 2 * LAST_CHECKS_MAX; i++) {
        snprintf(name, sizeof(name), "%d", i);
        note(checks, "r", name, "pass", i);
    }
    assert_int_equal(json_array_size(checks), LAST_CHECKS_MAX);
    assert_int_equal(json_get_int(json_array_get(checks, 0), "time_ms", 0),
                     2 * LAST_CHECKS_MAX - 1);
    assert_int_equal(
        json_get_int(json_array_get(checks, LAST_CHECKS_MAX - 1), "time_ms", 0),
        LAST_CHECKS_MAX);
    note(checks, "r", name, "fail", 7);
    assert_int_equal(json_array_size(checks), LAST_CHECKS_MAX);
    assert_string_equal(json_get_str(json_array_get(checks, 0), "answer", ""), "fail");
    last_checks_note(checks, "r", 8, NULL);
    assert_int_equal(json_get_int(json_array_get(checks, 0), "time_ms", 0), 7);
    json_decref(checks);
}
