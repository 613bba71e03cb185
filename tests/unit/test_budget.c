/* SPDX-License-Identifier: Apache-2.0 */
/* test_budget.c - what a step's communication takes by a measured curve */
#include "common/base/json_util.h"
#include "server/analysis/budget.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

/* Two cases on 8 ranks, 1 MiB in 100 us and 64 MiB in 6400 us, the second a tenth slower;
 * and one on half of the nodes that is ten times as fast. */
static json_t *answer_to(const char *text)
{
    struct case_point points[3][2] = {
        {{.size = 1 << 20, .time_us = 100}, {.size = 64 << 20, .time_us = 6400}},
        {{.size = 1 << 20, .time_us = 110}, {.size = 64 << 20, .time_us = 7040}},
        {{.size = 1 << 20, .time_us = 10}, {.size = 64 << 20, .time_us = 640}}};
    json_t *key = json_pack("{s:s, s:b}", "collective", "all_reduce", "in_place", 0);
    struct case_series series[3];
    struct case_values values = {.series = series, .n = 3};
    json_t *run = json_loads(
        "{\"id\": \"r\", \"nodes\": [{\"name\": \"a\", \"ranks\": 4},"
        " {\"name\": \"b\", \"ranks\": 4}], \"cases\": [{\"state\": \"completed\"},"
        " {\"state\": \"completed\"}, {\"state\": \"completed\", \"nodes\": [\"a\"]}]}",
        0, NULL);
    json_t *body = json_loads(text, 0, NULL), *answer = NULL;
    struct problems problems;
    struct budget budget = {0};

    assert_non_null(run);
    assert_non_null(body);
    json_object_set_new(body, "run", json_string("06cw1x2k3m4n"));
    for (int i = 0; i < 3; i++)
        series[i] = (struct case_series){
            .case_no = i, .key = key, .points = points[i], .n_points = 2};
    problems_init(&problems);
    spec_fields_read_into(&budget_fields, body, &budget, "", &problems);
    if (problems.count == 0)
        answer = budget_json(&budget, &(struct compare_run){run, &values});
    problems_release(&problems);
    json_decref(body);
    json_decref(run);
    json_decref(key);
    return answer;
}

static void assert_sentence(const char *text, const char *names)
{
    json_t *answer = answer_to(text);

    assert_non_null(answer);
    assert_mentions(json_get_str(json_object_get(answer, "verdict"), "sentence", ""),
                    names);
    json_decref(answer);
}

/* 32 Mi parameters of 2 bytes in one bucket. */
TEST(a_part_takes_what_the_curve_says)
{
    assert_sentence(
        "{\"parameters\": 33554432, \"bucket_bytes\": 67108864, "
        "\"step_s\": 0.0672}",
        "communication takes 0.00672 s (0.0064 to 0.00704) of a 0.0672 s step "
        "(10 %) unless it overlaps computation");
}

/* 1e9 parameters of 2 bytes in one bucket: 2e9 bytes by the bandwidth of the largest
 * size. */
TEST(parameters_are_reduced_once_a_step)
{
    json_t *answer = answer_to("{\"parameters\": 1e9, \"bucket_bytes\": 2e9}");
    const json_t *part = json_array_get(json_object_get(answer, "parts"), 0);

    assert_string_equal(json_get_str(part, "collective", ""), "all_reduce");
    assert_near(json_get_num(part, "bytes", 0), 2e9, 1);
    assert_near(json_get_num(part, "calls", 0), 1, 0);
    assert_near(json_get_num(part, "time_low_s", 0), 6400e-6 * 2e9 / 67108864, 1e-9);
    json_decref(answer);
}

/* Rajbhandari et al., section 7: as much as without ZeRO up to stage 2, half more at 3.
 */
TEST(each_stage_moves_what_its_paper_says)
{
    static const char *const want[] = {"all_reduce", "reduce_scatter all_gather",
                                       "reduce_scatter all_gather",
                                       "reduce_scatter all_gather all_gather"};

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

TEST(what_was_not_measured_is_not_estimated)
{
    assert_sentence(
        "{\"parameters\": 1e9, \"zero\": 1}",
        "not enough data: no case of the run on 8 ranks measured reduce_scatter, "
        "all_gather out of place; the largest case has 8 ranks");
    assert_sentence("{\"parameters\": 1e9, \"ranks\": 64}",
                    "not enough data: 64 all_reduce out of place; 8");
}

/* A run over node counts has each of them; they are never mixed. */
TEST(the_cases_on_as_many_ranks_count)
{
    json_t *answer =
        answer_to("{\"parameters\": 1e9, \"bucket_bytes\": 2e9, \"ranks\": 4}");
    const json_t *part = json_array_get(json_object_get(answer, "parts"), 0);

    assert_int_equal(json_get_int(answer, "ranks", 0), 4);
    assert_int_equal(json_get_int(part, "cases", 0), 1);
    assert_near(json_get_num(part, "time_s", 0), 640e-6 * 2e9 / 67108864, 1e-9);
    assert_near(json_get_num(part, "time_low_s", 0), 640e-6 * 2e9 / 67108864, 1e-9);
    assert_near(json_get_num(part, "time_high_s", 0), 640e-6 * 2e9 / 67108864, 1e-9);
    json_decref(answer);
}

TEST(a_request_must_make_sense)
{
    static const char *const wrong[] = {
        "{}",
        "{\"parameters\": -1}",
        "{\"parameters\": 1e9, \"stage\": 1}",
        "{\"parameters\": 1e9, \"zero\": 4}",
        "{\"parameters\": 1e9, \"dtype\": \"x\"}",
        "{\"parameters\": 1e9, \"collectives\": []}",
        "{\"parameters\": 1e17, \"bucket_bytes\": 1e-300}",
        "{\"parameters\": 1e9, \"ranks\": 1e-9}"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null(answer_to(wrong[i]));
}
