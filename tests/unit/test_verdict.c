/* test_verdict.c - a verdict is one object, and its answers are a table that is
 * documented */
#include "common/base/json_util.h"
#include "server/analysis/verdict.h"
#include "tests/unit/test.h"

TEST(it_is_an_object_of_four_members)
{
    json_t *verdict = verdict_json(VERDICT_COMPARE, VERDICT_NOT_ENOUGH_DATA, "too few",
                                   " (simulated)", json_object());

    assert_int_equal(json_object_size(verdict), 4);
    assert_string_equal(json_get_str(verdict, "kind", ""), "compare");
    assert_string_equal(json_get_str(verdict, "answer", ""), "not_enough_data");
    assert_string_equal(json_get_str(verdict, "sentence", ""), "too few (simulated)");
    assert_true(json_is_object(json_object_get(verdict, "evidence")));
    json_decref(verdict);
}

/* What others named may be no UTF-8, and may have been cut within a character. */
TEST(its_sentence_is_text_whatever_was_named)
{
    json_t *verdict =
        verdict_json(VERDICT_GATE, VERDICT_PASS, "caf\xc3", NULL, json_object());

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

static char *read_page(const char *name)
{
    char path[1024], *text = calloc(1, 1 << 20);
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", SOURCE_DIR, name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_in_range(fread(text, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
    fclose(file);
    return text;
}

/* A line for each kind: | `kind` | `answer` `answer` | what it is of, and perhaps more |
 */
TEST(architecture_lists_the_kinds_and_their_answers)
{
    char *page = read_page("docs/architecture.md");

    for (int kind = 0; kind < VERDICT_KINDS; kind++) {
        char line[512];
        int n = snprintf(line, sizeof(line), "| `%s` |", verdict_kind_name(kind));

        for (int answer = 0; answer < VERDICT_ANSWERS; answer++) {
            if (verdict_kind_has(kind, answer))
                n += snprintf(line + n, sizeof(line) - (size_t)n, " `%s`",
                              verdict_answer_name(answer));
        }
        snprintf(line + n, sizeof(line) - (size_t)n, " | %s", verdict_kind_about(kind));
        if (!strstr(page, line))
            fail_msg("docs/architecture.md lacks the line\n%s", line);
    }
    free(page);
}
