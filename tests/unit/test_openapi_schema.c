/* SPDX-License-Identifier: Apache-2.0 */
/* test_openapi_schema.c - the short notation of schemas in openapi.json */
#include "server/api/openapi_schema.h"
#include "tests/unit/test.h"

static void check(const char *text, const char *expected)
{
    json_t *known = json_pack("{s:{s:{s:b, s:b, s:b}, s:[s, s]}}", "Thing", "properties",
                              "a", 1, "b", 1, "c", 1, "required", "a", "b");
    json_t *source = json_loads(text, JSON_DECODE_ANY, NULL);
    json_t *wanted = json_loads(expected, 0, NULL);
    json_t *schema = openapi_schema(source, known);
    char *got = json_dumps(schema, 0);

    assert_non_null(wanted);
    if (!json_equal(schema, wanted))
        fail_msg("%s became %s, not %s", text, got, expected);
    free(got);
    json_decref(schema);
    json_decref(wanted);
    json_decref(source);
    json_decref(known);
}

TEST(a_type_may_have_a_range_and_be_null)
{
    check("\"string\"", "{\"type\":\"string\"}");
    check("\"string: why: because\"",
          "{\"type\":\"string\",\"description\":\"why: because\"}");
    check("\"count?\"", "{\"type\":[\"integer\",\"null\"],\"minimum\":0}");
    check("\"time\"", "{\"type\":\"string\",\"format\":\"date-time\"}");
    check("\"integer 1..64\"", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":64}");
    check("\"number 0.5..?\"", "{\"type\":[\"number\",\"null\"],\"minimum\":0.5}");
    check("\": no type\"", "{\"description\":\"no type\"}");
}

TEST(names_are_references_and_words_an_enum)
{
    check("\"Thing?\"", "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Thing\"},"
                        "{\"type\":\"null\"}]}");
    check("\"[Thing]\"", "{\"type\":\"array\",\"items\":"
                         "{\"$ref\":\"#/components/schemas/Thing\"}}");
    check("\"{string?}\"", "{\"type\":\"object\",\"additionalProperties\":"
                           "{\"type\":[\"string\",\"null\"]}}");
    check("\"yes|no\"", "{\"type\":\"string\",\"enum\":[\"yes\",\"no\"]}");
}

TEST(an_object_lists_what_it_requires)
{
    check("{\"closed\":{\"a\":\"string\",\"b?\":\"string\"}}",
          "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
          "\"b\":{\"type\":\"string\"}},\"required\":[\"a\"],"
          "\"additionalProperties\":false}");
    check("{\"open?\":{\"a?\":{\"not\":\"string\"}}}",
          "{\"type\":[\"object\",\"null\"],"
          "\"properties\":{\"a\":{\"not\":{\"type\":\"string\"}}}}");
}

TEST(an_object_may_be_like_another)
{
    check("{\"like\":\"Thing\",\"without\":[\"b\"],\"closed\":{\"c?\":\"count\"}}",
          "{\"type\":\"object\",\"properties\":{\"a\":true,"
          "\"c\":{\"type\":\"integer\",\"minimum\":0}},\"required\":[\"a\"],"
          "\"additionalProperties\":false}");
}
