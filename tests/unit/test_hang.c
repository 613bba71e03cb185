/* SPDX-License-Identifier: Apache-2.0 */
/* test_hang.c - who is named when no rank gets on, and when nobody is */
#include "common/base/json_util.h"
#include "server/analysis/hang.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define RANKS 4

/* What rank i last said, and what was seen of it; NULL: nothing. */
struct seen {
    int64_t op, done;
    const char *phase;
    double silent_s;
    const char *process;
};

static const struct seen inside = {12, 11, "enqueued", 0.5, NULL};
static const struct seen behind = {12, 12, "waiting", 0.5, NULL};

struct example {
    struct seen ranks[RANKS];
    const char *answer, *by, *names; /* each sentence is whole in one row */
};

static void check(const struct example *example)
{
    struct hang_rank ranks[RANKS];
    json_t *owned[RANKS] = {NULL}, *verdict;
    struct hang hang = {.ranks = ranks, .n = RANKS, .seconds = 30};

    for (int i = 0; i < RANKS; i++) {
        const struct seen *seen = &example->ranks[i];

        if (seen->process)
            owned[i] = json_loads(seen->process, 0, NULL);
        ranks[i] = (struct hang_rank){.rank = i,
                                      .node = i < 2 ? "a" : "b",
                                      .is_over = seen->op < 0,
                                      .has_told = seen->phase != NULL,
                                      .op = seen->op,
                                      .done = seen->done,
                                      .size = 1 << 20,
                                      .phase = seen->phase ? seen->phase : "",
                                      .silent_s = seen->silent_s,
                                      .process = owned[i]};
    }
    verdict = hang_verdict(&hang);
    assert_mentions(json_get_str(verdict, "sentence", ""), example->names);
    assert_string_equal(json_get_str(verdict, "answer", ""), example->answer);
    assert_string_equal(
        json_get_str(json_object_get(verdict, "evidence"), "by", "nothing"), example->by);
    json_decref(verdict);
    for (int i = 0; i < RANKS; i++)
        json_decref(owned[i]);
}

TEST(examples_come_out_as_they_should)
{
    const struct example examples[] = {
        {{inside, inside, inside, inside},
         "no_rank",
         "nothing",
         "all 4 ranks are inside operation 12 (1.0 MiB) and none makes progress: no "
         "rank stands out, so the cause is the network or the library"},
        {{inside, inside, behind, inside},
         "no_rank",
         "nothing",
         "3 of 4 ranks are inside operation 12 (1.0 MiB), the others are further ahead: "
         "no rank stands out"},
        {{behind, inside, behind, behind},
         "lagging_rank",
         "behind",
         "rank 1 on a lags: inside operation 12 (1.0 MiB); 3 ranks wait for it, up to "
         "waiting for its peers after operation 12 (1.0 MiB)"},
        {{inside, {0, 0, NULL, 30, "{\"state\":\"T\"}"}, inside, inside},
         "lagging_rank",
         "stopped",
         "rank 1 on a lags: its process is stopped (by a signal), before its first "
         "report; 3 12 (1.0 MiB)"},
        {{inside, inside, inside, {12, 11, "enqueued", 25, "{\"line\":\"so far\"}"}},
         "lagging_rank",
         "silent",
         "rank 3 on b lags: no message from it for 25 s, last reported inside operation "
         "12 (1.0 MiB), its last line: so far; 3 12 (1.0 MiB)"},
        {{inside,
          inside,
          {12, 11, "enqueued", 1, "{\"state\":\"D\",\"kernel\":\"f\"}"},
          inside},
         "lagging_rank",
         "in_kernel",
         "rank 2 on b lags: its process is stuck in the kernel (state D, f), 12 (1.0 "
         "MiB); 3 12 (1.0 MiB)"},
        /* The last one to end, when all others have. */
        {{{-1, 0, "", 0, NULL}, {-1, 0, "", 0, NULL}, behind, {-1, 0, "", 0, NULL}},
         "lagging_rank",
         "behind",
         "rank 2 b 12 (1.0 MiB)"},
        {{{0, 0, NULL, 30, NULL},
          {0, 0, NULL, 30, NULL},
          {0, 0, NULL, 30, NULL},
          {0, 0, NULL, 30, NULL}},
         "not_enough_data",
         "nothing",
         "no rank has reported its operation"},
    };

    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check(&examples[i]);
}

/* They say by output only that they get on. */
TEST(of_a_program_only_its_processes_tell)
{
    json_t *process = json_pack("{s:s}", "state", "t"), *verdict;
    struct hang_rank ranks[2] = {{.rank = 0, .node = "a", .phase = ""},
                                 {.rank = 1, .node = "b", .phase = ""}};
    const struct hang hang = {.ranks = ranks, .n = 2, .is_program = true};

    verdict = hang_verdict(&hang);
    assert_string_equal(json_get_str(verdict, "answer", ""), "not_enough_data");
    assert_int_equal(json_array_size(json_object_get(verdict, "nodes")), 0);
    assert_false(ranks[1].is_lagging);
    json_decref(verdict);
    ranks[1].process = process;
    verdict = hang_verdict(&hang);
    assert_string_equal(json_get_str(verdict, "sentence", ""),
                        "rank 1 on b lags: its process is stopped by a debugger, a "
                        "program does not report its operation; 1 rank waits for it");
    assert_int_equal(json_array_size(json_object_get(verdict, "nodes")), 1);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(verdict, "nodes"), 0)), "b");
    assert_true(ranks[1].is_lagging && !ranks[0].is_lagging);
    json_decref(verdict);
    json_decref(process);
}
