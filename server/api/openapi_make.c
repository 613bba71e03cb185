/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_make.c - completes openapi.json during the build: openapi_make IN TEXTS OUT
 *
 * Tables of the program supply the run spec's fields and thresholds, rows and figures,
 * parameters of routes, sentences of verdicts, and standard errors. In IN, an operation
 * lists its standard errors as "errors", schemas may use a short notation
 * (openapi_schema.h), and bodies use short media types as keys: "json", "text". TEXTS is
 * described in openapi_texts.h. */
#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/result/row_fields.h"
#include "common/spec/collective_json.h"
#include "common/spec/spec_field.h"
#include "common/spec/threshold.h"
#include "server/api/openapi_schema.h"
#include "server/api/openapi_texts.h"
#include "server/api/route_params.h"
#include "server/finding/messages.h"

/* ---- Rows and figures ---- */

/* Return a new array of the names in one list of the answer to GET /api/v1/collectives.
 * list: the list's key, such as "dtypes". */
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

/* Set the schema's properties to the row's fields whose uses intersect `any`. Fields
 * whose uses intersect `each` are required. */
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

/* ---- Fields of the run spec ---- */

static json_t *words_of(const char *const *choices, const struct spec_names *names)
{
    json_t *words = json_array();

    for (size_t i = 0; choices && choices[i]; i++)
        json_array_append_new(words, json_string(choices[i]));
    for (int i = 0; names && i < names->count; i++)
        json_array_append_new(words, json_string(names->name(i)));
    return json_pack("{s:s, s:o}", "type", "string", "enum", words);
}

static json_t *range_of(const char *type, json_t *least, json_t *most)
{
    return json_pack("{s:s, s:o, s:o}", "type", type, "minimum", least, "maximum", most);
}

static json_t *integers_of(int64_t least, int64_t most)
{
    json_t *schema = range_of("integer", json_integer(least), json_integer(most));

    if (most == INT64_MAX)
        json_object_del(schema, "maximum");
    return schema;
}

/* Return whole numbers as JSON integers: 10000, not 10000.0. */
static json_t *real_of(double value)
{
    return value == (double)(long)value ? json_integer((json_int_t)value)
                                        : json_real(value);
}

static json_t *list_of(const struct spec_field *field)
{
    json_t *schema = json_pack("{s:s, s:o, s:b}", "type", "array", "items",
                               words_of(field->choices, field->names), "uniqueItems", 1);

    if (field->min > 0)
        json_object_set_new(schema, "minItems", json_integer(field->min));
    return schema;
}

/* Return a new object with the part of a field's schema that the field's table entry
 * defines. */
static json_t *facts_of(const struct spec_field *field)
{
    if (field->kind == &spec_integer)
        return integers_of(field->min, field->max);
    if (field->kind == &spec_real)
        return range_of("number", real_of(field->least), real_of(field->most));
    if (field->kind == &spec_boolean)
        return json_pack("{s:s}", "type", "boolean");
    if (field->kind == &spec_word_or_integer)
        return json_pack("{s:[o, o]}", "oneOf", words_of(field->choices, NULL),
                         integers_of(field->min, field->max));
    if (field->kind == &spec_size)
        return openapi_ref("schemas", "Size");
    if (field->kind == &spec_text)
        return json_pack("{s:i}", "maxLength", (int)field->max);
    if (field->kind == &spec_list || strcmp(field->name, "series") == 0)
        return list_of(field);
    if (field->choices || field->names)
        return words_of(field->choices, field->names);
    return json_object();
}

/* Return the schema, or the alternative of its "oneOf", that contains "fields". */
static json_t *place_of_fields(json_t *schema)
{
    json_t *choices = json_object_get(schema, "oneOf"), *choice;
    size_t i;

    json_array_foreach (choices, i, choice)
        if (json_object_get(choice, "fields"))
            return choice;
    return schema;
}

/* Replace "fields" with properties: each field of the table, completed by its entry in
 * "fields". */
