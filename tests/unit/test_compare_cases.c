/* SPDX-License-Identifier: Apache-2.0 */
/* test_compare_cases.c - which cases are compared, which are pairs, and in what sides
 * differ */
#include "common/base/json_util.h"
#include "common/spec/spec_field.h"
#include "server/analysis/compare_cases.h"
#include "server/analysis/differences.h"
#include "server/analysis/likeness.h"
#include "tests/unit/test.h"

/* Three repeats of A and B in turn, as ABBA has them: A is 0, 3, 4. */
static json_t *run_doc(const char *id, const char *order, const char *failed)
{
    static const char *const values[] = {"A", "B", "B", "A", "A", "B"};
    json_t *cases = json_array();

    for (int i = 0; i < 6; i++) {
        bool has_failed = failed && failed[0] - '0' == i;

        json_array_append_new(cases, json_pack("{s:i, s:i, s:s, s:{s:s}}", "case", i,
                                               "repeat", i / 2, "state",
                                               has_failed ? "failed" : "completed", "env",
                                               "ALGO", values[i]));
    }
    return json_pack("{s:s, s:s, s:i, s:[{s:s}], s:{s:s, s:s, s:{s:s}, s:{s:[ss]}}, s:o}",
                     "id", id, "backend", "host", "world_size", 4, "nodes", "name", "n1",
                     "spec", "order", order, "timing", "throughput", "env", "DEBUG", "1",
                     "matrix", "ALGO", "A", "B", "cases", cases);
}

struct sides {
    json_t *docs[2];
    struct compare_run runs[2];
    struct compare_side base, head;
    struct error err;
};

static void choose(struct sides *sides, struct compare_side *side, size_t run,
                   int case_no, const char *value)
{
    const struct compare_ask ask = {&sides->runs[run], case_no};
    json_t *env = value ? json_pack("{s:s}", "ALGO", value) : json_object();

    side->name = side == &sides->base ? "base" : "head";
    compare_side_choose(side, &ask, 1, env, &sides->err);
    json_decref(env);
}

static void sides_init(struct sides *sides, const char *order, const char *failed)
{
    memset(sides, 0, sizeof(*sides));
    for (size_t i = 0; i < 2; i++) {
        sides->docs[i] = run_doc(i ? "second" : "first", order, failed);
        sides->runs[i].doc = sides->docs[i];
    }
}

static void sides_release(struct sides *sides)
{
    compare_side_release(&sides->base);
    compare_side_release(&sides->head);
    json_decref(sides->docs[0]);
    json_decref(sides->docs[1]);
}

