/* SPDX-License-Identifier: Apache-2.0 */
/* test_openapi_texts.c - a reader of openapi.json finds an example of each operation, and
 * a description of each member and parameter */
#include "server/api/openapi_texts.h"

#include <jansson.h>

#include "common/base/json_util.h"
#include "tests/unit/test.h"

static json_t *load_document(void)
{
    json_t *document = json_load_file(OPENAPI_JSON, 0, NULL);

    assert_non_null(document);
    return document;
}

static bool content_has_example(const json_t *body)
{
    json_t *content = json_object_get(body, "content"), *media;
    const char *type;

    json_object_foreach (content, type, media)
        if (json_object_get(media, "example") || json_object_get(media, "examples"))
            return true;
    return false;
}

static bool has_example(const json_t *operation)
{
    json_t *responses = json_object_get(operation, "responses"), *response, *param;
    const char *status;
    size_t i;

    /* Nobody can guess a body from a path. */
    if (json_object_get(operation, "requestBody"))
        return content_has_example(json_object_get(operation, "requestBody"));
    json_array_foreach (json_object_get(operation, "parameters"), i, param)
        if (json_object_get(param, "example"))
            return true;
    json_object_foreach (responses, status, response)
        if (content_has_example(response))
            return true;
    return false;
}

TEST(each_operation_has_an_example)
{
    json_t *document = load_document(), *path, *operation;
    const char *pattern, *method;
    size_t n = 0;

    json_object_foreach (json_object_get(document, "paths"), pattern, path)
        json_object_foreach (path, method, operation) {
            n++;
            if (!has_example(operation))
                fail_msg("%s %s has no example", method, pattern);
        }
    assert_true(n > 50);
    json_decref(document);
}

static bool is_described(const json_t *document, const json_t *member)
{
    const char *ref = json_get_str(member, "$ref", NULL);
    json_t *components = json_object_get(document, "components");

    if (!json_is_object(member) || json_object_get(member, "description"))
        return true;
    ref = ref ? strrchr(ref, '/') + 1 : "";
    return json_object_get(json_object_get(json_object_get(components, "schemas"), ref),
                           "description");
}

/* Look at all members of schemas in the part; conditions name those that others describe.
 */
static size_t check_members(const json_t *document, json_t *part, const char *where)
{
    static const char *const skipped[] = {"example", "examples", "if", "then", "not"};
    json_t *inner, *member;
    const char *name, *key;
    size_t n = 0, i;

    json_array_foreach (part, i, inner)
        n += check_members(document, inner, where);
    json_object_foreach (part, name, inner) {
        bool is_skipped = false;

        for (i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++)
            is_skipped |= strcmp(name, skipped[i]) == 0;
        if (is_skipped)
            continue;
        if (strcmp(name, "properties") == 0)
            json_object_foreach (inner, key, member) {
                n++;
                if (!is_described(document, member))
                    fail_msg("%s: no description of %s", where, key);
            }
        n += check_members(document, inner, where);
    }
    return n;
}

TEST(each_member_has_a_description)
{
    json_t *document = load_document(), *part;
    json_t *components = json_object_get(document, "components");
    const char *name;
    size_t n = 0;

    json_object_foreach (json_object_get(components, "schemas"), name, part)
        n += check_members(document, part, name);
    json_object_foreach (json_object_get(document, "paths"), name, part)
        n += check_members(document, part, name);
    assert_true(n > 1000);
    json_decref(document);
}

TEST(each_parameter_has_a_description)
{
    json_t *document = load_document(), *path, *operation, *param;
    const char *pattern, *method;
    size_t i, n = 0;

    json_object_foreach (json_object_get(document, "paths"), pattern, path)
        json_object_foreach (path, method, operation)
            json_array_foreach (json_object_get(operation, "parameters"), i, param) {
                n++;
                if (!json_object_get(param, "$ref") &&
                    !json_object_get(param, "description"))
                    fail_msg("%s %s: no description of %s", method, pattern,
                             json_get_str(param, "name", "?"));
            }
    assert_true(n > 100);
    json_decref(document);
}

TEST(a_name_with_its_schema_comes_first)
{
    json_t *document = json_pack(
        "{s:{s:{s:{s:{s:{s:s}, s:{s:s, s:s}}}, s:{s:{s:{s:s}}}}},"
        " s:{s:{s:{s:s, s:[{s:s, s:s}], s:{s:{s:{s:{}}}}}}}}",
        "components", "schemas", "A", "properties", "x", "type", "string", "y", "type",
        "string", "description", "own", "B", "properties", "x", "type", "string", "paths",
        "/p", "get", "operationId", "getP", "parameters", "name", "x", "in", "query",
        "responses", "200", "content", "application/json");
    json_t *texts = json_pack("{s:{s:s, s:s}, s:{s:{s:i}}}", "fields", "x", "any", "A.x",
                              "of A", "examples", "getP", "answer", 7);
    json_t *operation, *schemas, *a;

    assert_non_null(document);
    openapi_add_texts(document, texts);
    schemas = json_object_get(json_object_get(document, "components"), "schemas");
    a = json_object_get(json_object_get(schemas, "A"), "properties");
    assert_string_equal(json_get_str(json_object_get(a, "x"), "description", ""), "of A");
    assert_string_equal(json_get_str(json_object_get(a, "y"), "description", ""), "own");
    a = json_object_get(json_object_get(schemas, "B"), "properties");
    assert_string_equal(json_get_str(json_object_get(a, "x"), "description", ""), "any");
    operation =
        json_object_get(json_object_get(json_object_get(document, "paths"), "/p"), "get");
    assert_string_equal(
        json_get_str(json_array_get(json_object_get(operation, "parameters"), 0),
                     "description", ""),
        "any");
    assert_true(has_example(operation));
    json_decref(texts);
    json_decref(document);
}
