/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_schema.c - expands the short notation of schemas in openapi.json during the
 * build */
#include "server/api/openapi_schema.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_MAX 400

json_t *openapi_ref(const char *group, const char *name)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", group, name));
}

static json_t *number_of(const char *text)
{
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

/* Set minimum and maximum from a text "MIN..MAX" or "MIN..". */
static void set_range(json_t *schema, char *range)
{
    char *dots = strstr(range, "..");

    *dots = '\0';
    json_object_set_new(schema, "minimum", number_of(range));
    if (dots[2])
        json_object_set_new(schema, "maximum", number_of(dots + 2));
}

static json_t *enum_of(char *words)
{
    json_t *list = json_array();

    for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"))
        json_array_append_new(list, json_string(word));
    return json_pack("{s:s, s:o}", "type", "string", "enum", list);
}

static json_t *schema_of_type(char *type);

/* Return a new schema for a text "[TYPE]" or "{TYPE}". */
static json_t *container_of(char *type)
{
    bool is_array = *type == '[';

    type[strlen(type) - 1] = '\0';
    return json_pack("{s:s, s:o}", "type", is_array ? "array" : "object",
                     is_array ? "items" : "additionalProperties",
                     schema_of_type(type + 1));
}

static json_t *plain_schema(char *type)
{
    char *range = strchr(type, ' ');
    json_t *schema;

    if (*type == '[' || *type == '{')
        return container_of(type);
    if (strchr(type, '|'))
        return enum_of(type);
    if (strcmp(type, "count") == 0)
        return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
    if (strcmp(type, "time") == 0)
        return json_pack("{s:s, s:s}", "type", "string", "format", "date-time");
    if (isupper((unsigned char)*type))
        return openapi_ref("schemas", type);
    if (range)
        *range++ = '\0';
    schema = *type ? json_pack("{s:s}", "type", type) : json_object();
    if (range)
        set_range(schema, range);
    return schema;
}

static json_t *or_null(json_t *schema)
{
    json_t *type = json_object_get(schema, "type");

    if (!type)
        return json_pack("{s:[o, {s:s}]}", "oneOf", schema, "type", "null");
    json_object_set_new(schema, "type", json_pack("[O, s]", type, "null"));
    return schema;
}

static json_t *schema_of_type(char *type)
{
    size_t len = strlen(type);

    if (len == 0 || type[len - 1] != '?')
        return plain_schema(type);
    type[len - 1] = '\0';
    return or_null(plain_schema(type));
}

/* Return a new schema for a text "TYPE: description". TYPE may be empty. */
static json_t *schema_of_text(const char *text)
{
    const char *colon = strstr(text, ": ");
    char type[TYPE_MAX];
    json_t *schema;

    snprintf(type, sizeof(type), "%.*s",
             (int)(colon ? (size_t)(colon - text) : strlen(text)), text);
    schema = schema_of_type(type);
    if (colon)
        json_object_set_new(schema, "description", json_string(colon + 2));
    return schema;
}

static json_t *map_members(json_t *members, const json_t *known)
{
    json_t *all = json_object(), *member;
    const char *name;

    json_object_foreach (members, name, member)
        json_object_set_new(all, name, openapi_schema(member, known));
    return all;
}

static void add_members(json_t *schema, json_t *members, const json_t *known)
{
    json_t *properties = json_object_get(schema, "properties");
    json_t *required = json_object_get(schema, "required"), *member;
    const char *name;

    json_object_foreach (members, name, member) {
        size_t len = strlen(name);
        bool is_optional = name[len - 1] == '?';
        json_t *key = json_stringn(name, len - is_optional);

        json_object_set_new(properties, json_string_value(key),
                            openapi_schema(member, known));
        if (!is_optional)
            json_array_append(required, key);
        json_decref(key);
    }
}

/* key: "closed" or "open", which may end with a question mark. */
static void set_object(json_t *schema, const char *key, json_t *members,
                       const json_t *known)
{
    json_object_set_new(schema, "type", json_string("object"));
    if (!json_object_get(schema, "properties")) {
        json_object_set_new(schema, "properties", json_object());
        json_object_set_new(schema, "required", json_array());
    }
    add_members(schema, members, known);
    if (json_array_size(json_object_get(schema, "required")) == 0)
        json_object_del(schema, "required");
    if (*key == 'c')
        json_object_set_new(schema, "additionalProperties", json_false());
    if (key[strlen(key) - 1] == '?')
        or_null(schema);
}

static void set_like(json_t *schema, json_t *source, const json_t *known)
{
    const char *name = json_string_value(json_object_get(source, "like"));
    const json_t *like = json_object_get(known, name);
    json_t *without = json_object_get(source, "without"), *left_out;
    json_t *properties = json_deep_copy(json_object_get(like, "properties"));
    size_t i;

    json_array_foreach (without, i, left_out)
        json_object_del(properties, json_string_value(left_out));
    json_object_set_new(schema, "properties", properties);
    json_object_set_new(schema, "required", json_array());
    for (i = 0; i < json_array_size(json_object_get(like, "required")); i++) {
        json_t *required = json_array_get(json_object_get(like, "required"), i);

        if (json_object_get(properties, json_string_value(required)))
            json_array_append(json_object_get(schema, "required"), required);
    }
}

enum place { PLACE_OTHER, PLACE_SCHEMA, PLACE_SCHEMAS, PLACE_MEMBERS };

/* Return the kind of value that a schema's key has. */
static enum place place_of(const char *key)
{
    static const struct {
        const char *key;
        enum place place;
    } places[] = {
        {"items", PLACE_SCHEMA},         {"additionalProperties", PLACE_SCHEMA},
        {"not", PLACE_SCHEMA},           {"if", PLACE_SCHEMA},
        {"then", PLACE_SCHEMA},          {"else", PLACE_SCHEMA},
        {"propertyNames", PLACE_SCHEMA}, {"contains", PLACE_SCHEMA},
        {"oneOf", PLACE_SCHEMAS},        {"anyOf", PLACE_SCHEMAS},
        {"allOf", PLACE_SCHEMAS},        {"properties", PLACE_MEMBERS},
        {"fields", PLACE_MEMBERS},
    };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strcmp(places[i].key, key) == 0)
            return places[i].place;
    return PLACE_OTHER;
}

static json_t *map_list(const json_t *list, const json_t *known)
{
    json_t *all = json_array();

    for (size_t i = 0; i < json_array_size(list); i++)
        json_array_append_new(all, openapi_schema(json_array_get(list, i), known));
    return all;
}

json_t *openapi_schema(json_t *source, const json_t *known)
{
    json_t *schema, *value;
    const char *key;

    if (json_is_string(source))
        return schema_of_text(json_string_value(source));
    if (!json_is_object(source))
        return json_incref(source);
    schema = json_object();
    if (json_object_get(source, "like"))
        set_like(schema, source, known);
    json_object_foreach (source, key, value) {
        enum place place = place_of(key);

        if (strncmp(key, "closed", 6) == 0 || strncmp(key, "open", 4) == 0)
            set_object(schema, key, value, known);
        else if (place == PLACE_SCHEMA)
            json_object_set_new(schema, key, openapi_schema(value, known));
        else if (place == PLACE_SCHEMAS)
            json_object_set_new(schema, key, map_list(value, known));
        else if (place == PLACE_MEMBERS)
            json_object_set_new(schema, key, map_members(value, known));
        else if (strcmp(key, "like") != 0 && strcmp(key, "without") != 0)
            json_object_set(schema, key, value);
    }
    return schema;
}
