/* SPDX-License-Identifier: Apache-2.0 */
/* test_follow_up.c - what a run is followed by, to find its slow node */
#include "common/base/json_util.h"
#include "server/plan/follow_up.h"
#include "tests/unit/test.h"

/* A run over n nodes that has ended; `more` are members that it has besides, or has other
 * than these. */
static json_t *run_of(size_t n, const char *more)
{
    json_t *run = json_pack(
        "{s:s, s:s, s:s, s:[], s:{s:{s:i}},"
        " s:{s:s, s:[s, s], s:[s], s:[s], s:[i, i], s:{s:s}, s:{}, s:i, s:n}}",
        "id", "06cw1x2k3m4n", "ended", "2026-01-05T10:00:00.000Z", "backend", "sim",
        "nodes", "summary", "headline", "size", 65536, "spec", "pattern", "all",
        "collectives", "all_gather", "all_reduce", "dtypes", "float32", "redops", "sum",
        "sizes", 1048576, 8, "env", "A", "b", "matrix", "repeats", 5, "nccl_lib");
    json_t *others = json_loads(more, 0, NULL);
    char name[20];

    assert_non_null(others);
    for (size_t i = 1; i <= n; i++) {
        snprintf(name, sizeof(name), "n%zu", i);
        json_array_append_new(json_object_get(run, "nodes"),
                              json_pack("{s:s, s:i}", "name", name, "ranks", 8));
    }
    json_object_update(run, others);
    json_decref(others);
    return run;
}

static json_t *follow_up(size_t n, const char *more)
{
    json_t *run = run_of(n, more), *found = follow_up_of(run);

    json_decref(run);
    return found;
}

TEST(the_same_nodes_measure_one_size_in_groups)
{
    json_t *found = follow_up(3, "{}");
    char *text = json_dumps(found, JSON_SORT_KEYS);

    assert_string_equal(
        text, "{\"spec\": {\"backend\": \"sim\", \"collectives\": [\"all_gather\"],"
              " \"dtypes\": [\"float32\"], \"env\": {\"A\": \"b\"}, \"in_place\": false,"
              " \"name\": \"slow node of 06cw1x2k3m4n\","
              " \"nodes\": {\"names\": [\"n1\", \"n2\", \"n3\"]}, \"pattern\": \"pairs\","
              " \"redops\": [\"sum\"], \"sizes\": [65536]},"
              " \"title\": \"Find the slow node\", \"why\": null}");
    free(text);
    json_decref(found);
}

/* The server gives it the group of the run before, while its job is there. */
TEST(launched_nodes_are_asked_for_again)
{
    json_t *found = follow_up(
        3,
        "{\"spec\":{\"pattern\":\"all\",\"collectives\":[\"all_reduce\"],\"sizes\":[8],"
        "\"nodes\":{\"count\":3,\"wait_s\":60,\"group\":\"job-1\"},"
        "\"launch\":{\"name\":\"slurm\",\"args\":{\"time\":\"5\"}}}}");
    json_t *spec = json_object_get(found, "spec");
    char *text = json_dumps(json_object_get(spec, "nodes"), JSON_SORT_KEYS);

    assert_string_equal(text, "{\"count\": 3, \"wait_s\": 60}");
    assert_string_equal(json_get_str(json_object_get(spec, "launch"), "name", ""),
                        "slurm");
    free(text);
    json_decref(found);
}

TEST(many_nodes_meet_in_pairs_too)
{
    json_t *found = follow_up(64, "{}"), *spec = json_object_get(found, "spec");

    assert_string_equal(json_get_str(spec, "pattern", ""), "pairs");
    assert_null(json_object_get(spec, "rounds"));
    json_decref(found);
}

TEST(without_a_figure_the_largest_size_counts)
{
    json_t *found = follow_up(3, "{\"summary\": {\"headline\": null}}");
    json_t *sizes = json_object_get(json_object_get(found, "spec"), "sizes");

    assert_int_equal(json_integer_value(json_array_get(sizes, 0)), 1048576);
    json_decref(found);
}

#define VERDICTS "{\"verdicts\": [{"
#define GATE "\"kind\": \"gate\", \"evidence\": {\"checks\": ["

TEST(says_why_where_something_is_slow)
{
    static const struct {
        const char *more, *why;
    } rows[] = {
        {VERDICTS "\"kind\": \"lateness\", \"answer\": \"none\", \"sentence\": \"no\"}]}",
         NULL},
        {VERDICTS "\"kind\": \"gate\"}, {\"kind\": \"lateness\", \"answer\": "
                  "\"late_rank\", \"sentence\": \"rank 3 is\"}]}",
         "rank 3 is"},
        {VERDICTS GATE "{\"check\": \"right\", \"figure\": \"wrong\", \"answer\": "
                       "\"fail\", \"sentence\": \"3 are\"}]}}]}",
         NULL},
        {VERDICTS GATE "{\"check\": \"completed\", \"answer\": \"fail\", \"sentence\": "
                       "\"failed\"}]}}]}",
         NULL},
        {VERDICTS GATE
         "{\"check\": \"large\", \"answer\": \"pass\", \"sentence\": \"is\"},"
         "{\"check\": \"baseline\", \"answer\": \"fail\", \"sentence\": \"worse\"}]}}]}",
         "worse"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *found = follow_up(3, rows[i].more);
        const char *why = json_get_str(found, "why", NULL);

        assert_true(why == rows[i].why || strcmp(why, rows[i].why) == 0);
        json_decref(found);
    }
}

/* Only a gate says that all nodes together are slow: a late rank is slow by itself. */
TEST(a_failed_gate_is_what_the_nodes_are_slow_in)
{
    static const struct {
        const char *more, *slow_together;
    } rows[] = {
        {"{}", NULL},
        {VERDICTS
         "\"kind\": \"lateness\", \"answer\": \"late_rank\", \"sentence\": \"rank 3 "
         "is\"}]}",
         NULL},
        {VERDICTS GATE "{\"check\": \"large\", \"answer\": \"fail\", \"figure\": "
                       "\"busbw_gbs\", \"sentence\": \"busbw is 20 GB/s\"}]}}]}",
         "busbw is 20 GB/s"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *found = follow_up(3, rows[i].more);
        const char *got =
            json_get_str(json_object_get(found, "spec"), "slow_together", NULL);

        assert_true(got == rows[i].slow_together ||
                    (got && strcmp(got, rows[i].slow_together) == 0));
        json_decref(found);
    }
}

TEST(others_have_none)
{
    static const char *const more[] = {
        "{\"ended\": null}",
        "{\"imported\": {\"from\": \"osu\"}}",
        "{\"spec\": {\"pattern\": \"pairs\", \"collectives\": [\"all_reduce\"]}}",
        "{\"spec\": {\"pattern\": \"all\", \"collectives\": []}}",
        "{\"spec\": {\"pattern\": \"all\", \"program\": {\"name\": \"a\"}}}",
    };

    assert_null(follow_up(2, "{}"));
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        assert_null(follow_up(3, more[i]));
}
