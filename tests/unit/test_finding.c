/* SPDX-License-Identifier: Apache-2.0 */
/* test_finding.c - sentences made of templates, and the table of all messages */
#include <string.h>

#include "common/base/json_util.h"
#include "server/finding/finding.h"
#include "server/finding/template.h"
#include "tests/unit/test.h"

static void assert_sentence(const char *text, json_t *members, const char *expected)
{
    struct buf out;

    buf_init(&out, 4096);
    template_render(text, NULL, members, &out);
    assert_string_equal(out.data ? out.data : "", expected);
    buf_release(&out);
    json_decref(members);
}

TEST(a_member_is_written_in_its_form)
{
    assert_sentence("{t}, {n}, {x}",
                    json_pack("{s:s, s:i, s:f}", "t", "a", "n", 12, "x", 1.23456),
                    "a, 12, 1.235");
    assert_sentence("{x:.1f} {x:.2g} {x}", json_pack("{s:f}", "x", 1234.56),
                    "1234.6 1.2e+03 1235");
    assert_sentence("{x:.0%} {x:.1%} {x:%} {y:%}",
                    json_pack("{s:f, s:f}", "x", 0.0512, "y", 0.51),
                    "5 % 5.1 % 5.1 % 51 %");
    assert_sentence("{a:us}, {b:us}", json_pack("{s:f, s:f}", "a", 1.25, "b", 12.5),
                    "1.25 us, 12 us");
    assert_sentence("{n:size}, {n:bytes}", json_pack("{s:i}", "n", 1536 * 1024),
                    "1536K, 1.5 MiB");
    assert_sentence("{inner.n}", json_pack("{s:{s:i}}", "inner", "n", 3), "3");
}

TEST(a_word_follows_a_number)
{
    assert_sentence("{n} {n:rank lags/ranks lag}", json_pack("{s:i}", "n", 1),
                    "1 rank lags");
    assert_sentence("{n} {n:rank lags/ranks lag}", json_pack("{s:i}", "n", 0),
                    "0 ranks lag");
    assert_sentence("{n} row{n:/s}", json_pack("{s:i}", "n", 2), "2 rows");
}

TEST(names_are_listed_up_to_a_number)
{
    json_t *names = json_pack("{s:[s, s, s], s:i}", "names", "a", "b", "c", "n", 9);

    json_incref(names);
    assert_sentence("{names:names 3}", names, "a, b, c");
    json_incref(names);
    assert_sentence("{names:names 1}", names, "a and 2 more");
    assert_sentence("{names:names 3 of n}", names, "a, b, c and 6 more");
}

TEST(a_group_is_its_first_part_with_all_members)
{
    const char *text = "x[ on {node}[ of {rack}]|, nowhere]";

    assert_sentence(text, json_pack("{s:s, s:s}", "node", "n1", "rack", "r"),
                    "x on n1 of r");
    assert_sentence(text, json_pack("{s:s}", "node", "n1"), "x on n1");
    assert_sentence(text, json_pack("{s:s}", "rack", "r"), "x, nowhere");
    assert_sentence("[{n}][{n?} and {n}]", json_pack("{s:i}", "n", 0), "0");
    assert_sentence("[{is?}yes|no]", json_pack("{s:b}", "is", 1), "yes");
    assert_sentence("[{is?}yes|no]", json_pack("{s:b}", "is", 0), "no");
}

TEST(a_finding_is_its_evidence_and_a_sentence_of_it)
{
    struct finding finding = finding_begin();
    json_t *verdict, *evidence,
        *list = json_pack("[{s:s}, {s:s}, {s:s}]", "a", "x", "a", "y", "a", "z");

    finding_put(&finding, "{s:I, s:I, s:s}", "rows", (json_int_t)3, "$needed",
                (json_int_t)8, "$unused", "-");
    finding_set_phrases(&finding, "$list", list, 2, "; ", "{a} {rows}");
    finding_set_phrase(&finding, "$phrase", "{$list}.");
    json_decref(list);
    finding_name(&finding, "b");
    finding_name(&finding, "a");
    finding_name(&finding, "b");
    evidence = finding.members;
    assert_string_equal(json_get_str(evidence, "$phrase", ""), "x 3; y 3; and 1 more.");
    verdict = finding_end(&finding, MESSAGE_LATE_FEW_ROWS, " (simulated)");
    assert_string_equal(json_get_str(verdict, "kind", ""), "lateness");
    assert_string_equal(json_get_str(verdict, "answer", ""), "not_enough_data");
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""), "3 rows"));
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""), " (simulated)"));
    evidence = json_object_get(verdict, "evidence");
    assert_int_equal(json_object_size(evidence), 1);
    assert_int_equal(json_get_int(evidence, "rows", 0), 3);
    list = json_object_get(verdict, "nodes");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_array_get(list, 0)), "b");
    json_decref(verdict);
}

