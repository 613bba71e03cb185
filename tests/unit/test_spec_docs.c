/* SPDX-License-Identifier: Apache-2.0 */
/* test_spec_docs.c - openapi.json and the docs agree with the table of run spec fields.
 * docs/reference/spec.md is made from openapi.json: tests/integration/reference.test.mjs
 */
#include "common/base/json_util.h"
#include "common/spec/spec_field.h"
#include "common/spec/threshold.h"
#include "tests/unit/test.h"

struct docs {
    json_t *schemas;
    char *case_file, *like; /* the sections on them */
};

static char *read_section(const char *path, const char *heading)
{
    FILE *file = fopen(path, "r");
    size_t room = 1 << 20;
    char *text = calloc(1, room), *from, *to;

    assert_non_null(file);
    assert_non_null(text);
    assert_in_range(fread(text, 1, room - 1, file), 1, room - 2);
    fclose(file);
    from = strstr(text, heading);
    assert_non_null(from);
    to = strstr(from + 1, "\n## ");
    if (to)
        *to = '\0';
    memmove(text, from, strlen(from) + 1);
    return text;
}

static int set_up(void **state)
{
    struct docs *docs = calloc(1, sizeof(*docs));
    json_t *api = json_load_file(OPENAPI_JSON, 0, NULL);

    assert_non_null(docs);
    assert_non_null(api);
    docs->schemas =
        json_incref(json_object_get(json_object_get(api, "components"), "schemas"));
    docs->case_file = read_section(SOURCE_DIR "/docs/development/worker-contract.md",
                                   "\n## Case file\n");
    docs->like = read_section(SOURCE_DIR "/docs/reference/baselines.md", "\n## Like\n");
    json_decref(api);
    *state = docs;
    return 0;
}

static int tear_down(void **state)
{
    struct docs *docs = *state;

    json_decref(docs->schemas);
    free(docs->case_file);
    free(docs->like);
    free(docs);
    return 0;
}

GROUP_FIXTURE(set_up, tear_down);

/* What a reference stands for, with what is said beside it. A new reference. */
static json_t *resolve(const struct docs *docs, json_t *schema)
{
    const char *name = json_get_str(schema, "$ref", NULL);
    json_t *whole;

    if (!name)
        return json_incref(schema);
    whole = json_copy(json_object_get(docs->schemas, strrchr(name, '/') + 1));
    json_object_update(whole, schema);
    return whole;
}

/* Of the schema or its choices the one with that type; borrowed. */
static const json_t *of_type(const json_t *schema, const char *type)
{
    const json_t *choices = json_object_get(schema, "oneOf");

    for (size_t i = 0; i < json_array_size(choices); i++) {
        const json_t *choice = json_array_get(choices, i);

        if (strcmp(json_get_str(choice, "type", ""), type) == 0 &&
            (strcmp(type, "object") != 0 || json_object_get(choice, "properties")))
            return choice;
    }
    return schema;
}

static json_t *words_of(const struct spec_field *field)
{
    json_t *words = json_array();

    for (size_t i = 0; field->choices && field->choices[i]; i++)
        json_array_append_new(words, json_string(field->choices[i]));
    for (int i = 0; field->names && i < field->names->count; i++)
        json_array_append_new(words, json_string(field->names->name(i)));
    return words;
}

static void require(bool is_so, const char *place, const struct spec_field *field,
                    const char *what)
{
    if (!is_so)
        fail_msg("%s, field %s: %s is not as in its table", place, field->name, what);
}

static void check_fields(const struct docs *docs, const struct spec_fields *fields,
                         const json_t *object, const char *place);

static void check_schema(const struct docs *docs, const struct spec_field *field,
                         const json_t *schema, const char *place)
{
    json_t *usual = field->usual ? json_loads(field->usual, JSON_DECODE_ANY, NULL) : NULL;
    json_t *words = words_of(field), *said = json_object_get(schema, "default");
    const json_t *number = of_type(schema, "integer");
    const json_t *items = json_object_get(schema, "items");
    const json_t *listed = json_object_get(
        field->names && items ? items : of_type(schema, "string"), "enum");
    const char *type = json_get_str(schema, "type", "");

    require(usual ? json_equal(said, usual) : !said, place, field, "default");
    if (field->kind == &spec_integer)
        require(strcmp(type, "integer") == 0, place, field, "type");
    if (field->kind == &spec_real)
        require(strcmp(type, "number") == 0 &&
                    json_get_num(schema, "minimum", -1) == field->least &&
                    json_get_num(schema, "maximum", -1) == field->most,
                place, field, "type, minimum or maximum");
    if (field->kind == &spec_boolean)
        require(strcmp(type, "boolean") == 0, place, field, "type");
    if (field->kind == &spec_text)
        require(json_get_int(schema, "maxLength", -1) == field->max, place, field,
                "maxLength");
    else if (field->max != 0)
        require(json_get_int(number, "minimum", -2) == field->min &&
                    json_get_int(number, "maximum", -2) == field->max,
                place, field, "minimum or maximum");
    if (json_array_size(words) > 0)
        require(json_equal(listed, words), place, field, "enum");
    if (field->members)
        check_fields(docs, field->members, of_type(schema, "object"), field->name);
    json_decref(words);
    json_decref(usual);
}

