/* SPDX-License-Identifier: Apache-2.0 */
/* test_verdict.c - a verdict is one object, and its answers are a table that is
 * documented */
#include "common/base/json_util.h"
#include "server/finding/verdict.h"
#include "tests/unit/golden_file.h"
#include "tests/unit/test.h"

TEST(it_is_an_object_of_five_members)
{
    json_t *verdict = verdict_json(VERDICT_COMPARE, VERDICT_NOT_ENOUGH_DATA, "too few",
                                   " (simulated)", NULL, json_object());

    assert_int_equal(json_object_size(verdict), 5);
    assert_string_equal(json_get_str(verdict, "kind", ""), "compare");
    assert_string_equal(json_get_str(verdict, "answer", ""), "not_enough_data");
    assert_string_equal(json_get_str(verdict, "sentence", ""), "too few (simulated)");
    assert_true(json_is_object(json_object_get(verdict, "evidence")));
    json_decref(verdict);
}

TEST(an_answer_that_is_no_news_says_so)
{
    json_t *late = verdict_json(VERDICT_LATENESS, VERDICT_LATE_RANK, "rank 1", NULL, NULL,
                                json_object());
    json_t *none = verdict_json(VERDICT_LATENESS, VERDICT_NONE, "no rank", NULL, NULL,
                                json_object());

    assert_false(verdict_is_quiet(late) || json_object_get(late, "quiet"));
    assert_true(verdict_is_quiet(none) && json_get_bool(none, "quiet", false));
    json_decref(late);
    json_decref(none);
}

/* What others named may be no UTF-8, and may have been cut within a character. */
TEST(its_sentence_is_text_whatever_was_named)
{
    json_t *verdict =
        verdict_json(VERDICT_GATE, VERDICT_PASS, "caf\xc3", NULL, NULL, json_object());

    assert_non_null(verdict);
    assert_memory_equal(json_get_str(verdict, "sentence", ""), "caf", 3);
    json_decref(verdict);
}

TEST(a_kind_has_answers_of_its_own)
{
    assert_true(verdict_kind_has(VERDICT_COMPARE, VERDICT_SAME));
    assert_false(verdict_kind_has(VERDICT_COMPARE, VERDICT_PASS));
    assert_true(verdict_kind_has(VERDICT_GATE, VERDICT_NOT_EVALUATED));
    assert_false(verdict_kind_has(VERDICT_GATE, VERDICT_BETTER));
}

static void put_kinds(struct buf *out)
{
    buf_append_str(out, "| kind | answers | meaning |\n|---|---|---|\n");
    for (int kind = 0; kind < VERDICT_KINDS; kind++) {
        buf_printf(out, "| `%s` |", verdict_kind_name(kind));
        for (int answer = 0; answer < VERDICT_ANSWERS; answer++)
            if (verdict_kind_has(kind, answer))
                buf_printf(out, " `%s`", verdict_answer_name(answer));
        buf_printf(out, " | %s |\n", verdict_kind_about(kind));
    }
}

/* RINGBENCH_WRITE_GOLDEN=1 writes the table anew. */
TEST(api_md_lists_the_kinds_and_their_answers)
{
    golden_compare_part("reference/api.md", "<!-- verdicts -->\n",
                        "<!-- end of verdicts -->", put_kinds);
}

/* Whether the schema, or one that it refers to, is that of a verdict of the kind. */
static bool has_kind(const json_t *schemas, json_t *schema, const char *kind, int depth)
{
    const char *ref = json_get_str(schema, "$ref", NULL), *key;
    const json_t *own = json_object_get(json_object_get(schema, "properties"), "kind");
    bool found = strcmp(json_get_str(own, "const", ""), kind) == 0;
    json_t *value;
    size_t i;

    if (ref && depth > 0)
        return has_kind(schemas, json_object_get(schemas, strrchr(ref, '/') + 1), kind,
                        depth - 1);
    json_object_foreach (schema, key, value)
        found = found || has_kind(schemas, value, kind, depth);
    json_array_foreach (schema, i, value)
        found = found || has_kind(schemas, value, kind, depth);
    return found;
}

TEST(the_kinds_that_are_kept_are_those_of_a_run_s_schema)
{
    json_t *api = json_load_file(OPENAPI_JSON, 0, NULL);
    json_t *schemas = json_object_get(json_object_get(api, "components"), "schemas");

    for (int kind = 0; kind < VERDICT_KINDS; kind++) {
        const char *name = verdict_kind_name((enum verdict_kind)kind);

        if (verdict_kind_is_kept((enum verdict_kind)kind) !=
            has_kind(schemas, json_object_get(schemas, "Run"), name, 4))
            fail_msg("%s is kept, or not, unlike openapi.json's Run says", name);
    }
    json_decref(api);
}

