/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec_nodes.c - parses the nodes that a run requests */
#include <stdio.h>
#include <string.h>

#include "common/base/ids.h"
#include "common/spec/batch_group.h"
#include "common/spec/run_spec_parts.h"

#define NODES_MAX 100000
#define NODE_NAMES_MAX 4096

static void check_node_names(json_t *value, const char *pointer,
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
        else
            json_object_set_new(seen, name, json_true());
    }
    json_decref(seen);
}

static const struct spec_field table[] = {
    {"count", NULL, 0, SPEC_INTEGER(nodes.count, 1, NODES_MAX),
     .about = "number of nodes; default: all idle nodes"},
    {"names", NULL, 0, SPEC_JSON(nodes.names, check_node_names),
     .about = "names of the nodes"},
    {"group", NULL, 0, SPEC_TEXT(nodes.group, ID_NODE_MAX, NULL),
     .about = "nodes of this group, such as slurm-8123"},
    {"labels", NULL, 0, SPEC_JSON(nodes.labels, spec_check_labels),
     .about = "nodes with all of these labels"},
    {"min", NULL, 0, SPEC_INTEGER(nodes.min, 1, NODES_MAX),
     .about = "minimum number of nodes, instead of count"},
    {"max", NULL, 0, SPEC_INTEGER(nodes.max, 1, NODES_MAX),
     .about = "maximum number of nodes, instead of count"},
    {"wait_s", "30", 0, SPEC_INTEGER(nodes.wait_s, 0, 7 * 86400),
     .about = "time to wait for missing nodes; then the run fails"},
};

const struct spec_fields spec_nodes_fields = {
    table, sizeof(table) / sizeof(table[0]),
    "an object such as {\"count\": 4} or {\"names\": [...]}"};

void run_spec_check_nodes(const struct run_spec *spec, struct problems *problems)
{
    if (spec->nodes.count && (spec->nodes.min || spec->nodes.max))
        problems_add(problems, "/nodes", "give either count, or min and max");
    if (spec->launch.name && spec->nodes.names)
        problems_add(problems, "/nodes/names",
                     "cannot be combined with launch, which uses the nodes of its job");
    if (spec->launch.name && spec->nodes.group && !job_group(spec->nodes.group))
        problems_add(
            problems, "/nodes/group",
            "cannot be combined with launch, whose nodes form a group of their own");
    if (spec->nodes.count && spec->nodes.names &&
        (size_t)spec->nodes.count != json_array_size(spec->nodes.names))
        problems_add(problems, "/nodes/count", "is %ld, but %zu names are given",
                     spec->nodes.count, json_array_size(spec->nodes.names));
    if (spec->nodes.min && spec->nodes.max && spec->nodes.min > spec->nodes.max)
        problems_add(problems, "/nodes/min", "must not be above max");
}