static void require_cases(const struct compare_side *side, const int *wanted, size_t n)
{
    assert_int_equal(side->n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(side->cases[i].case_no, wanted[i]);
}

TEST(combinations_of_a_run_are_paired_by_repeat)
{
    struct sides sides;

    sides_init(&sides, "interleaved", NULL);
    choose(&sides, &sides.base, 0, -1, "A");
    choose(&sides, &sides.head, 0, -1, "B");
    assert_true(compare_sides_pair(&sides.base, &sides.head));
    require_cases(&sides.base, (const int[]){0, 3, 4}, 3);
    require_cases(&sides.head, (const int[]){1, 2, 5}, 3);
    sides_release(&sides);
}

TEST(a_case_that_failed_takes_its_partner_with_it)
{
    struct sides sides;

    sides_init(&sides, "interleaved", "3");
    choose(&sides, &sides.base, 0, -1, "A");
    choose(&sides, &sides.head, 0, -1, "B");
    assert_true(compare_sides_pair(&sides.base, &sides.head));
    require_cases(&sides.base, (const int[]){0, 4}, 2);
    require_cases(&sides.head, (const int[]){1, 5}, 2);
    assert_int_equal(sides.base.unfinished, 1);
    assert_int_equal(sides.head.unpaired, 1);
    sides_release(&sides);
}

TEST(what_did_not_take_turns_is_not_paired)
{
    struct sides sides;

    sides_init(&sides, "sequential", NULL);
    choose(&sides, &sides.base, 0, -1, "A");
    choose(&sides, &sides.head, 0, -1, "B");
    assert_false(compare_sides_pair(&sides.base, &sides.head));
    sides_release(&sides);
    sides_init(&sides, "interleaved", NULL);
    choose(&sides, &sides.base, 0, -1, "A");
    choose(&sides, &sides.head, 1, -1, "B");
    assert_false(compare_sides_pair(&sides.base, &sides.head));
    assert_int_equal(sides.base.n, 3);
    sides_release(&sides);
}

TEST(cases_one_by_one_find_their_partners_too)
{
    struct sides sides;

    sides_init(&sides, "interleaved", NULL);
    choose(&sides, &sides.base, 0, 4, NULL);
    choose(&sides, &sides.base, 0, 0, NULL);
    choose(&sides, &sides.base, 0, 0, NULL); /* said twice, counts once */
    choose(&sides, &sides.head, 0, 1, NULL);
    choose(&sides, &sides.head, 0, 5, NULL);
    assert_true(compare_sides_pair(&sides.base, &sides.head));
    require_cases(&sides.base, (const int[]){4, 0}, 2);
    require_cases(&sides.head, (const int[]){5, 1}, 2);
    sides_release(&sides);
}

TEST(refusals_say_what_there_is)
{
    struct sides sides;

    sides_init(&sides, "interleaved", NULL);
    choose(&sides, &sides.base, 0, 6, NULL);
    assert_int_equal(sides.err.code, ERROR_NOT_FOUND);
    assert_string_equal(sides.err.text, "run first has no case 6, only cases 0 to 5");
    choose(&sides, &sides.head, 0, -1, "C");
    assert_int_equal(sides.err.code, ERROR_INVALID);
    assert_string_equal(sides.err.text,
                        "head has no case with {\"ALGO\":\"C\"}; the matrix "
                        "of run first is {\"ALGO\":[\"A\",\"B\"]}");
    choose(&sides, &sides.base, 0, -1, NULL);
    choose(&sides, &sides.head, 0, 2, NULL);
    assert_int_equal(compare_sides_check(&sides.base, &sides.head, &sides.err), -1);
    assert_non_null(
        strstr(sides.err.text, "case 2 of run first is in both base and head"));
    assert_non_null(
        strstr(sides.err.text, "by an environment setting (base_env, head_env)"));
    sides_release(&sides);
}

static const json_t *difference(const json_t *list, const char *what)
{
    return json_find(list, "what", what);
}

TEST(cases_on_other_nodes_are_no_repeats)
{
    static const char *const nodes[] = {"a", "b"};
    struct sides sides;

    sides_init(&sides, "interleaved", NULL);
    for (size_t i = 0; i < 6; i++)
        json_object_set_new(json_array_get(json_object_get(sides.docs[0], "cases"), i),
                            "nodes", json_pack("[s]", nodes[i % 2]));
    choose(&sides, &sides.base, 0, -1, "A");
    assert_string_equal(
        sides.err.text,
        "the cases of base ran on different nodes: name one case, as in first:3");
    memset(&sides.err, 0, sizeof(sides.err));
    choose(&sides, &sides.head, 0, 4, NULL);
    assert_int_equal(sides.err.code, 0);
    require_cases(&sides.head, (const int[]){4}, 1);
    sides_release(&sides);
}

TEST(differences_are_told_and_what_is_not_alike_is_marked)
{
    struct sides sides;
    json_t *list;

    sides_init(&sides, "interleaved", NULL);
    json_object_set_new(sides.docs[1], "world_size", json_integer(8));
    json_object_set_new(sides.docs[1], "machines",
                        json_pack("[{s:{s:s}}]", "versions", "nccl", "2.28.9"));
    json_object_set_new(json_object_get(sides.docs[1], "spec"), "timing",
                        json_string("isolated"));
    choose(&sides, &sides.base, 0, -1, "A");
    choose(&sides, &sides.head, 1, -1, "B");
    list = differences_json(&sides.base, &sides.head);
    assert_int_equal(json_array_size(list), 4);
    assert_string_equal(json_get_str(difference(list, "env.ALGO"), "head", ""), "B");
    assert_true(json_get_bool(difference(list, "env.ALGO"), "alike", false));
    assert_int_equal(json_get_int(difference(list, "ranks"), "base", 0), 4);
    assert_false(json_get_bool(difference(list, "ranks"), "alike", true));
    assert_false(json_get_bool(difference(list, "timing"), "alike", true));
    assert_true(json_is_null(json_object_get(difference(list, "versions.nccl"), "base")));
    assert_true(json_get_bool(difference(list, "versions.nccl"), "alike", false));
    json_decref(list);
    sides_release(&sides);
}

static bool is_alike(const json_t *list, const char *what)
{
    const json_t *one = difference(list, what);

    assert_non_null(one);
    return json_get_bool(one, "alike", false);
}

/* base is the first run with what its spec has besides, head the second with its own. */
static json_t *differences_of(struct sides *sides, json_t *base, json_t *head)
{
    sides_init(sides, "interleaved", NULL);
    json_object_update_new(json_object_get(sides->docs[0], "spec"), base);
    json_object_update_new(json_object_get(sides->docs[1], "spec"), head);
    choose(sides, &sides->base, 0, -1, "A");
    choose(sides, &sides->head, 1, -1, "A");
    return differences_json(&sides->base, &sides->head);
}

TEST(what_baselines_may_differ_in_is_alike)
{
    static const char *const names[] = {"cycles", "warmup", "block_ms", "samples.max"};
    struct sides sides;
    json_t *list;

    list = differences_of(
        &sides,
        json_pack("{s:i, s:i, s:f, s:{s:i}, s:{s:i}}", "cycles", 1, "warmup", 5,
                  "block_ms", 2.0, "samples", "max", 100, "nccl", "graph", 0),
        json_pack("{s:i, s:i, s:f, s:{s:i}, s:{s:i}}", "cycles", 3, "warmup", 9,
                  "block_ms", 5.0, "samples", "max", 50, "nccl", "graph", 4));
    assert_int_equal(json_array_size(list), 5);
    for (size_t i = 0; i < 4; i++)
        assert_true(is_alike(list, names[i]));
    assert_false(is_alike(list, "nccl.graph"));
    json_decref(list);
    sides_release(&sides);
}

TEST(what_the_nodes_were_like_is_compared_where_it_was_kept)
{
    struct sides sides;
    json_t *list;

    for (int has_both = 0; has_both < 2; has_both++) {
        sides_init(&sides, "interleaved", NULL);
        if (has_both)
            json_object_set_new(sides.docs[0], "machines",
                                json_pack("[{s:{s:s, s:s}}]", "system", "os", "x",
                                          "modules.gdrdrv", "2"));
        json_object_set_new(sides.docs[1], "machines",
                            json_pack("[{s:{s:s}}]", "system", "os", "x"));
        choose(&sides, &sides.base, 0, -1, "A");
        choose(&sides, &sides.head, 1, -1, "A");
        list = differences_json(&sides.base, &sides.head);
        assert_int_equal(json_array_size(list), has_both);
        if (has_both)
            assert_true(is_alike(list, "system.modules.gdrdrv"));
        json_decref(list);
        sides_release(&sides);
    }
}

/* Both sides have A and B, in another order. */
TEST(the_same_values_in_another_order_are_no_difference)
{
    struct sides sides;
    json_t *list;

    sides_init(&sides, "interleaved", NULL);
    choose(&sides, &sides.base, 0, 0, NULL);
    choose(&sides, &sides.base, 0, 1, NULL);
    choose(&sides, &sides.head, 0, 2, NULL);
    choose(&sides, &sides.head, 0, 3, NULL);
    list = differences_json(&sides.base, &sides.head);
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
    sides_release(&sides);
}

/* Whether two values of a spec's field tell figures apart. */
static bool texts_differ(const char *name)
{
    char *texts[2];
    bool are_different;

    for (int i = 0; i < 2; i++) {
        json_t *run = json_pack("{s:s, s:i, s:{s:i}}", "backend", "host", "world_size", 2,
                                "spec", name, i);
        json_t *key = json_object();

        texts[i] = likeness_text(&(struct likeness){.run = run, .key = key}, LIKE_NODES);
        json_decref(run);
        json_decref(key);
    }
    are_different = strcmp(texts[0], texts[1]) != 0;
    free(texts[0]);
    free(texts[1]);
    return are_different;
}

TEST(each_field_of_a_spec_shapes_figures_or_is_shown_or_neither)
{
    const unsigned all = SPEC_SHAPES | SPEC_SHOWN | SPEC_APART;
    const struct spec_fields *fields = run_spec_fields();

    for (size_t i = 0; i < fields->count; i++) {
        const char *name = fields->at[i].name;
        unsigned use = fields->at[i].uses & all;
        struct sides sides;
        json_t *list;
        const json_t *one;

        if (strcmp(name, "env") == 0) /* its members are compared, for each case */
            continue;
        list = differences_of(&sides, json_pack("{s:i}", name, 1),
                              json_pack("{s:i}", name, 2));
        one = difference(list, name);
        if (use != SPEC_SHAPES && use != SPEC_SHOWN && use != SPEC_APART)
            fail_msg("%s has not one of SPEC_SHAPES, SPEC_SHOWN, SPEC_APART", name);
        if (texts_differ(name) != (use == SPEC_SHAPES))
            fail_msg("likeness_text() does not follow the bit of %s", name);
        if ((one != NULL) != (use != SPEC_APART))
            fail_msg("differences_json() does not follow the bits of %s", name);
        if (one && json_get_bool(one, "alike", false) != (use == SPEC_SHOWN))
            fail_msg("alike of %s is wrong", name);
        json_decref(list);
        sides_release(&sides);
    }
}

TEST(runs_that_may_have_shared_their_nodes_are_not_alike)
{
    static const char *const names[] = {"share", "concurrent"};

    for (size_t i = 0; i < 2; i++) {
        struct sides sides;
        json_t *list = differences_of(&sides, json_pack("{s:b}", names[i], 0),
                                      json_pack("{s:b}", names[i], 1));

        assert_false(is_alike(list, names[i]));
        assert_true(texts_differ(names[i]));
        json_decref(list);
        sides_release(&sides);
    }
}
