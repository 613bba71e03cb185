/* SPDX-License-Identifier: Apache-2.0 */
/* test_problem.c - faults in someone's input, shown as a problem document */
#include "common/base/json_util.h"
#include "common/base/problem.h"
#include "tests/unit/test.h"

static const char *error_text(const json_t *document, size_t i, const char *key)
{
    return json_get_str(json_array_get(json_object_get(document, "errors"), i), key, "");
}

TEST(a_document_lists_what_was_added)
{
    struct problems problems;
    json_t *document;

    problems_init(&problems);
    problems_add(&problems, "/sizes/min", "must be %s", "small");
    problems_add(&problems, "", "must be an object");
    document = problem_document(422, "2 faults", &problems);
    assert_string_equal(json_get_str(document, "type", ""), "about:blank");
    assert_string_equal(json_get_str(document, "title", ""), "Unprocessable Content");
    assert_int_equal(json_get_int(document, "status", 0), 422);
    assert_string_equal(json_get_str(document, "detail", ""), "2 faults");
    assert_int_equal(json_array_size(json_object_get(document, "errors")), 2);
    assert_string_equal(error_text(document, 0, "pointer"), "/sizes/min");
    assert_string_equal(error_text(document, 0, "detail"), "must be small");
    assert_string_equal(error_text(document, 1, "pointer"), "");
    json_decref(document);
    problems_release(&problems);
    problems_release(&problems);
}

TEST(a_document_without_faults_has_no_list)
{
    struct problems problems;
    json_t *document;

    problems_init(&problems);
    document = problem_document(404, "no such run", &problems);
    assert_null(json_object_get(document, "errors"));
    assert_string_equal(json_get_str(document, "title", ""), "Not Found");
    json_decref(document);
    document = problem_document(499, "odd", NULL);
    assert_string_equal(json_get_str(document, "title", ""), "Error");
    json_decref(document);
    problems_release(&problems);
}

TEST(at_most_fifty_are_kept_and_all_are_counted)
{
    struct problems problems;

    problems_init(&problems);
    for (int i = 0; i < 1000; i++)
        problems_add(&problems, "/x", "fault %d", i);
    assert_int_equal(problems.count, 1000);
    assert_int_equal(json_array_size(problems.errors), PROBLEMS_MAX);
    problems_release(&problems);
}

TEST(text_that_was_cut_inside_a_character_is_kept)
{
    struct problems problems;
    char text[1200];
    json_t *document;

    problems_init(&problems);
    for (size_t i = 0; i + 3 < sizeof(text); i += 3)
        memcpy(text + i, "\xe2\x82\xac", 4);
    problems_add(&problems, "/a\xc3", "x%s", text);
    problems_add(&problems, "/b", "%.10s", text);
    document = problem_document(422, "caf\xc3", &problems);
    assert_string_equal(json_get_str(document, "detail", ""), "caf");
    assert_string_equal(error_text(document, 0, "pointer"), "/a");
    assert_int_equal(strlen(error_text(document, 0, "detail")), 511);
    assert_string_equal(error_text(document, 1, "detail"),
                        "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");
    json_decref(document);
    problems_release(&problems);
}