static void check_required(const struct spec_fields *fields, const json_t *required,
                           const char *place)
{
    for (size_t i = 0; i < fields->count; i++) {
        bool is_listed = false;

        for (size_t k = 0; k < json_array_size(required); k++)
            is_listed |= strcmp(json_string_value(json_array_get(required, k)),
                                fields->at[i].name) == 0;
        require(is_listed == !!(fields->at[i].uses & SPEC_REQUIRED), place,
                &fields->at[i], "required");
    }
}

static void check_fields(const struct docs *docs, const struct spec_fields *fields,
                         const json_t *object, const char *place)
{
    const json_t *properties = json_object_get(object, "properties");

    for (size_t i = 0; i < fields->count; i++) {
        const struct spec_field *field = &fields->at[i];
        json_t *schema = resolve(docs, json_object_get(properties, field->name));

        require(schema != NULL, place, field, "its absence");
        check_schema(docs, field, schema, place);
        json_decref(schema);
    }
    assert_int_equal(json_object_size(properties), fields->count);
    check_required(fields, json_object_get(object, "required"), place);
}

TEST(the_api_describes_every_field)
{
    const struct docs *docs = *state;

    check_fields(docs, run_spec_fields(), json_object_get(docs->schemas, "RunSpec"),
                 "RunSpec");
    check_fields(docs, threshold_fields(), json_object_get(docs->schemas, "Threshold"),
                 "Threshold");
}

/* The rule that a run has a program or what belongs to a measurement. */
TEST(the_api_knows_what_a_program_has_not)
{
    const struct docs *docs = *state;
    const json_t *rules =
        json_object_get(json_object_get(docs->schemas, "RunSpec"), "allOf");
    const json_t *then = json_object_get(json_array_get(rules, 0), "then");
    const json_t *refused = json_object_get(then, "properties");
    size_t n = 0;

    for (size_t i = 0; i < run_spec_fields()->count; i++) {
        const struct spec_field *field = &run_spec_fields()->at[i];
        bool is_refused = json_object_get(refused, field->name) != NULL;

        require(is_refused == !!(field->uses & SPEC_MEASUREMENT), "RunSpec", field,
                "whether a program refuses it");
        n += is_refused;
    }
    assert_int_equal(json_object_size(refused), n);
}

static void check_effective(const struct docs *docs, const char *schema, const char *text)
{
    json_t *body = json_parse(text, strlen(text), NULL), *effective, *named;
    const json_t *required =
        json_object_get(json_object_get(docs->schemas, schema), "required");
    struct problems problems;
    struct run_spec *spec;
    const char *name;
    json_t *value;

    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    assert_non_null(spec);
    effective = run_spec_to_json(spec);
    named = json_object();
    for (size_t i = 0; i < json_array_size(required); i++)
        json_object_set_new(named, json_string_value(json_array_get(required, i)),
                            json_true());
    json_object_foreach (effective, name, value)
        if (!json_object_get(named, name))
            fail_msg("%s does not require %s", schema, name);
    assert_int_equal(json_object_size(effective), json_array_size(required));
    json_decref(named);
    json_decref(effective);
    run_spec_destroy(spec);
    problems_release(&problems);
    json_decref(body);
}

TEST(the_api_requires_what_an_effective_spec_always_has)
{
    check_effective(*state, "EffectiveSpec", "{}");
    check_effective(*state, "EffectiveProgramSpec", "{\"program\":{\"name\":\"x\"}}");
}

/* The row of a table that has the name in its first cell: to be freed. */
static char *find_row(const char *text, const char *name)
{
    for (const char *at = strstr(text, "\n| "); at; at = strstr(at + 1, "\n| ")) {
        char *row = strndup(at + 1, strcspn(at + 1, "\n"));
        const char *cell = strstr(row, " | "), *mark = strstr(row, name);

        if (cell && mark && mark < cell)
            return row;
        free(row);
    }
    return NULL;
}

TEST(the_worker_contract_has_every_field_of_a_case)
{
    const struct docs *docs = *state;

    for (size_t i = 0; i < run_spec_fields()->count; i++) {
        const struct spec_field *field = &run_spec_fields()->at[i];
        char name[64];

        snprintf(name, sizeof(name), "`%s`", field->name);
        if (field->uses & SPEC_CASE)
            require(strstr(docs->case_file, name) != NULL,
                    "docs/development/worker-contract.md", field, "its absence");
    }
}

/* The row of a table that lists what must be the same. */
TEST(the_page_on_baselines_lists_the_fields_that_shape_figures)
{
    const struct docs *docs = *state;
    char *row = find_row(docs->like, "settings");

    assert_non_null(row);
    for (size_t i = 0; i < run_spec_fields()->count; i++) {
        const struct spec_field *field = &run_spec_fields()->at[i];
        char name[64];

        snprintf(name, sizeof(name), "`%s`", field->name);
        require((strstr(row, name) != NULL) == ((field->uses & SPEC_SHAPES) != 0),
                "docs/reference/baselines.md, settings", field, "its place in the list");
    }
    free(row);
}
