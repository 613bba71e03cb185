/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate.c - checks of a run: passed, failed, or not evaluated for want of data */
#include "common/base/json_util.h"
#include "server/analysis/gate.h"
#include "tests/unit/mentions.h"
#include "tests/unit/summary_fixture.h"
#include "tests/unit/test.h"

#define K 1024
#define SKIPPED (-1.0)
#define UNCHECKED 7.25 /* us of a row whose result was not looked at */

struct given {
    int case_no, key;
    int64_t size;
    double value; /* us of a row, whose busbw is 1000 / us; or of a figure */
};

/* Keys 0 to 2 are of rows, the others of figures. */
static const char *const key_texts[] = {
    "{\"series\":0,\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\","
    "\"root\":-1,\"in_place\":false}",
    "{\"series\":1,\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\","
    "\"root\":-1,\"in_place\":true}",
    "{\"series\":2,\"collective\":\"broadcast\",\"dtype\":\"float32\",\"redop\":\"none\","
    "\"root\":0,\"in_place\":false}",
    "{\"metric\":\"loss\",\"unit\":\"nats\",\"x\":null,\"labels\":{}}",
    "{\"metric\":\"loss\",\"unit\":\"nats\",\"x\":null,\"labels\":{\"part\":\"b\"}}",
};
#define N_KEYS (sizeof(key_texts) / sizeof(key_texts[0]))
#define LOSS 3
#define LOSS_OF_B 4

/* Two repeats without variables, three sizes. */
static const char plain[] =
    "{\"world_size\":4,\"backend\":\"host\",\"cases\":[{\"case\":0},{\"case\":1}],"
    "\"summary\":{\"wrong\":0,\"cases\":{\"failed\":0}},"
    "\"spec\":{\"sizes\":[8,1024,65536],\"cycles\":1}}";

static const struct given good[] = {
    {0, 0, 8, 10},     {0, 0, K, 5},        {0, 0, 64 * K, 2}, {0, 1, 8, 11},
    {0, 1, K, 5.5},    {0, 1, 64 * K, 2.5}, {1, 0, 8, 12},     {1, 0, K, 6},
    {1, 0, 64 * K, 2}, {1, 1, 8, 12},       {1, 1, K, 6},      {1, 1, 64 * K, 2.5},
};
#define N_GOOD (sizeof(good) / sizeof(good[0]))

static struct result_record record_of(const struct given *given, int64_t event)
{
    struct result_record record = {.event = event,
                                   .case_no = given->case_no,
                                   .cycle = 0,
                                   .key = given->key,
                                   .choice = -1,
                                   .rank = given->key >= LOSS ? 0 : -1,
                                   .size = given->size,
                                   .wrong = -1};

    if (given->key >= LOSS) {
        record.is_figure = true;
        record.is_skipped = given->value == SKIPPED;
        record.value = given->value;
    } else if (given->value == SKIPPED) {
        record.is_skipped = true;
    } else {
        record.wrong = given->value < UNCHECKED || given->value > UNCHECKED ? 0 : -1;
        record.time_us = given->value;
        record.algbw_gbs = record.busbw_gbs = given->value > 0 ? 1000 / given->value : 0;
    }
    return record;
}

static struct summary *summary_of(const json_t *doc, const struct given *given, size_t n)
{
    struct summary_query query = {
        .run = "r", .up_to = INT64_MAX, .points = SIZE_MAX, .by = SUMMARY_BY_COMBINATION};
    struct summary_case *cases = summary_cases(doc, &query.n_cases);
    struct result_record *records = memory_zeroed(n + 1, sizeof(*records), "a test");
    struct summary *summary;
    json_t *keys[N_KEYS];

