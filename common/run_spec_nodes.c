/* run_spec_nodes.c - which nodes a run wants */
#include <stdio.h>
#include <string.h>

#include "common/ids.h"
#include "common/run_spec_fields.h"

#define NODE_NAMES_MAX 4096

static void parse_node_names(struct run_spec *spec, json_t *value, const char *pointer,
                             struct problems *problems)
{
    char at[192];
    json_t *seen;

    if (!json_is_array(value) || json_array_size(value) == 0 ||
        json_array_size(value) > NODE_NAMES_MAX) {
        problems_add(problems, pointer, "must be an array of 1 to %d node names",
                     NODE_NAMES_MAX);
        return;
    }
    seen = json_object();
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));

        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (!name || !*name || strlen(name) > ID_NODE_MAX)
            problems_add(problems, at, "must be a node's name, 1 to 253 bytes");
        else if (!spec_check_name(name, at, problems))
            continue;
        else if (json_object_get(seen, name))
            problems_add(problems, at, "%s is listed twice", name);
        else if (json_object_set(seen, name, json_true()))
            problems_add(problems, at, "out of memory");
    }
    json_decref(seen);
    json_decref(spec->nodes.names);
    spec->nodes.names = json_incref(value);
}

static void parse_node_member(struct run_spec *spec, const char *key, json_t *value,
                              const char *at, struct problems *problems)
{
    if (strcmp(key, "count") == 0)
        spec_parse_integer(value, 1, 100000, &spec->nodes.count, at, problems);
    else if (strcmp(key, "min") == 0)
        spec_parse_integer(value, 1, 100000, &spec->nodes.min, at, problems);
    else if (strcmp(key, "max") == 0)
        spec_parse_integer(value, 1, 100000, &spec->nodes.max, at, problems);
    else if (strcmp(key, "wait_s") == 0)
        spec_parse_integer(value, 0, 7 * 86400, &spec->nodes.wait_s, at, problems);
    else if (strcmp(key, "group") == 0)
        spec_parse_string(value, 253, &spec->nodes.group, at, problems);
    else if (strcmp(key, "names") == 0)
        parse_node_names(spec, value, at, problems);
    else if (strcmp(key, "labels") == 0)
        spec_parse_labels(&spec->nodes.labels, value, at, problems);
    else
        problems_add(problems, at,
                     "unknown field; known are count, names, group, labels, min, max, "
                     "wait_s");
}

void run_spec_parse_nodes(struct run_spec *spec, json_t *value, const char *pointer,
                          struct problems *problems)
{
    const char *key;
    json_t *member;

    if (!json_is_object(value)) {
        problems_add(
            problems, pointer,
            "must be an object such as {\"count\": 4} or {\"names\": [...]}, not %s",
            spec_type_name(value));
        return;
    }
    json_object_foreach(value, key, member)
    {
        char at[160];

        spec_child_pointer(at, sizeof(at), pointer, key);
        parse_node_member(spec, key, member, at, problems);
    }
    if (spec->nodes.count && (spec->nodes.min || spec->nodes.max))
        problems_add(problems, pointer, "give either count, or min and max");
    if (spec->nodes.count && spec->nodes.names &&
        (size_t)spec->nodes.count != json_array_size(spec->nodes.names))
        problems_add(problems, "/nodes/count", "is %ld, but %zu names are given",
                     spec->nodes.count, json_array_size(spec->nodes.names));
    if (spec->nodes.min && spec->nodes.max && spec->nodes.min > spec->nodes.max)
        problems_add(problems, "/nodes/min", "must not be above max");
}
