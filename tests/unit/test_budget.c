/* test_budget.c - what a step's communication takes by a measured curve */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "near.h"

#include <cmocka.h>

#include "common/base/json_util.h"
#include "server/analysis/budget.h"

/* Two cases, 1 MiB in 100 us and 64 MiB in 6400 us, the second a tenth slower. */
static json_t *answer_to(const char *text)
{
    struct case_point points[2][2] = {
        {{.size = 1 << 20, .time_us = 100}, {.size = 64 << 20, .time_us = 6400}},
        {{.size = 1 << 20, .time_us = 110}, {.size = 64 << 20, .time_us = 7040}}};
    json_t *key = json_pack("{s:s, s:b}", "collective", "all_reduce", "in_place", 0);
    struct case_series series[2] = {
        {.case_no = 0, .key = key, .points = points[0], .n_points = 2},
        {.case_no = 1, .key = key, .points = points[1], .n_points = 2}};
    const struct case_values values = {.series = series, .n = 2};
    json_t *run = json_pack("{s:s, s:i}", "id", "r", "world_size", 8);
    json_t *body = json_loads(text, 0, NULL), *answer = NULL;
    struct problems problems;
    struct budget budget;

    assert_non_null(body);
    problems_init(&problems);
    if (budget_read(body, &budget, &problems) == 0)
        answer = budget_json(&budget, run, &values);
    problems_release(&problems);
    json_decref(body);
    json_decref(run);
    json_decref(key);
    return answer;
}

static void assert_sentence(const char *text, const char *want)
{
    json_t *answer = answer_to(text);

    assert_non_null(answer);
    assert_string_equal(json_get_str(json_object_get(answer, "verdict"), "sentence", ""),
                        want);
    json_decref(answer);
}

static void a_part_takes_what_the_curve_says(void **state)
{
    (void)state;
    assert_sentence(
        "{\"collectives\": [{\"collective\": \"all_reduce\", \"bytes\": "
        "67108864}], \"step_s\": 0.0672}",
        "communication takes 0.00672 s (0.0064 to 0.00704) of a 0.0672 s step "
        "unless overlapped (10 %)");
}

/* 1e9 parameters of 2 bytes in one bucket: 2e9 bytes by the bandwidth of the largest
 * size. */
static void parameters_are_reduced_once_a_step(void **state)
{
    json_t *answer = answer_to("{\"parameters\": 1e9, \"bucket_bytes\": 2e9}");
    const json_t *part = json_array_get(json_object_get(answer, "parts"), 0);

    (void)state;
    assert_string_equal(json_get_str(part, "collective", ""), "all_reduce");
    assert_near(json_get_num(part, "bytes", 0), 2e9, 1);
    assert_near(json_get_num(part, "calls", 0), 1, 0);
    assert_near(json_get_num(part, "time_low_s", 0), 6400e-6 * 2e9 / 67108864, 1e-9);
    json_decref(answer);
}

/* Rajbhandari et al., section 7: as much as without ZeRO up to stage 2, half more at 3.
 */
static void each_stage_moves_what_its_paper_says(void **state)
{
    static const char *const want[] = {"all_reduce", "reduce_scatter all_gather",
                                       "reduce_scatter all_gather",
                                       "reduce_scatter all_gather all_gather"};

    (void)state;
    for (int stage = 0; stage <= 3; stage++) {
        char text[80], got[200] = "";
        json_t *answer, *part;
        size_t i;

        snprintf(text, sizeof(text), "{\"parameters\": 1e9, \"zero\": %d}", stage);
        answer = answer_to(text);
        json_array_foreach (json_object_get(answer, "parts"), i, part) {
            strcat(got, i > 0 ? " " : "");
            strcat(got, json_get_str(part, "collective", ""));
        }
        assert_string_equal(got, want[stage]);
        json_decref(answer);
    }
}

static void what_was_not_measured_is_not_estimated(void **state)
{
    (void)state;
    assert_sentence("{\"parameters\": 1e9, \"zero\": 1}",
                    "not enough data: the run has no times of all_gather out of place");
    assert_sentence("{\"parameters\": 1e9, \"ranks\": 64}",
                    "not enough data: the run had 8 ranks, and 64 are asked about; "
                    "measure on as many");
}

static void a_request_must_make_sense(void **state)
{
    static const char *const wrong[] = {
        "{}",
        "{\"parameters\": -1}",
        "{\"parameters\": 1e9, \"stage\": 1}",
        "{\"parameters\": 1e9, \"zero\": 4}",
        "{\"parameters\": 1e9, \"dtype\": \"x\"}",
        "{\"parameters\": 1e9, \"collectives\": []}",
        "{\"collectives\": []}",
        "{\"collectives\": [{\"collective\": \"x\", \"bytes\": 1}]}",
        "{\"collectives\": [{\"collective\": \"all_reduce\"}]}"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null(answer_to(wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_takes_what_the_curve_says),
        cmocka_unit_test(parameters_are_reduced_once_a_step),
        cmocka_unit_test(each_stage_moves_what_its_paper_says),
        cmocka_unit_test(what_was_not_measured_is_not_estimated),
        cmocka_unit_test(a_request_must_make_sense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
