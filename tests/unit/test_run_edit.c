/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_edit.c - merge patches of a run's labels and notes: what is refused, and that
 * each change leads there and back */
#include <string.h>

#include "common/base/json_util.h"
#include "server/runs/run_edit.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

    assert_non_null(value);
    return value;
}

static void same(json_t *value, const char *wanted)
{
    char *text = json_text(value);
    json_t *expected = parse(wanted);

    if (!json_equal(value, expected))
        fail_msg("%s is not %s", text, wanted);
    free(text);
    json_decref(expected);
}

TEST(a_change_leads_there_and_back)
{
    static const struct {
        const char *run, *patch, *before, *after;
    } trials[] = {
        {"{\"labels\":{\"a\":\"1\"}}", "{}", "{}", "{}"},
        {"{\"labels\":{\"a\":\"1\"}}", "{\"labels\":{\"a\":\"1\",\"b\":null}}", "{}",
         "{}"},
        {"{\"labels\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}}",
         "{\"labels\":{\"a\":null,\"b\":\"4\",\"d\":\"5\"}}",
         "{\"labels\":{\"a\":\"1\",\"b\":\"2\",\"d\":null}}",
         "{\"labels\":{\"a\":null,\"b\":\"4\",\"d\":\"5\"}}"},
        {"{\"labels\":{\"a\":\"1\"},\"notes\":\"x\"}", "{\"labels\":null,\"notes\":null}",
         "{\"labels\":{\"a\":\"1\"},\"notes\":\"x\"}",
         "{\"labels\":{\"a\":null},\"notes\":\"\"}"},
        {"{\"labels\":{}}", "{\"notes\":\"line\\n\\ttab\"}", "{\"notes\":\"\"}",
         "{\"notes\":\"line\\n\\ttab\"}"},
    };

    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        json_t *run = parse(trials[i].run), *patch = parse(trials[i].patch);
        json_t *editable = run_editable(run), *changes, *there, *back;
        struct problems problems;

        problems_init(&problems);
        changes = run_edit(editable, patch, &problems);
        assert_int_equal(problems.count, 0);
        same(json_object_get(changes, "before"), trials[i].before);
        same(json_object_get(changes, "after"), trials[i].after);
        there = run_edit_apply(editable, json_object_get(changes, "after"));
        back = run_edit_apply(there, json_object_get(changes, "before"));
        assert_true(json_equal(back, editable));
        problems_release(&problems);
        json_decref(there);
        json_decref(back);
        json_decref(changes);
        json_decref(editable);
        json_decref(patch);
        json_decref(run);
    }
}

static void refused(const char *patch_text, const char *pointer, const char *mention)
{
    json_t *run = parse("{\"labels\":{\"a\":\"1\"}}"), *patch = parse(patch_text);
    json_t *editable = run_editable(run);
    struct problems problems;
    const json_t *first;

    problems_init(&problems);
    assert_null(run_edit(editable, patch, &problems));
    first = json_array_get(problems.errors, 0);
    assert_string_equal(json_get_str(first, "pointer", "?"), pointer);
    assert_mentions(json_get_str(first, "detail", ""), mention);
    problems_release(&problems);
    json_decref(editable);
    json_decref(patch);
    json_decref(run);
}

TEST(bad_patches_are_refused_with_their_place)
{
    char long_notes[RUN_NOTES_MAX + 100] = "{\"notes\":\"";
    char many[32 * 20 + 100] = "{\"labels\":{";

    memset(long_notes + strlen(long_notes), 'x', RUN_NOTES_MAX + 1);
    strcat(long_notes, "\"}");
    for (int i = 0; i < 32; i++)
        sprintf(many + strlen(many), "%s\"k%d\":\"v\"", i ? "," : "", i);
    strcat(many, "}}");
    refused("[]", "", "labels notes");
    refused("null", "", "labels notes");
    refused("{\"name\":\"x\"}", "/name", "labels notes");
    refused("{\"a/b\":1}", "/a~1b", "labels notes");
    refused("{\"labels\":\"a=b\"}", "/labels", "object string");
    refused("{\"labels\":{\"b\":1}}", "/labels/b", "200");
    refused("{\"labels\":{\"b\":{\"c\":\"d\"}}}", "/labels/b", "200");
    refused("{\"labels\":{\"\":\"x\"}}", "/labels/", "200");
    refused("{\"labels\":{\"b\":\"x\\ny\"}}", "/labels/b", "U+000A");
    refused("{\"notes\":5}", "/notes", "4000");
    refused("{\"notes\":\"\\u202e\"}", "/notes", "U+202E");
    refused(long_notes, "/notes", "4000");
    refused(many, "/labels", "32 33");
}