static void complete_fields(json_t *schema, const struct spec_fields *fields)
{
    json_t *said = json_incref(json_object_get(schema, "fields"));
    json_t *properties = json_object(), *required = json_array();

    for (size_t i = 0; i < fields->count; i++) {
        const struct spec_field *field = &fields->at[i];
        json_t *property = json_incref(json_object_get(said, field->name));
        json_t *facts = facts_of(field);

        if (!property)
            property = json_object();
        if (field->usual)
            json_object_set_new(facts, "default",
                                json_loads(field->usual, JSON_DECODE_ANY, NULL));
        if (field->about)
            json_object_set_new(facts, "description", json_string(field->about));
        json_object_update_missing(property, facts);
        if (field->members)
            complete_fields(place_of_fields(property), field->members);
        json_object_set_new(properties, field->name, property);
        if (field->uses & SPEC_REQUIRED)
            json_array_append_new(required, json_string(field->name));
        json_decref(facts);
    }
    json_decref(said);
    json_object_del(schema, "fields");
    json_object_set_new(schema, "type", json_string("object"));
    json_object_set_new(schema, "properties", properties);
    if (json_array_size(required) > 0)
        json_object_set(schema, "required", required);
    json_object_set_new(schema, "additionalProperties", json_false());
    json_decref(required);
}

/* Complete the first rule of "allOf": a spec with a program must not contain the fields
 * of a measurement. */
static void complete_program_rule(json_t *spec)
{
    json_t *rule = json_array_get(json_object_get(spec, "allOf"), 0);
    const struct spec_fields *fields = run_spec_fields();
    json_t *refused = json_object();

    for (size_t i = 0; i < fields->count; i++)
        if (fields->at[i].uses & SPEC_MEASUREMENT)
            json_object_set_new(refused, fields->at[i].name, json_false());
    json_object_set_new(json_object_get(rule, "then"), "properties", refused);
}

/* Mark all members of the effective spec as required. The spec results from the body
 * `text`. */
static void complete_effective(json_t *schema, const char *text)
{
    json_t *body = json_loads(text, 0, NULL), *effective, *value;
    json_t *required = json_array();
    struct problems problems;
    struct run_spec *spec;
    const char *name;

    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    effective = run_spec_to_json(spec);
    json_object_foreach (effective, name, value)
        json_array_append_new(required, json_string(name));
    json_object_set_new(schema, "required", required);
    json_decref(effective);
    run_spec_destroy(spec);
    problems_release(&problems);
    json_decref(body);
}

/* ---- Parameters ---- */

static json_t *schema_of_param(const struct param *param)
{
    switch (param->kind) {
    case PARAM_INTEGER:
        return integers_of(param->min, param->max);
    case PARAM_REAL:
        return range_of("number", real_of(param->least), real_of(param->most));
    case PARAM_FLAG:
        return json_pack("{s:s, s:[s, s, s, s]}", "type", "string", "enum", "0", "1",
                         "true", "false");
    case PARAM_CHOICE:
        return words_of(param->choices, param->names);
    case PARAM_TEXT:
        return param->schema ? openapi_ref("schemas", param->schema)
                             : json_pack("{s:s}", "type", "string");
    case PARAM_LINE:
        return json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength",
                         (int)param->max);
    case PARAM_TIME:
        return json_pack("{s:s, s:s}", "type", "string", "format", "date-time");
    case PARAM_TEXTS:
        return json_pack("{s:s, s:o}", "type", "array", "items",
                         param->choices ? words_of(param->choices, NULL)
                                        : json_pack("{s:s}", "type", "string"));
    case PARAM_LABELS:
        return json_pack("{s:s, s:{s:s, s:s}}", "type", "array", "items", "type",
                         "string", "pattern", "^[^=]+=");
    }
    return NULL;
}

static json_t *usual_of(const struct param *param)
{
    bool is_number = param->kind == PARAM_INTEGER || param->kind == PARAM_REAL;

    return is_number ? json_loads(param->usual, JSON_DECODE_ANY, NULL)
                     : json_string(param->usual);
}

static void add_param(json_t *list, const char *name, const char *in, json_t *schema,
                      const char *help, bool is_required, const char *example)
{
    json_t *param = json_pack("{s:s, s:s, s:o, s:s*, s:s*}", "name", name, "in", in,
                              "schema", schema, "description", help, "example", example);

    if (is_required)
        json_object_set_new(param, "required", json_true());
    json_array_append_new(list, param);
}

