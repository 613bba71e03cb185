/* openapi_make.c - part of the build: openapi.json with the schemas of rows and figures,
 * made from common/result/row_fields.h: openapi_make IN OUT */
#include <jansson.h>
#include <stdio.h>

#include "common/result/row_fields.h"
#include "common/spec/collective_json.h"

/* The names in a list of the served facts, which are objects with a name or names. */
static json_t *names_of(const char *list)
{
    json_t *all = collective_json(), *names = json_array(), *item;
    size_t i;

    json_array_foreach (json_object_get(all, list), i, item) {
        json_array_append(names,
                          json_is_string(item) ? item : json_object_get(item, "name"));
    }
    json_decref(all);
    return names;
}

static json_t *schema_of_type(const struct row_field *field)
{
    json_t *names;

    switch (field->type) {
    case ROW_INTEGER:
        return json_pack("{s:s, s:i}", "type", "integer", "minimum", field->minimum);
    case ROW_INTEGER_OR_NULL:
        return json_pack("{s:[s, s], s:i}", "type", "integer", "null", "minimum",
                         field->minimum);
    case ROW_NUMBER:
        return json_pack("{s:s}", "type", "number");
    case ROW_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case ROW_TRUE:
        return json_pack("{s:b}", "const", 1);
    case ROW_STRING:
        return json_pack("{s:s}", "type", "string");
    case ROW_COLLECTIVE:
        return json_pack("{s:s, s:o}", "type", "string", "enum", names_of("collectives"));
    case ROW_DTYPE:
        return json_pack("{s:s, s:o}", "type", "string", "enum", names_of("dtypes"));
    case ROW_REDOP:
        names = names_of("redops");
        json_array_append_new(names, json_string("none"));
        return json_pack("{s:s, s:o}", "type", "string", "enum", names);
    case ROW_NUMBERS:
        return json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "number");
    case ROW_ERRORS:
        return json_pack("{s:s, s:{s:s, s:{s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}},"
                         " s:[s, s, s, s], s:b}}",
                         "type", "array", "items", "type", "object", "properties", "rank",
                         "type", "integer", "index", "type", "integer", "expected",
                         "type", "string", "got", "type", "string", "required", "rank",
                         "index", "expected", "got", "additionalProperties", 0);
    case ROW_CHOICE:
        return json_pack("{s:s}", "$ref", "#/components/schemas/Choice");
    case ROW_LABELS:
        return json_pack("{s:s, s:i, s:{s:[s, s, s]}}", "type", "object", "maxProperties",
                         4, "additionalProperties", "type", "string", "number",
                         "boolean");
    case ROW_TRAFFIC:
        return json_pack("{s:s}", "$ref", "#/components/schemas/RowTraffic");
    }
    return NULL;
}

static json_t *schema_of(const struct row_field *field)
{
    json_t *schema = schema_of_type(field);

    if (*field->meaning)
        json_object_set_new(schema, "description", json_string(field->meaning));
    return schema;
}

/* Complete the schema with the fields that `any` have, and `each` must. */
static void complete(json_t *schema, unsigned any, unsigned each)
{
    json_t *properties = json_object(), *required = json_array();
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++) {
        if (fields[i].use & any)
            json_object_set_new(properties, fields[i].name, schema_of(&fields[i]));
        if (fields[i].use & each)
            json_array_append_new(required, json_string(fields[i].name));
    }
    json_object_set_new(schema, "properties", properties);
    json_object_set_new(schema, "required", required);
}

static json_t *timed_names(void)
{
    json_t *required = json_array();
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++)
        if (fields[i].use & ROW_TIMED)
            json_array_append_new(required, json_string(fields[i].name));
    return required;
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *document = argc == 3 ? json_load_file(argv[1], 0, &error) : NULL;
    json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
    json_t *row = json_object_get(schemas, "Row");
    int result;

    if (!row) {
        fprintf(stderr, "openapi_make: %s: no JSON with a schema Row\n",
                argc > 1 ? argv[1] : "?");
        return 1;
    }
    complete(row, ROW_ANY, ROW_EACH);
    json_object_set_new(json_object_get(row, "then"), "required", timed_names());
    complete(json_object_get(schemas, "Figure"), FIGURE_ANY, FIGURE_EACH);
    result = json_dump_file(document, argv[2], JSON_INDENT(1));
    json_decref(document);
    return result ? 1 : 0;
}