    query.cases = cases;
    for (size_t i = 0; i < N_KEYS; i++)
        keys[i] = json_loads(key_texts[i], 0, NULL);
    for (size_t i = 0; i < n; i++)
        records[i] = record_of(&given[i], (int64_t)i + 1);
    summary = summary_of_records(&query, keys, N_KEYS, records, n);
    free(records);
    for (size_t i = 0; i < N_KEYS; i++)
        json_decref(keys[i]);
    free(cases);
    return summary;
}

/* A run that ended as `state`, with one check called x. */
static json_t *judge(json_t *doc, const char *state, const char *threshold,
                     const struct given *given, size_t n)
{
    json_t *checks = json_pack("{s:o}", "x", json_loads(threshold, 0, NULL));
    struct summary *summary = given ? summary_of(doc, given, n) : NULL;
    struct gate_run run = {
        .doc = doc, .state = state, .reason = "reason", .summary = summary};
    json_t *verdict;

    json_object_set_new(json_object_get(doc, "spec"), "thresholds", checks);
    verdict = gate_judge(&run);
    assert_non_null(verdict);
    summary_destroy(summary);
    return verdict;
}

static const json_t *check_of(const json_t *verdict, size_t i)
{
    return json_array_get(json_object_get(json_object_get(verdict, "evidence"), "checks"),
                          i);
}

/* Each sentence is whole in one place. */
static void assert_says(const json_t *what, const char *answer, const char *names)
{
    const char *said = json_get_str(what, "sentence", "");

    if (strcmp(json_get_str(what, "answer", ""), answer) != 0 || !mentions(said, names))
        fail_msg("%s: %s; not %s: %s", json_get_str(what, "answer", ""), said, answer,
                 names);
}

/* The check x of a completed run. */
static void says(const char *doc_text, const struct given *given, size_t n,
                 const char *threshold, const char *answer, const char *words)
{
    json_t *doc = json_loads(doc_text, 0, NULL), *verdict;

    verdict = judge(doc, "completed", threshold, given, n);
    assert_says(check_of(verdict, 1), answer, words);
    assert_string_equal(json_get_str(verdict, "answer", ""), answer);
    json_decref(verdict);
    json_decref(doc);
}

