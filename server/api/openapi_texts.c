/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_texts.c - adds descriptions and examples to openapi.json during the build */
#include "server/api/openapi_texts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Descriptions of members ---- */

struct descriptions {
    const json_t *document;
    const json_t *fields;
    json_t *used;       /* the names whose descriptions were used */
    const char *schema; /* name of the current schema, or "" */
};

static bool is_described(const struct descriptions *all, const json_t *member)
{
    const char *ref = json_string_value(json_object_get(member, "$ref"));
    const json_t *target;

    if (!json_is_object(member) || json_object_get(member, "description"))
        return true;
    if (!ref || strncmp(ref, "#/components/schemas/", 21) != 0 || strchr(ref + 21, '/'))
        return false;
    target = json_object_get(json_object_get(all->document, "components"), "schemas");
    return json_object_get(json_object_get(target, ref + 21), "description");
}

static void describe(const struct descriptions *all, const char *name, json_t *member)
{
    char whole[128];
    const char *key = whole;

    if (is_described(all, member))
        return;
    snprintf(whole, sizeof(whole), "%s.%s", all->schema, name);
    if (!json_object_get(all->fields, whole))
        key = name;
    if (!json_object_get(all->fields, key))
        return;
    json_object_set(member, "description", json_object_get(all->fields, key));
    json_object_set_new(all->used, key, json_true());
}

/* Describe the parameters and the members of all schemas in a part of the document.
 * Conditions ("if", "then") are skipped: their members are described elsewhere. */
static void describe_all(const struct descriptions *all, json_t *part)
{
    static const char *const no_schemas[] = {"example", "examples", "enum", "const",
                                             "if",      "then",     "else", "not"};
    const char *name;
    json_t *inner, *member;
    size_t i;

    json_array_foreach (part, i, inner)
        describe_all(all, inner);
    if (json_is_string(json_object_get(part, "in")))
        describe(all, json_string_value(json_object_get(part, "name")), part);
    json_object_foreach (part, name, inner) {
        bool is_schema = true;

        for (i = 0; i < sizeof(no_schemas) / sizeof(no_schemas[0]); i++)
            if (strcmp(name, no_schemas[i]) == 0)
                is_schema = false;
        if (!is_schema)
            continue;
        if (strcmp(name, "properties") == 0) {
            const char *key;

            json_object_foreach (inner, key, member)
                describe(all, key, member);
        }
        describe_all(all, inner);
    }
}

static void describe_members(json_t *document, json_t *fields)
{
    struct descriptions all = {document, fields, json_object(), ""};
    json_t *components = json_object_get(document, "components"), *schema, *text;
    json_t *schemas = json_object_get(components, "schemas");
    const char *name;

    json_object_foreach (schemas, all.schema, schema)
        describe_all(&all, schema);
    all.schema = "";
    describe_all(&all, json_object_get(document, "paths"));
    describe_all(&all, json_object_get(components, "responses"));
    json_object_foreach (fields, name, text)
        if (!json_object_get(all.used, name))
            fprintf(stderr, "openapi_make: unused description: %s\n", name);
    if (json_object_size(all.used) < json_object_size(fields))
        exit(1);
    json_decref(all.used);
}

/* ---- Examples ---- */

static json_t *example_place(json_t *body, const json_t *example)
{
    json_t *content = json_object_get(body, "content");
    json_t *text = json_object_get(content, "text/plain");
    void *first = json_object_iter(content);

    return json_is_string(example) && text ? text
           : first                         ? json_object_iter_value(first)
                                           : NULL;
}

/* Return the first successful response with content; borrowed. */
static json_t *success_of(json_t *operation)
{
    const char *status;
    json_t *response;

    json_object_foreach (json_object_get(operation, "responses"), status, response)
        if (*status == '2' && json_object_get(response, "content"))
            return response;
    return NULL;
}

static void add_examples(json_t *paths, const json_t *examples)
{
    const char *pattern, *method;
    json_t *path, *operation;
    size_t n = 0;

    json_object_foreach (paths, pattern, path) {
        json_object_foreach (path, method, operation) {
            json_t *id = json_object_get(operation, "operationId");
            json_t *own = json_object_get(examples, json_string_value(id));
            json_t *body = json_object_get(own, "body");
            json_t *example = body ? body : json_object_get(own, "answer");
            json_t *place =
                body ? json_object_get(operation, "requestBody") : success_of(operation);

            n += example != NULL;
            json_object_set(example_place(place, example), "example", example);
        }
    }
    if (n != json_object_size(examples)) {
        fprintf(stderr, "openapi_make: an example belongs to no operation\n");
        exit(1);
    }
}

void openapi_add_texts(json_t *document, json_t *texts)
{
    describe_members(document, json_object_get(texts, "fields"));
    add_examples(json_object_get(document, "paths"), json_object_get(texts, "examples"));
}