TEST(a_step_that_fails_leaves_no_verdict)
{
    struct finding finding = finding_begin();

    finding_put(&finding, "{s:s}", "name", "caf\xc3");
    finding_put(&finding, "{s:I}", "rows", (json_int_t)3);
    assert_null(finding_end(&finding, MESSAGE_LATE_FEW_ROWS, NULL));
}

/* ---- The table ---- */

static const json_t *schemas;

/* The schema of the evidence of a kind, in `schema` or below it. */
static const json_t *evidence_of(const json_t *schema, const char *kind)
{
    const json_t *own = json_object_get(schema, "properties"), *value, *found = NULL;
    const char *key;
    size_t i;

    if (strcmp(json_get_str(json_object_get(own, "kind"), "const", ""), kind) == 0 &&
        json_object_get(own, "evidence")) {
        const char *ref = json_get_str(json_object_get(own, "evidence"), "$ref", "/");

        return json_object_get(schemas, strrchr(ref, '/') + 1);
    }
    json_object_foreach ((json_t *)(uintptr_t)schema, key, value)
        found = found ? found : evidence_of(value, kind);
    json_array_foreach (schema, i, value)
        found = found ? found : evidence_of(value, kind);
    return found;
}

static void check_member(void *arg, const char *name, const char *form)
{
    const struct message *message = &messages[*(const int *)arg];
    const char *kind = verdict_kind_name(message->kind);
    const json_t *schema = evidence_of(schemas, kind);
    char first[80];

    (void)form;
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, "."), name);
    if (*name != '$' && !json_object_get(json_object_get(schema, "properties"), first))
        fail_msg("%s is in a message of %s, but not in the schema of its evidence", name,
                 kind);
}

TEST(messages_name_members_of_the_evidence_that_the_schema_has)
{
    json_t *api = json_load_file(OPENAPI_JSON, 0, NULL);

    schemas = json_object_get(json_object_get(api, "components"), "schemas");
    for (int i = 0; i < MESSAGES; i++) {
        if (!verdict_kind_has(messages[i].kind, messages[i].answer))
            fail_msg("message %d has an answer that its kind has not", i);
        if (template_members(messages[i].text, check_member, &i))
            fail_msg("not a template: %s", messages[i].text);
    }
    json_decref(api);
}

/* The schema of the sentence, beside that of the evidence. */
TEST(the_schema_has_the_templates_of_each_kind)
{
    json_t *api = json_load_file(OPENAPI_JSON, 0, NULL);
    char *text = json_dumps(api, JSON_COMPACT | JSON_ENCODE_ANY);

    for (int i = 0; i < MESSAGES; i++) {
        json_t *template = json_string(messages[i].text);
        char *quoted = json_dumps(template, JSON_ENCODE_ANY);

        if (!strstr(text, quoted))
            fail_msg("openapi.json lacks the template %s", quoted);
        free(quoted);
        json_decref(template);
    }
    free(text);
    json_decref(api);
}

TEST(each_answer_of_each_kind_has_a_message)
{
    bool has[VERDICT_KINDS][VERDICT_ANSWERS] = {{false}};

    for (int i = 0; i < MESSAGES; i++)
        has[messages[i].kind][messages[i].answer] = true;
    for (int kind = 0; kind < VERDICT_KINDS; kind++)
        for (int answer = 0; answer < VERDICT_ANSWERS; answer++)
            if (verdict_kind_has(kind, answer) && !has[kind][answer])
                fail_msg("%s has no message for %s", verdict_kind_name(kind),
                         verdict_answer_name(answer));
}

TEST(malformed_templates_are_told)
{
    static const char *const texts[] = {"{", "{a", "[a", "a]", "a|b", "{}", "a}"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(template_members(texts[i], check_member, &(int){0}), -1);
}