/* Add a parameter for each {name} in the path. */
static void add_path_params(json_t *list, const char *path)
{
    static const struct {
        const char *path, *name, *help, *example;
    } known[] = {
        {"/api/v1/runs/", "id", "the run's id", "06cw1x2k3m4n"},
        {"/api/v1/runs/", "name", "a node of the run", "node-1"},
        {"/api/v1/runs/", "digest", "the text's digest from the list of artifacts",
         "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        {"/api/v1/baselines/", "id", "the baseline's id", "1ngh7czw3bqh"},
        {"/api/v1/jobs/", "id", "the job's id", "1ngc13d9jrqf"},
        {"/api/v1/watches/", "id", "the watch's id", "1ngh7cz7692r"},
        {"/api/v1/nodes/", "name", "the node's name", "node-1"},
        {"/api/v1/suspects/", "name", "the node's name", "node-1"},
        {"/api/v1/agents/", "agent", "the agent's id from the answer to its registration",
         "a-1ngh7cz0k2d4"},
    };

    for (const char *at = path; (at = strchr(at, '{')); at++) {
        int len = (int)strcspn(at + 1, "}");

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            if (strncmp(path, known[i].path, strlen(known[i].path)) == 0 &&
                strncmp(at + 1, known[i].name, (size_t)len) == 0 && !known[i].name[len])
                add_param(list, known[i].name, "path",
                          json_pack("{s:s}", "type", "string"), known[i].help, true,
                          known[i].example);
    }
}

static void add_query_params(json_t *list, const struct route_params *route)
{
    for (size_t i = 0; i < route->n; i++) {
        const struct param *param = &route->list[i];
        json_t *schema = schema_of_param(param);

        if (param->usual)
            json_object_set_new(schema, "default", usual_of(param));
        add_param(list, param->name, "query", schema, param->help, param->is_required,
                  NULL);
    }
    if (route->formats) {
        json_t *names = json_array();

        for (size_t i = 0; route->formats[i].name; i++)
            json_array_append_new(names, json_string(route->formats[i].name));
        add_param(list, "format", "query",
                  json_pack("{s:s, s:o}", "type", "string", "enum", names),
                  route->format_help, false, NULL);
    }
}

static const struct route_params *route_of(const char *method, const char *path)
{
    for (size_t i = 0; all_route_params[i]; i++)
        if (strcasecmp(all_route_params[i]->method, method) == 0 &&
            strcmp(all_route_params[i]->pattern, path) == 0)
            return all_route_params[i];
    return NULL;
}

static json_t *params_of(const struct route_params *route, const char *path,
                         const json_t *others)
{
    json_t *list = json_array();

    add_path_params(list, path);
    for (size_t i = 0; i < json_array_size(others); i++) {
        json_t *other = json_array_get(others, i);

        if (json_is_string(other))
            json_array_append_new(list,
                                  openapi_ref("parameters", json_string_value(other)));
        else
            json_array_append(list, other);
    }
    if (route)
        add_query_params(list, route);
    return list;
}

/* ---- Bodies and responses ---- */

static const struct {
    const char *status, *name, *description;
} errors[] = {
    {"400", "BadRequest", "The request is malformed; `detail` describes the error"},
    {"401", "Unauthorized", "The request contains no valid bearer token"},
    {"403", "Forbidden",
     "The token's role, the Host or the Origin does not allow the request"},
    {"404", "NotFound", "Not found"},
    {"406", "NotAcceptable",
     "The Accept header allows none of the available formats, which `detail` lists"},
    {"409", "Conflict", "The resource's state does not allow the request"},
    {"413", "TooLarge", "The body contains too many bytes or JSON values"},
    {"422", "Unprocessable",
     "The request is well-formed but invalid; `errors` lists the invalid fields"},
    {"503", "Unavailable", "The resource is unavailable at the moment; try again later"},
    {"default", "Other", "Any other error"},
};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

/* Convert keys that are short media types, such as "json", to a member "content". */
static void complete_content(json_t *body)
{
    static const char *const types[][2] = {
        {"json", "application/json"},
        {"ndjson", "application/x-ndjson"},
        {"text", "text/plain"},
        {"csv", "text/csv"},
        {"markdown", "text/markdown"},
        {"html", "text/html"},
        {"sse", "text/event-stream"},
        {"tuner", "text/x-nccl-tuner"},
        {"problem", "application/problem+json"},
        {"merge_patch", "application/merge-patch+json"},
    };
    json_t *content = json_object();

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        json_t *schema = json_object_get(body, types[i][0]);

        if (!schema)
            continue;
        json_object_set_new(content, types[i][1],
                            json_pack("{s:o}", "schema", openapi_schema(schema, NULL)));
        json_object_del(body, types[i][0]);
    }
    if (json_object_size(content) > 0)
        json_object_set(body, "content", content);
    json_decref(content);
}