/* How many headers name answers of a kind by its schema, and so all of them. */
static size_t count_headers(const json_t *schemas, json_t *within)
{
    json_t *header = json_object_get(within, "Ringbench-Verdict"), *value;
    const char *ref = json_get_str(json_object_get(header, "schema"), "$ref", ""), *key;
    char kind[64] = "", rest[64] = "";
    size_t i, n = header != NULL;

    if (header &&
        (sscanf(ref, "#/components/schemas/%63[^/]/properties/%63s", kind, rest) != 2 ||
         !json_object_get(schemas, kind) || strcmp(rest, "answer") != 0))
        fail_msg("a header does not refer to the answers of a kind: %s", ref);
    json_object_foreach (within, key, value)
        n += count_headers(schemas, value);
    json_array_foreach (within, i, value)
        n += count_headers(schemas, value);
    return n;
}

TEST(headers_have_all_answers_of_their_kind)
{
    json_t *api = json_load_file(OPENAPI_JSON, 0, NULL);
    json_t *schemas = json_object_get(json_object_get(api, "components"), "schemas");

    assert_int_equal(count_headers(schemas, json_object_get(api, "paths")), 4);
    json_decref(api);
}

TEST(an_answer_is_kept_with_and_without_its_kind)
{
    assert_true(verdict_answer_is_kept("ok"));
    assert_true(verdict_answer_is_kept("preflight:ok"));
    assert_true(verdict_answer_is_kept("not_enough_data"));
    assert_false(verdict_answer_is_kept("gate:ok"));
    assert_false(verdict_answer_is_kept("better")); /* of a comparison, on request */
    assert_false(verdict_answer_is_kept("topology:same"));
    assert_false(verdict_answer_is_kept(":ok"));
    assert_false(verdict_answer_is_kept("preflight:"));
    assert_false(verdict_answer_is_kept("pre:ok"));
    assert_false(verdict_answer_is_kept("preflight"));
    assert_false(verdict_answer_is_kept(""));
}

static json_t *said(enum verdict_kind kind, enum verdict_answer answer,
                    const char *sentence)
{
    return verdict_json(kind, answer, sentence, NULL, NULL, json_object());
}

static void assert_sentence_at(const json_t *verdicts, size_t i, const char *sentence)
{
    assert_string_equal(json_get_str(json_array_get(verdicts, i), "sentence", "(none)"),
                        sentence);
}

TEST(a_run_lists_verdicts_by_kind_and_each_sentence_once)
{
    json_t *all = json_pack("[o, o, o, o, o, o]",
                            said(VERDICT_CEILING, VERDICT_EXPECTED, "ceiling"),
                            said(VERDICT_PREFLIGHT, VERDICT_OK, "well"),
                            said(VERDICT_PREFLIGHT, VERDICT_FINDING, "sick"),
                            said(VERDICT_HANG, VERDICT_NO_RANK, "nobody"),
                            said(VERDICT_PREFLIGHT, VERDICT_FINDING, "sick"),
                            said(VERDICT_GATE, VERDICT_PASS, "gate"));
    json_t *sorted = verdicts_sorted(all);

    assert_int_equal(json_array_size(sorted), 5);
    assert_sentence_at(sorted, 0, "gate");
    assert_sentence_at(sorted, 1, "nobody");
    assert_sentence_at(sorted, 2, "sick"); /* news come first */
    assert_sentence_at(sorted, 3, "well");
    assert_sentence_at(sorted, 4, "ceiling");
    assert_ptr_equal(verdicts_find(sorted, VERDICT_HANG), json_array_get(sorted, 1));
    assert_null(verdicts_find(sorted, VERDICT_CULPRIT));
    json_decref(all);
    json_decref(sorted);
}

TEST(alike_verdicts_leave_room_for_others)
{
    json_t *all = json_array(), *sorted;
    char sentence[20];

    for (int i = 0; i < 3 * VERDICTS_ALIKE_MAX; i++) {
        snprintf(sentence, sizeof(sentence), "case %d", i);
        json_array_append_new(all, said(VERDICT_TRANSPORT, VERDICT_OK, sentence));
    }
    json_array_append_new(all, said(VERDICT_TRANSPORT, VERDICT_FINDING, "sockets"));
    sorted = verdicts_sorted(all);
    assert_int_equal(json_array_size(sorted), VERDICTS_ALIKE_MAX + 1);
    assert_sentence_at(sorted, VERDICTS_ALIKE_MAX, "sockets");
    json_decref(all);
    json_decref(sorted);
}

TEST(answers_that_judge_nodes_are_of_kept_kinds)
{
    json_t *judging = verdicts_judging(), *answer;
    size_t i;

    assert_true(json_array_size(judging) > 3);
    json_array_foreach (judging, i, answer)
        if (!verdict_answer_is_kept(json_string_value(answer)))
            fail_msg("%s is of no kind that runs keep", json_string_value(answer));
    json_decref(judging);
}