TEST(a_bound_holds_for_every_point)
{
    static const struct {
        const char *threshold, *answer, *words;
    } cases[] = {
        {"{\"figure\":\"time_us\",\"max\":11.5}", "pass",
         "time is 11.5 us at 8 (all_reduce float32 sum, in place), at most 11.5 us"},
        {"{\"figure\":\"time_us\",\"max\":11.4}", "fail", "11.4 us 1 6"},
        {"{\"figure\":\"time_us\",\"max\":11.4,\"in_place\":false}", "pass",
         "time is 11 us at 8 (all_reduce float32 sum, out of place)"},
        {"{\"figure\":\"time_us\",\"max\":11.4,\"size\":1024}", "pass", "5.75 us at 1K"},
        {"{\"figure\":\"busbw_gbs\",\"min\":400,\"size\":\"64K\"}", "pass",
         "busbw is 400 GB/s at 64K"},
        {"{\"figure\":\"busbw_gbs\",\"min\":401,\"sizes\":{\"min\":\"2K\"}}", "fail",
         "at least 401 GB/s required; 1 2"},
        {"{\"figure\":\"algbw_gbs\",\"min\":80,\"max\":499}", "fail",
         "algbw is 500 GB/s at 64K (all_reduce float32 sum, out of place), from 80 to "
         "499 GB/s"},
        {"{\"figure\":\"time_us\",\"max\":6,\"band\":\"middle\"}", "pass",
         "2.5 us at 64K"},
        {"{\"figure\":\"time_us\",\"max\":6,\"band\":\"latency\"}", "fail",
         "time is 11.5 us at 8 (all_reduce float32 sum, in place), at most 6 us "
         "required; "
         "out of bounds at 2 of 4 points"},
        {"{\"figure\":\"time_us\",\"max\":6,\"band\":\"bandwidth\"}", "not_evaluated",
         "the check selects no row"},
        {"{\"figure\":\"dip_percent\",\"max\":0}", "pass", "never falls"},
        {"{\"figure\":\"ranks\",\"min\":4,\"max\":4}", "pass", "4 ranks, exactly 4"},
        {"{\"figure\":\"ranks\",\"min\":5}", "fail", "4 ranks, at least 5"},
        {"{\"figure\":\"wrong\"}", "pass", "0 wrong elements"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        says(plain, good, N_GOOD, cases[i].threshold, cases[i].answer, cases[i].words);
}

TEST(a_dip_is_seen_against_the_best_before)
{
    static const struct given dips[] = {
        {0, 0, 8, 10}, {0, 0, K, 2}, {0, 0, 64 * K, 2.5},
        {1, 0, 8, 10}, {1, 0, K, 2}, {1, 0, 64 * K, 2.5},
    };
    static const char words[] = "busbw falls by 20 % from 1K to 64K (all_reduce";

    says(plain, dips, 6, "{\"figure\":\"dip_percent\",\"max\":20.1}", "pass", words);
    says(plain, dips, 6, "{\"figure\":\"dip_percent\",\"max\":19.9}", "fail", words);
    says(plain, dips, 6,
         "{\"figure\":\"dip_percent\",\"max\":1,\"sizes\":{\"max\":\"1K\"}}", "pass",
         "never falls");
    says(plain, dips, 6, "{\"figure\":\"dip_percent\",\"max\":1,\"size\":\"1K\"}",
         "not_evaluated", "two or more sizes");
}

/* Sizes on ranks are whole elements: 65536 on 3 ranks is 65532. */
TEST(a_size_that_was_rounded_is_the_one_that_was_asked)
{
    static const struct given rounded[] = {
        {0, 0, 8, 10}, {0, 0, 1020, 5}, {0, 0, 65532, 2},
        {1, 0, 8, 10}, {1, 0, 1020, 5}, {1, 0, 65532, 2},
    };

    says(plain, rounded, 6, "{\"figure\":\"time_us\",\"max\":6,\"size\":1024}", "pass",
         "5 us at 1020");
    says(plain, rounded, 6,
         "{\"figure\":\"time_us\",\"max\":6,\"sizes\":{\"min\":\"1K\"}}", "pass",
         "5 us at 1020");
    says(plain, rounded, 6,
         "{\"figure\":\"time_us\",\"max\":6,\"sizes\":{\"max\":\"1K\"}}", "fail",
         "10 us at 8");
}

TEST(what_is_missing_is_no_pass)
{
    static const struct given skipped[] = {
        {0, 0, 8, 10}, {0, 0, K, 5}, {0, 0, 64 * K, SKIPPED},
        {1, 0, 8, 10}, {1, 0, K, 5}, {1, 0, 64 * K, SKIPPED},
    };
    static const struct given alone[] = {{0, 0, 8, 0}, {1, 0, 8, 0}};
    static const char fast[] = "{\"figure\":\"time_us\",\"max\":100}";

    says(plain, good, N_GOOD - 1, fast, "not_evaluated",
         "5 of 6 expected rows are present");
    says(plain, good, 6, fast, "not_evaluated", "3 6");
    says(plain, good, 0, fast, "not_evaluated", "the check selects no row");
    says(plain, skipped, 6, fast, "not_evaluated", "64K was skipped");
    says(plain, skipped, 6, "{\"figure\":\"time_us\",\"max\":100,\"size\":1024}", "pass",
         "5 us at 1K");
    says(plain, alone, 2, "{\"figure\":\"busbw_gbs\",\"max\":9,\"size\":8}",
         "not_evaluated", "not a number above 0");
    says(plain, good, 0, "{\"figure\":\"wrong\"}", "not_evaluated", "no row was checked");
    says(plain, NULL, 0, fast, "not_evaluated", "results");
}

TEST(wrong_elements_are_none_only_if_all_rows_were_looked_at)
{
    static const struct given skipped[] = {{0, 0, 8, 10}, {0, 0, K, SKIPPED}};
    static const struct given unchecked[] = {{0, 0, 8, 10}, {0, 0, K, UNCHECKED}};
    static const struct given half[] = {{0, 0, 8, 10}, {1, 0, 8, UNCHECKED}};
    static const char wrong[] = "{\"figure\":\"wrong\"}";
    json_t *doc = json_loads(plain, 0, NULL), *verdict;

    says(plain, skipped, 1, wrong, "pass", "0 wrong elements");
    says(plain, skipped, 2, wrong, "not_evaluated", "1K was skipped: no reason given");
    says(plain, unchecked, 2, wrong, "not_evaluated", "some rows were not checked");
    says(plain, half, 2, wrong, "not_evaluated", "not checked");
    says(plain, NULL, 0, wrong, "not_evaluated", "results");
    json_object_set_new(doc, "rows_done", json_integer(2));
    json_object_set_new(doc, "rows_total", json_integer(2));
    verdict = judge(doc, "completed", wrong, skipped, 1);
    assert_says(check_of(verdict, 1), "not_evaluated", "results");
    json_decref(verdict);
    json_object_set_new(json_object_get(doc, "summary"), "wrong", json_integer(1));
    verdict = judge(doc, "completed", wrong, skipped, 2);
    assert_says(check_of(verdict, 1), "fail", "1 wrong element, at most 0 required");
    json_decref(verdict);
    json_decref(doc);
}

/* What was measured and is beyond the bounds fails, whatever else is missing. */
TEST(what_was_seen_stands)
{
    json_t *doc = json_loads(plain, 0, NULL), *verdict;

    says(plain, good, 6, "{\"figure\":\"time_us\",\"max\":1}", "fail", "11 us at 8");
    json_object_set_new(json_object_get(doc, "summary"), "wrong", json_integer(3));
    verdict = judge(doc, "failed", "{\"figure\":\"wrong\",\"max\":2}", NULL, 0);
    assert_says(check_of(verdict, 1), "fail", "3 wrong elements, at most 2 required");
    json_decref(verdict);
    verdict = judge(doc, "failed", "{\"figure\":\"wrong\",\"max\":3}", NULL, 0);
    assert_says(check_of(verdict, 1), "not_evaluated", "the run failed");
    json_decref(verdict);
    verdict = judge(doc, "cancelled", "{\"figure\":\"wrong\",\"max\":3}", NULL, 0);
    assert_says(check_of(verdict, 1), "not_evaluated", "the run was cancelled");
    json_decref(verdict);
    json_decref(doc);
}

TEST(every_combination_is_judged)
{
    static const char doc[] =
        "{\"world_size\":4,\"cases\":[{\"case\":0,\"env\":{\"A\":\"1\"}},"
        "{\"case\":1,\"env\":{\"A\":null}}],\"spec\":{\"sizes\":[8]}}";
    static const struct given two[] = {{0, 0, 8, 10}, {1, 0, 8, 20}};

    says(doc, two, 2, "{\"figure\":\"time_us\",\"max\":15}", "fail",
         "time is 20 us at 8 (all_reduce float32 sum, out of place (A unset))");
    says(doc, two, 2, "{\"figure\":\"time_us\",\"max\":25}", "pass", "20 us");
    says(doc, two, 1, "{\"figure\":\"time_us\",\"max\":25}", "not_evaluated",
         "some of the run's combinations");
}

TEST(a_metric_holds_for_every_case_and_rank)
{
    static const struct given losses[] = {
        {0, LOSS, 0, 3}, {0, LOSS, 0, 2},   {0, LOSS, 0, 1},       {1, LOSS, 0, 4},
        {1, LOSS, 0, 3}, {1, LOSS, 0, 1.5}, {1, LOSS, 0, SKIPPED},
    };
    static const struct given one_has_none[] = {
        {0, LOSS, 0, 3}, {1, LOSS, 0, 3}, {1, LOSS_OF_B, 0, SKIPPED}};
    static const struct {
        size_t n;
        const char *threshold, *answer, *words;
    } cases[] = {
        {6, "\"metric\":\"loss\",\"use\":\"last\",\"max\":1.5", "pass",
         "last loss is 1.5 nats on rank 0, at most 1.5 nats required"},
        {6, "\"metric\":\"loss\",\"use\":\"last\",\"max\":1.4", "fail",
         "1 of 2 are out of bounds"},
        {6, "\"metric\":\"loss\",\"max\":3", "pass", "median loss is 3 nats"},
        {6, "\"metric\":\"loss\",\"use\":\"max\",\"max\":3", "fail", "max loss is 4"},
        {6, "\"metric\":\"loss\",\"use\":\"min\",\"min\":1", "pass", "min loss is 1"},
        {6, "\"metric\":\"loss\",\"use\":\"mean\",\"min\":3", "fail", "mean loss is 2"},
        {6, "\"metric\":\"lost\",\"max\":3", "not_evaluated", "reported no figure lost"},
        {3, "\"metric\":\"loss\",\"max\":3", "not_evaluated", "1 of 2 cases reported no"},
        {7, "\"metric\":\"loss\",\"max\":3", "not_evaluated", "1 of the values of loss"},
        {7, "\"metric\":\"loss\",\"max\":1", "fail", "loss is 2 nats"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char threshold[200];

        snprintf(threshold, sizeof(threshold), "{\"figure\":\"metric\",%s}",
                 cases[i].threshold);
        says(plain, losses, cases[i].n, threshold, cases[i].answer, cases[i].words);
    }
    says(plain, one_has_none, 2, "{\"figure\":\"metric\",\"metric\":\"loss\",\"max\":3}",
         "pass", "median loss is 3 nats");
    says(plain, one_has_none, 3, "{\"figure\":\"metric\",\"metric\":\"loss\",\"max\":3}",
         "not_evaluated", "1 of the values of loss");
}

/* How the run ended is a check of its own, and the others depend on it. */
TEST(only_a_completed_run_passes)
{
    static const struct {
        const char *end;
        int failed;
        const char *completed, *all;
    } ends[] = {
        {"completed", 0, "pass", "pass"},
        {"failed", 1, "fail", "fail"},
        {"failed", 0, "not_evaluated", "not_evaluated"},
        {"cancelled", 0, "not_evaluated", "not_evaluated"},
        {"cancelled", 1, "not_evaluated", "not_evaluated"},
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        json_t *doc = json_loads(plain, 0, NULL), *verdict;

        json_object_set_new(json_object_get(json_object_get(doc, "summary"), "cases"),
                            "failed", json_integer(ends[i].failed));
        verdict =
            judge(doc, ends[i].end, "{\"figure\":\"time_us\",\"max\":100}", good, N_GOOD);
        assert_says(check_of(verdict, 0), ends[i].completed, ends[i].end);
        assert_says(check_of(verdict, 1), i == 0 ? "pass" : "not_evaluated", "");
        assert_says(verdict, ends[i].all, "2 checks");
        json_decref(verdict);
        json_decref(doc);
    }
}

TEST(a_run_that_is_not_whole_does_not_pass)
{
    json_t *doc = json_loads(plain, 0, NULL), *verdict;

    json_object_set_new(doc, "rows_done", json_integer(12));
    json_object_set_new(doc, "rows_total", json_integer(18));
    verdict =
        judge(doc, "completed", "{\"figure\":\"time_us\",\"max\":100}", good, N_GOOD);
    assert_says(verdict, "not_evaluated", "completed: 12 18");
    json_decref(verdict);
    json_object_set_new(doc, "rows_done", json_integer(18));
    verdict =
        judge(doc, "completed", "{\"figure\":\"time_us\",\"max\":100}", good, N_GOOD);
    assert_says(verdict, "not_evaluated", "some of the run's results cannot be read");
    json_decref(verdict);
    json_decref(doc);
}

TEST(a_run_that_asks_for_nothing_does_not_pass)
{
    json_t *doc = json_loads(plain, 0, NULL), *verdict;
    struct gate_run run = {.doc = doc, .state = "completed"};

    assert_false(gate_is_asked(json_object_get(doc, "spec")));
    verdict = gate_judge(&run);
    assert_says(verdict, "not_evaluated", "contains no checks");
    json_decref(verdict);
    json_decref(doc);
}

/* Of each band an answer. */
TEST(a_baseline_passes_where_no_band_is_worse_or_unknown)
{
    static const struct {
        const char *document, *answer, *words;
    } cases[] = {
        {"{\"verdict\":{\"sentence\":\"s\",\"evidence\":{\"bands\":[{\"answer\":\"same\"}"
         ","
         "{\"answer\":\"better\"}]}}}",
         "pass", "against a, b: s"},
        {"{\"verdict\":{\"sentence\":\"s\",\"evidence\":{\"bands\":[{\"answer\":"
         "\"better\"},"
         "{\"answer\":\"not_enough_data\"}]}}}",
         "not_evaluated", "s"},
        {"{\"verdict\":{\"sentence\":\"s\",\"evidence\":{\"bands\":[{\"answer\":"
         "\"worse\"},"
         "{\"answer\":\"not_enough_data\"}]}}}",
         "not_evaluated", "s"},
        {"{\"verdict\":{\"sentence\":\"s\",\"evidence\":{\"bands\":[]}}}",
         "not_evaluated", "s"},
        {"{\"verdict\":{\"sentence\":\"s\",\"evidence\":{\"bands\":[{\"answer\":\"same\"}"
         "]}},"
         "\"sizes_left_out\":3}",
         "not_evaluated", "3 sizes"},
        {"null", "not_evaluated", "no such"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *doc = json_loads(plain, 0, NULL), *verdict;
        json_t *document = json_loads(cases[i].document, JSON_DECODE_ANY, NULL);
        json_t *against = json_pack("[s, s]", "a", "b");
        struct gate_run run = {.doc = doc,
                               .state = "completed",
                               .compared = json_is_null(document) ? NULL : document,
                               .against = against,
                               .not_compared = "no such baseline",
                               .not_again = "a node is not there"};

        json_object_set_new(json_object_get(doc, "spec"), "baseline", json_object());
        verdict = gate_judge(&run);
        assert_says(check_of(verdict, 1), cases[i].answer, cases[i].words);
        json_decref(verdict);
        run.state = "failed";
        verdict = gate_judge(&run);
        assert_says(check_of(verdict, 1), "not_evaluated", "the run failed");
        json_decref(verdict);
        json_decref(against);
        json_decref(document);
        json_decref(doc);
    }
}

static json_t *compared_of(const char *latency, const char *bandwidth)
{
    return json_pack("{s:{s:s, s:{s:[{s:{}, s:s, s:s}, {s:{}, s:s, s:s}]}}}", "verdict",
                     "sentence", "s", "evidence", "bands", "about", "band", "latency",
                     "answer", latency, "about", "band", "bandwidth", "answer",
                     bandwidth);
}

TEST(a_slower_run_fails_only_if_the_same_band_is_slower_again)
{
    static const struct {
        const char *first[2], *again[2], *not_again, *answer;
        bool wants_again;
    } cases[] = {
        {{"same", "worse"}, {NULL}, NULL, "not_evaluated", true},
        {{"same", "mixed"}, {NULL}, NULL, "not_evaluated", true},
        {{"same", "same"}, {NULL}, NULL, "pass", false},
        {{"same", "worse"}, {NULL}, "node n2 is not there", "not_evaluated", false},
        {{"same", "worse"}, {"same", "worse"}, NULL, "fail", false},
        {{"same", "mixed"}, {"same", "worse"}, NULL, "fail", false},
        {{"same", "worse"}, {"same", "same"}, NULL, "pass", false},
        {{"same", "worse"}, {"worse", "same"}, NULL, "pass", false},
        {{"not_enough_data", "worse"}, {"same", "same"}, NULL, "not_evaluated", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *doc = json_loads(plain, 0, NULL), *verdict;
        json_t *first = compared_of(cases[i].first[0], cases[i].first[1]);
        json_t *again =
            cases[i].again[0] ? compared_of(cases[i].again[0], cases[i].again[1]) : NULL;
        json_t *against = json_pack("[s]", "a");
        struct gate_run run = {.doc = doc,
                               .state = "completed",
                               .compared = first,
                               .against = against,
                               .again = again,
                               .not_again = cases[i].not_again};

        json_object_set_new(json_object_get(doc, "spec"), "baseline", json_object());
        verdict = gate_judge(&run);
        assert_int_equal(verdict == NULL, cases[i].wants_again);
        if (verdict)
            assert_says(check_of(verdict, 1), cases[i].answer,
                        cases[i].not_again ? cases[i].not_again : "");
        json_decref(verdict);
        json_decref(against);
        json_decref(again);
        json_decref(first);
        json_decref(doc);
    }
}

TEST(a_lasting_change_is_told_and_fails_an_accepted_reference)
{
    static const struct {
        const char *accepted;
        bool is_slower;
        const char *answer;
    } cases[] = {{NULL, true, "pass"}, {"r1", true, "fail"}, {"r1", false, "pass"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *doc = json_loads(plain, 0, NULL), *verdict;
        json_t *compared = compared_of("same", "same"), *against = json_pack("[s]", "a");
        json_t *lasting = json_pack(
            "{s:s?, s:[{s:s, s:s, s:f, s:f, s:f, s:b}]}", "accepted", cases[i].accepted,
            "changes", "figure", "all_reduce float32 latency", "run", "r7", "change",
            0.031, "low", 0.02, "high", 0.042, "slower", (int)cases[i].is_slower);
        struct gate_run run = {.doc = doc,
                               .state = "completed",
                               .compared = compared,
                               .against = against,
                               .lasting = lasting};
        const char *says;

        json_object_set_new(json_object_get(doc, "spec"), "baseline", json_object());
        verdict = gate_judge(&run);
        assert_says(check_of(verdict, 1), cases[i].answer, "since run r7");
        /* The cause of a failure comes first. */
        says = json_get_str(check_of(verdict, 1), "sentence", "");
        assert_int_equal(strncmp(says, "lasting", 7) == 0,
                         strcmp(cases[i].answer, "fail") == 0);
        assert_true(
            json_equal(json_object_get(check_of(verdict, 1), "lasting"), lasting));
        json_decref(verdict);
        json_decref(lasting);
        json_decref(against);
        json_decref(compared);
        json_decref(doc);
    }
}

TEST(the_sentence_counts_and_names_the_first)
{
    json_t *doc = json_loads(plain, 0, NULL), *verdict;
    json_t *checks = json_loads("{\"a\":{\"figure\":\"ranks\",\"min\":9},"
                                "\"b\":{\"figure\":\"time_us\",\"max\":1},"
                                "\"c\":{\"figure\":\"ranks\",\"min\":8}}",
                                0, NULL);
    struct gate_run run = {.doc = doc, .state = "completed"};

    json_object_set_new(doc, "backend", json_string("sim"));
    json_object_set_new(json_object_get(doc, "spec"), "thresholds", checks);
    verdict = gate_judge(&run);
    assert_string_equal(
        json_get_str(verdict, "sentence", ""),
        "2 of 4 checks failed: a: 4 ranks, at least 9 required (simulated)");
    json_decref(verdict);
    json_decref(doc);
}