/* Add each format of the route that the response lacks, and describe it as a string. */
static void add_formats(const struct route_params *route, json_t *responses)
{
    json_t *body = json_object_get(responses, "200");

    if (!json_object_get(body, "json"))
        return;
    for (size_t i = 0; route->formats[i].name; i++)
        if (!json_object_get(body, route->formats[i].name))
            json_object_set_new(body, route->formats[i].name, json_string("string"));
}

/* Return true if the operation lists the error. Every operation lists "default".
 * Operations that need a token also list 401 and 403. */
static bool has_error(const json_t *operation, const json_t *listed, size_t error)
{
    int status = atoi(errors[error].status);

    if (status == 0 || status == 401 || status == 403)
        return status == 0 || !json_object_get(operation, "security");
    for (size_t i = 0; i < json_array_size(listed); i++)
        if (json_integer_value(json_array_get(listed, i)) == status)
            return true;
    return false;
}

static void complete_responses(json_t *operation)
{
    json_t *responses = json_object_get(operation, "responses"), *response;
    const json_t *listed = json_object_get(operation, "errors");
    const char *status;
    void *next;

    json_object_foreach_safe(responses, next, status, response)
    {
        complete_content(response);
        if (json_is_string(response))
            json_object_set_new(responses, status,
                                openapi_ref("responses", json_string_value(response)));
    }
    for (size_t i = 0; i < ERRORS; i++)
        if (has_error(operation, listed, i))
            json_object_set_new(responses, errors[i].status,
                                openapi_ref("responses", errors[i].name));
    json_object_del(operation, "errors");
}

static void complete_operation(json_t *operation, const char *method, const char *path)
{
    json_t *body = json_object_get(operation, "requestBody");
    const struct route_params *route = route_of(method, path);
    json_t *params = params_of(route, path, json_object_get(operation, "parameters"));

    if (body) {
        complete_content(body);
        json_object_set_new(body, "required", json_true());
    }
    if (json_array_size(params) > 0)
        json_object_set(operation, "parameters", params);
    json_decref(params);
    if (route && route->formats)
        add_formats(route, json_object_get(operation, "responses"));
    complete_responses(operation);
}

/* ---- The document ---- */

static void complete_paths(json_t *document)
{
    json_t *paths = json_object_get(document, "paths"), *path, *operation;
    const char *pattern, *method;

    json_object_foreach (paths, pattern, path)
        json_object_foreach (path, method, operation)
            complete_operation(operation, method, pattern);
}

static void complete_components(json_t *components)
{
    json_t *responses = json_object_get(components, "responses"), *response, *schema;
    json_t *schemas = json_object_get(components, "schemas");
    const char *name;
    void *next;

    json_object_foreach (responses, name, response)
        complete_content(response);
    for (size_t i = 0; i < ERRORS; i++) {
        response = json_pack("{s:s, s:s, s:s}", "description", errors[i].description,
                             "problem", "Problem", "text", "string");
        complete_content(response);
        json_object_set_new(responses, errors[i].name, response);
    }
    json_object_foreach_safe(schemas, next, name, schema)
        json_object_set_new(schemas, name, openapi_schema(schema, schemas));
}

static void complete_schemas(json_t *schemas)
{
    json_t *row = json_object_get(schemas, "Row");
    json_t *spec = json_object_get(schemas, "RunSpec");

    complete(row, ROW_ANY, ROW_EACH);
    json_object_set_new(json_object_get(row, "then"), "required", timed_names());
    complete(json_object_get(schemas, "Figure"), FIGURE_ANY, FIGURE_EACH);
    complete_fields(spec, run_spec_fields());
    complete_program_rule(spec);
    complete_fields(json_object_get(schemas, "Threshold"), threshold_fields());
    complete_effective(json_object_get(schemas, "EffectiveSpec"), "{}");
    complete_effective(json_object_get(schemas, "EffectiveProgramSpec"),
                       "{\"program\":{\"name\":\"x\"}}");
}

/* ---- Verdicts ---- */

static json_t *templates_of(enum verdict_kind kind)
{
    json_t *out = json_array();

    for (int i = 0; i < MESSAGES; i++) {
        bool is_told =
            messages[i].kind !=
            kind; /* skip messages of other kinds, and texts of earlier messages */

        for (int k = 0; k < i && !is_told; k++)
            is_told = strcmp(messages[k].text, messages[i].text) == 0;
        if (!is_told)
            json_array_append_new(out, json_string(messages[i].text));
    }
    return out;
}

static json_t *answers_of(enum verdict_kind kind)
{
    json_t *out = json_array();

    for (int i = 0; i < VERDICT_ANSWERS; i++)
        if (verdict_kind_has(kind, (enum verdict_answer)i))
            json_array_append_new(
                out, json_string(verdict_answer_name((enum verdict_answer)i)));
    return out;
}

static const char quiet[] = "boolean: true if the answer needs no attention";

/* Return the schema "KINDVerdict". Its evidence is the schema "KINDEvidence" if
 * openapi.json contains one. `x-templates` lists the templates of the sentences
 * (server/finding/template.h). */
static json_t *verdict_schema(enum verdict_kind kind, const char *evidence)
{
    return json_pack("{s:s, s:{s:{s:s}, s:{s:s, s:o}, s:{s:s, s:o}, s:s, s:s, s:s}}",
                     "description", verdict_kind_about(kind), "closed", "kind", "const",
                     verdict_kind_name(kind), "answer", "type", "string", "enum",
                     answers_of(kind), "sentence", "type", "string", "x-templates",
                     templates_of(kind), "nodes",
                     "[string]: the nodes that the answer names", "quiet?", quiet,
                     "evidence", evidence);
}

static void add_verdicts(json_t *schemas)
{
    json_t *kept = json_array();

    for (int i = 0; i < VERDICT_KINDS; i++) {
        enum verdict_kind kind = (enum verdict_kind)i;
        const char *kind_name = verdict_kind_name(kind);
        char name[64], evidence[64];

        snprintf(name, sizeof(name), "%c%sVerdict", toupper(*kind_name), kind_name + 1);
        snprintf(evidence, sizeof(evidence), "%c%sEvidence", toupper(*kind_name),
                 kind_name + 1);
        json_object_set_new(schemas, name,
                            verdict_schema(kind, json_object_get(schemas, evidence)
                                                     ? evidence
                                                     : "object"));
        if (verdict_kind_is_kept(kind))
            json_array_append_new(kept, json_string(name));
    }
    json_object_set_new(schemas, "Verdict", json_pack("{s:o}", "oneOf", kept));
    json_object_set_new(schemas, "VerdictBrief",
                        json_pack("{s:s, s:{s:s, s:s, s:s, s:s, s:s}}", "description",
                                  "a verdict without its evidence", "closed", "kind",
                                  "string", "answer", "string", "sentence", "string",
                                  "nodes", "[string]", "quiet?", quiet));
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (!json) {
        fprintf(stderr, "openapi_make: %s:%d: %s\n", path, error.line, error.text);
        exit(1);
    }
    return json;
}

int main(int argc, char **argv)
{
    json_t *document, *texts, *components;
    int result;

    if (argc != 4) {
        fprintf(stderr, "usage: openapi_make IN TEXTS OUT\n");
        return 1;
    }
    document = load(argv[1]);
    texts = load(argv[2]);
    components = json_object_get(document, "components");
    add_verdicts(json_object_get(components, "schemas"));
    complete_components(components);
    complete_schemas(json_object_get(components, "schemas"));
    complete_paths(document);
    openapi_add_texts(document, texts);
    result = json_dump_file(document, argv[3], JSON_INDENT(1));
    json_decref(document);
    json_decref(texts);
    return result ? 1 : 0;
}
